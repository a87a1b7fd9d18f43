"""``/context`` and ``/compact``: people see what fills the window, and may fold it."""

import re
from pathlib import Path

import pytest

from bot.context import Fill, Marks
from bot.context_page import page
from bot.messages import Asked, Ended, Json, Summary
from simulator.model_reply import Step
from simulator.script import overloaded, reply, text
from tests.policies.chat import chat, words

LARGE = Marks(high=60_000, low=24_000)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kabar.sqlite3"


def sums_up(request: Json) -> Step:
    return reply(text("SUMMARY"))


async def test_a_person_sees_what_fills_the_window_without_a_model_call(path: Path) -> None:
    async with chat(path) as talk:
        await talk.say("hello " * 500)
        shown = await talk.say("", command="context")
        assert "- instructions: " in shown
        assert "- messages: " in shown
        assert "summary of what" not in shown
        assert len(talk.prompts) == 1


def test_the_page_adds_up_and_speaks_the_persons_language() -> None:
    fill = Fill(instructions=1_200, tools=300, summary=0, messages=20_000, results=3_000, media=0)
    assert page(fill, LARGE, "id").endswith(
        "- instruksi: 1\u202f200\n- alat: 300\n- pesan: 20\u202f000\n- hasil dari alat: 3\u202f000\n\n"
        "Seluruhnya 24\u202f500. Di atas 60\u202f000 bagian lama saya ringkas; /compact melakukannya sekarang."
    )


async def test_a_person_may_fold_the_conversation_now_and_say_what_matters(path: Path) -> None:
    async with chat(path, fold=sums_up, marks=LARGE) as talk:
        for number in range(10):
            await talk.say(f"turn {number} {'long ' * 300}")
        shown = await talk.say("the prices", command="compact")
        assert shown.startswith("The older part of this conversation is now a summary")
        (fold,) = talk.folds
        assert "keep this above all: the prices" in words(fold)
        await talk.say("and now?")
        assert "SUMMARY" in words(talk.prompts[-1])
        assert "turn 0 " not in words(talk.prompts[-1])
        assert "the prices" not in words(talk.prompts[-1])
        assert "is now a summary" not in words(talk.prompts[-1])


async def test_the_summary_and_what_is_told_of_it_are_stored_at_once(path: Path) -> None:
    async with chat(path, fold=sums_up, marks=LARGE) as talk:
        for _ in range(10):
            await talk.say("long " * 300)
        await talk.say("", command="compact")
        assert [type(entry) for entry in (await talk.entries())[-3:]] == [Asked, Summary, Ended]


async def test_the_sizes_told_are_of_before_and_after(path: Path) -> None:
    async with chat(path, fold=sums_up, marks=LARGE) as talk:
        for _ in range(10):
            await talk.say("long " * 1_000)
        shown = await talk.say("", command="compact")
        before, after = (int(size.replace("\u202f", "")) for size in re.findall(r"\d[\d\u202f]*", shown))
        assert after < before / 2


async def test_an_empty_conversation_has_nothing_to_fold(path: Path) -> None:
    async with chat(path, fold=sums_up) as talk:
        assert (await talk.say("", command="compact")).startswith("There is nothing to fold yet")
        assert talk.folds == []


async def test_a_fold_that_fails_still_makes_room(path: Path) -> None:
    async with chat(path, fold=lambda request: overloaded(), marks=LARGE) as talk:
        for number in range(10):
            await talk.say(f"turn {number} {'long ' * 300}")
        assert (await talk.say("", command="compact")).startswith("The older part")
        await talk.say("and now?")
        assert "turn 5 " not in words(talk.prompts[-1])
