"""What a model does not take is replaced or left out; the stand-in that refuses all of it accepts the request."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.adapters.anthropic_model import request
from bot.messages import Json
from bot.models import FEATURES, MODELS, ModelFacts, facts_of, on_bedrock, with_features
from bot.ports import Prompt
from bot.shaping import shaped
from simulator.model_lacks import CHECKS, lacking
from simulator.model_rules import faults

CLAUDE = facts_of("claude-sonnet-5-5")
MARK = {"cache_control": {"type": "ephemeral"}}
CLOSED: Json = {"type": "object", "additionalProperties": False}
TOOL: Json = {"name": "look", "description": "Looks.", "input_schema": CLOSED, "strict": True}
PICTURE: Json = {"type": "image", "source": {"type": "url", "url": "https://example.org/cat.png"}}
DOCUMENT: Json = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Minutes."}}
CITED: Json = {"type": "text", "text": "Rain.", "citations": [{"type": "web_search_result_location", "url": "u"}]}
SEARCH: Json = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "rain"}}
FOUND: Json = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
RAN: Json = {
    "type": "server_tool_use",
    "id": "srvtoolu_2",
    "name": "bash_code_execution",
    "input": {"command": "python sky.py"},
}
PRINTED: Json = {
    "type": "bash_code_execution_tool_result",
    "tool_use_id": "srvtoolu_2",
    "content": {
        "type": "bash_code_execution_result",
        "stdout": "42\n",
        "stderr": "",
        "return_code": 0,
        "content": [{"type": "bash_code_execution_output", "file_id": "file_1"}],
    },
}
CODE: Json = {"type": "code_execution_20260521", "name": "code_execution"}
PUT_IN: Json = {"type": "container_upload", "file_id": "file_2"}
THOUGHT: Json = {"type": "thinking", "thinking": "Hm.", "signature": "signed"}
CALL: Json = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": "sky"}}
RESULT: Json = {
    "type": "tool_result",
    "tool_use_id": "toolu_1",
    "content": [PICTURE, {"type": "text", "text": "Blue."}],
}


def said(words: str) -> Json:
    return {"type": "text", "text": words}


def everything() -> Prompt:
    """A prompt that holds each thing a model may lack."""
    return Prompt(
        system=[said("Be kind.") | MARK],
        tools=[TOOL, {"type": "web_search_20250305", "name": "web_search"}, CODE],
        messages=[
            {"role": "user", "content": [said("Look at this."), PICTURE, DOCUMENT]},
            {"role": "assistant", "content": [THOUGHT, SEARCH, FOUND, CITED, RAN, PRINTED, CALL]},
            {"role": "user", "content": [RESULT | MARK, PUT_IN]},
        ],
        max_tokens=8_192,
        allow_tools=False,
        container="container_1",
    )


def sent(prompt: Prompt, facts: ModelFacts) -> Json:
    return request(shaped(prompt, facts), "some-model")


def words_of(message: Json) -> list[str]:
    return [block["text"] for block in message["content"] if block["type"] == "text"]


def test_every_feature_can_be_lacking() -> None:
    assert set(CHECKS) == set(FEATURES)


def test_a_model_that_takes_everything_gets_everything() -> None:
    assert shaped(everything(), CLAUDE) == everything()
    folded: list[Json] = [
        {"role": "assistant", "content": [{"type": "compaction", "content": "Earlier."}]},
        {"role": "user", "content": [said("hi")]},
    ]
    assert shaped(Prompt([], [], folded, 100), CLAUDE) == Prompt([], [], folded, 100)


@settings(deadline=None)
@given(st.sets(st.sampled_from(FEATURES)))
def test_whatever_is_lacking_is_not_sent_and_the_rest_is_a_good_request(has: set[str]) -> None:
    body = sent(everything(), with_features(CLAUDE, has))
    assert list(lacking(body, set(FEATURES) - has)) == []
    assert faults(body) == []


@pytest.mark.parametrize("feature", [name for name in FEATURES if name not in ("compaction", "diagnostics")])
def test_what_is_there_stays(feature: str) -> None:
    body = sent(everything(), with_features(CLAUDE, FEATURES))
    assert list(lacking(body, [feature])) == [f"{feature}: not supported by this model"]


def test_pictures_and_documents_become_notes_in_their_places_also_in_a_result() -> None:
    messages = sent(everything(), with_features(CLAUDE, set(FEATURES) - {"images"}))["messages"]
    assert ["can not see" in words for words in words_of(messages[0])] == [False, True, False]
    picture, blue = messages[2]["content"][0]["content"]
    assert "can not see" in picture["text"]
    assert blue == said("Blue.")


def test_without_a_way_to_forbid_tools_the_last_call_has_none() -> None:
    facts = with_features(CLAUDE, set(FEATURES) - {"tool_choice"})
    forbidden, allowed = everything(), Prompt([], [TOOL], [{"role": "user", "content": "hi"}], 100)
    assert "tools" not in sent(forbidden, facts)
    assert "tool_choice" not in sent(forbidden, facts)
    assert sent(allowed, facts)["tools"] == [TOOL]


def test_calls_and_results_are_told_in_words_to_a_model_without_tools() -> None:
    messages = sent(everything(), with_features(CLAUDE, []))["messages"]
    assert words_of(messages[1])[-1] == '(Called the tool look: {"at": "sky"})'
    assert words_of(messages[2]) == ["(The tool returned: (A picture. This model can not see pictures.)\nBlue.)"]


def test_a_message_of_which_nothing_is_left_still_takes_its_turn() -> None:
    asked: list[Json] = [
        {"role": "user", "content": [said("hi")]},
        {"role": "assistant", "content": [SEARCH, FOUND]},
        {"role": "user", "content": [said("and?")]},
    ]
    body = sent(Prompt([], [], asked, 100), ModelFacts())
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
    assert faults(body) == []


def test_what_code_printed_elsewhere_is_told_in_words() -> None:
    for lacking_it in ("code_execution", "server_tools"):
        body = sent(everything(), with_features(CLAUDE, set(FEATURES) - {lacking_it}))
        told = [words for words in words_of(body["messages"][1]) if words != "Rain."]
        assert told == ["(Ran: python sky.py)", "(It returned: 42)"]
        assert "container" not in body


def test_a_failure_and_a_file_written_by_the_provider_s_code_are_told_too() -> None:
    write: Json = {**RAN, "name": "text_editor_code_execution", "input": {"command": "create", "path": "a.py"}}
    failed: Json = {
        "type": "text_editor_code_execution_tool_result",
        "tool_use_id": "srvtoolu_2",
        "content": {"type": "text_editor_code_execution_tool_result_error", "error_code": "unavailable"},
    }
    asked: list[Json] = [
        {"role": "user", "content": [said("hi")]},
        {"role": "assistant", "content": [write, failed]},
        {"role": "user", "content": [said("and?")]},
    ]
    told = words_of(sent(Prompt([], [], asked, 100), ModelFacts())["messages"][1])
    assert told == ['(Ran: {"command": "create", "path": "a.py"})', "(It returned: unavailable)"]


def tool_named(name: str) -> Json:
    return {"name": name, "description": "…", "input_schema": {"type": "object"}}


@pytest.mark.parametrize(
    ("lacks", "offered"),
    [
        ((), ["look", "web_search", "code_execution", "upload_files"]),
        (("code_execution",), ["look", "web_search", "run_python"]),
        (("server_tools",), ["look", "web_search", "run_python"]),
    ],
)
def test_a_model_is_offered_one_way_to_run_code_and_what_goes_with_it(
    lacks: tuple[str, ...], offered: list[str]
) -> None:
    ours = [tool_named(name) for name in ("look", "run_python", "upload_files", "web_search")]
    theirs: list[Json] = [{"type": "web_search_20250305", "name": "web_search"}, CODE]
    prompt = Prompt([], [*ours, *theirs], [{"role": "user", "content": "hi"}], 100, container="container_1")
    body = sent(prompt, with_features(CLAUDE, set(FEATURES) - {*lacks}))
    assert sorted(tool["name"] for tool in body["tools"]) == sorted(offered)
    assert ("container" in body) is (not lacks)
    without_theirs = sent(Prompt([], ours, [{"role": "user", "content": "hi"}], 100, container="c"), CLAUDE)
    assert [tool["name"] for tool in without_theirs["tools"]] == ["look", "run_python", "web_search"]
    assert "container" not in without_theirs


def test_a_tool_of_an_owner_s_that_is_called_like_the_provider_s_is_not_taken_for_it() -> None:
    prompt = Prompt([], [tool_named("code_execution")], [{"role": "user", "content": "hi"}], 100, container="c")
    assert "container" not in sent(prompt, CLAUDE)
    both = Prompt([], [tool_named("code_execution"), CODE], [{"role": "user", "content": "hi"}], 100)
    assert sent(both, CLAUDE)["tools"] == [CODE]


def test_a_reply_that_paused_in_code_is_gone_on_with_by_a_word_of_ours_elsewhere() -> None:
    asked: list[Json] = [
        {"role": "user", "content": [said("hi")]},
        {"role": "assistant", "content": [said("One moment."), RAN]},
    ]
    without_code = with_features(CLAUDE, set(FEATURES) - {"code_execution"})
    body = sent(Prompt([], [], asked, 100), without_code)
    assert body["messages"][-1] == {"role": "user", "content": [said("(Go on.)")]}
    assert faults(body) == []
    assert sent(Prompt([], [CODE], asked, 100), CLAUDE)["messages"] == asked


def test_a_reply_that_paused_elsewhere_is_gone_on_with_by_a_word_of_ours() -> None:
    asked: list[Json] = [
        {"role": "user", "content": [said("hi")]},
        {"role": "assistant", "content": [said("One moment."), SEARCH]},
    ]
    body = sent(Prompt([], [], asked, 100), ModelFacts())
    assert body["messages"][-1] == {"role": "user", "content": [said("(Go on.)")]}
    assert faults(body) == []


@pytest.mark.parametrize("follows", [[{"role": "user", "content": [said("hi")]}], []])
def test_a_summary_its_provider_made_is_told_in_words_to_others_as_the_user_s(follows: list[Json]) -> None:
    folded: Json = {"role": "assistant", "content": [{"type": "compaction", "content": "Ayu likes tea."}]}
    body = sent(Prompt([], [], [folded, *follows], 100), ModelFacts())
    (message,) = body["messages"]
    assert message["role"] == "user"
    assert words_of(message) == ["<summary>\nAyu likes tea.\n</summary>", *(["hi"] if follows else [])]
    assert faults(body) == []


def test_a_note_carries_the_mark_of_what_it_stands_for() -> None:
    asked: list[Json] = [{"role": "user", "content": [PICTURE | MARK]}]
    facts = with_features(CLAUDE, {"caching"})
    (note,) = sent(Prompt([], [], asked, 100), facts)["messages"][0]["content"]
    assert note["type"] == "text" and note["cache_control"] == MARK["cache_control"]


def test_a_reply_has_no_more_room_than_the_model_gives() -> None:
    prompt = Prompt([], [], [{"role": "user", "content": "hi"}], 200_000)
    assert sent(prompt, ModelFacts(output=4_096))["max_tokens"] == 4_096
    assert sent(prompt, CLAUDE)["max_tokens"] == 128_000


# Facts


def test_an_unknown_model_is_taken_to_do_little() -> None:
    facts = facts_of("my-own-model")
    assert [name for name in FEATURES if getattr(facts, name)] == ["tools"]
    assert facts.price_out == 0


def test_features_said_in_settings_are_all_there_are() -> None:
    facts = with_features(CLAUDE, ["images", "tools"])
    assert [name for name in FEATURES if getattr(facts, name)] == ["tools", "images"]
    assert (facts.context, facts.price_in) == (CLAUDE.context, CLAUDE.price_in)


def test_bedrock_has_the_same_model_without_what_its_provider_runs() -> None:
    facts = on_bedrock(facts_of("eu.anthropic.claude-sonnet-5-5"))
    assert facts.caching and facts.images and facts.thinking
    assert not (facts.server_tools or facts.compaction or facts.strict)


@pytest.mark.parametrize("name", MODELS)
def test_a_listed_model_has_its_limits_and_its_price(name: str) -> None:
    facts: Any = MODELS[name]
    assert facts.context >= facts.output > 4_096
    assert 0 < facts.price_in < facts.price_out
    assert 0 < facts.read < 0.25
