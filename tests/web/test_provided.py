"""The provider's own search: told to those models that have it, and accepted by the API's rules."""

from anthropic.types import WebSearchTool20260318Param
from pydantic import TypeAdapter

from bot.models import ModelFacts, facts_of, on_bedrock
from bot.web.provided import server_tools
from simulator.model_rules import faults


def test_a_model_that_has_the_provider_s_search_gets_it() -> None:
    (search,) = server_tools(facts_of("claude-opus-5-5"))

    assert TypeAdapter(WebSearchTool20260318Param).validate_python(search) == search
    asked = {"role": "user", "content": "What is the news?"}
    assert faults({"model": "m", "max_tokens": 10, "messages": [asked], "tools": [search]}) == []


def test_one_that_has_none_gets_nothing() -> None:
    assert server_tools(on_bedrock(facts_of("claude-opus-5-5"))) == []
    assert server_tools(facts_of("glm-5.3")) == []
    assert server_tools(ModelFacts()) == []
