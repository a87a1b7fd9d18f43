"""All plans run side by side, their conversations begin one after the other, and the verdicts become figures."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from chaos.conversation import Conversation, Verdict
from chaos.deployment import deployed
from chaos.plan import Plan
from chaos.plans import make
from tests.emulator import Emulator

STARTING_AT_ONCE = 6
"""Conversations in their first invocation at the same time: more would only be slower, and their edits fewer."""
START_EVERY = 1.0
"""Seconds between two starts. What is killed goes on a minute later, in the same rhythm: a faster one than two cores
can follow would measure how long they wait for each other."""
MOST_SPARED = 0.05
"""Of all points; more would mean that the points are not those of the conversations."""
START_WAIT = 15.0
"""Seconds after which the next one may start although this one's first invocation is not over, or never began."""


class Starts:
    """Begins everything in one rhythm."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(STARTING_AT_ONCE)
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """A place for one that starts, when it is its turn."""
        async with self._places:
            async with self._turn:
                await asyncio.sleep(START_EVERY)
            yield


async def run(emulator: Emulator, names: Sequence[str], log: Path, most: int | None) -> dict[str, Any]:
    """The report of these plans."""
    began = time.monotonic()
    starts = Starts()
    async with asyncio.TaskGroup() as group:
        running = {
            name: group.create_task(run_plan(emulator, make(name, most), log / name.replace(":", "-"), starts))
            for name in names
        }
    verdicts = {name: task.result() for name, task in running.items()}
    everything = [verdict for each in verdicts.values() for verdict in each]
    return {
        "reached_its_aims": all(verdict.is_good for verdict in everything) and _were_troubled(everything),
        **figures(everything),
        "took_s": round(time.monotonic() - began),
        "plans": {name: figures(each) for name, each in verdicts.items()},
        "unavoidable_points": [verdict.name for verdict in everything if verdict.unavoidable],
        "spared_points": [verdict.name for verdict in everything if verdict.spared],
        "missed": {verdict.name: verdict.remarks for verdict in everything if not verdict.is_good},
    }


def _were_troubled(verdicts: Sequence[Verdict]) -> bool:
    """Whether it went wrong where it was to: a looser rhythm has fewer edits and looks into the inbox, so that the last
    of them, recorded in one conversation, may not come in another."""
    return sum(verdict.spared for verdict in verdicts) <= len(verdicts) * MOST_SPARED


async def run_plan(emulator: Emulator, plan: Plan, log: Path, starts: Starts) -> list[Verdict]:
    """``log`` is made: the folder of what its processes print."""
    began = time.monotonic()
    log.mkdir(parents=True)  # noqa: ASYNC240  # nothing else runs yet
    async with deployed(emulator, plan, log) as deployment:

        async def hold(conversation: Conversation) -> None:
            deployment.add(conversation)
            async with starts.one():
                holding = asyncio.create_task(deployment.hold(conversation))
                with suppress(TimeoutError):
                    async with asyncio.timeout(START_WAIT):
                        await conversation.first_over.wait()
            await holding

        conversations = await plan.conversations(hold)
        async with asyncio.TaskGroup() as group:
            for conversation in conversations:
                group.create_task(hold(conversation))
        await deployment.empty()
        verdicts = [await deployment.verdict(conversation) for conversation in conversations]
    _tell(f"{plan.name}: {len(verdicts)} conversations in {time.monotonic() - began:.0f} s")
    return verdicts


def figures(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    slowest = max(verdicts, key=lambda verdict: verdict.recovery_s)
    return {
        "points": len(verdicts),
        "finished": sum(verdict.finished for verdict in verdicts),
        "lost": sum(verdict.lost for verdict in verdicts),
        "doubled": sum(verdict.doubled for verdict in verdicts),
        "unavoidable": sum(verdict.unavoidable for verdict in verdicts),
        "repeated": sum(verdict.repeated for verdict in verdicts),
        "unsendable": sum(verdict.unsendable for verdict in verdicts),
        "hasty": sum(verdict.hasty for verdict in verdicts),
        "spared": sum(verdict.spared for verdict in verdicts),
        "longest_recovery_s": slowest.recovery_s,
        "slowest": slowest.name,
    }


def _tell(line: str) -> None:
    """Beside the JSON, which is alone on standard output."""
    sys.stderr.write(f"{line}\n")
