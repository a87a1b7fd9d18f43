"""When a view is cut: after an answer, before a call that would not fit, and when the model says it is too long."""

from pathlib import Path

import pytest

from bot.context import Marks
from bot.messages import Answered, Asked, Ended, Json, Summary
from bot.toolkit import Tool, tool
from simulator.model_reply import Refusal, Step
from simulator.script import call, reply, text, thinking
from tests.policies.chat import chat, words

LONG = "long " * 200
TOO_LONG = Refusal(400, "invalid_request_error", "prompt is too long: 300000 tokens > 200000 maximum")


@tool(result_chars=100_000)
async def read(pages: int) -> str:
    """Read pages of a book."""
    return "The book begins. " + "word " * (200 * pages) + "It ends."


READ: tuple[Tool, ...] = (read,)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kabar.sqlite3"


def sums_up(request: Json) -> Step:
    return reply(text("SUMMARY"))


async def test_the_record_keeps_everything_that_is_no_longer_shown(path: Path) -> None:
    async with chat(path, fold=sums_up) as talk:
        while not talk.folds:
            await talk.say(LONG)
        kept = await talk.entries()
        assert sum(isinstance(entry, Asked) for entry in kept) == talk.said
        assert isinstance(kept[-1], Summary)


async def test_between_two_cuts_each_prompt_begins_with_the_one_before(path: Path) -> None:
    async with chat(path, fold=sums_up) as talk:
        breaks = 0
        for _ in range(30):
            await talk.say(LONG)
            if len(talk.prompts) > 1:
                breaks += not begins_with(talk.prompts[-1], talk.prompts[-2])
        assert breaks == len(talk.folds) > 1


async def test_thinking_is_stripped_where_the_view_is_cut_in_the_middle_of_a_turn(path: Path) -> None:
    def answer(request: Json) -> Step:
        step = len(talk.prompts)
        match step:
            case 2:
                return reply(thinking("hm"), call("read", {"pages": 1}))
            case 3:
                return TOO_LONG
        return reply(text("Noted."))

    async with chat(path, answer, tools=READ) as talk:
        await talk.say("one")
        await talk.say("two")
        before, after = talk.prompts[2], talk.prompts[3]
        assert "thinking" in kinds(before)
        assert "thinking" not in kinds(after)
        assert "tool_use" in kinds(after)


async def test_a_prompt_that_would_not_fit_is_cut_before_it_is_sent(path: Path) -> None:
    def answer(request: Json) -> Step:
        wants = len(talk.prompts) == 11
        return reply(call("read", {"pages": 20})) if wants else reply(text("Noted."))

    marks = Marks(high=8_000, low=4_000, full=8_000)
    async with chat(path, answer, sums_up, marks=marks, tools=READ) as talk:
        for number in range(11):
            await talk.say(f"turn {number} {LONG}")
        assert len(talk.folds) == 1
        assert "SUMMARY" in words(talk.prompts[11])
        assert "turn 0 " not in words(talk.prompts[11])
        assert "turn 10 " in words(talk.prompts[11])


async def test_a_turn_that_fits_alone_only_without_its_huge_results_goes_on_with_notes(path: Path) -> None:
    def answer(request: Json) -> Step:
        match len(talk.prompts):
            case 1:
                return reply(call("read", {"pages": 10}, id="A"))
            case 2:
                return TOO_LONG
        return reply(text("Noted."))

    async with chat(path, answer, sums_up, tools=READ) as talk:
        assert await talk.say("read it") == "Noted."
        assert talk.folds == []
        note = words(talk.prompts[2])
        assert "The book begins." in note
        assert "It ends." in note
        assert "To read all of it: reopen" in note
        assert len(note) < 2_000


async def test_one_turn_too_long_by_itself_is_told_to_the_person_at_once(path: Path) -> None:
    async with chat(path, lambda request: TOO_LONG, sums_up) as talk:
        assert (await talk.say(LONG)).startswith("Something went wrong on my side")
        assert len(talk.prompts) == 1


async def test_a_turn_is_summed_up_once_and_then_cut_without_asking_anybody(path: Path) -> None:
    def answer(request: Json) -> Step:
        return TOO_LONG if len(talk.prompts) in range(12, 14) else reply(text("Noted."))

    async with chat(path, answer, sums_up, marks=Marks(high=20_000, low=10_000)) as talk:
        for number in range(12):
            await talk.say(f"turn {number} {LONG * 4}")
        assert len(talk.folds) == 1
        assert [type(entry) for entry in (await talk.entries())[-4:]] == [Asked, Summary, Summary, Answered]
        shown = words(talk.prompts[-1])
        assert "SUMMARY" in shown
        assert "turn 0 " not in shown
        assert "turn 11 " in shown


async def test_a_huge_result_stays_whole_until_the_view_is_cut(path: Path) -> None:
    def answer(request: Json) -> Step:
        return reply(call("read", {"pages": 3})) if len(talk.prompts) == 1 else reply(text("Noted."))

    async with chat(path, answer, sums_up, tools=READ) as talk:
        await talk.say("read it")
        while not talk.folds:
            assert "reopen" not in words(talk.prompts[-1])
            await talk.say("and now? " * 30)
        assert 'reopen "result:' in words(talk.folds[0])


async def test_a_new_conversation_shows_no_summary_of_the_old(path: Path) -> None:
    async with chat(path, fold=sums_up) as talk:
        while not talk.folds:
            await talk.say(LONG)
        await talk.say("", command="new")
        await talk.say("hello")
        assert "SUMMARY" not in words(talk.prompts[-1])
        assert isinstance((await talk.entries())[-3], Ended)


def kinds(request: Json) -> set[str]:
    return {block["type"] for message in request["messages"] for block in message["content"]}


def begins_with(request: Json, before: Json) -> bool:
    shown, earlier = map(_blocks, (request, before))
    same = all(request[part] == before[part] for part in ("system", "tools") if part in before)
    return same and shown[: len(earlier)] == earlier


def _blocks(request: Json) -> list[Json]:
    return [
        {name: value for name, value in block.items() if name != "cache_control"} | {"role": message["role"]}
        for message in request["messages"]
        for block in message["content"]
    ]
