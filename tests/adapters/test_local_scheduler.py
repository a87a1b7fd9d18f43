"""One process as the keeper of the time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from bot.adapters.local_scheduler import LOOK_EVERY, Fire, LocalScheduler
from bot.adapters.sqlite_store import SQLiteStore
from bot.errors import StoreUnavailable
from bot.messages import Person, Place, Reminder
from tests.clock import FakeClock

HERE = Place("telegram:1", "1")
ANN = Person("telegram:7")


class Fired:
    """What was fired, in order, each also taken out of the store, as its turn does. The first ones fail."""

    def __init__(self, store: SQLiteStore, fails: int = 0) -> None:
        self.ids: list[str] = []
        self._store = store
        self._fails = fails
        self._more = asyncio.Condition()

    async def fire(self, conversation: str, id: str, at: int) -> None:
        if self._fails:
            self._fails -= 1
            raise StoreUnavailable("overloaded")
        await self._store.delete_reminder(conversation, id)
        async with self._more:
            self.ids.append(id)
            self._more.notify_all()

    async def are(self, *ids: str) -> None:
        async with asyncio.timeout(5), self._more:
            await self._more.wait_for(lambda: len(self.ids) >= len(ids))
        assert self.ids == list(ids)


@pytest.fixture
def store(tmp_path: Path, clock: FakeClock) -> SQLiteStore:
    return SQLiteStore(tmp_path / "kabar.sqlite3", clock)


Start = Callable[[Fire], Awaitable[LocalScheduler]]


@pytest.fixture
async def start(store: SQLiteStore, clock: FakeClock) -> AsyncIterator[Start]:
    running: list[LocalScheduler] = []

    async def start(fire: Fire) -> LocalScheduler:
        scheduler = LocalScheduler(store, fire, clock)
        scheduler.start()
        running.append(scheduler)
        return scheduler

    yield start
    for scheduler in running:
        await scheduler.stop()
    store.close()


def reminder(id: str, at: float, **more: str | int) -> Reminder:
    return Reminder(id, HERE, ANN, "x", int(at), **more)  # type: ignore[arg-type]


async def pass_until(clock: FakeClock, at: float) -> None:
    """Sleep after sleep, as the scheduler takes them."""
    while (left := at - clock.now()) > 0:
        clock.advance(min(await clock.next_sleep(), left))


async def test_what_is_set_is_fired_at_its_time_and_not_before(
    store: SQLiteStore, clock: FakeClock, start: Start
) -> None:
    fired = Fired(store)
    scheduler = await start(fired.fire)
    await clock.next_sleep()
    at = clock.now() + 40
    await scheduler.schedule(reminder("a", at))
    await store.put_reminder(reminder("a", at))
    await pass_until(clock, at - 1)
    assert fired.ids == []
    await pass_until(clock, at)
    await fired.are("a")


async def test_one_that_comes_before_the_next_look_is_not_late_and_may_be_stored_after(
    store: SQLiteStore, clock: FakeClock, start: Start
) -> None:
    fired = Fired(store)
    scheduler = await start(fired.fire)
    assert await clock.next_sleep() == LOOK_EVERY
    await scheduler.schedule(reminder("a", clock.now() + 3))
    await store.put_reminder(reminder("a", clock.now() + 3))
    while await clock.next_sleep() > 3:
        await asyncio.sleep(0)
    clock.advance(3)
    await fired.are("a")


async def test_what_came_due_while_nothing_ran_is_fired_at_the_start_oldest_first(
    store: SQLiteStore, clock: FakeClock, start: Start
) -> None:
    for id, ago in (("b", 60), ("a", 90_000), ("later", -60)):
        await store.put_reminder(reminder(id, clock.now() - ago))
    fired = Fired(store)
    await start(fired.fire)
    await fired.are("a", "b")


async def test_what_another_process_sets_is_noticed(store: SQLiteStore, clock: FakeClock, start: Start) -> None:
    fired = Fired(store)
    await start(fired.fire)
    await clock.next_sleep()
    await store.put_reminder(reminder("a", clock.now() + 5))
    clock.advance(LOOK_EVERY)
    await fired.are("a")


async def test_one_that_fails_holds_up_no_other_and_is_tried_again(
    store: SQLiteStore, clock: FakeClock, start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    for id, ago in (("a", 60), ("b", 50)):
        await store.put_reminder(reminder(id, clock.now() - ago))
    fired = Fired(store, fails=1)
    await start(fired.fire)
    await fired.are("b")
    assert "not told, again at the next look" in caplog.text
    assert await clock.next_sleep() <= LOOK_EVERY
    clock.advance(LOOK_EVERY)
    await fired.are("b", "a")


async def test_what_is_paused_told_or_cancelled_is_not_fired(
    store: SQLiteStore, clock: FakeClock, start: Start
) -> None:
    fired = Fired(store)
    scheduler = await start(fired.fire)
    await store.put_reminder(reminder("paused", clock.now() - 50, rule="FREQ=DAILY", idle=5))
    await store.put_reminder(reminder("told", clock.now() - 50, idle=1))
    await scheduler.schedule(reminder("cancelled", clock.now() + 5))
    await scheduler.cancel("telegram:1", "cancelled")
    await store.put_reminder(reminder("a", clock.now() + 20))
    await pass_until(clock, clock.now() + 20)
    await fired.are("a")


async def test_after_stopping_nothing_is_fired(store: SQLiteStore, clock: FakeClock, start: Start) -> None:
    fired = Fired(store)
    scheduler = await start(fired.fire)
    await clock.next_sleep()
    await scheduler.stop()
    await store.put_reminder(reminder("a", clock.now() - 5))
    clock.advance(LOOK_EVERY)
    await LocalScheduler(store, fired.fire, clock).stop()  # one that never started
    assert fired.ids == []
