"""A bot whose parts are real, but for a channel that remembers: for tests of what one wake does."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from msgspec.structs import replace

from bot.access import Access
from bot.adapters.anthropic_model import AnthropicModel, client
from bot.adapters.sqlite_store import SQLiteStore
from bot.agent import Agent, Limits
from bot.budget import Budget
from bot.clock import SystemClock
from bot.context import Marks
from bot.deadline import Deadline
from bot.errors import StoreUnavailable
from bot.folding import Folding
from bot.messages import Attachment, Entry, Head, Inbound, Place
from bot.policies.window import Window
from bot.ports import Change, Clock, Model, Policy
from bot.prompt import PromptBuilder
from bot.toolkit import Toolbox, ToolFault, tool
from bot.tools.calculator import calculator
from bot.turn import Outcome, Turns
from simulator.script import Line, ScriptedModel, scripted
from tests.recorder import WAIT, RecordingChannel
from tests.say import HERE, inbound

EVERYONE = Access(everyone=True)


class WatchedStore(SQLiteStore):
    """Tells when the inbox is looked into, and fails at the steps that ``fails_at`` names."""

    def __init__(self, path: Path, clock: Clock) -> None:
        super().__init__(path, clock)
        self.fails_at: Callable[[Change], bool] = lambda change: False
        self._looked = asyncio.Event()

    async def commit(self, head: Head, change: Change) -> Head:
        if self.fails_at(change):
            raise StoreUnavailable("overloaded")
        return await super().commit(head, change)

    async def inbox(self, conversation: str) -> list[Inbound]:
        inbox = await super().inbox(conversation)
        self._looked.set()
        return inbox

    async def looked(self) -> None:
        self._looked.clear()
        await self._looked.wait()


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

        return Toolbox([book, look, calculator])


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
) -> AsyncIterator[Bot]:
    clock = clock or SystemClock()
    async with scripted(*script) as model, client("key", model.url) as anthropic:
        store, channel, wake, deeds = (
            WatchedStore(path, clock),
            RecordingChannel(longest, marks=marks),
            NoWake(),
            Deeds(),
        )
        toolbox = deeds.tools()
        prompts = PromptBuilder("Be kind.", toolbox, 1_000)
        folding = Folding(prompts, policy(AnthropicModel(anthropic, "claude-haiku-5-5")), at or Marks())
        agent = Agent(
            model=AnthropicModel(anthropic, "claude-sonnet-5-5"),
            prompts=prompts,
            toolbox=toolbox,
            clock=clock,
            limits=limits or Limits(),
            folding=folding,
            cheaper=AnthropicModel(anthropic, cheaper) if cheaper else None,
        )
        turns = Turns(
            store=store,
            wake=wake,
            channels={"telegram": channel},
            agent=agent,
            access=access,
            clock=clock,
            folding=folding,
            budget=budget or Budget(),
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
