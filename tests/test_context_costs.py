"""What the measurement of long conversations promises, on short ones."""

import pytest

from benchmarks.context import CONVERSATIONS, Run, resending, sliding, under
from bot.context import Marks
from bot.prompt import PromptBuilder
from bot.toolkit import Toolbox
from bot.tools.calculator import calculator

SMALL = Marks(high=12_000, low=5_500)
TURNS = 80


async def runs(name: str) -> tuple[float, Run, Run]:
    """What resending costs, and the runs of sliding and of the default policy."""
    talks = list(CONVERSATIONS[name](TURNS))
    builder = PromptBuilder("You help Ann with her stand. " * 100, Toolbox([calculator]), 8_192)
    default = await under("summarise", builder, talks, SMALL)
    return resending(builder, talks), sliding(builder, talks, SMALL), default


@pytest.mark.parametrize("name", ["short", "images"])
async def test_where_the_cache_lives_the_default_costs_a_small_part_of_both_yardsticks(name: str) -> None:
    resend, slide, default = await runs(name)
    assert default.chat.cost < resend * 0.1
    assert default.chat.cost < slide.chat.cost * 0.4


@pytest.mark.parametrize("name", ["short", "tools", "pauses"])
async def test_no_prompt_leaves_the_cache_without_a_reason(name: str) -> None:
    _, _, default = await runs(name)
    assert default.breaks["unexplained"] == 0
    assert default.breaks["cut"] > 0
    assert ("expired" in default.breaks) == (name == "pauses")
