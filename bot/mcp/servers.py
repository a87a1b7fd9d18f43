"""What the servers offer, known before a turn begins and the same until it has ended.

    load ──> kept in the store? ──yes──> as it was, without a word to the server
                  │no
             the server is asked ──down──> left out, and asked again by a later load
    rest ──> older than an hour, or the server said that it changed ──> asked again, in force from the next turn on

The tools begin every prompt, so a list that changed by itself would cost each conversation its cache: it outlives the
process, and changes only here.
"""

import asyncio
import logging
import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Protocol

import msgspec
from msgspec.structs import replace

from bot.commands import NAMES
from bot.errors import StoreUnavailable
from bot.mcp.configured import Server
from bot.mcp.port import Offered, Refused, Remote, Unreachable
from bot.mcp.prompts import Prompts
from bot.mcp.tools import server_tools
from bot.ports import Clock, Reader
from bot.toolkit import Tool

FRESH = 3600.0
"""Seconds for which a list is not asked for again."""
AGAIN = 60.0
"""Seconds after which a server that nobody knows, and that did not answer, is asked again."""
LATER = 600.0
"""The same for one that is known. So long, too, it is not believed that it changed, once it had not: some say so at
every start."""
PATIENCE = 10.0
"""Seconds for a server to say what it offers."""

Connect = Callable[[Callable[[str], None]], Remote]
"""Makes the connections; what it is given is called with the key of a server that says that its list changed."""

log = logging.getLogger(__name__)


class Keep(Protocol):
    """The store, as far as this needs it."""

    async def kept(self, name: str) -> bytes | None: ...

    async def keep(self, name: str, data: bytes) -> None: ...


class Servers:
    """Those of one deployment. ``connect`` is called once, when a server is first spoken to: it loads a large library.
    ``reader`` makes pictures small enough for the model."""

    def __init__(self, servers: Sequence[Server], keep: Keep, clock: Clock, reader: Reader, connect: Connect) -> None:
        self._servers = servers
        self._keep = keep
        self._clock = clock
        self._reader = reader
        self._connect = connect
        self._connected: Remote | None = None
        self._offered: dict[str, Offered] = {}
        self._tried: dict[str, float] = {}
        self._changed: set[str] = set()
        self._quiet: dict[str, float] = {}
        self.version = 0
        """Grows whenever what is offered is another than before: then tools and prompts are to be taken anew."""

    def tools(self, taken: Collection[str]) -> list[Tool]:
        """Theirs, as known now; ``taken`` are the names of other tools."""
        return server_tools(self._known(), self._remote, self._reader, taken) if self._offered else []

    def prompts(self) -> Prompts:
        return Prompts(self._known(), self._remote, taken=NAMES)

    async def load(self) -> None:
        """Before a turn: learn what is not known of a server yet. Costs nothing where everything is. Raises
        StoreUnavailable."""
        if missing := [server for server in self._servers if server.key not in self._offered and self._is_due(server)]:
            await asyncio.gather(*(self._recall(server) for server in missing))
            await self._ask(server for server in missing if server.key not in self._offered)

    async def rest(self) -> None:
        """After a turn: ask again what may have changed, and give up connections. Raises nothing."""
        now = self._clock.now()
        try:
            old = [each for each in self._servers if self._is_old(each, now) and self._is_due(each)]
            for server in old:
                if server.key not in self._changed:
                    await self._recall(server)  # another process may have asked meanwhile
            await self._ask(server for server in old if self._is_old(server, now))
        except StoreUnavailable as error:
            log.warning("error=<%s> | what servers offer was not kept", error)
        if self._connected:
            await self._connected.rest()

    async def close(self) -> None:
        if self._connected:
            await self._connected.close()

    def _known(self) -> list[tuple[Server, Offered]]:
        return [(server, self._offered[server.key]) for server in self._servers if server.key in self._offered]

    def _remote(self) -> Remote:
        if self._connected is None:
            self._connected = self._connect(self._changed.add)
        return self._connected

    def _is_old(self, server: Server, now: float) -> bool:
        known = self._offered.get(server.key)
        changed = server.key in self._changed and now >= self._quiet.get(server.key, 0)
        return known is not None and (changed or now - known.at >= FRESH)

    def _is_due(self, server: Server) -> bool:
        wait = LATER if server.key in self._offered else AGAIN
        return self._clock.now() - self._tried.get(server.key, float("-inf")) >= wait

    async def _recall(self, server: Server) -> None:
        data = await self._keep.kept(server.key)
        if data is not None:
            try:
                self._know(server, msgspec.json.decode(zlib.decompress(data), type=Offered))
            except (zlib.error, msgspec.DecodeError):  # an older version's
                log.info("server=<%s> | what was kept of it can not be read", server.name)

    async def _ask(self, servers: Iterable[Server]) -> None:
        await asyncio.gather(*map(self._ask_one, servers))

    async def _ask_one(self, server: Server) -> None:
        self._tried[server.key] = self._clock.now()
        known = "as before" if server.key in self._offered else "without its tools"
        try:
            async with asyncio.timeout(PATIENCE):
                offered = await self._remote().offered(server)
        except (Unreachable, Refused, TimeoutError) as why:
            reason = f"no answer in {PATIENCE:.0f} seconds" if isinstance(why, TimeoutError) else why
            log.warning("server=<%s> | does not say what it offers, it goes on %s: %s", server.name, known, reason)
            return
        del self._tried[server.key]
        before, offered = self._offered.get(server.key), replace(offered, at=int(self._clock.now()))
        if server.key in self._changed and before and replace(before, at=0) == replace(offered, at=0):
            self._quiet[server.key] = self._clock.now() + LATER
        self._changed.discard(server.key)
        self._know(server, offered)
        await self._keep.keep(server.key, zlib.compress(msgspec.json.encode(offered)))

    def _know(self, server: Server, offered: Offered) -> None:
        before = self._offered.get(server.key)
        self._offered[server.key] = offered
        if before is None or replace(before, at=0) != replace(offered, at=0):
            self.version += 1
            log.info(
                "server=<%s>, tools=<%d>, prompts=<%d>, resources=<%d> | %s",
                *(server.name, len(offered.tools), len(offered.prompts), len(offered.resources)),
                "known" if before is None else "changed, in force from the next turn on",
            )
