"""The bot's commands in Telegram's own menu. Slack's come with its manifest."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.channels.telegram.send import set_menu, telegram_bot
from bot.commands import menu
from bot.errors import SendError
from handlers.settings import Settings

log = logging.getLogger(__name__)


@asynccontextmanager
async def offering_commands(settings: Settings) -> AsyncIterator[None]:
    """Beside what is done meanwhile: nobody waits for a menu."""
    offering = asyncio.create_task(_offer(settings))
    try:
        yield
    finally:
        offering.cancel()
        await asyncio.wait([offering])


async def _offer(settings: Settings) -> None:
    """Best effort: a bot without a menu answers all the same."""
    if not settings.telegram_bot_token:
        return
    telegram = telegram_bot(settings.telegram_bot_token, settings.telegram_api_base_url)
    try:
        await set_menu(telegram, {"": menu("en"), "id": menu("id")})
    except SendError as error:
        log.warning("error=<%s> | the menu of commands was not set", error)
    finally:
        await telegram.request.shutdown()
