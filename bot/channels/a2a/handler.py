"""What A2A's methods do: store a message, wake its conversation, and look at the store until there is an answer.

The SDK's own handler keeps running tasks in memory, which would be a second truth beside the record, and is gone with a
Lambda: this one keeps nothing.
"""

import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager

from a2a.server.context import ServerCallContext
from a2a.server.events.event_queue import Event
from a2a.server.request_handlers.request_handler import RequestHandler, validate_request_params
from a2a.types import a2a_pb2 as wire
from a2a.utils.constants import DEFAULT_LIST_TASKS_PAGE_SIZE
from a2a.utils.errors import (
    ExtendedAgentCardNotConfiguredError,
    InternalError,
    InvalidParamsError,
    PushNotificationNotSupportedError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)
from a2a.utils.task import apply_history_length, validate_history_length, validate_page_size
from google.protobuf.json_format import MessageToDict
from msgspec import Struct

from bot.agentdir.card import Card
from bot.channels.a2a.parse import Came, Said, TaskId, Unfit, asked, cancels, decides, said, task_id
from bot.channels.a2a.render import OVER, SETTLED, Task, begun_by
from bot.channels.a2a.shapes import STATES, files_piece_of, piece_of, status_update_of, task_of
from bot.channels.a2a.tasks import Look, Tasks
from bot.errors import ConfigError, StoreUnavailable
from bot.intake import accept
from bot.messages import Attachment, File, Inbound
from bot.ports import Blobs, Clock, Store, Wake

log = logging.getLogger(__name__)

MOST_SENT = 3_000_000
"""Bytes of the files in one answer; in base64 they are a third more."""
WAIT = 25.0
"""Seconds that a caller waits for an answer before it is told that the task is still worked on: gateways between two
agents give up after 29 or 30."""
CANCEL_WAIT = 8.0
STREAM = 900.0
"""Seconds; who wants to know more subscribes again."""
LOOK_EVERY = 0.5
ALIVE_EVERY = 4.0
"""Seconds until a stream says that nothing has changed: the SDK's own client hangs up after five without a byte."""


class Desk(Struct, frozen=True):
    """``approvers`` are people, by their ids, who may answer a question that a task of somebody else waits with.
    ``url`` is the address under which others reach this agent; "" for the one they used. ``streams``: whether an
    answer can come piece by piece."""

    store: Store
    wake: Wake
    clock: Clock
    blobs: Blobs
    card: Card
    approvers: frozenset[str] = frozenset()
    url: str = ""
    streams: bool = True


class _Taken(Struct, frozen=True):
    """A message that is stored: its task, its key in the inbox ("" where that does not matter), and the entry from
    which on the record may speak of it."""

    id: TaskId
    key: str = ""
    since: int = 0


@contextmanager
def _outages_told() -> Iterator[None]:
    try:
        yield
    except (StoreUnavailable, ConfigError) as error:
        log.error("error=<%s> | another agent was told to try again", error)
        raise InternalError("Nothing can be stored or read at the moment. Send the same message again.") from error


class Handler(RequestHandler):
    """What the protocol's methods do, in the SDK's order."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._tasks = Tasks(desk.store)

    @validate_request_params
    async def on_get_task(self, params: wire.GetTaskRequest, context: ServerCallContext) -> wire.Task | None:
        validate_history_length(params)
        with _outages_told():
            look = await self._visible(params.id, _name(context))
            return apply_history_length(await self._shown(look.now(_of(look).id)), params)

    @validate_request_params
    async def on_list_tasks(self, params: wire.ListTasksRequest, context: ServerCallContext) -> wire.ListTasksResponse:
        """Those of one context: a caller may have begun any number of them."""
        validate_history_length(params)
        if not params.context_id or params.HasField("status_timestamp_after"):
            raise InvalidParamsError("Name a contextId, and no statusTimestampAfter: tasks are listed by context.")
        size = DEFAULT_LIST_TASKS_PAGE_SIZE
        if params.HasField("page_size"):
            validate_page_size(params.page_size)
            size = params.page_size
        if params.page_token and not params.page_token.isdecimal():
            raise InvalidParamsError("This pageToken is none of ours.")
        start = int(params.page_token or 0)
        with _outages_told():
            tasks = await self._tasks.listed(_name(context), params.context_id)
            if params.status:
                tasks = [task for task in tasks if STATES[task.state] == params.status]
            page = [await self._shown(task, whole=params.include_artifacts) for task in tasks[start : start + size]]
        return wire.ListTasksResponse(
            tasks=[apply_history_length(task, params) for task in page],
            next_page_token=str(start + size) if start + size < len(tasks) else "",
            page_size=len(page),
            total_size=len(tasks),
        )

    @validate_request_params
    async def on_cancel_task(self, params: wire.CancelTaskRequest, context: ServerCallContext) -> wire.Task | None:
        name = _name(context)
        with _outages_told():
            look = await self._visible(params.id, name)
            task = _of(look)
            if task.state in OVER or task.id.caller != name:
                raise TaskNotCancelableError
            stop = cancels(task.id, name, self._now())
            await self._accept(stop)
            since = look.head.turn.first if look.head and look.head.turn else 0
            return await self._shown(await self._until(_Taken(task.id, since=since), CANCEL_WAIT, OVER))

    @validate_request_params
    async def on_message_send(
        self, params: wire.SendMessageRequest, context: ServerCallContext
    ) -> wire.Task | wire.Message:
        validate_history_length(params.configuration)
        with _outages_told():
            taken = await self._take(params, context)
            wait = 0.0 if params.configuration.return_immediately else WAIT
            task = await self._until(taken, wait, SETTLED)
            return apply_history_length(await self._shown(task), params.configuration)

    @validate_request_params
    async def on_message_send_stream(
        self, params: wire.SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event]:
        self._require_streams()
        with _outages_told():
            taken = await self._take(params, context)
            async for event in self._events(taken):
                yield event

    @validate_request_params
    async def on_subscribe_to_task(
        self, params: wire.SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event]:
        self._require_streams()
        with _outages_told():
            task = _of(await self._visible(params.id, _name(context)))
            if task.state in OVER:
                raise UnsupportedOperationError("This task is over: get it.")
            async for event in self._events(_Taken(task.id)):
                yield event

    async def on_create_task_push_notification_config(
        self, params: wire.TaskPushNotificationConfig, context: ServerCallContext
    ) -> wire.TaskPushNotificationConfig:
        raise PushNotificationNotSupportedError

    async def on_get_task_push_notification_config(
        self, params: wire.GetTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> wire.TaskPushNotificationConfig:
        raise PushNotificationNotSupportedError

    async def on_list_task_push_notification_configs(
        self, params: wire.ListTaskPushNotificationConfigsRequest, context: ServerCallContext
    ) -> wire.ListTaskPushNotificationConfigsResponse:
        raise PushNotificationNotSupportedError

    async def on_delete_task_push_notification_config(
        self, params: wire.DeleteTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> None:
        raise PushNotificationNotSupportedError

    async def on_get_extended_agent_card(
        self, params: wire.GetExtendedAgentCardRequest, context: ServerCallContext
    ) -> wire.AgentCard:
        raise ExtendedAgentCardNotConfiguredError

    # In

    async def _take(self, params: wire.SendMessageRequest, context: ServerCallContext) -> _Taken:
        """Store a message once and wake its conversation; a repeat finds what the first one began."""
        try:
            read = said(MessageToDict(params.message))
        except Unfit as why:
            raise InvalidParamsError(str(why)) from why
        return await (self._add(read, _name(context)) if read.task else self._begin(read, _name(context)))

    async def _begin(self, read: Said, name: str) -> _Taken:
        id = read.begins(name)
        look = await self._tasks.look(id)
        if look.task:
            if look.message:
                await self._accept(look.message)  # its wake may be lost
            return _Taken(id)
        live, last = (look.head.turn, look.head.last) if look.head else (None, 0)
        if live and (tap := decides(read, name, id, live, self._now())):
            await self._accept(tap)
            entries = [each.entry for each in await self._desk.store.record(id.conversation, live.first)]
            return _Taken(begun_by(live.id, entries, name, id.context) or id, tap.key, live.first)
        files = await self._kept(read.files, id)
        inbound = asked(read, name, id, last + len(look.inbox), self._now(), files)
        await self._accept(inbound)
        return _Taken(id, inbound.key, last + 1)

    async def _add(self, read: Said, name: str) -> _Taken:
        """A message to a task that is there."""
        look = await self._visible(read.task, name)
        task = _of(look)
        if read.context and read.context != task.id.context:
            raise InvalidParamsError(f"Task {task.id} is of another context.")
        if task.state in OVER:
            if read.word or any(each.id == f"m{read.digest}" for each in task.said):
                return _Taken(task.id)  # a repeat, or an answer that came too late
            raise UnsupportedOperationError("This task is over. Send a message without taskId in the same context.")
        live = look.head.turn if look.head else None
        is_asked = task.state == "input-required"
        inbound = decides(read, name, task.id, live, self._now()) if live and is_asked else None
        if inbound is None:
            if name != task.id.caller:
                raise UnsupportedOperationError("You may only say yes or no to this task.")
            inbound = asked(read, name, task.id, 0, self._now(), await self._kept(read.files, task.id))
        await self._accept(inbound)
        return _Taken(task.id, inbound.key, live.first if live else 0)

    async def _accept(self, inbound: Inbound) -> None:
        await accept(inbound, self._desk.store, self._desk.wake, self._desk.clock)

    async def _kept(self, files: tuple[Came, ...], id: TaskId) -> tuple[Attachment, ...]:
        kept = []
        for file in files:
            key = await self._desk.blobs.put(id.conversation, file.data, file.media_type)
            kept.append(Attachment(_kind(file.media_type), key, file.name, file.media_type, len(file.data)))
        return tuple(kept)

    async def _visible(self, text: str, name: str) -> Look:
        """A task as this caller may see it: their own, or one that waits for a word which they may give."""
        id = task_id(text)
        is_approver = f"a2a:{name}" in self._desk.approvers
        if id is None or not (id.caller == name or is_approver):
            raise TaskNotFoundError
        look = await self._tasks.look(id)
        if look.task is None or not (id.caller == name or look.task.state == "input-required"):
            raise TaskNotFoundError
        return look

    # Out

    async def _until(self, taken: _Taken, seconds: float, states: tuple[str, ...]) -> Task:
        """The task once it is in one of these states, or as it is after so many seconds."""
        until, pause = self._desk.clock.now() + seconds, LOOK_EVERY / 8
        while True:
            look = await self._tasks.look(taken.id, taken.since)
            task = look.now(taken.id, taken.key)
            if task.state in states or self._desk.clock.now() >= until:
                return task
            await self._desk.clock.sleep(pause)
            pause = min(pause * 2, LOOK_EVERY)

    async def _events(self, taken: _Taken) -> AsyncGenerator[Event]:
        """The task, then what changes, until somebody else has to act."""
        until, told_at, text, status = self._desk.clock.now() + STREAM, 0.0, "", ("", "")
        pause = LOOK_EVERY / 8
        while True:
            task, now = (await self._tasks.look(taken.id, taken.since)).now(taken.id, taken.key), self._desk.clock.now()
            if not told_at:
                yield task_of(task, ())
                told_at, status = now, (task.state, task.note)
            is_last = task.state in SETTLED
            if task.text != text:
                yield piece_of(task, text, is_last)
                text = task.text
            if is_last and (files := await self._bytes(task.files)):
                yield files_piece_of(task, files)
            if is_last or status != (task.state, task.note) or now - told_at >= ALIVE_EVERY:
                yield status_update_of(task)
                told_at, status = now, (task.state, task.note)
            if is_last or now >= until:
                return
            await self._desk.clock.sleep(pause)
            pause = min(pause * 2, LOOK_EVERY)

    async def _shown(self, task: Task, *, whole: bool = True) -> wire.Task:
        return task_of(task, await self._bytes(task.files) if whole else (), whole=whole)

    async def _bytes(self, files: tuple[File, ...]) -> tuple[wire.Part, ...]:
        """The files of an answer as parts; of what is too large or gone, its name."""
        parts, sent = [], 0
        for file in files:
            data = await self._desk.blobs.get(file.blob) if sent + file.size <= MOST_SENT else None
            if data is None:
                parts.append(wire.Part(text=f"(The file {file.name}, {file.size:,} bytes, can not be sent this way.)"))
                continue
            sent += len(data)
            parts.append(wire.Part(raw=data, filename=file.name, media_type=file.media_type))
        return tuple(parts)

    def _require_streams(self) -> None:
        if not self._desk.streams:
            raise UnsupportedOperationError("Answers do not come piece by piece here: send, and get the task.")

    def _now(self) -> int:
        return int(self._desk.clock.now())


def _name(context: ServerCallContext) -> str:
    return context.user.user_name


def _of(look: Look) -> Task:
    if look.task is None:
        raise TaskNotFoundError
    return look.task


def _kind(media_type: str) -> str:
    return {"image": "photo", "audio": "voice"}.get(media_type.partition("/")[0], "document")
