"""HTTP between the bot and the platforms: reading parameters, keeping the log, and going wrong on demand."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from email.message import Message as Part
from email.parser import BytesParser
from email.policy import HTTP
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from simulator.world import Call, Fault, File, Json, Platform, World


class Unreadable(Exception):
    """The body is not what its content type says."""


async def read_params(request: Request) -> tuple[Json, dict[str, File]]:
    """The parameters of an API call and its uploaded files, by name: from the query, a form or a JSON object.

    Raises Unreadable.
    """
    values: Json = dict(request.query_params)
    files: dict[str, File] = {}
    content_type = request.headers.get("content-type", "")
    body = await request.body()
    if content_type.startswith("application/json") and body:
        values |= _json_object(body)
    elif content_type.startswith("application/x-www-form-urlencoded"):
        values |= dict(parse_qsl(body.decode(), keep_blank_values=True))
    elif content_type.startswith("multipart/form-data"):
        fields, files = _multipart(content_type, body)
        values |= fields
    return values, files


def _json_object(body: bytes) -> Json:
    try:
        value = json.loads(body)
    except ValueError:
        raise Unreadable("the body is not JSON") from None
    if not isinstance(value, dict):
        raise Unreadable("the body is not a JSON object")
    return value


def _multipart(content_type: str, body: bytes) -> tuple[Json, dict[str, File]]:
    """Read as an e-mail, which has the same shape."""
    whole = BytesParser(policy=HTTP).parsebytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + body)
    if not whole.is_multipart():
        raise Unreadable("the body is not multipart")
    values: Json = {}
    files: dict[str, File] = {}
    for part in whole.iter_parts():
        name = str(part.get_param("name", header="content-disposition"))
        filename = part.get_filename()
        if filename is None:
            values[name] = _payload(part).decode()
        else:
            files[name] = File(filename, part.get_content_type(), _payload(part))
    return values, files


def _payload(part: Part) -> bytes:
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


Answer = Callable[[], Awaitable[tuple[Response, bool, str, object]]]
"""Carries out a call; returns the response and, for the log, whether it went well, the error and the result."""


async def answer(
    world: World, platform: Platform, method: str, params: Json, do: Answer, refuse: Callable[[Fault], Response]
) -> Response:
    """One API call from its arrival to its response, with the fault that was ordered for it, if any."""
    with world.logged(platform, method, params) as call:
        fault = world.take_fault(platform, method)
        if fault and fault.kind == "hang":
            return Silence(world)
        if fault and fault.kind == "error":
            call.ok, call.error = False, fault.error or f"status {fault.status}"
            return refuse(fault)
        return _after(world, fault, await _carry_out(call, do))


async def _carry_out(call: Call, do: Answer) -> Response:
    response, call.ok, call.error, call.result = await do()
    return response


def _after(world: World, fault: Fault | None, response: Response) -> Response:
    if fault is None:
        return response
    return Cut() if fault.kind == "cut" else Silence(world)


class Silence(Response):
    """No answer at all, until the client goes away or the simulator ends."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gone = asyncio.create_task(_until_gone(receive))
        closed = asyncio.create_task(self._world.wait_until(lambda: self._world.closed, timeout=None))
        await asyncio.wait({gone, closed}, return_when=asyncio.FIRST_COMPLETED)
        gone.cancel()
        closed.cancel()
        if self._world.closed:
            await Response(status_code=503)(scope, receive, send)


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class Cut(Response):
    """The connection breaks in the middle of the answer: the server closes it, as less came than was promised."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"application/json"), (b"content-length", b"1000")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"ok"', "more_body": True})


def reply(body: Json, status: int = 200, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse(body, status, headers)
