"""The built packages under AWS's own runtime client, against a local AWS: what is deployed is what runs here."""

import asyncio
import hashlib
import hmac
import json
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.dynamodb_store import DynamoDBStore, create_table
from bot.channels.telegram.receive import SECRET_HEADER
from bot.clock import SystemClock
from bot.messages import Inbound, Person, Place, Profile
from bot.sandbox import wire
from bot.sandbox.port import Item, Job, Ran
from simulator import telegram
from simulator.app import Simulator, serve, telegram_base_url
from simulator.deliver import QUICK
from simulator.script import call, scripted, text
from simulator.serving import serve as serve_app
from tests.bots import results
from tests.emulator import Account
from tests.mcp.server import make_server
from tests.packages.conftest import Packages, StartFunction
from tests.packages.events import http_event, sqs_event, telegram_update
from tests.packages.libraries import LAMBDA_PYTHON, this_target
from tests.packages.runtime_api import FunctionFailed, Runtime, lambda_environment

pytestmark = pytest.mark.packages

SECRETS = {
    "TELEGRAM_BOT_TOKEN": "123456:a-token-of-no-bot",
    "TELEGRAM_WEBHOOK_SECRET": "the-secret",
    "SLACK_BOT_TOKEN": "xoxb-of-no-bot",
    "SLACK_SIGNING_SECRET": "the-signing-secret",
    "ANTHROPIC_API_KEY": "of-no-account",
    "KABAR_A2A_KEYS": "weather:a-key-of-the-weather",
}
RESTORED_TWICE = Path(__file__).with_name("restored_twice.py")
JSON = {"content-type": "application/json"}


@pytest.fixture
def environment(aws: Account) -> dict[str, str]:
    """What the template gives its functions, after the owner has stored the secrets."""
    create_table(aws.client("dynamodb"), "conversations")
    queue = aws.client("sqs").create_queue(QueueName="wakes.fifo", Attributes={"FifoQueue": "true"})
    for name, value in SECRETS.items():
        aws.client("ssm").put_parameter(Name=f"/kabar/test/{name}", Value=value, Type="SecureString")
    return {
        **aws.environment,
        "KABAR_TABLE": "conversations",
        "KABAR_QUEUE_URL": queue["QueueUrl"],
        "KABAR_BUCKET": aws.bucket(),
        "KABAR_SECRETS_PATH": "/kabar/test",
        "KABAR_OWNER": "telegram:42",
        "TELEGRAM_BOT_USERNAME": "kabar_bot",
    }


@pytest.fixture
def webhook(start_function: StartFunction, environment: dict[str, str]) -> Iterator[Runtime]:
    with start_function("webhook", environment) as runtime:
        yield runtime


@pytest.fixture
def worker(start_function: StartFunction, environment: dict[str, str]) -> Iterator[Runtime]:
    with start_function("worker", environment) as runtime:
        yield runtime


def telegram_event(number: int, text: str, secret: str = SECRETS["TELEGRAM_WEBHOOK_SECRET"]) -> dict[str, Any]:
    return http_event("/telegram", telegram_update(number, text), {**JSON, SECRET_HEADER: secret})


def slack_event(body: bytes, signing_secret: str = SECRETS["SLACK_SIGNING_SECRET"]) -> dict[str, Any]:
    now = str(int(time.time()))
    signature = hmac.new(signing_secret.encode(), b"v0:%s:%s" % (now.encode(), body), hashlib.sha256).hexdigest()
    headers = {"x-slack-request-timestamp": now, "x-slack-signature": f"v0={signature}"}
    return http_event("/slack/events", body, {**JSON, **headers})


def waiting_wakes(aws: Account, queue_url: str) -> list[dict[str, Any]]:
    received = aws.client("sqs").receive_message(QueueUrl=queue_url, MaxNumberOfMessages=10, AttributeNames=["All"])
    messages: list[dict[str, Any]] = received.get("Messages", [])
    return messages


def test_each_telegram_message_is_stored_and_wakes_its_conversation_in_a_warm_process_too(
    webhook: Runtime, aws: Account, environment: dict[str, str]
) -> None:
    answers = [webhook.invoke(telegram_event(number, f"message {number}")) for number in (1, 2, 3)]

    assert [answer["statusCode"] for answer in answers] == [200, 200, 200]
    assert {json.loads(answer["body"])["method"] for answer in answers} == {"sendChatAction"}
    stored = aws.client("dynamodb").scan(TableName="conversations", ConsistentRead=True)["Items"]
    assert [item["pk"]["S"] for item in stored] == ["C#telegram:42"] * 3
    bodies = [json.loads(message["Body"]) for message in waiting_wakes(aws, environment["KABAR_QUEUE_URL"])]
    assert [body["conversation"] for body in bodies] == ["telegram:42"] * 3


def test_only_who_is_known_to_get_an_answer_sees_at_once_that_somebody_writes(webhook: Runtime, aws: Account) -> None:
    """A stranger is told once a day that the bot is private, and later nothing: then nobody may seem to write."""
    store = DynamoDBStore(aws.client("dynamodb"), "conversations", SystemClock())
    asyncio.run(store.keep_profile("telegram:44", Profile(role="member")))
    asyncio.run(store.keep_profile("telegram:45", Profile(role="banned")))
    headers = {**JSON, SECRET_HEADER: SECRETS["TELEGRAM_WEBHOOK_SECRET"]}
    asked = [http_event("/telegram", telegram_update(1, "hello", user), headers) for user in (42, 43, 44, 45)]
    owner, stranger, let_in, banned = [webhook.invoke(event) for event in asked]

    assert {json.loads(each["body"])["method"] for each in (owner, let_in)} == {"sendChatAction"}
    assert [(each["statusCode"], each["body"]) for each in (stranger, banned)] == [(200, "")] * 2


@pytest.mark.parametrize("secret", ["", "another-secret"])
def test_an_update_without_the_secret_is_refused_and_leaves_nothing(
    webhook: Runtime, aws: Account, environment: dict[str, str], secret: str
) -> None:
    answer = webhook.invoke(telegram_event(1, "let me in", secret))

    assert answer["statusCode"] == 401
    assert aws.client("dynamodb").scan(TableName="conversations", ConsistentRead=True)["Count"] == 0
    assert waiting_wakes(aws, environment["KABAR_QUEUE_URL"]) == []


def test_slack_gets_its_challenge_back_only_for_a_request_it_signed(webhook: Runtime) -> None:
    body = json.dumps({"type": "url_verification", "challenge": "3eZbrw1a", "token": "legacy"}).encode()

    proved = webhook.invoke(slack_event(body))
    forged = webhook.invoke(slack_event(body, "another-signing-secret"))

    assert (proved["statusCode"], "3eZbrw1a" in proved["body"]) == (200, True)
    assert (forged["statusCode"], "3eZbrw1a" in forged["body"]) == (401, False)


def test_another_agent_s_message_is_stored_and_its_task_told_only_to_who_has_the_key(
    start_function: StartFunction, aws: Account, environment: dict[str, str]
) -> None:
    said = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "hello"}]}
    params = {"message": said, "configuration": {"returnImmediately": True}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params}).encode()
    headers = {**JSON, "a2a-version": "1.0"}
    with start_function("a2a", environment) as runtime:
        card = runtime.invoke(http_event("/.well-known/agent-card.json", b"", {}, method="GET"))
        refused = runtime.invoke(http_event("/a2a", body, {**headers, "authorization": "Bearer of-nobody-at-all"}))
        key = f"Bearer {SECRETS['KABAR_A2A_KEYS'].partition(':')[2]}"
        taken = runtime.invoke(http_event("/a2a", body, {**headers, "authorization": key}))

    assert json.loads(card["body"])["url"] == "https://id.lambda-url.eu-central-1.on.aws/a2a"
    assert refused["statusCode"] == 401
    task = json.loads(taken["body"])["result"]["task"]
    assert task["status"]["state"] == "TASK_STATE_SUBMITTED"
    [wake] = waiting_wakes(aws, environment["KABAR_QUEUE_URL"])
    assert json.loads(wake["Body"])["conversation"] == f"a2a:weather:{task['contextId']}"


def test_a_wake_with_nothing_to_do_ends_well_in_a_warm_process_too(
    worker: Runtime, aws: Account, environment: dict[str, str]
) -> None:
    sqs = aws.client("sqs")
    for number in (1, 2, 3):
        wake = {"conversation": f"telegram:{number}", "reason": "lost"}
        sqs.send_message(
            QueueUrl=environment["KABAR_QUEUE_URL"],
            MessageBody=json.dumps(wake),
            MessageGroupId=wake["conversation"],
            MessageDeduplicationId=str(number),
        )

    answers = [worker.invoke(sqs_event(message)) for message in waiting_wakes(aws, environment["KABAR_QUEUE_URL"])]

    assert answers == [{"batchItemFailures": []}] * 3


@pytest.mark.parametrize("function", ["webhook", "worker"])
def test_a_snapshot_holds_no_connection_and_one_that_can_not_be_made_says_why(
    start_function: StartFunction, environment: dict[str, str], function: str
) -> None:
    with start_function(function, environment, snapshot=True) as runtime:
        assert connections(runtime.pid) == [runtime.address]
    with pytest.raises(FunctionFailed, match="KABAR_TABLE and KABAR_QUEUE_URL"):
        start_function(function, {}, snapshot=True).__enter__()


def test_a_function_restored_from_its_snapshot_knows_the_secrets_of_now_and_lets_messages_in(
    start_function: StartFunction, environment: dict[str, str], aws: Account
) -> None:
    with start_function("webhook", environment, snapshot=True) as webhook:
        rotate(aws, "TELEGRAM_WEBHOOK_SECRET", "another-secret")
        webhook.restore()
        before = webhook.invoke(telegram_event(1, "hello"))
        after = webhook.invoke(telegram_event(2, "hello", "another-secret"))

    assert (before["statusCode"], after["statusCode"]) == (401, 200)
    assert len(waiting_wakes(aws, environment["KABAR_QUEUE_URL"])) == 1


def test_a_function_restored_long_after_its_snapshot_has_itself_given_other_credentials(
    start_function: StartFunction, environment: dict[str, str], aws: Account
) -> None:
    """Here an access key is an account: with those of its beginning the function would find nothing."""
    with credentials("111111111111") as giver:
        uri = f"http://127.0.0.1:{giver.server_port}/"
        lent = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": uri}
        with start_function("webhook", environment | lent, snapshot=True) as webhook:
            assert giver.given == ["111111111111"]
            giver.next = aws.environment["AWS_ACCESS_KEY_ID"]
            webhook.restore()
            answer = webhook.invoke(telegram_event(1, "hello"))

    assert (answer["statusCode"], giver.given[-1]) == (200, aws.environment["AWS_ACCESS_KEY_ID"])


def test_a_worker_restored_from_its_snapshot_answers(
    start_function: StartFunction, environment: dict[str, str], aws: Account
) -> None:
    [wake] = sent_wakes(aws, environment["KABAR_QUEUE_URL"], "telegram:1")
    with start_function("worker", environment, snapshot=True) as worker:
        worker.restore()
        assert worker.invoke(sqs_event(wake)) == {"batchItemFailures": []}


def test_what_a_snapshot_restored_twice_makes_has_two_names(
    packages: Packages, environment: dict[str, str], aws: Account
) -> None:
    webhook = [telegram_event(number, "hello") for number in (1, 2)]
    worker = [sqs_event(wake) for wake in sent_wakes(aws, environment["KABAR_QUEUE_URL"], "telegram:8", "telegram:9")]
    for function, events in {"webhook": webhook, "worker": worker}.items():
        one, other = restored_twice(packages(function, this_target().arch).path, function, environment, events)
        assert [name for name in one["names"] if name in other["names"]] == []
        assert one["answer"].get("statusCode", 200) == other["answer"].get("statusCode", 200) == 200
    assert {each["pk"]["S"] for each in aws.client("dynamodb").scan(TableName="conversations")["Items"]} >= {
        "C#telegram:42"
    }


class Giver(ThreadingHTTPServer):
    """Gives credentials as Lambda does where snapshots are taken: good for some minutes. ``given`` are their keys."""

    def __init__(self, first: str) -> None:
        super().__init__(("127.0.0.1", 0), _Giving)
        self.next = first
        self.given: list[str] = []


class _Giving(BaseHTTPRequestHandler):
    server: Giver

    def do_GET(self) -> None:
        self.server.given.append(self.server.next)
        ends = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 300))
        keys = {"AccessKeyId": self.server.next, "SecretAccessKey": "none", "Token": "none", "Expiration": ends}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(keys).encode())

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextmanager
def credentials(first: str) -> Iterator[Giver]:
    with Giver(first) as giver:
        threading.Thread(target=giver.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield giver
        giver.shutdown()


def restored_twice(package: Path, function: str, environment: dict[str, str], events: list[Any]) -> list[Any]:
    begun = lambda_environment(package, f"handlers.{function}.handler") | {
        "AWS_LAMBDA_INITIALIZATION_TYPE": "snap-start"
    }
    program = [str(LAMBDA_PYTHON), str(RESTORED_TWICE), f"handlers.{function}", *map(json.dumps, events)]
    run = subprocess.run(program, env=begun | environment, cwd=package, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]


def connections(pid: int) -> list[str]:
    """Where this process's open TCP connections end."""
    own = {str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()}
    rows = [line.split() for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    ends = [row[2] for row in rows if f"socket:[{row[9]}]" in own]
    return [f"{socket.inet_ntoa(bytes.fromhex(end[:8])[::-1])}:{int(end[9:], 16)}" for end in ends]


def rotate(aws: Account, name: str, value: str) -> None:
    aws.client("ssm").put_parameter(Name=f"/kabar/test/{name}", Value=value, Type="SecureString", Overwrite=True)


def sent_wakes(aws: Account, queue_url: str, *conversations: str) -> list[dict[str, Any]]:
    for name in conversations:
        body = json.dumps({"conversation": name, "reason": "lost"})
        aws.client("sqs").send_message(
            QueueUrl=queue_url, MessageBody=body, MessageGroupId=name, MessageDeduplicationId=name
        )
    return waiting_wakes(aws, queue_url)


def test_a_function_that_lacks_its_settings_says_which(start_function: StartFunction) -> None:
    with (
        start_function("webhook", {}) as runtime,
        pytest.raises(FunctionFailed, match="KABAR_TABLE and KABAR_QUEUE_URL"),
    ):
        runtime.invoke(telegram_event(1, "hello"))


def test_neither_secrets_nor_words_are_logged(start_function: StartFunction, environment: dict[str, str]) -> None:
    with start_function("webhook", {**environment, "KABAR_METRICS": "prod"}) as runtime:
        runtime.invoke(telegram_event(1, "my private words"))
        runtime.invoke(telegram_event(2, "more of them", "another-secret"))

    lines = [json.loads(line) for line in runtime.log.splitlines()]  # nothing else is there, each on its own
    assert [line["message"] for line in lines] == ["stored", "woken", "typing is shown", "refused"]
    assert len({line["turn"] for line in lines[:3]}) == 1
    assert len({line["request"] for line in lines}) == 2
    assert [each["Dimensions"] for each in lines[3]["_aws"]["CloudWatchMetrics"]] == [[["Stack", "Status"]]]
    spoken = [*SECRETS.values(), "another-secret", "my private words", "more of them"]
    assert [word for word in spoken if word in runtime.log] == []


async def test_a_server_is_asked_in_a_turn_and_what_it_offers_outlives_the_environment(
    start_function: StartFunction, environment: dict[str, str], aws: Account, tmp_path: Path
) -> None:
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"odds": {"url": "${ODDS_URL}", "ask": []}}}))
    store = DynamoDBStore(aws.client("dynamodb"), "conversations", SystemClock())
    ann = Person(f"telegram:{telegram.ANN_CHAT}", "Ann", "en")

    def wake(worker: Runtime, number: int) -> None:
        body = json.dumps({"conversation": ann.id, "reason": str(number)})
        queue = {"QueueUrl": environment["KABAR_QUEUE_URL"]}
        aws.client("sqs").send_message(
            **queue, MessageBody=body, MessageGroupId=ann.id, MessageDeduplicationId=str(number)
        )
        [message] = waiting_wakes(aws, environment["KABAR_QUEUE_URL"])
        assert worker.invoke(sqs_event(message)) == {"batchItemFailures": []}
        aws.client("sqs").delete_message(**queue, ReceiptHandle=message["ReceiptHandle"])

    async def say(worker: Runtime, number: int) -> None:
        place = Place(conversation=ann.id, chat=telegram.ANN_CHAT)
        await store.receive(Inbound(place, f"m{number}", f"{number:012d}", ann, int(time.time()), text="ask it"))
        await asyncio.to_thread(wake, worker, number)

    script = (call("odds_echo", {"text": "a word"}), text("Yes."), call("odds_echo", {"text": "x"}), text("No."))
    async with scripted(*script, smallest_prefix=0) as model, serve(Simulator(pace=QUICK)) as simulator_url:
        more = {
            "KABAR_AGENT_DIR": str(tmp_path),
            "KABAR_OWNER": ann.id,
            "ANTHROPIC_BASE_URL": model.url,
            "TELEGRAM_API_BASE_URL": telegram_base_url(simulator_url),
        }
        secrets = {"TELEGRAM_BOT_TOKEN": telegram.TOKEN}
        async with serve_app(make_server().streamable_http_app()) as url:
            for name, value in {**secrets, "ODDS_URL": f"{url}/mcp"}.items():
                aws.client("ssm").put_parameter(
                    Name=f"/kabar/test/{name}", Value=value, Type="SecureString", Overwrite=True
                )
            with start_function("worker", environment | more) as worker:
                await say(worker, 1)
        with start_function("worker", environment | more) as worker:
            await say(worker, 2)
    told = [block["content"] for request in (1, 3) for block in results(model.requests[request])]
    assert told == ["a word", "The server odds can not be reached (ConnectError)."]
    assert model.requests[0]["tools"] == model.requests[2]["tools"]


CHART = """
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt, numpy as np, pandas as pd
table = pd.read_csv("sales.csv")
table.to_excel("sales.xlsx", index=False)
print(int(pd.read_excel("sales.xlsx")["amount"].sum()), float(np.mean(table["amount"])))
plt.plot(table["amount"])
plt.savefig("mine.png")
plt.figure()
plt.bar(table["month"], table["amount"])
plt.show()
plt.close()
plt.figure()
plt.plot([1, 2])
"""


def test_a_script_in_the_sandbox_has_its_libraries_and_every_figure_comes_back_once(
    start_function: StartFunction,
) -> None:
    job = Job(CHART, files=(Item("sales.csv", b"month,amount\njan,3\nfeb,5\n"),))
    with start_function("sandbox", {"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1769"}) as sandbox:
        ran = wire.unpack(sandbox.invoke(wire.request(job))["ran"], Ran)

    assert (ran.code, ran.out, ran.err, ran.left) == (0, "8 4.0\n", "", ())
    assert [item.name for item in ran.files] == ["mine.png", "plot-1.png", "plot-2.png", "sales.xlsx"]
    assert all(item.data.startswith(b"\x89PNG") for item in ran.files[:3])
