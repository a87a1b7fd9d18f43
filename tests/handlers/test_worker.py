"""The worker function where one process does several turns side by side, as ``kabar serve`` on AWS does."""

import asyncio

import pytest

from bot.adapters.dynamodb_store import DynamoDBStore, create_table
from bot.clock import SystemClock
from bot.deadline import Deadline
from bot.messages import Answered, Inbound, Person, Place
from bot.turn import Outcome, Turns
from handlers.aws import Secrets
from handlers.worker import HIDE, LONGEST_HIDE, Worker
from simulator.script import scripted, text
from tests.adapters.wire import wire_to
from tests.cloud import QUEUE, TABLE
from tests.emulator import Account
from tests.recorder import WAIT
from tests.say import NOW


def said(context: str) -> Inbound:
    place = Place(conversation=f"a2a:weather:{context}", chat=context)
    return Inbound(place, "m1", "1", Person("a2a:weather", "weather"), NOW, text="hi")


def wake(conversation: str) -> dict[str, object]:
    return {
        "messageId": conversation,
        "receiptHandle": "none",
        "body": f'{{"conversation": "{conversation}"}}',
        "attributes": {"MessageGroupId": conversation},
    }


async def test_a_turn_keeps_its_clients_while_a_rotated_secret_has_others_made_beside_it(
    aws: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Secrets, "KEEP", 0.0)
    for name, value in aws.environment.items():
        monkeypatch.setenv(name, value)
    create_table(aws.client("dynamodb"), TABLE)

    def rotate(key: str) -> None:
        name = "/kabar/test/ANTHROPIC_API_KEY"
        aws.client("ssm").put_parameter(Name=name, Value=key, Type="SecureString", Overwrite=True)

    rotate("old")
    began, go_on = asyncio.Event(), asyncio.Event()

    async def slowly(turns: Turns, conversation: str) -> Outcome:
        began.set()
        await go_on.wait()
        return await turns.handle(conversation, Deadline(60))

    async def at_once(turns: Turns, conversation: str) -> Outcome:
        return await turns.handle(conversation, Deadline(60))

    async with asyncio.timeout(6 * WAIT), scripted(text("Two."), text("One.")) as model:
        settings = {
            **aws.environment,
            "KABAR_TABLE": TABLE,
            "KABAR_QUEUE_URL": aws.client("sqs").create_queue(QueueName="w.fifo", Attributes=QUEUE)["QueueUrl"],
            "KABAR_BUCKET": aws.bucket(),
            "KABAR_SECRETS_PATH": "/kabar/test",
            "KABAR_ALLOWED_USERS": "*",
            "KABAR_A2A_KEYS": "weather:0123456789abcdef",
            "ANTHROPIC_BASE_URL": model.url,
        }
        worker = Worker(settings)
        store = DynamoDBStore(aws.client("dynamodb"), TABLE, SystemClock())
        for context in ("one", "two"):
            await store.receive(said(context))
        slow = asyncio.create_task(worker.each([wake("a2a:weather:one")], slowly, hide=False))
        await began.wait()
        rotate("new")
        assert await worker.each([wake("a2a:weather:two")], at_once, hide=False) == []
        go_on.set()
        assert await slow == []
        await worker.close()
        for context, words in (("one", "One."), ("two", "Two.")):
            last = (await store.record(f"a2a:weather:{context}", 1))[-1].entry
            assert isinstance(last, Answered) and last.reply.content[0]["text"] == words


async def test_a_wake_that_is_to_come_again_in_a_day_is_hidden_for_as_long_as_the_queue_can(
    aws: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQS hides a message for twelve hours at most, from when it was received, and refuses what would be longer: the
    wake would then come within a minute, again and again, though the platform wants no call."""
    for name, value in aws.environment.items():
        monkeypatch.setenv(name, value)

    async def tomorrow(turns: Turns, conversation: str) -> Outcome:
        return Outcome(again_in=86_400.0)

    with wire_to(aws.endpoint) as wire:
        worker = Worker(
            {
                **aws.environment,
                "AWS_ENDPOINT_URL": wire.endpoint,
                "KABAR_TABLE": TABLE,
                "KABAR_QUEUE_URL": aws.client("sqs").create_queue(QueueName="w.fifo", Attributes=QUEUE)["QueueUrl"],
                "ANTHROPIC_API_KEY": "of-no-account",
            }
        )
        assert await worker.each([wake("telegram:1")], tomorrow) == ["telegram:1"]
        await worker.close()
        asked = [each.request for each in wire.passed if each.operation == "ChangeMessageVisibility"]
    assert [each["VisibilityTimeout"] for each in asked] == [HIDE, LONGEST_HIDE]
    assert LONGEST_HIDE + 900 <= 12 * 3600
