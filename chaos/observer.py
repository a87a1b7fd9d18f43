"""Everything a process of the bot says to the world passes here, and here it can go wrong.

The address a process is given for each service begins with the process's own number, so every request is known by who
sent it and, as a worker serves one conversation at a time, for whom. Nothing in the product knows of this.

    process ──http──> observer ──> plan: what becomes of it? ──> the emulator's AWS, the platforms, the model, the tools
"""

import json
from collections.abc import Callable
from typing import Any, Protocol

import aiohttp
from msgspec import Struct
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chaos.process import Process

AWS = {"DynamoDB_20120810": "dynamodb", "AmazonSQS": "sqs", "AmazonSSM": "ssm"}
"""Services by the first half of the X-Amz-Target header."""


class Call(Struct, frozen=True):
    """One request. ``name`` is the operation or method, and what of it matters; ``body`` is as sent."""

    service: str
    name: str
    body: bytes

    @property
    def label(self) -> str:
        return f"{self.service}.{self.name}"

    @property
    def request(self) -> dict[str, Any]:
        """The body of a service that speaks JSON."""
        value: dict[str, Any] = json.loads(self.body)
        return value


class Exchange:
    """One request on its way, until one of the methods says what becomes of it.

    ``chunks`` counts the pieces of the answer that went back.
    """

    def __init__(self, call: Call, process: Process, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        self.call = call
        self.process = process
        self.conversation = process.serving
        self.chunks = 0
        self._app = app
        self._scope = scope
        self._receive = receive
        self._send = send
        self._given = False

    async def pass_on(self) -> None:
        """Nothing goes wrong."""
        await self._do(self._send)

    async def pass_on_and_kill(self, *, after: int | None = None) -> None:
        """The process dies when it was sent so many pieces of the answer, or all of them."""

        async def send(message: Message) -> None:
            if self.chunks == after and not self.process.killed:
                await self.kill()
            await self._send(message)

        await self._do(send)
        if not self.process.killed:
            await self.kill()

    async def do(self) -> None:
        """It is done; what the process hears of it is still to be said."""
        await self._do(_nobody)

    async def withhold(self) -> None:
        """It is done, but there is no answer: the connection breaks."""
        await self.do()
        await self.cut()

    async def withhold_and_kill(self) -> None:
        """It is done, but the process dies before it is told."""
        await self.do()
        await self.kill()

    async def withhold_and_be_silent(self) -> None:
        """It is done, and the process waits for the answer for as long as it likes."""
        await self.do()
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def kill(self) -> None:
        """The process dies before it is done."""
        if self.conversation is not None:
            self.conversation.note_kill()
        await self.process.kill()

    async def cut(self) -> None:
        """The connection breaks in the middle of an answer, whatever it would have been."""
        headers = [(b"content-type", b"application/json"), (b"content-length", b"1000")]
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._send({"type": "http.response.body", "body": b'{"ok"', "more_body": True})

    async def refuse(self, status: int, body: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        """It is not done; this is the answer."""
        content_type = "application/x-amz-json-1.0" if self.call.service in AWS.values() else "application/json"
        answer = Response(json.dumps(body).encode(), status, headers, content_type)
        await answer(self._scope, self._receive, self._send)

    async def _do(self, send: Send) -> None:
        status, answer = 0, b""
        self._given = False

        async def note(message: Message) -> None:
            nonlocal status, answer
            if message["type"] == "http.response.start":
                status = message["status"]
            elif message["type"] == "http.response.body":
                self.chunks += 1
                answer += message.get("body", b"")
            await send(message)

        await self._app(self._scope, self._replay, note)
        if self.conversation is not None:
            self.conversation.note(self.call.service, self.call.name, self.call.body, status, answer)

    async def _replay(self) -> Message:
        """The request's body again, for the one that answers it; then whatever comes."""
        if self._given:
            return await self._receive()
        self._given = True
        return {"type": "http.request", "body": self.call.body, "more_body": False}


async def _nobody(message: Message) -> None:
    """Takes an answer that nobody is to get."""


class Judge(Protocol):
    async def meet(self, exchange: Exchange) -> None:
        """Decide what becomes of this request."""


class Observer:
    """An ASGI app. ``services`` are the apps behind it, by the second part of the path: aws, telegram and so on."""

    def __init__(self, services: dict[str, ASGIApp], judge: Judge, process: Callable[[int], Process]) -> None:
        self._services = services
        self._judge = judge
        self._process = process

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        number, _, path = scope["path"].removeprefix("/").partition("/")
        service, _, rest = path.partition("/")
        body = await _body(receive)
        if body is None:
            return
        # The simulator's own paths begin with the platform's name.
        path = f"/{service}/{rest}" if service in ("telegram", "slack") else f"/{rest}"
        inner = {**scope, "path": path, "raw_path": path.encode(), "root_path": ""}
        call = _call(service, rest, dict(scope["headers"]), body)
        exchange = Exchange(call, self._process(int(number)), self._services[service], inner, receive, send)
        await self._judge.meet(exchange)


def _call(service: str, path: str, headers: dict[bytes, bytes], body: bytes) -> Call:
    if service != "aws":
        return Call(service, path.rpartition("/")[2], body)
    target, _, operation = headers[b"x-amz-target"].decode().partition(".")
    if operation == "Query":
        operation = f"Query({json.loads(body).get('IndexName', 'record')})"
    return Call(AWS[target], operation, body)


async def _body(receive: Receive) -> bytes | None:
    """None where it did not come whole, as its sender was killed."""
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


class Forward:
    """An ASGI app that is another server. To be closed in the loop it was used in."""

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        self._session: aiohttp.ClientSession | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._session is None:
            self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        headers = {
            name.decode(): value.decode()
            for name, value in scope["headers"]
            if name not in (b"host", b"content-length", b"connection", b"accept-encoding", b"expect")
        }
        async with self._session.request(
            scope["method"], self._endpoint + scope["path"], data=await _body(receive), headers=headers
        ) as answer:
            kept = {name: value for name, value in answer.headers.items() if name.lower().startswith("x-amz")}
            response = Response(await answer.read(), answer.status, kept, answer.headers.get("Content-Type"))
        await response(scope, receive, send)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
