"""What a person sees of the offline demo model, asked through the real SDK."""

from collections.abc import AsyncIterator
from typing import Any

import anthropic
import pytest
import pytest_asyncio

from simulator.model import demo_app
from simulator.model_demo import DemoBrain, expressions
from simulator.model_rules import Json
from simulator.serving import serve

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


async def test_a_picture_is_acknowledged(client: anthropic.AsyncAnthropic) -> None:
    pixel = "R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
    source = {"type": "base64", "media_type": "image/gif", "data": pixel}
    (said,) = await Chat(client).send([{"type": "image", "source": source}])
    assert "image/gif" in said["text"]


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
