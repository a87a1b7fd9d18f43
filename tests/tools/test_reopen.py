"""A result shown as a note is read again in pages, however far back it lies."""

import re
from pathlib import Path

import pytest

from bot.messages import Json
from bot.toolkit import tool
from bot.tools.reopen import PAGE, reopen
from simulator.model_reply import Step
from simulator.script import call, reply, text
from tests.policies.chat import Chat, chat, words

WORDS = " ".join(f"word{number}" for number in range(1_700))


@tool(result_chars=100_000)
async def read() -> str:
    """Read a book."""
    return WORDS


async def talk_until_cut(talk: Chat) -> None:
    await talk.say("read it")
    while not talk.folds:
        await talk.say("and now? " * 60)


def reference_in(request: Json) -> str:
    (found,) = set(re.findall(r"result:[0-9a-f]+:\w+", words(request)))
    return str(found)


async def reopened(path: Path, reference: str = "", page: int = 1) -> str:
    """What the model reads when it asks for the note of a turn that is long gone."""

    def answer(request: Json) -> Step:
        if len(talk.prompts) == 1:
            return reply(call("read", {}))
        if words(request).endswith("open it"):
            return reply(call("reopen", {"reference": reference or reference_in(talk.folds[0]), "page": page}))
        return reply(text("Noted."))

    async with chat(path / "k.sqlite3", answer, lambda request: reply(text("SUMMARY")), tools=(read, reopen)) as talk:
        await talk_until_cut(talk)
        await talk.say("open it")
        return str(talk.prompts[-1]["messages"][-1]["content"][0]["content"])


async def test_a_note_is_opened_again_after_its_turn_is_gone(tmp_path: Path) -> None:
    assert await reopened(tmp_path) == f"(Page 1 of 2.)\n{WORDS[:PAGE]}"


async def test_every_page_can_be_read(tmp_path: Path) -> None:
    assert await reopened(tmp_path, page=2) == f"(Page 2 of 2.)\n{WORDS[PAGE : 2 * PAGE]}"


async def test_a_page_too_far_is_told(tmp_path: Path) -> None:
    assert await reopened(tmp_path, page=9) == "It has 2 pages."


@pytest.mark.parametrize("reference", ["result:ffffffffffff:toolu_9", "that one"])
async def test_a_reference_to_nothing_is_told(tmp_path: Path, reference: str) -> None:
    assert (await reopened(tmp_path, reference)).startswith("There is no such thing")
