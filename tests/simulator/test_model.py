"""The stand-in for the Messages API: its wire, its refusals, its cache and its scripts, through the real SDK."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anthropic
import httpx2
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from simulator.model import ModelServer
from simulator.model_reply import Answer, Break, Refusal, words
from simulator.model_rules import Json
from simulator.script import ScriptedModel, call, overloaded, rate_limited, reply, scripted, text, thinking
from simulator.serving import serve

MODEL = "claude-sonnet-5-5"
HELLO: list[Json] = [{"role": "user", "content": "hello"}]
TOOL: Json = {"name": "look", "description": "Looks.", "input_schema": {"type": "object", "properties": {}}}


@asynccontextmanager
async def sdk(url: str, key: str = "any") -> AsyncIterator[anthropic.AsyncAnthropic]:
    async with anthropic.AsyncAnthropic(api_key=key, base_url=url, max_retries=0) as client:
        yield client


async def post(url: str, body: Any, **headers: str) -> httpx2.Response:
    """One request without the SDK's help."""
    sent = {"x-api-key": "any", "anthropic-version": "2026-10-21"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    async with httpx2.AsyncClient(base_url=url) as client:
        return await client.post(
            "/v1/messages", content=body if isinstance(body, bytes) else json.dumps(body), headers=sent
        )


def body(**fields: Any) -> Json:
    return {"model": MODEL, "max_tokens": 100, "messages": HELLO} | fields


# The wire


async def test_the_sdk_puts_a_streamed_answer_together_as_it_was_written() -> None:
    answer = reply(thinking("Let me look."), text("Looking, now. "), call("look", {"at": "the é 🙂", "n": [1, 2.5]}))
    async with scripted(answer) as model, sdk(model.url) as client:
        arguments: Any = {"model": MODEL, "max_tokens": 100, "messages": HELLO, "tools": [TOOL]}
        async with client.messages.stream(**arguments) as stream:
            message = await stream.get_final_message()
    thought, said, use = (block.to_dict() for block in message.content)
    assert thought["thinking"] == "Let me look." and thought["signature"]
    assert said == {"type": "text", "text": "Looking, now. "}
    assert use == {"type": "tool_use", "id": use["id"], "name": "look", "input": {"at": "the é 🙂", "n": [1, 2.5]}}
    assert message.stop_reason == "tool_use"
    assert message.usage.output_tokens > 1


async def test_the_same_answer_comes_whole_where_no_stream_is_asked_for() -> None:
    answer = reply(thinking("Hm."), text("Hi."), call("look", {}, id="toolu_x"))
    async with scripted(answer, answer) as model, sdk(model.url) as client:
        arguments: Any = {"model": MODEL, "max_tokens": 100, "messages": HELLO, "tools": [TOOL]}
        whole = await client.messages.create(**arguments)
        async with client.messages.stream(**arguments) as stream:
            streamed = await stream.get_final_message()
    assert [block.to_dict() for block in whole.content] == [block.to_dict() for block in streamed.content]
    assert whole.usage.output_tokens == streamed.usage.output_tokens
    assert whole._request_id == "req_000000000000000000000001"


async def test_events_on_the_wire_are_those_of_the_api() -> None:
    async with scripted(reply(text("Good day"), call("look", {"at": 1}, id="c1"))) as model:
        response = await post(model.url, body(stream=True, tools=[TOOL]))
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["request-id"].startswith("req_")
    frames = [frame.split("\n") for frame in response.text.strip().split("\n\n")]
    parsed = [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in frames]
    assert all(name == event["type"] for name, event in parsed)
    start, *rest = (event for _, event in parsed)
    assert start["message"] | {"usage": 0} == {
        "id": "msg_000000000000000000000001",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": 0,
        "diagnostics": None,
        "container": None,
    }
    assert rest[:-2] == [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Good"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": " day"}},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "tool_use", "name": "look", "id": "c1", "input": {}},
        },
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": ""}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"at": 1}'}},
        {"type": "content_block_stop", "index": 1},
    ]
    assert rest[-2]["delta"] == {"stop_reason": "tool_use", "stop_sequence": None, "container": None}
    assert rest[-2]["usage"]["output_tokens"] > 1
    assert rest[-1] == {"type": "message_stop"}


@pytest.mark.parametrize("said", ["", " ", "one", "  one\n\ntwo  ", "\n", "a\u00a0b\tc", "🙂 👋🏽 done"])
def test_a_text_in_pieces_is_the_text(said: str) -> None:
    assert "".join(words(said)) == said


async def test_it_answers_under_any_prefix() -> None:
    model = ScriptedModel([text("ok")])
    async with serve(Starlette(routes=[Mount("/some/where", model.app)])) as url, sdk(f"{url}/some/where") as client:
        message = await client.messages.create(model=MODEL, max_tokens=10, messages=[{"role": "user", "content": "x"}])
    assert message.stop_reason == "end_turn"


async def test_tokens_are_counted_as_they_are_billed() -> None:
    async with scripted(text("ok")) as model, sdk(model.url) as client:
        counted = await client.messages.count_tokens(model=MODEL, messages=[{"role": "user", "content": "hello there"}])
        told = await client.messages.create(
            model=MODEL, max_tokens=9, messages=[{"role": "user", "content": "hello there"}]
        )
    assert counted.input_tokens == told.usage.input_tokens > 0


async def test_models_are_listed_and_described() -> None:
    async with scripted(models=["claude-a", "claude-b"], context_window=1234) as model, sdk(model.url) as client:
        assert [info.id async for info in client.models.list()] == ["claude-a", "claude-b"]
        assert (await client.models.retrieve("claude-b")).max_input_tokens == 1234
        with pytest.raises(anthropic.NotFoundError, match="model: claude-c"):
            await client.models.retrieve("claude-c")
        with pytest.raises(anthropic.NotFoundError, match="model: claude-c"):
            await client.messages.create(model="claude-c", max_tokens=9, messages=[{"role": "user", "content": "x"}])


# Refusals


async def test_a_key_may_come_as_bearer_or_as_x_api_key() -> None:
    async with scripted(text("a"), text("b"), keys=["right"]) as model:
        assert (await post(model.url, body(), x_api_key="right")).status_code == 200
        assert (await post(model.url, body(), x_api_key="", authorization="Bearer right")).status_code == 200


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"x_api_key": "wrong"}, "invalid x-api-key"),
        ({"x_api_key": "", "authorization": "Bearer wrong"}, "invalid x-api-key"),
        ({"x_api_key": ""}, "x-api-key header is required"),
    ],
)
async def test_a_wrong_or_missing_key_is_401(headers: dict[str, str], words: str) -> None:
    async with scripted(keys=["right"]) as model:
        response = await post(model.url, body(), **headers)
    assert response.status_code == 401
    assert response.json() == {
        "type": "error",
        "error": {"type": "authentication_error", "message": words},
        "request_id": response.headers["request-id"],
    }


async def test_a_faulty_request_is_400_with_the_first_fault_and_takes_no_step() -> None:
    async with scripted() as model:
        response = await post(model.url, body(messages=[{"role": "user", "content": " "}], temperature=0.5))
        assert response.status_code == 400
        assert response.json()["error"]["type"] == "invalid_request_error"
        assert response.json()["error"]["message"].startswith("temperature")
        assert (model.requests, len(model.refused)) == ([], 1)
        model.refused.clear()


@pytest.mark.parametrize("broken", [b"{", b"[]", b'"a"', b"\xff\xfe", b'{"model": "\\ud83d x"}'])
async def test_a_body_that_is_no_json_object_is_400(broken: bytes) -> None:
    async with scripted() as model:
        response = await post(model.url, broken)
        model.refused.clear()
    assert response.status_code == 400
    assert "not valid JSON" in response.json()["error"]["message"]


async def test_a_body_above_32_megabytes_is_413() -> None:
    async with scripted() as model:
        response = await post(model.url, b" " * (32 * 1024 * 1024 + 1))
    assert (response.status_code, response.json()["error"]["type"]) == (413, "request_too_large")


async def test_a_prompt_above_the_window_is_too_long() -> None:
    async with scripted(context_window=30) as model:
        response = await post(model.url, body(messages=[{"role": "user", "content": "x" * 400}]))
        model.refused.clear()
    assert response.json()["error"]["message"].startswith("prompt is too long: 110 ")
    assert response.json()["error"]["message"].endswith("tokens > 30 maximum")


# Signed thinking


async def thought_and_request(model: ScriptedModel, **fields: Any) -> tuple[Json, Json]:
    """A reply that begins with thinking, and the next request, which holds it."""
    asked = body(tools=[TOOL], system="Be kind.", **fields)
    answer = (await post(model.url, asked)).json()
    result = {"type": "tool_result", "tool_use_id": answer["content"][-1]["id"], "content": "nothing there"}
    said = [*asked["messages"], {"role": "assistant", "content": answer["content"]}]
    return answer["content"][0], asked | {"messages": [*said, {"role": "user", "content": [result]}]}


async def test_thinking_is_accepted_again_also_after_appending_and_with_moved_marks() -> None:
    async with scripted(reply(thinking("Hm."), call("look", {})), text("Done."), text("Sure.")) as model:
        _, request = await thought_and_request(model)
        assert (await post(model.url, request)).status_code == 200
        marked = [{"type": "text", "text": "hello", "cache_control": {"type": "ephemeral"}}]
        request["messages"][0] = {"role": "user", "content": marked}
        request["messages"] += [{"role": "assistant", "content": "Done."}, {"role": "user", "content": "thanks"}]
        assert (await post(model.url, request)).status_code == 200


@pytest.mark.parametrize("change", ["thought", "signature", "system", "tools", "earlier message"])
async def test_thinking_is_refused_where_anything_before_it_changed(change: str) -> None:
    async with scripted(reply(thinking("Hm."), call("look", {}))) as model:
        thought, request = await thought_and_request(model)
        match change:
            case "thought":
                request["messages"][1]["content"][0] = thought | {"thinking": "Hm!"}
            case "signature":
                request["messages"][1]["content"][0] = thought | {"signature": "c2lnbmF0dXJl"}
            case "system":
                request["system"] = "Be kind. It is 10:31."
            case "tools":
                request["tools"] = [TOOL | {"description": "Looks again."}]
            case _:
                request["messages"][0] = {"role": "user", "content": "hello!"}
        response = await post(model.url, request)
        assert response.status_code == 400
        assert response.json()["error"]["message"].startswith("messages.1.content.0: Invalid `signature` in `thinking`")
        model.refused.clear()


async def test_without_its_thinking_a_changed_conversation_is_accepted() -> None:
    async with scripted(reply(thinking("Hm."), call("look", {})), text("Done.")) as model:
        _, request = await thought_and_request(model)
        request["system"] = "Be very kind."
        del request["messages"][1]["content"][0]
        assert (await post(model.url, request)).status_code == 200


# The prompt cache

MARK: Json = {"type": "ephemeral"}


def asked(*said: str, mark: bool = True, system: str = "rule " * 500, ttl: str = "1h") -> Json:
    """A request whose system prompt and newest message are marked."""
    messages: list[Json] = [
        {"role": "assistant" if at % 2 else "user", "content": [{"type": "text", "text": words}]}
        for at, words in enumerate(said)
    ]
    if mark:
        messages[-1]["content"][-1]["cache_control"] = MARK
    return body(system=[{"type": "text", "text": system, "cache_control": MARK | {"ttl": ttl}}], messages=messages)


async def usages(*requests: Json, **options: Any) -> list[tuple[int, int, int]]:
    """Fresh, written and read tokens of each request in turn."""
    async with scripted(*[text("ok")] * len(requests), **options) as model:
        told = [(await post(model.url, request)).json()["usage"] for request in requests]
    fields = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return [(usage[fields[0]], usage[fields[1]], usage[fields[2]]) for usage in told]


async def test_a_growing_conversation_reads_all_it_said_before() -> None:
    first, second, third = await usages(
        asked("one " * 50), asked("one " * 50, "yes", "two"), asked("one " * 50, "yes", "two", "yes", "three")
    )
    assert first[0] == first[2] == 0 and first[1] > 600
    assert second[2] == first[1] and 0 < second[1] < 50 and second[0] == 0
    assert third[2] == second[1] + second[2]


async def test_a_changed_message_reads_only_what_came_before_it() -> None:
    first, changed = await usages(asked("one " * 50, "yes", "two"), asked("ONE " * 50, "yes", "two"))
    system = (await usages(asked("hi", mark=False)))[0][1]
    assert (changed[2], changed[1]) == (system, first[1] - system)


@pytest.mark.parametrize("change", ["system", "model", "order of keys"])
async def test_a_changed_beginning_reads_nothing(change: str) -> None:
    again = asked("one")
    match change:
        case "system":
            again["system"][0]["text"] = "It is 10:31. " + again["system"][0]["text"]
        case "model":
            again["model"] = "claude-haiku-5-5"
        case _:
            again["system"][0] = dict(reversed(again["system"][0].items()))
    assert (await usages(asked("one"), again))[1][2] == 0


async def test_what_is_not_marked_is_fresh_each_time() -> None:
    first, second = await usages(asked("one " * 50, mark=False), asked("one " * 50, mark=False))
    assert first[0] == second[0] > 40
    assert second[2] == first[1]


async def test_short_prefixes_are_not_cached() -> None:
    request = asked("one", system="short")
    assert [(written, read) for _, written, read in await usages(request, request)] == [(0, 0), (0, 0)]
    assert (await usages(request, request, smallest_prefix=0))[1][2] > 0


async def test_an_entry_more_than_twenty_blocks_back_is_not_found() -> None:
    far = [str(number) for number in range(25)]
    near = [str(number) for number in range(11)]
    plain = asked("0")
    assert (await usages(plain, asked(*near)))[1][2] == sum((await usages(plain))[0])
    assert (await usages(plain, asked(*far)))[1][2] < sum((await usages(plain))[0])


async def test_written_tokens_are_told_by_how_long_they_live() -> None:
    async with scripted(text("ok")) as model:
        usage = (await post(model.url, asked("one " * 50))).json()["usage"]
    kept = usage["cache_creation"]
    assert kept["ephemeral_1h_input_tokens"] > kept["ephemeral_5m_input_tokens"] > 0
    assert sum(kept.values()) == usage["cache_creation_input_tokens"]


async def test_one_mark_at_the_top_marks_the_last_block() -> None:
    request = body(messages=[{"role": "user", "content": "word " * 600}], cache_control=MARK)
    first, second = await usages(request, request)
    assert first == (0, second[2], 0)


# The script


async def test_a_step_can_be_made_of_the_request() -> None:
    async def later(request: Json) -> Json:
        return text(f"you said {request['messages'][-1]['content']}")

    async with scripted(later, lambda request: overloaded("3")) as model:
        assert (await post(model.url, body())).json()["content"][0]["text"] == "you said hello"
        refused = await post(model.url, body())
    assert (refused.status_code, refused.headers["retry-after"]) == (529, "3")


async def test_a_refusal_carries_its_type_code_and_headers() -> None:
    async with scripted(rate_limited("0.5", code="enforced_spend_limit_reached")) as model, sdk(model.url) as client:
        with pytest.raises(anthropic.RateLimitError) as caught:
            await client.messages.create(model=MODEL, max_tokens=9, messages=[{"role": "user", "content": "x"}])
    assert caught.value.error_code == "enforced_spend_limit_reached"
    assert caught.value.response.headers["retry-after"] == "0.5"


async def test_unused_steps_are_complained_about() -> None:
    with pytest.raises(AssertionError, match="1 of 2 steps were not used"):
        async with scripted(text("a"), text("b")) as model:
            await post(model.url, body())


async def test_a_request_after_the_script_is_500_and_complained_about() -> None:
    with pytest.raises(AssertionError, match="1 more requests than steps"):
        async with scripted(text("a")) as model:
            await post(model.url, body())
            response = await post(model.url, body())
            assert response.status_code == 500
            assert "the script is over" in response.json()["error"]["message"]


async def test_a_refused_request_is_complained_about() -> None:
    with pytest.raises(AssertionError, match="refused a request: temperature"):
        async with scripted() as model:
            await post(model.url, body(temperature=1))


async def test_a_brain_serves_many_conversations_at_once() -> None:
    together = asyncio.Barrier(20)

    async def brain(request: Json) -> Answer:
        await together.wait()
        return reply(text(request["messages"][0]["content"]))

    async with serve(ModelServer(brain).app) as url, sdk(url) as client:
        asks = [
            client.messages.create(model=MODEL, max_tokens=9, messages=[{"role": "user", "content": f"chat {at}"}])
            for at in range(20)
        ]
        answers = await asyncio.wait_for(asyncio.gather(*asks), 60)
    assert [answer.to_dict()["content"] for answer in answers] == [[text(f"chat {at}")] for at in range(20)]


async def test_a_paced_answer_takes_its_time() -> None:
    clock = asyncio.get_running_loop().time
    async with scripted(reply(text("one two three four"), pace=0.05)) as model:
        began = clock()
        await post(model.url, body(stream=True))
    assert clock() - began > 0.19


async def test_what_is_said_arrives_before_the_rest_is() -> None:
    async with scripted(reply(text("one two"), broken=Break("hang"))) as model, sdk(model.url) as client:
        async with client.messages.stream(
            model=MODEL, max_tokens=9, messages=[{"role": "user", "content": "x"}]
        ) as stream:
            assert await asyncio.wait_for(anext(stream.text_stream), 10) == "one"
        await asyncio.wait_for(model.hung_up.wait(), 10)


async def test_a_cut_is_a_connection_that_drops() -> None:
    async with scripted(reply(text("one two"), broken=Break("cut"))) as model:
        with pytest.raises(httpx2.RemoteProtocolError):
            await post(model.url, body(stream=True))


async def test_a_client_that_leaves_is_noticed() -> None:
    arrived = asyncio.Event()

    def hang(request: Json) -> Answer:
        arrived.set()
        return reply(text("one two"), broken=Break("hang"))

    async with scripted(hang) as model:
        asking = asyncio.create_task(post(model.url, body(stream=True)))
        await asyncio.wait_for(arrived.wait(), 10)
        assert model.hangups == 0
        asking.cancel()
        await asyncio.wait_for(model.hung_up.wait(), 10)
    assert model.hangups == 1


async def test_an_answer_that_is_read_to_its_end_is_no_hangup() -> None:
    async with scripted(text("ok"), Refusal(400, "invalid_request_error", "no")) as model:
        await post(model.url, body(stream=True))
        await post(model.url, body(stream=True))
    assert model.hangups == 0


# Serving


async def test_a_taken_port_is_an_error() -> None:
    async with serve(Starlette()) as url:
        with pytest.raises(OSError):
            async with serve(Starlette(), port=int(url.rpartition(":")[2])):
                pass


async def test_an_application_that_does_not_start_is_an_error() -> None:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        if not app.routes:
            raise LookupError
        yield

    with pytest.raises(RuntimeError, match="did not start"):
        async with serve(Starlette(lifespan=lifespan)):
            pass
