"""Everything that is kept, or the chats that are asked for, as the lines of an export, one after another.

Left out is what only this deployment can use: leases, the inbox (messages that wait for an answer, and by which a late
repeat is known), calls under way, spending, what servers offered, codes for linking accounts. A turn that runs ends in
the export as if it had been stopped there. What settings hold, secrets above all, never reaches a store, and so never
an export.
"""

from collections.abc import AsyncIterator, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from bot.archive import ConversationLine, EndLine, EntryLine, FileLine, Header, Line, ProfileLine, ReminderLine
from bot.files import kept_in
from bot.history import tool_calls
from bot.keeping import blob_folder
from bot.messages import Answered, Asked, Ended, Entry, Head, Inbound, Numbered, Returned, encode
from bot.nested import names_in
from bot.ports import Archive, Blobs
from bot.profiles import chat_key
from bot.schema import SCHEMA
from bot.version import VERSION

AT_ONCE = 20
"""Entries read at once."""

CODES = "code:"
"""Begins the names under which codes for linking accounts are kept, among the people: whoever reads one may use it."""


class Exported(Struct):
    """What went into an export so far. ``running``: the conversations in which a turn was cut; ``waiting``: those in
    which a message is left out as no turn has begun with it, some hundreds at most; ``missing``: files that are named
    in a record and kept no more."""

    lines: int = 0
    conversations: int = 0
    entries: int = 0
    files: int = 0
    profiles: int = 0
    reminders: int = 0
    running: list[str] = []
    waiting: list[str] = []
    missing: list[str] = []


class Export:
    """One export. Memory is that of one file or of a few entries, and the names of all that is exported."""

    def __init__(self, store: Archive, blobs: Blobs, now: int) -> None:
        self.done = Exported()
        self._store = store
        self._blobs = blobs
        self._now = now
        self._people: set[str] = set()
        self._written: set[str] = set()

    async def lines(self, chat: str = "") -> AsyncIterator[bytes]:
        """All lines, each with its end. ``chat``: only the conversation with this key, those whose key goes on behind
        it (``slack:T1:C1`` has one for each thread), and what is known of it and of the people in it; "" for all.
        No line at all where no conversation is called so."""
        wanted = [key async for key in self._store.every_conversation() if not chat or _is_of(key, chat)]
        if chat and not wanted:
            return
        yield encode(Header(VERSION, SCHEMA, self._now)) + b"\n"
        self.done.lines = 1
        async for line in self._all(chat, sorted(wanted)):
            yield encode(line) + b"\n"
            self.done.lines += 1
        yield encode(EndLine(self.done.lines)) + b"\n"

    async def _all(self, chat: str, wanted: Sequence[str]) -> AsyncIterator[Line]:
        for key in wanted:  # what is nested in one sorts behind it, and came with it then
            if key not in self._written:
                async for line in self._conversation(key):
                    yield line
        unanswered = set(await self._store.overdue(self._now + 1)) - set(self.done.running)
        self.done.waiting = sorted(key for key in unanswered if not chat or _is_of(key, chat))
        people = self._people if chat else {id async for id in self._store.every_profile()}
        async for line in self._profiles(people):
            yield line

    async def _conversation(self, key: str, above: str = "", homes: tuple[str, ...] = ()) -> AsyncIterator[Line]:
        """It, and after it all that is nested in it. ``homes``: conversations whose files may be named in it too."""
        head = await self._store.head(key)
        if head is None:
            return
        cut = await self._cut(head) if not above else None
        if cut:
            self.done.running.append(key)
        yield ConversationLine(key, head.last + bool(cut), head.since, head.settings, above)
        self._written.add(key)
        self.done.conversations += 1
        for reminder in await self._store.reminders(key):
            self._people.add(reminder.person.id)
            yield ReminderLine(reminder)
            self.done.reminders += 1
        homes = tuple(filter(None, (key, head.settings.moved_from, *homes)))
        nested: list[str] = []
        seen: set[str] = set()
        async for numbered in self._record(head, cut):
            async for file in self._files(numbered.entry, homes, seen):
                yield file
            yield EntryLine(numbered.seq, numbered.entry)
            self.done.entries += 1
            self._people.update(_people(numbered.entry))
            nested += names_in(key, [numbered])
        self._people.add(chat_key(key))
        for name in nested:
            async for line in self._conversation(name, key, homes):
                yield line

    async def _cut(self, head: Head) -> Ended | None:
        """What ends a turn that has no answer yet."""
        if head.turn is None or head.turn.first > head.last:
            return None
        for newest in await self._store.entries(head.conversation, head.last, head.last):
            if isinstance(newest.entry, Ended) or (isinstance(newest.entry, Answered) and not tool_calls(newest.entry)):
                return None
        return Ended(head.turn.id, "stopped")

    async def _record(self, head: Head, cut: Ended | None) -> AsyncIterator[Numbered]:
        for first in range(1, head.last + 1, AT_ONCE):
            for numbered in await self._store.entries(head.conversation, first, min(first + AT_ONCE - 1, head.last)):
                yield numbered
        if cut:
            yield Numbered(head.last + 1, cut)

    async def _files(self, entry: Entry, homes: tuple[str, ...], seen: set[str]) -> AsyncIterator[FileLine]:
        for kept in kept_in([entry]):
            for key, kind in ((kept.key, kept.media_type), (kept.text_key, "text/plain")):
                if not key or key in seen:
                    continue
                seen.add(key)
                of = next((home for home in homes if key.startswith(f"{blob_folder(home)}/")), "")
                data = await self._blobs.get(key) if of else None
                if data is None:
                    self.done.missing.append(key)
                    continue
                yield FileLine(key, of, kind, data)
                self.done.files += 1

    async def _profiles(self, people: set[str]) -> AsyncIterator[ProfileLine]:
        wanted, done = sorted(people, reverse=True), set[str]()
        while wanted:
            id = wanted.pop()
            profile = await self._store.profile(id)
            if id in done or not profile.version or id.startswith(CODES):
                continue
            done.add(id)
            if profile.account and profile.account not in done:
                wanted.append(profile.account)
            yield ProfileLine(id, replace(profile, version=0))
            self.done.profiles += 1


def _is_of(key: str, chat: str) -> bool:
    return key == chat or key.startswith(f"{chat}:")


def _people(entry: Entry) -> Iterator[str]:
    said: tuple[Inbound, ...] = entry.said if isinstance(entry, Asked | Returned) else ()
    for inbound in said:
        yield inbound.sender.id
        if inbound.sender.account:
            yield inbound.sender.account
