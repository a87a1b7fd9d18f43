"""Kill the worker at every request it makes: just before it is done, and done but unanswered.

One conversation without trouble is recorded first. Each of its requests is then a point: the so-manyeth of its label.
For each point and phase a conversation of its own is held, and its worker dies exactly there.
"""

import asyncio
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from chaos.conversation import Conversation
from chaos.observer import Exchange
from chaos.plan import Hold, Plan
from chaos.scripts import Errands, LongTurn
from simulator.world import Platform

Phase = Literal["before", "middle", "after"]


class Point(Struct, frozen=True):
    """The ``ordinal``-th request of this label, counted from 1. ``chunk``: after so many pieces of its answer."""

    label: str
    ordinal: int
    phase: Phase
    chunk: int = 0

    @property
    def name(self) -> str:
        return f"{self.label}#{self.ordinal}:{self.phase}"


class Kills(Plan):
    """``most`` points, spread evenly over all there are, where not all are wanted."""

    fresh = True
    """So that every conversation makes the same requests, those of a cold start included."""
    script: type[LongTurn] = LongTurn

    def __init__(self, platform: Platform, most: int | None = None) -> None:
        self.name = f"{platform}:kill"
        self._platform = platform
        self._most = most
        self._recorded: list[Point] = []

    async def conversations(self, hold: Hold) -> Sequence[Conversation]:
        await hold(self._conversation(1, "recorded", None))
        points = self._recorded
        if self._most is not None:
            points = [points[index * len(points) // self._most] for index in range(self._most)]
        return [self._conversation(number, point.name, point) for number, point in enumerate(points, 2)]

    async def meet(self, exchange: Exchange) -> None:
        conversation = exchange.conversation
        if conversation is None:
            await exchange.pass_on()
            return
        conversation.calls[exchange.call.label] += 1
        ordinal = conversation.calls[exchange.call.label]
        point: Point | None = conversation.rules
        if point is None:
            await self._pass_on(exchange)
            self._record(exchange, ordinal)
        elif (point.label, point.ordinal) == (exchange.call.label, ordinal) and conversation.troubled_at is None:
            await _kill(point, exchange)
        else:
            await self._pass_on(exchange)

    def _conversation(self, number: int, name: str, point: Point | None) -> Conversation:
        return Conversation(number, self._platform, f"{self.name} {name}", self.script(self._platform), point)

    async def _pass_on(self, exchange: Exchange) -> None:
        await exchange.pass_on()

    def _record(self, exchange: Exchange, ordinal: int) -> None:
        label = exchange.call.label
        self._recorded.append(Point(label, ordinal, "before"))
        if exchange.call.service == "model":
            self._recorded.append(Point(label, ordinal, "middle", exchange.chunks // 2))
        self._recorded.append(Point(label, ordinal, "after", exchange.chunks))


class SubagentKills(Kills):
    """Two subagents work side by side in the middle of the turn."""

    script = Errands

    def __init__(self, platform: Platform, most: int | None = None) -> None:
        super().__init__(platform, most)
        self.name = f"{platform}:subagents"


class ContinuedKills(Kills):
    """A tool is so slow that the turn must go on in a second invocation. The points are those from there on: when the
    worker wakes its successor, gives the conversation free, and when that one takes over."""

    seconds = 30.0
    slow, slowness = "tools.look", 13.0  # seconds; what is left then is not enough to begin the tool that writes

    def __init__(self, platform: Platform, most: int | None = None) -> None:
        super().__init__(platform, most)
        self.name = f"{platform}:continued"

    async def _pass_on(self, exchange: Exchange) -> None:
        if exchange.call.label == self.slow:
            await asyncio.sleep(self.slowness)
        await super()._pass_on(exchange)

    def _record(self, exchange: Exchange, ordinal: int) -> None:
        if self._recorded or exchange.call.label == "sqs.SendMessage":
            super()._record(exchange, ordinal)


async def _kill(point: Point, exchange: Exchange) -> None:
    match point.phase:
        case "before":
            await exchange.kill()
        case "middle":
            await exchange.pass_on_and_kill(after=point.chunk)
        case "after" if exchange.call.service == "model":
            await exchange.pass_on_and_kill()  # every byte has arrived, nothing of it is stored
        case "after":
            await exchange.withhold_and_kill()
