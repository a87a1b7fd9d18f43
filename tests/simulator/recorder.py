"""A bot that only listens: it keeps every request and answers as told."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from simulator.serving import serve

Json = dict[str, Any]


class Received:
    """One request. ``json`` is its body, or the payload of an interaction."""

    def __init__(self, path: str, headers: dict[str, str], body: bytes) -> None:
        self.path = path
        self.headers = headers
        self.body = body

    @property
    def json(self) -> Json:
        text = self.body.decode()
        if self.headers["content-type"] == "application/x-www-form-urlencoded":
            text = parse_qs(text)["payload"][0]
        value: Json = json.loads(text)
        return value


class Recorder:
    def __init__(self) -> None:
        self.received: list[Received] = []
        self.statuses: list[int] = []
        """Answers to the next requests; 0 leaves one without an answer. 200 once they are used up."""
        self.reply: Json | None = None
        """The body of a good answer."""
        self._arrived = asyncio.Condition()
        self._over = asyncio.Event()
        methods = ["POST"]
        self.app = Starlette(
            routes=[
                Route("/telegram", self._receive, methods=methods),
                Route("/slack/events", self._receive, methods=methods),
            ]
        )

    async def _receive(self, request: Request) -> Response:
        body = await request.body()
        async with self._arrived:
            self.received.append(Received(request.url.path, dict(request.headers), body))
            status = self.statuses.pop(0) if self.statuses else 200
            self._arrived.notify_all()
        if status == 0:
            await self._over.wait()
        if status == 200 and self.reply:
            return JSONResponse(self.reply)
        return Response(status_code=status or 503)

    async def wait_for(self, count: int, timeout: float = 5) -> list[Received]:
        """All requests so far, once there are that many."""
        async with asyncio.timeout(timeout), self._arrived:
            await self._arrived.wait_for(lambda: len(self.received) >= count)
        return self.received

    @asynccontextmanager
    async def served(self) -> AsyncIterator[str]:
        async with serve(self.app) as url:
            try:
                yield url
            finally:
                self._over.set()
