"""``kabar chat``: the same agent, store and turns as everywhere, with the terminal as the channel."""

import asyncio
import getpass
import io
import locale
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from queue import SimpleQueue
from typing import TextIO

from msgspec.structs import replace

from bot.adapters.local_wake import LocalWake
from bot.channels.terminal import TerminalChannel, typed
from bot.cli.wiring import Local, local
from bot.intake import accept
from bot.messages import Person
from handlers.settings import Settings, lacks_key

LEAVE = ("/quit", "/exit", "/q")

GRACE = 1.0
"""Seconds. Who presses Ctrl-C does not wait for an answer."""


async def chat(settings: Settings, name: str) -> None:
    """Read lines until /quit or the end of input. Without a model's key the demo model answers, and says so."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # a line that is no text in the terminal's encoding is still a line
    user = _user()
    language = (locale.getlocale()[0] or "en").replace("_", "-")
    person = Person(id=f"terminal:{user}", name=user, language=language)
    async with some_model(settings) as settings:
        settings = replace(settings, kabar_owner=person.id)  # whoever sits here owns this bot
        channel = TerminalChannel()
        async with local(settings, {"terminal": channel}, grace=GRACE) as bot:
            print("Kabar. /new begins afresh, /file <path> shows me a file, /quit leaves.")
            await _talk(bot, channel, name, person)


async def _talk(bot: Local, channel: TerminalChannel, name: str, person: Person) -> None:
    assert isinstance(bot.wake, LocalWake)  # noqa: S101 - local() has no other
    await bot.wake.drain()  # what a killed process left is answered first
    keyboard = Keyboard(asyncio.get_running_loop())
    while True:
        line = await keyboard.line()
        if line is None or line in LEAVE:
            return
        if line:
            inbound = typed(name, person, line, bot.clock.now(), channel.buttons)
            await accept(inbound, bot.store, bot.wake, bot.clock)
            await bot.wake.drain()


class Keyboard:
    """Lines as they are typed, one whenever one is wanted.

    Reading blocks and can not be cancelled, so it has a thread of its own that does not keep the process alive:
    asyncio's own threads would hold Ctrl-C until the next line.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._wanted: SimpleQueue[asyncio.Future[str | None]] = SimpleQueue()
        threading.Thread(target=self._read, name="keyboard", daemon=True).start()

    async def line(self) -> str | None:
        """The next line without its end, or None at the end of input."""
        line: asyncio.Future[str | None] = self._loop.create_future()
        self._wanted.put(line)
        return await line

    def _read(self) -> None:
        while True:
            wanted = self._wanted.get()
            line = _read_line()
            with suppress(RuntimeError):  # the loop is closed: nobody wants it any more
                self._loop.call_soon_threadsafe(_settle, wanted, line)


def _settle(wanted: asyncio.Future[str | None], line: str | None) -> None:
    if not wanted.done():
        wanted.set_result(line)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container's user may have no name
        return "you"


def _read_line() -> str | None:
    """A line without its end, or None at the end of input."""
    if not sys.stdin.isatty():
        # Unbuffered: the lock of a buffer that is being read would keep the interpreter from ending.
        with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as pipe:
            line = pipe.readline()
        return line.decode(errors="replace").strip() if line else None
    try:
        return input("> ").strip()
    except EOFError:
        return None


@asynccontextmanager
async def some_model(
    settings: Settings, notes: TextIO | None = None, word_delay: float = 0.03
) -> AsyncIterator[Settings]:
    """Settings with a model: those given, or with the demo model, which is said on ``notes`` (standard output)."""
    if not lacks_key(settings):
        yield settings
        return
    from simulator.model import DEMO_FEATURES, DEMO_MODEL, demo_app
    from simulator.serving import serve

    print("No ANTHROPIC_API_KEY is set: the demo model answers. It is a small script, not an AI.", file=notes)
    async with serve(demo_app(word_delay=word_delay)) as address:
        yield replace(
            settings,
            anthropic_base_url=address,
            anthropic_api_key="demo",
            kabar_model=DEMO_MODEL,
            kabar_model_features=DEMO_FEATURES,
        )
