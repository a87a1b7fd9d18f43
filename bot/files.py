"""The files of a chat: what people sent and what tools made, by the names they have there.

A model knows a file by its name or its reference (``file:…``) and never by where it is kept; it reaches the files of
the conversation it is in, and no others.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from bot.media import reference
from bot.messages import Asked, Attachment, Ended, Entry, Fetched, File, Returned
from bot.ports import Blobs

LONGEST_NAME = 100
TEXTS = ("application/json", "application/xml", "application/x-ndjson")


class Kept(Struct, frozen=True):
    """One file: ``text_key`` is the key of its text, "" where it has none; the rest as in Attachment."""

    key: str
    name: str
    media_type: str
    size: int = 0
    text_key: str = ""
    width: int = 0
    height: int = 0
    pages: int = 0

    @property
    def reference(self) -> str:
        return reference(self.key)


def kept_in(entries: Iterable[Entry]) -> list[Kept]:
    """Every file of a record, oldest first, each with a name of its own; the same bytes under the same name are one."""
    found: dict[tuple[str, str], Kept] = {}
    taken: set[str] = set()
    for kept in _all(entries):
        if (kept.key, kept.name) not in found:
            name = free_name(kept.name, taken)
            taken.add(name)
            found[kept.key, kept.name] = replace(kept, name=name)
    return list(found.values())


def named(name: str, known: Sequence[Kept]) -> Kept | None:
    """By its name or its reference, whatever stands around it; the newest where several are meant."""
    wanted = name.strip().strip('"')
    exact = (kept for kept in reversed(known) if wanted in (kept.name, kept.reference))
    return next(exact, next((kept for kept in reversed(known) if kept.reference in wanted), None))


def _all(entries: Iterable[Entry]) -> Iterator[Kept]:
    for entry in entries:
        match entry:
            case Asked(said=said) | Returned(said=said):
                yield from (_of(each) for inbound in said for each in inbound.all_attachments if each.blob)
        if isinstance(entry, Returned | Fetched | Ended):
            yield from map(_made, entry.files)


def _of(attachment: Attachment) -> Kept:
    is_text = bool(attachment.chars) and not attachment.words
    name = attachment.name or f"{attachment.kind}{_EXTENSIONS.get(attachment.media_type, '')}"
    return Kept(
        key=attachment.blob,
        name=safe_name(name),
        media_type=attachment.media_type,
        size=attachment.size,
        text_key=attachment.blob if is_text else attachment.words,
        width=attachment.width,
        height=attachment.height,
        pages=attachment.pages,
    )


_EXTENSIONS = {"image/jpeg": ".jpg", "image/png": ".png", "image/webp": ".webp", "image/gif": ".gif"}


def _made(file: File) -> Kept:
    return Kept(
        key=file.blob,
        name=file.name,
        media_type=file.media_type,
        size=file.size,
        text_key=file.blob if is_text(file.media_type) else "",
        width=file.width,
        height=file.height,
    )


def is_text(media_type: str) -> bool:
    return media_type.startswith("text/") or media_type in TEXTS


def safe_name(name: str) -> str:
    """A file's name as every platform and file system takes it: no folders, no control characters, not hidden."""
    plain = re.sub(r"[\x00-\x1f\x7f/\\\\:*?\"<>|]+", "_", name).strip(" .")
    stem, dot, extension = plain.rpartition(".")
    if len(plain) > LONGEST_NAME and dot and len(extension) < 10:
        return f"{stem[: LONGEST_NAME - len(extension) - 1]}.{extension}"
    return plain[:LONGEST_NAME] or "file"


def free_name(name: str, taken: set[str]) -> str:
    """The name, or the name with the first number that nobody has: ``plan (2).txt``."""
    stem, dot, extension = name.rpartition(".")
    stem, extension = (stem, f".{extension}") if dot and stem else (name, "")
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{stem} ({number}){extension}"
    return free


async def _no_entries() -> list[Entry]:
    return []


class Files:
    """The files of one conversation. ``record`` gives all its entries."""

    def __init__(
        self, blobs: Blobs | None, conversation: str, record: Callable[[], Awaitable[list[Entry]]] = _no_entries
    ) -> None:
        self._blobs = blobs
        self._conversation = conversation
        self._record = record

    @property
    def has_room(self) -> bool:
        """Whether files can be kept here."""
        return self._blobs is not None

    async def all(self) -> list[Kept]:
        return kept_in(await self._record())

    async def find(self, name: str) -> Kept | None:
        """As ``named``, of all there are."""
        return named(name, await self.all())

    async def data(self, kept: Kept) -> bytes | None:
        return await self._blobs.get(kept.key) if self._blobs else None

    async def text(self, kept: Kept) -> str | None:
        """All of its text; None where it has none, or is no longer kept."""
        data = await self._blobs.get(kept.text_key) if self._blobs and kept.text_key else None
        return None if data is None else data.decode("utf-8", "replace")

    async def keep(self, name: str, data: bytes, media_type: str) -> File:
        """Keep bytes as a file for this chat; whoever returns it from a tool has it sent and recorded."""
        if self._blobs is None:
            raise ValueError("There is no place for files here.")
        key = await self._blobs.put(self._conversation, data, media_type)
        return File(key, safe_name(name), media_type, len(data))


NO_FILES = Files(None, "")
