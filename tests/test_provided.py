"""The tools that the provider runs: told to those models that have them, and accepted by the API's rules."""

from pathlib import Path

import pytest
from anthropic.types import CodeExecutionTool20260521Param, WebSearchTool20260318Param
from msgspec.structs import replace
from pydantic import TypeAdapter

from bot.access import Access
from bot.approvals import Gate
from bot.messages import Profile
from bot.models import MODELS, ModelFacts, facts_of, on_bedrock
from bot.provided import server_tools
from simulator.model_rules import faults
from simulator.script import call, text
from tests.bots import bot_on
from tests.say import ANN, BUDI, GROUP, inbound


def test_a_model_that_has_the_provider_s_search_and_code_gets_both() -> None:
    search, code = server_tools(facts_of("claude-opus-5-5"))

    assert TypeAdapter(WebSearchTool20260318Param).validate_python(search) == search
    assert TypeAdapter(CodeExecutionTool20260521Param).validate_python(code) == code
    asked = {"role": "user", "content": "What is the news?"}
    assert faults({"model": "m", "max_tokens": 10, "messages": [asked], "tools": [search, code]}) == []


def test_code_is_never_run_without_the_search_beside_which_it_is_free() -> None:
    for facts in MODELS.values():
        names = [tool["name"] for tool in server_tools(facts)]
        assert names in ([], ["web_search"], ["web_search", "code_execution"])
    alone = replace(facts_of("claude-opus-5-5"), server_tools=False)
    assert server_tools(alone) == []
    assert not alone.runs_code


@pytest.mark.parametrize(
    ("guests", "offered"),
    [
        ({"web_search", "code_execution"}, ["web_search", "code_execution"]),
        ({"web_search"}, ["web_search"]),
        ({"code_execution"}, []),
        ({"none"}, []),
    ],
)
async def test_a_guest_is_offered_no_more_of_them_than_guests_may_use(
    tmp_path: Path, guests: set[str], offered: list[str]
) -> None:
    script, owned = (text("Hello."), text("Hi.")), Access(owner=BUDI.id)
    gate = Gate(guests=frozenset(guests))
    async with bot_on(tmp_path / "kabar.sqlite3", *script, code=True, gate=gate, access=owned) as bot:
        await bot.store.keep_profile(ANN.id, Profile(role="guest"))
        await bot.hears(inbound("hi"))
        await bot.wakes()
        await bot.hears(inbound("hi", 1, sender=BUDI, place=GROUP))
        await bot.wakes(GROUP.conversation)
        named = [[tool["name"] for tool in each["tools"] if "type" in tool] for each in bot.model.requests]
        assert named == [offered, ["web_search", "code_execution"]]


@pytest.mark.parametrize(("asks", "offered"), [("run_python", ["web_search"]), ("web_search", [])])
async def test_what_has_to_ask_first_is_left_to_our_own_which_can(
    tmp_path: Path, asks: str, offered: list[str]
) -> None:
    script, gate = call("run_python", {"code": "print(1)"}), Gate(asks=frozenset({asks}))
    async with bot_on(tmp_path / "kabar.sqlite3", script, code=True, gate=gate) as bot:
        await bot.hears(inbound("hi"))
        await bot.wakes()
        assert [tool["name"] for tool in bot.model.requests[0]["tools"] if "type" in tool] == offered
        assert "May I run this Python?" in bot.channel.shown[-1]


def test_one_that_has_none_gets_nothing() -> None:
    assert server_tools(on_bedrock(facts_of("claude-opus-5-5"))) == []
    assert server_tools(facts_of("glm-5.3")) == []
    assert server_tools(ModelFacts()) == []
