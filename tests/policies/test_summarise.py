"""Policy ``summarise``: what was said at turn 3 is known at turn 200, at a cost that follows what goes."""

import re
from pathlib import Path

import pytest

from bot.errors import ModelUnavailable
from bot.messages import Json, Reply, Summary, Usage
from bot.policies.summarise import LONGEST, Summarise
from bot.ports import LeftOut, OnText, Prompt
from simulator.model_reply import Step
from simulator.script import overloaded, reply, text
from tests.policies.chat import chat, words
from tests.say import answered, asked, call, returned

FACTS = (
    "Goal: open a coffee stand in Mataram by 17 August.",
    "Decision: we take the blue sign, as it is cheaper.",
    "Name: my partner is called Wayan Sudira.",
    "Open task: ask the landlord about the water.",
    "File: the plan is in stand-v3.pdf.",
)


def keeps_facts(request: Json) -> Step:
    """A summary of what stands in the summary so far and in the piece of the conversation, and of nothing else."""
    found = re.findall(r"(?:Goal|Decision|Name|Open task|File): [^\n]*", words(request))
    return reply(text("\n".join(dict.fromkeys(found)) or "Small talk."))


async def test_facts_of_turn_three_are_in_the_request_of_turn_two_hundred(tmp_path: Path) -> None:
    async with chat(tmp_path / "kabar.sqlite3", fold=keeps_facts) as talk:
        for number in range(1, 201):
            facts = " \n".join(FACTS) if number == 3 else ""
            await talk.say(f"turn {number} {'and so on ' * 40}\n{facts}")
        shown = words(talk.prompts[-1])
        assert [fact for fact in FACTS if fact not in shown] == []
        assert "turn 3 " not in shown
        assert len(talk.prompts) == 200
        assert 5 <= len(talk.folds) <= 50
        assert max(len(words(fold)) for fold in talk.folds) < 40_000


async def test_the_summary_so_far_and_the_turns_that_go_become_the_new_one(tmp_path: Path) -> None:
    async with chat(tmp_path / "kabar.sqlite3", fold=lambda request: reply(text("SUMMARY"))) as talk:
        for number in range(30):
            await talk.say(f"turn {number}: {'long ' * 250}")
        first, second = (words(fold) for fold in talk.folds[:2])
        assert "<summary>\n(none)\n</summary>" in first
        assert "turn 0:" in first
        assert "<summary>\nSUMMARY\n</summary>" in second
        assert "turn 0:" not in second
        assert "<summary>\nSUMMARY\n</summary>" in words(talk.prompts[-1])


async def test_a_summary_is_written_after_the_answer_is_out(tmp_path: Path) -> None:
    seen: list[list[str]] = []

    def fold(request: Json) -> Step:
        seen.append(talk.channel.shown)
        return reply(text("SUMMARY"))

    def answer(request: Json) -> Step:
        return reply(text(f"Answer {len(talk.prompts)}."))

    async with chat(tmp_path / "kabar.sqlite3", answer, fold) as talk:
        while not seen:
            await talk.say("long " * 300)
        assert seen[0][-1] == f"Answer {len(talk.prompts)}."


async def test_a_summary_that_fails_is_tried_again_and_then_done_without(tmp_path: Path) -> None:
    async with chat(tmp_path / "kabar.sqlite3", fold=lambda request: overloaded()) as talk:
        await talk.say("I am Ann.")
        for _ in range(40):
            assert await talk.say("long " * 150) == "Noted."
        assert len(talk.folds) > 2
        assert "I am Ann." in words(talk.prompts[-1])
        assert (await talk.summaries())[0].text.startswith("The conversation began like this.")


async def test_a_turn_without_time_left_ends_without_a_summary(tmp_path: Path) -> None:
    async with chat(tmp_path / "kabar.sqlite3", fold=keeps_facts) as talk:
        for _ in range(20):
            await talk.say("long " * 300, seconds=3)
        assert talk.folds == []
        assert await talk.summaries() != []


class Recites:
    """The Model port; says the same each time and keeps what it was asked."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)
        self.asked: list[str] = []

    async def reply(self, prompt: Prompt, on_text: OnText) -> Reply:
        self.asked.append(prompt.messages[0]["content"][0]["text"])
        return self._replies.pop(0)


def said(words: str, stop_reason: str = "end_turn") -> Reply:
    return Reply([{"type": "text", "text": words}], stop_reason, model="cheap", usage=Usage(fresh=10, output=5))


LEFT = LeftOut((asked("one " * 500), answered("two " * 500), asked("three " * 500, turn="u")), 3, [], [])


async def test_more_than_the_model_reads_at_once_is_folded_piece_by_piece() -> None:
    model = Recites(said("A"), said("AB"), said("ABC"))
    summary = await Summarise(model, 3_000).summary(LEFT)
    assert summary == Summary("ABC", 3, model="cheap", usage=Usage(fresh=30, output=15))
    assert ["(none)" in model.asked[0], "\nA\n" in model.asked[1], "\nAB\n" in model.asked[2]] == [True] * 3


@pytest.mark.parametrize("empty", [said("  "), said("I can not.", "refusal")])
async def test_a_model_that_writes_nothing_has_failed(empty: Reply) -> None:
    with pytest.raises(ModelUnavailable):
        await Summarise(Recites(empty), 100_000).summary(LEFT)


async def test_a_summary_has_a_longest_length() -> None:
    assert len((await Summarise(Recites(said("x" * 50_000)), 100_000).summary(LEFT)).text) == LONGEST


async def test_what_a_person_wants_kept_is_asked_for() -> None:
    model = Recites(said("A"))
    await Summarise(model, 100_000).summary(LeftOut(LEFT.entries, 3, [], [], focus="the prices"))
    assert "keep this above all: the prices" in model.asked[0]


async def test_a_huge_result_is_told_in_short_with_its_reference() -> None:
    model = Recites(said("A"))
    entries = (asked(), answered(call()), returned("A", content="begin " + "x" * 90_000), answered("Done."))
    await Summarise(model, 100_000).summary(LeftOut(entries, 4, [], []))
    assert 'reopen "result:t:A"' in model.asked[0]
    assert "ASSISTANT calls calculator" in model.asked[0]
    assert len(model.asked[0]) < 5_000
