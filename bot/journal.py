"""One turn's hold on its conversation: lease, head and window, kept equal to the store step by step."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from msgspec.structs import replace

from bot.budget import Budget, bill_of, lately
from bot.errors import LeaseLost
from bot.files import Files
from bot.inbox import says_anew, still_arriving, turn_with
from bot.memory import Memory
from bot.messages import (
    Answered,
    Approval,
    Asked,
    Bill,
    ChatSettings,
    Ended,
    Entry,
    Fetched,
    File,
    Head,
    Inbound,
    Json,
    Numbered,
    Part,
    Reply,
    Returned,
    Spend,
    Summary,
    ToolRun,
    Turn,
)
from bot.moving import moved_place
from bot.notes import result_in
from bot.ports import Blobs, Change, Store
from bot.tasks import uncut

NO_LIMITS = Budget()
MOST_AT_WORK = 8
"""Subagents of one turn that work at the same time; others wait for their turn."""


class Journal:
    """Every write goes through here, one at a time: the agent and the delivery write side by side.

    ``resumed`` tells that an earlier invocation began this turn: what it started must be looked up. ``arrived`` is
    what people sent while the turn runs, filled by whoever watches the inbox, in order and not yet taken. ``at_work``
    are the calls whose subagents work now, each in one of the ``desks``.
    """

    def __init__(
        self,
        store: Store,
        head: Head,
        window: Sequence[Numbered],
        *,
        resumed: bool,
        budget: Budget = NO_LIMITS,
        blobs: Blobs | None = None,
    ) -> None:
        if head.turn is None:
            raise ValueError("A journal is kept for a turn.")
        self._store = store
        self._budget = budget
        self._blobs = blobs
        self._lock = asyncio.Lock()
        self._window = list(window)
        self.head = head
        self.resumed = resumed
        self.arrived: list[Inbound] = []
        self.at_work: set[str] = set()
        self.desks = asyncio.Semaphore(MOST_AT_WORK)
        self._news = asyncio.Event()
        self._is_growing = False
        self._noticed: dict[str, int] = {}

    @property
    def store(self) -> Store:
        return self._store

    @property
    def blobs(self) -> Blobs | None:
        return self._blobs

    @property
    def settings(self) -> ChatSettings:
        """Of the chat that the turn is for."""
        return self.head.settings

    @property
    def turn(self) -> Turn:
        if self.head.turn is None:
            raise ValueError("This turn has ended.")
        return self.head.turn

    def entries(self) -> list[Entry]:
        """All the model may see."""
        return [each.entry for each in self._window]

    def numbered(self) -> list[Numbered]:
        return self._window

    def witnessed(self) -> list[Entry]:
        """What people said and tools found, as far as it is shown: where an address may have been read."""
        return self.entries()

    def own(self) -> list[Entry]:
        """This turn's steps: its entries, but for those that only bring files along."""
        return [entry for entry in self.all_own() if not isinstance(entry, Fetched)]

    def all_own(self) -> list[Entry]:
        """This turn's entries."""
        turn = self.turn
        own = (each.entry for each in self._window if each.seq >= turn.first)
        return [entry for entry in own if not isinstance(entry, Summary) and entry.turn == turn.id]

    def is_askers_word(self, inbound: Inbound) -> bool:
        """Whether it adds to this turn: plain words of the one who asked, or a correction of what they said in it."""
        if inbound.command or inbound.sender.id != self.turn.asker.id:
            return False
        if inbound.kind == "edit":
            own = self.own()
            return bool(turn_with(inbound, own)) and says_anew(inbound, own)
        return inbound.kind == "message"

    def added(self) -> tuple[Inbound, ...]:
        """What has arrived that steers this turn; nothing while pieces of an album or of a split paste come in."""
        steering = self.settings.meanwhile == "steer" or any(each.said for each in self.turn.approvals)
        if self._is_growing or not steering:
            return ()
        return tuple(filter(self.is_askers_word, self.arrived))

    def saw(self, inbox: Iterable[Inbound]) -> None:
        """What a look into the inbox found, for ``arrived``."""
        before = len(self.arrived)
        self._waits(inbox)
        self._is_growing = still_arriving(self.arrived) and len(self.arrived) > before

    def _waits(self, inbox: Iterable[Inbound]) -> None:
        """The inbox may have been read before our last step took of it."""
        self.arrived = [inbound for inbound in inbox if inbound.key not in self.turn.inbox]
        self._news.set()

    async def news(self) -> None:
        """Wait until the inbox was looked into again."""
        self._news.clear()
        await self._news.wait()

    async def append(
        self,
        *entries: Entry,
        taken: Sequence[Inbound] = (),
        settings: ChatSettings | None = None,
        unseen: Reply | None = None,
        reserve: int = 0,
        spend: tuple[Spend, ...] = (),
    ) -> None:
        """Store the next step; a stored step is progress, so the count of failures begins anew.

        ``unseen`` is a reply that was paid for and is no entry. ``reserve`` are millionths of a dollar to be held for
        what comes next, ``spend`` what else is counted. Raises BudgetExceeded, with nothing stored, where a limit
        stands against one of these two.
        """
        keys = tuple(inbound.key for inbound in taken)
        async with self._lock:
            paid = entries if unseen is None else (*entries, Answered(self.turn.id, unseen))
            turn = replace(self._billed(*paid), failures=0, inbox=self.turn.inbox + keys)
            turn, held = self._budget.reserve(turn, self.head.conversation, reserve)
            change = Change(entries=entries, turn=turn, take=keys, settings=settings, spend=(*held, *spend))
            await self._commit(change)
        self._waits(self.arrived)

    async def update(self, **changes: Any) -> None:
        """Store changed fields of the turn."""
        async with self._lock:
            await self._commit(Change(turn=replace(self.turn, **changes)))

    async def decide(self, approvals: tuple[Approval, ...], taken: Sequence[Inbound], allowed: dict[str, int]) -> None:
        """Store what was decided, and what decided it, in one write. ``allowed`` is who need not be
        asked about what for a while."""
        keys = tuple(inbound.key for inbound in taken)
        async with self._lock:
            turn = replace(self.turn, approvals=approvals, inbox=self.turn.inbox + keys)
            settings = replace(self.head.settings, allowed=self.head.settings.allowed | allowed) if allowed else None
            await self._commit(Change(turn=turn, take=keys, settings=settings))
        self._waits(self.arrived)

    async def set_part(self, index: int, part: Part) -> None:
        """Store where one part of the reply stands; parts are begun in order."""
        async with self._lock:
            parts = (*self.turn.parts[:index], part, *self.turn.parts[index + 1 :])
            await self._commit(Change(turn=replace(self.turn, parts=parts)))

    async def set_whole(self, indices: Sequence[int]) -> None:
        """Store which parts of the reply show their final text, if that says anything new."""
        parts = tuple(replace(part, whole=part.whole or index in indices) for index, part in enumerate(self.turn.parts))
        if parts != self.turn.parts:
            await self.update(parts=parts)

    async def set_files_part(self, index: int, part: Part) -> None:
        """The same for a batch of files."""
        files = (*self.turn.files[:index], part, *self.turn.files[index + 1 :])
        await self.update(files=files)

    async def fold(self, summary: Summary, *entries: Entry) -> None:
        """Show the summary in place of all up to ``summary.upto`` from now on; ``entries`` are stored with it."""
        async with self._lock:
            since = summary.upto + 1
            await self._commit(Change(entries=(summary, *entries), turn=self._billed(summary, *entries), since=since))
        self._window = [each for each in self._window if each.seq >= since]

    async def move_place(self, chat: str) -> None:
        """The chat has a new id, and none of the messages sent so far is known there."""
        approvals = tuple(replace(each, part=None, file=None) for each in self.turn.approvals)
        place = moved_place(self.turn.place, chat)
        await self.update(place=place, parts=(), files=(), status=None, approvals=approvals)

    async def end(self, *, closed: bool = False, fresh: bool = False, summary: Summary | None = None) -> Turn:
        """The turn is over: its messages are answered, its bill is settled, the lease is free. Returns it as it ended.

        ``closed``: the chat can not be written to, so nothing that waits in it is worth a cent. ``fresh``: nothing so
        far is shown again. ``summary``: shown from now on in place of all up to ``summary.upto``.
        """
        waiting = await self._store.inbox(self.head.conversation) if closed else []
        done = (*self.turn.inbox, *(inbound.key for inbound in waiting))
        async with self._lock:
            turn = self._timed(self._billed(*((summary,) if summary else ())))
            usual = lately(self.head.settings.turn_cost, turn.total.cost)
            settings = replace(self.head.settings, closed=closed, turn_cost=usual)
            spend = self._budget.settle(turn, self.head.conversation, cut=self._was_cut(closed=closed))
            await self._commit(
                Change(
                    entries=(summary,) if summary else (),
                    since=self.head.last + 1 if fresh else summary.upto + 1 if summary else None,
                    done=done,
                    settings=settings,
                    spend=spend,
                    release=True,
                )
            )
        return turn

    def notice(self, what: Literal["sign", "token"], now: float) -> None:
        """The person has seen the first sign of life, or the model said its first word: noted with the next write."""
        times = self.turn.times
        if times is not None and not getattr(times, what):
            self._noticed.setdefault(what, times.since(now))

    def _timed(self, turn: Turn) -> Turn:
        return replace(turn, times=replace(turn.times, **self._noticed)) if turn.times and self._noticed else turn

    def missing(self) -> int:
        """Millionths of a dollar that the turn's reservation lacks for one more call like those before, of its own or
        of each subagent at work."""
        return self._budget.missing(self.turn, max(len(self.at_work), 1))

    def _billed(self, *entries: Entry) -> Turn:
        """The turn with what it took to make these entries on its bill: results bring what subagents did for them."""
        delegated = {} if any(isinstance(entry, Returned) for entry in entries) else self.turn.delegated
        return replace(self.turn, bill=sum(map(bill_of, entries), start=self.turn.bill), delegated=delegated)

    # Turns that subagents have inside a call of this one (bot/nested.py).

    async def let_in(self, call: str, bill: Bill, *, hold: bool) -> None:
        """Note what this call's subagent has cost so far; with ``hold`` the money for its next model call is reserved
        too. Raises LeaseLost where the conversation is another worker's by now, and BudgetExceeded."""
        self.at_work.add(call)
        async with self._lock:
            turn = replace(self.turn, delegated={**self.turn.delegated, call: bill})
            await self._reserve(turn, self.missing() if hold else 0)

    async def count(self, call: str, bill: Bill) -> None:
        """The same after each of its model calls, which are progress of this turn as well."""
        async with self._lock:
            await self._reserve(replace(self.turn, delegated={**self.turn.delegated, call: bill}, failures=0))

    async def hold(self) -> None:
        """Reserve what is missing for the next model call of each subagent. Raises BudgetExceeded."""
        async with self._lock:
            if more := self.missing():
                await self._reserve(self.turn, more)

    async def _reserve(self, turn: Turn, more: int = 0) -> None:
        turn, spend = self._budget.reserve(turn, self.head.conversation, more)
        await self._commit(Change(turn=turn, spend=spend))

    def _was_cut(self, *, closed: bool) -> bool:
        """In the middle of a model call, whose cost nobody tells: by a person, or as the chat was closed."""
        last = self.own()[-1]
        return (isinstance(last, Ended) and last.why == "stopped") or (closed and isinstance(last, Asked | Returned))

    async def release(self, **changes: Any) -> None:
        """Give the conversation free with its turn, so changed, still open: another invocation goes on."""
        async with self._lock:
            await self._commit(Change(turn=replace(self.turn, **changes), release=True))

    # A provider's call ids are unique in a reply, not always in a conversation: the turn makes them so.

    def named(self, call: str) -> str:
        return f"{self.turn.id}.{self.head.last}.{call}"

    async def started(self, call: str) -> None:
        """Raises LeaseLost where somebody else has started it: a worker that was stalled finds out here, and only here,
        before it does a second time what was done meanwhile."""
        if not await self._store.put_tool_run(self.head.conversation, ToolRun(call=self.named(call))):
            raise LeaseLost(f"The call {call} was started by somebody else.")

    async def finished(self, call: str, result: Json, files: tuple[File, ...] = ()) -> None:
        await self._store.put_tool_run(self.head.conversation, ToolRun(self.named(call), result, files))

    async def tool_runs(self, calls: Sequence[str]) -> dict[str, ToolRun]:
        """What is stored of these calls of this turn, by the ids given."""
        known = await self._store.tool_runs(self.head.conversation, [self.named(call) for call in calls])
        return {call: known[self.named(call)] for call in calls if self.named(call) in known}

    async def result_of(self, turn: str, call: str) -> Json | None:
        """What a call returned in a turn of this conversation, also in one that is no longer shown."""
        return result_in(self.entries(), turn, call) or result_in(await self.record(), turn, call)

    async def record(self) -> list[Entry]:
        """All of the conversation's, also what is no longer shown."""
        return [each.entry for each in await self._store.record(self.head.conversation, 1)]

    @property
    def memory(self) -> Memory:
        return Memory(self._store)

    @property
    def files(self) -> Files:
        return Files(self._blobs, self.head.conversation, self.record)

    async def _commit(self, change: Change) -> None:
        """A commit cut half-way would leave us not knowing where the record ends, so it never is."""
        await uncut(self._write(change))

    async def _write(self, change: Change) -> None:
        before = self.head
        if change.turn is not None:
            change = replace(change, turn=self._timed(change.turn))
        self.head = await self._store.commit(before, change)
        self._window += [Numbered(before.last + i, entry) for i, entry in enumerate(change.entries, start=1)]
