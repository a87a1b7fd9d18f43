"""Keep the bot's process running beside the simulator, and tell people when it is not."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from simulator.world import World

RESTART_DELAYS = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds before each restart in a row, the last one over and over."""
_HEALTHY_SECONDS = 30
"""A process that lived this long was no failed start: the delays begin anew."""
_GRACE_SECONDS = 5
"""For a process to end after SIGTERM, before SIGKILL."""


async def keep_running(
    world: World,
    stop: asyncio.Event,
    command: Callable[[], Sequence[str]],
    environment: Mapping[str, str],
    delays: Sequence[float] = RESTART_DELAYS,
) -> None:
    """Run the command until ``stop``, starting it again whenever it ends; it is asked for before each start. Its output
    goes where ours goes."""
    failures = 0
    while not stop.is_set():
        began = time.monotonic()
        # A session of its own: Ctrl-C reaches us alone, and we end the child in order.
        process = await asyncio.create_subprocess_exec(*command(), env=dict(environment), start_new_session=True)
        world.set_bot("waiting")
        status = await _until_over(process, stop)
        if status is None:
            return
        failures = 1 if time.monotonic() - began > _HEALTHY_SECONDS else failures + 1
        delay = delays[min(failures, len(delays)) - 1]
        detail = f"The bot stopped ({_cause(status)}). It starts again in {delay:g} s; the terminal says why."
        world.set_bot("restarting", detail)
        world.notice(detail, level="error")
        await _pause(stop, delay)


async def _until_over(process: asyncio.subprocess.Process, stop: asyncio.Event) -> int | None:
    """The exit status, or None where we ended the process because of ``stop``."""
    over = asyncio.create_task(process.wait())
    stopped = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({over, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if over.done():
            return over.result()
        return None
    finally:
        stopped.cancel()
        await _end(process, over)


async def _end(process: asyncio.subprocess.Process, over: asyncio.Task[int]) -> None:
    if over.done():
        return
    process.terminate()
    with suppress(TimeoutError):
        async with asyncio.timeout(_GRACE_SECONDS):
            await asyncio.shield(over)
    if not over.done():
        process.kill()
    await over


def _cause(status: int) -> str:
    return f"exit status {status}" if status >= 0 else f"signal {-status}"


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stop.wait()
