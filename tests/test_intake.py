"""In: durable first, then woken, and only then the platform may forget it."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.adapters.sqlite_store import SQLiteStore
from bot.errors import StoreUnavailable
from bot.intake import accept, sweep
from bot.messages import Arrival
from bot.ports import Change, Receipt
from tests.clock import FakeClock
from tests.say import GROUP, HERE, inbound


class Bell:
    """The Wake port: remembers each wake, and fails so many times first."""

    def __init__(self, failures: int = 0) -> None:
        self.failures = failures
        self.rung: list[tuple[str, str]] = []

    async def wake(self, conversation: str, reason: str) -> None:
        if self.failures:
            self.failures -= 1
            raise StoreUnavailable("the queue did not answer")
        self.rung.append((conversation, reason))


@pytest.fixture
def store(tmp_path: Path, clock: FakeClock) -> SQLiteStore:
    return SQLiteStore(tmp_path / "kabar.sqlite3", clock)


async def answered(store: SQLiteStore) -> None:
    head = await store.claim(HERE.conversation, "me", 2_000_000_060_000)
    assert head is not None
    await store.commit(head, Change(done=(inbound().key,), release=True))


async def test_a_message_is_stored_and_its_chat_woken(store: SQLiteStore, clock: FakeClock) -> None:
    bell = Bell()
    assert await accept(inbound(), store, bell, clock) is Receipt.NEW
    arrival = Arrival(at_ms=round(clock.now() * 1000))
    assert await store.inbox(HERE.conversation) == [replace(inbound(), arrival=arrival)]
    assert bell.rung == [(HERE.conversation, "m1")]


async def test_where_waking_failed_the_platform_s_repeat_wakes(store: SQLiteStore, clock: FakeClock) -> None:
    bell = Bell(failures=1)
    with pytest.raises(StoreUnavailable):
        await accept(inbound(), store, bell, clock)
    assert await accept(inbound(), store, bell, clock) is Receipt.WAITING
    assert len(bell.rung) == 1


async def test_each_repeat_of_what_waits_is_a_wake_that_no_queue_merges(store: SQLiteStore, clock: FakeClock) -> None:
    bell = Bell()
    for _ in range(3):
        await accept(inbound(), store, bell, clock)
        clock.advance(1)
    assert len(set(bell.rung)) == 3
    assert len(await store.inbox(HERE.conversation)) == 1


async def test_a_repeat_of_what_is_answered_does_nothing(store: SQLiteStore, clock: FakeClock) -> None:
    bell = Bell()
    await accept(inbound(), store, bell, clock)
    await answered(store)
    assert await accept(inbound(), store, bell, clock) is Receipt.DONE
    assert len(bell.rung) == 1


async def test_the_sweep_wakes_once_each_chat_that_waits_too_long(store: SQLiteStore, clock: FakeClock) -> None:
    for message in (inbound(number=1), inbound(number=2), inbound(place=GROUP)):
        await store.receive(message)
    bell = Bell()
    clock.advance(119)
    assert await sweep(120, store, bell, clock) == 0
    clock.advance(2)
    assert await sweep(120, store, bell, clock) == 2
    assert sorted(conversation for conversation, _ in bell.rung) == sorted([HERE.conversation, GROUP.conversation])
