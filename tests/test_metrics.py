"""What is measured of turns, read as CloudWatch reads it: out of the lines of the log."""

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bot import logs
from bot.budget import Budget
from bot.clock import SystemClock
from bot.errors import SendLater
from bot.intake import accept
from simulator.script import call, overloaded, text
from tests.bots import Bot, bot_on, tap
from tests.letters import LETTER, TOOLS
from tests.say import inbound
from tests.test_money import Noon, heard


@pytest.fixture(autouse=True)
def measuring(written: io.StringIO) -> None:
    logs.set_up("ERROR", as_json=True, stack="prod", all_metrics=True)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kabar.sqlite3"


def measured(written: io.StringIO) -> Counter[str]:
    """The sum of each metric, by its name, and where it has a second dimension also by that one's value."""
    sums: Counter[str] = Counter()
    for text_line in written.getvalue().splitlines():
        line: dict[str, Any] = json.loads(text_line)
        for directive in line.get("_aws", {}).get("CloudWatchMetrics", ()):
            (dimensions,) = directive["Dimensions"]
            for metric in directive["Metrics"]:
                name = " ".join([metric["Name"], *(line[each] for each in dimensions[1:])])
                sums[name] += line[metric["Name"]]
    return sums


async def hears(bot: Bot, *said: Any) -> None:
    for each in said:
        await accept(each, bot.store, bot.wake, SystemClock())


async def test_a_turn_is_measured_when_it_ends_and_its_troubles_when_they_come(
    path: Path, written: io.StringIO
) -> None:
    script = (overloaded("0"), call("calculator", {"expression": "1/0"}), call("no_such_tool", {}), text("Fine."))
    async with bot_on(path, *script) as bot:
        bot.channel.faults["send"] = [SendLater("flood", 0.01)]
        await hears(bot, inbound(), inbound())
        await bot.wakes()
        assert bot.channel.shown == ["Fine."]

    sums = measured(written)
    counted = ("Accepted", "Doubles", "ModelRetries", "Turns", "Turns answered", "FailedShare", "Held", "Held telegram",
               "ToolErrors", "ToolErrors calculator", "ToolErrors none")  # fmt: skip
    assert {name: sums[name] for name in counted} == {
        **dict.fromkeys(counted, 1),
        "FailedShare": 0,
        "ToolErrors": 2,
    }
    assert 0 < sums["Waited"] <= sums["FirstSign"] <= sums["Answer"]
    assert sums["FirstToken"] <= sums["Answer"]
    assert sums["OutputTokens"] > 0
    assert sums["Cost"] > 0


async def test_a_turn_that_waits_for_a_person_is_not_a_slow_one(path: Path, written: io.StringIO) -> None:
    async with bot_on(path, LETTER, text("Done."), tools=TOOLS) as bot:
        await hears(bot, inbound())
        await bot.wakes()
        (yes,) = [button for button in bot.channel.buttons if button.data.startswith("ok:")]
        await hears(bot, tap(yes.data))
        await bot.wakes()
        assert bot.channel.shown[-1] == "Done."

    sums = measured(written)
    assert (sums["ApprovalsAsked"], sums["ApprovalsDecided"], sums["Turns answered"]) == (1, 1, 1)
    assert "Answer" not in sums
    assert sums["FirstSign"] > 0


async def test_who_is_over_a_limit_is_counted_by_the_limit_and_never_by_the_person(
    path: Path, written: io.StringIO
) -> None:
    async with bot_on(path, text("One."), budget=Budget(turns_a_minute=1), clock=Noon()) as bot:
        for number in (1, 2):
            await accept(heard(str(number), number), bot.store, bot.wake, Noon())
            await bot.wakes()

    sums = measured(written)
    assert (sums["OverBudget"], sums["OverBudget minute"], sums["Turns told"]) == (1, 1, 1)
    assert not any("telegram:1" in name for name in sums)
