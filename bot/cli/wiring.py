"""Wires one process that is webhook and worker at once: SQLite and in-process wakes, or DynamoDB and SQS."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from msgspec import Struct

from bot.adapters.file_blobs import FileBlobs
from bot.adapters.local_scheduler import LocalScheduler
from bot.adapters.local_wake import LocalWake
from bot.adapters.sqlite_store import SQLiteStore
from bot.cli.environment import environment
from bot.clock import SystemClock
from bot.deadline import Deadline
from bot.ports import Blobs, Channel, Clock, Store, Wake
from bot.reminding import fire
from bot.toolkit import Tool
from handlers.door import Door, make_door
from handlers.settings import Settings
from handlers.workshop import Parts, Refit, local_sandbox, make_workshop, unchanged

INVOCATION = 900.0
"""Seconds one run of a turn may take before it is begun anew, as on Lambda."""

GRACE = 20.0
"""Seconds, enough for most answers."""


class Local(Struct, frozen=True):
    store: Store
    wake: Wake
    clock: Clock
    blobs: Blobs
    door: Door


@asynccontextmanager
async def local(
    settings: Settings,
    channels: Mapping[str, Channel] | None = None,
    tools: Sequence[Tool] = (),
    *,
    grace: float = GRACE,
    clock: Clock | None = None,
    refit: Refit = unchanged,
) -> AsyncIterator[Local]:
    """A working bot on one SQLite file; begins by waking whatever was pending when the last process ended.

    ``grace``: seconds running turns have to end when the process is stopped; what is cut goes on at the next start.
    ``refit`` is as in ``make_workshop``.
    """
    clock = clock or SystemClock()
    store = SQLiteStore(settings.kabar_data, clock)

    def ours(conversation: str) -> bool:
        """Another process may serve the other channels."""
        return conversation.partition(":")[0] in workshop.channels

    async def run(conversation: str) -> float | None:
        outcome = await workshop.turns.handle(conversation, Deadline(INVOCATION))
        if outcome.again_in is None and await store.inbox(conversation):
            await wake.wake(conversation, "more")  # wakes that came during the run were merged into one
        return outcome.again_in

    async def give_up(conversation: str) -> None:
        outcome = await workshop.turns.give_up(conversation)
        if outcome.again_in is not None:
            await wake.wake(conversation, "given up")  # the person has not heard of it yet

    async def due(conversation: str, id: str, at: int) -> None:
        if ours(conversation):
            await fire(conversation, id, at, store, scheduler, wake, clock)

    wake = LocalWake(run, clock, give_up=give_up)
    scheduler = LocalScheduler(store, due, clock)
    parts = Parts(
        store=store,
        blobs=FileBlobs(settings.kabar_files),
        wake=wake,
        scheduler=scheduler,
        sandbox=local_sandbox(settings),
        clock=clock,
        values=environment(),
    )
    workshop = make_workshop(settings, parts, more_channels=channels or {}, more_tools=tools, refit=refit)
    try:
        for conversation in await store.overdue(int(clock.now()) + 1):
            if ours(conversation):
                await wake.wake(conversation, "start")
        scheduler.start()
        yield Local(store, wake, clock, parts.blobs, make_door(settings, store, wake, clock))
    finally:
        await scheduler.stop()
        await asyncio.shield(wake.stop(grace))
        await workshop.close()
        store.close()
