"""The lines of an export, brought into a store.

What is there is never changed: a record that begins as the one in the file goes on as that does, so that an import that
was cut can be done again, and any other is left as it is and named. Only ``replaces`` deletes it before.

    claim ─> files, entries a few at a time ─> reminders scheduled and stored ─> the last entries, settings, release

A conversation is whole with its last write. Whatever came before it is found again and passed over.
"""

import uuid
from collections.abc import Iterable
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from bot.archive import ConversationLine, EntryLine, FileLine, Line, ProfileLine, ReminderLine
from bot.errors import Retry
from bot.messages import Entry, Head, Numbered, Reminder, encode
from bot.nested import names_in
from bot.ports import Archive, Blobs, Change, Clock, Scheduler
from bot.reminding import is_waiting

LEASE = 60_000
"""Milliseconds after which a conversation is free again whose import was killed."""

AT_ONCE = 20
BYTES_AT_ONCE = 3_000_000
"""Entries in one write, and their bytes; a transaction holds 100 items and 4 MB, and an entry may be several items."""


class Imported(Struct):
    """What an import did so far. ``new`` and ``unchanged`` count conversations; ``differ`` names those that have
    another record already and ``busy`` those that somebody works on: both are left as they are. ``known`` counts
    profiles that were there and are left."""

    new: int = 0
    unchanged: int = 0
    entries: int = 0
    files: int = 0
    profiles: int = 0
    known: int = 0
    reminders: int = 0
    differ: list[str] = []
    busy: list[str] = []


class Import:
    """One import of lines in which ``bot.archive.damages`` finds nothing. ``scheduler``: None where the store itself is
    looked through for what is due."""

    def __init__(
        self, store: Archive, blobs: Blobs, scheduler: Scheduler | None, clock: Clock, *, replaces: bool = False
    ) -> None:
        self.done = Imported()
        self._store = store
        self._blobs = blobs
        self._scheduler = scheduler
        self._clock = clock
        self._replaces = replaces
        self._open: _Conversation | None = None
        self._left: set[str] = set()
        """Conversations that are not to be touched, nor is what is nested in them brought."""

    async def run(self, lines: Iterable[Line]) -> None:
        """Raises Retry where it was cut: do it again."""
        try:
            for line in lines:
                await self._take(line)
        finally:
            if self._open is not None:
                with suppress(Retry):
                    await self._open.release()

    async def _take(self, line: Line) -> None:
        match line:
            case ReminderLine() | FileLine() | EntryLine():
                if self._open is not None:
                    await self._into(self._open, line)
                return
        if self._open is not None:
            await self._finish(self._open)
        match line:
            case ConversationLine():
                self._open = await self._begun(line)
            case ProfileLine():
                await self._profile(line)

    async def _begun(self, line: ConversationLine) -> "_Conversation | None":
        """None where it is not to be touched."""
        if line.above in self._left:
            self._left.add(line.key)
            return None
        head = await self._claim(line.key)
        if head is not None and self._replaces and (head.last or head.turn):
            await self._forget(head)
            head = await self._claim(line.key)
        conversation = _Conversation(self._store, line, head) if head is not None else None
        if conversation is not None and conversation.head.turn is None:
            return conversation
        self._left.add(line.key)
        self.done.busy.append(line.key)
        if conversation is not None:
            await conversation.release()
        return None

    async def _claim(self, key: str) -> Head | None:
        return await self._store.claim(key, uuid.uuid4().hex, int(self._clock.now() * 1000) + LEASE)

    async def _forget(self, head: Head) -> None:
        """With what is nested in it: the file brings its own."""
        for first in range(1, head.last + 1, AT_ONCE):
            some = await self._store.entries(head.conversation, first, min(first + AT_ONCE - 1, head.last))
            for name in names_in(head.conversation, some):
                if await self._store.head(name) is not None and (nested := await self._claim(name)):
                    await self._forget(nested)
        for reminder in await self._store.reminders(head.conversation):
            if self._scheduler is not None:
                await self._scheduler.cancel(head.conversation, reminder.id)
        await self._blobs.forget(head.conversation)
        await self._store.forget(head)

    async def _into(self, conversation: "_Conversation", line: ReminderLine | FileLine | EntryLine) -> None:
        match line:
            case ReminderLine():
                conversation.reminders.append(line.reminder)
            case FileLine() if conversation.is_new:
                await self._store.renew(conversation.head, int(self._clock.now() * 1000) + LEASE)
                await self._blobs.put(line.of, line.data, line.media_type)
                self.done.files += 1
            case EntryLine():
                if not await conversation.add(Numbered(line.seq, line.entry)):
                    self._left.add(conversation.line.key)
                    self.done.differ.append(conversation.line.key)
                    self._open = None
                    await conversation.release()

    async def _finish(self, conversation: "_Conversation") -> None:
        if conversation.is_new:
            for reminder in conversation.reminders:
                await self._remind(reminder)
            self.done.new += 1
        else:
            self.done.unchanged += 1
        await conversation.end()
        self.done.entries += conversation.added
        self._open = None

    async def _remind(self, reminder: Reminder) -> None:
        if self._scheduler is not None and is_waiting(reminder):
            await self._scheduler.schedule(reminder)
        await self._store.put_reminder(reminder)
        self.done.reminders += 1

    async def _profile(self, line: ProfileLine) -> None:
        known = await self._store.profile(line.of)
        if replace(known, version=0) == line.profile:
            return
        if known.version and not self._replaces:
            self.done.known += 1
            return
        if await self._store.keep_profile(line.of, replace(line.profile, version=known.version)):
            self.done.profiles += 1
        else:  # somebody wrote it at this moment
            self.done.known += 1


class _Conversation:
    """One conversation, claimed, on its way into the store."""

    def __init__(self, store: Archive, line: ConversationLine, head: Head) -> None:
        self.line = line
        self.head = head
        self.reminders: list[Reminder] = []
        self.added = 0
        self._store = store
        self._before = head.last
        self._known: dict[int, Entry] = {}
        self._waiting: list[Entry] = []
        self._bytes = 0

    @property
    def is_new(self) -> bool:
        """Whether something of it is not there yet; one without a record has only its settings."""
        return self.line.last > self._before or (self._before == 0 and self.line.settings != self.head.settings)

    async def add(self, numbered: Numbered) -> bool:
        """False where another entry stands there already."""
        if numbered.seq <= self._before:
            return await self._known_at(numbered.seq) == numbered.entry
        size = len(encode(numbered.entry))
        if self._waiting and (len(self._waiting) == AT_ONCE or self._bytes + size > BYTES_AT_ONCE):
            self.head = await self._store.commit(self.head, Change(tuple(self._waiting)))
            self._waiting, self._bytes = [], 0
        self._waiting.append(numbered.entry)
        self._bytes += size
        self.added += 1
        return True

    async def end(self) -> None:
        """The last entries are kept for this write: without it the next import finds something to do."""
        if not self.is_new:
            await self.release()
            return
        change = Change(tuple(self._waiting), since=self.line.since, settings=self.line.settings, release=True)
        self.head = await self._store.commit(self.head, change)

    async def release(self) -> None:
        await self._store.commit(self.head, Change(turn=self.head.turn, release=True))

    async def _known_at(self, seq: int) -> Entry | None:
        if seq not in self._known:
            some = await self._store.entries(self.line.key, seq, min(seq + AT_ONCE - 1, self._before))
            self._known = {each.seq: each.entry for each in some}
        return self._known.get(seq)
