"""Time that passes only while nothing else can happen: hours within milliseconds, and the same at every run."""

import asyncio
import selectors
import threading
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from bot.deadline import Deadline
from bot.ports import Clock

P = ParamSpec("P")
T = TypeVar("T")

BEGINNING = 2_000_000_000.0
"""Unix time. Far in the future, so that nothing stored looks expired to an emulator that reads the real clock."""

WAIT = 30.0
"""Seconds of real time that one call elsewhere may take."""


class _Selector(selectors.SelectSelector):
    """Where a loop would wait for its next timer, it is told instead how long that would have taken."""

    def __init__(self, waited: Callable[[float], None]) -> None:
        super().__init__()
        self._waited = waited

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("Everybody waits, and nothing will ever happen.")
        self._waited(timeout)
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop that jumps to its next timer. asyncio's own sleeps and time-outs follow.

    Nothing in it may wait for the world outside, a socket or a thread: what has to does so ``Elsewhere``.
    """

    def __init__(self) -> None:
        self._time = 0.0
        super().__init__(_Selector(self._pass))

    def time(self) -> float:
        return self._time

    def _pass(self, seconds: float) -> None:
        self._time += max(seconds, 0.0)


class VirtualClock:
    """The Clock of such a loop. ``now`` may be asked from any thread; ``sleep`` belongs to whichever loop awaits it."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop

    def now(self) -> float:
        return BEGINNING + self._loop.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class VirtualDeadline(Deadline):
    def __init__(self, seconds: float, clock: Clock) -> None:
        super().__init__(seconds)
        self._clock = clock
        self._ends = clock.now() + self.total

    def left(self) -> float:
        return self._ends - self._clock.now()


class Elsewhere:
    """A thread with a loop of its own, for what really waits. To a caller in a virtual loop it takes no time at all."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="elsewhere")

    def __enter__(self) -> "Elsewhere":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.call(self._loop.shutdown_default_executor)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def call(self, work: Callable[P, Coroutine[Any, Any, T]], *args: P.args, **kw: P.kwargs) -> T:
        """Blocks until it is done; raises what it raised."""
        return asyncio.run_coroutine_threadsafe(work(*args, **kw), self._loop).result(WAIT)
