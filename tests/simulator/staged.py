"""The page on a stage: the real simulator, and a bot that uses the platforms' real SDKs."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Literal

from playwright.async_api import Page, ViewportSize

from simulator.app import Simulator, serve, slack_base_url, telegram_base_url
from simulator.deliver import QUICK
from simulator.serving import serve as serve_app
from tests.simulator.page_bot import PageBot

DESKTOP: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 844}
Scheme = Literal["light", "dark"]
Open = Callable[..., Awaitable[Page]]


class Stage:
    """A simulator with its bot, served at ``url``."""

    def __init__(self, url: str, simulator: Simulator, bot: PageBot) -> None:
        self.url = url
        self.simulator = simulator
        self.bot = bot


@asynccontextmanager
async def staged(port: int = 0) -> AsyncIterator[Stage]:
    simulator, bot = Simulator(pace=QUICK), PageBot()
    async with (
        serve(simulator, port=port) as url,
        bot.connected(telegram_base_url(url), slack_base_url(url)),
        serve_app(bot.app) as bot_url,
    ):
        simulator.connect(bot_url)
        yield Stage(url, simulator, bot)
