"""Amazon Bedrock, and servers that speak the Messages API in their own way, over HTTP."""

import asyncio
import json
import struct
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from zlib import crc32

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from msgspec import Struct
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.adapters.anthropic_bedrock import bedrock_client
from bot.adapters.anthropic_model import TIMEOUT, AnthropicModel, client
from bot.errors import ConfigError, ModelRefusedRequest, ModelUnavailable, PromptTooLong
from bot.messages import Json
from bot.models import FEATURES, facts_of, on_bedrock
from bot.ports import Prompt
from simulator.model_reply import Answer, Refusal, events, line
from simulator.script import scripted, text
from simulator.serving import serve
from tests.test_shaping import everything

HELLO = Prompt([], [], [{"role": "user", "content": [{"type": "text", "text": "hello"}]}], 100)
UNKNOWN = "my-own-model"


def nothing(piece: str) -> None:
    """An on_text for tests that look at the reply only."""


@asynccontextmanager
async def model(url: str, name: str = UNKNOWN) -> AsyncIterator[AnthropicModel]:
    async with client("none", url) as connection:
        yield AnthropicModel(connection, name)


# Servers that take less, and say so in another way

LESS = [name for name in FEATURES if name != "tools"]


async def test_a_server_that_refuses_all_it_lacks_is_asked_for_nothing_of_it() -> None:
    async with scripted(text("Fine."), lacks=LESS) as script, model(script.url) as own:
        assert (await own.reply(everything(), nothing)).content == [text("Fine.")]


async def test_an_error_in_another_shape_without_a_request_id_is_still_told_apart() -> None:
    refused = Refusal(500, "server_error", "image input is not supported")
    async with scripted(refused, lacks=LESS) as script, model(script.url) as own:
        with pytest.raises(ModelUnavailable, match="500 server_error: image input is not supported"):
            await own.reply(HELLO, nothing)


@pytest.mark.parametrize(
    ("status", "kind", "message"),
    [
        (400, "exceed_context_size_error", "request (9031 tokens) exceeds the available context size (8192 tokens)"),
        (500, "server_error", "Context size has been exceeded."),
    ],
)
async def test_llama_cpp_s_ways_to_say_too_long_are_known(status: int, kind: str, message: str) -> None:
    async with scripted(Refusal(status, kind, message), lacks=LESS) as script, model(script.url) as own:
        with pytest.raises(PromptTooLong):
            await own.reply(HELLO, nothing)


async def test_what_such_a_server_refuses_is_not_asked_again() -> None:
    async with scripted(lacks=["tools"]) as script, model(script.url) as own:
        with pytest.raises(ModelRefusedRequest, match="tools: not supported"):
            await own.reply(Prompt([], everything().tools, HELLO.messages, 100), nothing)
        script.refused.clear()


# Connections that are dropped

STREAM = b"".join(map(line, events(Answer([text("Hi.")]), "chatcmpl-1", UNKNOWN, {"input_tokens": 3})))
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n"
WHOLE = HEAD % len(STREAM) + STREAM


class Careless:
    """A server that answers the requests it gets, over however many connections, with the bytes written down for them;
    b"" and whatever is cut short end the connection. ``requests`` are the connections they came on."""

    def __init__(self, *answers: bytes) -> None:
        self._answers = list(answers)
        self._connections = 0
        self.requests: list[int] = []
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        number = self._connections
        try:
            while await _read_request(reader):
                self.requests.append(number)
                answer = self._answers.pop(0)
                writer.write(answer)
                await writer.drain()
                if answer != WHOLE:
                    return
        finally:
            writer.close()


async def _read_request(reader: asyncio.StreamReader) -> bool:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return False
    length = next(row for row in head.lower().split(b"\r\n") if row.startswith(b"content-length:"))
    await reader.readexactly(int(length.partition(b":")[2]))
    return True


@asynccontextmanager
async def careless(*answers: bytes) -> AsyncIterator[Careless]:
    careless = Careless(*answers)
    async with await asyncio.start_server(careless.serve, "127.0.0.1", 0) as server:
        careless.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield careless


async def test_a_kept_connection_that_the_server_dropped_is_replaced_once_and_nobody_notices() -> None:
    async with careless(WHOLE, b"", WHOLE) as server, model(server.url) as own:
        for _ in range(2):
            assert (await own.reply(HELLO, nothing)).content == [text("Hi.")]
        assert server.requests == [1, 1, 2]


async def test_a_server_that_drops_every_connection_is_asked_twice_and_not_a_third_time() -> None:
    async with careless(b"", b"") as server, model(server.url) as own:
        with pytest.raises(ModelUnavailable, match="no connection"):
            await own.reply(HELLO, nothing)
        assert server.requests == [1, 2]


@pytest.mark.parametrize("length", [len(WHOLE) - len(STREAM), len(WHOLE) - len(STREAM) // 2])
async def test_once_an_answer_began_nothing_is_repeated(length: int) -> None:
    async with careless(WHOLE[:length]) as server, model(server.url) as own:
        with pytest.raises(ModelUnavailable):
            await own.reply(HELLO, nothing)
        assert server.requests == [1]


# Amazon Bedrock

ROLE = {"AWS_ACCESS_KEY_ID": "ASIATEST", "AWS_SECRET_ACCESS_KEY": "role-secret", "AWS_SESSION_TOKEN": "role-token"}
CLAUDE = "eu.anthropic.claude-sonnet-5-5"


class Seen(Struct, frozen=True):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> Json:
        return dict(json.loads(self.body))


class Bedrock:
    """Bedrock's runtime as far as one model call sees it: an answer in AWS's event stream that ``exception`` may end
    early, or else ``refusal``.

    Source: the Bedrock runtime's API reference and the event stream encoding of the AWS SDKs.
    """

    def __init__(self, answer: Answer, refusal: Response | None = None, exception: str = "") -> None:
        self._answer = answer
        self._refusal = refusal
        self._exception = exception
        self.seen: list[Seen] = []
        self.url = ""
        path = "/model/{model}/invoke-with-response-stream"
        self.app = Starlette(routes=[Route(path, self._invoke, methods=["POST"])])

    async def _invoke(self, http: Request) -> Response:
        path = http.scope["raw_path"].decode()
        self.seen.append(Seen(http.method, path, dict(http.headers), await http.body()))
        if self._refusal:
            return self._refusal
        frames = [_chunk(event) for event in events(self._answer, "msg_bdrk_1", CLAUDE, {"input_tokens": 3})]
        if self._exception:
            body = json.dumps({"message": "Too many tokens"}).encode()
            headers = {":message-type": "exception", ":exception-type": self._exception}
            frames = [*frames[:2], _frame(headers, body)]
        return Response(b"".join(frames), media_type="application/vnd.amazon.eventstream")


def _chunk(event: Json) -> bytes:
    body = json.dumps({"bytes": b64encode(json.dumps(event).encode()).decode()}).encode()
    return _frame({":message-type": "event", ":event-type": "chunk", ":content-type": "application/json"}, body)


def _frame(headers: dict[str, str], body: bytes) -> bytes:
    """Length of all and of the headers, their checksum; headers (name, 7 for text, value); body; checksum of all."""
    head = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
        for name, value in headers.items()
    )
    lengths = struct.pack(">II", 16 + len(head) + len(body), len(head))
    message = lengths + struct.pack(">I", crc32(lengths)) + head + body
    return message + struct.pack(">I", crc32(message))


@asynccontextmanager
async def bedrock(*, region: str, **options: Any) -> AsyncIterator[tuple[Bedrock, AnthropicModel]]:
    stand_in = Bedrock(Answer([text("Selamat pagi.")]), **options)
    async with serve(stand_in.app) as stand_in.url, bedrock_client(region, stand_in.url, TIMEOUT) as connection:
        yield stand_in, AnthropicModel(connection, CLAUDE, on_bedrock(facts_of(CLAUDE)))


@pytest.fixture
def role(monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials where Lambda puts those of a function's role."""
    monkeypatch.delenv("AWS_BEARER_TOKEN_BEDROCK", raising=False)
    for name, value in ROLE.items():
        monkeypatch.setenv(name, value)


def signature(seen: Seen, url: str, region: str) -> str:
    """The signature that this request must bear, made from what arrived and the secret."""
    names = seen.headers["authorization"].partition("SignedHeaders=")[2].partition(",")[0].split(";")
    headers = {name: seen.headers[name] for name in names}
    arrived = AWSRequest(method=seen.method, url=f"{url}{seen.path}", data=seen.body, headers=headers)
    arrived.context["timestamp"] = seen.headers["x-amz-date"]
    signer = SigV4Auth(Credentials(ROLE["AWS_ACCESS_KEY_ID"], ROLE["AWS_SECRET_ACCESS_KEY"]), "bedrock", region)
    return str(signer.signature(signer.string_to_sign(arrived, signer.canonical_request(arrived)), arrived))


@pytest.mark.usefixtures("role")
async def test_a_call_to_bedrock_is_signed_with_the_role_and_names_the_model_in_its_path() -> None:
    async with bedrock(region="eu-central-1") as (stand_in, claude):
        pieces: list[str] = []
        answer = await claude.reply(everything(), pieces.append)
        (seen,) = stand_in.seen
        assert f"Signature={signature(seen, stand_in.url, 'eu-central-1')}" in seen.headers["authorization"]
    assert "".join(pieces) == "Selamat pagi."
    assert answer.stop_reason == "end_turn"
    assert seen.path == f"/model/{CLAUDE}/invoke-with-response-stream"
    assert seen.headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=ASIATEST/")
    assert "/eu-central-1/bedrock/aws4_request" in seen.headers["authorization"]
    assert seen.headers["x-amz-security-token"] == "role-token"
    assert "x-api-key" not in seen.headers
    assert "model" not in seen.json() and "stream" not in seen.json()


@pytest.mark.usefixtures("role")
async def test_bedrock_gets_cache_marks_and_no_tools_of_the_provider_s() -> None:
    async with bedrock(region="eu-central-1") as (stand_in, claude):
        await claude.reply(everything(), nothing)
        body = stand_in.seen[0].json()
    assert body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert [tool["name"] for tool in body["tools"]] == ["look"]
    assert "web_search" not in json.dumps(body)


@pytest.mark.usefixtures("role")
@pytest.mark.parametrize(
    ("status", "message", "error"),
    [
        (403, "User is not authorized to perform: bedrock:InvokeModelWithResponseStream", ModelRefusedRequest),
        (400, "Input is too long for requested model.", PromptTooLong),
        (429, "Too many tokens, please wait before trying again.", ModelUnavailable),
        (503, "Bedrock is unable to process your request.", ModelUnavailable),
    ],
)
async def test_bedrock_s_refusals_say_who_has_to_act(status: int, message: str, error: type[Exception]) -> None:
    async with bedrock(region="eu-central-1", refusal=JSONResponse({"message": message}, status)) as (_, claude):
        with pytest.raises(error, match=message.split(".", maxsplit=1)[0]):
            await claude.reply(HELLO, nothing)


@pytest.mark.usefixtures("role")
@pytest.mark.parametrize(
    ("exception", "error"),
    [("throttlingException", ModelUnavailable), ("validationException", ModelRefusedRequest)],
)
async def test_an_exception_in_bedrock_s_stream_says_whether_to_try_again(
    exception: str, error: type[Exception]
) -> None:
    async with bedrock(region="eu-central-1", exception=exception) as (_, claude):
        with pytest.raises(error, match="Too many tokens"):
            await claude.reply(HELLO, nothing)


async def test_without_credentials_nothing_is_sent_and_nothing_else_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*ROLE, "AWS_BEARER_TOKEN_BEDROCK", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, "no-such-file")
    async with bedrock(region="eu-west-3") as (stand_in, claude):  # boto3's session is kept for each region
        with pytest.raises(ModelUnavailable, match="can not be signed"):
            await claude.reply(HELLO, nothing)
        assert stand_in.seen == []


def test_without_a_region_the_owner_hears_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "no-such-file")
    with pytest.raises(ConfigError, match="AWS_REGION"):
        bedrock_client("", "", TIMEOUT)
