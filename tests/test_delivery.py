"""The way out when the platform refuses, forgets or asks us to be quiet: nothing is called without end."""

import asyncio
from pathlib import Path

import pytest

from bot.channels.telegram.render import render
from bot.errors import MessageGone, SendLater, SendRefused, SendUncertain
from bot.ports import Rendered
from bot.texts import say
from bot.turn import Outcome
from simulator.model_reply import Break
from simulator.script import call, reply, text
from tests.bots import bot_on
from tests.recorder import RecordingChannel
from tests.say import HERE, inbound


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kabar.sqlite3"


async def test_a_chat_that_refuses_even_our_own_sentence_is_not_asked_without_end(path: Path) -> None:
    async with bot_on(path, text("Hello.")) as bot:
        bot.channel.faults["send"] = [SendRefused("missing_scope")] * 1_000
        await bot.hears(inbound())
        assert await bot.wakes() == Outcome()
        assert sum(method == "send" for method, _ in bot.channel.calls) <= 5
        assert await bot.store.inbox(HERE.conversation) == []


async def test_an_edit_refused_for_ever_is_sent_as_a_message_of_its_own(path: Path) -> None:
    async with bot_on(path, reply(text("one two three four five six"), pace=0.05)) as bot:
        bot.channel.faults["edit"] = [SendRefused("edits are not allowed here")] * 1_000
        await bot.hears(inbound())
        await bot.wakes()
        assert bot.channel.shown[-1] == "one two three four five six"


async def test_a_message_that_is_found_but_can_not_be_edited_is_sent_anew_once(path: Path) -> None:
    async with bot_on(path, reply(text("one two three four five six"), pace=0.05), marks=True) as bot:
        bot.channel.faults["edit"] = [MessageGone("edit_window_closed")] * 1_000
        await bot.hears(inbound())
        await bot.wakes()
        assert bot.channel.shown[-1] == "one two three four five six"
        assert len(bot.channel.shown) == 2


async def test_a_chat_that_asked_for_quiet_is_not_even_told_that_we_are_typing(path: Path) -> None:
    async with bot_on(path, reply(text("one two three four five six " * 4), pace=0.05)) as bot:
        bot.channel.typing_interval = 0.02
        bot.channel.faults["send"] = [SendLater("429", 0.6)]
        await bot.hears(inbound())
        running = asyncio.create_task(bot.wakes())
        await bot.channel.until(lambda channel: "send" in dict(channel.calls))
        before = len(bot.channel.calls)
        await asyncio.sleep(0.3)
        assert bot.channel.calls[before:] == []
        await running
        assert len(bot.channel.shown) == 1


async def test_a_sign_of_life_that_is_too_much_for_the_platform_makes_everything_wait(path: Path) -> None:
    async with bot_on(path, text("Hello.")) as bot:
        bot.channel.faults["typing"] = [SendLater("429", 0.5)]
        await bot.hears(inbound())
        running = asyncio.create_task(bot.wakes())
        await bot.channel.until(lambda channel: channel.calls == [("typing", "")])
        await asyncio.sleep(0.3)
        assert bot.channel.calls == [("typing", "")]
        await running
        assert bot.channel.shown == ["Hello."]


async def test_a_message_is_not_sent_again_because_the_store_fails_for_a_moment_after_it(path: Path) -> None:
    async with bot_on(path, text("Hello.")) as bot:
        failures = iter([True, True])
        bot.store.fails_at = lambda change: (
            change.turn is not None
            and any(part.state == "sent" for part in change.turn.parts)
            and next(failures, False)
        )
        await bot.hears(inbound())
        assert await bot.wakes() == Outcome()
        assert bot.channel.shown == ["Hello."]
        assert next(failures, None) is None


async def test_another_invocation_begins_only_when_the_quiet_that_was_asked_for_is_over(path: Path) -> None:
    async with bot_on(path, reply(text("one two three four five six " * 40), pace=0.05)) as bot:
        bot.channel.faults["send"] = [SendLater("429", 300)]
        await bot.hears(inbound())
        outcome = await bot.wakes(seconds=2)
        assert outcome.again_in is not None
        assert 295 < outcome.again_in <= 300
        assert bot.wake.woken == []
    async with bot_on(path, text("Done.")) as bot:
        await bot.wakes()
        assert bot.channel.shown == ["Done."]


async def test_a_left_over_message_is_taken_back_also_after_flood_control(path: Path) -> None:
    first = reply(text("a long beginning " * 5), pace=0.01, broken=Break("cut", after=20))
    async with bot_on(path, first, text("Short."), longest=20) as bot:
        bot.channel.faults["delete"] = [SendLater("429", 0.1)]
        await bot.hears(inbound())
        await bot.wakes()
        assert bot.channel.shown == ["Short."]


async def test_a_message_sent_anew_is_known_again_by_the_next_invocation(path: Path) -> None:
    async with bot_on(path, marks=True) as bot:
        bot.channel.arrives = True
        bot.channel.faults = {"send": [SendUncertain("cut"), SendUncertain("cut")], "edit": [MessageGone("gone")]}
        await bot.hears(inbound("", command="stop"))
        assert (await bot.wakes()).again_in is not None
        gone, _ = bot.channel.messages
        del bot.channel.messages[gone]
        await bot.wakes()
        assert bot.channel.shown == ["Nothing is running."]


async def test_a_tool_that_is_done_is_not_said_to_run_while_the_answer_grows(path: Path) -> None:
    answer = reply(text("one two three four five six"), pace=0.05)
    async with bot_on(path, call("look", {"at": "long"}), answer) as bot:
        await bot.hears(inbound())
        running = asyncio.create_task(bot.wakes())
        await bot.channel.until(lambda channel: any("look" in words for _, words in channel.calls))
        before = len(bot.channel.calls)
        bot.deeds.gate.set()
        await running
        grown = [words for method, words in bot.channel.calls[before:] if method in ("send", "edit")]
        assert grown[-1] == "one two three four five six"
        assert not any("look" in words for words in grown)


@pytest.mark.parametrize("invisible", ["<!-- nothing to say -->", "\u200b\u2060"])
async def test_of_an_answer_that_nobody_can_see_a_sentence_takes_the_place(path: Path, invisible: str) -> None:
    class Rendering(RecordingChannel):
        def render(self, markdown: str, *, growing: bool = False) -> list[Rendered]:
            return render(markdown, growing=growing)

    async with bot_on(path, text(invisible), channel=Rendering()) as bot:
        await bot.hears(inbound())
        await bot.wakes()
        assert bot.channel.shown == [say("empty", "en")]
