"""What is remembered: shown, corrected and deleted by ``/memory`` and by the model, told where it belongs and once."""

from pathlib import Path

import pytest

from bot.memory import MOST
from bot.messages import Person, Place
from bot.toolkit import Toolbox
from bot.tools.memory import forget_fact, remember
from simulator.script import call, reply, text
from tests.bots import Bot, bot_on, results
from tests.say import ANN, BUDI, GROUP, HERE, inbound

TOOLS = Toolbox([remember, forget_fact])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kabar.sqlite3"


async def memory(bot: Bot, words: str, number: int, place: Place = HERE, sender: Person = ANN) -> list[str]:
    """The facts that ``/memory`` and these words show, and our word on what was done where it has one."""
    await bot.hears(inbound(words, number, place=place, sender=sender, command="memory"))
    await bot.wakes(place.conversation)
    shown: list[str] = bot.channel.shown[-1].split("\n")
    return [line for line in shown if line[:1].isdigit() or line.startswith(("There is nothing of", "I remember 5"))]


async def test_a_fact_is_added_corrected_and_deleted(path: Path) -> None:
    async with bot_on(path) as bot:
        assert await memory(bot, "add I live in Bandung", 1) == ["1. I live in Bandung"]
        assert await memory(bot, "add I eat no peanuts", 2) == ["1. I live in Bandung", "2. I eat no peanuts"]
        assert await memory(bot, "change 1 I live  in Bogor", 3) == ["1. I live in Bogor", "2. I eat no peanuts"]
        assert await memory(bot, "ubah 9 x", 4) == ["There is nothing of that number.", *await memory(bot, "", 5)]
        assert await memory(bot, "delete 1", 6) == ["1. I eat no peanuts"]
        assert await memory(bot, "delete 7", 7) == ["There is nothing of that number.", "1. I eat no peanuts"]
        assert await memory(bot, "clear", 8) == []


async def test_a_correction_to_what_is_known_already_leaves_it_once(path: Path) -> None:
    async with bot_on(path) as bot:
        await memory(bot, "add tea", 1)
        await memory(bot, "add coffee", 2)
        assert await memory(bot, "change 2 tea", 3) == ["1. tea"]


async def test_it_is_full_at_some_point_and_says_so(path: Path) -> None:
    async with bot_on(path) as bot:
        for number in range(MOST):
            await bot.hears(inbound(f"add fact {number}", number, command="memory"))
            await bot.wakes()
        shown = await memory(bot, "add one more", MOST)
        assert shown[0].startswith(f"I remember {MOST} things") and len(shown) == MOST + 1


async def test_what_a_group_has_remembered_is_the_groups_and_nobodys_own(path: Path) -> None:
    async with bot_on(path) as bot:
        await memory(bot, "add we meet on Mondays", 1, place=GROUP)
        assert await memory(bot, "", 2, place=GROUP, sender=BUDI) == ["1. we meet on Mondays"]
        assert await memory(bot, "", 3) == []


async def test_the_model_is_told_once_and_again_when_it_changed(path: Path) -> None:
    async with bot_on(path, text("Hi."), text("Yes."), text("Noted.")) as bot:
        await memory(bot, "add I like tea", 1)
        for number, change in enumerate(("", "", "change 1 I like coffee"), 2):
            if change:
                await memory(bot, change, 10 + number)
            await bot.hears(inbound("hello", 20 + number))
            await bot.wakes()
        told = [str(request["messages"]).count("<memory>") for request in bot.model.requests]
        assert told == [1, 1, 2]
        assert "1. I like coffee" in str(bot.model.requests[-1]["messages"][-1])


async def test_the_model_remembers_and_forgets_by_number_or_words(path: Path) -> None:
    calls = [
        call("remember", {"fact": "Ann likes tea."}, id="a"),
        call("remember", {"fact": "Ann likes rain."}, id="b"),
        call("forget_fact", {"fact": "1"}, id="c"),
        call("forget_fact", {"fact": "Ann likes snow."}, id="d"),
    ]
    async with bot_on(path, reply(*calls), text("Done."), tools=TOOLS) as bot:
        await bot.hears(inbound("remember that"))
        await bot.wakes()
        said = [result["content"] for result in results(bot.model.requests[1])]
        assert said[:3] == ["Kept as number 1.", "Kept as number 2.", "Deleted."]
        assert said[3].startswith("There is no such fact.")
        assert await memory(bot, "", 2) == ["1. Ann likes rain."]
