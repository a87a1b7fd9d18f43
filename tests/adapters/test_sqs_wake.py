"""Wakes through a real FIFO queue of the emulator."""

import json
from typing import Any

import pytest

from bot.adapters.sqs_wake import SQSWake, message_group
from bot.errors import StoreUnavailable
from tests.emulator import Account


class Queue:
    def __init__(self, client: Any) -> None:
        self.client = client
        # Merges over the whole queue, not only within a group: what holds here holds in both.
        attributes = {"FifoQueue": "true", "DeduplicationScope": "queue"}
        self.url: str = client.create_queue(QueueName="kabar.fifo", Attributes=attributes)["QueueUrl"]

    def receive(self) -> list[tuple[str, dict[str, str]]]:
        """Everything that can be received now, taken off the queue: (group, body)."""
        received = []
        while batch := self._batch():
            for message in batch:
                received.append((message["Attributes"]["MessageGroupId"], json.loads(message["Body"])))
                self.client.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
        return received

    def _batch(self) -> list[dict[str, Any]]:
        answer = self.client.receive_message(
            QueueUrl=self.url, MaxNumberOfMessages=10, MessageSystemAttributeNames=["MessageGroupId"]
        )
        return list(answer.get("Messages", []))


@pytest.fixture
def queue(aws: Account) -> Queue:
    return Queue(aws.client("sqs"))


async def test_a_wake_says_only_which_conversation_and_why(queue: Queue) -> None:
    await SQSWake(queue.client, queue.url).wake("telegram:-100200:55", "update 7")
    body = {"conversation": "telegram:-100200:55", "reason": "update 7"}
    assert queue.receive() == [("telegram:-100200:55", body)]


async def test_the_same_reason_is_merged_and_another_one_is_not(queue: Queue) -> None:
    wake = SQSWake(queue.client, queue.url).wake
    for reason in ("update 7", "update 7", "update 8"):
        await wake("telegram:1", reason)
    await wake("telegram:2", "update 7")
    received = [(body["conversation"], body["reason"]) for _, body in queue.receive()]
    assert sorted(received) == [("telegram:1", "update 7"), ("telegram:1", "update 8"), ("telegram:2", "update 7")]


async def test_conversation_and_reason_do_not_run_into_each_other(queue: Queue) -> None:
    wake = SQSWake(queue.client, queue.url).wake
    await wake("ab", "c")
    await wake("a", "bc")
    await wake('a", "b', "c")
    await wake("a", 'b", "c')
    assert len(queue.receive()) == 4


async def test_wakes_of_one_conversation_stay_in_order(queue: Queue) -> None:
    for number in range(25):
        await SQSWake(queue.client, queue.url).wake("telegram:1", str(number))
    assert [body["reason"] for _, body in queue.receive()] == [str(number) for number in range(25)]


@pytest.mark.parametrize(
    "conversation",
    ["terminal:Sari di rumah", "terminal:" + "x" * 500, "terminal:Zoë\U0001f35c\x00\ufffe", "", "~", "terminal:\n"],
)
async def test_any_conversation_can_be_woken(queue: Queue, conversation: str) -> None:
    await SQSWake(queue.client, queue.url).wake(conversation, "\ufffe\x00")
    assert queue.receive() == [(message_group(conversation), {"conversation": conversation, "reason": "\ufffe\x00"})]


@pytest.mark.parametrize(
    "conversation", ["telegram:-100200:55", "slack:T1:C1:1712.0001", "a2a:0c/=+", "terminal:" + "x" * 119]
)
def test_an_ordinary_conversation_is_its_own_group(conversation: str) -> None:
    assert message_group(conversation) == conversation


def test_no_two_conversations_share_a_group() -> None:
    odd = ["", " ", "a b", "a  b", "x" * 129, "x" * 130, "é", "e\u0301", "~", "~a"]
    names = [*odd, *(message_group(name) for name in odd), "ab", "x" * 128]
    groups = [message_group(name) for name in names]
    assert len(set(groups)) == len(names)
    assert all(0 < len(group) <= 128 and group.isascii() and group.isprintable() for group in groups)


async def test_a_wake_that_was_not_queued_is_an_outage(aws: Account, queue: Queue) -> None:
    with pytest.raises(StoreUnavailable, match="telegram:1"):
        await SQSWake(queue.client, queue.url + "-gone").wake("telegram:1", "x")
    deaf = aws.client("sqs", endpoint="http://127.0.0.1:9")
    with pytest.raises(StoreUnavailable, match="telegram:1"):
        await SQSWake(deaf, "http://127.0.0.1:9/1/kabar.fifo").wake("telegram:1", "x")
