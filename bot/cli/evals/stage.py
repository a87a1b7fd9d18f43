"""One run's own world: the real bot on a store and files of its own, and a channel that only remembers."""

import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from bot.adapters.file_blobs import FileBlobs
from bot.adapters.file_reader import FileReader
from bot.adapters.local_wake import LocalWake
from bot.attachments import EXCERPT
from bot.channels.plain import PlainChannel
from bot.cli.evals.tasks import Earlier, Script, Speaker, Step, Task, moment, with_changes
from bot.cli.evals.transcript import calls_in
from bot.cli.wiring import Local, local
from bot.clock import SystemClock
from bot.errors import ConfigError, FileRefused
from bot.intake import accept
from bot.messages import (
    Answered,
    Asked,
    Attachment,
    Button,
    Entry,
    Inbound,
    Json,
    Numbered,
    Person,
    Place,
    Profile,
    Quote,
    Reminder,
    Reply,
)
from bot.ports import Change, Manner, Pace, Rendered, Upload
from bot.profiles import change, chat_key
from bot.reminding import Reminders
from bot.toolkit import Tool
from bot.tools.files import TYPES
from handlers.settings import Settings
from handlers.workshop import Refit

PLATFORM = "eval"
PORT = "{port}"
YES, NO = "ok:", "no:"
"""How the data of the buttons begins that allow a call and refuse it (bot/approvals.py)."""
MOST_QUESTIONS = 20
"""Rounds of asking for leave in one step."""
LEASE_MS = 60_000

PLAIN = Settings()
NEUTRAL = {
    "telegram_bot_token": "",
    "slack_bot_token": "",
    "kabar_budget_person_day": 0.0,
    "kabar_budget_guest_day": 0.0,
    "kabar_budget_chat_day": 0.0,
    "kabar_budget_day": 0.0,
    "kabar_budget_month": 0.0,
    "kabar_messages_per_minute": 0,
    "kabar_guest_tools": PLAIN.kabar_guest_tools,
    "kabar_ask_first": PLAIN.kabar_ask_first,
    "kabar_never_ask": PLAIN.kabar_never_ask,
    "kabar_approvers": PLAIN.kabar_approvers,
}
"""Settings that would have a task measure its deployment: they are a task's own, and these where it says nothing."""


class ShiftedClock(SystemClock):
    """The real clock, as if it had been ``began`` (Unix time) when it was made."""

    def __init__(self, began: float) -> None:
        self._ahead = began - time.time()

    def now(self) -> float:
        return super().now() + self._ahead


class EvalChannel(PlainChannel):
    """``buttons`` are those that can be tapped now, by message; ``sent`` are the files that came, by name; ``asked`` is
    what the bot asked leave for, as a person reads it."""

    typing_interval = 60.0
    pace = Pace(interval=0.0, burst=3)
    group_pace = pace

    def __init__(self, files: dict[str, bytes]) -> None:
        self._files = files
        self.buttons: dict[str, tuple[Button, ...]] = {}
        self.sent: dict[str, bytes] = {}
        self.asked: list[str] = []

    def render(self, markdown: str, *, growing: bool = False) -> list[Rendered]:
        return [Rendered(markdown)]

    async def fetch(self, place: Place, attachment: Attachment) -> bytes:
        if attachment.id not in self._files:
            raise FileRefused("The file is no longer there.")
        return self._files[attachment.id]

    async def typing(self, place: Place, active: bool = True) -> None:
        pass

    async def send(self, place: Place, part: Rendered, manner: Manner) -> str:
        self.buttons[manner.mark] = part.buttons
        if any(button.data.startswith(YES) for button in part.buttons):
            self.asked.append(part.text)
        return manner.mark

    async def send_files(self, place: Place, files: Sequence[Upload], manner: Manner) -> str:
        self.sent |= {file.name: file.data for file in files}
        return manner.mark

    async def edit(self, place: Place, message_id: str, part: Rendered, *, growing: bool = False) -> None:
        self.buttons[message_id] = part.buttons

    async def delete(self, place: Place, message_id: str) -> None:
        self.buttons.pop(message_id, None)

    async def find(self, place: Place, mark: str) -> str | None:
        return None

    async def close(self) -> None:
        pass


class Outcome(Struct, frozen=True):
    """What a run left behind, for checks. ``entries`` are of each conversation, ``shown`` is all that anybody read of
    the bot, ``sent`` are the files it sent, as text, ``asked`` is what it asked leave for; ``memory`` and ``zones`` are
    by the names of people and groups."""

    script: Script
    entries: dict[str, tuple[Numbered, ...]]
    shown: str
    sent: dict[str, str]
    asked: tuple[str, ...]
    memory: dict[str, tuple[str, ...]]
    zones: dict[str, str]
    reminders: tuple[Reminder, ...]

    def calls(self) -> list[tuple[Json, Json | None]]:
        """Every tool call in order, with its result; None where there is none."""
        return [pair for numbered in self.entries.values() for pair in calls_in([each.entry for each in numbered])]

    def local(self, at: int) -> datetime:
        """A Unix time as the first person's clock shows it."""
        return datetime.fromtimestamp(at, zone_of(self.script))

    def moment(self, written: Any) -> datetime:
        """A time that the task names."""
        return moment(written, zone_of(self.script))


class Stage:
    """A task's people, and what they say to the bot. What was said before it begins are turns named EARLIER."""

    EARLIER = "earlier-"

    def __init__(self, task: Task, bot: Local, channel: EvalChannel, blobs: FileBlobs, port: int) -> None:
        self._task = task
        self._script = task.script
        self._bot = bot
        self._channel = channel
        self._blobs = blobs
        self._port = port
        self._said = 0
        self.places: dict[str, Place] = {}
        """Of every conversation, by its key."""

    async def prepare(self) -> None:
        """What is so when the task begins: who people are, what is remembered, set and was said."""
        for key, speaker in self._script.people.items():
            await change(self._bot.store, person_id(key), lambda known, by=speaker: _introduced(known, by))  # type: ignore[misc]
        for whose, facts in self._script.memory.items():
            owner = person_id(whose) if whose in self._script.people else chat_key(f"{PLATFORM}:group-{whose}")
            await change(self._bot.store, owner, lambda known, them=facts: replace(known, facts=them))  # type: ignore[misc]
        reminders = Reminders(self._bot.store, _Unscheduled())
        for each in self._script.reminders:
            place, person = self._place(each.by, each.group), self._person(each.by)
            await reminders.add(
                place, person, each.text, each.when, each.repeat, asks=each.asks, now=self._bot.clock.now()
            )
        for turn, before in enumerate(self._script.earlier):
            await self._told(before, f"{self.EARLIER}{turn}")

    async def _told(self, before: Earlier, turn: str) -> None:
        said = await self._inbound(Step(say=before.say, by=before.by, group=before.group), 1)
        head = await self._bot.store.claim(said.conversation, turn, int(self._bot.clock.now() * 1000) + LEASE_MS)
        assert head is not None  # noqa: S101 - nobody else is here yet
        reply = Reply([{"type": "text", "text": before.answer}], "end_turn")
        await self._bot.store.commit(head, Change((Asked(turn, (said,)), Answered(turn, reply)), release=True))

    async def play(self, step: Step, number: int) -> list[Entry]:
        """Say it, and answer what the bot asks leave for; the entries that this leaves in the record."""
        inbound = await self._inbound(step, number)
        before = await self._last(inbound.conversation)
        await self._hear(inbound)
        for _ in range(MOST_QUESTIONS):
            if not (taps := self._taps(step, inbound)):
                break
            for tap in taps:
                await self._hear(tap)
        entries = await self._bot.store.record(inbound.conversation, before + 1)
        return [each.entry for each in entries]

    async def _last(self, conversation: str) -> int:
        record = await self._bot.store.record(conversation, 1)
        return record[-1].seq if record else 0

    async def _hear(self, inbound: Inbound) -> None:
        await accept(inbound, self._bot.store, self._bot.wake, self._bot.clock)
        assert isinstance(self._bot.wake, LocalWake)  # noqa: S101 - local() has no other
        await self._bot.wake.drain()

    def _taps(self, step: Step, asked: Inbound) -> list[Inbound]:
        word = YES if step.approve else NO
        shown = [button.data for buttons in self._channel.buttons.values() for button in buttons]
        taps = [data for data in shown if data.startswith(word)]
        return [replace(self._blank(asked.place, asked.sender), kind="tap", data=data) for data in taps]

    async def _inbound(self, step: Step, number: int) -> Inbound:
        place = self._place(step.by, step.group)
        text = step.say.replace("{number}", str(number)).replace(PORT, str(self._port)).strip()
        command, _, rest = text[1:].partition(" ") if text.startswith("/") else ("", "", text)
        quote = Quote(step.quote.text, step.quote.author) if step.quote else None
        files = tuple([await self._attachment(name, place.conversation) for name in step.files])
        blank = self._blank(place, self._person(step.by))
        return replace(blank, text=rest.strip(), command=command.lower(), quote=quote, attachments=files)

    def _blank(self, place: Place, sender: Person) -> Inbound:
        self._said += 1
        id = f"{self._said:06d}"
        return Inbound(place, id, id, sender, int(self._bot.clock.now()), native_id=id)

    async def _attachment(self, name: str, conversation: str) -> Attachment:
        """A text is as it is once it was read, without a process to read it; a file beside the task is read."""
        given = self._script.files[name]
        if isinstance(given, dict):
            return Attachment("document", name, name)
        text = given.replace(PORT, str(self._port))
        kind = TYPES.get(name.rpartition(".")[2].lower(), "text/plain")
        blob = await self._blobs.put(conversation, text.encode(), kind)
        return Attachment(
            "document", name, name, kind, len(text.encode()), blob=blob, excerpt=text[:EXCERPT], chars=len(text)
        )

    def _person(self, by: str) -> Person:
        key = by or next(iter(self._script.people))
        speaker = self._script.people[key]
        return Person(person_id(key), speaker.name, speaker.language)

    def _place(self, by: str, group: str) -> Place:
        chat = f"group-{group}" if group else by or next(iter(self._script.people))
        conversation = f"{PLATFORM}:{chat}"
        return self.places.setdefault(conversation, Place(conversation, chat, group=bool(group), title=group))

    async def outcome(self, shown: str) -> Outcome:
        store = self._bot.store
        entries = {key: tuple(await store.record(key, 1)) for key in self.places}
        people = {key: await store.profile(person_id(key)) for key in self._script.people}
        groups = {place.title: await store.profile(chat_key(key)) for key, place in self.places.items() if place.group}
        return Outcome(
            script=self._script,
            entries=entries,
            shown=shown,
            sent={name: data.decode("utf-8", "replace") for name, data in self._channel.sent.items()},
            asked=tuple(self._channel.asked),
            memory={name: profile.facts for name, profile in {**groups, **people}.items()},
            zones={name: profile.zone for name, profile in people.items()},
            reminders=tuple([each for key in self.places for each in await store.reminders(key)]),
        )


@asynccontextmanager
async def staged(task: Task, settings: Settings, refit: Refit) -> AsyncIterator[Stage]:
    """The real bot for one run of a task; what it keeps is thrown away at the end."""
    script = task.script
    members = [person_id(key) for key, each in script.people.items() if each.role == "member"]
    given = {
        name: (task.folder / each["from"]).read_bytes() for name, each in script.files.items() if isinstance(each, dict)
    }
    with tempfile.TemporaryDirectory() as folder:
        settings = replace(
            with_changes(replace(settings, **NEUTRAL), script.settings),
            kabar_owner=members[0],
            kabar_allowed_users=",".join(members),
            kabar_data=str(Path(folder, "eval.sqlite3")),
            kabar_files=str(Path(folder, "files")),
        )
        channel, clock = EvalChannel(given), ShiftedClock(_beginning(script))
        known: set[str] = set()
        async with _web(script) as (port, tools):
            bot = local(
                settings, {PLATFORM: channel}, tools, grace=0, clock=clock, refit=_allowed(script, refit, known)
            )
            async with bot as here:
                if unknown := set(script.tools) - known:
                    raise ConfigError(f"No tools: {', '.join(sorted(unknown))}.")
                stage = Stage(task, here, channel, FileBlobs(settings.kabar_files), port)
                await stage.prepare()
                yield stage


@asynccontextmanager
async def _web(script: Script) -> AsyncIterator[tuple[int, Sequence[Tool]]]:
    """The port of the task's own web, and the tools that open it; the real ones where it has none."""
    if not script.web:
        yield 0, ()
        return
    from simulator.web import Page, Sites, stand_in_web

    async with stand_in_web(Sites({})) as web:
        web.sites.sites = {
            site: {path: Page(html.replace(PORT, str(web.port))) for path, html in pages.items()}
            for site, pages in script.web.items()
        }
        yield web.port, web.tools(FileReader(None))


def _allowed(script: Script, refit: Refit, known: set[str]) -> Refit:
    """Only the tools that the task names; ``known`` becomes the names of all there are."""

    def refitted(tools: Sequence[Tool]) -> Sequence[Tool]:
        known.update(tool.name for tool in tools)
        return refit([tool for tool in tools if tool.name in script.tools or not script.tools])

    return refitted


def _beginning(script: Script) -> float:
    return moment(script.now, zone_of(script)).timestamp() if script.now else time.time()


def zone_of(script: Script) -> ZoneInfo:
    """Of the first person: the times in a task are theirs."""
    return ZoneInfo(next(iter(script.people.values())).zone or "UTC")


def _introduced(known: Profile, speaker: Speaker) -> Profile:
    role = "guest" if speaker.role == "guest" else ""
    return replace(known, name=speaker.name, language=speaker.language, zone=speaker.zone, role=role)


def person_id(key: str) -> str:
    return f"{PLATFORM}:{key}"


class _Unscheduled:
    """What is set beforehand is looked up in the store; a task is over before it is due."""

    async def schedule(self, reminder: Reminder) -> None:
        pass

    async def cancel(self, conversation: str, id: str) -> None:
        pass
