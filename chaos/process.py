"""One of the bot's processes, seen from outside: given events, and killed.

Processes are forked from one that has everything imported (``inside``): a real process of its own, with its own loop,
clients and connections, that starts in a fraction of what a start from nothing costs.
"""

import asyncio
import multiprocessing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chaos import inside

if TYPE_CHECKING:
    from chaos.conversation import Conversation

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["chaos.inside"])

END_WAIT = 5.0  # seconds


class Killed(Exception):
    """The process ended without an answer."""


class Process:
    """``serving`` is the conversation of the event it is at, where one is known; ``killed`` tells that we ended it."""

    def __init__(self, role: inside.Role, environment: dict[str, str], log: Path, jump: inside.Jump | None) -> None:
        self.serving: Conversation | None = None
        self.killed = False
        self._closing: asyncio.Task[None] | None = None
        self._connection, theirs = CONTEXT.Pipe()
        self._process = CONTEXT.Process(
            target=inside.serve, args=(theirs, role, environment, str(log), jump), daemon=True
        )
        self._process.start()
        theirs.close()  # or the end of the process would not be the end of the pipe

    async def call(self, event: Any, seconds: float) -> Any:
        """What the handler returned, None where it raised. Raises Killed."""
        try:
            self._connection.send((event, seconds))
            await _readable(self._connection.fileno())
            return self._connection.recv()
        except (EOFError, OSError) as error:
            raise Killed from error

    async def kill(self) -> None:
        """As by ``kill -9``; returns when it is gone."""
        self.killed = True
        self._process.kill()
        await _readable(self._process.sentinel)

    async def close(self) -> None:
        """Let it end by itself, or end it. Twice is as good as once."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        self._connection.close()
        await asyncio.to_thread(self._process.join, END_WAIT)
        if self._process.is_alive():
            self._process.kill()
            await asyncio.to_thread(self._process.join, END_WAIT)
        self._process.close()


async def _readable(descriptor: int) -> None:
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(descriptor, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
