"""The model behind Anthropic's SDK: one streamed request out, one whole reply back, every failure in our own words.

Three ways lead to a model: Anthropic's own API, Amazon Bedrock, and any server that speaks the Messages API. What a
model behind one of them does not take is not sent (``bot/shaping.py``).

The reply is put together here and not by the SDK's stream helper: that helper raises in the middle of a reply whose
tool arguments are not JSON, and takes a stream that merely ends for a whole message (anthropic 2.14,
``lib/streaming/_messages.py``). The SDK gives the pooled connection, the wire format, an error for each HTTP status,
and a response that is closed when its stream is left. Requests go through its ``post`` and events come as they are:
``messages.create`` would load the hundreds of types that describe them, and build objects of each event for us to take
apart again.
"""

import logging
import math
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, TypeAlias

import anthropic
import httpx2
from anthropic import AsyncAnthropic
from msgspec import DecodeError, ValidationError, json
from msgspec.structs import replace

from bot.blocks import is_compaction
from bot.errors import ConfigError, ModelError, ModelRefusedRequest, ModelUnavailable, PromptTooLong
from bot.messages import Json, Reply, Usage, prompt_tokens, whole
from bot.models import ModelFacts, facts_of
from bot.ports import OnText, Prompt
from bot.shaping import shaped
from bot.tracing import Value, span

# The server sends pings while it thinks, so a minute without a byte is a dead connection.
TIMEOUT = anthropic.Timeout(60, connect=5)
# Other servers send none, and a model on somebody's own machine may read a long prompt for minutes.
PATIENT = anthropic.Timeout(600, connect=5)
LONGEST_WAIT = 3600.0
LONGEST_ERROR = 500
COMPACTION = "compact-2026-09-04"

# HTTP 200 is an error event inside a stream that had begun: there only the error's type says what happened.
BEGUN = 200
PASSING_STATUSES = frozenset({408, 409, 429})
LASTING_TYPES = frozenset(
    {
        "invalid_request_error",
        "authentication_error",
        "billing_error",
        "permission_error",
        "not_found_error",
        "validationException",  # Bedrock's
    }
)
# Anthropic; Anthropic with max_tokens counted in; Bedrock; llama.cpp, with 500 where the reply does not fit; vLLM. No
# error code says it.
TOO_LONG = re.compile(
    r"(prompt|input) is too long|exceeds?\b.{0,60}\bcontext|maximum context length|context\w* (length|window) exceeded"
    r"|context size has been exceeded",
    re.IGNORECASE,
)
# The grammar that strict tools are compiled to has a limit that nobody tells.
NO_GRAMMAR = re.compile(r"grammar|\bstrict\b", re.IGNORECASE)
TOO_LONG_STATUSES = (400, 500, BEGUN)
# How a connection ends that the server gave up while it was not used.
DROPPED = (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError)


log = logging.getLogger(__name__)

if TYPE_CHECKING:
    from anthropic import AsyncAnthropicBedrock

Client: TypeAlias = "AsyncAnthropic | AsyncAnthropicBedrock"


def client(api_key: str, base_url: str, timeout: anthropic.Timeout = TIMEOUT) -> AsyncAnthropic:
    """A client that repeats nothing by itself and takes its key and address from here only.

    Use it in one event loop: its pooled connections belong to the loop that opened them. Raises ConfigError where the
    key can not travel in a header; left to the HTTP library, that error would quote the key.
    """
    if not re.fullmatch(r"[!-~]+", api_key):
        raise ConfigError("ANTHROPIC_API_KEY is empty or holds a space, a line break or another character no key has.")
    return AsyncAnthropic(api_key=api_key, base_url=base_url, timeout=timeout, max_retries=0, open_telemetry=False)


Stream = anthropic.AsyncStream[object]


class AnthropicModel:
    """Port ``Model`` over the Messages API. ``facts`` are what the model takes, by its name where None."""

    def __init__(self, client: Client, model: str, facts: ModelFacts | None = None) -> None:
        self._client = client
        self._model = model
        self._facts = facts if facts is not None else facts_of(model)

    async def reply(self, prompt: Prompt, on_text: OnText) -> Reply:
        with span(f"chat {self._model}", self._asked(prompt), kind="client") as asking:
            reply = await self._reply_somewhere(prompt, on_text)
            asking.note(_answered(reply))
            asking.note_words({"gen_ai.input.messages": prompt.messages, "gen_ai.output.messages": reply.content})
            return reply

    async def _reply_somewhere(self, prompt: Prompt, on_text: OnText) -> Reply:
        try:
            return await self._reply(prompt, on_text)
        except ModelError as fault:
            if not (prompt.container and self._facts.runs_code and _may_lack_container(fault.__cause__)):
                raise
            log.warning("model=<%s> | in a new container: %s", self._model, fault)
        return await self._reply(replace(prompt, container=""), on_text)

    def _asked(self, prompt: Prompt) -> dict[str, Value]:
        address = self._client.base_url
        return {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "anthropic" if isinstance(self._client, AsyncAnthropic) else "aws.bedrock",
            "gen_ai.request.model": self._model,
            "gen_ai.request.max_tokens": prompt.max_tokens,
            "gen_ai.request.stream": True,
            "server.address": address.host,
            "server.port": address.port or (80 if address.scheme == "http" else 443),
        }

    async def _reply(self, prompt: Prompt, on_text: OnText) -> Reply:
        draft = Draft(prompt.container)
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
                    if isinstance(event, dict):
                        yield event
        except anthropic.APIStatusError as fault:
            raise self._translated(fault) from fault
        except (anthropic.AnthropicError, httpx2.HTTPError, httpx2.StreamError) as fault:
            raise ModelUnavailable(f"no connection to the model: {_root_name(fault)}") from fault
        except ValueError as fault:  # JSONDecodeError, UnicodeDecodeError
            raise ModelUnavailable(f"the model's stream is not readable: {type(fault).__name__}") from fault

    async def _open(self, prompt: Prompt) -> Stream:
        try:
            return await self._opened(prompt)
        except anthropic.BadRequestError as fault:
            if not (self._facts.strict and NO_GRAMMAR.search(str(fault.api_message or fault.message))):
                raise
        log.warning("model=<%s> | takes these tools only where none is strict", self._model)
        self._facts = replace(self._facts, strict=False)  # for good: the prompt's stable part changes once
        return await self._opened(prompt)

    async def _opened(self, prompt: Prompt) -> Stream:
        body = request(shaped(prompt, self._facts), self._model)
        if self._facts.diagnostics and prompt.compacts is None:
            body["diagnostics"] = {"previous_message_id": prompt.previous or None}
        try:
            return await self._send(body)
        except anthropic.APIConnectionError as fault:
            if not any(isinstance(cause, DROPPED) for cause in _causes(fault)):
                raise
        return await self._send(body)  # on a new connection; the one before had gone unused for too long

    async def _send(self, body: Json) -> Stream:
        try:
            return await self._client.post(
                "/v1/messages",
                body={**body, "stream": True},
                options={"headers": _betas(body)},
                cast_to=object,
                stream=True,
                stream_cls=Stream,
            )
        except (TypeError, UnicodeEncodeError) as fault:
            raise ModelRefusedRequest(f"the request can not be written as JSON: {type(fault).__name__}") from fault

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


def _answered(reply: Reply) -> dict[str, Value]:
    """As OpenTelemetry's conventions for this provider name it: there the input is all of the prompt."""
    used = reply.usage
    return {
        "gen_ai.response.model": reply.model,
        "gen_ai.response.id": reply.id,
        "gen_ai.response.finish_reasons": [reply.stop_reason],
        "gen_ai.usage.input_tokens": prompt_tokens(used),
        "gen_ai.usage.cache_creation.input_tokens": used.cache_write + used.cache_write_long,
        "gen_ai.usage.cache_read.input_tokens": used.cache_read,
        "gen_ai.usage.output_tokens": used.output,
    }


def request(prompt: Prompt, model: str) -> dict[str, Any]:
    """The body of a Messages API request, without fields that have nothing to say."""
    body: dict[str, Any] = {"model": model, "max_tokens": prompt.max_tokens, "messages": prompt.messages}
    if prompt.system:
        body["system"] = prompt.system
    if prompt.tools:  # tool_choice without tools is refused
        body["tools"] = prompt.tools
        if not prompt.allow_tools:
            body["tool_choice"] = {"type": "none"}
    if prompt.container:
        body["container"] = prompt.container
    if prompt.compacts is not None:
        body["compaction"] = {"type": "summarize"} | ({"instructions": prompt.compacts} if prompt.compacts else {})
    return body


def _betas(body: Json) -> dict[str, str]:
    """The header that each request needs that asks for a block into which messages are folded, or begins with one."""
    content = body["messages"][0]["content"]
    if "compaction" not in body and (isinstance(content, str) or not is_compaction(content[0])):
        return {}
    return {"anthropic-beta": COMPACTION}


def judge(*, status: int, kind: str, code: str, message: str, retry_after: float | None) -> ModelError:
    """Who has to act on an error the server told us about.

    ``kind`` is ``error.type``, ``code`` is ``error.details.error_code``; "" where there is none. A spend limit comes as
    429 or 400 and does not pass by waiting.
    """
    if status == 413 or (status in TOO_LONG_STATUSES and TOO_LONG.search(message)):
        return PromptTooLong(message)
    if code.endswith("spend_limit_reached"):
        return ModelRefusedRequest(message)
    if status in PASSING_STATUSES or status >= 500 or (status == BEGUN and kind not in LASTING_TYPES):
        return ModelUnavailable(message, retry_after)
    return ModelRefusedRequest(message)


def _may_lack_container(fault: BaseException | None) -> bool:
    """Whether a request may have been refused because its container is gone. The provider's documentation names no
    error; seen were 404 for one that never was, and a bare 500 for one that had expired."""
    if not isinstance(fault, anthropic.APIStatusError):
        return False
    return fault.status_code in (404, 500) or (fault.status_code == 400 and "container" in str(fault.message))


def seconds(header: str | None) -> float | None:
    """A retry-after header, at most an hour; None where it is missing, a date, or no sane number."""
    try:
        wait = float(header or "")
    except ValueError:
        return None
    return min(wait, LONGEST_WAIT) if math.isfinite(wait) and wait >= 0 else None


def _causes(fault: BaseException) -> list[BaseException]:
    """From what we were told to what broke."""
    causes = [fault]
    while (cause := causes[-1].__cause__) is not None:
        causes.append(cause)
    return causes


def _root_name(fault: BaseException) -> str:
    """The class that says what broke. Texts of lower layers may quote headers, so they stay out of ours."""
    return type(_causes(fault)[-1]).__name__


def _readable(block: Json) -> Json:
    """Some servers send the two halves of an emoji in two events: only together are they a character."""
    return {name: whole(value) if name in ("text", "thinking") else value for name, value in block.items()}


def miss_of(message: Json) -> str:
    """The provider's word for why the cache held less than it could have, or ""."""
    diagnostics = message.get("diagnostics")
    reason = diagnostics.get("cache_miss_reason") if isinstance(diagnostics, dict) else None
    return str(reason.get("type") or "") if isinstance(reason, dict) else ""


def usage_of(counts: Json) -> Usage:
    """The ``usage`` object of a message. Where it does not say for how long what it wrote to the cache is kept, that is
    five minutes. What folding the messages took stands beside it, by steps."""
    written, long = counts.get("cache_creation_input_tokens") or 0, counts.get("cache_creation") or {}
    kept_long = min(long.get("ephemeral_1h_input_tokens") or 0, written)
    ran = counts.get("server_tool_use") or {}
    steps = (usage_of(step) for step in counts.get("iterations") or () if step.get("type") == "compaction")
    own = Usage(
        fresh=counts.get("input_tokens") or 0,
        cache_write=written - kept_long,
        cache_write_long=kept_long,
        cache_read=counts.get("cache_read_input_tokens") or 0,
        output=counts.get("output_tokens") or 0,
        searches=ran.get("web_search_requests") or 0,
        executions=ran.get("code_execution_requests") or 0,
    )
    return sum(steps, start=own)


class Draft:
    """A reply under way, grown event by event. Events and deltas it does not know change nothing. ``container`` is what
    the request asked for; a reply whose code ran says where."""

    def __init__(self, container: str = "") -> None:
        self.whole = False
        self._container = container
        self._id = ""
        self._missed = ""
        self._model = ""
        self._stop_reason = ""
        self._usage: Json = {}
        self._blocks: dict[int, Json] = {}
        self._arguments: dict[int, str] = {}

    def add(self, event: Json) -> str:
        """Take one event in; returns the text it added for the reader, or ""."""
        match event:
            case {"type": "message_start", "message": dict(message)}:
                self._id = message.get("id") or ""
                self._missed = miss_of(message)
                self._model = message.get("model") or ""
                self._note_container(message)
                self._usage |= message.get("usage") or {}
            case {"type": "content_block_start", "index": int(index), "content_block": dict(block)}:
                self._blocks[index] = block
            case {"type": "content_block_delta", "index": int(index), "delta": dict(delta)}:
                return self._grow(index, delta)
            case {"type": "message_delta", "delta": dict(delta)}:
                self._stop_reason = delta.get("stop_reason") or ""
                self._note_container(delta)
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
        self._mend_calls()
        spoiled = self._parse_arguments()
        return Reply(
            content=[_readable(self._blocks[index]) for index in sorted(self._blocks)],
            stop_reason=self._stop_reason,
            model=self._model,
            usage=usage_of(self._usage),
            spoiled=spoiled,
            id=self._id,
            missed=self._missed,
            container=self._container,
        )

    def _note_container(self, holder: Json) -> None:
        if isinstance(container := holder.get("container"), dict):
            self._container = str(container.get("id") or self._container)

    def _mend_calls(self) -> None:
        """Give each call an id of its own, a name and an input: not every server does."""
        taken: set[str] = set()
        for index, block in self._blocks.items():
            if block.get("type") != "tool_use":
                continue
            name = str(block.get("id") or f"call_{index}")
            block["id"] = name if name not in taken else f"{name}_{index}"
            block["name"] = str(block.get("name") or "")
            block.setdefault("input", {})
            taken.add(block["id"])

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
