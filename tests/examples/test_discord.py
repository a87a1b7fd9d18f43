"""The example of a third channel, over the wire: what docs/developer.md walks through works as it stands."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.responses import Response

from bot.channels.characters import units
from bot.channels.markdown import flatten
from bot.errors import (
    ChatClosed,
    ConfigError,
    FileRefused,
    MessageGone,
    SendError,
    SendLater,
    SendRefused,
    SendUncertain,
    TokenGone,
)
from bot.messages import Attachment, Button, Person, Place
from bot.ports import Channel, Manner, Rendered, Upload
from bot.texts import say
from examples.discord.__main__ import main
from examples.discord.parse import parse
from examples.discord.receive import proved
from examples.discord.render import MESSAGE_LIMIT, render
from examples.discord.send import DiscordChannel
from scripts.imports import ROOT, imports_of
from simulator.script import call, reply, scripted, text
from tests.channels.any_markdown import markdown
from tests.channels.canned import cutting_platform, unreachable
from tests.cli.process import Kabar, kabar
from tests.examples.discord import TOKEN, Discord, buttons, discord, refusal

EXAMPLE = ROOT / "examples" / "discord"
ROOM = Place("discord:55", "55")
GROUP = Place("discord:66", "66", team="g1", group=True)
ANN = Person("discord:7")
MARKED = Manner(ANN, "t1.0")
HELLO = Rendered("hello")


@asynccontextmanager
async def serving(folder: Path, model_url: str) -> AsyncIterator[tuple[Discord, Kabar]]:
    """``python -m examples.discord`` as a person starts it, and the Discord it talks to."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    async with discord() as here:
        here.endpoint = f"http://127.0.0.1:{port}/discord"
        settings = {
            "DISCORD_BOT_TOKEN": TOKEN,
            "DISCORD_API_BASE_URL": here.url,
            "KABAR_OWNER": "discord:7",
            "KABAR_ASK_FIRST": "calculator",
            "ANTHROPIC_BASE_URL": model_url,
            "KABAR_AGENT_DIR": str(ROOT / "agent"),
        }
        async with kabar(folder, str(port), settings=settings, module="examples.discord") as bot:
            await bot.says("Listening on")
            yield here, bot


async def test_a_whole_conversation(tmp_path: Path) -> None:
    long = "\n\n".join(f"**Chapter {number}** " + "word " * 150 for number in range(4)) + "\n\nThe end."
    script = (
        text("Hello **Ann**, 2 * 3."),
        call("calculator", {"expression": "2+2"}),
        text("It is 4."),
        text(long),
        reply(text("one two three four five six " * 100), pace=0.05),
        text("Tea is in it."),
        call("write_file", {"name": "notes.txt", "content": "green tea", "caption": "Here"}),
        text("Sent."),
    )
    async with scripted(*script) as model, serving(tmp_path, model.url) as (here, _):
        assert (await here.deliver({"type": 1})).json() == {"type": 1}
        assert {"ask", "new", "stop"} <= {command["name"] for command in here.commands}

        asked = here.command("ask", "Hello, who are you?")
        echo = (await here.deliver(asked)).json()
        assert echo["data"]["content"].splitlines()[0] == "> Hello, who are you?"
        assert (await here.deliver(asked)).json() == echo  # twice, and answered once
        await here.shows(lambda seen: seen["content"] == "Hello **Ann**, 2 \\* 3.")
        assert here.typing == {"55"}
        assert len(here.messages) == 1

        await here.deliver(here.command("ask", "What is 2+2?"))
        question = await here.shows(lambda seen: len(buttons(seen)) == 3)
        assert "2+2" in question["content"]
        stranger = here.tap(question, say("approve", "en"), user="8")
        assert (await here.deliver(stranger)).json() == {"type": 6}
        assert (await here.deliver(here.tap(question, say("approve", "en")))).json() == {"type": 6}
        await here.shows(lambda seen: seen["content"] == "It is 4.")
        assert buttons(here.messages[question["id"]]) == []

        await here.deliver(here.command("ask", "Tell me a long story"))
        await here.shows(lambda seen: seen["content"].endswith("The end."))
        told = [seen["content"] for seen in here.messages.values() if "Chapter" in seen["content"]]
        assert " ".join(" ".join(told).split()) == " ".join(long.split())
        assert len(told) > 1

        await here.deliver(here.command("ask", "Count", channel="56"))
        await here.shows(lambda seen: seen["content"].count("two") > 5)
        echo = (await here.deliver(here.command("stop", channel="56"))).json()
        assert echo["data"]["flags"] & 1 << 6  # for whoever gave it alone
        stopped = await here.shows(lambda seen: "two" in seen["content"] and "topped" in seen["content"])
        assert buttons(stopped) == []

        await here.deliver(here.file("What is in this?", "list.txt", b"milk, green tea", "text/plain"))
        await here.shows(lambda seen: seen["content"] == "Tea is in it.")
        assert "green tea" in str(model.requests[-1]["messages"])

        await here.deliver(here.command("ask", "Send me a note"))
        await here.shows(lambda seen: seen["content"] == "Sent.")
        await here.shows(lambda seen: seen["content"] == "Here")
        assert here.files["notes.txt"] == b"green tea"


async def test_nobody_gets_in_by_accident(tmp_path: Path) -> None:
    async with scripted() as model, serving(tmp_path, model.url) as (here, _):
        asked = here.command("ask", "Hello", user="8", guild="g1", channel="66")
        assert (await here.deliver(asked, forged=True)).status_code == 401
        assert (await here.deliver(asked, at=1_000)).status_code == 401
        assert (await here.deliver({"type": 1}, forged=True)).status_code == 401
        assert (await here.deliver({"type": 2, "data": "x" * 1_000_001})).status_code == 413
        await here.deliver(asked)
        told = await here.shows(lambda seen: "discord:8" in seen["content"])
        assert told["channel_id"] == "98"  # in their direct messages, not before the others


async def test_without_a_token_it_says_where_to_find_one() -> None:
    with pytest.raises(ConfigError, match=r"Set DISCORD_BOT_TOKEN, from the page Bot"):
        await main({}, port=0)


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"type": 2},
        {"type": 2, "id": "abc", "channel_id": "1", "user": {"id": "7"}},
        {"type": 2, "id": "5", "channel_id": "1", "user": {"id": "7", "bot": True}},
        {"type": 2, "id": "5", "channel_id": ["1"], "member": "x", "user": {"id": "7"}},
        {"type": 9, "id": "5", "channel_id": "1", "user": {"id": "7"}},
    ],
)
def test_an_odd_interaction_concerns_nobody(odd: dict[str, object]) -> None:
    assert parse(odd) is None


@pytest.mark.parametrize("key", ["", "zz", "00"])
def test_no_key_means_no(key: str) -> None:
    headers = {"x-signature-ed25519": "00" * 64, "x-signature-timestamp": "1"}
    assert proved(key, b"{}", headers, now=1) is False


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32))
def test_any_markdown_fits_loses_no_letter_and_stays_where_it_stood(seed: int) -> None:
    source = markdown(random := Random(seed))
    parts = [part.text for part in render(source)]
    assert all(part.strip() and units(part) <= MESSAGE_LIMIT for part in parts)
    shown = iter("".join(parts))
    assert [letter for letter in flatten(source).text if letter.isalnum() and letter not in shown] == []
    settled = render(source[: random.randint(0, len(source))])[:-2]
    assert render(source)[: len(settled)] == settled


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("**bold** _it_ ~~no~~ `a*b`", "**bold** *it* ~~no~~ `a*b`"),
        ("2*3 # <@1> [x] _y", "2\\*3 # \\<@1> \\[x] \\_y"),
        ("# Head\n\n- one\n- two", "**Head**\n\n• one\n• two"),
        ("[here](https://example.org/a_b)", "[here](<https://example.org/a_b>)"),
        ("https://example.org/a_b and <https://example.org>", "https://example.org/a_b and <https://example.org>"),
        ("> so it is", "> so it is"),
        ("```py\nx = 1\n```", "```py\nx = 1\n```"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "```\na │ b\n──┼──\n1 │ 2\n```"),
        ("", "…"),
    ],
)
def test_markdown_is_written_with_discords_marks(source: str, shown: str) -> None:
    assert [part.text for part in render(source)] == [shown]


@pytest.fixture
async def here() -> AsyncIterator[Discord]:
    async with discord() as here:
        yield here


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Channel]:
    channel = DiscordChannel(TOKEN, url)
    try:
        yield channel
    finally:
        await channel.close()


@pytest.fixture
async def channel(here: Discord) -> AsyncIterator[Channel]:
    async with connected(here.url) as channel:
        yield channel


async def test_a_message_sent_again_with_its_mark_is_the_same_message(here: Discord, channel: Channel) -> None:
    first = await channel.send(ROOM, HELLO, MARKED)
    assert await channel.find(ROOM, MARKED.mark) is None
    assert await channel.send(ROOM, HELLO, MARKED) == first
    assert len(here.messages) == 1


async def test_buttons_come_in_rows_and_go_with_an_edit(here: Discord, channel: Channel) -> None:
    many = tuple(Button(f"b{number}", f"set:{number}", row=number // 7) for number in range(9))
    id = await channel.send(ROOM, Rendered("choose", buttons=many), MARKED)
    assert [len(row["components"]) for row in here.messages[id]["components"]] == [5, 2, 2]
    await channel.edit(ROOM, id, Rendered("chosen"))
    assert (here.messages[id]["content"], here.messages[id]["components"]) == ("chosen", [])


async def test_what_one_person_may_see_goes_to_them_and_is_not_edited(here: Discord, channel: Channel) -> None:
    id = await channel.send(GROUP, HELLO, Manner(ANN, "t1.0", reply_to="5", quiet=True))
    await channel.edit(GROUP, id, Rendered("other"))
    await channel.delete(GROUP, id)
    assert [(seen["channel_id"], seen["content"]) for seen in here.messages.values()] == [("97", "hello")]


async def test_a_message_taken_back_twice_is_gone(here: Discord, channel: Channel) -> None:
    id = await channel.send(ROOM, HELLO, MARKED)
    await channel.delete(ROOM, id)
    await channel.delete(ROOM, id)
    assert here.gone == {id}
    with pytest.raises(MessageGone):
        await channel.edit(ROOM, id, HELLO)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (refusal(429, 0, "You are being rate limited.", retry_after=1.5), SendLater),
        (refusal(500, 0, "Internal Server Error"), SendUncertain),
        (Response("<html>", 502), SendUncertain),
        (refusal(403, 50001, "Missing Access"), ChatClosed),
        (refusal(404, 10003, "Unknown Channel"), ChatClosed),
        (refusal(401, 0, "401: Unauthorized"), TokenGone),
        (refusal(400, 50035, "Invalid Form Body"), SendRefused),
    ],
)
async def test_a_refusal_is_said_in_our_words(
    here: Discord, channel: Channel, answer: Response, error: type[SendError]
) -> None:
    here.refusals.append(answer)
    with pytest.raises(error) as raised:
        await channel.send(ROOM, HELLO, MARKED)
    if isinstance(raised.value, SendLater):
        assert raised.value.retry_after == 1.5


async def test_a_cut_call_may_have_arrived_and_one_that_was_never_made_has_not() -> None:
    async with cutting_platform() as (url, received), connected(url) as channel:
        with pytest.raises(SendUncertain):
            await channel.send(ROOM, HELLO, MARKED)
        assert len(received) == 1
    async with connected(unreachable()) as channel:
        await channel.typing(GROUP, active=False)
        with pytest.raises(SendLater):
            await channel.send(ROOM, HELLO, MARKED)


async def test_a_file_that_is_gone_or_too_large_is_refused_in_a_sentence(here: Discord, channel: Channel) -> None:
    with pytest.raises(FileRefused, match="any more"):
        await channel.fetch(ROOM, Attachment("document", f"{here.url}/files/none"))
    with pytest.raises(FileRefused, match="20 MB"):
        await channel.fetch(ROOM, Attachment("document", f"{here.url}/files/none", size=20_000_001))


async def test_an_album_of_files_arrives_with_its_captions(here: Discord, channel: Channel) -> None:
    await channel.send_files(ROOM, [Upload("a.txt", "text/plain", b"a", "One"), Upload("b.txt", "", b"b")], MARKED)
    assert (here.files["a.txt"], here.files["b.txt"]) == (b"a", b"b")
    assert [seen["content"] for seen in here.messages.values()] == ["One"]


def test_all_of_it_is_less_than_300_lines_that_are_not_blank() -> None:
    lines = [line for file in EXAMPLE.glob("*.py") for line in file.read_text().splitlines() if line.strip()]
    assert len(lines) < 300


@pytest.mark.parametrize("name", ["receive", "parse", "render", "send"])
def test_the_channel_imports_the_core_and_what_channels_share(name: str) -> None:
    """As tests/test_rooms.py has it for those in bot/channels."""
    ours = {module for module in imports_of(f"examples.discord.{name}") if module.startswith(("bot.", "handlers."))}
    above = ("handlers", "bot.cli", "bot.adapters", "bot.tools", "bot.channels.telegram", "bot.channels.slack")
    assert [module for module in ours if module.startswith(above)] == []
