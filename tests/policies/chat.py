"""One long chat: the whole bot on a file, with a model that is asked over HTTP and answers by a function."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bot.adapters.anthropic_model import AnthropicModel, client
from bot.adapters.sqlite_store import SQLiteStore
from bot.clock import SystemClock
from bot.context import Marks
from bot.deadline import Deadline
from bot.messages import Entry, Json, Summary
from bot.policies.summarise import Summarise
from bot.policies.window import Window
from bot.ports import Policy
from bot.toolkit import Tool, Toolbox
from bot.turn import Turns
from simulator.model import ModelServer
from simulator.model_reply import Step
from simulator.script import reply, text
from simulator.serving import serve
from tests.bots import NoWake, turns_of
from tests.recorder import RecordingChannel
from tests.say import HERE, inbound

CHAT, CHEAP = "claude-sonnet-5-5", "claude-haiku-5-5"
SMALL = Marks(high=4_500, low=3_000, full=12_000)

Answers = Callable[[Json], Step]


@dataclass
class Chat:
    """``prompts`` and ``folds`` are what the chat's model and the cheap one were asked."""

    store: SQLiteStore
    turns: Turns
    channel: RecordingChannel
    server: ModelServer
    prompts: list[Json]
    folds: list[Json]
    said: int = field(default=0)

    async def say(self, words: str, seconds: float = 60, command: str = "") -> str:
        """Say it, and return what the bot answered last."""
        self.said += 1
        await self.store.receive(inbound(words, self.said, command=command))
        await self.turns.handle(HERE.conversation, Deadline(seconds))
        return self.channel.shown[-1]

    async def entries(self) -> list[Entry]:
        return [each.entry for each in await self.store.record(HERE.conversation, 1)]

    async def summaries(self) -> list[Summary]:
        return [entry for entry in await self.entries() if isinstance(entry, Summary)]


@asynccontextmanager
async def chat(
    path: Path,
    answer: Answers = lambda request: reply(text("Noted.")),
    fold: Answers | None = None,
    *,
    policy: Callable[[AnthropicModel, AnthropicModel], Policy] | None = None,
    marks: Marks = SMALL,
    tools: tuple[Tool, ...] = (),
) -> AsyncIterator[Chat]:
    """With a ``fold`` the policy is ``summarise``, answered by it, without one it is ``window``. ``policy`` makes
    another of the chat's model and the cheap one."""
    prompts: list[Json] = []
    folds: list[Json] = []

    def brain(request: Json) -> Step:
        cheap = request["model"] == CHEAP and fold is not None
        (folds if cheap else prompts).append(request)
        return fold(request) if cheap and fold else answer(request)

    server = ModelServer(brain, smallest_prefix=0)
    clock, toolbox, channel = SystemClock(), Toolbox(tools), RecordingChannel()
    async with serve(server.app) as url, client("key", url) as anthropic:
        strong, cheap = AnthropicModel(anthropic, CHAT), AnthropicModel(anthropic, CHEAP)
        chosen = policy(strong, cheap) if policy else Summarise(cheap, 100_000) if fold else Window()
        store = SQLiteStore(path, clock)
        turns, _ = turns_of(store, {"telegram": channel}, strong, toolbox, clock, NoWake(), policy=chosen, at=marks)
        try:
            yield Chat(store, turns, channel, server, prompts, folds)
        finally:
            store.close()
    if server.refused:
        raise AssertionError(f"The model refused a request: {server.refused[0]}")


def words(request: Json) -> str:
    """Everything a request says, in one text."""
    return "\n".join(
        str(block.get("text") or block.get("content") or "")
        for message in request["messages"]
        for block in message["content"]
    )
