"""Wires one process that is webhook and worker at once: SQLite and in-process wakes, or DynamoDB and SQS."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

from msgspec import Struct

from bot.adapters.file_blobs import FileBlobs
from bot.adapters.local_scheduler import LocalScheduler
from bot.adapters.local_wake import LocalWake
from bot.adapters.sqlite_store import SQLiteStore
from bot.cli.environment import environment
from bot.clock import SystemClock
from bot.deadline import Deadline
from bot.errors import StoreUnavailable
from bot.intake import everyone_s, sweep_unused
from bot.keeping import DAY
from bot.mcp.servers import Servers
from bot.ports import Blobs, Channel, Clock, Seal, Store, Wake
from bot.reminding import fire
from bot.toolkit import Tool
from bot.turn import Turns
from handlers.bots import environment_of
from handlers.door import Door, Keeper, make_door
from handlers.servers import IDLE, make_servers
from handlers.settings import Settings, many_workspaces
from handlers.workshop import Parts, Refit, Workshop, local_sandbox, make_workshop, unchanged

INVOCATION = 900.0
"""Seconds one run of a turn may take before it is begun anew, as on Lambda."""

GRACE = 20.0
"""Seconds, enough for most answers."""

SWEEP_EVERY = 3600.0
"""Seconds between two looks for conversations that nobody uses."""

log = logging.getLogger(__name__)


class Local(Struct, frozen=True):
    store: Keeper
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
    values = environment_of(environment(), settings.kabar_bot)
    servers = make_servers(settings.kabar_agent_dir, values, store, clock, idle=IDLE)

    def ours(conversation: str) -> bool:
        """Another process may serve the other channels."""
        return conversation.partition(":")[0] in shift.workshop.channels

    async def run(conversation: str) -> float | None:
        async with shift.turns() as turns:
            outcome = await turns.handle(conversation, Deadline(INVOCATION))
        await servers.rest()
        if outcome.again_in is None and await is_more(conversation):
            await wake.wake(conversation, "more")  # wakes that came during the run were merged into one
        return outcome.again_in

    async def is_more(conversation: str) -> bool:
        """Not while a turn waits for a person: what is there was looked at, and is nothing to it."""
        head = await store.head(conversation)
        return bool(await store.inbox(conversation)) and not (head and head.turn)

    async def give_up(conversation: str) -> None:
        async with shift.turns() as turns:
            outcome = await turns.give_up(conversation)
        if outcome.again_in is not None:
            await wake.wake(conversation, "given up")  # the person has not heard of it yet

    async def due(conversation: str, id: str, at: int) -> None:
        if ours(conversation):
            await fire(conversation, id, at, store, scheduler, wake, clock)

    wake = LocalWake(run, clock, at_once=settings.kabar_concurrency, give_up=give_up)
    scheduler = LocalScheduler(store, due, clock)
    parts = Parts(
        store=store,
        blobs=FileBlobs(settings.kabar_files),
        wake=wake,
        scheduler=scheduler,
        sandbox=local_sandbox(settings),
        clock=clock,
        values=values,
        servers=servers,
        seal=_seal(settings),
    )
    await servers.load()

    def made() -> Workshop:
        return make_workshop(settings, parts, more_channels=channels or {}, more_tools=tools, refit=refit)

    shift = _Shift(servers, made)
    sweeping = asyncio.create_task(retire_unused(settings, store, wake, clock, ours))
    try:
        for conversation in await store.overdue(int(clock.now()) + 1):
            if ours(conversation):
                await wake.wake(conversation, "start")
        scheduler.start()
        yield Local(store, wake, clock, parts.blobs, make_door(settings, store, wake, clock, parts.seal))
    finally:
        sweeping.cancel()
        await asyncio.gather(sweeping, return_exceptions=True)
        await scheduler.stop()
        await asyncio.shield(wake.stop(grace))
        await shift.workshop.close()
        await servers.close()
        store.close()


def _seal(settings: Settings) -> Seal | None:
    """Its library is loaded only where something is to be sealed."""
    if not many_workspaces(settings):
        return None
    from bot.adapters.key_seal import KeySeal

    return KeySeal(settings.slack_state_secret)


async def retire_unused(
    settings: Settings, store: Store, wake: Wake, clock: Clock, ours: Callable[[str], bool] = everyone_s
) -> None:
    """Have conversations deleted that nobody used for KABAR_KEEP_DAYS, as the schedule of infra/template.yaml does;
    until it is cancelled, or at once where all are kept. ``ours``: which of them this process works on."""
    while settings.kabar_keep_days:
        try:
            await sweep_unused(settings.kabar_keep_days * DAY, store, wake, clock, ours)
        except StoreUnavailable as error:
            log.warning("%s | what nobody uses is looked for again later", error)
        await clock.sleep(SWEEP_EVERY)


class _Shift:
    """The workshop of the turns that run now. It is made again when a server offers something else, while none runs:
    what a turn began with stays until its end."""

    def __init__(self, servers: Servers, make: Callable[[], Workshop]) -> None:
        self._servers = servers
        self._make = make
        self._made_of = servers.version
        self._running = 0
        self.workshop = make()

    @asynccontextmanager
    async def turns(self) -> AsyncIterator[Turns]:
        await self._servers.load()
        old = None
        if not self._running and self._made_of != self._servers.version:
            old, self.workshop, self._made_of = self.workshop, self._make(), self._servers.version
        self._running += 1
        try:
            if old:
                await old.close()
            yield self.workshop.turns
        finally:
            self._running -= 1
