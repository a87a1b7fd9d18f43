"""What a person sees as characters: how many, how wide, how many units a platform counts them as.

The rules of Unicode's annexes 11 and 29 that matter in chats, by what the standard library knows of a character.
"""

import re
import unicodedata
from collections.abc import Sequence

_INVISIBLE = re.compile(
    r"[\s\x00-\x1f\u00ad\u030a\u0333\u033f\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufffc\U000e0000-\U000e0fff]"
)
"""Also what Telegram takes for empty or takes out: tdlib's ``is_empty_string`` and ``clean_input_string``."""

_FLAG_HALVES = "".join(map(chr, range(0x1F1E6, 0x1F200)))
_GLUE = "\u200c\u200d\u0e33\u0eb3"


def is_blank(text: str) -> bool:
    """Whether a person would see nothing: white space and zero-width characters only."""
    return not _INVISIBLE.sub("", text)


def units(text: str) -> int:
    """Length in UTF-16 code units: characters beyond the Basic Multilingual Plane are two."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def clusters(text: str) -> Sequence[str]:
    """The characters as people see them."""
    cuts = [at for at in range(1, len(text)) if not joined(text, at)]
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)] if text else []


def joined(text: str, at: int) -> bool:
    """Whether what is around ``at`` is seen as one character: with an accent, an emoji of several parts, a flag."""
    left, right = text[at - 1], text[at]
    if right < "\u0300":
        return False
    if left == "\u200d" or right in _GLUE or unicodedata.category(right) in ("Mn", "Me", "Mc"):
        return True
    if "\U0001f3fb" <= right <= "\U0001f3ff" or "\U000e0020" <= right <= "\U000e007f":  # skin tones, regional flags
        return True
    if right in _FLAG_HALVES:
        return (at - len(text[:at].rstrip(_FLAG_HALVES))) % 2 == 1
    return _in_one_syllable(left, right)


def _in_one_syllable(left: str, right: str) -> bool:
    """A consonant of an Indian script under a virama, or the next letter of a Korean syllable."""
    if unicodedata.combining(left) == 9:
        return unicodedata.category(right) == "Lo"
    if "\u1100" <= left <= "\u115f":
        return "\u1100" <= right <= "\u11a7" or "\uac00" <= right <= "\ud7a3"
    return "\u1160" <= right <= "\u11ff" and ("\u1160" <= left <= "\u11ff" or "\uac00" <= left <= "\ud7a3")


def is_right_to_left(text: str) -> bool:
    """Whether there is a letter in it that runs from right to left."""
    return not text.isascii() and any(unicodedata.bidirectional(char) in ("R", "AL") for char in text)


def columns(text: str) -> int:
    """Columns the text takes in a fixed-width font: East Asian characters, emoji and flags two, accents none."""
    return len(text) if text.isascii() else sum(map(_width, clusters(text)))


def _width(cluster: str) -> int:
    first = cluster[0]
    if unicodedata.category(first) in ("Mn", "Me", "Cf"):
        return 0
    wide = unicodedata.east_asian_width(first) in "WF" or first in _FLAG_HALVES or "\ufe0f" in cluster
    return 2 if wide else 1
