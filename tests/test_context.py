"""The window slides rarely, in big steps, and only between turns."""

from hypothesis import given
from hypothesis import strategies as st

from bot.context import Window, slide
from bot.messages import Asked, Numbered
from tests.say import answered, asked, call, numbered, returned

SMALL = Window(high=2_000, low=1_000, most=50)


def turns(count: int, size: int = 150) -> list[Numbered]:
    entries = []
    for number in range(count):
        turn = f"t{number}"
        entries += [
            asked("q" * size, turn=turn),
            answered(call(call_id=turn), turn=turn),
            returned(turn, turn=turn),
            answered("a" * size, turn=turn),
        ]
    return numbered(*entries)


def test_a_short_history_stays_whole() -> None:
    assert slide(turns(1), SMALL) is None


def test_a_long_one_begins_at_a_later_turn() -> None:
    entries = turns(20)
    since = slide(entries, SMALL)
    assert since is not None
    assert isinstance(entries[since - 1].entry, Asked)


def test_after_a_slide_many_turns_fit_before_the_next() -> None:
    since, slides = 1, 0
    for count in range(1, 60):
        window = [each for each in turns(count) if each.seq >= since]
        moved = slide(window, SMALL)
        slides += moved is not None
        since = moved or since
    assert slides <= 30
    assert since > 1


def test_the_newest_turn_always_stays() -> None:
    entries = [*turns(1), Numbered(5, asked("x" * 100_000, turn="huge"))]
    assert slide(entries, SMALL) == 5
    assert slide(entries[4:], SMALL, force=True) is None


def test_a_prompt_too_long_leaves_out_at_least_one_turn() -> None:
    assert slide(turns(2, size=1), SMALL, force=True) == 5


def test_the_number_of_entries_is_bounded_too() -> None:
    since = slide(turns(30, size=1), Window(most=50))
    assert since is not None
    assert 120 - since < 50


@given(st.integers(1, 40), st.integers(1, 400), st.booleans())
def test_a_slide_always_goes_forward_to_the_start_of_a_turn(count: int, size: int, force: bool) -> None:
    entries = turns(count, size)
    since = slide(entries, SMALL, force=force)
    if since is not None:
        assert since > entries[0].seq
        assert isinstance(entries[since - 1].entry, Asked)
