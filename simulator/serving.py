"""Serve an ASGI application in the running event loop, for as long as a block of code runs."""

import asyncio
import random
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.types import ASGIApp

STOP_SECONDS = 2
"""How long open requests may take to end after the block is left."""
KEPT_OPEN = 75
"""Seconds for which a connection that nobody uses stays open: as long as the platforms' own servers keep one, and not
so short that it closes just when a client that was told to wait sends its next request."""
UNASKED = range(10_000, 32_000)
"""Ports that no system gives to a connection, or to who asks for any: they stay free until they are named."""


class _Server(uvicorn.Server):
    """A guest in somebody else's loop: signals belong to the host, and the host can wait for the start."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()


@asynccontextmanager
async def serve(app: ASGIApp, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """Yields the server's address, ``http://host:port``, once it answers. Port 0 picks a free one.

    Raises OSError where the port is taken, RuntimeError where the application fails to start.
    """
    with socket.create_server((host, port)) as listener:
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=STOP_SECONDS,
            timeout_keep_alive=KEPT_OPEN,
        )
        server = _Server(config)
        running = asyncio.create_task(_run(server, listener))
        started = asyncio.create_task(server.up.wait())
        await asyncio.wait({running, started}, return_when=asyncio.FIRST_COMPLETED)
        started.cancel()
        if running.done():
            await running
        try:
            yield f"http://{host}:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await running


async def _run(server: uvicorn.Server, listener: socket.socket) -> None:
    try:
        await server.serve(sockets=[listener])
    except SystemExit as fault:  # uvicorn's way to say that the application's lifespan failed
        raise RuntimeError("the application did not start; its log says why") from fault


def is_free(port: int) -> bool:
    try:
        with socket.create_server(("127.0.0.1", port)):
            return True
    except OSError:
        return False


def free_port() -> int:
    """One for a process that is yet to start."""
    return next(port for port in random.sample(UNASKED, len(UNASKED)) if is_free(port))
