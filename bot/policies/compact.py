"""Policy ``compact``: the provider folds the turns itself, into a block that it signs and later takes in their place.

The same model reads the same prompt once more, so most of it comes from the cache; the block may hold more than its
words tell. Source: the provider's documentation of compaction on demand (``compact-2026-09-04``).
"""

import asyncio

from bot.blocks import is_compaction
from bot.caching import SHORT
from bot.errors import ModelError, ModelUnavailable
from bot.history import build_messages
from bot.messages import Json, Reply, Summary
from bot.ports import LeftOut, Model, Policy, Prompt

ROOM = 4_000
"""Tokens of the block: the provider wants several thousand. In a prompt they weigh what they say."""
SECONDS = 20.0
"""Then it is the other policy's turn, within what ``bot/folding.py`` allows both."""
INSTRUCTIONS = """Summarise the conversation so that it can go on from the summary alone: who takes part, their goals, \
decisions, facts and names, open tasks, files and references such as result:… . Keep above all: """


class Compact:
    """``otherwise`` takes over where the provider can not, does not or takes too long."""

    def __init__(self, model: Model, otherwise: Policy) -> None:
        self._model = model
        self._otherwise = otherwise

    async def summary(self, left: LeftOut) -> Summary:
        try:
            async with asyncio.timeout(SECONDS):
                reply = await self._model.reply(_prompt(left), lambda text: None)
            block = _block(reply)
        except (ModelError, TimeoutError):
            return await self._otherwise.summary(left)
        return Summary(text=block["content"], upto=left.upto, block=block, model=reply.model, usage=reply.usage)


def _prompt(left: LeftOut) -> Prompt:
    *earlier, last = build_messages(left.entries, "")
    *blocks, end = last["content"]
    return Prompt(
        system=left.system,
        tools=left.tools,
        messages=[*earlier, {**last, "content": [*blocks, {**end, "cache_control": SHORT}]}],
        max_tokens=ROOM,
        compacts=INSTRUCTIONS + left.focus if left.focus else "",
    )


def _block(reply: Reply) -> Json:
    """Raises ModelUnavailable where nothing was folded: a block without words says so."""
    block = next(filter(is_compaction, reply.content), {})
    if reply.stop_reason != "compaction" or not str(block.get("content") or "").strip():
        raise ModelUnavailable(f"The provider folded nothing: {reply.stop_reason}.")
    return block
