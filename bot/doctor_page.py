"""``/doctor``: what is set up well and what is not, for the owner; short enough for a phone, growing as it is found."""

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing

from bot.deadline import Deadline
from bot.delivery import Delivery
from bot.examining import Check, Examine, State
from bot.journal import Journal
from bot.messages import Ended, Inbound
from bot.texts import say

COMMAND = "doctor"
SIGNS: dict[State, str] = {"red": "🔴", "yellow": "🟡", "green": "🟢"}
_MARKUP = re.compile(r"([\\`*<~])")


async def answer(asked: Inbound, journal: Journal, delivery: Delivery, examine: Examine, deadline: Deadline) -> None:
    """Show what is found as it is found, and store the whole of it. Raises OutOfTime, with nothing stored: whoever goes
    on examines anew."""
    language, checks = asked.sender.language, list[Check]()
    delivery.hear(say("doctor_looks", language))
    async with deadline.enforced(), aclosing(examine(language)) as found:
        async for some in found:
            checks += some
            delivery.hear("".join(f"\n\n{line}" for line in _lines(some)))
    await journal.append(Ended(journal.turn.id, why="told", shown=page(checks, language)))


def page(checks: Sequence[Check], language: str) -> str:
    """How many of each there are; the worst first, each with what to do; of the green ones the names."""
    counts = Counter(check.state for check in checks)
    heading = say("doctor", language, **{state: str(counts[state]) for state in SIGNS})
    worst = sorted((check for check in checks if check.state != "green"), key=lambda check: check.state)
    return "\n\n".join((heading, *_lines([*worst, *(check for check in checks if check.state == "green")])))


def _lines(checks: Sequence[Check]) -> list[str]:
    lines = [
        f"{SIGNS[check.state]} **{_plain(check.name)}**: {_plain(check.says)}\n→ {_plain(check.next)}"
        for check in checks
        if check.state != "green"
    ]
    if well := [check.name for check in checks if check.state == "green"]:
        lines.append(f"{SIGNS['green']} {_plain(', '.join(well))}")
    return lines


def _plain(words: str) -> str:
    """As Markdown that shows just that: addresses and names of settings are full of its signs."""
    return _MARKUP.sub(r"\\\1", words)
