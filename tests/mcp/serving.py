"""Servers wired as ``handlers/servers.py`` does it, and addresses at which one can be started and stopped."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from bot.adapters.file_reader import FileReader
from bot.adapters.mcp_client import McpClients
from bot.adapters.sqlite_store import SQLiteStore
from bot.clock import SystemClock
from bot.mcp.configured import Address, Server
from bot.mcp.port import Remote
from bot.mcp.servers import Servers
from bot.ports import Clock
from simulator.serving import free_port, serve
from tests.mcp.server import make_server

Up = Callable[[], AbstractAsyncContextManager[str]]
"""Starts the server for as long as a block runs."""


def somewhere(**options: Any) -> tuple[Server, Up]:
    """A server at an address of its own, not yet started."""
    port = free_port()
    server = Server("odds", "mcp:odds:1", Address(f"http://127.0.0.1:{port}/mcp"), **options)
    return server, lambda: serve(make_server().streamable_http_app(), port=port)


@asynccontextmanager
async def knowing(path: Path, *servers: Server, clock: Clock | None = None, idle: float = 60) -> AsyncIterator[Servers]:
    """What these servers offer, kept in this file."""

    def connect(changed: Callable[[str], None]) -> Remote:
        return McpClients({}, idle, changed)

    clock = clock or SystemClock()
    store = SQLiteStore(path, clock)
    known = Servers(servers, store, clock, FileReader(None), connect)
    try:
        await known.load()
        yield known
    finally:
        await known.close()
        store.close()
