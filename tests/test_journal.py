"""A turn's hold on its conversation, where two things happen at the same moment."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.adapters.sqlite_store import SQLiteStore
from bot.journal import Journal
from bot.messages import Turn
from tests.bots import edit, photo
from tests.clock import FakeClock
from tests.say import ANN, BUDI, HERE, answered, asked, call, inbound, returned


@pytest.fixture
async def journal(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Journal]:
    """Of a turn in its second step, with two messages added meanwhile."""
    store = SQLiteStore(tmp_path / "kabar.sqlite3", clock)
    head = await store.claim(HERE.conversation, "me", int(clock.now() * 1000) + 60_000)
    assert head is not None
    for number in (1, 2, 3):
        await store.receive(inbound(f"line {number}", number))
    turn = Turn("t", HERE, ANN, int(clock.now()), 1)
    journal = Journal(store, replace(head, turn=turn), [], resumed=False)
    await journal.append(asked("line 1"), taken=[inbound("line 1", 1)])
    await journal.append(answered(call(call_id="A")))
    yield journal
    store.close()


async def test_a_look_that_began_before_a_step_does_not_bring_back_what_the_step_took(journal: Journal) -> None:
    seen = [inbound("line 2", 2), inbound("line 3", 3)]
    journal.saw(seen)
    await journal.append(returned("A", said=(seen[0],)), taken=[seen[0]])
    journal.saw(seen)  # the answer of a slow look
    assert journal.arrived == [seen[1]]


async def test_only_plain_words_of_who_asked_add_to_a_turn(journal: Journal) -> None:
    assert journal.is_askers_word(inbound("and?", 4))
    assert not journal.is_askers_word(inbound("and?", 4, sender=BUDI))
    assert not journal.is_askers_word(inbound("", 4, command="new"))
    assert journal.is_askers_word(edit("line one", 1))
    assert not journal.is_askers_word(edit("what?", 9))


async def test_an_edit_of_what_was_added_adds_to_the_turn(journal: Journal) -> None:
    await journal.append(returned("A", said=(inbound("line 2", 2),)), taken=[inbound("line 2", 2)])
    assert journal.is_askers_word(edit("line two", 2))


async def test_a_stored_step_is_progress(journal: Journal) -> None:
    await journal.update(failures=3)
    await journal.append(returned("A"))
    assert (journal.turn.failures, journal.head.last) == (0, 3)


async def test_an_edit_that_changes_nothing_adds_nothing(journal: Journal) -> None:
    assert not journal.is_askers_word(edit("line 1", 1))


async def test_an_album_that_joins_a_turn_joins_it_once_no_more_of_it_comes(journal: Journal) -> None:
    pieces = [photo(number) for number in (4, 5, 6)]
    for seen in (pieces[:1], pieces):
        journal.saw(seen)
        assert journal.added() == ()
    await journal.append(returned("A"))
    assert journal.added() == ()
    journal.saw(pieces)
    assert journal.added() == tuple(pieces)
