"""``kabar mcp``: another agent reads the conversations of this machine, and sends only what a person confirmed."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult, TextContent
from msgspec.structs import replace

from bot.adapters.sqlite_store import SQLiteStore
from bot.cli.mcp_server import make_server
from bot.clock import SystemClock
from bot.messages import Place, Reminder
from bot.reminding import fire
from simulator.script import call, text
from tests.bots import NoWake, Scout, Unscheduled, bot_on
from tests.cli.process import ROOT, WAIT
from tests.say import BUDI, GROUP, inbound

WARUNG = replace(GROUP, title="Warung")
TERMINAL = Place(conversation="terminal:main", chat="main")


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    """What was said in three chats."""
    path = tmp_path / "kabar.sqlite3"
    async with bot_on(path, text("At the market."), text("Good evening."), text("Hi."), channels=CHATS) as bot:
        for said in (
            inbound("Where is the durian from?", 1),
            inbound("Selamat malam, durian!", 2, sender=BUDI, place=WARUNG),
            inbound("hello", 3, place=TERMINAL),
        ):
            await bot.hears(said)
            await bot.wakes(said.conversation)
    return path


CHATS = ("telegram", "terminal")


@asynccontextmanager
async def a_client(path: Path, word: str = "accept", send: bool = True, **options: Any) -> AsyncIterator[Client]:
    """A client whose person answers so. ``asked`` on it is what they were asked."""
    store = SQLiteStore(path, SystemClock())
    asked: list[str] = []

    async def answer(context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action=word, content={"send": send} if word == "accept" else None)  # type: ignore[arg-type]

    server = make_server(store, SystemClock(), options.pop("owner", "telegram:1"))
    options.setdefault("elicitation_callback", answer)
    try:
        async with asyncio.timeout(WAIT), Client(server, **options) as client:
            yield client
    finally:
        store.close()


async def calls(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


async def laid_down(path: Path) -> list[Reminder]:
    store = SQLiteStore(path, SystemClock())
    found = await store.reminders(WARUNG.conversation)
    store.close()
    return found


async def test_chats_are_listed_read_and_searched(path: Path) -> None:
    async with a_client(path) as client:
        chats = (await calls(client, "list_chats")).splitlines()
        assert [line.strip() for line in chats[::2]] == ["terminal:main", "telegram:-5 Warung", "telegram:1"]
        read = (await calls(client, "read_chat", chat="telegram:1")).splitlines()
        assert [line.rpartition(": ")[2] for line in read] == ["Where is the durian from?", "At the market."]
        assert "Ann" in read[0] and "Kabar" in read[1]
        assert "Where is" in await calls(client, "read_chat", chat="telegram:1", before=2, count=1)
        found = (await calls(client, "search_messages", words="DURIAN")).splitlines()
        assert [line.split()[0] for line in found] == ["telegram:-5", "telegram:1"]
        assert await calls(client, "search_messages", words="durian malam", chat="telegram:1") == "Nothing was found."
        assert "There is no chat 'telegram:9'" in await calls(client, "read_chat", chat="telegram:9")


async def test_what_subagents_did_is_no_chat(path: Path) -> None:
    script = (call("delegate", {"agent": "scout", "task": "Look for a durian."}), text("None."), text("There is none."))
    async with bot_on(path, *script, scout=Scout()) as bot:
        await bot.hears(inbound("Is there another?", 4))
        await bot.wakes()
    async with a_client(path) as client:
        chats = (await calls(client, "list_chats")).splitlines()
        assert [line.strip() for line in chats[::2]] == ["telegram:1", "terminal:main", "telegram:-5 Warung"]
        found = await calls(client, "search_messages", words="durian")
        assert "Look for" not in found


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_confirmed_message_is_told_in_its_chat_once_by_the_bot_that_runs(path: Path, mode: str) -> None:
    async with a_client(path, mode=mode) as client:
        assert "Laid down." in await calls(client, "send_message", chat="telegram:-5", text="We open at nine.")
    [reminder] = await laid_down(path)
    async with bot_on(path) as bot:
        for _ in range(2):
            await fire(
                reminder.place.conversation, reminder.id, reminder.at, bot.store, Unscheduled(), NoWake(), SystemClock()
            )
            await bot.wakes(WARUNG.conversation)
        assert bot.channel.shown == ["⏰ Ann: We open at nine."]
        assert bot.channel.places[0].chat == "-5"


@pytest.mark.parametrize(("word", "send"), [("decline", False), ("cancel", False), ("accept", False)])
async def test_without_a_yes_nothing_is_sent(path: Path, word: str, send: bool) -> None:
    async with a_client(path, word, send) as client:
        assert "Laid down" not in await calls(client, "send_message", chat="telegram:-5", text="We open at nine.")
    assert await laid_down(path) == []


async def test_a_program_that_can_not_ask_its_person_sends_nothing(path: Path) -> None:
    async with a_client(path, elicitation_callback=None) as client:
        with pytest.raises(Exception, match=r"(?i)elicitation"):
            await calls(client, "send_message", chat="telegram:-5", text="We open at nine.")
    assert await laid_down(path) == []


@pytest.mark.parametrize(
    ("chat", "owner"), [("telegram:9", "telegram:1"), ("terminal:main", "t:1"), ("telegram:1", "")]
)
async def test_a_message_goes_only_to_a_chat_there_is_and_in_somebody_s_name(path: Path, chat: str, owner: str) -> None:
    async with a_client(path, owner=owner) as client:
        result = await client.call_tool("send_message", {"chat": chat, "text": "hi"})
        assert result.is_error


async def test_the_command_speaks_on_standard_input_and_output(path: Path) -> None:
    environment = {"PYTHONPATH": str(ROOT), "KABAR_DATA": str(path), "KABAR_OWNER": "telegram:1"}
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "bot.cli.main", "mcp"], env=environment, cwd=path.parent
    )
    async with asyncio.timeout(WAIT), Client(command) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == {
            "list_chats",
            "read_chat",
            "search_messages",
            "send_message",
        }
        assert "telegram:1" in await calls(client, "list_chats")
