"""Policy ``compact``: the provider's own block stands first, whole, and whoever can not make one is replaced."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from bot.messages import Json, Usage
from bot.policies.compact import Compact
from bot.policies.summarise import Summarise
from simulator.model_reply import Step
from simulator.script import overloaded, reply, text
from tests.policies.chat import CHAT, Chat, chat, words

BLOCK = {"type": "compaction", "content": "They plan a trip.", "encrypted_content": "b3BhcXVl", "signature": "c2ln"}
COST = {"type": "compaction", "input_tokens": 40, "cache_read_input_tokens": 900, "output_tokens": 70}
FREE = {"input_tokens": 0, "output_tokens": 0, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
FOLDED = reply(BLOCK, stop_reason="compaction", usage=FREE | {"cache_creation": {}, "iterations": [COST]})
NOTHING = reply({"type": "compaction", "content": None}, stop_reason="compaction")
EMPTY = reply(stop_reason="compaction")


def talk_with(path: Path, folded: Step) -> AbstractAsyncContextManager[Chat]:
    def answer(request: Json) -> Step:
        return folded if "compaction" in request else reply(text("Noted."))

    return chat(
        path / "kabar.sqlite3",
        answer,
        lambda request: reply(text("SUMMARY")),
        policy=lambda strong, cheap: Compact(strong, Summarise(cheap, 100_000)),
    )


async def until_folded(talk: Chat) -> None:
    while not await talk.summaries():
        await talk.say(f"turn {talk.said} {'long ' * 200}")
    await talk.say("and now?")


async def test_the_signed_block_is_kept_whole_and_sent_back_first(tmp_path: Path) -> None:
    async with talk_with(tmp_path, FOLDED) as talk:
        await until_folded(talk)
        (summary,) = await talk.summaries()
        assert summary.block == BLOCK
        assert summary.text == "They plan a trip."
        assert talk.prompts[-1]["messages"][0] == {"role": "assistant", "content": [BLOCK]}
        assert "turn 0 " not in words(talk.prompts[-1])
        assert talk.folds == []


async def test_what_folding_took_is_counted(tmp_path: Path) -> None:
    async with talk_with(tmp_path, FOLDED) as talk:
        await until_folded(talk)
        (summary,) = await talk.summaries()
        assert summary.usage == Usage(fresh=40, cache_read=900, output=70)
        assert summary.model == CHAT


async def test_the_provider_reads_the_turns_that_go_as_they_were_sent_before(tmp_path: Path) -> None:
    async with talk_with(tmp_path, FOLDED) as talk:
        await until_folded(talk)
        at = next(index for index, request in enumerate(talk.prompts) if "compaction" in request)
        before, folding = talk.prompts[at - 1], talk.prompts[at]
        assert folding["system"] == before["system"]
        shown = [block["text"] for message in folding["messages"][:-1] for block in message["content"]]
        assert shown == [block["text"] for message in before["messages"] for block in message["content"]][: len(shown)]
        assert "tool_choice" not in folding


@pytest.mark.parametrize("failed", [overloaded(), NOTHING, EMPTY, reply(text("Gladly!"))])
async def test_where_the_provider_folds_nothing_a_summary_is_written(tmp_path: Path, failed: Step) -> None:
    async with talk_with(tmp_path, failed) as talk:
        await until_folded(talk)
        assert len(talk.folds) == 1
        assert "SUMMARY" in words(talk.prompts[-1])


async def test_a_second_folding_takes_the_first_block_in(tmp_path: Path) -> None:
    async with talk_with(tmp_path, FOLDED) as talk:
        await until_folded(talk)
        while len(await talk.summaries()) < 2:
            await talk.say("long " * 200)
        second = [request for request in talk.prompts if "compaction" in request][1]
        assert second["messages"][0]["content"] == [BLOCK]
