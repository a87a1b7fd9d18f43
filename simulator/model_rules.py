"""What the Messages API refuses, as pure functions over a request's JSON.

The wording is the API's own where a public report shows it. The rules know nothing of the bot, so they also serve as an
independent check of the history it builds: ``assert faults(request) == []``. Two rules need more than the request and
live elsewhere: the context window (``model.py``) and forged thinking (``model_thinking.py``).
"""

import json
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any

Json = dict[str, Any]

FIELDS = frozenset(
    {
        "model",
        "messages",
        "max_tokens",
        "system",
        "tools",
        "tool_choice",
        "stream",
        "stop_sequences",
        "thinking",
        "metadata",
        "cache_control",
        "compaction",
        "container",
        "diagnostics",
        "inference_geo",
        "output_config",
        "service_tier",
        "speed",
    }
)
REMOVED_FIELDS = ("temperature", "top_p", "top_k")  # since anthropic-version 2026-10-21

MAX_MARKS = 4
MAX_MESSAGES = 100_000
MAX_IMAGE_BYTES = 5 * 1024 * 1024  # of the base64 text
MAX_IMAGE_PIXELS = 8000
MAX_MEDIA = 100  # images and documents
MANY_IMAGES = 20
MAX_PIXELS_OF_MANY = 2000

TOOL_NAME = "^[a-zA-Z0-9_-]{1,128}$"
TOOL_ID = "^[a-zA-Z0-9_-]+$"
MAX_STRICT = 20
NOT_IN_STRICT = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "maxItems"}
)
TOOL_FIELDS = frozenset(
    {
        "name",
        "description",
        "input_schema",
        "type",
        "cache_control",
        "strict",
        "defer_loading",
        "eager_input_streaming",
        "input_examples",
        "allowed_callers",
    }
)
SOURCES = ("base64", "url", "file", "text", "content")
BLOCK_FIELDS = {
    "text": {"text", "citations", "cache_control"},
    "image": {"source", "cache_control", "transformations"},
    "document": {"source", "cache_control", "citations", "context", "title"},
    "tool_use": {"id", "name", "input", "cache_control", "caller", "toolset_name"},
    "tool_result": {"tool_use_id", "content", "is_error", "cache_control", "toolset_name"},
    "thinking": {"thinking", "signature"},
    "redacted_thinking": {"data"},
}
USER_BLOCKS = frozenset({"text", "image", "document", "tool_result", "search_result", "container_upload"})
RESULT_BLOCKS = frozenset({"text", "image", "document", "search_result", "tool_reference"})
# What a user message and a tool's result may hold is a closed list. A model's own answer may bring block types that are
# newer than this file, and they must be taken back.
USER_ONLY_BLOCKS = frozenset({"image", "document", "tool_result"})
THINKING = frozenset({"thinking", "redacted_thinking"})
SERVER_CALLS = frozenset({"server_tool_use", "mcp_tool_use"})
CODE = frozenset({"code_execution", "bash_code_execution", "text_editor_code_execution"})


def faults(request: Json) -> list[str]:
    """Everything the API would refuse a request for, in its own words; empty where it would accept.

    Each text begins with where the fault is: "messages.2.content.0: …". A request without the right shape is not
    looked into any further.
    """
    return list(_shape(request)) or list(chain.from_iterable(rule(request) for rule in RULES))


def blocks(content: str | list[Json]) -> list[Json]:
    """Content in its long form: a string is one text block."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def nested(block: Json) -> Iterator[Json]:
    """A block, and what a tool result holds."""
    yield block
    if block.get("type") == "tool_result":
        yield from blocks(block.get("content") or [])


def all_blocks(request: Json) -> Iterator[Json]:
    """Every block of the messages, nested ones too."""
    for message in request["messages"]:
        for block in blocks(message["content"]):
            yield from nested(block)


def without_marks(value: Any) -> Any:
    """The same JSON without any cache_control."""
    match value:
        case dict():
            return {name: without_marks(inner) for name, inner in value.items() if name != "cache_control"}
        case list():
            return [without_marks(inner) for inner in value]
    return value


# Shape


def _shape(request: Json) -> Iterator[str]:
    for name in ("model", "messages", "max_tokens"):
        if name not in request:
            yield f"{name}: Field required"
    for name, value in request.items():
        if name in REMOVED_FIELDS:
            yield f"{name}: `{name}` is not supported by this version of the API"
        elif name not in FIELDS:
            yield f"{name}: Extra inputs are not permitted"
        elif name == "max_tokens" and not (isinstance(value, int) and not isinstance(value, bool)):
            yield "max_tokens: Input should be a valid integer"
        elif name == "max_tokens" and value < 1:
            yield "max_tokens: Input should be greater than or equal to 1"
        elif name == "model" and not isinstance(value, str):
            yield "model: Input should be a valid string"
        elif name == "system":
            yield from _content_shape("system", value, frozenset({"text"}))
        elif name == "tools":
            yield from _objects("tools", value)
        elif name == "messages":
            yield from _messages_shape(value)


def _messages_shape(messages: object) -> Iterator[str]:
    yield from _objects("messages", messages)
    if not isinstance(messages, list):
        return
    if not messages:
        yield "messages: at least one message is required"
    if len(messages) > MAX_MESSAGES:
        yield f"messages: List should have at most {MAX_MESSAGES} items after validation, not {len(messages)}"
    for index, message in enumerate(messages):
        if not isinstance(message, dict):
            continue
        where = f"messages.{index}"
        for name in message.keys() - {"role", "content"}:
            yield f"{where}.{name}: Extra inputs are not permitted"
        if message.get("role") not in ("user", "assistant", "system"):
            yield f"{where}.role: Input should be 'user', 'assistant' or 'system'"
        if "content" not in message:
            yield f"{where}.content: Field required"
        else:
            allowed = {"user": USER_BLOCKS, "system": frozenset({"text"})}.get(str(message.get("role")))
            yield from _content_shape(f"{where}.content", message["content"], allowed)


def _content_shape(where: str, content: object, allowed: frozenset[str] | None) -> Iterator[str]:
    """``allowed`` None takes every type: the model's own answer."""
    if isinstance(content, str):
        return
    yield from _objects(where, content)
    for index, block in enumerate(content if isinstance(content, list) else ()):
        if isinstance(block, dict):
            yield from _block_shape(f"{where}.{index}", block, allowed)


def _block_shape(where: str, block: Json, allowed: frozenset[str] | None) -> Iterator[str]:
    kind = block.get("type")
    if not isinstance(kind, str):
        yield f"{where}.type: Field required"
        return
    if allowed is not None and kind not in allowed:
        expected = ", ".join(f"'{name}'" for name in sorted(allowed))
        yield f"{where}: Input tag '{kind}' found using 'type' does not match any of the expected tags: {expected}"
        return
    if kind in BLOCK_FIELDS:
        for name in block.keys() - BLOCK_FIELDS[kind] - {"type"}:
            yield f"{where}.{kind}.{name}: Extra inputs are not permitted"
    match block:
        case {"type": "text" | "thinking"} if not isinstance(block.get(kind), str):
            yield f"{where}.{kind}.{kind}: Input should be a valid string"
        case {"type": "tool_use"}:
            yield from _call_shape(f"{where}.tool_use", block)
        case {"type": "server_tool_use" | "mcp_tool_use"}:
            yield from _call_shape(f"{where}.{kind}", block)
        case _ if is_server_result(block):
            if not isinstance(block.get("tool_use_id"), str):
                yield f"{where}.{kind}.tool_use_id: Field required"
            if "content" not in block:
                yield f"{where}.{kind}.content: Field required"
        case {"type": "tool_result"}:
            if not isinstance(block.get("tool_use_id"), str):
                yield f"{where}.tool_result.tool_use_id: Field required"
            if block.get("content") is not None:
                yield from _content_shape(f"{where}.tool_result.content", block["content"], RESULT_BLOCKS)
        case {"type": "container_upload"} if not isinstance(block.get("file_id"), str):
            yield f"{where}.container_upload.file_id: Field required"
        case {"type": "image" | "document"} if not isinstance(block.get("source"), dict):
            yield f"{where}.{kind}.source: Field required"
        case {"type": "image" | "document", "source": source} if source.get("type") not in SOURCES:
            yield f"{where}.{kind}.source: Input tag {source.get('type')!r} does not match any of {SOURCES}"


def _call_shape(where: str, block: Json) -> Iterator[str]:
    if not re.fullmatch(TOOL_ID, str(block.get("id", ""))):
        yield f"{where}.id: String should match pattern '{TOOL_ID}'"
    if not re.fullmatch(TOOL_NAME, str(block.get("name", ""))):
        yield f"{where}.name: String should match pattern '{TOOL_NAME}'"
    if not isinstance(block.get("input"), dict):
        yield f"{where}.input: Input should be a valid dictionary"


def _objects(where: str, values: object) -> Iterator[str]:
    if not isinstance(values, list):
        yield f"{where}: Input should be a valid list"
        return
    for index, value in enumerate(values):
        if not isinstance(value, dict):
            yield f"{where}.{index}: Input should be a valid dictionary or object"


# Letters


def _letters(request: Json) -> Iterator[str]:
    """Half a character is no text: JSON may hold it as an escape, UTF-8 can not."""
    try:
        json.dumps(request, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        yield "The request body is not valid JSON: no low surrogate in string"


# Who says what


def _order(request: Json) -> Iterator[str]:
    messages = request["messages"]
    compacted = any(block["type"] == "compaction" for block in blocks(messages[0]["content"])[:1])
    if messages[0]["role"] != "user" and not compacted:
        yield 'messages: first message must use the "user" role'
    for index, message in enumerate(messages):
        if message["role"] == "system" and (index == 0 or messages[index - 1]["role"] != "user"):
            yield f"messages.{index}: a `system` message must immediately follow a `user` message"
    last = messages[-1]
    paused = any(block["type"] in SERVER_CALLS for block in blocks(last["content"]))
    if last["role"] == "assistant" and not paused:
        yield "This model does not support assistant message prefill. The conversation must end with a user message."


def _text(request: Json) -> Iterator[str]:
    """No message and no text block says nothing.

    A tool result may be empty. One that is a string of white space counts as a block of it: no public report tells
    whether the API agrees, and to be strict here costs less than a chat in which every later request is refused.
    """
    for index, message in enumerate(request["messages"]):
        if not message["content"]:
            yield f"messages.{index}: {message['role']} messages must have non-empty content"
    spoken = (("messages", block) for block in all_blocks(request))
    system = (("system", block) for block in blocks(request.get("system") or []))
    for where, block in chain(system, spoken):
        if block["type"] != "text":
            continue
        if not block["text"]:
            yield f"{where}: text content blocks must be non-empty"
        elif not block["text"].strip():
            yield f"{where}: text content blocks must contain non-whitespace text"


def _sides(request: Json) -> Iterator[str]:
    """Blocks only one side may say."""
    for index, message in enumerate(request["messages"]):
        for place, block in enumerate(blocks(message["content"])):
            where = f"messages.{index}.content.{place}"
            if message["role"] == "assistant" and block["type"] in USER_ONLY_BLOCKS:
                yield f"{where}: `{block['type']}` blocks are not permitted within assistant turns"
            if message["role"] == "user" and block["type"] == "text" and block.get("citations"):
                yield f"{where}.text.citations: citations are not permitted within user turns"


def _thinking(request: Json) -> Iterator[str]:
    for index, message in enumerate(request["messages"]):
        content = blocks(message["content"])
        for place, block in enumerate(content):
            missing = {"thinking": "signature", "redacted_thinking": "data"}.get(block["type"])
            if missing and not block.get(missing):
                yield f"messages.{index}.content.{place}.{block['type']}.{missing}: Field required"
        if content and content[-1]["type"] in THINKING:
            yield f"messages.{index}: The final block in an assistant message cannot be `{content[-1]['type']}`."


# Tools


def _tools(request: Json) -> Iterator[str]:
    tools = request.get("tools") or []
    for index, tool in enumerate(tools):
        where = f"tools.{index}.custom"
        if not re.fullmatch(TOOL_NAME, str(tool.get("name", ""))):
            yield f"{where}.name: String should match pattern '{TOOL_NAME}'"
        if tool.get("type", "custom") != "custom":  # run by the provider: other fields, no schema
            continue
        for name in tool.keys() - TOOL_FIELDS:
            yield f"{where}.{name}: Extra inputs are not permitted"
        schema = tool.get("input_schema")
        if not isinstance(schema, dict):
            yield f"{where}.input_schema: Field required"
        elif schema.get("type") != "object":
            yield f"{where}.input_schema.type: Input should be 'object'"
        elif tool.get("strict"):
            yield from _strict(f"{where}.input_schema", schema)
    if sum(bool(tool.get("strict")) for tool in tools) > MAX_STRICT:
        yield f"tools: Too many strict tools: at most {MAX_STRICT} are allowed."
    if len({str(tool.get("name")) for tool in tools}) < len(tools):
        yield "tools: Tool names must be unique."
    if request.get("tool_choice") and not tools:
        yield "tool_choice: `tool_choice` may only be specified while providing `tools`."


def _strict(where: str, schema: Json) -> Iterator[str]:
    """A grammar is made of a strict tool's schema, which can hold less than JSON Schema does."""
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        yield f"{where}: For 'object' type, 'additionalProperties' must be explicitly set to false"
    if words := sorted(schema.keys() & NOT_IN_STRICT):
        yield f"{where}: For '{schema.get('type')}' type, properties {', '.join(words)} are not supported"
    inside = [*(schema.get("properties") or {}).items(), *(schema.get("$defs") or {}).items()]
    inside += [("items", schema["items"])] if "items" in schema else []
    inside += [("anyOf", each) for each in schema.get("anyOf") or ()]
    for name, each in inside:
        yield from _strict(f"{where}.{name}", each)


def _pairs(request: Json) -> Iterator[str]:
    """Every call is answered once, at the beginning of the very next message, and nothing else is answered."""
    messages = request["messages"]
    asked: list[str] = []
    for index, message in enumerate(messages):
        content = blocks(message["content"])
        answered = _leading_results(content)
        if lost := [call for call in asked if call not in answered]:
            yield _unanswered(index - 1, lost)
        for call, times in Counter(answered).items():
            if times > 1:
                yield (
                    f"messages.{index}: each tool_use must have a single result. "
                    f"Found multiple `tool_result` blocks with id: {call}"
                )
        for place, block in enumerate(content):
            if block["type"] == "tool_result" and (block["tool_use_id"] not in asked or place >= len(answered)):
                yield (
                    f"messages.{index}.content.{place}: unexpected `tool_use_id` found in `tool_result` blocks: "
                    f"{block['tool_use_id']}. Each `tool_result` block must have a corresponding `tool_use` block in "
                    "the previous message."
                )
            if block["type"] == "tool_result" and block.get("is_error"):
                yield from _failed(f"messages.{index}.content.{place}.tool_result", block)
        asked = [block["id"] for block in content if block["type"] == "tool_use"]
    if asked:
        yield _unanswered(len(messages) - 1, asked)
    made = (block for block in all_blocks(request) if block["type"] in {"tool_use", *SERVER_CALLS})
    calls = [(block["type"], block["id"]) for block in made]
    if len(set(calls)) < len(calls):
        yield "messages: `tool_use` ids must be unique"


def _failed(where: str, result: Json) -> Iterator[str]:
    content = blocks(result.get("content") or [])
    if not content:
        yield f"{where}: content cannot be empty if `is_error` is true"
    if any(block["type"] != "text" for block in content):
        yield f"{where}: all content must be type `text` if `is_error` is true"


def _leading_results(content: list[Json]) -> list[str]:
    """The ids answered before anything else is said."""
    answered = []
    for block in content:
        if block["type"] != "tool_result":
            break
        answered.append(block["tool_use_id"])
    return answered


def _unanswered(index: int, calls: list[str]) -> str:
    return (
        f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: "
        f"{', '.join(calls)}. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
    )


def is_server_result(block: Json) -> bool:
    """Whether a tool that the provider runs returned it: ``web_search_tool_result`` and its like."""
    kind = str(block["type"])
    return kind != "tool_result" and kind.endswith("_tool_result")


def is_of_code(block: Json) -> bool:
    """Whether it is a call or a result of code that the provider runs."""
    if block["type"] in SERVER_CALLS:
        return block.get("name") in CODE
    return is_server_result(block) and str(block["type"]).removesuffix("_tool_result") in CODE


def _code(request: Json) -> Iterator[str]:
    """A container, and what is put into it, is for the tool that runs code there."""
    tools = request.get("tools") or []
    for index, tool in enumerate(tools):
        if str(tool.get("type")).startswith("code_execution_") and tool.get("name") != "code_execution":
            yield f"tools.{index}.name: Input should be 'code_execution'"
    if any(str(tool.get("type")).startswith("code_execution_") for tool in tools):
        return
    if request.get("container"):
        yield "container: `container` may only be specified while providing a code execution tool."
    for block in all_blocks(request):
        if block["type"] == "container_upload":
            yield "messages: `container_upload` blocks need a code execution tool."


def _server_pairs(request: Json) -> Iterator[str]:
    """What the provider's tools returned stands behind the call, in the same message or, where other tools had to run
    first, in a later one; until then nobody says anything. At the end a call may be open: the provider goes on with it.
    """
    waiting: dict[str, str] = {}
    for index, message in enumerate(request["messages"]):
        content = blocks(message["content"])
        if message["role"] != "assistant" and any(block["type"] != "tool_result" for block in content):
            yield from waiting.values()
            waiting = {}
        for place, block in enumerate(content):
            if block["type"] in SERVER_CALLS:
                waiting[block["id"]] = (
                    f"messages.{index}: `{block['name']}` tool use with id `{block['id']}` was found without a "
                    f"corresponding `{block['name']}_tool_result` block"
                )
            elif is_server_result(block) and waiting.pop(block["tool_use_id"], None) is None:
                yield (
                    f"messages.{index}.content.{place}: unexpected `tool_use_id` found in `{block['type']}` blocks: "
                    f"{block['tool_use_id']}. Each `{block['type']}` block must have a corresponding "
                    "`server_tool_use` block before it."
                )


# Cache marks


def _cache_marks(request: Json) -> Iterator[str]:
    marks = [mark for mark in _marks(request) if mark is not None]
    if len(marks) > MAX_MARKS:
        yield f"A maximum of {MAX_MARKS} blocks with cache_control may be provided. Found {len(marks)}."
    shortest_seen = False
    for mark in marks:
        if not isinstance(mark, dict) or mark.get("type") != "ephemeral" or mark.get("ttl", "5m") not in ("5m", "1h"):
            yield f"cache_control: Input should be an ephemeral cache control, not {mark}"
            continue
        if mark.get("ttl", "5m") == "5m":
            shortest_seen = True
        elif shortest_seen:
            yield (
                "cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. "
                "Note that blocks are processed in the following order: `tools`, `system`, `messages`."
            )


def _marks(request: Json) -> Iterator[Any]:
    system = blocks(request.get("system") or [])
    for holder in chain(request.get("tools") or [], system, all_blocks(request), [request]):
        yield holder.get("cache_control")


# Images


def _images(request: Json) -> Iterator[str]:
    images = [block for block in all_blocks(request) if block["type"] == "image"]
    documents = sum(block["type"] == "document" for block in all_blocks(request))
    if len(images) + documents > MAX_MEDIA:
        yield f"too many images and documents: {len(images)} + {documents} > {MAX_MEDIA}"
    limit = MAX_IMAGE_PIXELS if len(images) <= MANY_IMAGES else MAX_PIXELS_OF_MANY
    for block in images:
        if block["source"].get("type") == "base64":
            yield from _image(block["source"], limit, many=limit < MAX_IMAGE_PIXELS)


def _image(source: Json, limit: int, *, many: bool) -> Iterator[str]:
    where = "messages.image.source.base64"
    text, claimed = source.get("data"), source.get("media_type")
    if not isinstance(text, str):
        yield f"{where}.data: Field required"
        return
    if len(text) > MAX_IMAGE_BYTES:
        yield f"{where}: image exceeds 5 MB maximum: {len(text)} bytes > {MAX_IMAGE_BYTES} bytes"
        return
    try:
        data = b64decode(text, validate=True)
    except ValueError:
        yield f"{where}.data: Invalid base64 data"
        return
    actual, sides = image_facts(data)
    if not actual:
        yield f"{where}.data: Could not process image"
    elif actual != claimed:
        yield (
            f"{where}.data: The image was specified using the {claimed} media type, "
            f"but the image appears to be a {actual} image"
        )
    elif max(sides) > limit:
        kind = " for many-image requests" if many else ""
        yield f"{where}.data: At least one of the image dimensions exceed max allowed size{kind}: {limit} pixels"


def image_facts(data: bytes) -> tuple[str, tuple[int, int]]:
    """The media type and the width and height in pixels that the bytes themselves tell; ("", (0, 0)) for no image.

    Of WebP only the type is read, so its size passes every limit.
    """
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        return "image/png", (int.from_bytes(data[16:20]), int.from_bytes(data[20:24]))
    if data.startswith((b"GIF87a", b"GIF89a")) and len(data) >= 10:
        return "image/gif", (int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little"))
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg", _jpeg_size(data)
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp", (0, 0)
    return "", (0, 0)


def _jpeg_size(data: bytes) -> tuple[int, int]:
    """Walk the segments to the frame header (ITU T.81, B.2.2): marker, length, precision, height, width."""
    at = 2
    while at + 9 <= len(data):
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4])
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return int.from_bytes(data[at + 7 : at + 9]), int.from_bytes(data[at + 5 : at + 7])
        at += 2 + length
    return (0, 0)


RULES = (_letters, _order, _text, _sides, _thinking, _tools, _pairs, _server_pairs, _code, _cache_marks, _images)
