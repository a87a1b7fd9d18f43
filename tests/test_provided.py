"""The tools that the provider runs: told to those models that have them, and accepted by the API's rules."""

from anthropic.types import CodeExecutionTool20260521Param, WebSearchTool20260318Param
from msgspec.structs import replace
from pydantic import TypeAdapter

from bot.models import MODELS, ModelFacts, facts_of, on_bedrock
from bot.provided import server_tools
from simulator.model_rules import faults


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


def test_one_that_has_none_gets_nothing() -> None:
    assert server_tools(on_bedrock(facts_of("claude-opus-5-5"))) == []
    assert server_tools(facts_of("glm-5.3")) == []
    assert server_tools(ModelFacts()) == []
