"""A channel that remembers what it was asked to show, and fails where a test says so."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from bot.errors import FileRefused, MessageGone, SendError
from bot.messages import Attachment, Button, File, Person, Place, Quote
from bot.ports import Manner, Pace, Rendered, Upload

WAIT = 10.0  # seconds; a bound, not a pause


class RecordingChannel:
    """The Channel port. ``shown`` is what a person sees now, in order; ``calls`` is everything that was asked,
    ``buttons`` those under the message touched last; ``files`` are what people sent, by id, ``uploads`` what we sent;
    ``names`` are those of people, by id.

    ``faults`` maps a method to errors for its next calls; ``arrives`` makes a failing send arrive all the same.
    """

    stop_button = False
    shows_tasks = False
    feedback = False
    typing_interval = 4.0
    pace = Pace(interval=0.0, burst=3)
    group_pace = Pace(interval=0.0, burst=3)

    def __init__(self, longest: int = 1_000, *, marks: bool = False) -> None:
        self._longest = longest
        self._marks = marks
        self._by_mark: dict[str, str] = {}
        self._changed = asyncio.Condition()
        self.messages: dict[str, str] = {}
        self.buttons: tuple[Button, ...] = ()
        self.places: list[Place] = []
        self.replied_to: list[str] = []
        self.manners: list[Manner] = []
        self.files: dict[str, bytes] = {}
        self.uploads: list[Upload] = []
        self.said_before: tuple[Quote, ...] = ()
        self.admins: set[str] = set()
        self.names: dict[str, str] = {}
        self.calls: list[tuple[str, str]] = []
        self.faults: dict[str, list[SendError | FileRefused]] = {}
        self.arrives = False

    @property
    def shown(self) -> list[str]:
        return list(self.messages.values())

    def render(self, markdown: str, *, growing: bool = False) -> list[Rendered]:
        step = self._longest
        return [Rendered(markdown[at : at + step]) for at in range(0, len(markdown), step)] or [Rendered("…")]

    async def typing(self, place: Place, active: bool = True) -> None:
        await self._note("typing" if active else "quiet", "")
        if fault := self._fault("typing"):
            raise fault

    def drafts(self, place: Place) -> bool:
        return False

    async def draft(self, place: Place, part: Rendered, mark: str) -> None:
        await self._note("draft", part.text)

    def batches(self, files: Sequence[File]) -> list[tuple[File, ...]]:
        return [(file,) for file in files]

    async def introduce(self, place: Place, person: Person) -> Person:
        return person

    async def administers(self, place: Place, person: Person) -> bool:
        return person.id in self.admins

    async def earlier(self, place: Place, before: str) -> tuple[Quote, ...]:
        return self.said_before

    async def named(self, place: Place, words: str) -> str:
        for user, name in self.names.items():
            words = words.replace(f"@{user} ", f"@{name} ({user}) ")
        return words

    async def fetch(self, place: Place, attachment: Attachment) -> bytes:
        await self._note("fetch", attachment.id)
        if fault := self._fault("fetch"):
            raise fault
        if attachment.id not in self.files:
            raise FileRefused("The file is no longer there.")
        return self.files[attachment.id]

    async def send_files(self, place: Place, files: Sequence[Upload], manner: Manner) -> str:
        self.uploads += files
        shown = Rendered(", ".join(f"[{file.name}] {file.caption}".rstrip() for file in files))
        if fault := self._fault("send_files"):
            if self.arrives:
                await self.send(place, shown, manner)
            raise fault
        return await self.send(place, shown, manner)

    async def greet(self, place: Place, person: Person, choices: Sequence[Button] = ()) -> None:
        await self._note("greet", person.id)
        self.buttons = tuple(choices)

    async def send(self, place: Place, part: Rendered, manner: Manner) -> str:
        await self._note("send", part.text)
        fault = self._fault("send")
        if fault and not self.arrives:
            raise fault
        message_id = str(len(self.calls))
        self.messages[message_id] = part.text
        self.buttons = part.buttons
        self.places.append(place)
        self._by_mark[manner.mark] = message_id
        self.replied_to.append(manner.reply_to)
        self.manners.append(manner)
        if fault:
            raise fault
        return message_id

    async def edit(self, place: Place, message_id: str, part: Rendered, *, growing: bool = False) -> None:
        await self._note("edit", part.text)
        if fault := self._fault("edit"):
            raise fault
        if message_id not in self.messages:
            raise MessageGone("message to edit not found")
        self.messages[message_id] = part.text
        self.buttons = part.buttons

    async def delete(self, place: Place, message_id: str) -> None:
        await self._note("delete", message_id)
        self.messages.pop(message_id, None)

    async def find(self, place: Place, mark: str) -> str | None:
        if fault := self._fault("find"):
            raise fault
        found = self._by_mark.get(mark) if self._marks else None
        return found if found in self.messages else None

    async def close(self) -> None:
        pass

    async def until(self, seen: Callable[["RecordingChannel"], bool]) -> None:
        """Wait until what was asked satisfies ``seen``; fails after a bounded time with what was asked."""
        async with self._changed:
            with suppress(TimeoutError):
                async with asyncio.timeout(WAIT):
                    await self._changed.wait_for(lambda: seen(self))
        assert seen(self), self.calls

    def _fault(self, method: str) -> SendError | FileRefused | None:
        faults = self.faults.get(method)
        return faults.pop(0) if faults else None

    async def _note(self, method: str, text: str) -> None:
        self.calls.append((method, text))
        async with self._changed:
            self._changed.notify_all()
