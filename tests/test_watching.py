"""A turn is seen from outside: its lines through both functions, with and without people's words."""

import io
import json
from typing import Any

import pytest

from simulator.script import call, reply, text
from tests.emulator import Account
from tests.test_way import ANN, WAIT, way_of

SAID = "my very private plan"
ANSWERED = "an answer for you alone"


def objects(written: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written.getvalue().splitlines()]


def told(lines: list[dict[str, Any]]) -> list[str]:
    return [line["message"] for line in lines if line["logger"] != "bot.words"]


async def test_every_line_of_a_turn_names_it_from_the_webhook_to_the_end_and_no_word_of_anybody(
    aws: Account, monkeypatch: pytest.MonkeyPatch, written: io.StringIO
) -> None:
    monkeypatch.setenv("KABAR_METRICS", "prod")
    script = (
        reply(text(SAID), call("calculator", {"expression": "6*7"}), call("calculator", {"expression": SAID})),
        text(ANSWERED),
    )
    async with way_of(aws, monkeypatch, *script) as way:
        await way.simulator.telegram.say(ANN, "ann", SAID)
        await way.simulator.telegram.wait_for(lambda seen: seen.is_bot and ANSWERED in seen.text, WAIT)
        await way.settled()

    lines = [line for line in objects(written) if "turn" in line]
    assert len({line["turn"] for line in lines}) == 1
    assert {line["conversation"] for line in lines} == {f"telegram:{ANN}"}
    # What both functions do at the same time is in no order.
    beside = {"typing is shown", "sent"}
    assert beside <= set(told(lines))
    assert [each for each in dict.fromkeys(told(lines)) if each not in beside] == [
        *("stored", "woken", "begins", "model replied", "tool called", "ended")
    ]
    assert SAID not in written.getvalue()
    assert ANSWERED not in written.getvalue()

    ended = lines[-1]
    assert (ended["outcome"], ended["Outcome"], ended["Stack"], ended["model_calls"]) == (
        "answered",
        "answered",
        "prod",
        2,
    )
    assert 0 < ended["FirstToken"] <= ended["Answer"]
    assert "FirstSign" not in ended  # it went back with the webhook's answer
    assert ended["Cost"] > 0
    measured = {name for line in lines for name in line if name[0].isupper()}
    assert measured - {"Stack", "Outcome", "Tool", "Doubles"} == {  # a slow webhook is asked twice
        *("Accepted", "FirstSign", "Waited", "ToolErrors", "Turns", "FirstToken", "Answer"),
        *("FailedShare", "CacheShare", "FreshTokens", "CacheReadTokens", "CacheWriteTokens", "OutputTokens", "Cost"),
    }


async def test_peoples_words_are_in_the_log_where_an_owner_switched_that_on(
    aws: Account, monkeypatch: pytest.MonkeyPatch, written: io.StringIO
) -> None:
    monkeypatch.setenv("KABAR_LOG_CONTENT", "on")
    async with way_of(aws, monkeypatch, call("calculator", {"expression": "6*7"}), text(ANSWERED)) as way:
        await way.simulator.slack.say("D0ANN", "ann", SAID)
        await way.slack_says(ANSWERED)
        await way.settled()

    lines = objects(written)
    assert "is in this log" in lines[0]["message"]
    assert [line["text"] for line in lines if "text" in line] == [SAID, "", ANSWERED]
    (called,) = [line for line in lines if "arguments" in line]
    assert "6*7" in called["arguments"]
    assert "42" in called["result"]
    assert len({line["turn"] for line in lines if line["logger"] == "bot.words"}) == 1
