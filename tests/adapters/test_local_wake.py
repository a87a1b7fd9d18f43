"""One process as queue and worker."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from bot.adapters.local_wake import FIRST_PAUSE, LONGEST_PAUSE, MOST_FAILURES, LocalWake
from bot.errors import Retry, StoreUnavailable
from tests.clock import FakeClock


class Work:
    """A run whose end a test decides. ``started`` says who runs, in order; ``finish`` lets the oldest run end."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.cancelled: list[str] = []
        self.now = 0
        self.most_at_once = 0
        self._ends: list[asyncio.Future[float | None]] = []
        self._began = asyncio.Condition()

    async def run(self, conversation: str) -> float | None:
        end: asyncio.Future[float | None] = asyncio.get_running_loop().create_future()
        self.now += 1
        self.most_at_once = max(self.most_at_once, self.now)
        self._ends.append(end)
        async with self._began:
            self.started.append(conversation)
            self._began.notify_all()
        try:
            return await end
        except asyncio.CancelledError:
            self.cancelled.append(conversation)
            raise
        finally:
            self.now -= 1

    async def begun(self, count: int) -> None:
        """Wait until ``count`` runs have begun, those included that ended since."""
        async with asyncio.timeout(5), self._began:
            await self._began.wait_for(lambda: len(self.started) >= count)

    def finish(self, result: float | None = None) -> None:
        self._ends.pop(0).set_result(result)


def failing(times: int, error: Exception) -> tuple[Callable[[str], Awaitable[float | None]], list[str]]:
    """A run that fails ``times`` times and then is done, and the list of its calls."""
    calls: list[str] = []

    async def run(conversation: str) -> float | None:
        calls.append(conversation)
        if len(calls) <= times:
            raise error
        return None

    return run, calls


async def idle(wake: LocalWake) -> None:
    await asyncio.wait_for(wake.drain(), 5)


async def test_a_wake_runs_the_conversation_once(clock: FakeClock) -> None:
    run, calls = failing(0, Retry())
    wake = LocalWake(run, clock, at_once=8)
    await wake.wake("a", "x")
    await idle(wake)
    assert calls == ["a"]


async def test_wakes_during_a_run_are_one_more_run_after_it(clock: FakeClock) -> None:
    work = Work()
    wake = LocalWake(work.run, clock, at_once=8)
    await wake.wake("a", "1")
    await work.begun(1)
    for reason in ("2", "3", "4"):
        await wake.wake("a", reason)
    work.finish()
    await work.begun(2)
    work.finish()
    await idle(wake)
    assert work.started == ["a", "a"]
    assert work.most_at_once == 1


async def test_wakes_before_a_run_begins_are_one_run(clock: FakeClock) -> None:
    run, calls = failing(0, Retry())
    wake = LocalWake(run, clock, at_once=8)
    for reason in ("1", "2", "3"):
        await wake.wake("a", reason)
    await idle(wake)
    assert calls == ["a"]


async def test_conversations_run_beside_each_other_up_to_the_cap_in_order(clock: FakeClock) -> None:
    work = Work()
    wake = LocalWake(work.run, clock, at_once=2)
    for conversation in "abcd":
        await wake.wake(conversation, "x")
    for count in (2, 3, 4):
        await work.begun(count)
        work.finish()
    work.finish()
    await idle(wake)
    assert work.started == ["a", "b", "c", "d"]
    assert work.most_at_once == 2


@pytest.mark.parametrize("outcome", ["returns 0", "raises Retry"])
async def test_what_is_not_finished_is_tried_again_after_growing_pauses(clock: FakeClock, outcome: str) -> None:
    calls: list[float] = []

    async def run(conversation: str) -> float | None:
        calls.append(clock.now())
        if len(calls) <= 7 and outcome == "raises Retry":
            raise Retry("somebody else is at it")
        return None if len(calls) > 7 else 0

    wake = LocalWake(run, clock, at_once=8)
    await wake.wake("a", "x")
    pauses = []
    for _ in range(7):
        pauses.append(await clock.next_sleep())
        clock.advance(pauses[-1])
    await idle(wake)
    assert pauses == [FIRST_PAUSE, 2, 4, 8, 16, LONGEST_PAUSE, LONGEST_PAUSE]
    assert len(calls) == 8


async def test_a_run_that_asks_to_wait_is_not_begun_before(clock: FakeClock) -> None:
    work = Work()
    wake = LocalWake(work.run, clock, at_once=1)
    await wake.wake("flooded", "x")
    await work.begun(1)
    work.finish(300)
    assert await clock.next_sleep() == 300
    await wake.wake("other", "x")
    await work.begun(2)
    work.finish()
    clock.advance(300)
    await work.begun(3)
    work.finish()
    await idle(wake)
    assert work.started == ["flooded", "other", "flooded"]


async def test_a_pause_holds_up_nobody_else(clock: FakeClock) -> None:
    work = Work()
    wake = LocalWake(work.run, clock, at_once=1)
    await wake.wake("a", "x")
    await work.begun(1)
    work.finish(0)
    await clock.next_sleep()
    await wake.wake("b", "x")
    await work.begun(2)
    work.finish()
    clock.advance(FIRST_PAUSE)
    await work.begun(3)
    work.finish()
    await idle(wake)
    assert work.started == ["a", "b", "a"]


async def test_a_wake_during_a_pause_is_covered_by_the_next_try(clock: FakeClock) -> None:
    run, calls = failing(1, Retry())
    wake = LocalWake(run, clock, at_once=8)
    await wake.wake("a", "1")
    await clock.next_sleep()
    await wake.wake("a", "2")
    clock.advance(FIRST_PAUSE)
    await idle(wake)
    assert calls == ["a", "a"]


async def test_success_makes_the_next_pause_short_again(clock: FakeClock) -> None:
    work = Work()
    wake = LocalWake(work.run, clock, at_once=8)
    await wake.wake("a", "1")
    for count, pause in ((1, 1.0), (2, 2.0)):
        await work.begun(count)
        work.finish(0)
        assert await clock.next_sleep() == pause
        clock.advance(pause)
    await work.begun(3)
    await wake.wake("a", "2")
    work.finish()
    await work.begun(4)
    work.finish(0)
    assert await clock.next_sleep() == FIRST_PAUSE
    await wake.stop(0)


async def test_a_failure_is_logged_with_its_cause_and_tried_again(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    run, calls = failing(1, ZeroDivisionError("a fault of ours"))
    wake = LocalWake(run, clock, at_once=8)
    await wake.wake("a", "x")
    clock.advance(await clock.next_sleep())
    await idle(wake)
    assert calls == ["a", "a"]
    (line,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert line.getMessage() == "conversation=<a> | run failed"
    assert line.exc_info is not None
    assert isinstance(line.exc_info[1], ZeroDivisionError)


@pytest.mark.parametrize("burial", ["works", "fails"])
async def test_what_keeps_failing_is_given_up_and_told_and_can_be_woken_again(
    clock: FakeClock, caplog: pytest.LogCaptureFixture, burial: str
) -> None:
    run, calls = failing(MOST_FAILURES, ZeroDivisionError())
    buried: list[str] = []

    async def give_up(conversation: str) -> None:
        buried.append(conversation)
        if burial == "fails":
            raise ConnectionError("the platform is gone")

    wake = LocalWake(run, clock, at_once=8, give_up=give_up)
    await wake.wake("a", "x")
    for _ in range(MOST_FAILURES - 1):
        clock.advance(await clock.next_sleep())
    await idle(wake)
    assert buried == ["a"]
    assert len(calls) == MOST_FAILURES
    assert f"conversation=<a>, failures=<{MOST_FAILURES}> | gave up" in caplog.messages
    assert ("conversation=<a> | giving up failed" in caplog.messages) == (burial == "fails")
    await wake.wake("a", "y")
    await idle(wake)
    assert len(calls) == MOST_FAILURES + 1


async def test_stopping_lets_a_run_end_in_its_grace_and_starts_no_other(clock: FakeClock) -> None:
    work = Work()
    wake = LocalWake(work.run, clock, at_once=1)
    await wake.wake("a", "x")
    await wake.wake("b", "x")
    await work.begun(1)
    await wake.wake("a", "y")
    stop = asyncio.create_task(wake.stop(60))
    await asyncio.sleep(0)
    work.finish()
    await asyncio.wait_for(stop, 5)
    assert work.started == ["a"]
    assert work.cancelled == []
    await idle(wake)


async def test_stopping_does_not_wait_for_pauses(clock: FakeClock) -> None:
    run, _ = failing(9, Retry())
    wake = LocalWake(run, clock, at_once=8)
    await wake.wake("a", "x")
    await clock.next_sleep()
    await asyncio.wait_for(wake.stop(60), 5)


async def test_stopping_does_not_begin_a_pause(clock: FakeClock) -> None:
    work = Work()
    wake = LocalWake(work.run, clock, at_once=8)
    await wake.wake("a", "x")
    await work.begun(1)
    stop = asyncio.create_task(wake.stop(60))
    await asyncio.sleep(0)
    work.finish(0)
    await asyncio.wait_for(stop, 5)


async def test_a_run_longer_than_the_grace_is_cancelled(clock: FakeClock) -> None:
    work = Work()
    wake = LocalWake(work.run, clock, at_once=8)
    await wake.wake("a", "x")
    await work.begun(1)
    await asyncio.wait_for(wake.stop(0.01), 5)
    assert work.cancelled == ["a"]
    await idle(wake)


async def test_a_wake_after_stopping_is_refused_so_that_nobody_counts_on_it(clock: FakeClock) -> None:
    run, calls = failing(0, Retry())
    wake = LocalWake(run, clock, at_once=8)
    await wake.stop(0)
    with pytest.raises(StoreUnavailable):
        await wake.wake("a", "x")
    assert calls == []
