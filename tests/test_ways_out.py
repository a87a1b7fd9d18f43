"""What a person sees beside words: what is worked on, and files."""

import asyncio
import shutil
from pathlib import Path

import pytest

from bot.adapters.sqlite_store import SQLiteStore
from bot.clock import SystemClock
from bot.errors import ChatClosed, SendLater, SendRefused, SendUncertain, TokenGone
from bot.messages import Place, Returned
from bot.toolkit import Output, Toolbox, ToolContext, tool
from simulator.model_reply import Break
from simulator.script import call, overloaded, reply, text
from tests.bots import Bot, bot_on
from tests.recorder import RecordingChannel
from tests.say import inbound


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kabar.sqlite3"


@tool(writes=True)
async def draw(what: str, context: ToolContext) -> Output:
    """Draw something."""
    file = await context.files.keep(f"{what}.txt", what.encode(), "text/plain")
    return Output("Drawn and sent.", files=(file,))


DRAWS = reply(call("draw", {"what": "a cat"}))


async def asked(bot: Bot) -> None:
    await bot.hears(inbound("draw a cat"))
    await bot.wakes()


async def test_what_a_tool_made_is_sent_after_the_words(path: Path) -> None:
    async with bot_on(path, DRAWS, text("Here it is."), tools=Toolbox([draw])) as bot:
        await asked(bot)
        assert bot.channel.shown == ["Here it is.", "[a cat.txt]"]
        returned = (await bot.entries())[2]
        assert isinstance(returned, Returned) and [file.name for file in returned.files] == ["a cat.txt"]


async def test_a_file_whose_sending_was_cut_is_found_and_not_sent_twice(path: Path) -> None:
    async with bot_on(path, DRAWS, text("Here it is."), tools=Toolbox([draw]), marks=True) as bot:
        bot.channel.arrives = True
        bot.channel.faults["send_files"] = [SendUncertain("cut")]
        await asked(bot)
        assert bot.channel.shown == ["Here it is.", "[a cat.txt]"]


async def test_flood_control_while_a_cut_file_is_looked_for_is_waited_out(path: Path) -> None:
    async with bot_on(path, DRAWS, text("Here it is."), tools=Toolbox([draw]), marks=True) as bot:
        bot.channel.arrives = True
        bot.channel.faults = {"send_files": [SendUncertain("cut")], "find": [SendLater("429", 0.1)]}
        await asked(bot)
        assert bot.channel.shown == ["Here it is.", "[a cat.txt]"]


class Looked(RecordingChannel):
    """Shows drafts, and counts how often the delivery asks what it can show."""

    looks = 0

    def drafts(self, place: Place) -> bool:
        return True

    @property
    def shows_tasks(self) -> bool:  # type: ignore[override]  # asked at each look
        self.looks += 1
        return False


async def test_a_draft_of_words_that_no_longer_count_keeps_nobody_busy(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.delivery.DRAFT_LASTS", 0.05)
    begun = reply(text("one two three four"), pace=0.02, broken=Break("cut", after=3))
    channel = Looked()
    async with bot_on(path, begun, overloaded("1"), text("Done."), channel=channel) as bot:
        await asked(bot)
        assert channel.shown == ["Done."]
        assert channel.looks < 200


async def test_a_file_that_the_platform_refuses_is_told_in_a_sentence(path: Path) -> None:
    async with bot_on(path, DRAWS, text("Here it is."), tools=Toolbox([draw])) as bot:
        bot.channel.faults["send_files"] = [SendRefused("file is too big")]
        await asked(bot)
        assert bot.channel.shown == ["Here it is.", "A file could not be sent here: a cat.txt"]


async def test_a_file_that_is_kept_no_more_when_it_can_be_sent_is_named(path: Path) -> None:
    async with bot_on(path, DRAWS, text("Here it is."), tools=Toolbox([draw])) as bot:
        bot.channel.faults["send_files"] = [TokenGone("Unauthorized")]
        await asked(bot)
        shutil.rmtree(path.parent / "files")
        await bot.wakes()
        assert bot.channel.shown == ["Here it is.", "A file could not be sent here: a cat.txt"]


async def test_long_tool_work_is_told_in_one_silent_line_that_goes_when_words_come(path: Path) -> None:
    async with bot_on(path, reply(call("look", {"at": "long"})), reply(text("Done, I saw it all."), pace=0.05)) as bot:
        await bot.hears(inbound())
        running = asyncio.create_task(bot.wakes())
        await bot.channel.until(lambda channel: channel.shown == ["Working: look…"])
        assert [manner.silent for manner in bot.channel.manners] == [True]
        bot.deeds.gate.set()
        await running
        assert bot.channel.shown == ["Done, I saw it all."]
        assert [said for _, said in bot.channel.calls if "Done" in said and "Working" in said] == []
        assert [manner.silent for manner in bot.channel.manners] == [True, False]


async def test_work_that_is_done_at_once_needs_no_line(path: Path) -> None:
    async with bot_on(path, reply(call("look", {"at": "short"})), text("Done.")) as bot:
        await asked(bot)
        assert [shown for method, shown in bot.channel.calls if method == "send"] == ["Done."]


async def test_everything_of_a_conversation_is_gone_after_forget(path: Path) -> None:
    async with bot_on(path, DRAWS, text("Here it is."), tools=Toolbox([draw])) as bot:
        await asked(bot)
        await bot.hears(inbound("", 2, command="forget"), inbound("yes", 3, command="forget"))
        await bot.wakes()
        assert bot.channel.shown[-1].startswith("This deletes for good")
        await bot.wakes()
        assert bot.channel.shown[-1].startswith("Deleted:")
        assert await bot.entries() == []
        assert not [kept for kept in (path.parent / "files").rglob("*") if kept.is_file()]
    store = SQLiteStore(path, SystemClock())
    assert not await store.knows("telegram:1")
    store.close()


async def test_a_conversation_is_forgotten_although_the_chat_is_closed_before_that_can_be_said(path: Path) -> None:
    async with bot_on(path, text("Hello.")) as bot:
        await bot.hears(inbound("hi", 1))
        await bot.wakes()
        bot.channel.faults["send"] = [ChatClosed("blocked by the user")]
        await bot.hears(inbound("yes", 2, command="forget"))
        await bot.wakes()
        assert await bot.entries() == []
