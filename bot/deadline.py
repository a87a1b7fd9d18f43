"""How long this invocation may still work."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Pause(Exception):
    """Not an error: the turn goes on in another invocation."""


class OutOfTime(Pause):
    """At once: this one is over."""


class Later(Pause):
    """Nothing can be done for so many seconds, and this invocation does not live that long."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class Deadline:
    """Seconds of an invocation, minus a reserve for storing and showing what there is.

    Uses the monotonic clock: a corrected wall clock must not end a turn.
    """

    def __init__(self, seconds: float) -> None:
        self._reserve = min(10.0, seconds * 0.2)
        self._end = time.monotonic() + seconds - self._reserve
        self.total = seconds - self._reserve

    def left(self) -> float:
        """Seconds of work left; negative while the reserve is being used."""
        return self._end - time.monotonic()

    def require(self, seconds: float) -> None:
        """Raise OutOfTime where that much is not left. Never asks for more than half of a whole invocation, so that
        a fresh one can always begin."""
        if self.left() < min(seconds, self.total / 2):
            raise OutOfTime

    @asynccontextmanager
    async def enforced(self) -> AsyncIterator[None]:
        """Cuts what runs inside when the time is over and raises OutOfTime; other time-outs pass through."""
        limit = asyncio.timeout(max(self.left(), 0.0))
        try:
            async with limit:
                yield
        except TimeoutError:
            if limit.expired():
                raise OutOfTime from None
            raise
