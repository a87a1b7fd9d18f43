"""What goes wrong without anybody dying: repeats, losses, refusals, cuts and wrong clocks.

Chances are drawn from a generator with a fixed seed: every run draws the same.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from msgspec import Struct

from chaos.conversation import Conversation
from chaos.inside import Jump
from chaos.observer import Exchange
from chaos.plan import Hold, Plan
from chaos.scripts import Chatter, LongTurn, Script
from simulator.model_reply import Break, Step
from simulator.script import overloaded, rate_limited
from simulator.world import Platform

PLATFORMS: tuple[Platform, ...] = ("telegram", "slack")
SEED = 20
SLOW = 0.08
"""Seconds between two words of an answer that is still growing long after something went wrong."""


class Faults(Plan):
    """``cases`` are the ways in which it goes wrong, each held on every one of ``platforms``."""

    platforms: Sequence[Platform] = PLATFORMS

    def __init__(self) -> None:
        self.random = random.Random(SEED)  # noqa: S311  # the same chances every time are the point

    def cases(self, platform: Platform) -> Sequence[tuple[str, Script, Any]]:
        """Name, script and rules of each."""
        raise NotImplementedError

    async def conversations(self, hold: Hold) -> Sequence[Conversation]:
        cases = [(platform, case) for platform in self.platforms for case in self.cases(platform)]
        return [
            Conversation(number, platform, f"{self.name} {platform} {name}", script, rules)
            for number, (platform, (name, script, rules)) in enumerate(cases, 1)
        ]


class Webhooks(Faults):
    """(a) Every request of a platform comes one to four times, late and past those after it."""

    name = "webhooks"

    def cases(self, platform: Platform) -> Sequence[tuple[str, Script, Any]]:
        scripts: list[Script] = [Chatter(), Chatter(), Chatter(), LongTurn(platform), LongTurn(platform)]
        return [(f"{type(script).__name__} {number}", script, None) for number, script in enumerate(scripts)]

    def deliveries(self) -> Sequence[float]:
        more = self.random.randint(0, 3)
        return (self.random.uniform(0, 0.8), *(self.random.uniform(0, 8) for _ in range(more)))

    def handovers(self, conversation: Conversation) -> Sequence[float]:
        conversation.note_trouble()
        return (0.0,)


class Wakes(Faults):
    """(b) The first wake of each conversation is lost, doubled or late. What is lost, the sweep finds."""

    name = "wakes"
    sweep_every = 10.0

    def cases(self, platform: Platform) -> Sequence[tuple[str, Script, Any]]:
        ways: dict[str, Sequence[float]] = {
            "lost": (), "doubled at once": (0.0, 0.0), "doubled later": (0.0, 2.0, 12.0), "late": (25.0,)
        }  # fmt: skip
        cases: list[tuple[str, Script, Any]] = []
        for way, times in ways.items():
            cases += [(f"{way} LongTurn", LongTurn(platform), times), (f"{way} Chatter", Chatter(), times)]
        return cases

    def handovers(self, conversation: Conversation) -> Sequence[float]:
        if conversation.troubled_at is not None:
            return (0.0,)
        conversation.note_trouble()
        times: Sequence[float] = conversation.rules
        return times


class StoreFault(Struct, frozen=True):
    """``done``: the request is carried out before the answer says it failed. ``status`` 0: the answer is cut."""

    operation: str
    skip: int
    status: int
    code: str
    done: bool = False
    times: int = 1
    reasons: tuple[str, ...] = ()


class Store(Faults):
    """(c) DynamoDB throttles, meets other writes, fails before or after the deed, and says that conditions failed."""

    name = "store"

    def cases(self, platform: Platform) -> Sequence[tuple[str, Script, Any]]:
        writes = ("UpdateItem", "TransactWriteItems", "PutItem")
        faults = [
            StoreFault(operation, skip, *kind)
            for operation in writes
            for skip in (0, 2)
            for kind in (
                (400, "ThrottlingException"),
                (400, "ProvisionedThroughputExceededException", False, 6),
                (500, "InternalServerError"),
                (500, "InternalServerError", True),
                (500, "InternalServerError", True, 3),
                (0, "cut", True),
            )
        ]
        faults += [
            StoreFault("UpdateItem", 3, 400, "ConditionalCheckFailedException"),
            StoreFault("UpdateItem", 0, 400, "TransactionConflictException", times=3),
            StoreFault(
                "TransactWriteItems",
                0,
                400,
                "TransactionCanceledException",
                times=2,
                reasons=("TransactionConflict", "None"),
            ),
            StoreFault(
                "TransactWriteItems",
                1,
                400,
                "TransactionCanceledException",
                times=6,
                reasons=("TransactionConflict", "None"),
            ),
            StoreFault("Query(pending)", 0, 400, "ThrottlingException", times=4),
            StoreFault("Query(record)", 0, 500, "InternalServerError", times=4),
        ]
        return [(_name(fault), LongTurn(platform), fault) for fault in faults]

    async def meet(self, exchange: Exchange) -> None:
        conversation = exchange.conversation
        fault: StoreFault | None = conversation.rules if conversation else None
        if conversation is None or fault is None or exchange.call.label != f"dynamodb.{fault.operation}":
            await exchange.pass_on()
            return
        conversation.calls[exchange.call.label] += 1
        if not fault.skip < conversation.calls[exchange.call.label] <= fault.skip + fault.times:
            await exchange.pass_on()
            return
        conversation.note_trouble()
        if fault.done:
            await exchange.do()
        if fault.status:
            await exchange.refuse(fault.status, _dynamodb_error(fault))
        else:
            await exchange.cut()


def _name(fault: StoreFault) -> str:
    done = " after the deed" if fault.done else ""
    return f"{fault.operation}#{fault.skip + 1} {fault.code}{done} x{fault.times}"


def _dynamodb_error(fault: StoreFault) -> dict[str, Any]:
    body: dict[str, Any] = {"__type": f"com.amazonaws.dynamodb.v20120810#{fault.code}", "message": "chaos"}
    if fault.reasons:
        body["CancellationReasons"] = [{"Code": reason} for reason in fault.reasons]
    return body


class PlatformFault(Struct, frozen=True):
    """``how``: "flood" (told to wait ``seconds``), "quiet flood" (Slack's, without HTTP's 429), or a post that is done
    and then "cut" or "mute"."""

    method: str
    how: str
    skip: int = 0
    seconds: int = 0
    times: int = 1


class PlatformFaults(Faults):
    """A call of one platform goes wrong, as ``cases`` says."""

    async def meet(self, exchange: Exchange) -> None:
        conversation = exchange.conversation
        if conversation is None or exchange.call.service != conversation.platform:
            await exchange.pass_on()
            return
        conversation.note_call_to_the_chat(exchange.call.name)
        conversation.calls[exchange.call.name] += 1
        fault: PlatformFault = conversation.rules
        number = conversation.calls[exchange.call.name] - fault.skip
        if exchange.call.name != fault.method or not 0 < number <= fault.times:
            await exchange.pass_on()
        elif fault.how == "cut":
            conversation.note_cut_send()
            await exchange.withhold()
        elif fault.how == "mute":
            conversation.note_cut_send()
            await exchange.withhold_and_be_silent()
        else:
            conversation.must_wait(fault.seconds)
            await _refuse_for_now(exchange, fault)


async def _refuse_for_now(exchange: Exchange, fault: PlatformFault) -> None:
    if exchange.call.service == "telegram":
        description = f"Too Many Requests: retry after {fault.seconds}"
        parameters = {"retry_after": fault.seconds}
        await exchange.refuse(
            429, {"ok": False, "error_code": 429, "description": description, "parameters": parameters}
        )
    else:
        status = 200 if fault.how == "quiet flood" else 429
        await exchange.refuse(status, {"ok": False, "error": "ratelimited"}, {"Retry-After": str(fault.seconds)})


class TelegramFlood(PlatformFaults):
    """(d) Telegram wants no call to the chat for 33 seconds."""

    name = "telegram:flood"
    platforms = ("telegram",)

    def cases(self, platform: Platform) -> Sequence[tuple[str, Script, Any]]:
        faults = [
            PlatformFault("editMessageText", "flood", seconds=33),
            PlatformFault("editMessageText", "flood", skip=1, seconds=33),
            PlatformFault("sendMessage", "flood", seconds=33),
            PlatformFault("sendMessage", "flood", skip=1, seconds=33),
            PlatformFault("sendMessage", "flood", skip=2, seconds=33),
            PlatformFault("sendChatAction", "flood", seconds=33),
            PlatformFault("sendMessage", "flood", skip=1, seconds=3, times=3),
        ]
        return [(_case(fault), LongTurn(platform, pace=SLOW), fault) for fault in faults]


STREAMED = (
    ("chat.startStream", 0),
    ("chat.appendStream", 0),
    ("chat.appendStream", 1),
    ("chat.stopStream", 0),
    ("chat.postMessage", 0),
)
"""The calls by which an answer is shown in Slack, and how many of each come before."""


class SlackFlood(PlatformFaults):
    """(e) Slack is rate limited, with HTTP's 429 and without."""

    name = "slack:flood"
    platforms = ("slack",)

    def cases(self, platform: Platform) -> Sequence[tuple[str, Script, Any]]:
        faults = [
            PlatformFault(method, how, skip=skip, seconds=seconds)
            for method, skip in STREAMED
            for how, seconds in (("flood", 10), ("quiet flood", 10))
        ]
        return [(_case(fault), LongTurn(platform), fault) for fault in faults]


class Sends(PlatformFaults):
    """(f) A message is posted or changed, and the answer is cut or never comes."""

    name = "sends"

    def cases(self, platform: Platform) -> Sequence[tuple[str, Script, Any]]:
        post, change = (
            ("sendMessage", "editMessageText") if platform == "telegram" else ("chat.postMessage", "chat.update")
        )
        faults = [
            PlatformFault(method, how, skip=skip)
            for method in (post, change)
            for how in ("cut", "mute")
            for skip in (0, 1)
        ]
        faults.append(PlatformFault(post, "cut", skip=2))
        return [(_case(fault), LongTurn(platform), fault) for fault in faults]


def _case(fault: PlatformFault) -> str:
    seconds = f" {fault.seconds} s" if fault.seconds else ""
    return f"{fault.method}#{fault.skip + 1} {fault.how}{seconds} x{fault.times}"


class Model(Faults):
    """(g) The model is overloaded or limited, before it begins and in the middle, or its stream is cut."""

    name = "model"

    def cases(self, platform: Platform) -> Sequence[tuple[str, Script, Any]]:
        return [(name, LongTurn(platform, trouble=trouble), None) for name, trouble in _model_troubles().items()]

    def handovers(self, conversation: Conversation) -> Sequence[float]:
        conversation.note_trouble()
        return (0.0,)


def _model_troubles() -> dict[str, Any]:
    """What the first tries of each of the two calls meet; the third always succeeds."""
    refusals = {
        "429": rate_limited(),
        "429 for 3 s": rate_limited("3"),
        "529": overloaded(),
        "529 for 3 s": overloaded("3"),
    }
    breaks = {
        f"{how} after {after}": Break(how, after) for how in ("error", "end", "cut", "garbage") for after in (0, 1, 60)
    }
    return {name: _first(2, step) for name, step in refusals.items()} | {
        name: _broken(2, broken) for name, broken in breaks.items()
    }


def _first(tries: int, refusal: Step) -> Any:
    return lambda number, good: refusal if number <= tries else good


def _broken(tries: int, broken: Break) -> Any:
    return lambda number, good: replace(good, broken=broken) if number <= tries else good


class Clock(Faults):
    """(h) The clock of whoever holds the lease jumps, while the same wake is given to a second worker.

    A clock that is behind makes a lease that others see as over: two workers then want the same turn, and the store
    must let only one of them write.
    """

    name = "clock"
    fresh = True

    def cases(self, platform: Platform) -> Sequence[tuple[str, Script, Any]]:
        return [(f"{seconds:+} s", LongTurn(platform), seconds) for seconds in (-600, -120, -60, -50, 50, 60, 120, 600)]

    def handovers(self, conversation: Conversation) -> Sequence[float]:
        if conversation.troubled_at is not None:
            return (0.0,)
        conversation.note_trouble()
        if conversation.rules < 0:
            conversation.note_rival()
        return (0.0, 3.0)

    def jump(self, conversation: Conversation) -> Jump | None:
        return Jump(after=1.5, seconds=conversation.rules) if conversation.invocations == 0 else None
