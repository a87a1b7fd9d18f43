"""Flat text cut into messages, never inside what is seen as one character where that can be helped."""

import re
from collections.abc import Callable

from bot.channels.characters import is_blank, joined
from bot.channels.markdown import Flat

LONGEST_CHARACTER = 32
"""Code points. A heap of accents that is longer may be cut."""

_ENDS = tuple(map(re.compile, (r"\n\n(?=\S)", r"\n(?=\S)", r"\n", r"[ \t]")))
"""The best places for a cut, best first: behind a paragraph, behind a line before one that is not indented (a message
that begins with white space loses it), behind any line, behind a word."""


def split(flat: Flat, limit: int, most_spans: int, size: Callable[[str], int]) -> list[Flat]:
    """Cut into parts of at most ``limit`` by ``size`` and at most ``most_spans`` spans, none of them blank.

    Cuts at the end of a paragraph where one ends in the part's second half, else of a line, else of a word, else
    anywhere but inside a character as people see it. Nothing is lost: the texts joined are the whole text, but for
    white space so long that it would be a part of its own. A cut depends on nothing that comes after its part, but for
    the one character behind it.
    """
    parts, start = [], 0
    while start < len(flat.text):
        end = _furthest(flat, start, limit, most_spans, size)
        if end < len(flat.text):
            end = boundary(flat.text, start, end)
        part = flat.piece(start, end)
        if not is_blank(part.text):
            parts.append(part)
        start = end
    return parts


def _furthest(flat: Flat, start: int, limit: int, most_spans: int, size: Callable[[str], int]) -> int:
    """Where a part that begins at ``start`` has to end at the latest."""
    end = reach(flat.text, start, limit, size)
    reaching = [span.start for span in flat.spans if span.end > start and span.start < end]
    return max(reaching[most_spans], start + 1) if len(reaching) > most_spans else end


def reach(text: str, start: int, limit: int, size: Callable[[str], int]) -> int:
    """How far ``text[start:...]`` goes within ``limit``."""
    end = min(len(text), start + limit)
    while (excess := size(text[start:end]) - limit) > 0:
        end -= (excess + 1) // 2  # a character measures at most two
    return end


def boundary(text: str, start: int, end: int) -> int:
    """The best place to cut in ``text[start:end]``, later than ``start``. ``end`` lies inside the text."""
    half = start + (end - start) // 2
    for pattern in _ENDS:
        ends = [found.end() for found in pattern.finditer(text, half, end + 1) if found.end() <= end]
        if ends:
            return ends[-1]
    cut = end
    while cut > max(start + 1, end - LONGEST_CHARACTER) and joined(text, cut):
        cut -= 1
    return end if joined(text, cut) else cut
