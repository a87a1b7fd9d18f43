"""What a person sees of the offline demo model, asked through the real SDK."""

import re
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anthropic
import pytest
import pytest_asyncio

from bot.adapters.local_wake import LocalWake
from bot.approvals import DENIED, SAID_NO
from bot.cli.wiring import local
from bot.intake import accept
from bot.messages import Person, Place
from bot.texts import say
from bot.tools.files import list_files, read_file, search_files, send_file, write_file
from bot.tools.memory import forget_fact, remember
from handlers.settings import Settings
from simulator.model import DEMO_FEATURES, DEMO_MODEL, demo_app
from simulator.model_demo import DemoBrain, expressions
from simulator.model_demo_tools import called
from simulator.model_rules import Json
from simulator.script import scripted, text
from simulator.serving import serve
from tests.pictures import picture
from tests.recorder import RecordingChannel
from tests.say import inbound
from tests.simulator.tools_tour import WISHES

CALCULATOR: Json = {
    "name": "calculator",
    "description": "Works out a sum.",
    "input_schema": {
        "type": "object",
        "properties": {"digits": {"type": "integer"}, "expression": {"type": "string"}},
        "required": ["expression"],
    },
}
CLOCK: Json = {
    "name": "current_time",
    "description": "Tells the time.",
    "input_schema": {"type": "object", "properties": {"zone": {"type": "string"}}},
}


class Chat:
    """A person's conversation with the demo, kept by the one who asks, as the API wants it."""

    def __init__(self, client: anthropic.AsyncAnthropic, *tools: Json) -> None:
        self.client = client
        self.messages: list[Any] = []
        self.tools: list[Any] = list(tools)

    async def ask(self, *words: str) -> list[Json]:
        """The blocks of the reply to a message of these text blocks."""
        return await self.send([{"type": "text", "text": text} for text in words])

    async def give(self, *results: str, failed: bool = False) -> list[Json]:
        """The reply to the results of the calls just made, in their order."""
        calls = self.messages[-1]["content"]
        return await self.send(
            [
                {"type": "tool_result", "tool_use_id": call["id"], "content": result, "is_error": failed}
                for call, result in zip(calls, results, strict=True)
            ]
        )

    async def send(self, content: list[Json]) -> list[Json]:
        self.messages.append({"role": "user", "content": content})
        async with self.client.messages.stream(
            model="kabar-demo", max_tokens=2000, messages=self.messages, tools=self.tools
        ) as stream:
            reply = [block.to_dict() for block in (await stream.get_final_message()).content]
        self.messages.append({"role": "assistant", "content": reply})
        return reply

    async def hear(self, *words: str) -> str:
        """The text of the reply."""
        return "".join(block["text"] for block in await self.ask(*words))


@pytest_asyncio.fixture(scope="session")
async def client() -> AsyncIterator[anthropic.AsyncAnthropic]:
    async with (
        serve(demo_app(word_delay=0)) as url,
        anthropic.AsyncAnthropic(api_key="demo", base_url=url, max_retries=0) as client,
    ):
        yield client


async def test_the_first_answer_and_only_that_says_it_is_no_ai(client: anthropic.AsyncAnthropic) -> None:
    chat = Chat(client)
    assert "not an AI model" in await chat.hear("hello")
    assert "not an AI model" not in await chat.hear("hello")


@pytest.mark.parametrize(
    ("question", "expression", "answer"),
    [
        ("what is 12*7+3", "12*7+3", "`12*7+3` = **87**"),
        ("2^10", "2**10", "`2**10` = **87**"),
        ("berapa 15% dari 200", "15 / 100 * 200", "`15 / 100 * 200` = **87**"),
    ],
)
async def test_a_sum_goes_through_the_calculator(
    client: anthropic.AsyncAnthropic, question: str, expression: str, answer: str
) -> None:
    chat = Chat(client, CALCULATOR)
    (call,) = await chat.ask(question)
    assert (call["name"], call["input"]) == ("calculator", {"expression": expression})
    (said,) = await chat.give("87")
    assert said["text"].endswith(answer)


async def test_two_sums_are_two_calls_at_once(client: anthropic.AsyncAnthropic) -> None:
    chat = Chat(client, CALCULATOR)
    calls = await chat.ask("what is 2+2 and 3 * (4+5)?")
    assert [call["input"]["expression"] for call in calls] == ["2+2", "3 * (4+5)"]
    (said,) = await chat.give("4", "27")
    assert said["text"].endswith("`2+2` = **4**\n\n`3 * (4+5)` = **27**")


async def test_a_failed_tool_is_told(client: anthropic.AsyncAnthropic) -> None:
    chat = Chat(client, CALCULATOR)
    await chat.ask("1/0")
    (said,) = await chat.give("Division by zero.", failed=True)
    assert said["text"].endswith("The tool could not do it: Division by zero.")


async def test_without_a_calculator_it_does_not_guess(client: anthropic.AsyncAnthropic) -> None:
    assert (await Chat(client).hear("what is 2+2")).endswith("I do not guess.")


@pytest.mark.parametrize(
    ("question", "zone", "answer"),
    [("What time is it?", "UTC", "It is **noon**."), ("jam berapa sekarang", "Asia/Jakarta", "Sekarang **noon**.")],
)
async def test_the_time_comes_from_the_clock(
    client: anthropic.AsyncAnthropic, question: str, zone: str, answer: str
) -> None:
    chat = Chat(client, CALCULATOR, CLOCK)
    (call,) = await chat.ask(question)
    assert (call["name"], call["input"]) == ("current_time", {"zone": zone})
    (said,) = await chat.give("noon")
    assert said["text"].endswith(answer)


@pytest.mark.parametrize(
    ("told", "asked", "known"),
    [
        ("Hi, my name is Ayu.", "what is my name?", "**Ayu**"),
        ("my favourite colour is deep blue, you know", "What's my favourite colour", "**deep blue**"),
        ("nama saya Budi", "siapa nama saya?", "**Budi**"),
        ("kucing saya adalah Manis", "apa kucing saya?", "**Manis**"),
    ],
)
async def test_it_remembers_what_it_was_told(
    client: anthropic.AsyncAnthropic, told: str, asked: str, known: str
) -> None:
    chat = Chat(client)
    await chat.ask(told)
    await chat.ask("hello")
    assert known in await chat.hear(asked)


async def test_the_newest_word_counts(client: anthropic.AsyncAnthropic) -> None:
    chat = Chat(client)
    await chat.ask("my name is Ayu")
    await chat.ask("my name is Budi")
    assert "**Budi**" in await chat.hear("what is my name")


async def test_it_knows_only_what_the_request_holds(client: anthropic.AsyncAnthropic) -> None:
    await Chat(client).ask("my name is Ayu")
    assert "not told me your name" in await Chat(client).hear("what is my name")


async def test_what_the_bot_adds_is_not_taken_for_words_of_a_person(client: anthropic.AsyncAnthropic) -> None:
    chat = Chat(client, CALCULATOR)
    (said,) = await chat.ask("<context>\nmy name is Eve, it is 10+20, jam berapa\n</context>", "what is my name")
    assert "not told me your name" in said["text"]


async def test_a_long_answer_shows_every_kind_of_markdown(client: anthropic.AsyncAnthropic) -> None:
    english, indonesian = await Chat(client).hear("a long answer"), await Chat(client).hear("jawaban panjang")
    for shown in ("\n# ", "\n## ", "\n- ", "\n1. ", "\n> ", "```python\n", "\n|---|", "**", "](https://"):
        assert shown in english and shown in indonesian
    assert len(english) > 1000 and english != indonesian


async def test_it_answers_in_the_language_it_is_asked_in(client: anthropic.AsyncAnthropic) -> None:
    assert "Here is what I can show" in await Chat(client).hear("my name, Dan, you know; so what can you do")
    assert "Ini yang bisa saya tunjukkan" in await Chat(client).hear("halo, kamu bisa apa?")


async def test_it_sums_up_what_was_said(client: anthropic.AsyncAnthropic) -> None:
    chat = Chat(client)
    await chat.ask("my name is Ayu")
    assert (await chat.hear("please summarise")).endswith("- my name is Ayu")


def image(width: int, height: int) -> Json:
    data = b64encode(picture(width, height)).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


async def test_it_says_how_large_the_pictures_are_that_it_is_sent(client: anthropic.AsyncAnthropic) -> None:
    words = {"type": "text", "text": '<attachment kind="photo" file="file:1">image/png</attachment>\n\nwhat is this?'}
    (said,) = await Chat(client).send([words, image(64, 48)])
    assert "I see a picture, 64 x 48 pixels." in said["text"]
    (said,) = await Chat(client).send([{"type": "text", "text": "apa ini?"}, image(64, 48), image(30, 20)])
    assert "Saya melihat 2 gambar (64 x 48, 30 x 20 piksel)." in said["text"]


async def test_what_it_was_sent_or_told_of_last_is_what_it_looks_at_again(client: anthropic.AsyncAnthropic) -> None:
    again = {"name": "reopen", "description": "Opens.", "input_schema": schema("reference")}
    listing = {"name": "list_files", "description": "Lists.", "input_schema": schema()}
    chat = Chat(client, again, listing)
    await chat.ask('<attachment kind="photo" file="file:1a">image/png</attachment>')
    (call,) = await chat.ask("show it to me again")
    assert (call["name"], call["input"]) == ("reopen", {"reference": "file:1a"})
    await chat.give("dawn.png, 640 x 480 pixels")
    await chat.ask("list files")
    await chat.give("dawn.png (image/png, file:1a)\nplan.md (text/markdown, file:2b)")
    (call,) = await chat.ask("lihat lagi")
    assert call["input"] == {"reference": "file:2b"}


async def test_what_somebody_did_not_allow_is_left(client: anthropic.AsyncAnthropic) -> None:
    chat = Chat(client, CALCULATOR)
    await chat.ask("2+2")
    (said,) = await chat.give(DENIED.format(why=SAID_NO), failed=True)
    assert said["text"].endswith("All right, I leave that.")


async def test_it_says_what_a_file_is_and_how_it_begins(client: anthropic.AsyncAnthropic) -> None:
    notes = '<attachment kind="document" file="file:1">notes.txt, text/plain\nTrain at\nseven</attachment>'
    assert "I got a file: notes.txt, text/plain. It begins: “Train at seven”" in await Chat(client).hear(notes)
    film = '<attachment kind="video">film.mp4, video/mp4, No video can be watched.</attachment>\n\nlihat ini'
    assert "Saya menerima file: film.mp4, video/mp4, No video" in await Chat(client).hear(film)


async def test_words_in_a_file_and_of_others_are_not_taken_for_words_of_a_person(
    client: anthropic.AsyncAnthropic,
) -> None:
    chat = Chat(client, CALCULATOR)
    file = '<attachment kind="document">sums.txt, text/plain\nwhat is 2+2</attachment>'
    thread = "<thread>\nBudi: jam berapa 3+3\n</thread>"
    said = await chat.hear(f'{thread}\n\n<quote from="Budi">what is 4+4</quote>\n\n{file}\n\nhello')
    assert "It begins: “what is 2+2”" in said


async def test_what_is_added_while_a_tool_runs_is_answered_too(client: anthropic.AsyncAnthropic) -> None:
    chat = Chat(client, CALCULATOR)
    (call,) = await chat.ask("what is 2+2")
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": "4"}
    added = ["<context>Monday. From Ann.</context>", "and 3*3?"]
    told, call = await chat.send([result, *({"type": "text", "text": text} for text in added)])
    assert ("`2+2` = **4**" in told["text"], call["input"]) == (True, {"expression": "3*3"})


def schema(*needed: str, **optional: Json) -> Json:
    return {
        "type": "object",
        "properties": {name: {"type": "string"} for name in needed} | optional,
        "required": [*needed],
    }


TOOLS = {
    **{
        each.name: each.definition()["input_schema"]
        for each in (*(list_files, read_file, search_files, send_file, write_file), *(remember, forget_fact))
    },
    "web_search": schema("query", count={"type": "integer"}),
    "web_fetch": schema("url"),
    "skill": schema("name", file={"type": "string"}),
    "delegate": schema("agent", "task"),
    "run_python": schema("code"),
    "remind": schema("text", "when"),
    "list_reminders": schema(),
    "cancel_reminder": schema("id"),
    "set_time_zone": schema("zone"),
}


@pytest.mark.parametrize(
    ("words", "tool", "arguments"),
    [
        ("Please remember that I like tea.", "remember", {"fact": "I like tea"}),
        ("ingat bahwa saya suka teh", "remember", {"fact": "saya suka teh"}),
        ("forget that I like tea", "forget_fact", {"fact": "I like tea"}),
        ("lupakan 1", "forget_fact", {"fact": "1"}),
        ("list files", "list_files", {}),
        ("berkas apa yang ada?", "list_files", {}),
        ("read notes.txt", "read_file", {"name": "notes.txt"}),
        ("baca catatan saya.txt", "read_file", {"name": "catatan saya.txt"}),
        ("find jeep in my files", "search_files", {"words": "jeep"}),
        ("file apa yang ada?", "list_files", {}),
        ("cari jip di berkas", "search_files", {"words": "jip"}),
        ("send me notes.txt", "send_file", {"name": "notes.txt"}),
        ("kirim notes.txt", "send_file", {"name": "notes.txt"}),
        ("search for Bromo weather", "web_search", {"query": "Bromo weather"}),
        ("cari cuaca Bromo di internet", "web_search", {"query": "cuaca Bromo"}),
        ("research Bromo weather!", "delegate", {"agent": "researcher", "task": "search for Bromo weather"}),
        ("telusuri cuaca Bromo", "delegate", {"agent": "researcher", "task": "cari cuaca Bromo di web"}),
        ("open https://example.org/a", "web_fetch", {"url": "https://example.org/a"}),
        ("buka https://example.org/a", "web_fetch", {"url": "https://example.org/a"}),
        ("remind me in 2 minutes to stretch", "remind", {"text": "stretch", "when": "in 2 minutes"}),
        ("ingatkan saya 2 menit lagi untuk minum", "remind", {"text": "minum", "when": "in 2 minutes"}),
        ("remind me in 1 hour", "remind", {"text": "the time is up", "when": "in 1 hour"}),
        ("Please summarise this thread", "skill", {"name": "summarise-thread"}),
        ("sum up the chat", "skill", {"name": "summarise-thread"}),
        ("rangkum utas ini", "skill", {"name": "summarise-thread"}),
        ("list reminders", "list_reminders", {}),
        ("pengingat saya?", "list_reminders", {}),
        ("cancel reminder a1b2c3", "cancel_reminder", {"id": "a1b2c3"}),
        ("my time zone is Asia/Jakarta", "set_time_zone", {"zone": "Asia/Jakarta"}),
        ("zona waktu saya Asia/Makassar", "set_time_zone", {"zone": "Asia/Makassar"}),
    ],
)
def test_each_tool_is_called_for_in_plain_words(words: str, tool: str, arguments: Json) -> None:
    assert called(words, TOOLS) == (tool, arguments)


@pytest.mark.parametrize("language", ["en", "id"])
def test_it_can_do_what_the_page_of_reminders_names_as_an_example(language: str) -> None:
    example = re.split(r"(?:such as|misalnya): ", say("reminders_none", language))[1]
    tool, arguments = called(example, TOOLS) or ("", {})
    assert (tool, arguments["text"]) == ("remind", "call Ann" if language == "en" else "menelepon Ani")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT09:00", arguments["when"])


@pytest.mark.parametrize(
    ("words", "tool"),
    [
        ("make a file", "write_file"),
        ("buat file", "write_file"),
        ("buat berkas", "write_file"),
        ("draw a chart", "run_python"),
        ("grafik", "run_python"),
    ],
)
def test_what_it_writes_itself_is_complete(words: str, tool: str) -> None:
    call = called(words, TOOLS)
    assert call is not None and call[0] == tool
    assert call[1].keys() == set(TOOLS[tool]["required"]) and all(call[1].values())


async def tools_of_the_bot(folder: Path) -> list[Json]:
    """What the bot offers the demo model, as it stands in a request."""
    ann = Person("terminal:ann", "Ann")
    hello = inbound("hi", sender=ann, place=Place("terminal:ann", "ann"))
    async with scripted(text("Hello.")) as model:
        settings = Settings(
            anthropic_base_url=model.url,
            kabar_model=DEMO_MODEL,
            kabar_model_features=DEMO_FEATURES,
            kabar_owner=ann.id,
            kabar_data=str(folder / "kabar.sqlite3"),
            kabar_files=str(folder / "files"),
        )
        async with local(settings, {"terminal": RecordingChannel()}) as bot:
            await accept(hello, bot.store, bot.wake, bot.clock)
            assert isinstance(bot.wake, LocalWake)
            await bot.wake.drain()
        tools: list[Json] = model.requests[0]["tools"]
    return tools


async def test_every_tool_of_the_bot_is_called_for_in_plain_words_of_both_languages(tmp_path: Path) -> None:
    tools = await tools_of_the_bot(tmp_path)
    seen = '<attachment kind="photo" file="file:1">image/png</attachment>'

    def tool_used(words: str) -> str:
        request = {"tools": tools, "messages": [{"role": "user", "content": f"{seen}\n\n{words}"}]}
        return " ".join(block["name"] for block in DemoBrain(0)(request).content if block["type"] == "tool_use")

    for wish in WISHES:
        for words in (wish.english, wish.indonesian):
            assert (words, tool_used(words.format("https://example.org"))) == (words, wish.tool)
    assert {wish.tool for wish in WISHES} == {tool["name"] for tool in tools}


def test_a_tool_that_is_not_offered_or_needs_more_than_it_knows_is_not_called() -> None:
    assert called("remember that I like tea", {}) is None
    assert called("list reminders", {"list_reminders": schema("chat")}) is None


async def test_what_a_tool_said_is_told(client: anthropic.AsyncAnthropic) -> None:
    tool = {"name": "list_files", "description": "Lists.", "input_schema": {"type": "object", "properties": {}}}
    chat = Chat(client, tool)
    await chat.ask("list files")
    (said,) = await chat.give("notes.txt\nplan.md")
    assert said["text"].endswith("The tool `list_files` says:\n\n> notes.txt\n> plan.md")


async def test_a_thread_is_summed_up_as_the_skill_for_it_says(client: anthropic.AsyncAnthropic) -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    chat = Chat(client, {"name": "skill", "description": "Reads a skill.", "input_schema": schema})
    await chat.ask("We meet on Monday.")
    await chat.ask("summarise this thread")
    (said,) = await chat.give("# Summarise a thread")
    assert said["text"].endswith(
        "The tool `skill` says:\n\n> # Summarise a thread\n\nWhat was said before:\n- We meet on Monday."
    )


def test_a_slow_answer_takes_longer_for_each_word() -> None:
    brain = DemoBrain(word_delay=0.01)
    normal, slow = (brain({"messages": [{"role": "user", "content": words}]}) for words in ("hello", "go slow"))
    assert normal.pace == 0.01
    assert slow.pace > 5 * normal.pace


def test_no_tool_is_called_where_none_may_be() -> None:
    question: Json = {"messages": [{"role": "user", "content": "2+2"}], "tools": [CALCULATOR]}
    assert DemoBrain(0)(question).stop_reason == "tool_use"
    assert DemoBrain(0)(question | {"tool_choice": {"type": "none"}}).stop_reason == "end_turn"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("1,000 + 5", ["1000 + 5"]),
        ("berapa 1.000,5 + 3", ["1000.5 + 3"]),
        ("15% of 80 and 7 × 6", ["15 / 100 * 80", "7 * 6"]),
        ("3 x 4 ÷ 2", ["3 * 4 / 2"]),
        ("(1+2)*(3-4)", ["(1+2)*(3-4)"]),
        ("I have 3 cats and 10 dogs", []),
        ("on 2026-11-30 at 10:30, or 30/11/2026", []),
        ("call +62-812-3456-789 or see https://example.com/1/2", []),
        ("version 1.2-3 of it", ["1.2-3"]),
        ("(2+3", []),
    ],
)
def test_sums_are_told_from_other_numbers(words: str, found: list[str]) -> None:
    assert expressions(words) == found
