"""People in charge and turns longer than a function: both measured on the real handlers, DynamoDB and SQS emulated.

``long_turn``: a turn of twelve model calls of about six seconds each, in a function that lives forty. ``stop``: seconds
from ``/stop`` in the middle of a stream until the person sees it.
"""

import asyncio
import statistics
import time
from collections.abc import Mapping
from typing import Any

import pytest

from benchmarks.performance_page import Aim, at_most
from simulator.app import Simulator, serve
from simulator.deliver import QUICK
from simulator.script import Line, call, reply, scripted, text
from tests.cloud import cloud_for
from tests.emulator import Emulator, running_emulator

ANN = "1001"
CALLS = 12
FUNCTION_SECONDS = 40
STOPS = 5
STOP_SECONDS = 2.0
WAIT = 300.0


def aims(figures: Mapping[str, Any]) -> list[Aim]:
    turn = figures["long_turn"]
    answered = Aim(
        f"a turn of {turn['model_calls']} model calls, over {turn['invocations']} invocations that end after "
        f"{turn['function_seconds']} s",
        "answered once",
        f"{turn['answers']} answer, after {turn['seconds']} s",
        turn["answers"] == 1,
    )
    return [answered, at_most("from /stop until it is seen, longest", STOP_SECONDS, figures["stop"]["longest_s"], " s")]


def measure() -> dict[str, Any]:
    with running_emulator() as emulator:
        return {"long_turn": asyncio.run(_long_turn(emulator)), "stop": asyncio.run(_stops(emulator))}


async def _long_turn(emulator: Emulator) -> dict[str, Any]:
    steps: list[Line] = [
        reply(text("thinking " * 60), call("calculator", {"expression": f"{number}+1"}), pace=0.1)
        for number in range(CALLS - 1)
    ]
    simulator = Simulator(pace=QUICK)
    with emulator.account() as account, pytest.MonkeyPatch.context() as patch:
        async with (
            scripted(*steps, text("Done at last.")) as model,
            serve(simulator) as url,
            cloud_for(account, url, model.url, patch, seconds=FUNCTION_SECONDS) as cloud,
        ):
            simulator.connect(cloud.url)
            began = time.monotonic()
            await simulator.telegram.say(ANN, "ann", "take your time")
            await simulator.telegram.wait_for(lambda seen: seen.is_bot and "Done at last." in seen.text, WAIT)
            seconds = time.monotonic() - began
            shown = "".join(seen.text for seen in simulator.telegram.messages(ANN) if seen.is_bot)
            return {
                "model_calls": len(model.requests),
                "function_seconds": FUNCTION_SECONDS,
                "invocations": len(cloud.answers) + 1,  # the one that answers is still settling
                "answers": shown.count("Done at last."),
                "seconds": round(seconds, 1),
            }


async def _stops(emulator: Emulator) -> dict[str, Any]:
    took = [await _stop(emulator) for _ in range(STOPS)]
    return {"runs": STOPS, "median_s": round(statistics.median(took), 2), "longest_s": round(max(took), 2)}


async def _stop(emulator: Emulator) -> float:
    simulator = Simulator(pace=QUICK)
    with emulator.account() as account, pytest.MonkeyPatch.context() as patch:
        async with (
            scripted(reply(text("counting " * 2_000), pace=0.05)) as model,
            serve(simulator) as url,
            cloud_for(account, url, model.url, patch) as cloud,
        ):
            simulator.connect(cloud.url)
            await simulator.telegram.say(ANN, "ann", "count")
            await simulator.telegram.wait_for(lambda seen: seen.is_bot and seen.text.count("counting") > 5, WAIT)
            began = time.monotonic()
            await simulator.telegram.say(ANN, "ann", "/stop")
            await simulator.telegram.wait_for(lambda seen: seen.is_bot and "(Stopped.)" in seen.text, WAIT)
            return time.monotonic() - began
