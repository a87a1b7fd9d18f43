"""Wakes inside one process: what SQS FIFO and the worker function are together, for a laptop or a small server.

wake ──> one task per conversation ──> run ──> done and not woken meanwhile: the task ends
                  ^    ^                │
                  │    └── at once ─────┤ done, but woken while it ran
                  └── after a pause ────┘ not done, or it failed
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import Context
from typing import Literal

from bot.errors import Retry, StoreUnavailable
from bot.ports import Clock

logger = logging.getLogger(__name__)

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 30.0
"""Seconds between two tries of one conversation; each pause doubles the one before."""

MOST_FAILURES = 5
"""Unexpected failures in a row after which a wake is given up, as the queue gives it to the dead-letter queue."""

Run = Callable[[str], Awaitable[float | None]]
"""Does all there is to do in a conversation. A number: not finished, wake it again, but not before so many seconds."""

GiveUp = Callable[[str], Awaitable[None]]


class LocalWake:
    """The Wake port without a queue. Nothing is kept: after a restart, wake what the store says is pending."""

    def __init__(self, run: Run, clock: Clock, *, at_once: int, give_up: GiveUp | None = None) -> None:
        """``at_once`` conversations run at the same time; a waiting one takes no place.

        ``give_up`` is called with a conversation whose run failed MOST_FAILURES times in a row by anything but Retry,
        so that the person hears of it.
        """
        self._run = run
        self._clock = clock
        self._give_up = give_up
        self._places = asyncio.Semaphore(at_once)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._running: set[str] = set()
        self._woken: set[str] = set()
        self._stopping = False

    async def wake(self, conversation: str, reason: str) -> None:
        """Returns at once. Any number of wakes during a run, or during its pause, are one more run after it."""
        if self._stopping:
            raise StoreUnavailable(f"The wake for {conversation!r} was not queued: stopping.")
        logger.debug("conversation=<%s>, reason=<%s> | woken", conversation, reason)
        self._woken.add(conversation)
        if conversation not in self._tasks:
            # In a context of its own: what it does is not about the message that happened to wake it first.
            self._tasks[conversation] = asyncio.create_task(self._work(conversation), context=Context())

    async def drain(self) -> None:
        """Wait until every conversation is done, also those that pause before another try."""
        while self._tasks:
            await asyncio.wait(self._tasks.values())

    async def stop(self, grace: float) -> None:
        """Start nothing more, give what runs ``grace`` seconds to end, then cancel it. Nothing runs afterwards."""
        self._stopping = True
        tasks = dict(self._tasks)
        for conversation, task in tasks.items():
            if conversation not in self._running:
                task.cancel()
        if tasks:
            await asyncio.wait(tasks.values(), timeout=grace)
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)

    async def _work(self, conversation: str) -> None:
        pause, failures = FIRST_PAUSE, 0
        try:
            while conversation in self._woken and not self._stopping:
                async with self._place(conversation):
                    self._woken.discard(conversation)
                    outcome, asked = await self._attempt(conversation)
                    failures = failures + 1 if outcome == "failed" else 0
                    if failures == MOST_FAILURES:
                        await self._bury(conversation)
                if outcome == "done" or failures == MOST_FAILURES:
                    pause, failures = FIRST_PAUSE, 0
                elif not self._stopping:
                    self._woken.add(conversation)
                    await self._clock.sleep(max(pause, asked))
                    pause = min(2 * pause, LONGEST_PAUSE)
        finally:
            self._woken.discard(conversation)
            del self._tasks[conversation]

    @asynccontextmanager
    async def _place(self, conversation: str) -> AsyncIterator[None]:
        async with self._places:
            self._running.add(conversation)
            try:
                yield
            finally:
                self._running.discard(conversation)

    async def _attempt(self, conversation: str) -> tuple[Literal["done", "later", "failed"], float]:
        """What became of one run, and the seconds it asked to wait."""
        try:
            again_in = await self._run(conversation)
        except Retry as reason:
            logger.info("conversation=<%s>, reason=<%s> | run later", conversation, reason)
            return "later", 0
        except Exception:  # where a wake begins: one conversation's fault must not end the others
            logger.exception("conversation=<%s> | run failed", conversation)
            return "failed", 0
        return ("done", 0) if again_in is None else ("later", again_in)

    async def _bury(self, conversation: str) -> None:
        logger.error("conversation=<%s>, failures=<%d> | gave up", conversation, MOST_FAILURES)
        if self._give_up is None:
            return
        try:
            await self._give_up(conversation)
        except Exception:  # as above
            logger.exception("conversation=<%s> | giving up failed", conversation)
