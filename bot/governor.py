"""How often one chat is written to, whatever turns write there: a token bucket, a count of the last minute where the
platform has one, and the platform's own word.

Final text may use all that the platform allows; what is shown on the way leaves it two calls of the bucket: one to end
the message that has become full, one for what goes on in the next. Of a minute it leaves none, once it has grown for
that long: 20 calls in each would not let it grow every three seconds, so an end comes that much later instead. Who is
told to wait, waits: no call is made before. All times are seconds of the event loop's clock.
"""

import asyncio
from collections import deque
from collections.abc import Callable

from bot.ports import Pace

Now = Callable[[], float]

KEPT = 2.0  # calls that what grows leaves for the final text
MINUTE = 60.0
LEFT_OVER = 1e-6  # seconds; after a wait sums of floats may still lack as much


def loop_time() -> float:
    return asyncio.get_running_loop().time()


class Governor:
    def __init__(self, pace: Pace, now: Now = loop_time) -> None:
        self._pace = pace
        self._now = now
        self._tokens = float(pace.burst)
        self._counted = now()
        self._calls = deque[float](maxlen=pace.minute)
        self._closed_until = 0.0

    def wait(self, *, final: bool) -> float:
        """Seconds until the next call may be made, 0 for now."""
        wanted = 1.0 if final else min(1.0 + KEPT, self._pace.burst)
        missing = max(wanted - self._refilled(), 0.0) * self._pace.interval
        rest = 0.0 if final else self._until_fewer(1, self._pace.growth)
        wait = max(missing, rest, self._until_fewer(self._pace.minute, MINUTE), self.closed)
        return wait if wait > LEFT_OVER else 0.0

    def spend(self) -> None:
        """A call is made."""
        self._tokens = max(self._refilled() - 1.0, 0.0)
        self._counted = self._now()
        self._calls.append(self._counted)

    def close(self, seconds: float) -> None:
        """The platform wants no call for so long."""
        self._closed_until = max(self._closed_until, self._now() + seconds)

    @property
    def closed(self) -> float:
        """Seconds for which the platform wants no call."""
        return max(self._closed_until - self._now(), 0.0)

    @property
    def is_rested(self) -> bool:
        """Whether it is as a new one: nothing that it knows would change a call."""
        return not self.closed and self._refilled() >= self._pace.burst and not self._until_fewer(1, MINUTE)

    def _until_fewer(self, calls: int, span: float) -> float:
        """Seconds until fewer than ``calls`` were made within the last ``span`` seconds."""
        if not 0 < calls <= len(self._calls):
            return 0.0
        return max(self._calls[-calls] + span - self._now(), 0.0)

    def _refilled(self) -> float:
        if self._pace.interval <= 0:
            return float(self._pace.burst)
        return min(self._tokens + (self._now() - self._counted) / self._pace.interval, self._pace.burst)


class Governors:
    """Those of one process, by chat. What other processes write is known by the platform's refusals only."""

    MOST = 1_000

    def __init__(self, now: Now = loop_time) -> None:
        self._now = now
        self._known: dict[str, Governor] = {}

    def of(self, chat: str, pace: Pace) -> Governor:
        if len(self._known) >= self.MOST:
            self._known = {name: each for name, each in self._known.items() if not each.is_rested}
        return self._known.setdefault(chat, Governor(pace, self._now))
