"""A deployed stack answers: the parts of the template fit together, and no permission is missing."""

import asyncio
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from bot.adapters.dynamodb_store import DynamoDBStore
from bot.adapters.eventbridge_scheduler import EventBridgeScheduler, names
from bot.adapters.lambda_sandbox import CONFIG, LambdaSandbox
from bot.adapters.s3_blobs import S3Blobs
from bot.adapters.s3_folder import S3Folder
from bot.adapters.sqs_wake import SQSWake
from bot.clock import SystemClock
from bot.errors import ConfigError
from bot.keeping import blob_folder
from bot.messages import Inbound, Person, Place, Profile, Summary, ToolRun, Turn
from bot.ports import Change, Receipt
from bot.reminding import Reminders, fire
from bot.sandbox.port import CanNotRun, Item, Job
from scripts.deploy_check.watch import Watch
from simulator import slack, telegram
from simulator.app import Simulator, serve, slack_base_url, telegram_base_url
from simulator.deliver import QUICK
from simulator.script import call, scripted, text
from simulator.serving import serve as serve_app
from simulator.world import Message
from tests.clock import FakeClock
from tests.emulator import Account, running_emulator
from tests.packages.conftest import Packages
from tests.packages.libraries import this_target
from tests.packages.stack import deploy, http_let_in, outputs_of, wearing

pytestmark = [pytest.mark.packages, pytest.mark.timeout(240)]

SECRETS = {
    "TELEGRAM_BOT_TOKEN": telegram.TOKEN,
    "TELEGRAM_WEBHOOK_SECRET": telegram.SECRET,
    "SLACK_BOT_TOKEN": slack.BOT_TOKEN,
    "SLACK_SIGNING_SECRET": slack.SIGNING_SECRET,
    "ANTHROPIC_API_KEY": "of-no-account",
}
FUNCTIONS = ("WebhookFunction", "WorkerFunction", "DeadLetterFunction", "SandboxFunction", "A2AFunction")
"""Those that the deployment itself does not call."""
FOREVER = 3_000_000_000_000
WAIT = 90.0
"""Seconds for the first answer: both functions start for it, on a machine that runs other tests too."""


async def test_a_deployed_stack_answers_in_telegram_and_in_slack_with_no_more_rights_than_it_has(
    packages: Packages, no_code: Path
) -> None:
    simulator = Simulator(pace=QUICK)
    script = (call("calculator", {"expression": "6*7"}), text("It is **42**."), text("Hello from Slack."))
    arch = this_target().arch
    with running_emulator(AUTH="true") as emulator, emulator.account() as account:
        for name, value in SECRETS.items():
            account.client("ssm").put_parameter(Name=f"/kabar/prod/{name}", Value=value, Type="SecureString")
        async with scripted(*script, smallest_prefix=0) as model, serve(simulator) as simulator_url:
            url = await deploy(
                account,
                {
                    "WebhookFunction": packages("webhook", arch).path,
                    "WorkerFunction": packages("worker", arch).path,
                    "DeadLetterFunction": packages("deadletter", arch).path,
                    "RegistrarFunction": packages("registrar", arch).path,
                    "SandboxFunction": no_code,
                    "A2AFunction": no_code,
                },
                {
                    "AllowedUsers": "*",
                    "Arch": arch,
                    "TelegramApiBaseUrl": telegram_base_url(simulator_url),
                    "SlackApiBaseUrl": slack_base_url(simulator_url),
                    "AnthropicBaseUrl": model.url,
                    "AwsEndpointUrl": emulator.endpoint,
                },
            )
            simulator.connect(url)

            with http_let_in(account):
                await simulator.telegram.say("1001", "ann", "What is 6*7?")
                await simulator.telegram.wait_for(lambda seen: seen.is_bot and seen.text == "It is 42.", WAIT)
                await simulator.slack.say("D0ANN", "ann", "hello")
                await simulator.slack.wait_for(lambda seen: seen.is_bot and "Hello from Slack." in _shown(seen), WAIT)


@pytest.fixture(scope="module")
def no_code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("no_code")
    (folder / "empty.py").touch()
    return folder


@pytest.fixture(scope="module")
def deployed(packages: Packages, no_code: Path) -> Iterator[Account]:
    """The stack without its code, but for what the deployment calls."""
    arch = this_target().arch
    code = {**dict.fromkeys(FUNCTIONS, no_code), "RegistrarFunction": packages("registrar", arch).path}
    with running_emulator(AUTH="true") as emulator, emulator.account() as account:
        chosen = {"Arch": arch, "AgentPrefix": "agent/", "AgentToAgent": "on", "AwsEndpointUrl": emulator.endpoint}
        asyncio.run(deploy(account, code, chosen))
        yield account


def test_each_role_can_do_its_work_and_no_more(deployed: Account) -> None:
    outputs, clock = outputs_of(deployed), FakeClock()

    def parts(role: str) -> tuple[DynamoDBStore, S3Blobs]:
        worn = wearing(deployed, role)
        dynamodb, s3 = (worn.client(name, endpoint_url=deployed.endpoint) for name in ("dynamodb", "s3"))
        return DynamoDBStore(dynamodb, outputs["TableName"], clock), S3Blobs(lambda: s3, outputs["FilesName"])

    async def converse() -> None:
        webhook, no_files = parts("WebhookRole")
        worker, files = parts("WorkerRole")
        deadletter, some_files = parts("DeadLetterRole")
        agents, their_files = parts("A2ARole")
        said = Inbound(Place("telegram:1", "1"), "1", "1", Person("telegram:7"), 1)
        place = said.place.conversation

        assert await webhook.receive(said) is Receipt.NEW
        assert not await webhook.knows(place)
        head = await worker.claim(place, "a", FOREVER)
        assert head is not None
        assert await worker.inbox(place) == [said]
        assert await worker.keep_profile("telegram:7", Profile("Sari"))
        turn = Turn("t", said.place, said.sender, 1, 1, inbox=(said.key,))
        head = await worker.commit(head, Change((Summary("x"),), turn=turn, take=(said.key,)))
        assert await worker.put_tool_run(place, ToolRun("toolu_1"))
        key = await files.put(place, b"picture", "image/png")
        assert await files.get(key) == b"picture"
        assert await files.get(f"{key[:-32]}{'0' * 32}") is None

        assert await webhook.knows(place)
        for read in (webhook.record(place, 1), webhook.inbox(place), webhook.profile("telegram:7")):
            with pytest.raises(ConfigError, match="AccessDenied"):
                await read
        for touch in (no_files.put(place, b"x", "text/plain"), no_files.get(key), no_files.forget(place)):
            with pytest.raises(ConfigError, match="AccessDenied"):
                await touch

        asked = Inbound(Place("a2a:weather:c", "c"), "1", "1", Person("a2a:weather"), 1)
        theirs = asked.place.conversation
        assert await agents.receive(asked) is Receipt.NEW
        assert (await agents.inbox(theirs), await agents.head(theirs)) == ([asked], None)
        assert await agents.record(theirs, 1) == []
        assert await their_files.get(await their_files.put(theirs, b"table", "text/csv")) == b"table"
        assert await their_files.get(f"{blob_folder(theirs)}/{'0' * 32}") is None
        # That it reaches no other conversation's items is a condition that the emulator does not know.
        with pytest.raises(ConfigError, match="AccessDenied"):
            await agents.claim(theirs, "a", 1)
        for touch in (their_files.put(place, b"x", "text/plain"), their_files.get(key)):
            with pytest.raises(ConfigError, match="AccessDenied"):
                await touch

        assert await deadletter.claim(place, "a", FOREVER) == head
        assert (await deadletter.profile("telegram:7")).name == "Sari"
        assert await some_files.get(await some_files.put(place, b"more", "text/plain")) == b"more"
        await some_files.forget(place)  # a /forget that failed so often is still done
        assert await files.get(key) is None
        await deadletter.forget(head)
        assert not await webhook.knows(place)
        assert await webhook.receive(said) is Receipt.DONE

    with http_let_in(deployed):
        asyncio.run(converse())


async def test_a_script_in_the_deployed_sandbox_finds_nothing_of_the_bot_s_and_the_worker_alone_may_send_one(
    packages: Packages, no_code: Path, tmp_path: Path
) -> None:
    """Without the libraries for scripts, which take their time to be deployed."""
    arch = this_target().arch
    for part in ("bot", "handlers", "msgspec"):
        shutil.copytree(packages("sandbox", arch).path / part, tmp_path / "sandbox" / part)
    registrar = packages("registrar", arch).path
    code = {
        **dict.fromkeys(FUNCTIONS, no_code),
        "SandboxFunction": tmp_path / "sandbox",
        "RegistrarFunction": registrar,
    }
    with running_emulator(AUTH="true") as emulator, emulator.account() as account:
        await deploy(account, code, {"Arch": arch, "AwsEndpointUrl": emulator.endpoint})
        name = outputs_of(account)["SandboxName"]
        worker, webhook = (
            wearing(account, role).client("lambda", endpoint_url=emulator.endpoint, config=CONFIG)
            for role in ("WorkerRole", "WebhookRole")
        )

        ran = await LambdaSandbox(lambda: worker, name).run("telegram:1", Job(LOOKS_AROUND, (emulator.endpoint,)))

        assert (ran.code, ran.err, ran.open) == (0, "", ())
        assert json.loads(ran.out) == {"secrets": [], "reached": False}
        with pytest.raises(CanNotRun, match="is no name for a file"):
            await LambdaSandbox(lambda: worker, name).run("telegram:1", Job("", files=(Item("../x", b""),)))
        with pytest.raises(CanNotRun, match="can not be reached"):
            await LambdaSandbox(lambda: webhook, name).run("telegram:1", Job("print(1)"))


LOOKS_AROUND = """
import json, os, sys, urllib.request
try:
    reached = bool(urllib.request.urlopen(sys.argv[1], timeout=5))
except OSError:
    reached = False
print(json.dumps({"secrets": [name for name in os.environ if name.startswith(("AWS", "KABAR"))], "reached": reached}))
"""


def test_the_sandbox_s_role_reads_no_table_no_queue_no_file_and_no_secret(deployed: Account) -> None:
    outputs, worn = outputs_of(deployed), wearing(deployed, "SandboxRole")
    dynamodb, sqs, s3, ssm, functions = (
        worn.client(name, endpoint_url=deployed.endpoint) for name in ("dynamodb", "sqs", "s3", "ssm", "lambda")
    )
    tries: tuple[Callable[[], object], ...] = (
        lambda: dynamodb.scan(TableName=outputs["TableName"]),
        lambda: dynamodb.get_item(TableName=outputs["TableName"], Key={"pk": {"S": "a"}, "sk": {"S": "b"}}),
        lambda: dynamodb.put_item(TableName=outputs["TableName"], Item={"pk": {"S": "a"}, "sk": {"S": "b"}}),
        lambda: sqs.receive_message(QueueUrl=outputs["WakeQueueUrl"]),
        lambda: sqs.send_message(QueueUrl=outputs["WakeQueueUrl"], MessageBody="x", MessageGroupId="x"),
        lambda: s3.list_objects_v2(Bucket=outputs["FilesName"]),
        lambda: s3.get_object(Bucket=outputs["FilesName"], Key="x"),
        lambda: ssm.get_parameters_by_path(Path="/kabar/prod", WithDecryption=True),
        lambda: ssm.get_parameter(Name="/kabar/prod/TELEGRAM_BOT_TOKEN", WithDecryption=True),
        lambda: functions.invoke(FunctionName=outputs["SandboxName"], Payload=b"{}", TenantId="another"),
    )

    for attempt in tries:
        with http_let_in(deployed), pytest.raises(ClientError, match="AccessDenied"):
            attempt()


def test_reminders_are_set_by_the_worker_and_fired_by_the_webhook_and_the_schedule_may_call_it(
    deployed: Account,
) -> None:
    outputs, clock = outputs_of(deployed), SystemClock()
    resources = {
        each["LogicalResourceId"]: each["PhysicalResourceId"]
        for each in deployed.client("cloudformation").describe_stack_resources(StackName="kabar")["StackResources"]
    }
    webhook_arn = deployed.client("lambda").get_alias(FunctionName=resources["WebhookFunction"], Name="live")[
        "AliasArn"
    ]
    role = deployed.client("iam").get_role(RoleName=resources["ScheduleRole"])["Role"]["Arn"]

    def parts(name: str) -> tuple[DynamoDBStore, EventBridgeScheduler, SQSWake]:
        worn = wearing(deployed, name)
        dynamodb, times, sqs = (
            worn.client(each, endpoint_url=deployed.endpoint) for each in ("dynamodb", "scheduler", "sqs")
        )
        return (
            DynamoDBStore(dynamodb, outputs["TableName"], clock),
            EventBridgeScheduler(lambda: times, resources["Schedules"], role, str(webhook_arn), clock),
            SQSWake(sqs, outputs["WakeQueueUrl"]),
        )

    async def remind() -> None:
        place, ann = Place("telegram:1", "1"), Person("telegram:7")
        store, scheduler, _ = parts("WorkerRole")
        reminders = Reminders(store, scheduler)
        reminder = await reminders.add(place, ann, "Pay", "in 1 hour", "daily", asks=False, now=clock.now())
        other = await reminders.add(place, ann, "Rest", "in 1 hour", "", asks=False, now=clock.now())
        await reminders.cancel(place.conversation, other.id)

        webhook, schedules, wake = parts("WebhookRole")
        at = reminder.at
        assert await fire(place.conversation, reminder.id, at, webhook, schedules, wake, clock) is Receipt.NEW
        assert await webhook.overdue_reminders(at, at + 2 * 86_400) == [(place.conversation, reminder.id, at + 86_400)]
        (due,) = await store.inbox(place.conversation)
        assert (due.kind, due.text) == ("due", "Pay")

        said = deployed.client("scheduler").list_schedules(GroupName=resources["Schedules"])["Schedules"]
        assert {each["Name"] for each in said} == set(names(place.conversation, reminder.id))
        with pytest.raises(ConfigError, match="AccessDenied"):
            await webhook.delete_reminder(place.conversation, reminder.id)
        deadletter, dead_times, _ = parts("DeadLetterRole")
        await Reminders(deadletter, dead_times).cancel(place.conversation, reminder.id)

    asyncio.run(remind())
    called = wearing(deployed, "ScheduleRole").client("lambda", endpoint_url=deployed.endpoint)
    called.invoke(FunctionName=webhook_arn, InvocationType="DryRun")
    with pytest.raises(called.exceptions.ClientError, match="AccessDenied"):
        called.invoke(FunctionName=resources["WorkerFunction"], InvocationType="DryRun")


def test_the_worker_reads_the_owners_folder_and_can_not_write_it(deployed: Account, tmp_path: Path) -> None:
    bucket = outputs_of(deployed)["FilesName"]
    with http_let_in(deployed):
        deployed.client("s3").put_object(Bucket=bucket, Key="agent/AGENTS.md", Body=b"Be kind.")
        worker = wearing(deployed, "WorkerRole").client("s3", endpoint_url=deployed.endpoint)
        S3Folder(lambda: worker, bucket, "agent/").copy(tmp_path)
        assert (tmp_path / "AGENTS.md").read_bytes() == b"Be kind."
        asyncio.run(S3Blobs(lambda: worker, bucket).put("telegram:1", b"x", "text/plain"))
        for role in ("WorkerRole", "DeadLetterRole"):
            own = wearing(deployed, role).client("s3", endpoint_url=deployed.endpoint)
            with pytest.raises(own.exceptions.ClientError, match="explicit deny"):
                own.put_object(Bucket=bucket, Key="agent/AGENTS.md", Body=b"Obey.")
            with pytest.raises(own.exceptions.ClientError, match="explicit deny"):
                own.delete_object(Bucket=bucket, Key="agent/AGENTS.md")


async def test_the_rehearsal_sees_what_a_role_may_not_do_and_hands_everything_else_on(deployed: Account) -> None:
    watch, bucket = Watch(deployed.endpoint), outputs_of(deployed)["FilesName"]

    def use(url: str) -> None:
        worker, sandbox = (wearing(deployed, role) for role in ("WorkerRole", "SandboxRole"))
        files = worker.client("s3", endpoint_url=url)
        files.put_object(Bucket=bucket, Key="telegram_3a9/a b", Body=b"words", ContentType="text/plain")
        assert files.head_object(Bucket=bucket, Key="telegram_3a9/a b")["ContentLength"] == 5
        assert files.get_object(Bucket=bucket, Key="telegram_3a9/a b")["Body"].read() == b"words"
        assert files.list_objects_v2(Bucket=bucket, Prefix="telegram_3a9/")["KeyCount"] == 1
        assert watch.denied == []
        with pytest.raises(ClientError, match="AccessDenied"):
            sandbox.client("dynamodb", endpoint_url=url).scan(TableName=outputs_of(deployed)["TableName"])

    async with serve_app(watch) as url:
        with http_let_in(deployed):
            await asyncio.to_thread(use, url)
        await watch.close()
    (denied,) = watch.denied
    assert "dynamodb:Scan" in denied


def test_the_deployed_bucket_is_private_and_hears_nobody_without_tls(deployed: Account) -> None:
    """Its lifecycle is not among what the emulator makes of a template."""
    s3, bucket = deployed.client("s3"), outputs_of(deployed)["FilesName"]
    worker = wearing(deployed, "WorkerRole").client("s3", endpoint_url=deployed.endpoint)

    with pytest.raises(ConfigError, match="explicit deny"):
        asyncio.run(S3Blobs(lambda: worker, bucket).get(f"telegram_3a1/{'0' * 32}"))
    access = s3.get_public_access_block(Bucket=bucket)["PublicAccessBlockConfiguration"]
    (ownership,) = s3.get_bucket_ownership_controls(Bucket=bucket)["OwnershipControls"]["Rules"]
    (statement,) = json.loads(s3.get_bucket_policy(Bucket=bucket)["Policy"])["Statement"]

    assert set(access.values()) == {True}
    assert ownership["ObjectOwnership"] == "BucketOwnerEnforced"
    assert statement["Resource"] == [f"arn:aws:s3:::{bucket}", f"arn:aws:s3:::{bucket}/*"]
    assert s3.get_bucket_encryption(Bucket=bucket)["ServerSideEncryptionConfiguration"]["Rules"]


def _shown(message: Message) -> str:
    return message.markdown_text or message.text
