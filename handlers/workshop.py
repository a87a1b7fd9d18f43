"""What the worker needs to run turns: the model, the tools and the platforms' clients. Loaded by the worker alone."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct

from bot.access import read_access
from bot.adapters.anthropic_model import AnthropicModel, client
from bot.agent import Agent, Limits
from bot.context import Window
from bot.errors import ConfigError
from bot.ports import Channel, Clock, Store, Wake
from bot.prompt import PromptBuilder
from bot.toolkit import Tool, Toolbox
from bot.tools.calculator import calculator
from bot.tools.current_time import current_time
from bot.turn import Turns
from handlers.settings import Settings

log = logging.getLogger(__name__)


class Workshop(Struct, frozen=True):
    turns: Turns
    channels: dict[str, Channel]
    close: Callable[[], Awaitable[None]]


def make_workshop(
    settings: Settings,
    store: Store,
    wake: Wake,
    clock: Clock,
    *,
    more_channels: Mapping[str, Channel] = MappingProxyType({}),
    more_tools: Sequence[Tool] = (),
) -> Workshop:
    """Raises ConfigError naming what is missing. Made inside the running event loop: its clients belong to it."""
    anthropic = client(_key(settings), settings.anthropic_base_url)
    toolbox = Toolbox([calculator, current_time, *more_tools])
    channels = {**_channels(settings), **more_channels}
    window = Window()
    agent = Agent(
        model=AnthropicModel(anthropic, settings.kabar_model),
        prompts=PromptBuilder(_instructions(settings.kabar_agent_dir), toolbox, settings.kabar_max_tokens),
        toolbox=toolbox,
        clock=clock,
        limits=Limits(model_calls=settings.kabar_max_model_calls),
        window=window,
    )
    access = read_access(settings.kabar_owner, settings.kabar_allowed_users)
    if access.everyone:
        log.warning("KABAR_ALLOWED_USERS=<*> | everybody may talk to this bot, at its owner's cost")
    turns = Turns(
        store=store,
        wake=wake,
        channels=channels,
        agent=agent,
        access=access,
        clock=clock,
        window=window,
    )

    async def close() -> None:
        await anthropic.close()
        for channel in channels.values():
            await channel.close()

    return Workshop(turns, channels, close)


def _key(settings: Settings) -> str:
    if not settings.anthropic_api_key:
        raise ConfigError("Set ANTHROPIC_API_KEY, or try the bot without one: make run.")
    return settings.anthropic_api_key


def _channels(settings: Settings) -> dict[str, Channel]:
    """Only the SDKs of the platforms that are set up are loaded: each costs a start a tenth of a second."""
    channels: dict[str, Channel] = {}
    if settings.telegram_bot_token:
        from bot.channels.telegram.send import TelegramChannel, telegram_bot

        bot = telegram_bot(settings.telegram_bot_token, settings.telegram_api_base_url)
        channels["telegram"] = TelegramChannel(bot)
    if settings.slack_bot_token:
        from bot.channels.slack.send import SlackChannel

        channels["slack"] = SlackChannel(settings.slack_bot_token, settings.slack_api_base_url)
    return channels


def _instructions(folder: str) -> str:
    """The owner's AGENTS.md; none is fine."""
    path = Path(folder) / "AGENTS.md"
    return path.read_text(encoding="utf-8") if path.is_file() else ""
