"""Both platforms and a model's provider as a person finds them before there is a bot, and that person at a terminal."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from dotenv import dotenv_values

from bot.cli.setup.command import Wanted, setup
from handlers.settings import Settings
from simulator import serving, slack, telegram
from simulator.app import Simulator, serve, slack_base_url, telegram_base_url
from simulator.deliver import QUICK
from simulator.model import ModelServer
from simulator.model_reply import Step
from simulator.model_rules import Json
from simulator.script import reply, text
from tests.cli.typist import Typist, at_terminal, sitting

ROOT = Path(__file__).parents[3]
KEY = "sk-ant-key-of-the-stage"
MODEL = Settings().kabar_model
CHEAP = "claude-haiku-5-5"
SIGNING_SECRET = "0123456789abcdef0123456789abcdef"
SECRETS = (KEY, telegram.TOKEN, slack.BOT_TOKEN, slack.APP_TOKEN, SIGNING_SECRET)
ANN, BUDI = "1001", "1002"


class Stage:
    """``settings`` are what the process is started with: where the platforms are. ``answer`` is what the model says to
    anything. ``file`` is what setup writes."""

    def __init__(self, simulator: Simulator, folder: Path) -> None:
        self.simulator = simulator
        self.folder = folder
        self.file = folder / ".env"
        self.settings: dict[str, str] = {}
        self.answer: Step = reply(text("Hello."))

    def play(self, request: Json) -> Step:
        return self.answer

    def kept(self) -> dict[str, str]:
        return {name: value or "" for name, value in dotenv_values(self.file).items()}

    def process(self, *arguments: str) -> AbstractAsyncContextManager[Typist]:
        return at_terminal(self.folder, "setup", *arguments, settings=self.settings)

    def sitting(self, wanted: Wanted | None = None) -> AbstractAsyncContextManager[Typist]:
        """In this process, whose working folder must be the stage's."""
        return sitting(lambda terminal: setup(wanted or Wanted(), self.settings, terminal))

    async def sends(self, person: str, words: str) -> None:
        """This person writes to the bot in Telegram."""
        await self.simulator.telegram.say(person, {ANN: "ann", BUDI: "budi"}[person], words)


@asynccontextmanager
async def before_anything(folder: Path) -> AsyncIterator[Stage]:
    """A folder without a file .env."""
    simulator = Simulator(pace=QUICK)
    stage = Stage(simulator, folder)
    model = ModelServer(stage.play, keys=(KEY,), models=(MODEL, CHEAP))
    async with serve(simulator) as url, serving.serve(model.app) as model_url:
        stage.settings = {
            "LANG": "en_US.UTF-8",
            "TELEGRAM_API_BASE_URL": telegram_base_url(url),
            "SLACK_API_BASE_URL": slack_base_url(url),
            "ANTHROPIC_BASE_URL": model_url,
            "KABAR_PROVIDER": "anthropic",
            "KABAR_AGENT_DIR": str(ROOT / "agent"),
        }
        yield stage
