"""Policy ``window``: the first exchange stays, the middle goes."""

from pathlib import Path

from bot.messages import Summary
from bot.policies.window import LEFT_OUT, Window
from bot.ports import LeftOut
from tests.policies.chat import chat, words
from tests.say import answered, asked


async def test_the_first_exchange_is_shown_for_ever_and_the_middle_is_not(tmp_path: Path) -> None:
    async with chat(tmp_path / "kabar.sqlite3") as talk:
        await talk.say("I am Ann and I plan a trip to Lombok.")
        for number in range(40):
            await talk.say(f"turn {number}: {'long ' * 200}")
        shown = words(talk.prompts[-1])
        assert "I am Ann and I plan a trip to Lombok." in shown
        assert "turn 39" in shown
        assert "turn 5:" not in shown
        assert 2 <= len(await talk.summaries()) <= 12


async def test_a_summary_that_is_there_is_kept() -> None:
    before = Summary("Ann plans a trip.", 7)
    summary = await Window().summary(LeftOut((before, asked("and then?"), answered("Lombok.")), 9, [], []))
    assert summary == Summary("Ann plans a trip.", 9)


async def test_a_long_first_exchange_is_kept_in_part() -> None:
    summary = await Window().summary(LeftOut((asked("word " * 10_000), answered("Yes.")), 2, [], []))
    assert len(summary.text) < 3_000
    assert "You answered:\nYes." in summary.text
    assert summary.text.endswith(LEFT_OUT)


async def test_an_exchange_without_an_answer_is_told_without_one() -> None:
    summary = await Window().summary(LeftOut((asked("hello?"),), 1, [], []))
    assert "hello?" in summary.text
    assert "You answered" not in summary.text
