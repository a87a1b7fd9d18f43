"""What waits in an inbox, put in order: which messages belong together, which are no longer needed. Pure."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from msgspec.structs import replace

from bot.messages import Asked, Ended, Entry, Inbound, Returned

LONG = 3_500
"""Characters. Apps split a paste at 4,096, so a message this long may have a second half on its way."""

T = TypeVar("T")


def to_us(
    inbox: Sequence[Inbound], *, follows: bool, heard: Iterable[Inbound] = ()
) -> tuple[list[Inbound], list[Inbound]]:
    """What of the inbox is to the bot, and what is not: a piece of an album counts with the piece that is addressed,
    which may be among what was ``heard`` before; anything else in a thread only where the bot ``follows`` it."""
    albums = {inbound.album for inbound in (*heard, *inbox) if inbound.addressed and inbound.album}
    ours = [each for each in inbox if each.addressed or (each.album in albums if each.album else follows)]
    return ours, [each for each in inbox if each not in ours]


def still_arriving(inbox: Sequence[Inbound]) -> bool:
    """Whether what is there may be the first piece of something: an album or a split paste."""
    return any(inbound.album or len(inbound.text) >= LONG for inbound in inbox if inbound.kind == "message")


def with_edits(inbox: Sequence[Inbound]) -> tuple[list[Inbound], list[Inbound]]:
    """Messages as they read now, and the edits that are used up by that. An edit of what is not here stays."""
    current = {inbound.key: inbound for inbound in inbox}
    used = []
    for edit in inbox:
        of = [message for message in current.values() if is_edit_of(edit, message)]
        current |= {message.key: edited(message, edit) for message in of}
        if of:
            used.append(edit)
    return [current[each.key] for each in inbox if each not in used], used


def is_edit_of(edit: Inbound, message: Inbound) -> bool:
    """Several questions may be about one message, some of them not its author's, who alone can edit it."""
    return _is_of_one_message(edit, message) and (edit.kind, message.kind) == ("edit", "message")


def edited(message: Inbound, edit: Inbound) -> Inbound:
    """A picture may have been put in the place of another; what was read of one that stays is kept."""
    read = {file.id: file for file in message.attachments if file.id}
    attachments = tuple(read.get(file.id, file) for file in edit.attachments) or message.attachments
    return replace(message, text=edit.text, command=edit.command, attachments=attachments)


def says_anew(edit: Inbound, entries: Sequence[Entry]) -> bool:
    """Whether the message that this edits read otherwise when it was heard last. Telegram tells of an edit also where
    somebody only put a reaction to it; its ids of files may be others then, so they say nothing."""
    same = [each for each in _heard(entries) if each.kind in ("message", "edit") and _is_of_one_message(edit, each)]
    return not same or (same[-1].text, same[-1].command) != (edit.text, edit.command)


def newest_edit(edit: Inbound, entries: Sequence[Entry]) -> Inbound:
    """How the message that this edits reads by now."""
    edits = (each for each in _heard(entries) if each.kind == "edit" and _is_of_one_message(edit, each))
    return max((edit, *edits), key=lambda each: each.order)


def _heard(entries: Sequence[Entry]) -> Iterator[Inbound]:
    return (said for entry in entries if isinstance(entry, Asked | Returned) for said in entry.said)


def _is_of_one_message(one: Inbound, other: Inbound) -> bool:
    return (one.native_id, one.sender.id) == (other.native_id, other.sender.id)


def run_of(inbox: Sequence[Inbound], kind: Callable[[Inbound], T]) -> list[Inbound]:
    """The messages at the head of the inbox that are of the same kind as the first."""
    first = kind(inbox[0])
    batch = []
    for inbound in inbox:
        if kind(inbound) != first:
            break
        batch.append(inbound)
    return batch


def turn_with(edit: Inbound, entries: Sequence[Entry]) -> str:
    """The newest turn in which the message that this edits was said, and which was not done again since; "" where
    there is none."""
    undone = {entry.turn for entry in entries if isinstance(entry, Ended) and entry.why == "undone"}
    for entry in reversed(entries):
        if not isinstance(entry, Asked | Returned) or entry.turn in undone:
            continue
        if any(is_edit_of(edit, said) for said in entry.said):
            return entry.turn
    return ""


def said_in(turn: str, entries: Sequence[Entry]) -> list[Inbound]:
    """All that people said in that turn: its question, and what they added while it ran."""
    heard = (entry for entry in entries if isinstance(entry, Asked | Returned) and entry.turn == turn)
    return [inbound for entry in heard for inbound in entry.said]


def asked_in(turn: str, entries: Sequence[Entry]) -> Asked | None:
    """What started that turn; None where it is out of the window, or was done again already."""
    if any(isinstance(entry, Ended) and entry.why == "undone" and entry.turn == turn for entry in entries):
        return None
    return next((entry for entry in entries if isinstance(entry, Asked) and entry.turn == turn), None)


def was_stopped(turn: str, entries: Sequence[Entry]) -> bool:
    """Whether somebody ended it in the middle of its answer."""
    return any(isinstance(entry, Ended) and (entry.turn, entry.why) == (turn, "stopped") for entry in entries)


def last_question(entries: Sequence[Entry]) -> Asked | None:
    """What started the newest turn that the model answered and sees; None where there is none."""
    ours = ("told", "reminded", "undone")
    hidden = {entry.turn for entry in entries if isinstance(entry, Ended) and entry.why in ours}
    asked = (entry for entry in reversed(entries) if isinstance(entry, Asked) and entry.turn not in hidden)
    return next(asked, None)


def unanswered(own: Sequence[Entry]) -> Inbound | None:
    """The message of a turn in which nothing else has happened yet; None where something has."""
    match own:
        case [Asked(said=[*_, last])] if last.kind == "message":
            return last
    return None
