"""One event loop for the life of an execution environment.

Clients keep connections that belong to the loop they were made in, so a second loop would find them dead. Mangum uses
whatever ``asyncio.get_event_loop`` returns: this one.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_loop: list[asyncio.AbstractEventLoop] = []


def event_loop() -> asyncio.AbstractEventLoop:
    """The loop, made at the first call and set as current in the calling thread."""
    if not _loop:
        _loop.append(asyncio.new_event_loop())
    asyncio.set_event_loop(_loop[0])
    return _loop[0]


def run(work: Coroutine[Any, Any, T]) -> T:
    return event_loop().run_until_complete(work)
