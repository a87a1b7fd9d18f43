"""Pictures and documents within the limits of one request. Pure; looks at the bytes, not at what they are called.

Source of the numbers: the provider's pages on vision and on errors (November 2026). A picture that breaks a limit by
itself becomes a note in its place; where there are too many together, the oldest do.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from bot.messages import Json

MEDIA = ("image", "document")
MOST = 100
"""Pictures and documents of one request."""
LONGEST_SIDE = 8_000
MANY = 20
LONGEST_SIDE_OF_MANY = 2_000
"""Pixels; the second counts from the twenty-first picture on."""
LARGEST = 5 * 1024 * 1024
LARGEST_TOGETHER = 20 * 1024 * 1024
"""Bytes of base64: of one picture, and of all, which leaves room for the words in a body of 32 MB."""
STEP = 10
"""So many are left out at a time: the prompt's beginning then stays the same, byte for byte, for many messages."""

UNREADABLE = "(A picture that can not be shown: it is no whole PNG, JPEG, GIF or WebP.)"
TOO_LARGE = "(A picture that is too large to be shown.)"
NO_LONGER_SHOWN = "(A picture or document that is no longer shown.)"
GONE = "(A picture or document that is no longer kept.)"


def usable(source: Json) -> Json | str:
    """A picture's source as it may be sent, or the note to stand in its place.

    The media type is taken from the bytes. What a web address or an uploaded file holds is the provider's to check.
    """
    match source:
        case {"type": "url", "url": str()} | {"type": "file", "file_id": str()}:
            return source
        case {"type": "stored", "key": str()}:
            return TOO_LARGE if _is_too_large(source) else source
        case {"type": "base64", "data": str(data)}:
            if len(data) > LARGEST:
                return TOO_LARGE
            kind, sides = facts(_decoded(data))
            if not min(sides):
                return UNREADABLE
            if max(sides) > LONGEST_SIDE:
                return TOO_LARGE
            return source if source.get("media_type") == kind else {**source, "media_type": kind}
    return UNREADABLE


def _is_too_large(source: Json) -> bool:
    return max(_sides(source)) > LONGEST_SIDE or _encoded_size(source) > LARGEST


# Kept by us: the record holds a key, the bytes come in on the way out


class Known(Protocol):
    """What is known of a picture or document of ours: its size in bytes, a picture's in pixels, a document's pages."""

    @property
    def media_type(self) -> str: ...
    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...
    @property
    def pages(self) -> int: ...
    @property
    def size(self) -> int: ...


def stored(key: str, file: Known) -> Json:
    """The source of a picture or document that we keep, with what its limits are checked by."""
    names = ("media_type", "width", "height", "pages", "size")
    known = {name: value for name in names if (value := getattr(file, name))}
    return {"type": "stored", "key": key, **known}


def reference(key: str) -> str:
    """What a model calls it by: ``file:<name>``, of a key ``<conversation>/<name>``."""
    return f"file:{key.rpartition('/')[2]}"


def note(source: Json) -> str:
    """What stands in the place of a picture or document that is not shown."""
    if source.get("type") != "stored":
        return NO_LONGER_SHOWN
    return f'{NO_LONGER_SHOWN[:-1]} To see it again: reopen "{reference(source["key"])}".)'


def keys_in(messages: Sequence[Json]) -> list[str]:
    """Of everything that must be brought in before these messages can be sent."""
    media = (block["source"] for message in messages for block in _all(message["content"]) if block["type"] in MEDIA)
    return list(dict.fromkeys(source["key"] for source in media if source.get("type") == "stored"))


def filled(messages: Sequence[Json], kept: Mapping[str, bytes]) -> list[Json]:
    """The same messages with the bytes in place of their keys; a note where there are none any more."""

    def fill(block: Json) -> Json:
        source = block["source"]
        if source.get("type") != "stored":
            return block
        data = kept.get(source["key"])
        if data is None:
            return in_place_of(block, GONE)
        media_type = source.get("media_type", "")
        return {**block, "source": {"type": "base64", "media_type": media_type, "data": b64encode(data).decode()}}

    return _with_media(messages, fill)


def in_place_of(block: Json, words: str) -> Json:
    """Words that carry the block's cache mark, if it has one."""
    mark = {"cache_control": block["cache_control"]} if "cache_control" in block else {}
    return {"type": "text", "text": words, **mark}


def _with_media(messages: Sequence[Json], change: Callable[[Json], Json]) -> list[Json]:
    """The same messages with each picture and document changed, in order, those inside tool results too."""

    def walk(block: Json) -> Json:
        if block["type"] == "tool_result" and isinstance(block.get("content"), list):
            return {**block, "content": list(map(walk, block["content"]))}
        return change(block) if block["type"] in MEDIA else block

    return [{**message, "content": list(map(walk, message["content"]))} for message in messages]


def _decoded(data: str) -> bytes:
    try:
        return b64decode(data, validate=True)
    except ValueError:
        return b""


# All of a request together


class Medium(Struct, frozen=True):
    """What counts of one picture or document: its longest side in pixels and its bytes of base64; 0 where unknown."""

    side: int = 0
    size: int = 0


def media_of(messages: Sequence[Json]) -> list[Medium]:
    """Every picture and document of usable messages, in order, those inside tool results too."""
    return [_medium(block) for message in messages for block in _all(message["content"]) if block["type"] in MEDIA]


def surplus(media: Sequence[Medium]) -> int:
    """How many of the oldest are not shown. It never shrinks while more are added at the end."""
    return next((out for out in range(0, len(media), STEP) if _fit(media[out:])), len(media))


def thinned(messages: Sequence[Json], count: int) -> list[Json]:
    """The same messages with notes in place of their first ``count`` pictures and documents."""
    left = iter(range(count))
    return _with_media(
        messages, lambda block: block if next(left, None) is None else in_place_of(block, note(block["source"]))
    )


def _all(content: Sequence[Json]) -> Iterator[Json]:
    for block in content:
        yield block
        if block["type"] == "tool_result" and isinstance(block["content"], list):
            yield from block["content"]


def pages_of(block: Json) -> int:
    """How many pictures a picture or document counts for."""
    source = block.get("source")
    return max(_number(source, "pages"), 1) if isinstance(source, dict) else 1


def _medium(block: Json) -> Medium:
    source = block["source"]
    if source.get("type") == "stored":
        return Medium(max(_sides(source)) if block["type"] == "image" else 0, _encoded_size(source))
    data = source.get("data")
    if not isinstance(data, str):
        return Medium()
    return Medium(max(facts(_decoded(data))[1]) if block["type"] == "image" else 0, len(data))


def _sides(source: Json) -> tuple[int, int]:
    return _number(source, "width"), _number(source, "height")


def _encoded_size(source: Json) -> int:
    return -(-_number(source, "size") // 3) * 4


def _number(source: Json, name: str) -> int:
    value = source.get(name)
    return value if isinstance(value, int) else 0


def _fit(media: Sequence[Medium]) -> bool:
    small = all(medium.side <= LONGEST_SIDE_OF_MANY for medium in media)
    return (
        len(media) <= MOST
        and (len(media) <= MANY or small)
        and sum(medium.size for medium in media) <= LARGEST_TOGETHER
    )


# What the bytes tell

Facts = tuple[str, tuple[int, int]]
"""Media type, and width and height in pixels."""
NO_PICTURE: Facts = ("", (0, 0))


def facts(data: bytes) -> Facts:
    """The media type and the size that the bytes themselves tell; NO_PICTURE where they are no whole header."""
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n"):
            return "image/png", (_big(data, 16, 4), _big(data, 20, 4))
        if data.startswith((b"GIF87a", b"GIF89a")):
            return "image/gif", (_little(data, 6, 2), _little(data, 8, 2))
        if data.startswith(b"\xff\xd8\xff"):
            return "image/jpeg", _jpeg(data)
        if data.startswith(b"RIFF"):
            return "image/webp", _webp(data)
    except IndexError:
        pass
    return NO_PICTURE


def _jpeg(data: bytes) -> tuple[int, int]:
    """ITU T.81, B.1 and B.2: segments of marker, length and content up to the frame header, which gives the size."""
    at = 2
    while (marker := _big(data, at, 2)) >> 8 == 0xFF:
        if marker in range(0xFFC0, 0xFFD0) and marker not in (0xFFC4, 0xFFC8, 0xFFCC):
            return _big(data, at + 7, 2), _big(data, at + 5, 2)
        at += 2 + _big(data, at + 2, 2)
    return 0, 0


def _webp(data: bytes) -> tuple[int, int]:
    """RFC 9649: the first chunk is the extended header, a lossless or a lossy picture."""
    match data[8:16]:
        case b"WEBPVP8X":
            return _little(data, 24, 3) + 1, _little(data, 27, 3) + 1
        case b"WEBPVP8L":
            bits = _little(data, 21, 4)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"WEBPVP8 ":
            return _little(data, 26, 2) & 0x3FFF, _little(data, 28, 2) & 0x3FFF
    return 0, 0


def _big(data: bytes, at: int, length: int) -> int:
    return int.from_bytes(_cut(data, at, length), "big")


def _little(data: bytes, at: int, length: int) -> int:
    return int.from_bytes(_cut(data, at, length), "little")


def _cut(data: bytes, at: int, length: int) -> bytes:
    if at + length > len(data):
        raise IndexError(at)
    return data[at : at + length]
