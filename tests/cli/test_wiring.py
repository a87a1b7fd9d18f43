"""One process that is webhook and worker at once."""

import asyncio
from pathlib import Path
from typing import Any

from bot.adapters.local_wake import LocalWake
from bot.cli.wiring import local
from bot.intake import accept
from bot.messages import Place
from handlers.settings import Settings
from simulator.model import ModelServer
from simulator.model_reply import Answer
from simulator.script import reply, text
from simulator.serving import serve
from tests.recorder import RecordingChannel
from tests.say import inbound

AT_ONCE = 3


class Slow:
    """A model that answers only when so many conversations ask it together; ``most`` is how many ever did."""

    def __init__(self) -> None:
        self.most = 0
        self._asking = 0
        self._all = asyncio.Barrier(AT_ONCE)

    async def think(self, request: dict[str, Any]) -> Answer:
        self._asking += 1
        self.most = max(self.most, self._asking)
        await self._all.wait()
        self._asking -= 1
        return reply(text("Hello."))


async def test_as_many_conversations_are_answered_at_once_as_the_settings_say(tmp_path: Path) -> None:
    model, channel = Slow(), RecordingChannel()
    places = [Place(f"terminal:{name}", name) for name in "abcdef"]
    async with serve(ModelServer(model.think).app) as url:
        settings = Settings(
            anthropic_base_url=url,
            kabar_allowed_users="*",
            kabar_data=str(tmp_path / "kabar.sqlite3"),
            kabar_files=str(tmp_path / "files"),
            kabar_concurrency=AT_ONCE,
        )
        async with local(settings, {"terminal": channel}) as bot:
            assert isinstance(bot.wake, LocalWake)
            for place in places:
                await accept(inbound(place=place), bot.store, bot.wake, bot.clock)
            await bot.wake.drain()
    assert model.most == AT_ONCE
    assert len(channel.shown) == len(places)
