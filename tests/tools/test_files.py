"""The files of a chat, as a model reaches them."""

from pathlib import Path
from typing import Any

import pytest

from bot.messages import Attachment
from bot.toolkit import Toolbox, tool
from bot.tools.files import list_files, read_file, search_files, send_file, write_file
from simulator.script import call, reply, text
from tests.bots import Bot, bot_on, results
from tests.pictures import PNG
from tests.say import GROUP, HERE, inbound

TOOLS = Toolbox([list_files, read_file, search_files, send_file, write_file])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kabar.sqlite3"


async def given(bot: Bot, name: str, data: bytes, number: int) -> None:
    bot.channel.files[name] = data
    await bot.hears(inbound("here", number, attachments=(Attachment("document", name, name),)))
    await bot.wakes()


async def result_of(path: Path, tool: str, **arguments: Any) -> str:
    """What a call returns in a chat that has two texts and a picture."""
    answers = [text("Thanks.")] * 3
    async with bot_on(path, *answers, reply(call(tool, arguments)), text("Done."), tools=TOOLS) as bot:
        await given(bot, "plan.txt", b"We meet on Monday.\nBring coffee.", 1)
        await given(bot, "plan.txt", b"We meet on Tuesday.", 2)
        await given(bot, "map.png", PNG, 3)
        await bot.hears(inbound("go", 4))
        await bot.wakes()
        shown = results(bot.model.requests[-1])[0]["content"]
        return shown if isinstance(shown, str) else f"{shown[0]['text']} + {shown[1]['type']}"


async def test_files_of_one_name_are_told_apart(path: Path) -> None:
    listed = await result_of(path, "list_files")
    assert [line.partition(" (text")[0].partition(" (image")[0] for line in listed.split("\n")] == [
        "plan.txt",
        "plan (2).txt",
        "map.png",
    ]


async def test_a_text_is_read_by_its_name(path: Path) -> None:
    assert await result_of(path, "read_file", name="plan (2).txt") == "(Page 1 of 1.)\nWe meet on Tuesday."


async def test_a_picture_is_looked_at(path: Path) -> None:
    assert (await result_of(path, "read_file", name="map.png")).endswith("+ image")


@pytest.mark.parametrize("name", ["../plan.txt", "/etc/passwd", "plan", "file:0", ""])
async def test_what_is_not_a_file_of_the_chat_is_not_read(path: Path, name: str) -> None:
    assert (await result_of(path, "read_file", name=name)).startswith("There is no file")


async def test_words_are_found_in_all_texts(path: Path) -> None:
    found = await result_of(path, "search_files", words="WE MEET")
    assert len(found.split("\n")) == 2 and "plan (2).txt, character 0: … We meet on Tuesday. …" in found


async def test_a_file_comes_back_as_it_was(path: Path) -> None:
    async with bot_on(
        path, text("Thanks."), reply(call("send_file", {"name": "a.txt"})), text("Here."), tools=TOOLS
    ) as bot:
        await given(bot, "a.txt", b"as it was", 1)
        await bot.hears(inbound("send it back", 2))
        await bot.wakes()
        assert bot.channel.shown[-2:] == ["Here.", "[a.txt]"]


async def test_a_file_is_sent_with_the_line_that_belongs_under_it(path: Path) -> None:
    sent = reply(call("send_file", {"name": "a.txt", "caption": "As it was on Monday"}, id="s"))
    written = reply(call("write_file", {"name": "b.txt", "content": "now", "caption": "As it is now"}, id="w"))
    async with bot_on(path, text("Thanks."), sent, written, text("Both."), tools=TOOLS) as bot:
        await given(bot, "a.txt", b"as it was", 1)
        await bot.hears(inbound("what changed?", 2))
        await bot.wakes()
        assert bot.channel.shown[-2:] == ["[a.txt] As it was on Monday", "[b.txt] As it is now"]


@pytest.mark.parametrize("line", ["see https://evil.example/?d=secret", "evil.example/secret", "WWW.evil.example"])
async def test_a_line_under_a_file_holds_no_address_that_a_preview_would_fetch(path: Path, line: str) -> None:
    sent = reply(call("send_file", {"name": "a.txt", "caption": line}, id="s"))
    written = reply(call("write_file", {"name": "b.txt", "content": "now", "caption": line}, id="w"))
    async with bot_on(path, text("Thanks."), sent, written, text("No."), tools=TOOLS) as bot:
        await given(bot, "a.txt", b"as it was", 1)
        await bot.hears(inbound("send it", 2))
        await bot.wakes()
        assert bot.channel.uploads == [] and results(bot.model.requests[-1])[0]["is_error"]


async def test_what_is_written_is_sent_and_stays_a_file_of_the_chat(path: Path) -> None:
    written = reply(call("write_file", {"name": "../x/prices.csv", "content": "a,b\n1,2"}))
    script = (written, text("Here."), reply(call("list_files", {})), text("That one."))
    async with bot_on(path, *script, tools=TOOLS) as bot:
        await bot.hears(inbound("make a table", 1))
        await bot.wakes()
        assert bot.channel.shown == ["Here.", "[_x_prices.csv]"]
        await bot.hears(inbound("which files are there?", 2))
        await bot.wakes()
        assert results(bot.model.requests[-1])[0]["content"].startswith("_x_prices.csv (text/csv, 7 bytes")


async def test_another_chats_files_are_not_there(path: Path) -> None:
    script = (text("Thanks."), reply(call("list_files", {})), text("None."))
    async with bot_on(path, *script, tools=TOOLS) as bot:
        await given(bot, "secret.txt", b"secret", 1)
        await bot.hears(inbound("which files?", 2, place=GROUP))
        await bot.wakes(GROUP.conversation)
        assert results(bot.model.requests[-1])[0]["content"] == "There are no files in this chat."
        assert HERE.conversation != GROUP.conversation


@tool(result_chars=2_000)
async def shelf() -> str:
    """Tell what is on the shelf."""
    return "".join(f"book {number}\n" for number in range(5_000))


async def test_what_is_left_out_of_a_long_result_can_be_read_and_is_not_sent(path: Path) -> None:
    script = (reply(call("shelf", {})), reply(call("read_file", {"name": "shelf.txt", "page": 3})), text("Many."))
    async with bot_on(path, *script, tools=Toolbox([shelf, read_file])) as bot:
        await bot.hears(inbound("what is there?", 1))
        await bot.wakes()
        assert bot.channel.shown == ["Many."]
        first, page = (results(request)[-1]["content"] for request in bot.model.requests[1:])
        assert len(first) < 2_200 and 'To read all of it: reopen "file:' in first
        assert page.startswith("(Page 3 of ") and "book 1900\n" in page
