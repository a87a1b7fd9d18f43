"""``kabar run``: real Telegram by long polling and real Slack by Socket Mode, for whichever tokens are set."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from bot.channels.slack.socket import listen
from bot.channels.telegram.poll import poll
from bot.channels.telegram.send import telegram_bot
from bot.cli.wiring import Local, local
from bot.errors import ConfigError
from bot.intake import accept
from bot.messages import Inbound
from handlers.settings import Settings


async def run(settings: Settings, *, take_over: bool) -> None:
    """Run until cancelled. Raises ConfigError naming what is missing."""
    _require(settings)
    async with local(settings) as bot:
        for task in asyncio.as_completed([asyncio.create_task(each) for each in _ears(settings, bot, take_over)]):
            await task  # none returns; the first that fails ends all


def _ears(settings: Settings, bot: Local, take_over: bool) -> list[Coroutine[Any, Any, None]]:
    async def take(inbound: Inbound) -> None:
        await accept(inbound, bot.store, bot.wake, bot.clock)

    ears = []
    if settings.telegram_bot_token:
        telegram = telegram_bot(settings.telegram_bot_token, settings.telegram_api_base_url)
        ears.append(poll(telegram, take, bot.clock, take_over=take_over))
        print("Telegram: polling.", flush=True)
    if settings.slack_app_token:
        ears.append(listen(settings.slack_app_token, settings.slack_api_base_url, take))
        print("Slack: Socket Mode.", flush=True)
    return ears


def _require(settings: Settings) -> None:
    if not settings.telegram_bot_token and not settings.slack_app_token:
        raise ConfigError(
            "Nothing to listen to. For Telegram set TELEGRAM_BOT_TOKEN (from @BotFather); for Slack set "
            "SLACK_BOT_TOKEN (xoxb-) and SLACK_APP_TOKEN (xapp-). Without any account: make run."
        )
    if settings.slack_app_token and not settings.slack_bot_token:
        raise ConfigError("SLACK_APP_TOKEN is set but SLACK_BOT_TOKEN (xoxb-) is missing: the bot could not answer.")
    if not settings.kabar_owner and not settings.kabar_allowed_users:
        raise ConfigError(
            "Nobody may talk to this bot yet. Set KABAR_OWNER to your id, such as telegram:42 or slack:U1; "
            "if you do not know it, set KABAR_OWNER=nobody, write to the bot, and it tells you."
        )
