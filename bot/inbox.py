"""What waits in an inbox, put in order: which messages belong together, which are no longer needed. Pure."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec.structs import replace

from bot.messages import Asked, Ended, Entry, Inbound

LONG = 3_500
"""Characters. Apps split a paste at 4,096, so a message this long may have a second half on its way."""

T = TypeVar("T")


def still_arriving(inbox: Sequence[Inbound]) -> bool:
    """Whether what is there may be the first piece of something: an album or a split paste."""
    return any(inbound.album or len(inbound.text) >= LONG for inbound in inbox if inbound.kind == "message")


def with_edits(inbox: Sequence[Inbound]) -> tuple[list[Inbound], list[Inbound]]:
    """Messages as they read now, and the edits that are used up by that. An edit of what is not here stays."""
    current = {inbound.native_id: inbound for inbound in inbox if inbound.kind == "message"}
    used = []
    for edit in inbox:
        if edit.kind == "edit" and edit.native_id in current:
            current[edit.native_id] = edited(current[edit.native_id], edit)
            used.append(edit)
    left = [current.get(each.native_id, each) if each.kind == "message" else each for each in inbox if each not in used]
    return left, used


def edited(message: Inbound, edit: Inbound) -> Inbound:
    return replace(message, text=edit.text, command=edit.command)


def run_of(inbox: Sequence[Inbound], kind: Callable[[Inbound], T]) -> list[Inbound]:
    """The messages at the head of the inbox that are of the same kind as the first."""
    first = kind(inbox[0])
    batch = []
    for inbound in inbox:
        if kind(inbound) != first:
            break
        batch.append(inbound)
    return batch


def asked_with(native_id: str, entries: Sequence[Entry]) -> Asked | None:
    """The newest turn's question that holds this message and was not done again since."""
    undone = {entry.turn for entry in entries if isinstance(entry, Ended) and entry.why == "undone"}
    for entry in reversed(entries):
        if not isinstance(entry, Asked) or entry.turn in undone:
            continue
        if any(said.native_id == native_id and said.kind == "message" for said in entry.said):
            return entry
    return None


def asked_in(turn: str, entries: Sequence[Entry]) -> Asked | None:
    """What started that turn; None where it is out of the window, or was done again already."""
    if any(isinstance(entry, Ended) and entry.why == "undone" and entry.turn == turn for entry in entries):
        return None
    return next((entry for entry in entries if isinstance(entry, Asked) and entry.turn == turn), None)
