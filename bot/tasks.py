"""Two ways of running things side by side that asyncio has no word for."""

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def first_of(work: Awaitable[T], *guards: Coroutine[Any, Any, None]) -> T:
    """Run ``work`` under guards: its result, or the error of the first guard that fails; then nothing runs any more.

    Guards never return. A result that is there wins over an error that comes at the same moment.
    """
    main = asyncio.ensure_future(work)
    watching = [asyncio.ensure_future(guard) for guard in guards]
    try:
        await asyncio.wait([main, *watching], return_when=asyncio.FIRST_COMPLETED)
        failed = next((guard for guard in watching if guard.done()), None)
        if not main.done() and failed is not None:
            failed.result()
        return await main
    finally:
        for task in (main, *watching):
            task.cancel()
        await asyncio.gather(main, *watching, return_exceptions=True)


async def uncut(work: Coroutine[Any, Any, T]) -> T:
    """Let ``work`` come to its end although we are cancelled meanwhile; the cancellation follows it."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # whoever cancels us does not care how it ended
        raise
