"""How long the end of a prompt should stay in the provider's cache, and why something was not found there. Pure.

Writing costs more than fresh input, and the longer lifetime costs more than the shorter: it pays only where the chat is
likely to come back in time, which its own pauses tell. Prices: ``bot/models.py``.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise, takewhile

from bot.blocks import THINKING
from bot.messages import Answered, Asked, Entry, Json, Reply, Summary
from bot.models import WRITE_LONG, WRITE_SHORT

LONG: Json = {"type": "ephemeral", "ttl": "1h"}
SHORT: Json = {"type": "ephemeral"}
LONG_SECONDS, SHORT_SECONDS = 3_600, 300
RECENT = 8
"""Pauses that the guess is made from."""
HOPES = 2
"""Short pauses that a chat is credited with: it has hardly begun, or goes on faster than before."""


def lifetime(entries: Sequence[Entry], turn: str, read: float) -> Json | None:
    """The mark for the end of the next prompt, None where none pays; ``read`` is the price of a cached token in fresh
    ones. Within a turn that calls tools the next call follows at once."""
    calls = any(isinstance(entry, Answered) and entry.turn == turn for entry in entries)
    if calls or _tends_to_call(entries):
        return SHORT
    pauses = [*_pauses(entries)][-RECENT:]
    within = [sum(pause <= limit for pause in pauses) + HOPES for limit in (SHORT_SECONDS, LONG_SECONDS)]
    short, long = (count / (len(pauses) + HOPES) for count in within)
    marks: list[tuple[float, Json | None]] = [
        (short * read + (1 - short) * WRITE_SHORT, SHORT),
        (long * read + (1 - long) * WRITE_LONG, LONG),
        (1.0, None),
    ]
    return min(marks, key=lambda mark: mark[0])[1]


def _tends_to_call(entries: Sequence[Entry]) -> bool:
    """Whether most turns take more than one call of the model: each but the first reads what the one before wrote."""
    turns = [entry.turn for entry in entries if isinstance(entry, Asked)]
    replies = [entry.turn for entry in entries if isinstance(entry, Answered)]
    return len(replies) > len(turns) * 3 / 2


def _pauses(entries: Iterable[Entry]) -> Iterable[int]:
    """Seconds between a question and the next."""
    times = [entry.said[-1].sent_at for entry in entries if isinstance(entry, Asked) and entry.said]
    return (later - earlier for earlier, later in pairwise(times))


def missed(entries: Sequence[Entry], turn: str, reply: Reply) -> str:
    """Why a reply, not in ``entries`` yet, found less in the cache than the call before it had left there; "" where it
    found all. The provider's own word comes first."""
    since = list(takewhile(lambda entry: not isinstance(entry, Answered), reversed(entries)))
    before = entries[-len(since) - 1] if len(since) < len(entries) else None
    if not isinstance(before, Answered):
        return ""
    left = before.reply.usage
    if reply.usage.cache_read >= left.cache_read + left.cache_write + left.cache_write_long:
        return ""
    if reply.missed:
        return reply.missed
    cut = any(isinstance(entry, Summary) for entry in since)
    return "view_cut" if cut else _reason(entries, before, turn, reply)


def _reason(entries: Sequence[Entry], before: Answered, turn: str, reply: Reply) -> str:
    if reply.model != before.reply.model:
        return "model_changed"
    if turn == before.turn:
        return "unknown"
    if any(entry.turn == before.turn and thinks(entry) for entry in entries if isinstance(entry, Answered)):
        return "thinking_stripped"
    return "expired" if max(_pauses(entries), default=0) > SHORT_SECONDS else "unknown"


def thinks(answered: Answered) -> bool:
    return any(block.get("type") in THINKING for block in answered.reply.content)
