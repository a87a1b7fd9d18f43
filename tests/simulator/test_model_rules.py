"""Valid conversations pass; every known way to break one is named."""

import copy
import struct
import zlib
from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.model_rules import Json, faults, image_facts

TOOLS: list[Json] = [
    {"name": "look", "description": "Looks.", "input_schema": {"type": "object", "properties": {}}},
    {"name": "walk", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral", "ttl": "1h"}},
    {"type": "web_search_20260318", "name": "web_search", "max_uses": 3},
]


def png(width: int, height: int) -> bytes:
    """A whole one-colour PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"\0" * ((width + 7) // 8) for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    chunks = [chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def jpeg(width: int, height: int) -> bytes:
    """The segments of a JPEG up to its frame header, with a thumbnail-like segment before it."""
    app1 = b"\xff\xe1" + struct.pack(">H", 2 + 300) + b"\xff\xc0" * 150
    return b"\xff\xd8" + app1 + b"\xff\xc2" + struct.pack(">HBHH", 17, 8, height, width) + b"\x03" * 10


def image(data: bytes, kind: str = "image/png") -> Json:
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": b64encode(data).decode()}}


def result(call: str, content: Any = "ok", **fields: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": call, "content": content} | fields


def use(call: str, name: str = "look") -> Json:
    return {"type": "tool_use", "id": call, "name": name, "input": {}}


def said(words: str) -> Json:
    return {"type": "text", "text": words}


def strict(**properties: Json) -> Json:
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {"name": "look", "input_schema": schema, "strict": True}


def asked(*messages: Json, **fields: Any) -> Json:
    return {"model": "m", "max_tokens": 10, "messages": list(messages)} | fields


def user(*content: Json) -> Json:
    return {"role": "user", "content": list(content)}


def model(*content: Json) -> Json:
    return {"role": "assistant", "content": list(content)}


SEARCH: Json = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
FOUND: Json = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}


def conversation() -> Json:
    """One of everything that is allowed."""
    thought = {"type": "thinking", "thinking": "", "signature": "c2ln"}
    hidden = {"type": "redacted_thinking", "data": "eA=="}
    document = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x"}, "title": "t"}
    return asked(
        {"role": "user", "content": "look, please"},
        model(thought, hidden, SEARCH, FOUND, said("I look."), use("a"), use("b", "walk")),
        user(result("b", [said("b"), image(png(2, 2))]), result("a", "", is_error=False), said("and hurry")),
        {"role": "system", "content": "The owner changed the rules."},
        model(said("Done.") | {"citations": [{"type": "char_location", "cited_text": "x"}]}),
        user(image(png(8, 8)), document, said("thanks") | {"cache_control": {"type": "ephemeral"}}),
        user(said("one more thing")),
        system=[said("Be kind.") | {"cache_control": {"type": "ephemeral", "ttl": "1h"}}],
        tools=TOOLS,
        tool_choice={"type": "auto"},
        stream=True,
        stop_sequences=["x"],
        metadata={"user_id": "u"},
    )


def test_one_of_everything_that_is_allowed_has_no_fault() -> None:
    assert faults(conversation()) == []


def test_a_paused_turn_may_end_with_the_models_message() -> None:
    assert faults(asked(user(said("q")), model(said("I search."), SEARCH))) == []


def test_our_own_tools_may_run_between_a_call_of_the_providers_and_its_result() -> None:
    mixed = asked(user(said("q")), model(SEARCH, use("a")), user(result("a")))
    assert faults(mixed) == []
    mixed["messages"] += [model(FOUND, said("Found it.")), user(said("thanks"))]
    assert faults(mixed) == []


def test_a_compaction_of_the_providers_may_begin_a_conversation() -> None:
    assert faults(asked(model({"type": "compaction", "content": "They plan a trip."}), user(said("and?")))) == []


PREFILL = "This model does not support assistant message prefill"
UNANSWERED = "`tool_use` ids were found without `tool_result` blocks immediately after"
UNEXPECTED = "unexpected `tool_use_id` found in `tool_result` blocks"
MULTIPLE = "each tool_use must have a single result. Found multiple"
EXTRA = "Extra inputs are not permitted"
MARK: Json = {"type": "ephemeral"}


@pytest.mark.parametrize(
    ("request_", "fault"),
    [
        # fields
        (asked(user(said("x")), temperature=1.0), "temperature: "),
        (asked(user(said("x")), top_p=1), "top_p: "),
        (asked(user(said("x")), top_k=1), "top_k: "),
        (asked(user(said("x")), betas=["x"]), f"betas: {EXTRA}"),
        (asked(user(said("x")), max_tokens=0), "max_tokens: Input should be greater than or equal to 1"),
        (asked(user(said("x")), max_tokens="9"), "max_tokens: Input should be a valid integer"),
        (asked(user(said("x")), max_tokens=True), "max_tokens: Input should be a valid integer"),
        ({"model": "m", "max_tokens": 1}, "messages: Field required"),
        ({"messages": [user(said("x"))], "max_tokens": 1}, "model: Field required"),
        ({"model": "m", "messages": [user(said("x"))]}, "max_tokens: Field required"),
        # shape
        (asked(), "messages: at least one message is required"),
        (asked(messages={}), "messages: Input should be a valid list"),
        (asked("hello"), "messages.0: Input should be a valid dictionary"),  # type: ignore[arg-type]
        (asked({"role": "tool", "content": "x"}), "messages.0.role: Input should be"),
        (asked({"role": "user"}), "messages.0.content: Field required"),
        (asked({"role": "user", "content": "x", "name": "Ayu"}), f"messages.0.name: {EXTRA}"),
        (asked(user("x")), "messages.0.content.0: Input should be a valid dictionary"),  # type: ignore[arg-type]
        (asked(user({"text": "x"})), "messages.0.content.0.type: Field required"),
        (asked(user({"type": "text"})), "messages.0.content.0.text.text: Input should be a valid string"),
        (asked(user(said("x")), model=7), "model: Input should be a valid string"),
        (
            asked(user(said("x")), model({"type": "thinking", "signature": "s"}, said("y")), user(said("z"))),
            "messages.1.content.0.thinking.thinking: Input should be a valid string",
        ),
        (asked(user({"type": "audio"})), "messages.0.content.0: Input tag 'audio'"),
        (asked(user(use("a"))), "messages.0.content.0: Input tag 'tool_use'"),
        (asked(user(said("x") | {"parsed_output": None})), f"messages.0.content.0.text.parsed_output: {EXTRA}"),
        (asked(user(said("x")), system=[image(png(1, 1))]), "system.0: Input tag 'image'"),
        # who says what
        (asked(model(said("hi")), user(said("x"))), 'messages: first message must use the "user" role'),
        (asked(user(said("x")), model(said("The answer is"))), PREFILL),
        (
            asked({"role": "system", "content": "x"}, user(said("x"))),
            'messages: first message must use the "user" role',
        ),
        (
            asked(user(said("x")), model(said("y")), {"role": "system", "content": "z"}),
            "messages.2: a `system` message must immediately follow a `user` message",
        ),
        (asked(user()), "messages.0: user messages must have non-empty content"),
        (asked({"role": "user", "content": ""}), "messages.0: user messages must have non-empty content"),
        (asked(user(said("x")), model(), user(said("y"))), "messages.1: assistant messages must have non-empty"),
        (asked(user(said(""))), "messages: text content blocks must be non-empty"),
        (asked(user(said(" \n\t"))), "messages: text content blocks must contain non-whitespace text"),
        (asked({"role": "user", "content": "\n"}), "messages: text content blocks must contain non-whitespace text"),
        (asked(user(said("x")), system=" "), "system: text content blocks must contain non-whitespace text"),
        (
            asked(user(said("x")), model(use("a")), user(result("a", [said("")]))),
            "messages: text content blocks must be non-empty",
        ),
        (
            asked(user(said("x")), model(use("a")), user(result("a", "\n"))),
            "messages: text content blocks must contain non-whitespace text",
        ),
        (
            asked(
                user(said("x")),
                model({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x"}}),
                user(said("y")),
            ),
            "messages.1.content.0: `document` blocks are not permitted within assistant turns",
        ),
        (asked(user(said("x") | {"citations": [{"type": "char_location"}]})), "messages.0.content.0.text.citations"),
        (asked(user(said("\ud83d"))), "The request body is not valid JSON: no low surrogate in string"),
        # thinking
        (
            asked(user(said("x")), model({"type": "thinking", "thinking": "t"}, said("y")), user(said("z"))),
            "messages.1.content.0.thinking.signature: Field required",
        ),
        (
            asked(user(said("x")), model({"type": "redacted_thinking"}, said("y")), user(said("z"))),
            "messages.1.content.0.redacted_thinking.data: Field required",
        ),
        (
            asked(user(said("x")), model({"type": "thinking", "thinking": "t", "signature": "s"}), user(said("z"))),
            "messages.1: The final block in an assistant message cannot be `thinking`.",
        ),
        # calls and results
        (asked(user(said("x")), model(use("a")), user(said("y"))), f"messages.1: {UNANSWERED}: a."),
        (asked(user(said("x")), model(use("a")), user(said("y"), result("a"))), f"messages.1: {UNANSWERED}: a."),
        (
            asked(user(said("x")), model(use("a"), use("b")), user(result("a")), user(result("b"))),
            f"messages.1: {UNANSWERED}: b.",
        ),
        (asked(user(said("x")), model(use("a")), model(said("y")), user(result("a"))), f"messages.1: {UNANSWERED}: a."),
        (asked(user(said("x")), model(use("a"))), f"messages.1: {UNANSWERED}: a."),
        (asked(user(result("a"))), f"messages.0.content.0: {UNEXPECTED}: a."),
        (
            asked(user(said("x")), model(use("a")), user(result("a")), model(said("y")), user(result("a"))),
            f"messages.4.content.0: {UNEXPECTED}: a.",
        ),
        (
            asked(user(said("x")), model(use("a")), user(result("a"), result("a"))),
            f"messages.2: {MULTIPLE} `tool_result` blocks with id: a",
        ),
        (
            asked(user(said("x")), model(use("a")), user(result("a", "", is_error=True))),
            "messages.2.content.0.tool_result: content cannot be empty if `is_error` is true",
        ),
        (
            asked(user(said("x")), model(use("a")), user(result("a")), model(use("a")), user(result("a"))),
            "messages: `tool_use` ids must be unique",
        ),
        (asked(user(said("x")), model(use("a b")), user(result("a b"))), "messages.1.content.0.tool_use.id: String"),
        (
            asked(user(said("x")), model(use("a") | {"input": "{}"}), user(result("a"))),
            "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
        ),
        (
            asked(user(said("x")), model(use("a")), user(result("a", [said("b"), image(png(2, 2))], is_error=True))),
            "messages.2.content.0.tool_result: all content must be type `text` if `is_error` is true",
        ),
        # tools that the provider runs
        (
            asked(user(said("x")), model(SEARCH, said("y")), user(said("z"))),
            "messages.1: `web_search` tool use with id `srvtoolu_1` was found without a corresponding",
        ),
        (
            asked(user(said("x")), model(SEARCH, use("a")), user(result("a"), said("quick")), model(FOUND)),
            "messages.1: `web_search` tool use with id `srvtoolu_1` was found without a corresponding",
        ),
        (
            asked(user(said("x")), model(FOUND, SEARCH)),
            "messages.1.content.0: unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_1.",
        ),
        (
            asked(user(said("x")), model(SEARCH, FOUND, FOUND), user(said("z"))),
            "messages.1.content.2: unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_1.",
        ),
        (asked(user(said("x")), model(SEARCH | {"input": None})), "messages.1.content.0.server_tool_use.input: Input"),
        (
            asked(user(said("x")), model({"type": "web_search_tool_result"}), user(said("z"))),
            "messages.1.content.0.web_search_tool_result.tool_use_id: Field required",
        ),
        (asked(user(said("x")), model(SEARCH, FOUND, SEARCH, FOUND)), "messages: `tool_use` ids must be unique"),
        # tools
        (asked(user(said("x")), tools=[TOOLS[0], TOOLS[0]]), "tools: Tool names must be unique."),
        (asked(user(said("x")), tools=[TOOLS[0] | {"name": "files.read"}]), "tools.0.custom.name: String should match"),
        (asked(user(said("x")), tools=[TOOLS[0] | {"name": "x" * 129}]), "tools.0.custom.name: String should match"),
        (asked(user(said("x")), tools=[TOOLS[0] | {"parameters": {}}]), f"tools.0.custom.parameters: {EXTRA}"),
        (asked(user(said("x")), tools=[{"name": "look"}]), "tools.0.custom.input_schema: Field required"),
        (
            asked(user(said("x")), tools=[{"name": "look", "input_schema": {"type": "array"}}]),
            "tools.0.custom.input_schema.type: Input should be 'object'",
        ),
        (
            asked(user(said("x")), tools=[{"name": "look", "input_schema": {"type": "object"}, "strict": True}]),
            "tools.0.custom.input_schema: For 'object' type, 'additionalProperties' must be explicitly set to false",
        ),
        (
            asked(user(said("x")), tools=[strict(at={"type": "array", "items": {"type": "string", "maxLength": 3}})]),
            "tools.0.custom.input_schema.at.items: For 'string' type, properties maxLength are not supported",
        ),
        (
            asked(user(said("x")), tools=[strict() | {"name": f"look_{n}"} for n in range(21)]),
            "tools: Too many strict tools: at most 20 are allowed.",
        ),
        (asked(user(said("x")), tool_choice={"type": "none"}), "tool_choice: `tool_choice` may only be specified"),
        # cache marks
        (
            asked(user(*[said("x") | {"cache_control": MARK}] * 5)),
            "A maximum of 4 blocks with cache_control may be provided. Found 5.",
        ),
        (
            asked(user(*[said("x") | {"cache_control": MARK}] * 4), cache_control=MARK),
            "A maximum of 4 blocks with cache_control may be provided. Found 5.",
        ),
        (
            asked(
                user(said("x")),
                model(use("a")),
                user(result("a", [said("y") | {"cache_control": MARK}] * 4, cache_control=MARK)),
            ),
            "A maximum of 4 blocks with cache_control may be provided. Found 5.",
        ),
        (asked(user(said("x") | {"cache_control": {"type": "ephemeral", "ttl": "2h"}})), "cache_control: Input should"),
        (
            asked(
                user(said("x") | {"cache_control": MARK | {"ttl": "1h"}}), system=[said("s") | {"cache_control": MARK}]
            ),
            "cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m'",
        ),
        # images
        (asked(user(image(png(8001, 1)))), "messages.image.source.base64.data: At least one of the image dimensions"),
        (asked(user(image(jpeg(10, 9000), "image/jpeg"))), "messages.image.source.base64.data: At least one of"),
        (asked(user(*[image(png(2001, 1))] * 21)), "messages.image.source.base64.data: At least one of"),
        (asked(user(*[image(png(1, 1))] * 101)), "too many images and documents: 101 + 0 > 100"),
        (asked(user(image(b"\0" * 4_000_000))), "messages.image.source.base64: image exceeds 5 MB maximum"),
        (asked(user(image(png(1, 1), "image/jpeg"))), "messages.image.source.base64.data: The image was specified"),
        (asked(user(image(b""))), "messages.image.source.base64.data: Could not process image"),
        (
            asked(user({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "…"}})),
            "messages.image.source.base64.data: Invalid base64 data",
        ),
        (
            asked(user(said("x")), model(use("a")), user(result("a", [image(png(1, 8001))]))),
            "messages.image.source.base64.data: At least one of",
        ),
    ],
)
def test_a_fault_is_named_and_placed(request_: Json, fault: str) -> None:
    assert [found for found in faults(request_) if found.startswith(fault)], faults(request_)


def test_twenty_large_images_are_allowed_where_twenty_one_are_not() -> None:
    assert faults(asked(user(*[image(png(2001, 1))] * 20))) == []


def test_width_and_height_are_read_from_the_bytes() -> None:
    assert image_facts(png(300, 7)) == ("image/png", (300, 7))
    assert image_facts(jpeg(640, 480)) == ("image/jpeg", (640, 480))
    assert image_facts(b"GIF89a" + struct.pack("<HH", 12, 5) + b"\0\0\0") == ("image/gif", (12, 5))
    assert image_facts(b"RIFF\x10\0\0\0WEBPVP8 ")[0] == "image/webp"
    assert image_facts(b"%PDF-1.7") == ("", (0, 0))


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_break_the_reader_of_images(data: bytes) -> None:
    for start in (b"", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF89a"):
        kind, (width, height) = image_facts(start + data)
        assert kind in ("", "image/jpeg", "image/png", "image/gif", "image/webp")
        assert width >= 0 and height >= 0


# Conversations of any length, and what spoils them

TEXT = st.text(min_size=1).filter(lambda words: bool(words.strip()))
MUTATION = Callable[[list[Json]], None]


@st.composite
def conversations(draw: st.DrawFn) -> list[Json]:
    """Turns of a question, any number of rounds of calls, and an answer; a question at the end."""
    numbers = iter(range(10_000))
    messages: list[Json] = [user(said(draw(TEXT)))]
    for _ in range(draw(st.integers(1, 4))):
        for _ in range(draw(st.integers(1, 3))):
            calls = [use(f"toolu_{next(numbers)}") for _ in range(draw(st.integers(1, 3)))]
            words = [said(draw(TEXT))] if draw(st.booleans()) else []
            messages.append(model(*words, *calls))
            results = [result(call["id"], draw(st.just("") | TEXT | st.just([said("x")]))) for call in calls]
            steer = [said(draw(TEXT))] if draw(st.booleans()) else []
            messages.append(user(*draw(st.permutations(results)), *steer))
        messages.append(model(said(draw(TEXT))))
        messages.append(user(said(draw(TEXT))))
    return messages


def first(messages: list[Json], kind: str) -> tuple[int, int]:
    """Where the first block of a type stands."""
    return next(
        (at, place)
        for at, message in enumerate(messages)
        for place, block in enumerate(message["content"])
        if block["type"] == kind
    )


def lose_the_results(messages: list[Json]) -> None:
    del messages[first(messages, "tool_result")[0]]


def lose_the_calls(messages: list[Json]) -> None:
    del messages[first(messages, "tool_use")[0]]


def lose_one_result(messages: list[Json]) -> None:
    at, place = first(messages, "tool_result")
    del messages[at]["content"][place]


def lose_one_call(messages: list[Json]) -> None:
    at, place = first(messages, "tool_use")
    del messages[at]["content"][place]


def answer_twice(messages: list[Json]) -> None:
    at, place = first(messages, "tool_result")
    messages[at]["content"].insert(0, messages[at]["content"][place])


def speak_before_the_results(messages: list[Json]) -> None:
    messages[first(messages, "tool_result")[0]]["content"].insert(0, said("wait"))


def speak_between_call_and_result(messages: list[Json]) -> None:
    messages.insert(first(messages, "tool_result")[0], user(said("wait")))


def begin_with_the_model(messages: list[Json]) -> None:
    del messages[0]


def end_with_the_model(messages: list[Json]) -> None:
    messages.pop()


def say_nothing(messages: list[Json]) -> None:
    at, place = first(messages, "text")
    messages[at]["content"][place] = said("  ")


def repeat_the_conversation(messages: list[Json]) -> None:
    messages.extend(copy.deepcopy(messages))


@settings(deadline=None)
@given(conversations())
def test_any_whole_conversation_is_accepted(messages: list[Json]) -> None:
    assert faults(asked(*messages, tools=TOOLS)) == []


@pytest.mark.parametrize(
    "spoil",
    [
        lose_the_results,
        lose_the_calls,
        lose_one_result,
        lose_one_call,
        answer_twice,
        speak_before_the_results,
        speak_between_call_and_result,
        begin_with_the_model,
        end_with_the_model,
        say_nothing,
        repeat_the_conversation,
    ],
)
@settings(deadline=None)
@given(messages=conversations())
def test_any_spoiled_conversation_is_refused(spoil: MUTATION, messages: list[Json]) -> None:
    spoil(messages)
    assert faults(asked(*messages, tools=TOOLS)) != []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)
FIELD = st.sampled_from(["messages", "system", "tools", "tool_choice", "max_tokens", "cache_control"])


@settings(deadline=None)
@given(field=FIELD, value=JSON)
def test_no_json_breaks_the_rules_themselves(field: str, value: Any) -> None:
    assert all(isinstance(fault, str) for fault in faults(conversation() | {field: value}))


@settings(deadline=None)
@given(at=st.integers(0, 6), key=st.sampled_from(["role", "content"]), value=JSON)
def test_no_message_breaks_the_rules_themselves(at: int, key: str, value: Any) -> None:
    request = conversation()
    request["messages"][at][key] = value
    assert all(isinstance(fault, str) for fault in faults(request))


BLOCK_KEY = st.sampled_from(["type", "text", "source", "id", "input", "content", "tool_use_id", "signature", "name"])


@settings(deadline=None)
@given(at=st.sampled_from([1, 2, 5]), place=st.integers(0, 2), key=BLOCK_KEY, value=JSON)
def test_no_block_breaks_the_rules_themselves(at: int, place: int, key: str, value: Any) -> None:
    request = conversation()
    request["messages"][at]["content"][place][key] = value
    assert all(isinstance(fault, str) for fault in faults(request))
