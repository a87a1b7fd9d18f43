"""A turn inside a tool call of another one, with a conversation of its own: how a subagent works.

    telegram:1                          the conversation above: its lease, its rights, files, memory and money hold
    telegram:1/<turn>.<entry>.<call>    the nested one: its own head and record, found again by whoever resumes the turn

Only who holds the conversation above works on what is nested in it. The nested lease is over as soon as it is taken, so
the next invocation takes it at once; its owner still fences every write, as that of an older worker no longer is.

Each step is two writes: it is stored here, then what it cost is noted above, as the sum of all so far. Cut in between,
the sum is noted when the turn goes on.
"""

import uuid
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from bot.errors import LeaseLost
from bot.files import Files
from bot.history import DELEGATE, tool_calls
from bot.journal import Journal
from bot.messages import Answered, Asked, ChatSettings, Entry, Head, Inbound, Numbered, Turn
from bot.ports import Change, Store
from bot.toolkit import Caller

OVER = 1
"""Unix milliseconds: held, not released, and free to be taken."""


class Nested(Journal):
    """The journal of a turn inside a call of ``above``, with what is the conversation's taken from there."""

    def __init__(self, above: Journal, call: str, head: Head, window: Sequence[Numbered], *, resumed: bool) -> None:
        super().__init__(above.store, head, window, resumed=resumed, blobs=above.blobs)
        self._above = above
        self._call = call

    @property
    def settings(self) -> ChatSettings:
        return self._above.settings

    @property
    def files(self) -> Files:
        """The conversation's, and what this turn made so far."""
        return Files(self.blobs, self._above.head.conversation, self._both)

    async def _both(self) -> list[Entry]:
        return [*await self._above.record(), *await self.record()]

    def witnessed(self) -> list[Entry]:
        """The task is a model's words: an address in it may have been made up."""
        return [*self._above.witnessed(), *(entry for entry in self.entries() if not isinstance(entry, Asked))]

    def missing(self) -> int:
        return self._above.missing()

    async def append(self, *entries: Entry, reserve: int = 0, **more: Any) -> None:
        if reserve:
            await self._above.hold()
        await super().append(*entries, **more)

    async def _write(self, change: Change) -> None:
        before = self.turn.bill
        await super()._write(change)
        if self.turn.bill != before:
            await self._above.count(self._call, self.turn.bill)


async def nested(caller: Caller, task: str, now: int) -> Nested:
    """The turn inside this call: begun with its task, or as far as it came before.

    Raises LeaseLost, before anything is paid, where the conversation is another worker's by now, and BudgetExceeded
    where there is no money to begin with.
    """
    above, call = caller.journal, caller.call
    head = await above.store.claim(_name(above.head.conversation, call), uuid.uuid4().hex, OVER)
    if head is None:
        raise LeaseLost(f"The subagent of {call} is at work elsewhere.")
    if head.turn is not None:
        window = await above.store.record(head.conversation, head.since)
        turn = replace(head.turn, place=above.turn.place)  # the chat may have moved
        journal = Nested(above, call, replace(head, turn=turn), window, resumed=True)
        await above.let_in(call, journal.turn.bill, hold=False)
        return journal
    begun = Turn(
        id=uuid.uuid4().hex[:12],
        place=above.turn.place,
        asker=above.turn.asker,
        began=now,
        first=head.last + 1,
        cheaper=above.turn.cheaper,
        tainted=caller.tainted,
    )
    journal = Nested(above, call, replace(head, turn=begun), [], resumed=False)
    await above.let_in(call, begun.bill, hold=True)
    said = Inbound(begun.place, id=call, order=call, sender=begun.asker, sent_at=now, text=task)
    await journal.append(Asked(begun.id, (said,)))
    return journal


def names_in(conversation: str, record: Sequence[Numbered]) -> list[str]:
    """The conversations nested in this one, in order; of those that were never begun too."""
    return [
        name_of(conversation, each.entry.turn, each.seq, call["id"])
        for each in record
        if isinstance(each.entry, Answered)
        for call in tool_calls(each.entry)
        if call["name"] == DELEGATE
    ]


def name_of(conversation: str, turn: str, seq: int, call: str) -> str:
    """Of the conversation inside this call of the turn, made in the reply with this number."""
    return _name(conversation, f"{turn}.{seq}.{call}")


async def records_in(store: Store, conversation: str, record: Sequence[Numbered]) -> dict[str, list[Numbered]]:
    """All steps of the subagents that these entries of a conversation called, by the nested conversation's name."""
    return {name: await store.record(name, 1) for name in names_in(conversation, record)}


def _name(conversation: str, call: str) -> str:
    return f"{conversation}/{call}"
