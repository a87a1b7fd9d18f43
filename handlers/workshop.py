"""What the worker needs to run turns: the model, the tools and the platforms' clients. Loaded by the worker alone."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct

from bot.access import read_access
from bot.adapters.file_reader import FileReader
from bot.adapters.local_sandbox import LocalSandbox
from bot.adapters.transcription import Transcription
from bot.agent import Agent, Limits
from bot.agentdir.folder import Owned, read_folder
from bot.agentdir.skills import Skill
from bot.approvals import Gate
from bot.attachments import Attachments
from bot.beginning import Beginnings
from bot.budget import Budget
from bot.context import marks
from bot.doorstep import Doorstep
from bot.errors import ConfigError
from bot.examining import Check, Examine
from bot.folding import Folding
from bot.history import DELEGATE
from bot.illustrated import Illustrated
from bot.keeping import DAY
from bot.listening import Listening
from bot.mcp.prompts import NO_PROMPTS
from bot.mcp.servers import Servers
from bot.pages import Pages
from bot.peers import Peer
from bot.people import People
from bot.policies.compact import Compact
from bot.policies.summarise import Summarise
from bot.policies.window import Window
from bot.ports import Blobs, Channel, Clock, Model, Policy, ProviderFiles, Scheduler, Seal, Wake
from bot.produced import Produced
from bot.prompt import PromptBuilder
from bot.provided import CODE, server_tools
from bot.reminding import Reminders
from bot.sandbox.port import Sandbox
from bot.toolkit import Tool, Toolbox
from bot.tools.calculator import calculator
from bot.tools.current_time import current_time
from bot.tools.files import list_files, read_file, search_files, send_file, write_file
from bot.tools.memory import forget_fact, remember
from bot.tools.remind import reminder_tools
from bot.tools.reopen import reopen
from bot.tools.run_python import run_python
from bot.tools.skill import skill_tool
from bot.tools.upload_files import upload_files
from bot.tools.web_fetch import web_fetch_tool
from bot.tools.web_search import web_search_tool
from bot.turn import Turns
from bot.version import VERSION
from handlers.delegation import delegation
from handlers.door import NO_SEAL, Keeper
from handlers.provider import Provider
from handlers.settings import Settings, many_workspaces, models, names

if TYPE_CHECKING:
    from bot.channels.slack.calls import Tokens

CHEAPEST = "claude-haiku-5-5"
MOST_SUMMED_UP = 200_000
"""Characters of a conversation that one call sums up: below the prompt size from which Claude's cheapest costs more."""

TOOLS = (
    *(calculator, current_time, forget_fact, list_files, read_file, remember, reopen, search_files, send_file),
    *(write_file,),
)
BUILT_IN = frozenset(
    {tool.name for tool in TOOLS}
    | {"ask_agent", "cancel_reminder", "list_reminders", "remind", "run_python", "set_time_zone", "skill"}
    | {"upload_files", "web_fetch", "web_search"}
)
"""The names of all tools of ours, also those that are made only with what they need."""
TAKEN = BUILT_IN | {DELEGATE, CODE}
"""What a server's tool can not be called."""

log = logging.getLogger(__name__)


Refit = Callable[[Sequence[Tool]], Sequence[Tool]]


def unchanged(tools: Sequence[Tool]) -> Sequence[Tool]:
    return tools


class Parts(Struct, frozen=True):
    """What differs between AWS and a laptop."""

    store: Keeper
    blobs: Blobs
    wake: Wake
    scheduler: Scheduler
    sandbox: Sandbox
    clock: Clock
    values: Mapping[str, str] = {}
    """The environment and the secrets: what ``${NAME}`` in the owner's files may mean."""
    servers: Servers | None = None
    seal: Seal | None = None
    """None where nothing can be sealed: a Slack app in many workspaces needs it."""


class Workshop(Struct, frozen=True):
    turns: Turns
    channels: dict[str, Channel]
    close: Callable[[], Awaitable[None]]


def make_workshop(
    settings: Settings,
    parts: Parts,
    *,
    more_channels: Mapping[str, Channel] = MappingProxyType({}),
    more_tools: Sequence[Tool] = (),
    refit: Refit = unchanged,
) -> Workshop:
    """Raises ConfigError naming what is missing. Made inside the running event loop: its clients belong to it.

    ``refit`` has the last word on the tools, the subagents' too: an evaluation leaves some out, or puts others in
    their place.
    """
    store, blobs, wake, clock = parts.store, parts.blobs, parts.wake, parts.clock
    provider = Provider(settings)
    facts = provider.facts(settings.kabar_model)
    transcription = _transcription(settings)
    reader = FileReader(transcription)
    reminders = Reminders(store, parts.scheduler)
    theirs = parts.servers.tools(TAKEN | {tool.name for tool in more_tools}) if parts.servers else []
    known = BUILT_IN | {tool.name for tool in (*more_tools, *theirs)}
    owned = _owned(settings.kabar_agent_dir, known, parts.values)
    web = [*_web_tools(settings, reader, more_tools), *_peer_tools(owned.peers)]
    skills = [skill_tool(owned.skills)] if owned.skills else []
    remote = provider.files()
    hands = (*reminder_tools(reminders), *_python(settings, parts.sandbox, reader, owned.skills, remote), *skills)
    tools = [*TOOLS, *hands, *web, *more_tools, *theirs]
    channels = {**_channels(settings, parts), **more_channels}
    attachments = Attachments(channels, blobs, reader, clock)
    access = read_access(settings.kabar_owner, settings.kabar_allowed_users, exact=many_workspaces(settings))
    people = People(store, channels, access, clock)
    listening = Listening(people, attachments)

    def illustrated(name: str) -> Model:
        return Illustrated(provider.model(name), blobs)

    gate = Gate(
        asks=names(settings.kabar_ask_first),
        never=names(settings.kabar_never_ask),
        approvers=names(settings.kabar_approvers),
        guests=names(settings.kabar_guest_tools),
    )
    cheaper = illustrated(settings.kabar_cheaper_model) if settings.kabar_cheaper_model else None
    tools += delegation(
        settings,
        owned.agents,
        refit(tools),
        provider,
        illustrated,
        usual=settings.kabar_cheaper_model or summary_model(settings.kabar_model),
        cheaper=cheaper,
        policy=_own_policy(settings, provider),
        listening=listening,
        gate=gate,
        clock=clock,
    )
    toolbox = Toolbox(refit(tools))
    max_tokens = min(settings.kabar_max_tokens, facts.output)
    prompts = PromptBuilder(
        owned.instructions.text,
        toolbox,
        max_tokens,
        caching=facts.caching,
        read=facts.read,
        server_tools=server_tools(facts),
    )
    limits = marks(facts.context, max_tokens, settings.kabar_context_tokens)
    policy = _policy(settings, provider)
    folding = Folding(prompts, policy, limits)
    if access.everyone:
        log.warning("KABAR_ALLOWED_USERS=<*> | everybody may talk to this bot, at its owner's cost")
    budget = _budget(settings)
    agent = Agent(
        model=illustrated(settings.kabar_model),
        prompts=prompts,
        toolbox=toolbox,
        clock=clock,
        limits=Limits(model_calls=settings.kabar_max_model_calls),
        folding=folding,
        listening=listening,
        gate=gate,
        cheaper=cheaper,
        others={name: illustrated(name) for name in models(settings)},
    )
    doorstep = Doorstep(store, wake, access, clock)
    about = f"Kabar {VERSION}, {settings.kabar_model}"
    pages = Pages(store, blobs, doorstep, reminders, budget, clock, people, about=about)
    beginnings = Beginnings(
        store,
        clock,
        budget,
        listening,
        pages,
        models=models(settings),
        follows=settings.kabar_follow_threads == "on",
        prompts=parts.servers.prompts() if parts.servers else NO_PROMPTS,
    )
    turns = Turns(
        store=store,
        wake=wake,
        channels=channels,
        agent=agent,
        beginnings=beginnings,
        clock=clock,
        folding=folding,
        blobs=blobs,
        budget=budget,
        reminders=reminders,
        produced=Produced(remote),
        keep=settings.kabar_keep_days * DAY,
        examine=_examination(settings, clock),
    )

    async def close() -> None:
        await provider.close()
        if transcription:
            await transcription.close()
        for channel in channels.values():
            await channel.close()

    return Workshop(turns, channels, close)


def _examination(settings: Settings, clock: Clock) -> Examine:
    """It is loaded when somebody asks for it: a start must not wait for that."""

    def examine(language: str) -> AsyncGenerator[Sequence[Check], None]:
        from handlers.doctor.inside import examination

        return examination(settings, clock)(language)

    return examine


def local_sandbox(settings: Settings) -> LocalSandbox:
    folder = settings.kabar_python_packages
    return LocalSandbox(Path(folder) if folder else None)


def _python(
    settings: Settings, sandbox: Sandbox, reader: FileReader, skills: Sequence[Skill], remote: ProviderFiles | None
) -> list[Tool]:
    """Our own, and what goes with the provider's: of both a model gets what it can use (``bot/shaping.py``)."""
    tools = [run_python(sandbox, reader, skills)] if settings.kabar_python in ("", "own") else []
    if remote is None and settings.kabar_python == "provider":
        log.warning("KABAR_PYTHON=<provider> | the provider of this model runs no code, so there is no Python")
    return [*tools, upload_files(remote, skills)] if remote else tools


def _web_tools(settings: Settings, reader: FileReader, others: Sequence[Tool]) -> list[Tool]:
    """Those that nobody brings along: the simulator has a web of its own."""
    taken = {tool.name for tool in others}
    search = web_search_tool(settings.kabar_tavily_key, settings.kabar_tavily_base_url)
    return [tool for tool in (search, web_fetch_tool(reader)) if tool.name not in taken]


def _peer_tools(peers: Sequence[Peer]) -> list[Tool]:
    """What asks them; its library is loaded only where there are any."""
    if not peers:
        return []
    from bot.tools.ask_agent import ask_agent_tool

    return [ask_agent_tool(peers)]


def _transcription(settings: Settings) -> Transcription | None:
    if not settings.kabar_transcription_url:
        return None
    model = settings.kabar_transcription_model
    return Transcription(settings.kabar_transcription_url, settings.kabar_transcription_key, model)


def _policy(settings: Settings, provider: Provider) -> Policy:
    """How a long conversation is made shorter."""
    own = _own_policy(settings, provider)
    compacts = settings.kabar_context_policy == "compact" and provider.facts(settings.kabar_model).compaction
    return Compact(provider.model(settings.kabar_model), own) if compacts else own


def _own_policy(settings: Settings, provider: Provider) -> Policy:
    """The same without the help of the model's provider."""
    if settings.kabar_context_policy == "window":
        return Window()
    name = settings.kabar_summary_model or summary_model(settings.kabar_model)
    # Two bytes for a token is less than most languages need; the rest is for instructions and the summary itself.
    return Summarise(provider.model(name), min(provider.facts(name).context, MOST_SUMMED_UP))


def summary_model(model: str) -> str:
    """What writes the summaries of conversations with this model: Claude's cheapest where it is a Claude, reached the
    same way, else the same one."""
    prefix, name, _ = model.rpartition("claude-")
    return f"{prefix}{CHEAPEST}" if name else model


def _budget(settings: Settings) -> Budget:
    return Budget(
        person_day=_millionths(settings.kabar_budget_person_day),
        guest_day=_millionths(settings.kabar_budget_guest_day),
        chat_day=_millionths(settings.kabar_budget_chat_day),
        day=_millionths(settings.kabar_budget_day),
        month=_millionths(settings.kabar_budget_month),
        turns_a_minute=settings.kabar_messages_per_minute or None,
        cheaper=bool(settings.kabar_cheaper_model),
    )


def _millionths(dollars: float) -> int | None:
    return round(dollars * 1_000_000) or None


def _channels(settings: Settings, parts: Parts) -> dict[str, Channel]:
    """Only the SDKs of the platforms that are set up are loaded: each costs a start a tenth of a second."""
    channels: dict[str, Channel] = {}
    if settings.telegram_bot_token:
        from bot.channels.telegram.send import TelegramChannel, telegram_bot

        bot = telegram_bot(settings.telegram_bot_token, settings.telegram_api_base_url)
        channels["telegram"] = TelegramChannel(bot, drafts=settings.kabar_telegram_drafts == "on")
    if settings.slack_bot_token or many_workspaces(settings):
        from bot.channels.slack.home import welcome
        from bot.channels.slack.send import SlackChannel

        channels["slack"] = SlackChannel(_slack_tokens(settings, parts), settings.slack_api_base_url, greeting=welcome)
    if settings.kabar_a2a_keys:
        from bot.channels.a2a.send import A2AChannel

        channels["a2a"] = A2AChannel(parts.blobs)
    return channels


def _slack_tokens(settings: Settings, parts: Parts) -> "Tokens":
    """One workspace's, or those of all that installed the app."""
    from bot.channels.slack.calls import OneToken

    if not many_workspaces(settings):
        return OneToken(settings.slack_bot_token)
    from bot.channels.slack.installed import Installed
    from bot.channels.slack.oauth import App

    if parts.seal is None:
        raise ConfigError(NO_SEAL)
    app = App(settings.slack_client_id, settings.slack_client_secret, settings.slack_api_base_url)
    return Installed(parts.store, parts.seal, app, parts.clock.now)


def _owned(folder: str, tools: Collection[str], values: Mapping[str, str]) -> Owned:
    """What the owner wrote; what can not be used of it is told here and by ``kabar check``."""
    owned = read_folder(Path(folder), tools, values)
    for fault in owned.faults:
        log.warning("folder=<%s> | %s", folder, fault)
    return owned
