"""The model behind Anthropic's SDK: one streamed request out, one whole reply back, every failure in our own words.

The reply is put together here and not by the SDK's stream helper: that helper raises in the middle of a reply whose
tool arguments are not JSON, and takes a stream that merely ends for a whole message (anthropic 2.14,
``lib/streaming/_messages.py``). The SDK gives the pooled connection, the wire format, an error for each HTTP status,
and a response that is closed when its stream is left.
"""

import math
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import anthropic
import httpx2
from anthropic import AsyncAnthropic
from anthropic.types import RawMessageStreamEvent
from msgspec import DecodeError, ValidationError, json

from bot.errors import ConfigError, ModelError, ModelRefusedRequest, ModelUnavailable, PromptTooLong
from bot.messages import Json, Reply, Usage, whole
from bot.ports import OnText, Prompt

# The server sends pings while it thinks, so a minute without a byte is a dead connection.
TIMEOUT = anthropic.Timeout(60, connect=5)
LONGEST_WAIT = 3600.0
LONGEST_ERROR = 500

# HTTP 200 is an error event inside a stream that had begun: there only the error's type says what happened.
BEGUN = 200
PASSING_STATUSES = frozenset({408, 409, 429})
LASTING_TYPES = frozenset(
    {"invalid_request_error", "authentication_error", "billing_error", "permission_error", "not_found_error"}
)
# Anthropic; Anthropic with max_tokens counted in; Bedrock; llama.cpp; vLLM. No error code says it.
TOO_LONG = re.compile(
    r"(prompt|input) is too long|exceeds?\b.{0,60}\bcontext|maximum context length|context\w* (length|window) exceeded",
    re.IGNORECASE,
)


def client(api_key: str, base_url: str) -> AsyncAnthropic:
    """A client that repeats nothing by itself and takes its key and address from here only.

    Use it in one event loop: its pooled connections belong to the loop that opened them. Raises ConfigError where the
    key can not travel in a header; left to the HTTP library, that error would quote the key.
    """
    if not re.fullmatch(r"[!-~]+", api_key):
        raise ConfigError("ANTHROPIC_API_KEY is empty or holds a space, a line break or another character no key has.")
    return AsyncAnthropic(api_key=api_key, base_url=base_url, timeout=TIMEOUT, max_retries=0, open_telemetry=False)


class AnthropicModel:
    """Port ``Model`` over the Messages API, Anthropic's own or any server that speaks it."""

    def __init__(self, client: AsyncAnthropic, model: str) -> None:
        self._client = client
        self._model = model

    async def reply(self, prompt: Prompt, on_text: OnText) -> Reply:
        draft = Draft()
        try:
            async with aclosing(self._events(prompt)) as events:
                async for event in events:
                    if text := draft.add(event):
                        on_text(text)
        except ModelUnavailable:
            if not draft.whole:  # what breaks after message_stop takes nothing away
                raise
        return draft.reply()

    async def _events(self, prompt: Prompt) -> AsyncGenerator[Json, None]:
        """The stream's events as they came. Raises only ModelErrors."""
        try:
            async with await self._open(prompt) as stream:
                async for event in stream:
                    yield event.to_dict(mode="json", warnings=False)
        except anthropic.APIStatusError as fault:
            raise self._translated(fault) from fault
        except (anthropic.AnthropicError, httpx2.HTTPError, httpx2.StreamError) as fault:
            raise ModelUnavailable(f"no connection to the model: {_root_name(fault)}") from fault
        except ValueError as fault:  # JSONDecodeError, UnicodeDecodeError
            raise ModelUnavailable(f"the model's stream is not readable: {type(fault).__name__}") from fault

    async def _open(self, prompt: Prompt) -> anthropic.AsyncStream[RawMessageStreamEvent]:
        try:
            stream: anthropic.AsyncStream[RawMessageStreamEvent] = await self._client.messages.create(
                **request(prompt, self._model), stream=True
            )
        except (TypeError, UnicodeEncodeError) as fault:
            raise ModelRefusedRequest(f"the request can not be written as JSON: {type(fault).__name__}") from fault
        return stream

    def _translated(self, fault: anthropic.APIStatusError) -> ModelError:
        message = f"{fault.status_code} {fault.type or 'error'}: {fault.api_message or fault.message}"
        if self._client.api_key:  # some gateways quote the key they refuse
            message = message.replace(self._client.api_key, "[key]")
        return judge(
            status=fault.status_code,
            kind=fault.type or "",
            code=fault.error_code or "",
            message=f"{message[:LONGEST_ERROR]} (request {fault.request_id})",
            retry_after=seconds(fault.response.headers.get("retry-after")),
        )


def request(prompt: Prompt, model: str) -> dict[str, Any]:
    """The body of a Messages API request, without fields that have nothing to say."""
    body: dict[str, Any] = {"model": model, "max_tokens": prompt.max_tokens, "messages": prompt.messages}
    if prompt.system:
        body["system"] = prompt.system
    if prompt.tools:  # tool_choice without tools is refused
        body["tools"] = prompt.tools
        if not prompt.allow_tools:
            body["tool_choice"] = {"type": "none"}
    return body


def judge(*, status: int, kind: str, code: str, message: str, retry_after: float | None) -> ModelError:
    """Who has to act on an error the server told us about.

    ``kind`` is ``error.type``, ``code`` is ``error.details.error_code``; "" where there is none. A spend limit comes as
    429 or 400 and does not pass by waiting.
    """
    if status == 413 or (status in (400, BEGUN) and TOO_LONG.search(message)):
        return PromptTooLong(message)
    if code.endswith("spend_limit_reached"):
        return ModelRefusedRequest(message)
    if status in PASSING_STATUSES or status >= 500 or (status == BEGUN and kind not in LASTING_TYPES):
        return ModelUnavailable(message, retry_after)
    return ModelRefusedRequest(message)


def seconds(header: str | None) -> float | None:
    """A retry-after header, at most an hour; None where it is missing, a date, or no sane number."""
    try:
        wait = float(header or "")
    except ValueError:
        return None
    return min(wait, LONGEST_WAIT) if math.isfinite(wait) and wait >= 0 else None


def _root_name(fault: BaseException) -> str:
    """The class that says what broke. Texts of lower layers may quote headers, so they stay out of ours."""
    while fault.__cause__ is not None:
        fault = fault.__cause__
    return type(fault).__name__


def _readable(block: Json) -> Json:
    """Some servers send the two halves of an emoji in two events: only together are they a character."""
    return {name: whole(value) if name in ("text", "thinking") else value for name, value in block.items()}


class Draft:
    """A reply under way, grown event by event. Events and deltas it does not know change nothing."""

    def __init__(self) -> None:
        self.whole = False
        self._model = ""
        self._stop_reason = ""
        self._usage: Json = {}
        self._blocks: dict[int, Json] = {}
        self._arguments: dict[int, str] = {}

    def add(self, event: Json) -> str:
        """Take one event in; returns the text it added for the reader, or ""."""
        match event:
            case {"type": "message_start", "message": dict(message)}:
                self._model = message.get("model") or ""
                self._usage |= message.get("usage") or {}
            case {"type": "content_block_start", "index": int(index), "content_block": dict(block)}:
                self._blocks[index] = block
            case {"type": "content_block_delta", "index": int(index), "delta": dict(delta)}:
                return self._grow(index, delta)
            case {"type": "message_delta", "delta": dict(delta)}:
                self._stop_reason = delta.get("stop_reason") or ""
                # Running totals; where one is not repeated, that of message_start stands.
                self._usage |= {name: count for name, count in (event.get("usage") or {}).items() if count is not None}
            case {"type": "message_stop"}:
                self.whole = bool(self._stop_reason)
        return ""

    def _grow(self, index: int, delta: Json) -> str:
        block = self._blocks.get(index)
        if block is None:
            raise ModelUnavailable("the model's stream went on with a block it had not begun")
        match delta:
            case {"type": "text_delta", "text": str(text)}:
                block["text"] = block.get("text", "") + text
                return text
            case {"type": "input_json_delta", "partial_json": str(piece)}:
                self._arguments[index] = self._arguments.get(index, "") + piece
            case {"type": "thinking_delta", "thinking": str(thought)}:
                block["thinking"] = block.get("thinking", "") + thought
            case {"type": "signature_delta", "signature": str(signature)}:
                block["signature"] = signature
            case {"type": "citations_delta", "citation": citation}:
                block["citations"] = [*(block.get("citations") or ()), citation]
        return ""

    def reply(self) -> Reply:
        """The whole reply. Raises ModelUnavailable where the stream ended before the model did."""
        if not self.whole:
            raise ModelUnavailable("the model's stream ended early")
        spoiled = self._parse_arguments()
        return Reply(
            content=[_readable(self._blocks[index]) for index in sorted(self._blocks)],
            stop_reason=self._stop_reason,
            model=self._model,
            usage=Usage(
                fresh=self._usage.get("input_tokens") or 0,
                cache_write=self._usage.get("cache_creation_input_tokens") or 0,
                cache_read=self._usage.get("cache_read_input_tokens") or 0,
                output=self._usage.get("output_tokens") or 0,
            ),
            spoiled=spoiled,
        )

    def _parse_arguments(self) -> dict[str, str]:
        """Set each call's input from its pieces; returns those that are no JSON object, by tool_use id.

        msgspec is stricter than the json module: no NaN, no lone surrogates, which could not be stored or sent back.
        """
        spoiled = {}
        for index, text in self._arguments.items():
            block = self._blocks[index]
            if not text:  # no arguments at all: the empty object of content_block_start stands
                continue
            try:
                block["input"] = json.decode(text, type=Json)
            except (DecodeError, ValidationError, UnicodeEncodeError):
                block["input"] = {}  # the API wants an object when the block is sent back
                spoiled[block.get("id", "")] = text
        return spoiled
