"""One app in several Slack workspaces, from its installation page to its end: the whole bot, both ways to run it."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest

from bot.cli.serve import OneDoor
from bot.cli.wiring import local
from handlers.settings import read_settings
from handlers.webhook import application
from simulator import serving
from simulator.app import Simulator, serve, slack_base_url
from simulator.deliver import QUICK
from simulator.script import Line, ScriptedModel, scripted, text
from simulator.slack import GRID, SECOND, SIGNING_SECRET, Slack
from simulator.slack_oauth import CLIENT_ID, CLIENT_SECRET
from simulator.world import Message
from tests.cloud import cloud_for
from tests.emulator import Account
from tests.handlers.test_installs import Visitor

Staged = Callable[..., AbstractAsyncContextManager["Stage"]]
OWNER = f"slack:{SECOND.team}:U0BUDI"


@dataclass
class Stage:
    simulator: Simulator
    second: Slack
    grid: Slack
    model: ScriptedModel
    url: str

    async def install(self, workspace: Slack) -> None:
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            status, page = await Visitor(session, self.url).installs(workspace.workspace.team)
        assert status == 200, page

    async def hears(self, workspace: Slack, chat: str, text: str) -> Message:
        """What the bot says there."""

        def fits(message: Message) -> bool:
            return message.is_bot and message.chat == chat and text in (message.markdown_text or message.text)

        return await workspace.wait_for(fits, 20)


@pytest.fixture(params=["cloud", "local"])
def staged(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Staged:
    settings = {
        "SLACK_CLIENT_ID": CLIENT_ID,
        "SLACK_CLIENT_SECRET": CLIENT_SECRET,
        "SLACK_STATE_SECRET": "s" * 32,
        "SLACK_SIGNING_SECRET": SIGNING_SECRET,
    }

    @asynccontextmanager
    async def stage(*script: Line) -> AsyncIterator[Stage]:
        simulator = Simulator(pace=QUICK)
        simulator.oauth.rotates = True
        simulator.world.speak("budi", "en")
        second, grid = simulator.join(SECOND), simulator.join(GRID)
        async with AsyncExitStack() as stack:
            model = await stack.enter_async_context(scripted(*script))
            url = await stack.enter_async_context(serve(simulator))
            if request.param == "local":
                local_settings = read_settings(
                    {
                        **settings,
                        "SLACK_API_BASE_URL": slack_base_url(url),
                        "KABAR_DATA": str(tmp_path / "kabar.sqlite3"),
                        "KABAR_FILES": str(tmp_path / "files"),
                        "ANTHROPIC_BASE_URL": model.url,
                        "KABAR_OWNER": OWNER,
                    }
                )
                bot = await stack.enter_async_context(local(local_settings, grace=5))
                bot_url = await stack.enter_async_context(serving.serve(application(OneDoor(bot.door))))
            else:
                aws: Account = request.getfixturevalue("aws")
                key = aws.client("kms").create_key()["KeyMetadata"]["Arn"]
                secrets = {**settings, "SLACK_BOT_TOKEN": None}
                more = {"KABAR_SEAL_KEY": key, "KABAR_OWNER": OWNER, "KABAR_ALLOWED_USERS": ""}
                cloud = await stack.enter_async_context(
                    cloud_for(aws, url, model.url, monkeypatch, secrets=secrets, more=more)
                )
                bot_url = cloud.url
            simulator.oauth.redirect_url = f"{bot_url}/slack/oauth_redirect"
            simulator.connect(bot_url)
            yield Stage(simulator, second, grid, model, bot_url)

    return stage


async def test_a_workspace_comes_is_let_in_by_the_owner_and_goes(staged: Staged) -> None:
    async with staged(text("Hello Budi."), text("Hello Ann.")) as stage:
        await stage.install(stage.second)
        await stage.second.say("D1BUDI", "budi", "hi")
        await stage.hears(stage.second, "D1BUDI", "Hello Budi.")

        # To have it installed lets nobody in, and the owner's id is one workspace's.
        await stage.install(stage.grid)
        question = await stage.hears(stage.second, "D1BUDI", "Slack workspace Grid")
        assert "slack:E2GRID:U0ANN" in question.markdown_text
        await stage.grid.say("D2ANN", "ann", "hi")
        await stage.hears(stage.grid, "D2ANN", "private")

        await stage.second.tap("D1BUDI", "budi", question.id)
        await stage.hears(stage.second, "D1BUDI", "a member now")
        await stage.hears(stage.grid, "D2ANN", "has let you in")
        root = await stage.grid.say("C2GENERAL", "ann", "@Kabar hello")
        answer = await stage.hears(stage.grid, "C2GENERAL", "Hello Ann.")
        assert answer.thread == root.id
        await stage.simulator.world.wait_until(lambda: not answer.streaming, timeout=20)

        # What was on its way when the app was removed ends without a word.
        stage.grid.uninstall()
        said = len(stage.grid.messages("D2ANN"))
        late = await stage.grid.say("D2ANN", "ann", "/help")
        await stage.simulator.world.wait_until(lambda: late.delivery is not None and late.delivery.state == "accepted")
        await stage.second.say("D1BUDI", "budi", "/help")
        await stage.hears(stage.second, "D1BUDI", "/kabar new")
        assert len(stage.grid.messages("D2ANN")) == said + 1
