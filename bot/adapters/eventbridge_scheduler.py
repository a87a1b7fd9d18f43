"""The time of reminders on EventBridge Scheduler: a one-time schedule for each, which calls the webhook function.

A recurring reminder gets its next schedule when it is fired, while the one that fired it may still be there, about to
delete itself. So each reminder has two names, and takes the second where the first is taken; what then fires twice is
told once. Source: docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html.
"""

import asyncio
import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import (
    ClientError,
    ConnectionError,
    CredentialRetrievalError,
    HTTPClientError,
    NoCredentialsError,
)

from bot.errors import ConfigError, StoreUnavailable
from bot.messages import Reminder
from bot.ports import Clock

Client = Any
"""A boto3 "scheduler" client: its methods are made at run time, so no type can be named."""

SOON = 30
"""Seconds ahead that a time in the past is moved to: a schedule must lie in the future when it arrives."""
SLOTS = ("a", "b")

_NOT_SET_UP = {
    "AccessDeniedException",
    "ExpiredTokenException",
    "InvalidSignatureException",
    "ResourceNotFoundException",
    "ServiceQuotaExceededException",
    "UnrecognizedClientException",
}
_OVERLOADED = {"ConflictException", "InternalServerException", "ThrottlingException", "TooManyRequestsException"}


class EventBridgeScheduler:
    """The Scheduler port on the schedule group of ``infra/template.yaml``."""

    def __init__(
        self, client: Callable[[], Client], group: str, role: str, target: str, clock: Clock, bot: str = ""
    ) -> None:
        """``client`` gives one that is shared between threads, made when it is first needed. ``role`` (ARN) may invoke
        ``target``, the ARN of the function that is called with ``{"due": {"conversation", "id", "at"}}``, and in it
        ``bot`` where that is one of several, with a name."""
        self._client = client
        self._group = group
        self._role = role
        self._target = target
        self._clock = clock
        self._named = {"bot": bot} if bot else {}
        self._prefix = f"{bot}/" if bot else ""

    async def schedule(self, reminder: Reminder) -> None:
        await _off_loop(self._schedule, reminder)

    async def cancel(self, conversation: str, id: str) -> None:
        await _off_loop(self._cancel, conversation, id)

    def _schedule(self, reminder: Reminder) -> None:
        """A name that is taken gets the new time as well: it may be of an earlier wish."""
        first, second = names(self._prefix + reminder.place.conversation, reminder.id)
        request = self._request(reminder)
        if self._create(first, request):
            return
        self._update(first, request)
        if not self._create(second, request):
            self._update(second, request)

    def _create(self, name: str, request: dict[str, Any]) -> bool:
        client = self._client()
        try:
            client.create_schedule(Name=name, **request)
        except client.exceptions.ConflictException:
            return False
        return True

    def _update(self, name: str, request: dict[str, Any]) -> None:
        client = self._client()
        with suppress(client.exceptions.ResourceNotFoundException):  # it is gone meanwhile; the other name stands
            client.update_schedule(Name=name, **request)

    def _cancel(self, conversation: str, id: str) -> None:
        client = self._client()
        for name in names(self._prefix + conversation, id):
            with suppress(client.exceptions.ResourceNotFoundException):
                client.delete_schedule(Name=name, GroupName=self._group)

    def _request(self, reminder: Reminder) -> dict[str, Any]:
        at = max(reminder.at, int(self._clock.now()) + SOON)
        due = {"conversation": reminder.place.conversation, "id": reminder.id, "at": reminder.at, **self._named}
        return {
            "GroupName": self._group,
            "ScheduleExpression": f"at({datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%S})",
            "ScheduleExpressionTimezone": "UTC",
            "FlexibleTimeWindow": {"Mode": "OFF"},
            "ActionAfterCompletion": "DELETE",
            "Target": {"Arn": self._target, "RoleArn": self._role, "Input": json.dumps({"due": due})},
        }


def names(conversation: str, id: str) -> list[str]:
    """1 to 64 of ``[0-9a-zA-Z-_.]`` (Scheduler's API reference); a conversation may be any text."""
    digest = hashlib.sha256(conversation.encode()).hexdigest()[:32]
    return [f"{digest}-{id}-{slot}" for slot in SLOTS]


async def _off_loop(work: Callable[..., None], *args: Any) -> None:
    """Errors that are left as they are mean a fault of ours: a request that can never succeed."""
    try:
        await asyncio.to_thread(work, *args)
    except ClientError as error:
        code, status = error.response["Error"]["Code"], error.response["ResponseMetadata"]["HTTPStatusCode"]
        if code in _NOT_SET_UP:
            text = f"KABAR_SCHEDULE_GROUP can not be used, check its name, region and permissions: {error}"
            raise ConfigError(text) from error
        if code in _OVERLOADED or status >= 500:
            raise StoreUnavailable(str(error)) from error
        raise
    except NoCredentialsError as error:
        raise ConfigError(f"EventBridge Scheduler can not be used: {error}") from error
    except (HTTPClientError, ConnectionError, CredentialRetrievalError) as error:
        raise StoreUnavailable(f"EventBridge Scheduler did not answer: {error}") from error
