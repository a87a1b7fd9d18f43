"""The installation page, in a browser that keeps cookies and follows where it is sent; Slack is the simulator."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest
from yarl import URL

from bot.adapters.key_seal import KeySeal
from bot.adapters.sqlite_store import SQLiteStore
from bot.channels.slack.oauth import opened
from bot.cli.serve import OneDoor
from handlers.door import make_door
from handlers.settings import Settings, read_settings
from handlers.webhook import application
from simulator import serving, slack
from simulator.app import Simulator, serve, slack_base_url
from simulator.deliver import QUICK
from simulator.slack import GRID, SECOND, Slack
from simulator.slack_oauth import CLIENT_ID, CLIENT_SECRET
from simulator.world import Fault
from tests.bots import NoWake
from tests.clock import FakeClock

SECRET = "s" * 32
INSTALLS = {
    "SLACK_CLIENT_ID": CLIENT_ID,
    "SLACK_CLIENT_SECRET": CLIENT_SECRET,
    "SLACK_STATE_SECRET": SECRET,
    "SLACK_SIGNING_SECRET": slack.SIGNING_SECRET,
}


@dataclass
class Visitor:
    """Somebody's browser. ``slack`` is where Slack's page is."""

    session: aiohttp.ClientSession
    bot: str

    async def sees(self, path: str = "/slack/install", language: str = "en") -> tuple[int, str]:
        async with self.session.get(self.bot + path, headers={"Accept-Language": language}) as answer:
            return answer.status, await answer.text()

    async def leaves_for_slack(self) -> str:
        """The address that the page's button leads to."""
        _, page = await self.sees()
        found = re.search(r'href="([^"]+)"', page)
        assert found is not None
        return found[1].replace("&amp;", "&")

    async def answers(self, address: str, **choice: str) -> str:
        """On Slack's page; the address that Slack sends the browser to."""
        async with self.session.post(address, data=choice, allow_redirects=False) as answer:
            assert answer.status == 302
            return answer.headers["Location"]

    async def installs(self, team: str, user: str = "ann") -> tuple[int, str]:
        back = await self.answers(await self.leaves_for_slack(), team=team, user=user)
        return await self.sees(back.removeprefix(self.bot))


@dataclass
class Stage:
    simulator: Simulator
    store: SQLiteStore
    clock: FakeClock
    wake: NoWake
    second: Slack
    grid: Slack
    url: str
    bot: str = ""

    @asynccontextmanager
    async def visitor(self) -> AsyncIterator[Visitor]:
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            yield Visitor(session, self.bot)

    async def token(self, team: str) -> str:
        installation = await self.store.installation(team)
        assert installation is not None
        return (await opened(installation, KeySeal(SECRET))).access

    def app(self, **changed: str) -> OneDoor:
        settings = read_settings({**INSTALLS, "SLACK_API_BASE_URL": slack_base_url(self.url), **changed})
        return OneDoor(make_door(settings, self.store, self.wake, self.clock, KeySeal(SECRET)))


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    clock, wake = FakeClock(time.time()), NoWake()  # a signature is of now
    simulator = Simulator(pace=QUICK, now=clock.now)
    second, grid = simulator.join(SECOND), simulator.join(GRID)
    store = SQLiteStore(tmp_path / "kabar.sqlite3", clock)
    async with serve(simulator) as url:
        stage = Stage(simulator, store, clock, wake, second, grid, url)
        async with serving.serve(application(stage.app())) as stage.bot:
            simulator.oauth.redirect_url = f"{stage.bot}/slack/oauth_redirect"
            simulator.connect(stage.bot)
            yield stage
    store.close()


@pytest.fixture
async def visitor(stage: Stage) -> AsyncIterator[Visitor]:
    async with stage.visitor() as visitor:
        yield visitor


async def test_a_workspace_is_installed_and_only_who_has_the_secret_can_read_its_token(
    stage: Stage, visitor: Visitor, tmp_path: Path
) -> None:
    status, page = await visitor.installs(SECOND.team)

    assert (status, "Kabar is now in Second" in page) == (200, True)
    installation = await stage.store.installation(SECOND.team)
    assert installation is not None
    assert (installation.name, installation.bot, installation.installer) == ("Second", "U1KABAR", "U0ANN")
    assert await stage.token(SECOND.team) == stage.second.bot_token
    files = b"".join(path.read_bytes() for path in tmp_path.iterdir())  # noqa: ASYNC240
    assert SECOND.team.encode() in files and stage.second.bot_token.encode() not in files


async def test_an_organisation_is_installed_as_one(stage: Stage, visitor: Visitor) -> None:
    status, page = await visitor.installs(GRID.team)
    assert (status, "Kabar is now in Grid" in page) == (200, True)
    assert await stage.store.installation(GRID.team) is None
    assert await stage.token(GRID.enterprise) == stage.grid.bot_token


async def test_the_bot_s_owner_hears_of_it_once(stage: Stage, visitor: Visitor) -> None:
    await visitor.installs(SECOND.team)
    [note] = await stage.store.inbox(f"slack:{SECOND.team}")
    assert (note.kind, note.text, note.data, note.sender.id) == ("note", "installed", "Second", "slack:T1SECOND:U0ANN")
    assert stage.wake.woken == [f"slack:{SECOND.team}"]


async def test_what_comes_back_to_another_browser_late_twice_or_changed_installs_nothing(
    stage: Stage, visitor: Visitor
) -> None:
    back = (await visitor.answers(await visitor.leaves_for_slack(), team=SECOND.team, user="ann")).removeprefix(
        stage.bot
    )
    async with stage.visitor() as attacked:
        assert (await attacked.sees(back))[0] == 400
        await attacked.leaves_for_slack()  # has a cookie of its own now
        assert (await attacked.sees(back))[0] == 400
    async with stage.visitor() as attacked:
        attacked.session.cookie_jar.update_cookies({"kabar_install": ""})
        assert (await attacked.sees(back))[0] == 400
    for state in ("", "1", "9" * 30, back.partition("state=")[2][:-1] + "0x", "٣.0"):
        assert (await visitor.sees(f"/slack/oauth_redirect?code=x&state={state}"))[0] == 400
    assert await stage.store.installation(SECOND.team) is None

    status, page = await visitor.sees(back)
    assert status == 200, page
    late = (await visitor.answers(await visitor.leaves_for_slack(), team=GRID.team, user="ann")).removeprefix(stage.bot)
    stage.clock.advance(601)
    assert (await visitor.sees(late))[0] == 400
    assert await stage.store.installation(GRID.enterprise) is None


async def test_a_state_is_good_once_even_for_the_browser_that_has_it(stage: Stage, visitor: Visitor) -> None:
    back = (await visitor.answers(await visitor.leaves_for_slack(), team=SECOND.team, user="ann")).removeprefix(
        stage.bot
    )
    cookies = visitor.session.cookie_jar.filter_cookies(URL(stage.bot))
    answers = []
    for _ in range(2):
        async with aiohttp.ClientSession(cookies={name: each.value for name, each in cookies.items()}) as session:
            answers.append((await Visitor(session, stage.bot).sees(back))[0])
    assert answers == [200, 400]


async def test_who_cancels_is_told_so_in_their_language(stage: Stage, visitor: Visitor) -> None:
    back = (await visitor.answers(await visitor.leaves_for_slack(), cancel="1")).removeprefix(stage.bot)
    status, page = await visitor.sees(back)
    assert (status, "Nothing was installed" in page, 'href="install"' in page) == (400, True, True)
    _, page = await visitor.sees(language="id-ID,id;q=0.9")
    assert "Tambahkan Kabar ke Slack" in page


async def test_a_slack_that_does_not_answer_or_refuses_installs_nothing(stage: Stage, visitor: Visitor) -> None:
    stage.simulator.world.add_fault(Fault("slack", "oauth.v2.access", "cut"))
    status, page = await visitor.installs(SECOND.team)
    assert (status, "did not answer" in page) == (400, True)
    stage.simulator.world.add_fault(Fault("slack", "oauth.v2.access", "error", status=200, error="bad_client_secret"))
    status, page = await visitor.installs(SECOND.team)
    assert (status, "did not accept" in page) == (400, True)
    assert await stage.store.installation(SECOND.team) is None


async def test_the_end_of_an_installation_is_kept_and_a_late_word_of_it_ends_no_new_one(
    stage: Stage, visitor: Visitor
) -> None:
    await visitor.installs(SECOND.team)
    await visitor.installs(GRID.team)
    stage.second.uninstall()
    stage.grid.uninstall()
    await _until(lambda: _gone(stage, SECOND.team, GRID.enterprise))

    before = int(stage.clock.now())
    stage.clock.advance(5)
    await visitor.installs(SECOND.team)
    late = {"type": "app_uninstalled"}
    stage.simulator.events.send_event(
        {"team_id": SECOND.team, "api_app_id": "A", "event": late, "type": "event_callback", "event_time": before}, None
    )
    said = await stage.second.say("D1ANN", "ann", "hi")
    await stage.simulator.world.wait_until(lambda: said.delivery is not None and said.delivery.state == "accepted")
    assert await stage.token(SECOND.team) == stage.second.bot_token


async def test_only_a_signed_word_ends_an_installation(stage: Stage, visitor: Visitor) -> None:
    await visitor.installs(SECOND.team)
    stage.simulator.events.signing_secret = "somebody-else-s"
    stage.second.uninstall()
    await stage.simulator.world.wait_until(lambda: stage.simulator.world.bot.status == "connected")
    body = {"type": "event_callback", "team_id": SECOND.team, "event": {"type": "app_uninstalled"}, "event_time": 2**33}
    async with visitor.session.post(f"{stage.bot}/slack/events", json=body) as answer:
        assert answer.status == 401
    assert await stage.store.installation(SECOND.team) is not None


async def test_the_page_is_shown_in_no_frame_kept_nowhere_and_its_cookie_is_no_script_s(
    stage: Stage, visitor: Visitor
) -> None:
    headers = {"X-Forwarded-Proto": "https"}
    async with visitor.session.get(f"{stage.bot}/slack/install", headers=headers) as answer:
        cookie = answer.headers["Set-Cookie"]
        assert {"HttpOnly", "Max-Age=600", "SameSite=lax"} <= {part.strip() for part in cookie.split(";")}
        assert answer.headers["Cache-Control"] == "no-store"
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]


async def test_an_app_of_one_workspace_has_no_such_page(stage: Stage) -> None:
    one = Settings(slack_bot_token="xoxb-1", slack_signing_secret="x")
    door = OneDoor(make_door(one, stage.store, stage.wake, stage.clock))
    async with serving.serve(application(door)) as url, aiohttp.ClientSession() as session:
        for path in ("install", "oauth_redirect"):
            async with session.get(f"{url}/slack/{path}") as answer:
                assert answer.status == 404


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"SLACK_CLIENT_SECRET": ""}, "SLACK_CLIENT_SECRET"),
        ({"SLACK_STATE_SECRET": "short"}, "32 random characters"),
        ({"SLACK_BOT_TOKEN": "xoxb-1"}, "not both"),
    ],
)
async def test_half_a_set_up_is_named(stage: Stage, changed: dict[str, str], says: str) -> None:
    with pytest.raises(Exception, match=says):
        stage.app(**changed)


async def _gone(stage: Stage, *teams: str) -> bool:
    return [await stage.store.installation(team) for team in teams] == [None] * len(teams)


async def _until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(5):
        while not await holds():
            await asyncio.sleep(0.01)
