"""Our messages in Slack: posted, growing as streams, edited, found again.

What is remembered of open streams only saves calls: another process, which knows nothing of them, edits what it finds.
Source: docs.slack.dev/reference/methods (chat.*, conversations.*).
"""

import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial

from msgspec.structs import replace

from bot.channels.fields import object_at, text_at
from bot.channels.slack.blocks import button_blocks, content, replacing
from bot.channels.slack.calls import UNREACHED_RETRY, Connection, called, paged
from bot.channels.slack.people import keep_newest, user_of
from bot.channels.slack.stream import LIFE, Stream, addition
from bot.errors import MessageGone, SendError, SendLater, SendRefused, SendUncertain
from bot.messages import Json, Person, Place
from bot.ports import Rendered

MARK_EVENT = "kabar_part"
"""Names our marks among the metadata that other apps put on messages."""
LOST = 900.0
"""Seconds for which a stream of ours without a mark is taken for one that was lost with its process."""
OPEN = "streaming_state_conflict"
"""How chat.update refuses a message that is an open stream."""
ENDED = frozenset({"message_not_in_streaming_state", "stopped_by_user"})
# A preview is fetched without anybody's click: a link written by an injected page would carry data out.
NO_PREVIEWS: Json = {"unfurl_links": False, "unfurl_media": False}

logger = logging.getLogger(__name__)

Key = tuple[str, str]
"""A message: its channel and its id."""


class Posts:
    """Every method raises SendErrors. ``now`` gives Unix seconds."""

    def __init__(self, connection: Connection, now: Callable[[], float]) -> None:
        self._connection = connection
        self._now = now
        self._streams: OrderedDict[Key, Stream] = OrderedDict()
        self._unmarked: OrderedDict[Key, str] = OrderedDict()
        """Marks of messages that began as streams, and could not be given them yet."""
        self._ended: OrderedDict[Key, Rendered] = OrderedDict()
        """What ended streams show, but for their steps, which an edit would take away."""

    async def post(self, place: Place, part: Rendered, mark: str) -> str:
        client = await self._connection.client(place.team)
        answer = await called(
            client.chat_postMessage(
                channel=place.chat,
                thread_ts=place.thread or None,
                **content(part),
                **NO_PREVIEWS,
                metadata=_metadata(mark),
            )
        )
        return text_at(answer, "ts")

    async def start(self, place: Place, part: Rendered, mark: str, reader: Person, team: str) -> str:
        """Begin a stream. ``reader``, who is of that workspace, sees it grow; in a channel others see it when it is
        done.

        Ends any other of this thread first: what is unmarked there is then one message at most.
        """
        for (_, message_id), stream in [*self._streams.items()]:
            if stream.place == place:
                await self._end(place, message_id, at_work=True)
        stream = Stream(place, mark, self._now())
        added = addition(stream, part, last=False)
        if added is None:
            raise SendRefused("too long for a stream")
        client = await self._connection.client(place.team)
        answer = await called(
            client.chat_startStream(
                channel=place.chat,
                thread_ts=place.thread,
                chunks=added.chunks or None,
                task_display_mode="plan",
                recipient_team_id=team if place.group else None,
                recipient_user_id=user_of(reader) if place.group else None,
                **NO_PREVIEWS,
            )
        )
        stream.text, stream.tasks, stream.plan = added.text, added.tasks, added.plan
        keep_newest(self._streams, (place.chat, text_at(answer, "ts")), stream)
        return text_at(answer, "ts")

    async def show(self, place: Place, message_id: str, part: Rendered, *, growing: bool) -> None:
        """Make a message show this part: by adding to its stream where that is enough, else by an edit.

        Steps at work are shown while it grows; a stream keeps them in it, folded.
        """
        key, words = (place.chat, message_id), replace(part, tasks=())
        stream = self._streams.get(key)
        if stream is None and self._ended.get(key) == words:
            return
        if stream is not None and await self._added(stream, message_id, part, last=not growing):
            if not growing:
                keep_newest(self._ended, key, words)
            return
        await self._end(place, message_id, at_work=growing)
        await self._replace(place, message_id, part if growing else words, at_work=growing)
        self._ended.pop(key, None)

    async def delete(self, place: Place, message_id: str) -> None:
        for remembered in (self._streams, self._unmarked, self._ended):
            remembered.pop((place.chat, message_id), None)
        client = await self._connection.client(place.team)
        try:
            await called(client.chat_delete(channel=place.chat, ts=message_id))
        except MessageGone as error:
            if str(error) != "message_not_found":
                raise

    async def find(self, place: Place, mark: str, our_bot: Callable[[str], Awaitable[str]]) -> str | None:
        """A stream gets its mark only when it ends. What began as one and has none is what a turn lost that was cut in
        the middle of it."""
        try:
            unmarked: list[Json] = []
            async for message in await self._newest(place):
                if _mark(message) == mark:
                    return text_at(message, "ts")
                if self._may_be_lost(place, message):
                    unmarked.append(message)
            ours = await our_bot(place.team) if unmarked else ""
        except SendUncertain as error:  # to look changes nothing: simply later
            raise SendLater(str(error), UNREACHED_RETRY) from error
        except SendRefused:
            return None
        lost = [text_at(message, "ts") for message in unmarked if text_at(message, "bot_id") == ours]
        if not lost:
            return None
        keep_newest(self._unmarked, (place.chat, max(lost)), mark)
        return max(lost)

    # Streams.

    async def _added(self, stream: Stream, message_id: str, part: Rendered, *, last: bool) -> bool:
        """Whether the stream shows the part now. Where it is unknown what arrived, it is a stream no longer."""
        added = addition(stream, part, last=last)
        if added is None or self._now() - stream.began > LIFE:
            return False
        if not last and not added.chunks:
            return True
        where = {"channel": stream.place.chat, "ts": message_id}
        try:
            client = await self._connection.client(stream.place.team)
            if last:
                blocks = button_blocks(part.buttons) or None
                metadata = _metadata(stream.mark)
                await called(
                    client.chat_stopStream(**where, chunks=added.chunks or None, blocks=blocks, metadata=metadata)
                )
                del self._streams[(stream.place.chat, message_id)]
            else:
                await called(client.chat_appendStream(**where, chunks=added.chunks))
                stream.text, stream.tasks, stream.plan = added.text, added.tasks, added.plan
        except SendLater:
            raise
        except SendRefused as error:
            logger.info("conversation=<%s> error=<%s> | goes on as an edit", stream.place.conversation, error)
            if str(error) in ENDED:
                self._forget(stream, message_id)
            return False
        except SendError:
            self._forget(stream, message_id)
            raise
        return True

    def _forget(self, stream: Stream, message_id: str) -> None:
        key = (stream.place.chat, message_id)
        self._streams.pop(key, None)
        keep_newest(self._unmarked, key, stream.mark)

    async def _end(self, place: Place, message_id: str, *, at_work: bool) -> None:
        """End a stream that we know is open, as it is."""
        stream = self._streams.get((place.chat, message_id))
        if stream is not None:
            self._forget(stream, message_id)
            await self._stop(place, message_id, at_work=at_work)

    async def _stop(self, place: Place, message_id: str, *, at_work: bool) -> None:
        """Whatever becomes of it, the edit that follows finds out. ``at_work``: Slack's Stop button stays."""
        mark = self._unmarked.get((place.chat, message_id))
        try:
            client = await self._connection.client(place.team)
            await called(
                client.chat_stopStream(
                    channel=place.chat,
                    ts=message_id,
                    metadata=_metadata(mark) if mark else None,
                    session_status="processing" if at_work else None,
                )
            )
        except (SendRefused, SendUncertain) as error:
            logger.info("conversation=<%s> error=<%s> | the stream was not ended", place.conversation, error)

    async def _replace(self, place: Place, message_id: str, part: Rendered, *, at_work: bool) -> None:
        """Edit the message, also where it is a stream that another process began."""
        mark = self._unmarked.get((place.chat, message_id))
        fields: Json = {"channel": place.chat, "ts": message_id, **replacing(part), **NO_PREVIEWS}
        if mark:
            fields["metadata"] = _metadata(mark)
        client = await self._connection.client(place.team)
        try:
            await called(client.chat_update(**fields))
        except SendRefused as error:
            if str(error) != OPEN:
                raise
            await self._stop(place, message_id, at_work=at_work)
            await called(client.chat_update(**fields))
        self._unmarked.pop((place.chat, message_id), None)

    # Looking.

    async def _newest(self, place: Place) -> AsyncIterator[Json]:
        """The messages of a thread, oldest first, or the newest of a direct message without threads."""
        client = await self._connection.client(place.team)
        where: Json = {"channel": place.chat, "include_all_metadata": True}
        if place.thread:
            return paged(partial(client.conversations_replies, ts=place.thread, **where))
        return paged(partial(client.conversations_history, **where))

    def _may_be_lost(self, place: Place, message: Json) -> bool:
        """Whether it began as a stream a short time ago, and neither we know it nor was it ever ended or edited."""
        ts = text_at(message, "ts")
        if "streaming_state" not in message or "edited" in message or not text_at(message, "bot_id"):
            return False
        young = self._now() - float(ts or 0) < LOST
        return young and _mark(message) is None and (place.chat, ts) not in self._streams


def _metadata(mark: str) -> Json:
    return {"event_type": MARK_EVENT, "event_payload": {"mark": mark}}


def _mark(message: Json) -> str | None:
    """The mark on a message of a bot; people can not set metadata."""
    metadata = object_at(message, "metadata")
    if not message.get("bot_id") or metadata.get("event_type") != MARK_EVENT:
        return None
    mark = object_at(metadata, "event_payload").get("mark")
    return mark if isinstance(mark, str) else None
