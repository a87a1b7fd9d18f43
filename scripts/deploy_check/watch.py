"""Between the functions and AWS: every call is handed on, and those that a role did not allow are kept."""

import aiohttp
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from yarl import URL

DENIED = (b"AccessDenied", b"not authorized", b"UnauthorizedOperation")
OUR_OWN = {b"connection", b"content-length", b"expect", b"transfer-encoding"}
"""Headers that belong to one connection. The host stays as it is: a signature is over it."""


class Watch:
    """An ASGI app that is AWS. To be closed in the loop it was used in. ``denied`` are the answers of those calls."""

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        self._session: aiohttp.ClientSession | None = None
        self.denied: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._session is None:
            self._session = aiohttp.ClientSession(auto_decompress=False)
        request = Request(scope, receive)
        where = URL(f"{self._endpoint}{scope['raw_path'].decode()}?{scope['query_string'].decode()}", encoded=True)
        headers = [(name.decode(), value.decode("latin-1")) for name, value in scope["headers"] if name not in OUR_OWN]
        body = await request.body()
        async with self._session.request(request.method, where, data=body, headers=headers) as answer:
            said = await answer.read()
            response = Response(said, answer.status)
            response.raw_headers = [pair for pair in answer.raw_headers if pair[0].lower() not in OUR_OWN]
            length = answer.headers.get("Content-Length", "0") if request.method == "HEAD" else str(len(said))
            response.raw_headers.append((b"content-length", length.encode()))
        if answer.status in (400, 403) and any(word in said for word in DENIED):
            self.denied.append(said.decode(errors="replace")[:300])
        await response(scope, receive, send)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
