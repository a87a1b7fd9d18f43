"""What a stand-in model says, and how that travels: as one JSON message or as server-sent events.

A step is an ``Answer``, which may break off on the way, or a ``Refusal`` before anything was said.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from simulator.model_cache import tokens
from simulator.model_rules import Json

ARGUMENT_PIECE = 12
"""Characters of one input_json_delta."""


@dataclass(frozen=True, slots=True)
class Break:
    """How and when an answer breaks off: before the delta that follows the first ``after``.

    error: an error event, then the end. end: a clean end without message_stop. cut: the connection drops. hang: nothing
    more comes until the client leaves. garbage: a data line that is not JSON. ``after`` past the last delta is before
    message_delta. Only a streamed answer breaks off.
    """

    how: Literal["error", "end", "cut", "hang", "garbage"]
    after: int = 1
    kind: str = "overloaded_error"
    message: str = "Overloaded"


@dataclass(frozen=True, slots=True)
class Answer:
    """One reply of the model.

    A tool_use block whose ``input`` is a string streams that text as it is, JSON or not. A tool_use block without an id
    and a thinking block without a signature get them from the server. ``usage`` overrides what the server counts.
    ``pace`` is the seconds before each delta. ``container`` is where its code ran, told by the server.
    """

    content: list[Json]
    stop_reason: str = "end_turn"
    usage: Json = field(default_factory=dict)
    pace: float = 0.0
    broken: Break | None = None
    container: Json | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """An HTTP error. ``code`` is ``error.details.error_code``, left out where it is ""."""

    status: int
    kind: str = "api_error"
    message: str = "refused by the script"
    headers: dict[str, str] = field(default_factory=dict)
    code: str = ""


Step = Answer | Refusal


def error_body(kind: str, message: str, request_id: str, code: str = "") -> Json:
    error: Json = {"type": kind, "message": message}
    if code:
        error["details"] = {"error_code": code}
    return {"type": "error", "error": error, "request_id": request_id}


def message(answer: Answer, name: str, model: str, usage: Json, diagnosis: Json | None = None) -> Json:
    """The whole answer as the JSON of a Message. ``usage`` is the prompt's share."""
    return {
        "id": name,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [block | {"input": {}} if _spoiled(block) else block for block in answer.content],
        "stop_reason": answer.stop_reason,
        "stop_sequence": None,
        "usage": usage | {"output_tokens": _output_tokens(answer)} | answer.usage,
        "diagnostics": diagnosis,
        "container": answer.container,
    }


def events(answer: Answer, name: str, model: str, usage: Json, diagnosis: Json | None = None) -> Iterator[Json]:
    """The same answer as the events of a stream."""
    whole = message(answer, name, model, usage, diagnosis)
    unknown: Json = {"content": [], "stop_reason": None, "container": None}
    start = whole | unknown | {"usage": whole["usage"] | {"output_tokens": 1}}
    yield {"type": "message_start", "message": start}
    for index, block in enumerate(answer.content):
        shell, deltas = _taken_apart(block)
        yield {"type": "content_block_start", "index": index, "content_block": shell}
        if index == 0:
            yield {"type": "ping"}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    totals = {name: value for name, value in whole["usage"].items() if name != "cache_creation"}
    ending = {"stop_reason": answer.stop_reason, "stop_sequence": None, "container": answer.container}
    yield {"type": "message_delta", "delta": ending, "usage": totals}
    yield {"type": "message_stop"}


def line(event: Json) -> bytes:
    """One event on the wire."""
    return f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


def words(text: str) -> list[str]:
    """A text in the pieces it is streamed in; together they are the text."""
    return re.findall(r"\s*\S+(?:\s+$)?|\s+", text)


def _taken_apart(block: Json) -> tuple[Json, list[Json]]:
    """A block as it starts, and what fills it. Blocks of other types come whole."""
    match block:
        case {"type": "text", "text": str(text)}:
            return block | {"text": ""}, [{"type": "text_delta", "text": piece} for piece in words(text)]
        case {"type": "thinking", "thinking": str(thought), "signature": signature}:
            pieces = [{"type": "thinking_delta", "thinking": piece} for piece in words(thought)]
            sign = {"type": "signature_delta", "signature": signature}
            return block | {"thinking": "", "signature": ""}, [*pieces, sign]
        case {"type": "tool_use" | "server_tool_use", "input": arguments}:
            text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
            starts = range(0, len(text), ARGUMENT_PIECE)
            slices = ["", *(text[at : at + ARGUMENT_PIECE] for at in starts)]  # an empty one comes first there too
            return block | {"input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in slices]
    return block, []


def _spoiled(block: Json) -> bool:
    return block["type"] == "tool_use" and isinstance(block["input"], str)


def _output_tokens(answer: Answer) -> int:
    return sum(tokens(json.dumps(block, ensure_ascii=False)) for block in answer.content)
