"""What fills a prompt, and where it is cut: rarely, in big steps, and only between turns."""

from hypothesis import given
from hypothesis import strategies as st

from bot.context import PICTURE, ROOM, UNMEASURED, Marks, View, bytes_per_token, cut, fill, is_full, marks
from bot.messages import Asked, Ended, Entry, Numbered, Summary, Usage
from tests.say import answered, asked, call, numbered, returned

SMALL = Marks(high=8_000, low=4_000, full=12_000, most=100)
SYSTEM = [{"type": "text", "text": "Be kind. " * 40}]
PIXEL = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 300_000}}


def view(*entries: Entry, turn: str = "") -> View:
    return View(SYSTEM, [], numbered(*entries), turn)


def turns(count: int, size: int = 300) -> list[Entry]:
    entries: list[Entry] = []
    for number in range(count):
        turn = f"t{number}"
        entries += [
            asked("q" * size, turn=turn),
            answered(call(call_id=turn), turn=turn),
            returned(turn, turn=turn),
            answered("a" * size, turn=turn),
        ]
    return entries


def test_a_short_history_stays_whole() -> None:
    assert cut(view(*turns(1)), SMALL) is None


def test_a_long_one_is_cut_before_a_turn_down_to_the_low_mark() -> None:
    entries = turns(40)
    upto = cut(view(*entries), SMALL)
    assert upto is not None
    assert isinstance(entries[upto], Asked)
    assert fill(view(*entries[upto:])).total + ROOM <= SMALL.low < fill(view(*entries[upto - 4 :])).total + ROOM


def test_after_a_cut_many_turns_fit_before_the_next() -> None:
    shown: list[Numbered] = []
    cuts = last = 0
    for entry in turns(200):
        last += 1
        shown.append(Numbered(last, entry))
        upto = cut(View(SYSTEM, [], shown), SMALL)
        if upto is not None:
            cuts, last = cuts + 1, last + 1
            shown = [each for each in [*shown, Numbered(last, Summary("s" * 3_000, upto))] if each.seq > upto]
    assert 2 <= cuts <= 20


def test_the_newest_turn_always_stays() -> None:
    assert cut(view(*turns(1), asked("x" * 100_000, turn="huge")), SMALL) == 4


def test_what_must_be_less_becomes_half_of_it() -> None:
    entries = turns(10)
    upto = cut(view(*entries), SMALL, must=True)
    assert upto is not None
    assert fill(view(*entries[upto:])).total <= fill(view(*entries)).total / 2


def test_a_turn_of_its_own_gives_up_its_huge_results_and_then_nothing() -> None:
    turn = [asked(), answered(call()), returned("A", content="x" * 50_000)]
    assert cut(view(*turn), SMALL) == 0
    assert cut(view(*turn, Summary("", 0)), SMALL) is None
    assert cut(view(asked("x" * 50_000)), SMALL, must=True) is None


def test_the_number_of_entries_is_bounded_too() -> None:
    entries = turns(30, size=1)
    upto = cut(view(*entries), SMALL)
    assert upto is not None
    assert len(entries) - upto <= SMALL.most / 2


def test_what_the_model_is_never_shown_weighs_nothing() -> None:
    hidden = [asked("x" * 100_000, turn="h"), Ended("h", "told", "y" * 100_000)]
    assert fill(view(*turns(1), *hidden)) == fill(view(*turns(1)))


def test_a_fill_tells_what_is_what() -> None:
    shown = fill(view(Summary("s" * 3_000), asked("q" * 6_000), answered(call()), returned("A", content="r" * 9_000)))
    assert shown.instructions in range(100, 200)
    assert shown.summary in range(1_000, 1_100)
    assert shown.messages in range(2_000, 2_200)
    assert shown.results in range(3_000, 3_100)
    assert shown.total == shown.instructions + shown.summary + shown.messages + shown.results


def test_a_picture_counts_by_itself_and_not_by_its_bytes() -> None:
    result = returned("A", content=[PIXEL])
    shown = fill(view(asked(), answered(call()), result))
    assert shown.media == PICTURE
    assert shown.total < PICTURE + 500


def test_an_estimate_follows_what_the_api_counted() -> None:
    question = asked("q" * 30_000)
    guessed = fill(view(question, answered("ok"))).total
    told = fill(view(question, answered("ok", usage=Usage(fresh=2_000, cache_write=2_000, cache_read=2_000)))).total
    assert guessed > 9_000
    assert abs(told - 6_000) < 100


def test_a_count_from_before_the_last_cut_says_nothing() -> None:
    counted = answered("ok", usage=Usage(fresh=6_000))
    assert bytes_per_token(view(asked("q" * 30_000), counted, Summary("s", 0))) == UNMEASURED


def test_an_absurd_count_is_not_believed() -> None:
    assert 1 <= bytes_per_token(view(asked("q" * 30_000), answered("ok", usage=Usage(fresh=1)))) <= 8


def test_a_prompt_above_what_the_model_reads_is_full() -> None:
    assert is_full(view(asked("q" * 40_000)), SMALL)
    assert not is_full(view(asked("q" * 20_000)), SMALL)


def test_marks_follow_the_model_where_it_reads_little_and_the_price_where_it_reads_much() -> None:
    assert marks(1_000_000, 8_192, 60_000) == Marks(high=60_000, low=24_000, full=942_217)
    assert marks(32_000, 8_192, 60_000) == Marks(high=19_046, low=7_618, full=22_617)


@given(st.integers(1, 40), st.integers(1, 2_000), st.booleans())
def test_a_cut_always_goes_forward_to_the_start_of_a_turn(count: int, size: int, must: bool) -> None:
    entries = turns(count, size)
    upto = cut(view(*entries), SMALL, must=must)
    assert upto is None or (upto > 0 and isinstance(entries[upto], Asked))
