"""One event loop for the life of an execution environment.

Clients keep connections that belong to the loop they were made in, so a second loop would find them dead. Mangum uses
whatever ``asyncio.get_event_loop`` returns: this one.
"""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_thread = threading.local()  # Lambda calls a handler in one thread; two functions in one process have a loop each


def event_loop() -> asyncio.AbstractEventLoop:
    """The calling thread's loop, made at its first call and set as its current one."""
    if not hasattr(_thread, "loop"):
        _thread.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(_thread.loop)
    loop: asyncio.AbstractEventLoop = _thread.loop
    return loop


def run(work: Coroutine[Any, Any, T]) -> T:
    return event_loop().run_until_complete(work)


def close_loop() -> None:
    """End the calling thread's loop; the next call makes a new one."""
    if hasattr(_thread, "loop"):
        _thread.loop.run_until_complete(_thread.loop.shutdown_default_executor())
        _thread.loop.close()
        del _thread.loop
