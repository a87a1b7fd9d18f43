"""Kabar as an agent that other agents call: A2A 1.0 and 0.3 over JSON-RPC, spoken by the official SDK.

POST /a2a ──key proved──> message ──parse──> store once, wake ──────> (a worker runs the turn)
                          look at the store until it is settled <───┘
"""

import logging
from collections.abc import Mapping
from typing import Protocol

from a2a.server.request_handlers.response_helpers import agent_card_to_dict
from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
from a2a.utils.constants import AGENT_CARD_WELL_KNOWN_PATH
from starlette.applications import Starlette
from starlette.authentication import SimpleUser
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.channels.a2a.handler import Desk, Handler
from bot.channels.a2a.receive import caller
from bot.channels.a2a.shapes import card_of
from bot.errors import ConfigError, StoreUnavailable
from bot.metrics import refused

log = logging.getLogger(__name__)

PATH = "/a2a"
MAX_BODY = 6_000_000
"""Bytes: what Lambda takes, and hands back."""


class Keys(Protocol):
    """The callers' keys by their names, as ``receive.read_keys`` gives them."""

    async def current(self) -> Mapping[str, str]: ...

    async def renewed(self) -> Mapping[str, str]:
        """Read again, as a rotation may be why a request was refused."""


def application(desk: Desk, keys: Keys) -> Starlette:
    # What cannot be parsed is logged by the SDK with what stands in it; a request at DEBUG, whole.
    logging.getLogger("a2a").setLevel(logging.CRITICAL)
    handler = Handler(desk)

    async def card(request: Request) -> Response:
        address = (desk.url or str(request.base_url)).rstrip("/")
        return JSONResponse(agent_card_to_dict(card_of(desk.card, f"{address}{PATH}", streams=desk.streams)))

    return Starlette(
        routes=[
            Route(AGENT_CARD_WELL_KNOWN_PATH, card),
            *create_jsonrpc_routes(handler, PATH, enable_v0_3_compat=True),
        ],
        middleware=[Middleware(_Proved, keys=keys)],
    )


class _Proved:
    """Lets nobody through whose key is not known, but to the card; and no body that is too large."""

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self._app = app
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] == AGENT_CARD_WELL_KNOWN_PATH:
            await self._app(scope, receive, send)
            return
        try:
            name = await self._caller(Request(scope).headers.get("authorization", ""))
        except (StoreUnavailable, ConfigError) as error:
            log.error("error=<%s> | nobody is let in", error)
            await _refuse(Response(status_code=503), scope, receive, send)
            return
        if not name:
            challenge = {"WWW-Authenticate": "Bearer"}
            unknown = JSONResponse({"error": "No key, or one that is not known here."}, 401, challenge)
            await _refuse(unknown, scope, receive, send)
            return
        body = await _body(receive)
        if body is None:
            await _refuse(JSONResponse({"error": f"More than {MAX_BODY:,} bytes."}, 413), scope, receive, send)
            return
        await self._app({**scope, "user": SimpleUser(name)}, _again(body, receive), send)

    async def _caller(self, header: str) -> str:
        for source in (self._keys.current, self._keys.renewed):
            if name := caller(await source(), header):
                return name
        return ""


async def _refuse(answer: Response, scope: Scope, receive: Receive, send: Send) -> None:
    refused(answer.status_code)
    await answer(scope, receive, send)


async def _body(receive: Receive) -> bytes | None:
    """All of it; None where it is too large."""
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > MAX_BODY:
            return None
        if not message.get("more_body"):
            return bytes(body)


def _again(body: bytes, receive: Receive) -> Receive:
    """A ``receive`` that gives this body first."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return messages.pop() if messages else await receive()

    return again
