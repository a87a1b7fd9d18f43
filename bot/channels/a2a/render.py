"""A turn of the record as a task of A2A. Pure: nothing about a task is kept but the conversation itself."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from bot.approvals import call_of, question, waited_for
from bot.channels.a2a.parse import TaskId, task_id
from bot.delivery import answer_text, files_of
from bot.history import tool_calls
from bot.messages import Answered, Asked, Ended, Entry, File, Inbound, Json, Numbered, Returned, Summary, Turn, Voted
from bot.texts import doing, say

State = Literal["submitted", "working", "input-required", "completed", "canceled", "failed", "rejected"]
OVER = ("completed", "canceled", "failed", "rejected")
SETTLED = (*OVER, "input-required")
"""States in which the other side has to act, or nobody."""

_ENDS: dict[str, State] = {"refused": "rejected", "told": "rejected", "stopped": "canceled", "failed": "failed"}
"""What an end that no answer of the model tells means. What we answer ourselves (too late, over a budget, not let in)
was not done."""


class Task(Struct, frozen=True):
    """``text`` and ``files`` are what it came to so far; ``note`` says in words how it stands, and ``call`` is the tool
    call that waits for a word. ``said`` is what the caller wrote."""

    id: TaskId
    state: State
    text: str = ""
    files: tuple[File, ...] = ()
    note: str = ""
    call: Json | None = None
    said: tuple[Inbound, ...] = ()


def turn_of(id: TaskId, entries: Sequence[Entry]) -> str:
    """The turn in which its message was said, or one that was added to it: that may have come when the first turn had
    just ended, and the task goes on in another. "" where there is none in these entries."""
    heard = (entry for entry in reversed(entries) if isinstance(entry, Asked | Returned))
    return next((entry.turn for entry in heard if any(_belongs(said, id) for said in entry.said)), "")


def _belongs(said: Inbound, id: TaskId) -> bool:
    return said.kind == "message" and (said.id == id.inbound or said.data == str(id))


def begun_by(turn: str, entries: Sequence[Entry], caller: str, context: str) -> TaskId | None:
    """The task that a turn is; None where nobody asked for it through A2A, such as a reminder."""
    for entry in entries:
        if isinstance(entry, Asked) and entry.turn == turn and entry.said[0].kind == "message":
            return task_id(entry.said[0].data) or TaskId(caller, context, entry.said[0].id[1:])
    return None


def waiting(id: TaskId, message: Inbound) -> Task:
    """A task that no turn has begun with yet."""
    return Task(id, "submitted", said=(message,))


def dropped(id: TaskId) -> Task:
    """What was taken in and will not be answered: no turn was begun for it."""
    return Task(id, "rejected", note=say("not_taken", ""))


def task(id: TaskId, turn: str, live: Turn | None, entries: Sequence[Numbered]) -> Task:
    """``live`` is the turn that the conversation is at, if any; ``entries`` hold all of the turn ``turn``."""
    own = _own(turn, [each.entry for each in entries])
    said = tuple(inbound for entry in own if isinstance(entry, Asked | Returned) for inbound in entry.said)
    language = said[0].sender.language if said else ""
    if live is not None and live.id == turn:
        text, files = answer_text(own, language), tuple(files_of(own))
        if asked := waited_for(live):
            call = call_of(asked[0], entries)
            note = question(call, language) if call else ""
            return Task(id, "input-required", text, files, note, call, said)
        return Task(id, "working", text, files, _doing(own, language), said=said)
    last = own[-1] if own else None
    if isinstance(last, Ended):
        answers = [entry for entry in own if not isinstance(entry, Ended)]
        return Task(id, _ENDS[last.why], answer_text(answers, language), tuple(files_of(own)), last.shown, said=said)
    state: State = "completed" if isinstance(last, Answered) else "failed"
    return Task(id, state, answer_text(own, language), tuple(files_of(own)), said=said)


def _own(turn: str, entries: Sequence[Entry]) -> list[Entry]:
    """Of this turn. That it was done again later changes nothing about what it was."""
    return [
        entry
        for entry in entries
        if not isinstance(entry, Summary | Voted)
        and entry.turn == turn
        and not (isinstance(entry, Ended) and entry.why == "undone")
    ]


def _doing(own: Sequence[Entry], language: str) -> str:
    """The tools at work, in words."""
    last = own[-1] if own else None
    calls = tool_calls(last) if isinstance(last, Answered) else []
    return doing([call["name"] for call in calls], language) if calls else ""
