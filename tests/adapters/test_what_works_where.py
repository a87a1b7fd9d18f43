"""The table of docs/local-models.md: what is sent to which model, and that a server without the rest accepts it."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.adapters.anthropic_model import AnthropicModel, client, request
from bot.models import FEATURES, ModelFacts, facts_of, on_bedrock
from bot.ports import Prompt
from bot.shaping import shaped
from simulator.model_lacks import CHECKS
from simulator.model_thinking import signed
from simulator.script import scripted, text
from tests.test_shaping import PUT_IN, everything

PAGE = Path(__file__).parents[2] / "docs" / "local-models.md"
CLAUDE = facts_of("claude-sonnet-5-5")
COLUMNS = {
    "Claude": CLAUDE,
    "Claude on Bedrock": on_bedrock(CLAUDE),
    "DeepSeek": facts_of("deepseek-flash"),
    "Kimi": facts_of("kimi-k3"),
    "Z.AI": facts_of("glm-5.3"),
    "not listed": facts_of("my-own-model"),
}
FOLDED = Prompt(
    [],
    [],
    [
        {"role": "assistant", "content": [{"type": "compaction", "content": "Earlier."}]},
        {"role": "user", "content": [text("hi")]},
    ],
    100,
)


def table() -> dict[str, dict[str, bool]]:
    """By feature, then by column."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("| | Claude |"))
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[first : first + 20]]
    return {row[0].strip("`"): dict(zip(head[1:], map(bool, row[1:]), strict=True)) for row in rows if len(row) > 1}


def all_of_it(facts: ModelFacts) -> Prompt:
    """A prompt with each thing in it, in which a model with these facts thought; its container is a new one."""
    whole = replace(everything(), container="")
    question, answer, *rest = whole.messages
    asked = request(shaped(replace(whole, messages=[question]), facts), "some-model")
    thought = {"type": "thinking", "thinking": "Hm."}
    content = signed(asked, [thought, *(block for block in answer["content"] if block["type"] != "thinking")])
    kept = [{**each, "content": [part for part in each["content"] if part != PUT_IN]} for each in rest]
    return replace(whole, messages=[question, {**answer, "content": content}, *kept])


async def sent(prompt: Prompt, facts: ModelFacts) -> set[str]:
    """The features that reach a server which refuses all that this model lacks."""
    lacks = [name for name in FEATURES if not getattr(facts, name)]
    async with scripted(text("Fine."), lacks=lacks) as script, client("key", script.url) as connection:
        reply = await AnthropicModel(connection, "some-model", facts).reply(prompt, lambda piece: None)
        assert reply.content == [text("Fine.")]
        return {name for name in FEATURES if CHECKS[name](script.requests[0])}


def test_the_table_has_every_feature_and_every_provider() -> None:
    assert list(table()) == list(FEATURES)
    assert all(list(row) == list(COLUMNS) for row in table().values())


@pytest.mark.parametrize("column", COLUMNS)
async def test_what_the_table_says_is_what_is_sent(column: str) -> None:
    reached = await sent(all_of_it(COLUMNS[column]), COLUMNS[column]) | await sent(FOLDED, COLUMNS[column])
    assert {name for name, row in table().items() if row[column]} == reached
