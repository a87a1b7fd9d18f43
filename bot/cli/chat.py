"""``kabar chat``: the same agent, store and turns as everywhere, with the terminal as the channel."""

import asyncio
import getpass
import locale
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec.structs import replace

from bot.adapters.local_wake import LocalWake
from bot.channels.terminal import TerminalChannel, typed
from bot.cli.wiring import Local, local
from bot.intake import accept
from bot.messages import Person
from handlers.settings import Settings

LEAVE = ("/quit", "/exit", "/q")


async def chat(settings: Settings, name: str) -> None:
    """Read lines until /quit or the end of input. Without a model's key the demo model answers, and says so."""
    user = getpass.getuser()
    language = (locale.getlocale()[0] or "en").replace("_", "-")
    person = Person(id=f"terminal:{user}", name=user, language=language)
    async with _some_model(settings) as settings:
        settings = replace(settings, kabar_owner=person.id)  # whoever sits here owns this bot
        async with local(settings, {"terminal": TerminalChannel()}) as bot:
            print("Kabar. /new begins afresh, /quit leaves.")
            await _talk(bot, name, person)


async def _talk(bot: Local, name: str, person: Person) -> None:
    assert isinstance(bot.wake, LocalWake)  # noqa: S101 - local() has no other
    await bot.wake.drain()  # what a killed process left is answered first
    while True:
        line = await asyncio.to_thread(_read_line)
        if line is None or line in LEAVE:
            return
        if line:
            await accept(typed(name, person, line, bot.clock.now()), bot.store, bot.wake, bot.clock)
            await bot.wake.drain()


def _read_line() -> str | None:
    """A line without its end, or None at the end of input."""
    try:
        return input("> " if sys.stdin.isatty() else "").strip()
    except EOFError:
        return None


@asynccontextmanager
async def _some_model(settings: Settings) -> AsyncIterator[Settings]:
    if settings.anthropic_api_key or settings.anthropic_base_url != Settings().anthropic_base_url:
        yield settings
        return
    from simulator.model import demo_app
    from simulator.serving import serve

    print("No ANTHROPIC_API_KEY is set: the demo model answers. It is a small script, not an AI.")
    async with serve(demo_app()) as address:
        yield replace(settings, anthropic_base_url=address, anthropic_api_key="demo")
