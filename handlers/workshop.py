"""What the worker needs to run turns: the model, the tools and the platforms' clients. Loaded by the worker alone."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct

from bot.access import read_access
from bot.agent import Agent, Limits
from bot.budget import Budget
from bot.context import marks
from bot.folding import Folding
from bot.policies.compact import Compact
from bot.policies.summarise import Summarise
from bot.policies.window import Window
from bot.ports import Channel, Clock, Policy, Store, Wake
from bot.prompt import PromptBuilder
from bot.toolkit import Tool, Toolbox
from bot.tools.calculator import calculator
from bot.tools.current_time import current_time
from bot.tools.reopen import reopen
from bot.turn import Turns
from handlers.provider import Provider
from handlers.settings import Settings

CHEAPEST = "claude-haiku-5-5"
MOST_SUMMED_UP = 200_000
"""Characters of a conversation that one call sums up: below the prompt size from which Claude's cheapest costs more."""

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
    provider = Provider(settings)
    facts = provider.facts(settings.kabar_model)
    toolbox = Toolbox([calculator, current_time, reopen, *more_tools])
    channels = {**_channels(settings), **more_channels}
    max_tokens = min(settings.kabar_max_tokens, facts.output)
    prompts = PromptBuilder(_instructions(settings.kabar_agent_dir), toolbox, max_tokens, caching=facts.caching)
    limits = marks(facts.context, max_tokens, settings.kabar_context_tokens)
    policy = _policy(settings, provider)
    folding = Folding(prompts, policy, limits)
    agent = Agent(
        model=provider.model(settings.kabar_model),
        prompts=prompts,
        toolbox=toolbox,
        clock=clock,
        limits=Limits(model_calls=settings.kabar_max_model_calls),
        folding=folding,
        cheaper=provider.model(settings.kabar_cheaper_model) if settings.kabar_cheaper_model else None,
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
        folding=folding,
        budget=_budget(settings),
    )

    async def close() -> None:
        await provider.close()
        for channel in channels.values():
            await channel.close()

    return Workshop(turns, channels, close)


def _policy(settings: Settings, provider: Provider) -> Policy:
    """How a long conversation is made shorter."""
    if settings.kabar_context_policy == "window":
        return Window()
    name = settings.kabar_summary_model or summary_model(settings.kabar_model)
    # Two bytes for a token is less than most languages need; the rest is for instructions and the summary itself.
    summarise = Summarise(provider.model(name), min(provider.facts(name).context, MOST_SUMMED_UP))
    compacts = settings.kabar_context_policy == "compact" and provider.facts(settings.kabar_model).compaction
    return Compact(provider.model(settings.kabar_model), summarise) if compacts else summarise


def summary_model(model: str) -> str:
    """What writes the summaries of conversations with this model: Claude's cheapest where it is a Claude, reached the
    same way, else the same one."""
    prefix, name, _ = model.rpartition("claude-")
    return f"{prefix}{CHEAPEST}" if name else model


def _budget(settings: Settings) -> Budget:
    return Budget(
        person_day=_millionths(settings.kabar_budget_person_day),
        chat_day=_millionths(settings.kabar_budget_chat_day),
        day=_millionths(settings.kabar_budget_day),
        month=_millionths(settings.kabar_budget_month),
        turns_a_minute=settings.kabar_messages_per_minute or None,
        cheaper=bool(settings.kabar_cheaper_model),
    )


def _millionths(dollars: float) -> int | None:
    return round(dollars * 1_000_000) or None


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
