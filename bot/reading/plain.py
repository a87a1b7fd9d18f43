"""Text as it may be stored and sent, whatever it was taken from."""

from collections.abc import Iterable

from bot.messages import whole
from bot.reading.limits import LONGEST_TEXT

_DROPPED = {code: None for code in (*range(32), *range(0x7F, 0xA0)) if code not in (*b"\t\n", 0x85)} | {0x85: "\n"}


def plain(text: str) -> str:
    """The text with ``\\n`` as the end of each line, without control characters and halves of characters."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return whole(text.translate(_DROPPED))


def gathered(pieces: Iterable[str]) -> str:
    """The pieces as one plain text of at most LONGEST_TEXT characters; no piece is asked for that has no room."""
    kept: list[str] = []
    room = LONGEST_TEXT
    for piece in pieces:
        kept.append(plain(piece)[:room])
        room -= len(kept[-1])
        if room <= 0:
            break
    return "".join(kept)
