"""How often a bot may call Slack: so many calls within so many seconds, and how long to wait after one too many.

Off unless ``Slack.rates`` is set, to ``RATES`` or what a test wants. Source: docs.slack.dev/apis/web-api/rate-limits,
and the methods' own pages. Slack lets short bursts through without saying how long; here they are the whole allowance.
"""

from collections import defaultdict, deque
from math import ceil

from msgspec import Struct


class Rate(Struct, frozen=True):
    """``each_channel``: counted for every channel by itself."""

    calls: int
    seconds: float = 60
    each_channel: bool = False


RATES = {
    "chat.appendStream": Rate(100),
    "chat.delete": Rate(50),
    "chat.postMessage": Rate(5, 5, each_channel=True),
    "chat.startStream": Rate(20),
    "chat.stopStream": Rate(20),
    "chat.update": Rate(50),
    "conversations.history": Rate(50),
    "conversations.replies": Rate(50),
    "users.info": Rate(100),
}


class Gate:
    def __init__(self) -> None:
        self._calls: defaultdict[tuple[str, str], deque[float]] = defaultdict(deque)

    def wait(self, rate: Rate, method: str, channel: str, now: float) -> int:
        """Count a call; 0 where it may be made, else the seconds after which it may: it is not counted then."""
        calls = self._calls[(method, channel if rate.each_channel else "")]
        while calls and calls[0] <= now - rate.seconds:
            calls.popleft()
        if len(calls) >= rate.calls:
            return max(1, ceil(calls[0] + rate.seconds - now))
        calls.append(now)
        return 0
