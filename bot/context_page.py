"""``/context`` and ``/compact``: what the model sees of a conversation, told and made less for the one who asks."""

from msgspec.structs import replace

from bot.commands import slash
from bot.context import Fill, Marks
from bot.deadline import Deadline
from bot.folding import Folding
from bot.journal import Journal
from bot.messages import Ended, Inbound, Numbered, Summary
from bot.texts import say
from bot.usage import number

COMMANDS = ("context", "compact")
PARTS = ("instructions", "rules", "skills", "tools", "summary", "messages", "results", "media")


async def answer(asked: Inbound, journal: Journal, folding: Folding, deadline: Deadline) -> None:
    """Store what the person is told, and with it, in one write, the summary that ``/compact`` asks for."""
    before, language = folding.fill(journal.numbered()), asked.sender.language
    told = Ended(turn=journal.turn.id, why="told", shown=page(before, folding.marks, language, slash(asked.place)))
    if asked.command == "context":
        await journal.append(told)
        return
    summary = await folding.less(journal, deadline, asked.text.strip())
    if summary is None:
        await journal.append(replace(told, shown=say("nothing_to_fold", language)))
        return
    after = folding.fill(_with(summary, journal), like=journal.numbered())
    sizes = {"before": number(before.total), "after": number(after.total)}
    await journal.fold(summary, replace(told, shown=say("folded", language, **sizes)))


def page(fill: Fill, marks: Marks, language: str, slash: str = "/") -> str:
    """What fills the prompt, in a list; what nothing is in is left out. ``slash`` stands before a command."""
    parts = [(say(f"context_{part}", language), getattr(fill, part)) for part in PARTS]
    lines = [f"- {name}: {number(tokens)}" for name, tokens in parts if tokens]
    sizes = {"total": number(fill.total), "most": number(marks.high), "slash": slash}
    return "\n\n".join((say("context", language), "\n".join(lines), say("context_total", language, **sizes)))


def _with(summary: Summary, journal: Journal) -> list[Numbered]:
    left = [each for each in journal.numbered() if each.seq > summary.upto]
    return [*left, Numbered(journal.head.last + 1, summary)]
