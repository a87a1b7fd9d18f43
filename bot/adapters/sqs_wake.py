"""Wakes through an SQS FIFO queue: one worker at a time per conversation, in order. The queue carries no content."""

import asyncio
import hashlib
import json
import string
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from bot.errors import StoreUnavailable

Client = Any
"""A boto3 "sqs" client: its methods are made at run time, so no type can be named."""

_GROUP_CHARACTERS = frozenset(string.ascii_letters + string.digits + string.punctuation)
_GROUP_LENGTH = 128


class SQSWake:
    """The Wake port on one FIFO queue. The body is ``{"conversation": ..., "reason": ...}``, with ``"bot"`` where that
    has a name: of several bots that share the queue, each has groups of its own."""

    def __init__(self, client: Client, queue_url: str, bot: str = "") -> None:
        self._client = client
        self._queue_url = queue_url
        self._named = {"bot": bot} if bot else {}
        self._prefix = f"{bot}/" if bot else ""

    async def wake(self, conversation: str, reason: str) -> None:
        """The queue merges the same reason within five minutes. Any text may be a conversation or a reason."""
        try:
            await asyncio.to_thread(
                self._client.send_message,
                QueueUrl=self._queue_url,
                # Pure ASCII: SQS refuses some Unicode characters.
                MessageBody=json.dumps({"conversation": conversation, "reason": reason, **self._named}),
                MessageGroupId=message_group(self._prefix + conversation),
                MessageDeduplicationId=_digest(json.dumps([self._prefix + conversation, reason])),
            )
        except (ClientError, BotoCoreError) as error:
            raise StoreUnavailable(f"The wake for {conversation!r} was not queued: {error}") from error


def message_group(conversation: str) -> str:
    """The conversation itself where SQS can carry it, else ``~`` and its SHA-256: no two conversations share a group.

    A group is 1 to 128 printable ASCII characters without spaces (MessageGroupId, SQS API reference).
    """
    allowed = 0 < len(conversation) <= _GROUP_LENGTH and _GROUP_CHARACTERS.issuperset(conversation)
    if allowed and not conversation.startswith("~"):
        return conversation
    return f"~{_digest(conversation)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
