"""A turn inside a call: whose it is, and that its cost is noted above once."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.deadline import Deadline
from bot.errors import LeaseLost, StoreUnavailable
from bot.journal import Journal
from bot.messages import Entry, Head, Turn, Usage
from bot.nested import Nested, nested
from bot.toolkit import Caller
from tests.bots import WatchedStore
from tests.clock import FakeClock
from tests.say import ANN, HERE, answered, asked, call

NESTED = "telegram:1/t.2.A"


def paid(journal: Nested) -> Entry:
    return answered("Ice.", turn=journal.turn.id, model="claude-sonnet-5-5", usage=Usage(output=1_000))


@pytest.fixture
async def store(tmp_path: Path, clock: FakeClock) -> AsyncIterator[WatchedStore]:
    store = WatchedStore(tmp_path / "kabar.sqlite3", clock)
    yield store
    store.close()


async def claimed(store: WatchedStore, clock: FakeClock, owner: str) -> Head:
    head = await store.claim(HERE.conversation, owner, int(clock.now() * 1000) + 45_000)
    assert head is not None
    return head


async def begun(store: WatchedStore, clock: FakeClock) -> Journal:
    """A turn with a call in its second entry."""
    turn = Turn("t", HERE, ANN, int(clock.now()), 1)
    journal = Journal(store, replace(await claimed(store, clock, "me"), turn=turn), [], resumed=False)
    await journal.append(asked("go"))
    await journal.append(answered(call("delegate", "A", agent="scout", task="north")))
    return journal


async def taken_over(store: WatchedStore, clock: FakeClock) -> Journal:
    """By another worker, a minute later."""
    clock.advance(60)
    head = await claimed(store, clock, "another")
    return Journal(store, head, await store.record(HERE.conversation, 1), resumed=True)


async def opened(journal: Journal, clock: FakeClock) -> Nested:
    return await nested(Caller(journal, journal.named("A"), Deadline(60), False), "north", int(clock.now()))


async def test_it_is_named_by_its_call_and_found_again_with_its_steps(store: WatchedStore, clock: FakeClock) -> None:
    first = await opened(await begun(store, clock), clock)
    assert first.head.conversation == NESTED
    await first.append(paid(first))
    again = await opened(await taken_over(store, clock), clock)
    assert (again.resumed, again.turn.id, len(again.own())) == (True, first.turn.id, 2)


async def test_who_lost_the_conversation_begins_nothing_in_it(store: WatchedStore, clock: FakeClock) -> None:
    journal = await begun(store, clock)
    await taken_over(store, clock)
    with pytest.raises(LeaseLost):
        await opened(journal, clock)
    assert await store.record(NESTED, 1) == []


async def test_the_next_worker_takes_it_at_once_and_the_older_one_writes_no_more(
    store: WatchedStore, clock: FakeClock
) -> None:
    older = await opened(await begun(store, clock), clock)
    newer = await opened(await taken_over(store, clock), clock)
    with pytest.raises(LeaseLost):
        await older.append(paid(older))
    await newer.append(paid(newer))
    assert len(await store.record(NESTED, 1)) == 2


async def test_a_cost_that_was_not_noted_above_is_noted_once_when_it_goes_on(
    store: WatchedStore, clock: FakeClock
) -> None:
    journal = await begun(store, clock)
    first = await opened(journal, clock)
    store.fails_at = lambda change: bool(change.turn and change.turn.subagents.cost)
    with pytest.raises(StoreUnavailable):
        await first.append(paid(first))
    store.fails_at = lambda change: False
    above = await taken_over(store, clock)
    assert above.turn.total.cost == 0
    for _ in range(2):
        await opened(above, clock)
    assert (above.turn.subagents, above.turn.total.cost) == (first.turn.bill, 10_000)
