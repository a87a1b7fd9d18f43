"""The token of each workspace, renewed before it ends: many processes, one store, and Slack's own rules."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.adapters.dynamodb_store import DynamoDBStore, create_table
from bot.adapters.key_seal import KeySeal
from bot.adapters.sqlite_store import SQLiteStore
from bot.channels.slack.installed import EARLY, KEPT, Installed
from bot.channels.slack.installing import Installing, NotInstalled
from bot.channels.slack.oauth import App
from bot.channels.slack.send import SlackChannel
from bot.errors import ChatClosed, SendLater, StoreUnavailable, TokenGone
from bot.messages import Installation, Place
from bot.ports import Rendered, Seal
from simulator.app import Simulator, serve, slack_base_url
from simulator.deliver import QUICK
from simulator.slack import GRID, SECOND, Slack
from simulator.slack_oauth import CLIENT_ID, CLIENT_SECRET, TOKEN_LASTS
from simulator.world import Fault
from tests.channels.slack.stage import manner
from tests.clock import FakeClock
from tests.emulator import Account

SEAL = KeySeal("s" * 32)
TEAM = SECOND.team
THERE = Place(f"slack:{TEAM}:D1ANN", "D1ANN", team=TEAM)


@dataclass
class Stage:
    simulator: Simulator
    slack: Slack
    grid: Slack
    kept: SQLiteStore | DynamoDBStore
    clock: FakeClock
    app: App

    def process(self, kept: "Watched | None" = None, seal: Seal = SEAL) -> Installed:
        """As a Lambda's execution environment has it that knows nothing yet."""
        return Installed(kept or self.kept, seal, self.app, self.clock.now)

    async def install(self, slack: Slack) -> None:
        installing = Installing(self.app, "s" * 32, self.kept, SEAL, self.clock)
        begun = installing.begin()
        state = begun.address.partition("state=")[2]
        code = self.simulator.oauth.allow(slack, "U0ANN", "chat:write")
        await installing.finish({"state": state, "code": code}, begun.cookie)

    def renewals(self) -> list[str]:
        """What became of each."""
        asked = (call for call in self.simulator.world.calls if call.method == "oauth.v2.access")
        return [call.error or "renewed" for call in asked if call.params.get("grant_type") == "refresh_token"]

    def fault(self, kind: str = "error", **more: object) -> None:
        self.simulator.world.add_fault(Fault("slack", "oauth.v2.access", kind, **more))  # type: ignore[arg-type]


@pytest.fixture(params=["dynamodb", "sqlite"])
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    clock = FakeClock()
    kept: SQLiteStore | DynamoDBStore
    if request.param == "dynamodb":
        aws: Account = request.getfixturevalue("aws")
        create_table(aws.client("dynamodb"), "kabar")
        kept = DynamoDBStore(aws.client("dynamodb"), "kabar", clock)
    else:
        kept = SQLiteStore(tmp_path / "kabar.sqlite3", clock)
    simulator = Simulator(pace=QUICK, now=clock.now)
    simulator.oauth.rotates = True
    second, grid = simulator.join(SECOND), simulator.join(GRID)
    async with serve(simulator) as url:
        app = App(CLIENT_ID, CLIENT_SECRET, slack_base_url(url))
        stage = Stage(simulator, second, grid, kept, clock, app)
        await stage.install(second)
        yield stage
    if isinstance(kept, SQLiteStore):
        kept.close()


async def speaks(stage: Stage, tokens: Installed, place: Place = THERE) -> None:
    channel = SlackChannel(tokens, stage.app.base_url, now=stage.clock.now)
    try:
        await channel.send(place, Rendered("hi"), manner())
    finally:
        await channel.close()


async def test_each_workspace_is_spoken_to_with_its_own_token(stage: Stage) -> None:
    await stage.install(stage.grid)
    tokens = stage.process()
    await speaks(stage, tokens)
    await speaks(stage, tokens, Place("slack:E2GRID:D2ANN", "D2ANN", team="E2GRID"))
    with pytest.raises(ChatClosed, match="not installed"):
        await speaks(stage, tokens, Place("slack:T9:D1ANN", "D1ANN", team="T9"))
    assert [message.markdown_text for message in stage.slack.messages("D1ANN")] == ["hi"]
    assert [message.markdown_text for message in stage.grid.messages("D2ANN")] == ["hi"]


async def test_of_many_processes_one_renews_and_none_is_without_a_token(stage: Stage) -> None:
    old = stage.slack.bot_token
    stage.clock.advance(TOKEN_LASTS - EARLY + 1)
    tokens = await asyncio.gather(*(stage.process().token(TEAM) for _ in range(10)))

    assert stage.renewals() == ["renewed"]
    assert set(tokens) <= {old, stage.slack.bot_token} and stage.slack.bot_token in tokens
    assert await stage.process().token(TEAM) == stage.slack.bot_token
    await speaks(stage, stage.process())


async def test_a_token_is_renewed_again_and_again(stage: Stage) -> None:
    tokens = stage.process()
    for day in range(3):
        stage.clock.advance(TOKEN_LASTS - EARLY + 1)
        await speaks(stage, tokens)
        assert stage.renewals() == ["renewed"] * (day + 1)


async def test_a_token_that_ended_while_nobody_talked_is_renewed_all_the_same(stage: Stage) -> None:
    stage.clock.advance(TOKEN_LASTS * 10)
    with_one = await asyncio.gather(*(stage.process().token(TEAM) for _ in range(5)), return_exceptions=True)
    assert stage.slack.bot_token in with_one
    assert all(each == stage.slack.bot_token or isinstance(each, SendLater) for each in with_one)
    await speaks(stage, stage.process())


async def test_a_process_that_died_while_renewing_is_replaced(stage: Stage) -> None:
    """It had said that it would, and did not ask Slack yet."""
    installation = await stage.kept.installation(TEAM)
    assert installation is not None
    stage.clock.advance(TOKEN_LASTS + 1)
    dead = replace(installation, busy=int(stage.clock.now()) + 60, stamp="dead")
    assert await stage.kept.change_installation(installation.stamp, dead)
    with pytest.raises(SendLater):
        await stage.process().token(TEAM)
    stage.clock.advance(61)
    assert await stage.process().token(TEAM) == stage.slack.bot_token


async def test_while_slack_is_not_to_be_had_the_old_token_serves_to_its_end(stage: Stage) -> None:
    old = stage.slack.bot_token
    stage.clock.advance(TOKEN_LASTS - EARLY + 1)
    stage.fault(times=3, status=500)
    assert await stage.process().token(TEAM) == old
    stage.clock.advance(EARLY)
    with pytest.raises(SendLater):
        await stage.process().token(TEAM)
    stage.clock.advance(61)
    with pytest.raises(SendLater):
        await stage.process().token(TEAM)
    stage.clock.advance(61)
    assert await stage.process().token(TEAM) == stage.slack.bot_token != old


async def test_where_slack_does_not_renew_it_the_app_must_be_installed_again(stage: Stage) -> None:
    stage.clock.advance(TOKEN_LASTS + 1)
    stage.fault(status=200, error="invalid_refresh_token")
    with pytest.raises(TokenGone, match="invalid_refresh_token"):
        await stage.process().token(TEAM)
    await stage.install(stage.slack)
    await speaks(stage, stage.process())


class Watched:
    """The store, told of each write of a claim or of new tokens before it is made."""

    def __init__(self, kept: SQLiteStore | DynamoDBStore) -> None:
        self.kept = kept

    async def claims(self) -> None:
        """May be cancelled here."""

    async def keeps(self, stamp: str, fresh: Installation) -> None:
        """May fail here."""

    async def installation(self, team: str) -> Installation | None:
        return await self.kept.installation(team)

    async def install(self, installation: Installation) -> None:
        await self.kept.install(installation)

    async def change_installation(self, stamp: str, installation: Installation) -> bool:
        if not installation.busy:
            await self.keeps(stamp, installation)
            return await self.kept.change_installation(stamp, installation)
        await self.claims()
        return await self.kept.change_installation(stamp, installation)

    async def uninstall(self, team: str, at: int) -> None:
        await self.kept.uninstall(team, at)

    async def first(self, name: str, until: int) -> bool:
        return await self.kept.first(name, until)


class Shaky(Watched):
    """Its writes of new tokens fail for a while, done or not."""

    def __init__(self, kept: SQLiteStore | DynamoDBStore, failures: int, *, done: bool) -> None:
        super().__init__(kept)
        self._failures = failures
        self._done = done

    async def keeps(self, stamp: str, fresh: Installation) -> None:
        if self._failures:
            self._failures -= 1
            if self._done:
                await self.kept.change_installation(stamp, fresh)
            raise StoreUnavailable("overloaded")


class ShakySeal:
    def __init__(self, failures: int) -> None:
        self._failures = failures

    async def close(self, about: str, data: bytes) -> bytes:
        if self._failures:
            self._failures -= 1
            raise StoreUnavailable("throttled")
        return await SEAL.close(about, data)

    async def open(self, about: str, sealed: bytes) -> bytes:
        return await SEAL.open(about, sealed)


@pytest.mark.parametrize("done", [True, False])
async def test_new_tokens_are_not_lost_where_their_write_fails_for_a_moment(stage: Stage, done: bool) -> None:
    stage.clock.advance(TOKEN_LASTS + 1)
    assert await stage.process(Shaky(stage.kept, 2, done=done)).token(TEAM) == stage.slack.bot_token
    assert await stage.process().token(TEAM) == stage.slack.bot_token
    assert stage.renewals() == ["renewed"]


async def test_new_tokens_are_not_lost_where_they_can_not_be_sealed_for_a_moment(stage: Stage) -> None:
    stage.clock.advance(TOKEN_LASTS + 1)
    assert await stage.process(seal=ShakySeal(2)).token(TEAM) == stage.slack.bot_token
    assert await stage.process().token(TEAM) == stage.slack.bot_token


async def test_a_process_keeps_new_tokens_until_the_store_takes_them(stage: Stage) -> None:
    stage.clock.advance(TOKEN_LASTS + 1)
    tokens = stage.process(Shaky(stage.kept, 5, done=False), ShakySeal(4))
    for _ in range(2):  # three tries of the seal, then the fourth and three of the store
        with pytest.raises(SendLater):
            await tokens.token(TEAM)
    assert await tokens.token(TEAM) == await stage.process().token(TEAM) == stage.slack.bot_token
    assert stage.renewals() == ["renewed"]


async def test_new_tokens_are_kept_although_the_turn_that_needed_them_is_stopped(stage: Stage) -> None:
    class Stopped(Watched):
        async def claims(self) -> None:
            asking.cancel()

    stage.clock.advance(TOKEN_LASTS + 1)
    asking = asyncio.ensure_future(stage.process(Stopped(stage.kept)).token(TEAM))
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert await stage.process().token(TEAM) == stage.slack.bot_token


async def test_new_tokens_are_kept_although_their_process_was_taken_for_dead(stage: Stage) -> None:
    """Lambda freezes a process between two events, for as long as it likes."""

    class Frozen(Watched):
        async def keeps(self, stamp: str, fresh: Installation) -> None:
            if stage.renewals() == ["renewed"]:
                stage.clock.advance(61)
                with pytest.raises(TokenGone, match="invalid_refresh_token"):
                    await stage.process().token(TEAM)

    stage.clock.advance(TOKEN_LASTS + 1)
    assert await stage.process(Frozen(stage.kept)).token(TEAM) == stage.slack.bot_token
    assert stage.renewals() == ["renewed", "invalid_refresh_token"]
    assert await stage.process().token(TEAM) == stage.slack.bot_token


async def test_a_workspace_that_uninstalls_and_installs_again_is_heard_within_a_minute(stage: Stage) -> None:
    tokens = stage.process()
    await speaks(stage, tokens)
    stage.slack.uninstall()
    await stage.kept.uninstall(TEAM, int(stage.clock.now()))
    with pytest.raises(TokenGone, match="token_revoked"):
        await speaks(stage, tokens)
    stage.clock.advance(KEPT + 1)
    with pytest.raises(ChatClosed, match="not installed"):
        await speaks(stage, tokens)
    await stage.install(stage.slack)
    await speaks(stage, tokens)


async def test_tokens_sealed_with_another_secret_are_the_owners_business_and_close_nothing(stage: Stage) -> None:
    other = Installed(stage.kept, KeySeal("o" * 32), stage.app, stage.clock.now)
    with pytest.raises(TokenGone):
        await other.token(TEAM)


async def test_a_code_is_good_once(stage: Stage) -> None:
    installing = Installing(stage.app, "s" * 32, stage.kept, SEAL, stage.clock)
    code = stage.simulator.oauth.allow(stage.slack, "U0ANN", "chat:write")
    outcomes = []
    for _ in range(2):
        begun = installing.begin()
        try:
            await installing.finish({"state": begun.address.partition("state=")[2], "code": code}, begun.cookie)
            outcomes.append("installed")
        except NotInstalled as why:
            outcomes.append(str(why))
    assert outcomes == ["installed", "refused"]
