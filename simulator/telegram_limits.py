"""How much Telegram takes: sizes of files and pictures, and how often a bot may speak in one chat.

The rates are what Telegram's FAQ for bots names; what it really counts is not published.
"""

import math
from collections.abc import Callable

from msgspec import Struct

from simulator.telegram_text import BadRequest
from simulator.world import Chat

MEGABYTE = 1024 * 1024
UPLOAD_LIMIT = 50 * MEGABYTE
DOWNLOAD_LIMIT = 20 * MEGABYTE
PHOTO_LIMIT = 10 * MEGABYTE
PHOTO_SIDES = 10_000
"""Width and height together, in pixels."""
PHOTO_RATIO = 20
ALBUM_LIMIT = 10
LINK_LIFETIME = 3600.0
"""Seconds for which the path that getFile gave can be downloaded."""


class Flood(Struct, frozen=True):
    """What a bot may send and edit in one chat before it is told to wait: ``burst`` calls at once, then one for each
    second that has passed; in a group ``group_per_minute``."""

    per_second: float = 1.0
    burst: int = 20
    group_per_minute: int = 20


class Meter:
    """Counts a bot's calls per chat."""

    def __init__(self, flood: Flood, now: Callable[[], float]) -> None:
        self._flood = flood
        self._now = now
        self._levels: dict[str, tuple[float, float]] = {}

    def wait(self, chat: Chat) -> int:
        """Count one call; or, not counting it, the whole seconds until one is taken again."""
        group = chat.kind != "private"
        rate = self._flood.group_per_minute / 60 if group else self._flood.per_second
        most = self._flood.group_per_minute if group else self._flood.burst
        level, at = self._levels.get(chat.id, (0.0, self._now()))
        level = max(level - (self._now() - at) * rate, 0.0)
        full = level + 1 > most
        self._levels[chat.id] = (level if full else level + 1, self._now())
        return max(math.ceil((level + 1 - most) / rate), 1) if full else 0


def photo_sides(data: bytes) -> tuple[int, int]:
    """Width and height of what Telegram takes as a photo. Raises BadRequest."""
    if len(data) > PHOTO_LIMIT:
        raise BadRequest(
            f"file of size {len(data)} bytes is too big for a photo; the maximum size is {PHOTO_LIMIT} bytes"
        )
    size = picture_size(data)
    if size is None:
        raise BadRequest("IMAGE_PROCESS_FAILED")
    if sum(size) > PHOTO_SIDES or max(size) > PHOTO_RATIO * max(min(size), 1):
        raise BadRequest("PHOTO_INVALID_DIMENSIONS")
    return size


def picture_size(data: bytes) -> tuple[int, int] | None:
    """Width and height in pixels of a PNG, GIF, WebP or JPEG; None for anything else."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    if data[:4] == b"GIF8" and len(data) >= 10:
        return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) >= 30:
        return _webp_size(data)
    if data[:2] == b"\xff\xd8":
        return _jpeg_size(data)
    return None


def _webp_size(data: bytes) -> tuple[int, int] | None:
    """Source: developers.google.com/speed/webp/docs/riff_container, RFC 6386, section 9.1."""
    match data[12:16]:
        case b"VP8 ":
            return int.from_bytes(data[26:28], "little") & 0x3FFF, int.from_bytes(data[28:30], "little") & 0x3FFF
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    return None


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        is_frame = 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC)
        if is_frame:
            return int.from_bytes(data[at + 7 : at + 9], "big"), int.from_bytes(data[at + 5 : at + 7], "big")
        at += 2 + length
    return None
