"""Files that come with messages: fetched, read and kept before the model hears of them.

What could not be had is told to the model, so that the answer says it: nothing is left out in silence. Doing it again
after a crash changes nothing: the same bytes are kept under the same key.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from bot.errors import FileRefused, SendError, SendLater, SendUncertain
from bot.files import is_text
from bot.messages import Attachment, Inbound, Place, Quote
from bot.ports import Blobs, Channel, Clock, Read, Reader

log = logging.getLogger(__name__)

EXCERPT = 4_000
"""Characters of a text that the model is shown at once."""
AT_ONCE = 4
TRIES = 3
PAUSE = 1.0
"""Seconds before another try."""
VOICES = ("voice", "audio", "video_note")
UNREACHED = "It could not be fetched from the chat app."


class Attachments:
    """``channels`` hand files over, ``reader`` tells what they are, ``blobs`` keep them."""

    def __init__(self, channels: Mapping[str, Channel], blobs: Blobs, reader: Reader, clock: Clock) -> None:
        self._channels = channels
        self._blobs = blobs
        self._reader = reader
        self._clock = clock

    async def read(self, said: Iterable[Inbound]) -> tuple[Inbound, ...]:
        """The same messages with their files read, those of what they quote included. Raises StoreUnavailable."""
        gate = asyncio.Semaphore(AT_ONCE)
        return tuple(await asyncio.gather(*(self._of(inbound, gate) for inbound in said)))

    async def _of(self, inbound: Inbound, gate: asyncio.Semaphore) -> Inbound:
        if not any(map(_is_unread, inbound.all_attachments)):
            return inbound
        read = await asyncio.gather(*(self._one(each, inbound.place, gate) for each in inbound.all_attachments))
        quoted = len(inbound.quote.attachments) if inbound.quote else 0
        return replace(inbound, quote=_with(inbound.quote, read[:quoted]), attachments=tuple(read[quoted:]))

    async def _one(self, attachment: Attachment, place: Place, gate: asyncio.Semaphore) -> Attachment:
        if not _is_unread(attachment):
            return attachment
        try:
            async with gate:
                data = await self._fetched(place, attachment)
                # No hint of a voice's language: an app's language is often not its owner's, and forces the transcriber.
                read = await self._reader.read(data, attachment.name, attachment.media_type, "")
        except (FileRefused, SendError) as fault:
            problem = str(fault) if isinstance(fault, FileRefused) else UNREACHED
            log.warning("conversation=<%s>, kind=<%s> | not read: %s", place.conversation, attachment.kind, problem)
            return replace(attachment, problem=problem)
        return await self._kept(attachment, read, place.conversation)

    async def _fetched(self, place: Place, attachment: Attachment) -> bytes:
        for _ in range(TRIES - 1):
            try:
                return await self._channels[place.platform].fetch(place, attachment)
            except (SendLater, SendUncertain):
                await self._clock.sleep(PAUSE)
        return await self._channels[place.platform].fetch(place, attachment)

    async def _kept(self, attachment: Attachment, read: Read, conversation: str) -> Attachment:
        key = await self._blobs.put(conversation, read.data, read.media_type)
        apart = read.text and not is_text(read.media_type)
        words = await self._blobs.put(conversation, read.text.encode(), "text/plain") if apart else ""
        return replace(
            attachment,
            blob=key,
            media_type=read.media_type,
            size=len(read.data),
            width=read.width,
            height=read.height,
            pages=read.pages,
            excerpt=read.text[:EXCERPT],
            chars=len(read.text),
            words=words,
        )


def _is_unread(attachment: Attachment) -> bool:
    """Whether there is a file to fetch. A sticker is told by its emoji."""
    return bool(attachment.id) and attachment.kind != "sticker" and not (attachment.blob or attachment.problem)


def _with(quote: Quote | None, attachments: Iterable[Attachment]) -> Quote | None:
    return replace(quote, attachments=tuple(attachments)) if quote else None


def is_unheard(inbound: Inbound) -> bool:
    """Whether it says nothing that anybody could read: only a voice that nobody could listen to."""
    voices = [each for each in inbound.attachments if each.kind in VOICES and each.problem]
    return bool(voices) and len(voices) == len(inbound.attachments) and not inbound.words and not inbound.quote
