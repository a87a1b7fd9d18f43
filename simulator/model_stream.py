"""An answer on its way: it ends well, breaks off as its script says, or stops when the client leaves."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from simulator.model_reply import Answer, Break, error_body, line
from simulator.model_rules import Json


class EventStream(Response):
    """``parts`` are the events of the whole answer; ``on_hangup`` is called where the client does not wait for them."""

    def __init__(
        self, answer: Answer, parts: Iterable[Json], headers: dict[str, str], on_hangup: Callable[[], None]
    ) -> None:
        super().__init__(headers=headers, media_type="text/event-stream")
        del self.headers["content-length"]  # unknown until the end
        self._answer = answer
        self._parts = parts
        self._on_hangup = on_hangup

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        saying = asyncio.create_task(self._say(send))
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait({saying, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if saying.done():
                saying.result()
            else:
                self._on_hangup()
        finally:
            saying.cancel()
            leaving.cancel()
            await asyncio.gather(saying, leaving, return_exceptions=True)

    async def _say(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for part in self._said():
            await send({"type": "http.response.body", "body": line(part), "more_body": True})
        if self._answer.broken:
            await self._break(self._answer.broken, send)
        else:
            await send({"type": "http.response.body", "body": b""})

    async def _said(self) -> AsyncIterator[Json]:
        """The events, at the answer's pace, up to where it breaks."""
        broken = self._answer.broken
        deltas = 0
        for part in self._parts:
            if broken and part["type"] == "message_delta":
                return
            if part["type"] == "content_block_delta":
                if broken and deltas == broken.after:
                    return
                deltas += 1
                await asyncio.sleep(self._answer.pace)
            yield part

    async def _break(self, broken: Break, send: Send) -> None:
        match broken.how:
            case "error":
                last = line(error_body(broken.kind, broken.message, self.headers["request-id"]))
            case "garbage":
                last = b'event: content_block_delta\ndata: {"type": "content_bl\n\n'
            case "end":
                last = b""
            case "cut":
                return  # an ASGI response without its last body: the server drops the connection
            case "hang":
                await asyncio.Event().wait()
        await send({"type": "http.response.body", "body": last})


async def _left(receive: Receive) -> None:
    """Returns when the client is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
