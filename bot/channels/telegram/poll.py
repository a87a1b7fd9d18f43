"""Updates by long polling, for a laptop or a small server. An update is confirmed only once it is stored.

Source: core.telegram.org/bots/api#getupdates.
"""

import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlencode

from telegram import Bot
from telegram.error import Conflict, InvalidToken, TelegramError

from bot.channels.telegram.parse import KINDS, Me, parse
from bot.channels.telegram.send import FloodControl
from bot.channels.telegram.webhook import UNKNOWN_TOKEN
from bot.errors import ConfigError, StoreUnavailable
from bot.messages import Inbound, Json
from bot.ports import Clock

WAIT = 30  # seconds Telegram holds the request open while there is nothing
PAUSE = 3.0

logger = logging.getLogger(__name__)

Accept = Callable[[Inbound], Awaitable[Any]]


async def poll(bot: Bot, accept: Accept, clock: Clock, *, take_over: bool) -> None:
    """Poll for ever. Raises ConfigError where the token is wrong or a webhook is set (``take_over`` removes it)."""
    me = await _arrive(bot, take_over)
    offset = 0
    while True:
        try:
            for update in await pending(bot, after=offset):
                await _take(update, me, accept, bot)
                offset = update["update_id"]
        except Conflict as error:
            raise ConfigError(
                f"Telegram does not hand updates out: {error.message}. Stop the other process, or remove the webhook "
                "with: kabar run --take-over"
            ) from error
        except InvalidToken:
            raise ConfigError(UNKNOWN_TOKEN) from None
        except (TelegramError, StoreUnavailable) as error:
            pause = error.retry_after if isinstance(error, FloodControl) else PAUSE
            logger.warning("error=<%s>, pause=<%.0f> | polling again later", type(error).__name__, pause)
            await clock.sleep(pause)


async def pending(bot: Bot, *, after: int = 0, wait: int = WAIT) -> list[Json]:
    """The updates that nobody confirmed yet, as they are: what the SDK's own method makes of them has lost what it does
    not know. Those up to ``after`` are confirmed by it, and gone. ``wait`` is in seconds, where there are none. Raises
    TelegramErrors."""
    query = urlencode({"offset": after + 1 if after else 0, "timeout": wait, "allowed_updates": json.dumps(KINDS)})
    updates: Any = await bot.request.post(f"{bot.base_url}/getUpdates?{query}", read_timeout=wait + 10)
    return list(updates)


async def _arrive(bot: Bot, take_over: bool) -> Me:
    try:
        account = await bot.get_me()
        if take_over:
            await bot.delete_webhook()
    except InvalidToken:
        raise ConfigError(UNKNOWN_TOKEN) from None
    except TelegramError as error:
        raise ConfigError(f"Telegram can not be reached: {error.message}") from error
    return Me(account.id, account.username or "")


async def _take(update: Json, me: Me, accept: Accept, bot: Bot) -> None:
    inbound = parse(update, me)
    if inbound is not None:
        await accept(inbound)
    if query := update.get("callback_query"):
        try:
            await bot.answer_callback_query(query["id"])
        except TelegramError as error:  # too old, say: only the spinner of a button turns a little longer
            logger.info("error=<%s> | a tap was not acknowledged", type(error).__name__)
