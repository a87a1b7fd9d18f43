"""``kabar run``: real Telegram by long polling and real Slack by Socket Mode, for whichever tokens are set."""

import asyncio
from collections.abc import Coroutine, Mapping
from contextlib import AsyncExitStack
from typing import Any

from bot.channels.slack.parse import Departed, sign_reply
from bot.channels.slack.socket import listen
from bot.channels.telegram.poll import poll
from bot.channels.telegram.send import telegram_bot
from bot.cli.chat import some_model
from bot.cli.menu import offering_commands
from bot.cli.missing import missing_for_all, missing_for_run
from bot.cli.wiring import Local, local
from bot.errors import ConfigError
from bot.intake import accept
from bot.messages import Inbound, Json
from handlers.settings import Settings


async def run(every: Mapping[str, Settings], *, take_over: bool, demo: bool = False) -> None:
    """Run every bot, by its name, until cancelled; with ``demo`` the demo model answers where no key is set. Raises
    ConfigError naming all that is missing."""
    async with AsyncExitStack() as stack:
        if demo:
            every = {name: await stack.enter_async_context(some_model(settings)) for name, settings in every.items()}
        if missing := missing_for_all(every, missing_for_run):
            raise ConfigError("\n".join(missing))
        ears = []
        for name, settings in every.items():
            bot = await stack.enter_async_context(local(settings))
            await stack.enter_async_context(offering_commands(settings))
            ears += [asyncio.create_task(each) for each in _ears(name, settings, bot, take_over)]
        try:
            await next(asyncio.as_completed(ears))  # none returns; the first that fails ends all
        finally:
            for ear in ears:
                ear.cancel()
            await asyncio.gather(*ears, return_exceptions=True)


def _ears(name: str, settings: Settings, bot: Local, take_over: bool) -> list[Coroutine[Any, Any, None]]:
    async def take(inbound: Inbound) -> Json | None:
        await accept(inbound, bot.store, bot.wake, bot.clock)
        sign = sign_reply(inbound) if inbound.place.platform == "slack" else None
        return sign if sign and await bot.door.signs(inbound) else None

    async def left(gone: Departed) -> None:
        await bot.store.uninstall(gone.team, gone.at)

    ears, who = [], f" ({name})" if name else ""
    if settings.telegram_bot_token:
        telegram = telegram_bot(settings.telegram_bot_token, settings.telegram_api_base_url)
        ears.append(poll(telegram, take, bot.clock, take_over=take_over))
        print(f"Telegram: polling{who}.", flush=True)
    if settings.slack_app_token:
        ears.append(listen(settings.slack_app_token, settings.slack_api_base_url, take, left))
        print(f"Slack: Socket Mode{who}.", flush=True)
    return ears
