"""A set-up in which nothing is wrong, and the knobs to make it wrong: both local platforms, a model, a real webhook."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.adapters.local_wake import LocalWake
from bot.adapters.sqlite_store import SQLiteStore
from bot.channels.slack.manifest import manifest
from bot.cli.doctor import indonesian as terminal
from bot.cli.doctor.command import Wanted, diagnosed
from bot.cli.serve import OneDoor
from bot.clock import SystemClock
from bot.examining import Check
from bot.ports import Clock
from handlers.doctor import indonesian as inside
from handlers.door import make_door
from handlers.settings import Settings, read_settings
from handlers.webhook import application
from simulator import serving, slack, telegram
from simulator.app import Simulator, serve, slack_base_url, telegram_base_url
from simulator.deliver import QUICK
from simulator.model import ModelServer
from simulator.model_reply import Step
from simulator.model_rules import Json
from simulator.script import reply, text

MODEL = Settings().kabar_model
KEY = "key-of-the-stage"
SECRETS = (
    KEY,
    telegram.TOKEN,
    telegram.SECRET,
    slack.BOT_TOKEN,
    slack.APP_TOKEN,
    slack.SIGNING_SECRET,
    slack.CONFIG_TOKEN,
)


SAME = {"bucket", "data", "model", "webhook", "worker"}
"""Names of checks in both languages."""
ENGLISH = re.compile(r"\b(and|for|is|it|its|not|of|that|the|there|to|with)\b", re.IGNORECASE)
QUOTED = re.compile(r"/\S+|Wrong response from the webhook: [^(]+|file is not a database|Nothing reads it: .+\.md\.")
"""What is shown as it is: paths, and what Telegram, SQLite and ``kabar check`` say."""


def english_in(check: Check) -> list[str]:
    """What is left of English in a check that is told in Indonesian."""
    told = terminal.INDONESIAN.check(check)
    named = {*inside.NAMES, *terminal.NAMES, *SAME, f"model {check.name.removeprefix('model ')}"}
    unnamed = [] if check.name in named else [check.name]
    return [*unnamed, *ENGLISH.findall(QUOTED.sub("", f"{told.says} {told.next}"))]


class Stage:
    """``values`` are the environment of the bot under examination. ``answer`` is what the model says to anything."""

    def __init__(self, simulator: Simulator, folder: Path) -> None:
        self.simulator = simulator
        self.folder = folder
        self.values: dict[str, str] = {}
        self.wanted = Wanted()
        self.clock: Clock = SystemClock()
        self.answer: Step = reply(text("ok"))

    def play(self, request: Json) -> Step:
        return self.answer

    async def checks(self) -> list[Check]:
        return await diagnosed(read_settings(self.values), self.wanted, self.values, self.clock)

    async def check(self, name: str) -> Check:
        found = {each.name: each for each in await self.checks()}
        assert name in found, f"no check {name!r} among {sorted(found)}"
        return found[name]


@asynccontextmanager
async def polling(folder: Path) -> AsyncIterator[Stage]:
    """As for ``kabar run``: no webhook, Socket Mode."""
    simulator = Simulator(pace=QUICK)
    simulator.slack.manifest = manifest()
    stage = Stage(simulator, folder)
    (folder / "agent").mkdir()
    (folder / "agent/AGENTS.md").write_text("You are Kabar.")
    model = ModelServer(stage.play, keys=(KEY,), models=(MODEL, "claude-haiku-5-5"))
    async with serve(simulator) as url, serving.serve(model.app) as model_url:
        stage.values = {
            "TELEGRAM_API_BASE_URL": telegram_base_url(url),
            "TELEGRAM_BOT_TOKEN": telegram.TOKEN,
            "SLACK_API_BASE_URL": slack_base_url(url),
            "SLACK_BOT_TOKEN": slack.BOT_TOKEN,
            "SLACK_APP_TOKEN": slack.APP_TOKEN,
            "SLACK_CONFIG_TOKEN": slack.CONFIG_TOKEN,
            "ANTHROPIC_BASE_URL": model_url,
            "ANTHROPIC_API_KEY": KEY,
            "KABAR_PROVIDER": "anthropic",
            "KABAR_OWNER": "telegram:1001",
            "KABAR_AGENT_DIR": str(folder / "agent"),
            "KABAR_DATA": str(folder / "kabar.sqlite3"),
        }
        yield stage


@asynccontextmanager
async def webhooks(folder: Path) -> AsyncIterator[Stage]:
    """As for ``kabar serve``: the real webhook answers at the address that Telegram delivers to."""
    async with polling(folder) as stage:
        del stage.values["SLACK_APP_TOKEN"]
        stage.values["TELEGRAM_WEBHOOK_SECRET"] = telegram.SECRET
        stage.values["SLACK_SIGNING_SECRET"] = slack.SIGNING_SECRET
        async with webhook_at(stage) as url:
            stage.wanted = Wanted(url=url)
            stage.simulator.connect(url)
            point_at(stage, f"{url}/slack/events")
            yield stage


def point_at(stage: Stage, url: str) -> None:
    """Have the app send all it sends to this address."""
    app = stage.simulator.slack.manifest
    app["settings"]["socket_mode_enabled"] = False
    for part in (app["settings"]["event_subscriptions"], app["settings"]["interactivity"]):
        part["request_url"] = url
    app["features"]["slash_commands"][0]["url"] = url


@asynccontextmanager
async def webhook_at(stage: Stage) -> AsyncIterator[str]:
    """A bot's webhook with the settings of now, whatever is changed in them later."""
    clock = SystemClock()
    store = SQLiteStore(str(stage.folder / "kabar.sqlite3"), clock)
    wake = LocalWake(_nothing, clock, at_once=1)
    try:
        app = application(OneDoor(make_door(read_settings(stage.values), store, wake, clock)))
        async with serving.serve(app) as url:
            yield url
    finally:
        await asyncio.shield(wake.stop(0))
        store.close()


async def _nothing(conversation: str) -> float | None:
    return None
