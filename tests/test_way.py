"""A message goes the whole way: signed bytes in, through the real handlers, DynamoDB and SQS, and an answer out."""

import asyncio
import hashlib
import hmac
import json
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from handlers.workshop import BUILT_IN
from simulator import telegram
from simulator.app import Simulator, serve
from simulator.deliver import PATIENT, QUICK
from simulator.script import Line, ScriptedModel, call, reply, scripted, text
from simulator.slack import SIGNING_SECRET
from simulator.world import Message
from tests.adapters.wire import wire_to
from tests.cloud import TABLE, Cloud, cloud_for
from tests.emulator import Account
from tests.packages.events import http_event, sqs_event, telegram_update

ANN = "1001"
GROUP = "-2001"
WAIT = 20.0


class Way:
    def __init__(self, simulator: Simulator, cloud: Cloud, model: ScriptedModel) -> None:
        self.simulator = simulator
        self.cloud = cloud
        self.model = model

    async def telegram_says(self, answer: str) -> Message:
        return await self.simulator.telegram.wait_for(lambda seen: seen.is_bot and seen.text == answer, WAIT)

    async def slack_says(self, answer: str) -> Message:
        return await self.simulator.slack.wait_for(lambda seen: seen.is_bot and answer in _shown(seen), WAIT)

    async def settled(self) -> None:
        """Until every message is answered and no wake is left."""
        async with asyncio.timeout(WAIT):
            while await asyncio.to_thread(self._unsettled):
                await asyncio.sleep(0.05)

    def _unsettled(self) -> bool:
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        sqs = self.cloud.account.client("sqs")
        counts = sqs.get_queue_attributes(QueueUrl=self.cloud.queue_url, AttributeNames=names)["Attributes"]
        return any(int(count) for count in counts.values())


def _shown(message: Message) -> str:
    return message.markdown_text or message.text


@asynccontextmanager
async def way_of(aws: Account, patch: pytest.MonkeyPatch, *script: Line, seconds: float = 60) -> AsyncIterator[Way]:
    simulator = Simulator(pace=QUICK)
    async with (
        scripted(*script, smallest_prefix=0) as model,
        serve(simulator) as simulator_url,
        cloud_for(aws, simulator_url, model.url, patch, seconds=seconds) as cloud,
    ):
        simulator.connect(cloud.url)
        yield Way(simulator, cloud, model)


def words(request: dict[str, Any]) -> list[str]:
    return [block["text"] for message in request["messages"] for block in message["content"] if block["type"] == "text"]


async def test_telegram_and_back_with_a_tool_and_a_second_turn_that_remembers(
    aws: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = (call("calculator", {"expression": "12*7+3"}), text("It is **87**."), text("You asked for 12*7+3."))
    async with way_of(aws, monkeypatch, *script) as way:
        await way.simulator.telegram.say(ANN, "ann", "What is 12*7+3?")
        answer = await way.telegram_says("It is 87.")
        assert [entity["type"] for entity in answer.entities] == ["bold"]
        await way.simulator.telegram.say(ANN, "ann", "What did I ask?")
        await way.telegram_says("You asked for 12*7+3.")
        await way.settled()
        assert {"What is 12*7+3?", "It is **87**."} <= set(words(way.model.requests[2]))
        assert {tool["name"] for tool in way.model.requests[0]["tools"]} == BUILT_IN - {"ask_agent", "upload_files"} | {
            "delegate"
        }
        assert way.cloud.answers == [{"batchItemFailures": []}] * 2


async def test_slack_and_back_in_a_thread_and_a_second_turn_that_remembers(
    aws: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with way_of(aws, monkeypatch, text("Hello **Ann**."), text("You said hello.")) as way:
        question = await way.simulator.slack.say("C0GENERAL", "ann", "@Kabar hello")
        answer = await way.slack_says("Hello **Ann**.")
        assert answer.thread == question.id
        await way.simulator.slack.say("C0GENERAL", "ann", "@Kabar what did I say?", question.id)
        await way.slack_says("You said hello.")
        await way.settled()
        assert "hello" in words(way.model.requests[1])
        assert len(way.model.requests) == 2  # each mention came as app_mention and as message


async def test_a_direct_message_in_slack_is_one_conversation_without_threads(
    aws: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with way_of(aws, monkeypatch, text("One."), text("Two.")) as way:
        await way.simulator.slack.say("D0ANN", "ann", "first")
        assert (await way.slack_says("One.")).thread == ""
        await way.simulator.slack.say("D0ANN", "ann", "second")
        await way.slack_says("Two.")
        await way.settled()
        assert "first" in words(way.model.requests[1])


async def test_the_prefix_is_read_from_the_cache_on_the_second_turn(
    aws: Account, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "bot.agent")
    async with way_of(aws, monkeypatch, text("One."), text("Two.")) as way:
        for question, answer in (("first", "One."), ("second", "Two.")):
            await way.simulator.telegram.say(ANN, "ann", question)
            await way.telegram_says(answer)
            await way.settled()
    second = [record.getMessage() for record in caplog.records if "model replied" in record.getMessage()][1]
    assert "cache_read=<0>" not in second
    assert str(way.model.requests[1]).count("cache_control") == 3  # the stable part, the last request's end, this one's


async def test_the_owners_folder_in_the_bucket_takes_the_place_of_the_packaged_one(
    aws: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KABAR_AGENT_PREFIX", "agent/")
    async with way_of(aws, monkeypatch, call("skill", {"name": "tea"}), text("Tea it is.")) as way:
        skill = b"---\nname: tea\ndescription: Makes tea.\n---\nBoil the water."
        for name, data in {"AGENTS.md": b"You are from the bucket.", "skills/tea/SKILL.md": skill}.items():
            s3 = way.cloud.account.client("s3")
            await asyncio.to_thread(s3.put_object, Bucket=os.environ["KABAR_BUCKET"], Key=f"agent/{name}", Body=data)
        await way.simulator.telegram.say(ANN, "ann", "Some tea?")
        await way.telegram_says("Tea it is.")
        await way.settled()
        first, second = way.model.requests
        assert first["system"][0]["text"].endswith("You are from the bucket.")
        assert "Boil the water." in str(second["messages"][-1]["content"])


async def test_without_a_folder_in_the_bucket_the_packaged_one_is_used_with_a_warning(
    aws: Account, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("KABAR_AGENT_PREFIX", "agent/")
    async with way_of(aws, monkeypatch, text("Hello.")) as way:
        await way.simulator.telegram.say(ANN, "ann", "hello")
        await way.telegram_says("Hello.")
        await way.settled()
        assert "You are Kabar" in way.model.requests[0]["system"][0]["text"]
    assert "the packaged instructions and skills are used: Nothing lies under agent/" in caplog.text


async def test_who_looks_after_a_group_or_a_workspace_writes_what_holds_in_it_and_nobody_else(
    aws: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = "<rules>\nBe brief.\n</rules>"
    async with way_of(aws, monkeypatch, text("One."), text("Two.")) as way:
        group, channel = way.simulator.telegram, way.simulator.slack
        await group.say(GROUP, "budi", f"/instructions@{telegram.USERNAME} Obey Budi.")
        await group.wait_for(lambda seen: seen.is_bot and "Hanya pemilik saya, atau admin" in seen.text, WAIT)
        await group.say(GROUP, "ann", f"/instructions@{telegram.USERNAME} Be brief.")
        await group.wait_for(lambda seen: seen.is_bot and "by Ann:" in seen.text, WAIT)
        await group.say(GROUP, "budi", f"@{telegram.USERNAME} hello")
        await way.telegram_says("One.")
        await channel.command("C0GENERAL", "budi", "instructions Obey Budi.")
        await way.slack_says("Hanya pemilik saya, atau admin")
        await channel.command("C0GENERAL", "ann", "instructions Be brief.")
        await way.slack_says("From now on this holds here.")
        await channel.say("C0GENERAL", "budi", "@Kabar hello")  # a thread, and so a conversation, of its own
        await way.slack_says("Two.")
        await way.settled()
        assert all(rules in words(request) for request in way.model.requests)
        assert "Obey" not in str(way.model.requests)


async def test_the_first_sign_of_life_costs_no_request(aws: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    async with way_of(aws, monkeypatch) as way:
        headers = {"content-type": "application/json", "x-telegram-bot-api-secret-token": telegram.SECRET}
        answer = await way.cloud.call_webhook(http_event("/telegram", telegram_update(1, "/help"), headers))
        assert json.loads(answer["body"]) == {"method": "sendChatAction", "chat_id": 42, "action": "typing"}


async def test_the_same_event_three_times_at_once_and_later_is_one_turn_and_one_answer(
    aws: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with way_of(aws, monkeypatch, text("Once.")) as way:
        message = await way.simulator.telegram.say(ANN, "ann", "hi")
        await way.telegram_says("Once.")
        native = way.simulator.telegram._native(way.simulator.world.chat("telegram", ANN), message.id)
        body = json.dumps({"update_id": 999, "message": native}).encode()
        headers = {"content-type": "application/json", "x-telegram-bot-api-secret-token": telegram.SECRET}
        async with httpx.AsyncClient(base_url=way.cloud.url) as http:
            at_once = await asyncio.gather(*(http.post("/telegram", content=body, headers=headers) for _ in range(3)))
            assert [answer.status_code for answer in at_once] == [200, 200, 200]
            await way.settled()
            later = await http.post("/telegram", content=body, headers=headers)
            assert later.status_code == 200
        await way.settled()
        assert len([seen for seen in way.simulator.telegram.messages(ANN) if seen.is_bot]) == 1


async def test_new_events_arriving_three_times_at_once_are_one_turn(
    aws: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with way_of(aws, monkeypatch, text("Once.")) as way:
        body = {
            "type": "event_callback",
            "event_id": "Ev1",
            "team_id": "T0KABAR",
            "authorizations": [{"team_id": "T0KABAR", "user_id": "U0KABAR", "is_bot": True}],
            "event": {
                "type": "message",
                "channel": "D0ANN",
                "channel_type": "im",
                "user": "U0ANN",
                "ts": f"{int(time.time())}.000100",
                "text": "hi",
            },
        }
        content = json.dumps(body).encode()
        async with httpx.AsyncClient(base_url=way.cloud.url) as http:
            answers = await asyncio.gather(
                *(http.post("/slack/events", content=content, headers=_signed(content)) for _ in range(3))
            )
            assert [answer.status_code for answer in answers] == [200, 200, 200]
            await way.slack_says("Once.")
            retry = {**_signed(content), "x-slack-retry-num": "3", "x-slack-retry-reason": "http_timeout"}
            assert (await http.post("/slack/events", content=content, headers=retry)).status_code == 200
        await way.settled()
        assert len([seen for seen in way.simulator.slack.messages("D0ANN") if seen.is_bot]) == 1


def _signed(body: bytes, secret: str = SIGNING_SECRET, at: float | None = None) -> dict[str, str]:
    stamp = str(int(time.time() if at is None else at))
    signature = hmac.new(secret.encode(), b"v0:%s:%s" % (stamp.encode(), body), hashlib.sha256).hexdigest()
    return {
        "content-type": "application/json",
        "x-slack-request-timestamp": stamp,
        "x-slack-signature": f"v0={signature}",
    }


UPDATE = telegram_update(1, "/help")
JSON = {"content-type": "application/json"}
PROVED = {**JSON, "x-telegram-bot-api-secret-token": telegram.SECRET}
MENTION = json.dumps({"type": "event_callback", "event": {"type": "app_mention"}}).encode()
Headers = dict[str, str] | Callable[[], dict[str, str]]
"""As they are, or made when they are sent: a signature is good for five minutes."""


@pytest.mark.parametrize(
    ("path", "body", "headers", "status"),
    [
        ("/telegram", UPDATE, JSON, 401),
        ("/telegram", UPDATE, {**JSON, "x-telegram-bot-api-secret-token": "wrong"}, 401),
        ("/telegram", UPDATE, {**JSON, "x-telegram-bot-api-secret-token": ""}, 401),
        ("/telegram", b"{", PROVED, 400),
        ("/telegram", b"[]", PROVED, 400),
        ("/telegram", b"\xff", PROVED, 400),
        ("/telegram", b"[" * 100_000, PROVED, 400),
        ("/telegram", UPDATE, {**PROVED, "content-type": "text/plain"}, 415),
        ("/telegram", b" " * 1_000_001, PROVED, 413),
        ("/telegram", b'{"update_id": 3, "poll": {}}', PROVED, 200),
        ("/telegram", b'{"update_id": 4, "channel_post": {"chat": {"id": -1009}, "text": "hi"}}', PROVED, 200),
        ("/telegram", b'{"message": {"chat": 5}}', PROVED, 200),
        ("/slack/events", MENTION, JSON, 401),
        ("/slack/events", MENTION, lambda: _signed(MENTION, "wrong"), 401),
        ("/slack/events", MENTION, lambda: _signed(MENTION, at=time.time() - 301), 401),
        ("/slack/events", MENTION, lambda: _signed(MENTION, at=time.time() + 3_600), 401),
        ("/slack/events", MENTION, lambda: {**_signed(MENTION), "x-slack-request-timestamp": "abc"}, 401),
        ("/slack/events", MENTION + b" ", lambda: _signed(MENTION), 401),
        ("/slack/events", b"{", lambda: _signed(b"{"), 400),
        ("/slack/events", MENTION, lambda: _signed(MENTION), 200),
        ("/slack/events", b" " * 1_000_001, JSON, 413),
        ("/nowhere", b"", JSON, 404),
    ],
)
async def test_what_is_not_proved_or_not_understood_is_answered_cleanly_and_leaves_nothing(
    aws: Account, monkeypatch: pytest.MonkeyPatch, path: str, body: bytes, headers: Headers, status: int
) -> None:
    async with way_of(aws, monkeypatch) as way:
        sent = headers() if callable(headers) else headers
        answer = await way.cloud.call_webhook(http_event(path, body, sent))
        assert answer["statusCode"] == status
        assert way.cloud.items() == []
        assert not await asyncio.to_thread(way._unsettled)


async def test_a_request_without_any_header_is_refused_like_one_without_a_proof(
    aws: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with way_of(aws, monkeypatch) as way:
        for path in ("/telegram", "/slack/events"):
            event = http_event(path, UPDATE, PROVED)
            assert (await way.cloud.call_webhook({**event, "headers": None}))["statusCode"] == 401
            assert (await way.cloud.call_webhook({**event, "headers": {}}))["statusCode"] == 401
        assert way.cloud.items() == []


async def test_a_store_that_fails_is_told_to_the_platform_so_that_it_sends_again(
    aws: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with way_of(aws, monkeypatch, text("Here.")) as way:
        dynamodb = aws.client("dynamodb")
        dynamodb.delete_table(TableName="conversations")
        message = await way.simulator.telegram.say(ANN, "ann", "hi")
        await way.simulator.world.wait_until(lambda: message.delivery and message.delivery.status >= 500, WAIT)
        from bot.adapters.dynamodb_store import create_table

        create_table(dynamodb, "conversations")
        await way.telegram_says("Here.")


async def test_a_rotated_secret_is_picked_up_while_the_function_is_warm(
    aws: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with way_of(aws, monkeypatch) as way:
        from handlers import door

        monkeypatch.setattr(door.Doors, "REFRESH_AFTER", 0.0)
        event = http_event("/telegram", UPDATE, PROVED)
        assert (await way.cloud.call_webhook(event))["statusCode"] == 200
        aws.client("ssm").put_parameter(
            Name="/kabar/test/TELEGRAM_WEBHOOK_SECRET", Value="new-secret", Type="SecureString", Overwrite=True
        )
        new = {**JSON, "x-telegram-bot-api-secret-token": "new-secret"}
        assert (await way.cloud.call_webhook(http_event("/telegram", UPDATE, new)))["statusCode"] == 200
        assert (await way.cloud.call_webhook(event))["statusCode"] == 401


async def test_healthz_answers_without_any_account(aws: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    async with way_of(aws, monkeypatch) as way:
        answer = await way.cloud.call_webhook(http_event("/healthz", b"", {}, method="GET"))
        assert (answer["statusCode"], answer["body"]) == (200, "ok")


async def test_a_failed_wake_holds_back_its_own_group_and_no_other(
    aws: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with way_of(aws, monkeypatch) as way:
        monkeypatch.setenv("KABAR_TABLE", "no-such-table")
        records = [
            {
                "messageId": name,
                "receiptHandle": "none",
                "body": body,
                "attributes": {"MessageGroupId": group},
            }
            for name, group, body in [
                ("m1", "g1", '{"conversation": "telegram:1", "reason": "x"}'),
                ("m2", "g1", '{"conversation": "telegram:1", "reason": "y"}'),
                ("m3", "g2", "not ours"),
            ]
        ]
        answer = await way.cloud.call_worker({"Records": records})
        assert answer == {"batchItemFailures": [{"itemIdentifier": "m1"}, {"itemIdentifier": "m2"}]}


async def test_a_turn_longer_than_the_function_lives_goes_on_in_the_same_message(
    aws: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = [
        reply(text(f"Step {number}."), call("calculator", {"expression": f"{number}+1"}), pace=0.2)
        for number in range(11)
    ]
    async with way_of(aws, monkeypatch, *steps, text("Done."), seconds=5) as way:
        await way.simulator.telegram.say(ANN, "ann", "take your time")
        await way.simulator.telegram.wait_for(lambda seen: seen.is_bot and "Done." in seen.text, 60)
        await way.settled()
        (answer,) = [seen for seen in way.simulator.telegram.messages(ANN) if seen.is_bot]
        assert [answer.text.count(f"Step {number}.") for number in range(11)] == [1] * 11
        assert len(way.cloud.answers) > 1


async def test_stop_in_the_middle_of_a_stream_is_shown(aws: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    async with way_of(aws, monkeypatch, reply(text("counting " * 500), pace=0.05)) as way:
        await way.simulator.telegram.say(ANN, "ann", "count")
        await way.simulator.telegram.wait_for(lambda seen: seen.is_bot and seen.text.count("counting") > 3, WAIT)
        await way.simulator.telegram.say(ANN, "ann", "/stop")
        stopped = await way.simulator.telegram.wait_for(lambda seen: "(Stopped.)" in seen.text, WAIT)
        await way.settled()
        assert stopped.text.count("counting") > 3
        assert stopped.buttons == []
        assert way.model.hangups == 1


async def test_what_a_slash_command_shows_one_person_can_be_tapped(
    aws: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = (call("run_python", {"code": "print(6 * 7)"}), text("Then not."))
    async with way_of(aws, monkeypatch, *script) as way:
        slack, way.simulator.events.pace = way.simulator.slack, PATIENT
        await slack.command("C0GENERAL", "ann", "settings")
        page = await way.slack_says("**Settings of this chat**")
        await slack.tap("C0GENERAL", "ann", page.id, "0.1")
        await way.slack_says("**Pengaturan obrolan ini**")
        await slack.command("C0GENERAL", "ann", "please count")
        await way.slack_says("⏳ please count")
        question = await way.slack_says("Boleh saya jalankan Python ini?")
        await slack.tap("C0GENERAL", "ann", question.id, "0.1")
        await way.slack_says("Then not.")
        await way.settled()
        assert {seen.only_for for seen in slack.messages("C0GENERAL") if seen.is_bot} == {"ann"}


async def test_slacks_own_stop_button_stops(aws: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    async with way_of(aws, monkeypatch, reply(text("counting " * 500), pace=0.05)) as way:
        question = await way.simulator.slack.say("C0GENERAL", "ann", "@Kabar count")
        await way.simulator.slack.wait_for(lambda seen: seen.is_bot and _shown(seen).count("counting") > 3, WAIT)
        (sign,) = way.simulator.world.signs.values()
        assert sign.stop
        await way.simulator.slack.stop("C0GENERAL", "ann", question.id)
        await way.slack_says("(Stopped.)")
        await way.settled()
        assert way.simulator.world.signs == {}


async def test_a_redelivered_wake_of_a_dead_worker_is_answered_once_more_than_never(
    aws: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with way_of(aws, monkeypatch, text("Hello.")) as way:
        await way.simulator.telegram.say(ANN, "ann", "hi")
        await way.telegram_says("Hello.")
        await way.settled()
        for conversation in ("telegram:1001", "telegram:1001"):
            body = json.dumps({"conversation": conversation, "reason": "again"})
            record = {
                "messageId": "m",
                "receiptHandle": "r",
                "body": body,
                "attributes": {"MessageGroupId": conversation},
            }
            assert await way.cloud.call_worker({"Records": [record]}) == {"batchItemFailures": []}
        assert len([seen for seen in way.simulator.telegram.messages(ANN) if seen.is_bot]) == 1


async def test_the_dead_letter_function_tells_the_person_and_its_button_does_it_again(
    aws: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with way_of(aws, monkeypatch, text("Here you are.")) as way:
        way.cloud.deaf = True
        message = await way.simulator.telegram.say(ANN, "ann", "please")
        await way.simulator.world.wait_until(lambda: message.delivery and message.delivery.state == "accepted", WAIT)
        (wake,) = await way.cloud.receive(5)
        assert await way.cloud.call_deadletter(sqs_event(wake)) == {"batchItemFailures": []}
        await asyncio.to_thread(way.cloud.delete, wake)  # as AWS does when it moves a wake to the dead letters
        notice = await way.simulator.telegram.wait_for(lambda seen: seen.is_bot, WAIT)
        assert "Something went wrong" in notice.text
        assert [button.text for row in notice.buttons for button in row] == ["Retry"]
        way.cloud.deaf = False
        await way.simulator.telegram.tap(ANN, "ann", notice.id)
        await way.telegram_says("Here you are.")
        assert "please" in words(way.model.requests[0])


async def test_the_schedules_sweep_wakes_what_was_never_woken(aws: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    async with way_of(aws, monkeypatch, text("Late but there.")) as way:
        way.cloud.deaf = True
        message = await way.simulator.telegram.say(ANN, "ann", "hi")
        await way.simulator.world.wait_until(lambda: message.delivery and message.delivery.state == "accepted", WAIT)
        (wake,) = await way.cloud.receive(5)
        await asyncio.to_thread(way.cloud.delete, wake)  # lost
        monkeypatch.setattr("handlers.webhook.OVERDUE", -5.0)
        assert await way.cloud.call_webhook({"sweep": True}) == {"woken": 1, "late": 0, "unused": 0}
        way.cloud.deaf = False
        await way.telegram_says("Late but there.")


async def test_the_schedules_sweep_decrypts_no_secret(aws: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    async with way_of(aws, monkeypatch) as way:
        with wire_to(aws.endpoint) as wire:
            monkeypatch.setenv("AWS_ENDPOINT_URL", wire.endpoint)
            assert await way.cloud.call_webhook({"sweep": True}) == {"woken": 0, "late": 0, "unused": 0}
            assert {each.operation for each in wire.passed} == {"Query"}


async def test_the_schedules_sweep_has_what_nobody_uses_any_more_deleted(
    aws: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KABAR_KEEP_DAYS", "30")
    async with way_of(aws, monkeypatch, text("Hello Ann.")) as way:
        await way.simulator.telegram.say(ANN, "ann", "hi")
        await way.telegram_says("Hello Ann.")
        await way.settled()
        assert (await way.cloud.call_webhook({"sweep": True}))["unused"] == 0
        (head,) = [item for item in way.cloud.items() if item["sk"]["S"] == "HEAD"]
        long_ago = {**head, "received_at": {"N": str(int(time.time()) - 32 * 24 * 3600)}}
        await asyncio.to_thread(aws.client("dynamodb").put_item, TableName=TABLE, Item=long_ago)

        assert (await way.cloud.call_webhook({"sweep": True}))["unused"] == 1
        await way.settled()
        kinds = {item["sk"]["S"][:2] for item in way.cloud.items() if item["pk"]["S"] == head["pk"]["S"]}
        assert kinds == {"IN"}  # by which a late repeat is known; without a word


async def test_the_owner_asks_in_telegram_how_the_bot_on_aws_is(aws: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KABAR_OWNER", f"telegram:{ANN}")
    async with way_of(aws, monkeypatch, text("ok")) as way:  # the model is asked for a word too
        await way.simulator.telegram.say(ANN, "ann", "/doctor")
        told = await way.simulator.telegram.wait_for(lambda seen: seen.is_bot and "🟢" in seen.text, WAIT)
        await way.settled()
        assert told.text.startswith("Examined: 1 red, ")
        assert "🔴 dead letters: The queue has no dead letters" in told.text  # this one was made without
        assert {"table", "secrets", "telegram webhook"} <= set(told.text.partition("🟢 ")[2].split(", "))
        assert [message for message in way.simulator.world.messages.values() if message.is_bot] == [told]
