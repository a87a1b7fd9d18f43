"""Worker processes that die, stall or lose their database at a chosen moment, for tests that choose every moment.

A process touches the world only through what is here: its store, its channels, its model, its tools. Each touch is one
step. A killed process touches nothing any more, whatever its code still tries, so it leaves behind what a real one
would: nothing it had not done by then.
"""

import asyncio
import collections
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from functools import partial
from typing import Any, Literal, ParamSpec, TypeVar

from msgspec import Struct

from bot.errors import StoreUnavailable
from bot.messages import (
    Attachment,
    Button,
    Counter,
    File,
    Head,
    Inbound,
    Numbered,
    Person,
    Place,
    Profile,
    Quote,
    Reminder,
    Reply,
    Spent,
    ToolRun,
)
from bot.ports import Change, Channel, Manner, Model, OnText, Prompt, Receipt, Rendered, Store, Upload, Wake
from tests.virtual import Elsewhere

P = ParamSpec("P")
T = TypeVar("T")


class Killed(BaseException):
    """Not an Exception: nothing but the end of the process may answer it."""


How = Literal["killed before", "killed after", "cancelled", "cut off before", "cut off after", "stalled"]


Of = Literal["store", "queue", "platform", "model", "tool"]


class Fate(Struct, frozen=True):
    """What happens to a process at its step ``at``, counted from 1; of one kind of steps only, where ``of`` names it.

    ``killed``: it dies, before or after the step has had its effect. ``cancelled``: it is asked to end, as at a stop of
    the program. ``cut off``: its next call of the store fails, with or without having had its effect. ``stalled``: it
    does nothing more until it is told to go on, and knows nothing of it.
    """

    at: int
    how: How
    of: Of | None = None


class Process:
    """One worker process, made for one wake."""

    def __init__(self, fate: Fate | None = None) -> None:
        self.stalled = False
        self.has_stalled = False
        self.held_back = False
        """Whether a call of the platform had to wait while it stalled."""
        self._fate = fate
        self._steps: collections.Counter[Of | None] = collections.Counter()
        self._dead = False
        self._died = asyncio.Event()
        self._going = asyncio.Event()
        self._going.set()
        self._main: asyncio.Task[Any] | None = None

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Raises Killed where the process died on the way."""
        self._main = main = asyncio.ensure_future(work)
        death = asyncio.ensure_future(self._died.wait())
        await asyncio.wait([main, death], return_when=asyncio.FIRST_COMPLETED)
        while self._dead and not main.done():
            main.cancel()
            await asyncio.wait([main], timeout=1)
        death.cancel()
        if self._dead:
            await asyncio.wait([main])
            main.cancelled() or main.exception()
            raise Killed
        return main.result()

    def kill(self) -> None:
        self._dead = True
        self._died.set()
        self.go_on()

    def cancel(self) -> None:
        if self._main is not None:
            self._main.cancel()

    def spare(self) -> None:
        """What has not happened to it yet will not."""
        if not self.stalled:
            self._fate = None

    def go_on(self) -> None:
        """After a stall."""
        self.stalled = False
        self._going.set()

    async def step(self, of: Of, work: Callable[[], Awaitable[T]]) -> T:
        await asyncio.sleep(0)  # whatever else is ready gets its turn, as it would while a real call waits
        self._steps.update([None, of])
        how = self._due(of)
        if how == "stalled":
            self.stalled = self.has_stalled = True
            self._going.clear()
        self.held_back |= self.stalled and of == "platform"
        await self._going.wait()
        if how == "killed before":
            self.kill()
        self._check_alive()
        if how == "cancelled":
            self.cancel()
        if how == "cut off before":
            raise StoreUnavailable("scripted: the request was lost")
        result = await work()
        if how == "killed after":
            self.kill()
        self._check_alive()
        if how == "cut off after":
            raise StoreUnavailable("scripted: the answer was lost")
        return result

    def _due(self, of: Of) -> How | None:
        fate = self._fate
        if (
            fate is None
            or self._steps[fate.of] < fate.at
            or (fate.how.startswith("cut off") and of not in ("store", "queue"))
        ):
            return None
        self._fate = None
        return fate.how

    def _check_alive(self) -> None:
        if self._dead:
            raise Killed


class ProcessStore:
    """The Store port on a real store, which does its waiting elsewhere."""

    def __init__(self, process: Process, store: Store, elsewhere: Elsewhere) -> None:
        self._process = process
        self._store = store
        self._elsewhere = elsewhere

    async def receive(self, inbound: Inbound) -> Receipt:
        return await self._do(self._store.receive, inbound)

    async def claim(self, conversation: str, owner: str, until_ms: int) -> Head | None:
        return await self._do(self._store.claim, conversation, owner, until_ms)

    async def renew(self, head: Head, until_ms: int) -> None:
        await self._do(self._store.renew, head, until_ms)

    async def commit(self, head: Head, change: Change) -> Head:
        return await self._do(self._store.commit, head, change)

    async def inbox(self, conversation: str) -> list[Inbound]:
        return await self._do(self._store.inbox, conversation)

    async def head(self, conversation: str) -> Head | None:
        return await self._do(self._store.head, conversation)

    async def record(self, conversation: str, since: int) -> list[Numbered]:
        return await self._do(self._store.record, conversation, since)

    async def put_tool_run(self, conversation: str, run: ToolRun) -> bool:
        return await self._do(self._store.put_tool_run, conversation, run)

    async def tool_runs(self, conversation: str, calls: Sequence[str]) -> dict[str, ToolRun]:
        return await self._do(self._store.tool_runs, conversation, calls)

    async def spent(self, counters: Sequence[Counter]) -> dict[Counter, Spent]:
        return await self._do(self._store.spent, counters)

    async def knows(self, conversation: str) -> bool:
        return await self._do(self._store.knows, conversation)

    async def profile(self, person: str) -> Profile:
        return await self._do(self._store.profile, person)

    async def profiles(self, people: Iterable[str]) -> dict[str, Profile]:
        return await self._do(self._store.profiles, people)

    async def role(self, person: str) -> str:
        return await self._do(self._store.role, person)

    async def keep_profile(self, person: str, profile: Profile) -> bool:
        return await self._do(self._store.keep_profile, person, profile)

    async def kept(self, name: str) -> bytes | None:
        return await self._do(self._store.kept, name)

    async def keep(self, name: str, data: bytes) -> None:
        await self._do(self._store.keep, name, data)

    async def reminders(self, conversation: str) -> list[Reminder]:
        return await self._do(self._store.reminders, conversation)

    async def put_reminder(self, reminder: Reminder) -> None:
        await self._do(self._store.put_reminder, reminder)

    async def delete_reminder(self, conversation: str, id: str) -> bool:
        return await self._do(self._store.delete_reminder, conversation, id)

    async def forget(self, head: Head) -> None:
        await self._do(self._store.forget, head)

    async def overdue(self, before: int) -> list[str]:
        return await self._do(self._store.overdue, before)

    async def unused(self, before: int) -> list[str]:
        return await self._do(self._store.unused, before)

    async def _do(self, call: Callable[P, Coroutine[Any, Any, T]], *args: P.args, **kw: P.kwargs) -> T:
        async def work() -> T:
            return self._elsewhere.call(call, *args, **kw)

        return await self._process.step("store", work)


class ProcessWake:
    def __init__(self, process: Process, wake: Wake) -> None:
        self._process = process
        self._wake = wake

    async def wake(self, conversation: str, reason: str) -> None:
        await self._process.step("queue", partial(self._wake.wake, conversation, reason))


class ProcessChannel:
    """The Channel port on a platform that outlives the process."""

    def __init__(self, process: Process, channel: Channel) -> None:
        self._process = process
        self._channel = channel
        self.stop_button = channel.stop_button
        self.shows_tasks = channel.shows_tasks
        self.feedback = channel.feedback
        self.typing_interval = channel.typing_interval
        self.pace = channel.pace
        self.group_pace = channel.group_pace

    def render(self, markdown: str, *, growing: bool = False) -> list[Rendered]:
        return self._channel.render(markdown, growing=growing)

    def drafts(self, place: Place) -> bool:
        return self._channel.drafts(place)

    async def draft(self, place: Place, part: Rendered, mark: str) -> None:
        await self._process.step("platform", partial(self._channel.draft, place, part, mark))

    def batches(self, files: Sequence[File]) -> list[tuple[File, ...]]:
        return self._channel.batches(files)

    async def introduce(self, place: Place, person: Person) -> Person:
        return await self._process.step("platform", partial(self._channel.introduce, place, person))

    async def administers(self, place: Place, person: Person) -> bool:
        return await self._process.step("platform", partial(self._channel.administers, place, person))

    async def named(self, place: Place, words: str) -> str:
        return await self._process.step("platform", partial(self._channel.named, place, words))

    async def earlier(self, place: Place, before: str) -> tuple[Quote, ...]:
        return await self._process.step("platform", partial(self._channel.earlier, place, before))

    async def fetch(self, place: Place, attachment: Attachment) -> bytes:
        return await self._process.step("platform", partial(self._channel.fetch, place, attachment))

    async def greet(self, place: Place, person: Person, choices: Sequence[Button] = ()) -> None:
        await self._process.step("platform", partial(self._channel.greet, place, person, choices))

    async def typing(self, place: Place, active: bool = True) -> None:
        await self._process.step("platform", partial(self._channel.typing, place, active))

    async def send(self, place: Place, part: Rendered, manner: Manner) -> str:
        return await self._process.step("platform", partial(self._channel.send, place, part, manner))

    async def send_files(self, place: Place, files: Sequence[Upload], manner: Manner) -> str:
        return await self._process.step("platform", partial(self._channel.send_files, place, files, manner))

    async def edit(self, place: Place, message_id: str, part: Rendered, *, growing: bool = False) -> None:
        await self._process.step("platform", partial(self._channel.edit, place, message_id, part, growing=growing))

    async def delete(self, place: Place, message_id: str) -> None:
        await self._process.step("platform", partial(self._channel.delete, place, message_id))

    async def find(self, place: Place, mark: str) -> str | None:
        return await self._process.step("platform", partial(self._channel.find, place, mark))

    async def close(self) -> None:
        await self._process.step("platform", self._channel.close)


class ProcessModel:
    def __init__(self, process: Process, model: Model) -> None:
        self._process = process
        self._model = model

    async def reply(self, prompt: Prompt, on_text: OnText) -> Reply:
        return await self._process.step("model", partial(self._model.reply, prompt, on_text))
