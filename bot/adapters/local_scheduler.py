"""The time of reminders inside one process: what EventBridge Scheduler is on AWS, for a laptop or a small server.

The store knows what is to be said when, so a restart forgets nothing: what came due meanwhile is told late. It is asked
again and again, as a laptop that sleeps stops this process's timers but not the clock on the wall.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from bot.messages import Reminder
from bot.ports import Clock
from bot.reminding import is_waiting

log = logging.getLogger(__name__)

LOOK_EVERY = 15.0
"""Seconds between two looks; what other processes set on the same file is noticed so much late at most."""

Fire = Callable[[str, str, int], Awaitable[object]]
"""Has a reminder told: its conversation, its id, and the time it was for (``bot.reminding.fire``)."""


class Book(Protocol):
    """The store, as far as this needs it."""

    async def reminders_until(self, before: int) -> Sequence[Reminder]:
        """Every reminder of every conversation whose time is before this Unix time."""


class LocalScheduler:
    """The Scheduler port over a store that can list what is due."""

    def __init__(self, book: Book, fire: Fire, clock: Clock) -> None:
        """``fire`` may fail: then again at the next look."""
        self._book = book
        self._fire = fire
        self._clock = clock
        self._soonest = float("inf")
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def schedule(self, reminder: Reminder) -> None:
        """It need not be stored yet, only by the time it is for."""
        self._soonest = min(self._soonest, reminder.at)
        self._news.set()

    async def cancel(self, conversation: str, id: str) -> None:
        """What is no longer in the store is not told."""

    def start(self) -> None:
        """Call inside the running event loop."""
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """What is being fired is cut; the next process does it again."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            await self._wait(await self._look())

    async def _look(self) -> float:
        """Fire what is due; the time of the next look."""
        now = self._clock.now()
        soonest = self._soonest if self._soonest > now else float("inf")
        self._soonest = float("inf")  # before the store is asked: what is scheduled meanwhile counts from here on
        try:
            known = [each for each in await self._book.reminders_until(int(now + LOOK_EVERY)) if is_waiting(each)]
        except Exception:  # where a look begins: the next one comes
            log.exception("the reminders could not be looked at")
            known = []
        for reminder in known:
            if reminder.at <= now:
                await self._try(reminder)
        times = (each.at for each in known if each.at > now)
        return min(soonest, now + LOOK_EVERY, *times)

    async def _try(self, reminder: Reminder) -> None:
        conversation, id = reminder.place.conversation, reminder.id
        try:
            await self._fire(conversation, id, reminder.at)
        except Exception:  # where a reminder begins: one must not hold up the others
            log.exception("conversation=<%s>, reminder=<%s> | not told, again at the next look", conversation, id)

    async def _wait(self, until: float) -> None:
        """Until that time, or until something is scheduled that comes before it."""
        while (left := min(until, self._soonest) - self._clock.now()) > 0:
            self._news.clear()
            waits = [asyncio.ensure_future(each) for each in (self._clock.sleep(left), self._news.wait())]
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for each in waits:
                    each.cancel()
                await asyncio.gather(*waits, return_exceptions=True)
