"""The real channel against the local Slack, on one clock that a test moves."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from bot.channels.slack.calls import OneToken
from bot.channels.slack.home import Welcome
from bot.channels.slack.send import SlackChannel
from bot.messages import Json, Person, Place
from bot.ports import Manner
from simulator.app import Simulator, serve, slack_base_url
from simulator.deliver import QUICK
from simulator.slack import ANN_DM, BOT_TOKEN, GENERAL, TEAM, Slack
from simulator.world import Fault, Message
from tests.clock import FakeClock

ANN = Person(f"slack:{TEAM}:U0ANN")


def welcome(language: str) -> Welcome:
    prompts = (("Plan a trip", "Plan a trip to Bromo"), ("What can you do?", "What can you do?"))
    return Welcome("Kabar", (f"*Hello* in {language}", "Write to me."), "To begin with", prompts)


def manner(mark: str = "t1.0", *, growing: bool = False, quiet: bool = False) -> Manner:
    return Manner(ANN, mark, growing=growing, quiet=quiet)


@dataclass
class Stage:
    simulator: Simulator
    url: str
    clock: FakeClock
    channels: list[SlackChannel] = field(default_factory=list)

    @property
    def slack(self) -> Slack:
        return self.simulator.slack

    def channel(self, token: str = BOT_TOKEN) -> SlackChannel:
        """As a process has it that knows nothing yet."""
        self.channels.append(
            SlackChannel(OneToken(token), slack_base_url(self.url), greeting=welcome, now=self.clock.now)
        )
        return self.channels[-1]

    async def thread(self, chat: str = GENERAL, text: str = "question") -> Place:
        root = await self.slack.say(chat, "ann", text)
        return Place(f"slack:{TEAM}:{chat}:{root.id}", chat, root.id, TEAM, group=chat == GENERAL)

    def ours(self, chat: str = GENERAL) -> list[Message]:
        return [message for message in self.slack.messages(chat) if message.is_bot]

    def calls(self) -> list[str]:
        """The methods that were called, and what they were refused with."""
        return [f"{call.method} {call.error}".strip() for call in self.simulator.world.calls]

    def params(self, method: str) -> list[Json]:
        return [call.params for call in self.simulator.world.calls if call.method == method]

    def fault(self, method: str, error: str, **more: int) -> None:
        self.simulator.world.add_fault(Fault("slack", method, "error", error=error, **{"status": 200, **more}))


DIRECT = Place(f"slack:{TEAM}:{ANN_DM}", ANN_DM, team=TEAM)


@asynccontextmanager
async def staged() -> AsyncIterator[Stage]:
    clock = FakeClock()
    simulator = Simulator(pace=QUICK, now=clock.now)
    simulator.slack.echo = False
    async with serve(simulator) as url:
        stage = Stage(simulator, url, clock)
        try:
            yield stage
        finally:
            for channel in stage.channels:
                await channel.close()
