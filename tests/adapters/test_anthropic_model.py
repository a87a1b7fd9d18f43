"""The real SDK against the scripted Messages API, over HTTP."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anthropic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.adapters.anthropic_model import AnthropicModel, Draft, client, request, seconds
from bot.errors import ConfigError, ModelError, ModelRefusedRequest, ModelUnavailable, PromptTooLong
from bot.messages import Answered, Json, Reply, Usage, decode_entry, encode
from bot.models import facts_of, on_bedrock
from bot.ports import Prompt
from simulator.model_reply import Break, Refusal
from simulator.script import Line, ScriptedModel, call, overloaded, ran, rate_limited, reply, scripted, text, thinking
from simulator.serving import serve

KEY = "sk-ant-test-key-0001"
MODEL = "claude-sonnet-5-5"
TERSE: Json = {"type": "text", "text": "Be terse."}
CALCULATOR: Json = {
    "name": "calculator",
    "description": "Works out a sum.",
    "input_schema": {"type": "object", "properties": {"expression": {"type": "string"}}},
}


def prompt(*messages: Json, **fields: Any) -> Prompt:
    said = list(messages) or [{"role": "user", "content": "hello"}]
    defaults: dict[str, Any] = {"system": [], "tools": [], "messages": said, "max_tokens": 100}
    return Prompt(**defaults | fields)


def nothing(piece: str) -> None:
    """An on_text for tests that look at the reply only."""


@asynccontextmanager
async def model(url: str, key: str = KEY, **options: Any) -> AsyncIterator[AnthropicModel]:
    async with client(key, url).with_options(**options) as connection:
        yield AnthropicModel(connection, MODEL)


async def answer_to(*steps: Line, asked: Prompt | None = None, **options: Any) -> Reply:
    async with scripted(*steps, **options) as script, model(script.url) as claude:
        return await claude.reply(asked or prompt(), nothing)


async def test_a_model_that_can_not_compile_strict_tools_gets_them_plain_from_then_on() -> None:
    refusal = Refusal(
        400, "invalid_request_error", "The compiled grammar is too large, reduce the number of strict tools."
    )
    strict: Json = {**CALCULATOR, "strict": True}
    strict["input_schema"] = {**CALCULATOR["input_schema"], "additionalProperties": False}
    async with scripted(refusal, text("One."), text("Two.")) as script, model(script.url) as claude:
        for words in ("One.", "Two."):
            answer = await claude.reply(prompt(tools=[strict]), nothing)
            assert answer.content[0]["text"] == words
        assert ["strict" in request["tools"][0] for request in script.requests] == [True, False, False]


async def failure_of(*steps: Line, **options: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await answer_to(*steps, **options)
    return caught.value


# Code that the provider runs

CODE: Json = {"type": "code_execution_20260521", "name": "code_execution"}


async def test_a_reply_says_in_which_container_its_code_ran_and_the_next_one_keeps_it() -> None:
    async with scripted(reply(*ran("true"), text("Done.")), text("Hi.")) as script, model(script.url) as claude:
        first = await claude.reply(prompt(tools=[CODE]), nothing)
        assert first.container
        assert "container" not in script.requests[0]
        second = await claude.reply(prompt(tools=[CODE], container=first.container), nothing)
        assert script.requests[1]["container"] == second.container == first.container


async def test_what_code_did_comes_back_as_it_was_sent_and_is_accepted_again() -> None:
    asked: list[Json] = [{"role": "user", "content": "plot"}]
    drawn = reply(thinking("Hm."), *ran("plot", "ok", made={"a.png": b"a"}), text("Done."))
    async with scripted(drawn, text("Yes.")) as script, model(script.url) as claude:
        first = await claude.reply(prompt(*asked, tools=[CODE]), nothing)
        said = {"role": "assistant", "content": first.content}
        again = prompt(*asked, said, {"role": "user", "content": "sure?"}, tools=[CODE])
        await claude.reply(again, nothing)
        assert script.requests[1]["messages"][1] == said
    _, call, result, _ = decode_entry(encode(Answered("t", first))).reply.content  # type: ignore[union-attr]
    assert (call["name"], call["input"]) == ("bash_code_execution", {"command": "plot"})
    assert result["content"]["content"][0]["file_id"] in script.workspace.files


@pytest.mark.parametrize("expired", [True, False])
async def test_without_its_container_a_request_is_made_once_more_in_a_new_one(expired: bool) -> None:
    async with scripted(text("Hi.")) as script, model(script.url) as claude:
        gone = script.workspace.open_container() if expired else "container_that_never_was"
        script.workspace.expire_containers()
        answer = await claude.reply(prompt(tools=[CODE], container=gone), nothing)
        assert (answer.content, answer.container) == ([text("Hi.")], "")
        assert "container" not in script.requests[0]
        assert script.workspace.refused == 1


async def test_where_the_new_container_is_refused_too_nothing_is_asked_a_third_time() -> None:
    async with scripted(Refusal(500), Refusal(500)) as script, model(script.url) as claude:
        with pytest.raises(ModelUnavailable):
            await claude.reply(prompt(tools=[CODE], container=script.workspace.open_container()), nothing)
        assert ["container" in each for each in script.requests] == [True, False]


@pytest.mark.parametrize(
    ("refusal", "error"),
    [
        (overloaded(), ModelUnavailable),
        (rate_limited(), ModelUnavailable),
        (Refusal(400, "invalid_request_error", "messages: odd"), ModelRefusedRequest),
        (Refusal(400, "invalid_request_error", "prompt is too long"), PromptTooLong),
    ],
)
async def test_what_says_nothing_of_the_container_costs_no_second_request(
    refusal: Refusal, error: type[ModelError]
) -> None:
    async with scripted(refusal) as script, model(script.url) as claude:
        with pytest.raises(error):
            await claude.reply(prompt(tools=[CODE], container=script.workspace.open_container()), nothing)
        assert "container" in script.requests[0]


async def test_a_model_without_code_passes_the_container_on_and_is_asked_once() -> None:
    async with scripted(text("Hi."), Refusal(500)) as script, client(KEY, script.url) as connection:
        other = AnthropicModel(connection, "my-own")
        answer = await other.reply(prompt(tools=[CODE], container="container_1"), nothing)
        assert (answer.container, "container" in script.requests[0]) == ("container_1", False)
        with pytest.raises(ModelUnavailable):
            await other.reply(prompt(tools=[CODE], container="container_1"), nothing)


# A whole reply


async def test_text_arrives_in_pieces_that_make_up_the_reply() -> None:
    pieces: list[str] = []
    async with scripted(text("Good morning,  friend.\n\nBye. ")) as script, model(script.url) as claude:
        answer = await claude.reply(prompt(), pieces.append)
    assert len(pieces) > 2
    assert "".join(pieces) == "Good morning,  friend.\n\nBye. "
    assert answer.content == [{"type": "text", "text": "Good morning,  friend.\n\nBye. "}]
    assert (answer.stop_reason, answer.model) == ("end_turn", MODEL)


async def test_blocks_come_back_as_they_were_sent_and_are_accepted_again() -> None:
    steps: list[Line] = [
        reply(thinking("Let me see."), text("I will add."), call("calculator", {"expression": "2+2"})),
        text("4"),
    ]
    asked: list[Json] = [{"role": "user", "content": "2+2?"}]
    async with scripted(*steps) as script, model(script.url) as claude:
        first = await claude.reply(prompt(*asked, tools=[CALCULATOR]), nothing)
        thought, words, use = first.content
        result = {"type": "tool_result", "tool_use_id": use["id"], "content": "4"}
        asked += [{"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
        await claude.reply(prompt(*asked, tools=[CALCULATOR]), nothing)
        assert script.requests[1]["messages"][1]["content"] == first.content
    assert thought["thinking"] == "Let me see." and thought["signature"]
    assert set(thought) == {"type", "thinking", "signature"}
    assert words == {"type": "text", "text": "I will add."}
    assert use == {"type": "tool_use", "id": use["id"], "name": "calculator", "input": {"expression": "2+2"}}
    assert first.spoiled == {}


async def test_thinking_with_an_empty_text_keeps_its_signature() -> None:
    answer = await answer_to(reply(thinking(""), text("Hi")))
    assert answer.content[0]["thinking"] == ""
    assert answer.content[0]["signature"]


async def test_parallel_calls_keep_their_arguments_apart() -> None:
    calls = [call("calculator", {"expression": str(number) * 30}, id=f"c{number}") for number in range(5)]
    answer = await answer_to(reply(*calls), asked=prompt(tools=[CALCULATOR]))
    assert answer.content == calls
    assert answer.stop_reason == "tool_use"


async def test_a_block_type_from_the_future_survives_unchanged() -> None:
    block = {"type": "hologram", "beams": [{"angle": 1.5, "on": True}], "note": None}
    answer = await answer_to(reply(block, text("There.")))
    assert answer.content == [block, {"type": "text", "text": "There."}]


async def test_a_stop_reason_from_the_future_is_passed_on() -> None:
    assert (await answer_to(reply(text("?"), stop_reason="something_new"))).stop_reason == "something_new"


async def test_an_empty_refusal_is_a_whole_reply() -> None:
    answer = await answer_to(reply(stop_reason="refusal"))
    assert (answer.content, answer.stop_reason) == ([], "refusal")


async def test_usage_tells_for_how_long_the_cache_keeps_what_was_written_and_what_was_searched() -> None:
    usage = {
        "input_tokens": 1,
        "cache_creation_input_tokens": 70,
        "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 50},
        "cache_read_input_tokens": 3,
        "output_tokens": 4,
        "server_tool_use": {"web_search_requests": 5, "web_fetch_requests": 6, "code_execution_requests": 7},
    }
    answer = await answer_to(reply(text("a"), usage=usage))
    told = {"fresh": 1, "cache_write": 20, "cache_write_long": 50, "cache_read": 3, "output": 4}
    assert answer.usage == Usage(**told, searches=5, executions=7)


async def test_usage_tells_fresh_written_and_read_tokens() -> None:
    system = [{"type": "text", "text": "word " * 100, "cache_control": {"type": "ephemeral"}}]
    async with scripted(text("one"), text("two"), smallest_prefix=0) as script, model(script.url) as claude:
        first = (await claude.reply(prompt(system=system), nothing)).usage
        second = (await claude.reply(prompt(system=system), nothing)).usage
    assert first.cache_read == 0 and first.cache_write > 100
    assert second == Usage(fresh=first.fresh, cache_write=0, cache_read=first.cache_write, output=second.output)
    assert second.output > 0


async def test_totals_at_the_end_replace_those_of_the_start() -> None:
    answer = await answer_to(reply(text("a"), usage={"input_tokens": 70, "output_tokens": 9}))
    assert answer.usage == Usage(fresh=70, output=9)


async def test_a_reply_can_be_stored() -> None:
    answer = await answer_to(
        reply(thinking("Hm 🙂"), text("Selamat pagi 👋"), call("calculator", {"expression": "1e3"})),
        asked=prompt(tools=[CALCULATOR]),
    )
    entry = Answered("turn", answer)
    assert decode_entry(encode(entry)) == entry


# What is sent


async def test_the_request_holds_the_prompt_and_nothing_else() -> None:
    system = [{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}]
    said = {"role": "user", "content": [{"type": "text", "text": "hé 🙂", "cache_control": {"type": "ephemeral"}}]}
    async with scripted(text("ok")) as script, model(script.url) as claude:
        await claude.reply(prompt(said, system=system, tools=[CALCULATOR]), nothing)
        assert script.requests == [
            {
                "model": MODEL,
                "max_tokens": 100,
                "messages": [said],
                "system": system,
                "tools": [CALCULATOR],
                "diagnostics": {"previous_message_id": None},
                "stream": True,
            }
        ]


async def test_the_provider_is_asked_why_its_cache_missed_what_the_reply_before_left() -> None:
    first, changed = prompt(system=[TERSE]), prompt(system=[TERSE, TERSE])
    async with scripted(text("one"), text("two"), text("three")) as script, model(script.url) as claude:
        before = await claude.reply(first, nothing)
        same = await claude.reply(replace(first, previous=before.id), nothing)
        other = await claude.reply(replace(changed, previous=before.id), nothing)
    assert before.id.startswith("msg_")
    assert [before.missed, same.missed, other.missed] == ["", "", "system_changed"]


async def test_a_provider_without_diagnoses_is_not_asked() -> None:
    async with scripted(text("ok")) as script, client(KEY, script.url) as connection:
        await AnthropicModel(connection, MODEL, on_bedrock(facts_of(MODEL))).reply(prompt(), nothing)
    assert "diagnostics" not in script.requests[0]


async def test_tools_stay_in_the_prompt_when_they_may_not_be_called() -> None:
    async with scripted(text("ok")) as script, model(script.url) as claude:
        await claude.reply(prompt(tools=[CALCULATOR], allow_tools=False), nothing)
        assert script.requests[0]["tools"] == [CALCULATOR]
        assert script.requests[0]["tool_choice"] == {"type": "none"}


def test_no_tool_choice_is_sent_where_there_are_no_tools() -> None:
    assert set(request(prompt(allow_tools=False), MODEL)) == {"model", "max_tokens", "messages"}


async def test_the_environment_does_not_decide_key_or_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "from-the-environment")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "from-the-environment")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    assert (await answer_to(text("ok"), keys=[KEY])).stop_reason == "end_turn"


@pytest.mark.parametrize("key", ["", " ", "sk-ant-1\n", "sk ant", "ключ"])
def test_a_key_no_header_can_carry_is_named_without_being_shown(key: str) -> None:
    with pytest.raises(ConfigError, match="ANTHROPIC_API_KEY") as caught:
        client(key, "http://127.0.0.1:1")
    assert not key.strip() or key not in str(caught.value)


# Tool arguments that are not JSON


@pytest.mark.parametrize(
    "arguments",
    ['{"expression": "2+', '{"expression": }', "[1, 2]", '{"a": NaN}', '{"a": "\\ud83d x"}', "not json", '{"a": 1} {}'],
)
async def test_spoiled_arguments_are_kept_aside_and_the_rest_of_the_reply_stands(arguments: str) -> None:
    blocks = [call("calculator", arguments, id="bad"), call("calculator", {"expression": "1"}, id="good")]
    answer = await answer_to(reply(*blocks), asked=prompt(tools=[CALCULATOR]))
    assert answer.spoiled == {"bad": arguments}
    assert [block["input"] for block in answer.content] == [{}, {"expression": "1"}]


async def test_a_call_without_arguments_is_not_spoiled() -> None:
    answer = await answer_to(call("calculator", "", id="c"), asked=prompt(tools=[CALCULATOR]))
    assert (answer.content[0]["input"], answer.spoiled) == ({}, {})


SCALAR = st.none() | st.booleans() | st.integers() | st.text(max_size=20)


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=20), SCALAR | st.lists(SCALAR, max_size=3), max_size=5))
def test_arguments_cut_anywhere_into_pieces_are_the_same_arguments(arguments: dict[str, Any]) -> None:
    draft = Draft()
    draft.add({"type": "content_block_start", "index": 0, "content_block": call("t", {}, id="c")})
    for piece in json.dumps(arguments):
        delta = {"type": "input_json_delta", "partial_json": piece}
        draft.add({"type": "content_block_delta", "index": 0, "delta": delta})
    draft.add({"type": "message_delta", "delta": {"stop_reason": "tool_use"}})
    draft.add({"type": "message_stop"})
    assert draft.reply().content[0]["input"] == arguments


# Streams that break


@pytest.mark.parametrize("how", ["end", "cut", "garbage"])
@pytest.mark.parametrize("after", [0, 2, 100])
async def test_a_stream_that_breaks_anywhere_gives_no_reply(how: Any, after: int) -> None:
    pieces: list[str] = []
    async with scripted(reply(text("one two three"), broken=Break(how, after))) as script, model(script.url) as claude:
        with pytest.raises(ModelUnavailable):
            await claude.reply(prompt(), pieces.append)
    assert "".join(pieces) == {0: "", 2: "one two", 100: "one two three"}[after]


@pytest.mark.parametrize(
    ("kind", "words", "error"),
    [
        ("overloaded_error", "Overloaded", ModelUnavailable),
        ("api_error", "Internal server error", ModelUnavailable),
        ("rate_limit_error", "slow down", ModelUnavailable),
        ("timeout_error", "too slow", ModelUnavailable),
        ("brand_new_error", "?", ModelUnavailable),
        ("invalid_request_error", "messages: bad", ModelRefusedRequest),
        ("authentication_error", "bad key", ModelRefusedRequest),
        ("billing_error", "pay first", ModelRefusedRequest),
        ("invalid_request_error", "prompt is too long: 5 tokens > 4 maximum", PromptTooLong),
    ],
)
async def test_an_error_event_is_judged_by_its_type(kind: str, words: str, error: type[ModelError]) -> None:
    fault = await failure_of(reply(text("The an"), broken=Break("error", kind=kind, message=words)))
    assert type(fault) is error
    assert words in str(fault)


async def test_a_silent_stream_ends_at_the_read_timeout() -> None:
    hanging = reply(text("a b"), broken=Break("hang"))
    async with scripted(hanging) as script, model(script.url, timeout=anthropic.Timeout(0.2)) as claude:
        with pytest.raises(ModelUnavailable, match="Timeout"):
            await claude.reply(prompt(), nothing)
        await asyncio.wait_for(script.hung_up.wait(), 10)


async def test_cancelling_closes_the_connection() -> None:
    begun = asyncio.Event()
    hanging = reply(text("a b"), broken=Break("hang"))
    async with scripted(hanging) as script, model(script.url) as claude:
        asking = asyncio.create_task(claude.reply(prompt(), lambda piece: begun.set()))
        await asyncio.wait_for(begun.wait(), 10)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.wait_for(script.hung_up.wait(), 10)
        assert script.hangups == 1


async def test_a_fault_of_the_listener_is_not_taken_for_one_of_the_model() -> None:
    async with scripted(reply(text("a b"), broken=Break("hang"))) as script, model(script.url) as claude:
        with pytest.raises(IndexError):
            await claude.reply(prompt(), lambda piece: [][0])
        await asyncio.wait_for(script.hung_up.wait(), 10)


async def test_one_connection_serves_many_replies() -> None:
    ports: set[Any] = set()
    script = ScriptedModel([text("one"), text("two"), text("three")])

    async def noting(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            ports.add(scope["client"])
        await script.app(scope, receive, send)

    async with serve(noting) as url, model(url) as claude:
        for _ in range(3):
            await claude.reply(prompt(), nothing)
    assert len(ports) == 1


async def raw(*events: Json, tail: bytes = b"", kind: str = "text/event-stream") -> Reply:
    """What becomes of a body written by hand."""
    body = b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events) + tail

    async def answer(http: Request) -> Response:
        return Response(body, media_type=kind)

    async with serve(Starlette(routes=[Route("/v1/messages", answer, methods=["POST"])])) as url, model(url) as claude:
        return await claude.reply(prompt(), nothing)


START: Json = {"type": "message_start", "message": {"model": "m", "content": [], "usage": {"input_tokens": 3}}}
BLOCK: Json = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
HI: Json = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}}
END: Json = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}
STOP: Json = {"type": "message_stop"}


async def test_unknown_events_and_deltas_pass() -> None:
    strange = {"type": "content_block_delta", "index": 0, "delta": {"type": "shimmer_delta", "hue": 3}}
    answer = await raw(START, {"type": "weather", "sun": 1}, BLOCK, strange, HI, END, STOP)
    assert answer.content == [{"type": "text", "text": "hi"}]
    assert answer.usage == Usage(fresh=3, output=1)


async def test_a_total_left_open_at_the_end_keeps_its_first_value() -> None:
    ending = END | {"usage": {"output_tokens": 8, "input_tokens": None}}
    assert (await raw(START, BLOCK, HI, ending, STOP)).usage == Usage(fresh=3, output=8)


async def test_citations_are_gathered() -> None:
    source = {"type": "char_location", "cited_text": "x", "document_index": 0}
    cited = {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": source}}
    answer = await raw(START, BLOCK, HI, cited, cited, END, STOP)
    assert answer.content == [{"type": "text", "text": "hi", "citations": [source, source]}]


async def test_what_breaks_after_the_end_takes_nothing_away() -> None:
    answer = await raw(START, BLOCK, HI, END, STOP, tail=b"event: error\ndata: {{{\n\n")
    assert answer.content == [{"type": "text", "text": "hi"}]


@pytest.mark.parametrize(
    "events",
    [
        [],
        [START],
        [START, BLOCK, HI, END],
        [START, BLOCK, HI, STOP],
        [START, HI, END, STOP],
        [START, END | {"delta": {"stop_reason": None}}, STOP],
        [{"type": "message_start", "message": None}, {"type": "content_block_start"}, {"type": "message_delta"}],
    ],
)
async def test_a_stream_without_its_ending_or_beginning_gives_no_reply(events: list[Json]) -> None:
    with pytest.raises(ModelUnavailable):
        await raw(*events)


async def test_a_page_instead_of_a_stream_gives_no_reply() -> None:
    with pytest.raises(ModelUnavailable):
        await raw(tail=b"<html>Welcome to the hotel WiFi</html>", kind="text/html")


async def test_bytes_that_are_no_text_give_no_reply() -> None:
    with pytest.raises(ModelUnavailable):
        await raw(START, tail=b'event: ping\ndata: {"a": "\xff"}\n\n')


# Refusals before the stream


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
async def test_what_passes_by_itself_is_unavailable(status: int) -> None:
    assert type(await failure_of(Refusal(status))) is ModelUnavailable


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 422])
async def test_what_does_not_pass_is_refused(status: int) -> None:
    assert type(await failure_of(Refusal(status, "invalid_request_error", "no"))) is ModelRefusedRequest


@pytest.mark.parametrize("status", [400, 429])
@pytest.mark.parametrize("code", ["enforced_spend_limit_reached", "contract_spend_limit_reached"])
async def test_a_spend_limit_is_refused_whatever_its_status(status: int, code: str) -> None:
    fault = await failure_of(Refusal(status, "rate_limit_error", "limit reached", code=code))
    assert type(fault) is ModelRefusedRequest


async def test_a_ramp_limit_passes_by_itself() -> None:
    assert type(await failure_of(rate_limited("2", code="ramp_limit_exceeded"))) is ModelUnavailable


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (413, "Request exceeds the maximum size"),
        (400, "prompt is too long: 208310 tokens > 200000 maximum"),
        (400, "input length and `max_tokens` exceed context limit: 198000 + 8192 > 200000"),
        (400, "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it"),
        (400, "This model's maximum context length is 8192 tokens."),
        (400, "Input is too long for requested model."),
    ],
)
async def test_too_long_a_prompt_is_told_apart(status: int, words: str) -> None:
    assert type(await failure_of(Refusal(status, "invalid_request_error", words))) is PromptTooLong


async def test_the_window_of_the_model_is_a_prompt_too_long() -> None:
    async with scripted(context_window=50) as script, model(script.url) as claude:
        with pytest.raises(PromptTooLong, match="> 50 maximum"):
            await claude.reply(prompt({"role": "user", "content": "word " * 100}), nothing)
        script.refused.clear()


@pytest.mark.parametrize(
    ("header", "wait"),
    [("7", 7.0), ("0.5", 0.5), ("0", 0.0), ("86400", 3600.0), ("", None), ("-1", None), ("nan", None), ("inf", None)],
)
async def test_the_providers_wish_to_wait_is_passed_on(header: str, wait: float | None) -> None:
    for refusal in (rate_limited(header), overloaded(header)):
        fault = await failure_of(refusal)
        assert isinstance(fault, ModelUnavailable)
        assert fault.retry_after == wait


def test_a_date_as_retry_after_is_no_number_of_seconds() -> None:
    assert seconds("Mon, 30 Nov 2026 12:00:00 GMT") is None
    assert seconds(None) is None


async def test_nothing_is_repeated_by_itself() -> None:
    async with scripted(overloaded("0")) as script, model(script.url) as claude:
        with pytest.raises(ModelUnavailable):
            await claude.reply(prompt(), nothing)
        assert len(script.requests) == 1


async def test_no_server_at_all_is_unavailable() -> None:
    async with serve(Starlette()) as url:
        pass
    async with model(url) as claude:
        with pytest.raises(ModelUnavailable, match="no connection"):
            await claude.reply(prompt(), nothing)


async def test_an_error_says_the_request_id_and_never_the_key() -> None:
    refusal = Refusal(401, "authentication_error", f"Incorrect API key provided: {KEY}")
    fault = await failure_of(refusal)
    assert "req_" in str(fault) and "[key]" in str(fault)
    assert KEY not in str(fault)


async def test_a_wrong_key_is_refused() -> None:
    async with serve(ScriptedModel([], keys=["another"]).app) as url, model(url) as claude:
        with pytest.raises(ModelRefusedRequest, match="invalid x-api-key"):
            await claude.reply(prompt(), nothing)


async def test_a_prompt_that_is_no_text_is_refused_and_not_sent() -> None:
    async with scripted() as script, model(script.url) as claude:
        with pytest.raises(ModelRefusedRequest, match="JSON"):
            await claude.reply(prompt({"role": "user", "content": "half a smile \ud83d"}), nothing)
