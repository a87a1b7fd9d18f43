"""How much Telegram takes: sizes of files and pictures, and how often a bot may speak in one chat.

The rates are what Telegram's FAQ for bots names; what it really counts is not published.
"""

import math
from collections import defaultdict, deque
from collections.abc import Callable

from msgspec import Struct

from simulator.pictures import picture_size
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
    second that has passed; in a group also no more than ``group_per_minute`` in any minute."""

    per_second: float = 1.0
    burst: int = 20
    group_per_minute: int = 20


class Meter:
    """Counts a bot's calls per chat."""

    def __init__(self, flood: Flood, now: Callable[[], float]) -> None:
        self._flood = flood
        self._now = now
        self._levels: dict[str, tuple[float, float]] = {}
        self._minutes: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=flood.group_per_minute))

    def wait(self, chat: Chat) -> int:
        """Count one call; or, not counting it, the whole seconds until one is taken again."""
        now, minute = self._now(), self._minutes[chat.id]
        level, at = self._levels.get(chat.id, (0.0, now))
        level = max(level - (now - at) * self._flood.per_second, 0.0)
        wait = max(level + 1 - self._flood.burst, 0.0) / self._flood.per_second
        if chat.kind != "private" and len(minute) == minute.maxlen:
            wait = max(wait, minute[0] + 60 - now)
        self._levels[chat.id] = (level if wait else level + 1, now)
        if not wait:
            minute.append(now)
        return math.ceil(wait)


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
