"""Time for tests."""

import asyncio
import heapq
import itertools


class FakeClock:
    """A Clock whose time moves only when a test moves it.

    It begins far in the future: nothing stored with its times looks expired to an emulator that reads the real clock.
    """

    def __init__(self, now: float = 2_000_000_000.0) -> None:
        self._now = now
        self._sleepers: list[tuple[float, int, asyncio.Event]] = []
        self._numbers = itertools.count()
        self._slept = asyncio.Event()

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        awake = asyncio.Event()
        sleeper = (self._now + seconds, next(self._numbers), awake)
        heapq.heappush(self._sleepers, sleeper)
        self._slept.set()
        try:
            await awake.wait()
        finally:
            if sleeper in self._sleepers:  # cancelled
                self._sleepers.remove(sleeper)
                heapq.heapify(self._sleepers)

    async def next_sleep(self) -> float:
        """Wait until somebody sleeps; the seconds until the first of them wakes."""
        while not self._sleepers:
            self._slept.clear()
            await asyncio.wait_for(self._slept.wait(), 5)
        return self._sleepers[0][0] - self._now

    def advance(self, seconds: float) -> None:
        """Move time on and wake everybody whose time has come."""
        self._now += seconds
        while self._sleepers and self._sleepers[0][0] <= self._now:
            heapq.heappop(self._sleepers)[2].set()
