"""What runs inside a process that may be killed: one of the bot's two functions, called as Lambda calls it.

Everything that is slow to import is imported here, so that a process forked from one that has this module is as good
as a warm execution environment within milliseconds.
"""

import asyncio
import json
import os
import sys
import time
import traceback
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Annotated, Any, Literal

from msgspec import Struct

import bot.channels.slack.send
import bot.channels.telegram.send  # noqa: F401  # the worker loads both at its first event
from bot import logs
from bot.toolkit import Tool, tool
from handlers import webhook
from handlers.loop import close_loop, run
from handlers.settings import read_settings
from handlers.worker import Worker, batch_response

TOOLS_URL = "CHAOS_TOOLS_URL"
"""Names the environment's address of the world that the tools below change and look at."""

Role = Literal["webhook", "worker"]


class Jump(Struct, frozen=True):
    """The process's wall clock is wrong by ``seconds`` from ``after`` seconds of its life on."""

    after: float
    seconds: float


class Invocation:
    """The context of one call. The function's own name is where its schedules would call: none does here."""

    invoked_function_arn = "arn:aws:lambda:us-east-1:000000000000:function:webhook"

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def get_remaining_time_in_millis(self) -> int:
        return int((self._end - time.monotonic()) * 1000)


Handler = Callable[[Any, Invocation], Any]


def serve(connection: Connection, role: Role, environment: dict[str, str], log: str, jump: Jump | None) -> None:
    """Answer each (event, seconds) that comes with what the handler returns, None where it raised, until the end."""
    _write_to(log)
    os.environ.update(environment)
    if jump is not None:
        _break_the_clock(jump)
    with function(role) as handler:
        while True:
            try:
                event, seconds = connection.recv()
            except EOFError:
                return
            connection.send(_outcome(handler, event, Invocation(seconds)))


@contextmanager
def function(role: Role) -> Iterator[Handler]:
    """The handler of one of the two functions; the worker's is ``handlers.worker.handler`` with three more tools."""
    if role == "webhook":
        yield webhook.handler
        webhook.forget()
        return
    settings = read_settings(os.environ)
    logs.set_up(settings.kabar_log_level)
    worker = Worker(os.environ, TOOLS)

    def handle(event: Any, context: Invocation) -> Any:
        return batch_response(run(worker.work(event["Records"], context.get_remaining_time_in_millis() / 1000)))

    yield handle
    run(worker.close())
    close_loop()


def _outcome(handler: Handler, event: Any, context: Invocation) -> Any:
    try:
        return handler(event, context)
    except Exception:  # an invocation begins here, and Lambda would report its failure
        traceback.print_exc()
        return None


def _write_to(log: str) -> None:
    """The log of a function is all that it prints, also from below Python."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(file, stream.fileno())
    os.close(file)


def _break_the_clock(jump: Jump) -> None:
    """Whoever asks for the time in this process, libraries too, gets the wrong one, as after a bad correction."""
    right, wrong_from = time.time, time.monotonic() + jump.after

    def wrong() -> float:
        return right() + (jump.seconds if time.monotonic() >= wrong_from else 0)

    time.time = wrong


# Tools: the world outside counts what they do to it.


@tool(writes=True)
async def book(what: Annotated[str, "What to book"]) -> str:
    """Book something. It is paid at once."""
    return await _ask_the_world("book", what)


@tool()
async def look(at: Annotated[str, "What to look at"]) -> str:
    """Look at something."""
    return await _ask_the_world("look", at)


@tool()
async def weigh(what: Annotated[str, "What to weigh"]) -> str:
    """Weigh something."""
    return await _ask_the_world("weigh", what)


TOOLS: tuple[Tool, ...] = (book, look, weigh)


async def _ask_the_world(name: str, what: str) -> str:
    return await asyncio.to_thread(_post, f"{os.environ[TOOLS_URL]}/{name}", {"what": what})


def _post(url: str, body: dict[str, str]) -> str:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})  # noqa: S310
    with urllib.request.urlopen(request, timeout=15) as response:  # noqa: S310  # an address of our own
        answer: str = response.read().decode()
    return answer
