"""A bot whose parts are real, but for a channel that remembers: for tests of what one wake does."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from msgspec.structs import replace

from bot.access import Access
from bot.adapters.anthropic_files import AnthropicFiles
from bot.adapters.anthropic_model import AnthropicModel, client
from bot.adapters.file_blobs import FileBlobs
from bot.adapters.file_reader import FileReader
from bot.adapters.local_sandbox import LocalSandbox
from bot.adapters.sqlite_store import SQLiteStore
from bot.agent import Agent, Limits
from bot.approvals import Gate
from bot.attachments import Attachments
from bot.beginning import Beginnings
from bot.budget import Budget
from bot.clock import SystemClock
from bot.context import Marks
from bot.deadline import Deadline
from bot.doorstep import Doorstep
from bot.errors import StoreUnavailable
from bot.examining import Examine, nothing_examined
from bot.folding import Folding
from bot.illustrated import Illustrated
from bot.listening import Listening
from bot.mcp.prompts import NO_PROMPTS, Prompts
from bot.messages import Attachment, Entry, Head, Inbound, Place, Reminder, ToolRun
from bot.models import facts_of
from bot.pages import Pages
from bot.people import People
from bot.policies.window import Window
from bot.ports import Change, Channel, Clock, Model, Policy, ProviderFiles, Store, Wake
from bot.produced import Produced
from bot.prompt import PromptBuilder
from bot.provided import server_tools
from bot.reminding import Reminders
from bot.subagents import BASE, Subagent
from bot.toolkit import Toolbox, ToolFault, tool
from bot.tools.calculator import calculator
from bot.tools.delegate import delegate_tool
from bot.tools.files import list_files, read_file
from bot.tools.reopen import reopen
from bot.tools.run_python import run_python
from bot.tools.upload_files import upload_files
from bot.turn import Outcome, Turns
from simulator.script import Line, ScriptedModel, scripted
from tests.recorder import WAIT, RecordingChannel
from tests.say import HERE, inbound

EVERYONE = Access(everyone=True)
MODEL = "claude-sonnet-5-5"


class WatchedStore(SQLiteStore):
    """Tells when the inbox is looked into and what is stored, and fails at the steps that ``fails_at`` names."""

    def __init__(self, path: Path, clock: Clock) -> None:
        super().__init__(path, clock)
        self.fails_at: Callable[[Change], bool] = lambda change: False
        self._looked = asyncio.Event()
        self._stored = asyncio.Event()

    async def commit(self, head: Head, change: Change) -> Head:
        if self.fails_at(change):
            raise StoreUnavailable("overloaded")
        stored = await super().commit(head, change)
        self._stored.set()
        return stored

    async def put_tool_run(self, conversation: str, run: ToolRun) -> bool:
        first = await super().put_tool_run(conversation, run)
        self._stored.set()
        return first

    async def holds(self, **rows: int) -> None:
        """Until so many rows are in these tables."""
        async with asyncio.timeout(WAIT):
            while any(self.count(table) != wanted for table, wanted in rows.items()):
                await self._stored.wait()
                self._stored.clear()

    def count(self, table: str) -> int:
        (rows,) = self._database.execute(f"SELECT count(*) FROM {table}").fetchone()
        return int(rows)

    async def inbox(self, conversation: str) -> list[Inbound]:
        inbox = await super().inbox(conversation)
        self._looked.set()
        return inbox

    async def looked(self) -> None:
        self._looked.clear()
        await self._looked.wait()


class Unscheduled:
    """Nothing is ever fired."""

    async def schedule(self, reminder: Reminder) -> None:
        pass

    async def cancel(self, conversation: str, id: str) -> None:
        pass


class NoWake:
    """Remembers who was to be woken."""

    def __init__(self) -> None:
        self.woken: list[str] = []

    async def wake(self, conversation: str, reason: str) -> None:
        self.woken.append(conversation)


class AnHourAhead(SystemClock):
    def __init__(self, hours: int = 1) -> None:
        self._ahead = hours * 3_600 + 60

    def now(self) -> float:
        return super().now() + self._ahead


@dataclass
class Deeds:
    """Tools with effects a test can count, and a gate that holds one of them."""

    done: list[str] = field(default_factory=list)
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    def tools(self) -> Toolbox:
        @tool(writes=True, seconds=5)
        async def book(what: Annotated[str, "What"]) -> str:
            """Book something, once."""
            self.done.append(what)
            if what == "nothing left":
                raise ToolFault("Sold out.")
            if what == "stuck":
                self.reached.set()
                await self.gate.wait()
            return f"booked {what}"

        @tool(seconds=30)
        async def look(at: Annotated[str, "Where"]) -> str:
            """Look somewhere."""
            self.done.append(at)
            if at == "long":
                self.reached.set()
                await self.gate.wait()
            return f"saw {at}"

        return Toolbox([book, look, calculator, reopen])


@dataclass
class Bot:
    store: WatchedStore
    model: ScriptedModel
    channel: RecordingChannel
    wake: NoWake
    deeds: Deeds
    turns: Turns
    agent: Agent

    async def hears(self, *inbounds: Inbound) -> None:
        for each in inbounds:
            await self.store.receive(each)

    async def wakes(self, conversation: str = HERE.conversation, seconds: float = 60) -> Outcome:
        return await asyncio.wait_for(self.turns.handle(conversation, Deadline(seconds)), WAIT)

    async def entries(self, conversation: str = HERE.conversation) -> list[Entry]:
        return [each.entry for each in await self.store.record(conversation, 1)]

    async def looks_twice(self) -> None:
        """Until the running turn has looked into its inbox once more, whatever it was at."""
        async with asyncio.timeout(WAIT):
            for _ in range(2):
                await self.store.looked()

    async def wakes_and_hears(self, *inbounds: Inbound) -> None:
        """A turn that hears these while one of its calls is held at the gate, which then opens."""
        running = asyncio.create_task(self.wakes())
        await asyncio.wait_for(self.deeds.reached.wait(), WAIT)
        await self.hears(*inbounds)
        await self.looks_twice()
        self.deeds.gate.set()
        await running


class MemoryBlobs:
    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    async def put(self, conversation: str, data: bytes, media_type: str) -> str:
        key = f"{conversation}/{sha256(data).hexdigest()[:16]}"
        self._kept[key] = data
        return key

    async def get(self, key: str) -> bytes | None:
        return self._kept.get(key)

    async def forget(self, conversation: str) -> None:
        self._kept = {key: data for key, data in self._kept.items() if key.partition("/")[0] != conversation}


@dataclass(frozen=True)
class Scout:
    """The subagent of these tests, named "scout"; with the tools of the bot where it is given no others."""

    tools: Toolbox | None = None
    seconds: int = 60
    limits: Limits = field(default_factory=Limits)

    def hired(
        self, toolbox: Toolbox, model: Model, clock: Clock, listening: Listening, gate: Gate, cheaper: Model | None
    ) -> Toolbox:
        """The same tools, and the one that gives it tasks."""
        own = self.tools or toolbox
        prompts = PromptBuilder("Scout ahead.", own, 1_000, base=BASE)
        folding, alone = Folding(prompts, Window(), Marks()), replace(gate, unattended=True)
        agent = Agent(model, prompts, own, clock, self.limits, folding, listening, alone, cheaper)
        known = (toolbox.find(each["name"]) for each in toolbox.definitions())
        subagent = Subagent("scout", "Looks at places.", agent, self.seconds)
        return Toolbox([*filter(None, known), delegate_tool([subagent], clock)])


def turns_of(
    store: Store,
    channels: Mapping[str, Channel],
    model: Model,
    toolbox: Toolbox,
    clock: Clock,
    wake: Wake,
    *,
    files: Path | None = None,
    policy: Policy | None = None,
    at: Marks | None = None,
    limits: Limits | None = None,
    access: Access = EVERYONE,
    budget: Budget | None = None,
    cheaper: Model | None = None,
    models: Mapping[str, Model] = MappingProxyType({}),
    follows: bool = False,
    gate: Gate | None = None,
    scout: Scout | None = None,
    remote: ProviderFiles | None = None,
    their_prompts: Prompts = NO_PROMPTS,
    keep: int = 0,
    examine: Examine = nothing_examined,
) -> tuple[Turns, Agent]:
    """The core wired as ``handlers/workshop.py`` does it; files are in this folder, or nowhere. With ``remote`` the
    provider runs code, and searches."""
    budget, blobs = budget or Budget(), FileBlobs(files) if files else MemoryBlobs()
    attachments = Attachments(channels, blobs, FileReader(None), clock)
    people = People(store, channels, access, clock)
    listening = Listening(people, attachments)
    if scout:
        toolbox = scout.hired(toolbox, Illustrated(model, blobs), clock, listening, gate or Gate(), cheaper)
    theirs = server_tools(facts_of(MODEL)) if remote else []
    prompts = PromptBuilder("Be kind.", toolbox, 1_000, server_tools=theirs)
    folding = Folding(prompts, policy or Window(), at or Marks())
    models = {name: Illustrated(each, blobs) for name, each in models.items()}
    agent = Agent(
        Illustrated(model, blobs),
        prompts,
        toolbox,
        clock,
        limits or Limits(),
        folding,
        listening,
        gate or Gate(),
        cheaper,
        models,
    )
    reminders = Reminders(store, Unscheduled())
    pages = Pages(store, blobs, Doorstep(store, wake, access, clock), reminders, budget, clock, people)
    beginnings = Beginnings(
        store, clock, budget, listening, pages, models=list(models), follows=follows, prompts=their_prompts
    )
    turns = Turns(
        store=store,
        wake=wake,
        channels=channels,
        agent=agent,
        beginnings=beginnings,
        clock=clock,
        folding=folding,
        blobs=blobs,
        budget=budget,
        reminders=reminders,
        produced=Produced(remote),
        keep=keep,
        examine=examine,
    )
    return turns, agent


@asynccontextmanager
async def bot_on(
    path: Path,
    *script: Line,
    access: Access = EVERYONE,
    limits: Limits | None = None,
    policy: Callable[[Model], Policy] = lambda model: Window(),
    at: Marks | None = None,
    longest: int = 1_000,
    marks: bool = False,
    clock: Clock | None = None,
    budget: Budget | None = None,
    cheaper: str = "",
    models: Sequence[str] = (),
    follows: bool = False,
    tools: Toolbox | None = None,
    gate: Gate | None = None,
    scout: Scout | None = None,
    their_prompts: Prompts = NO_PROMPTS,
    channels: Sequence[str] = ("telegram",),
    channel: RecordingChannel | None = None,
    code: bool = False,
    examine: Examine = nothing_examined,
) -> AsyncIterator[Bot]:
    """``code``: the provider runs code; tools for it, and the one of ours that runs it elsewhere, are there."""
    clock = clock or SystemClock()
    async with scripted(*script) as model, client("key", model.url) as anthropic:
        remote = AnthropicFiles(anthropic) if code else None
        if remote:
            hands = (run_python(LocalSandbox(), FileReader(None)), upload_files(remote))
            tools = Toolbox([calculator, list_files, read_file, reopen, *hands])
        store, channel, wake, deeds = (
            WatchedStore(path, clock),
            channel or RecordingChannel(longest, marks=marks),
            NoWake(),
            Deeds(),
        )
        turns, agent = turns_of(
            store,
            dict.fromkeys(channels, channel),
            AnthropicModel(anthropic, MODEL),
            tools or deeds.tools(),
            clock,
            wake,
            files=path.parent / "files",
            policy=policy(AnthropicModel(anthropic, "claude-haiku-5-5")),
            at=at,
            limits=limits,
            access=access,
            budget=budget,
            cheaper=AnthropicModel(anthropic, cheaper) if cheaper else None,
            models={name: AnthropicModel(anthropic, name) for name in models},
            follows=follows,
            gate=gate,
            scout=scout,
            remote=remote,
            their_prompts=their_prompts,
            examine=examine,
        )
        try:
            yield Bot(store, model, channel, wake, deeds, turns, agent)
        finally:
            store.close()


def results(request: dict[str, Any]) -> list[dict[str, Any]]:
    return [block for block in request["messages"][-1]["content"] if block["type"] == "tool_result"]


def words(request: dict[str, Any]) -> Sequence[str]:
    return [block["text"] for message in request["messages"] for block in message["content"] if block["type"] == "text"]


def edit(line: str, number: int) -> Inbound:
    return replace(inbound(line, number), kind="edit", id=f"e{number}.1", order=f"{number:012d}.1")


def tap(data: str, number: int = 50, **more: Any) -> Inbound:
    return replace(inbound("", number, **more), kind="tap", id=f"c{number}", data=data)


def photo(number: int, caption: str = "") -> Inbound:
    return inbound(caption, number, album="g1", attachments=(Attachment(kind="photo", description=f"photo {number}"),))


def news(kind: Any, data: str = "", place: Place = HERE) -> Inbound:
    return replace(inbound("", 0, place=place), kind=kind, id=f"{kind}{data}", data=data)
