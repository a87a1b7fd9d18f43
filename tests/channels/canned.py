"""A platform that answers as it is told to, over real HTTP, and remembers what it was asked."""

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qsl

from msgspec import Struct
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.messages import Json
from simulator.serving import free_port, serve


class Call(Struct, frozen=True):
    """One request: the last part of its path, and its fields as JSON values."""

    method: str
    fields: Json


class Canned(Struct):
    """``answers`` holds what is said to the next calls of a method, ``usually`` what is said when none is left."""

    url: str = ""
    calls: list[Call] = []
    answers: defaultdict[str, deque[Response]] = defaultdict(deque)
    usually: Json = {}

    def say(self, method: str, body: Json, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.say_raw(method, Response(json.dumps(body), status, headers, "application/json"))

    def say_raw(self, method: str, response: Response) -> None:
        self.answers[method].append(response)

    async def answer(self, request: Request) -> Response:
        method = request.url.path.rpartition("/")[2]
        self.calls.append(Call(method, _fields(await request.body(), request)))
        if self.answers[method]:
            return self.answers[method].popleft()
        return Response(json.dumps(self.usually), media_type="application/json")


def _fields(body: bytes, request: Request) -> Json:
    if request.headers.get("content-type", "").startswith("application/json"):
        fields: Json = json.loads(body)
        return fields
    return {name: _value(text) for name, text in parse_qsl(body.decode() or request.url.query)}


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


@asynccontextmanager
async def canned_platform(usually: Json) -> AsyncIterator[Canned]:
    canned = Canned(usually=usually, calls=[], answers=defaultdict(deque))
    app = Starlette(routes=[Route("/{path:path}", canned.answer, methods=["GET", "POST"])])
    async with serve(app) as url:
        canned.url = url
        yield canned


@asynccontextmanager
async def cutting_platform() -> AsyncIterator[tuple[str, list[bytes]]]:
    """A server that takes each request in and then closes the connection without a word."""
    received: list[bytes] = []

    async def cut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await reader.readuntil(b"\r\n\r\n"))
        writer.close()

    async with await asyncio.start_server(cut, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", received


def unreachable() -> str:
    """An address where nothing listens."""
    return f"http://127.0.0.1:{free_port()}"
