"""Which entries the model may see: a window that always begins at the start of a turn.

It slides rarely and in big steps, from the high mark to the low one, so that the cached prefix lives for many turns.
"""

from collections.abc import Sequence

from msgspec import Struct

from bot.messages import Asked, Numbered, Summary, encode

BYTES_PER_TOKEN = 3
"""Of our JSON. Deliberately few: a window estimated too large only slides a little early."""


class Window(Struct, frozen=True):
    """``high`` and ``low`` are in estimated tokens, ``most`` in entries (it bounds the reads of one message)."""

    high: int = 100_000
    low: int = 60_000
    most: int = 400


def slide(entries: Sequence[Numbered], window: Window, *, force: bool = False) -> int | None:
    """The entry to begin at from now on, or None where everything may stay.

    Whole turns are left out, oldest first, down to the low mark; the newest turn always stays. ``force`` (the model
    said the prompt is too long) leaves out at least one turn, or answers None where only one is left.
    """
    starts = [index for index, each in enumerate(entries) if isinstance(each.entry, Asked | Summary)]
    sizes = [len(encode(each.entry)) // BYTES_PER_TOKEN + 1 for each in entries]
    fits = sum(sizes) <= window.high and len(entries) <= window.most
    if not starts or (fits and not force):
        return None
    budget = min(window.low, sum(sizes) // 2) if force else window.low
    for start in starts[1:]:
        if sum(sizes[start:]) <= budget and len(entries) - start <= window.most // 2:
            return entries[start].seq
    return entries[starts[-1]].seq if len(starts) > 1 else None
