"""How long the end of a prompt is kept, and why the cache missed something."""

import pytest
from msgspec.structs import replace

from bot.caching import LONG, SHORT, lifetime, missed
from bot.messages import Answered, Asked, Entry, Json, Reply, Summary, Usage
from tests.say import NOW, answered, asked, call, inbound, returned

READ = 0.05
MODEL = "claude-sonnet-5-5"
MINUTE = 60


def talk(*pauses: int) -> list[Entry]:
    """A question and an answer, again after each pause of so many seconds, and a question at the end."""
    entries: list[Entry] = []
    at = NOW
    for number, pause in enumerate((*pauses, 0)):
        said = replace(inbound("hi", number), sent_at=at)
        entries += [Asked(f"t{number}", (said,)), answered("Hi.", turn=f"t{number}")]
        at += pause
    return entries[:-1]


@pytest.mark.parametrize(
    ("pauses", "mark"),
    [
        ((), SHORT),
        ((20, 60, 240, 30), SHORT),
        ((20 * MINUTE, 30 * MINUTE, 50 * MINUTE, 15 * MINUTE, 12 * MINUTE), LONG),
        ((24 * 60 * MINUTE,) * 8, None),
        ((24 * 60 * MINUTE, *((60,) * 8)), SHORT),
    ],
)
def test_a_chat_is_kept_as_long_as_its_pauses_make_it_pay(pauses: tuple[int, ...], mark: Json | None) -> None:
    entries = talk(*pauses)
    assert lifetime(entries, entries[-1].turn, READ) == mark  # type: ignore[union-attr]


def test_a_slow_chat_is_kept_for_minutes_while_its_turn_calls_tools() -> None:
    entries = [*talk(*[24 * 3600] * 8), answered(call(), turn="t8"), returned("A", turn="t8")]
    assert lifetime(entries, "t8", READ) == SHORT


def reply(read: int = 0, model: str = MODEL, word: str = "") -> Reply:
    return Reply([], "end_turn", model, Usage(cache_read=read, cache_write=10), missed=word)


def before(*blocks: Json, turn: str = "t0") -> list[Entry]:
    return [asked(turn=turn), Answered(turn, Reply(list(blocks), "end_turn", MODEL, Usage(cache_write=1_000)))]


THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}


@pytest.mark.parametrize(
    ("entries", "found", "reason"),
    [
        ([asked()], reply(0), ""),
        ([*before(), asked()], reply(1_000), ""),
        ([*before(), asked()], reply(999), "unknown"),
        ([*before(), asked()], reply(0, word="tools_changed"), "tools_changed"),
        ([*before(), asked()], reply(0, model="another"), "model_changed"),
        ([*before(), Summary("So far."), asked()], reply(0), "view_cut"),
        ([*before(THOUGHT), asked()], reply(0), "thinking_stripped"),
    ],
)
def test_what_the_cache_missed_has_a_reason(entries: list[Entry], found: Reply, reason: str) -> None:
    assert missed(entries, "t", found) == reason


def test_a_pause_longer_than_the_lifetime_is_the_reason() -> None:
    entries = [*before(), Asked("t", (replace(inbound(), sent_at=NOW + 3_600),))]
    assert missed(entries, "t", reply(0)) == "expired"
