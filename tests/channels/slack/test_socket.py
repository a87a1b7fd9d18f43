"""Events through an open socket: taken, and acknowledged only once they are stored."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from bot.channels.slack.parse import Departed
from bot.channels.slack.socket import listen
from bot.errors import ConfigError, StoreUnavailable
from bot.messages import Inbound
from simulator.app import slack_base_url
from simulator.deliver import QUICK
from simulator.slack import ANN_DM, APP_TOKEN, BOT_TOKEN, GENERAL, TEAM
from tests.channels.slack.stage import Stage, staged


class Ears:
    """Hears what a bot would store, and fails as often as ``failures`` says."""

    def __init__(self) -> None:
        self.heard: asyncio.Queue[Inbound] = asyncio.Queue()
        self.left: asyncio.Queue[Departed] = asyncio.Queue()
        self.failures = 0

    async def accept(self, inbound: Inbound) -> None:
        self.heard.put_nowait(inbound)
        if self.failures:
            self.failures -= 1
            raise StoreUnavailable("overloaded")

    async def leave(self, gone: Departed) -> None:
        self.left.put_nowait(gone)

    async def next(self) -> Inbound:
        return await asyncio.wait_for(self.heard.get(), 5)


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with staged() as stage:
        yield stage


@pytest.fixture
async def ears(stage: Stage) -> AsyncIterator[Ears]:
    ears = Ears()
    listening = asyncio.create_task(listen(APP_TOKEN, slack_base_url(stage.url), ears.accept, ears.leave))
    await stage.simulator.world.wait_until(lambda: stage.simulator.events.sockets)
    yield ears
    listening.cancel()
    with suppress(asyncio.CancelledError):
        await listening


async def test_every_way_to_the_bot_comes_through_the_socket(stage: Stage, ears: Ears) -> None:
    said = await stage.slack.say(ANN_DM, "ann", "hi")
    assert ((await ears.next()).text, said.id) == ("hi", said.id)
    await stage.slack.command(GENERAL, "ann", "usage")
    command = await ears.next()
    assert (command.command, command.quiet, command.sent_at > 0) == ("usage", True, True)
    await stage.slack.shortcut(ANN_DM, "ann", said.id)
    pointed = await ears.next()
    assert pointed.quote is not None and pointed.quote.text == "hi"
    await stage.slack.open_home("ann", "messages")
    assert (await ears.next()).kind == "opened"


async def test_the_end_of_an_installation_comes_through_it_too(stage: Stage, ears: Ears) -> None:
    now = int(stage.clock.now())
    stage.slack.uninstall()
    assert [await asyncio.wait_for(ears.left.get(), 5) for _ in range(2)] == [Departed(TEAM, now)] * 2


async def test_what_could_not_be_stored_comes_again(stage: Stage, ears: Ears) -> None:
    stage.simulator.events.pace = QUICK.__class__(slack_timeout=0.2, slack_delays=(0.01,))
    ears.failures = 1
    said = await stage.slack.say(ANN_DM, "ann", "hi")

    assert (await ears.next()).id == (await ears.next()).id == said.id
    await stage.simulator.world.wait_until(lambda: said.delivery is not None and said.delivery.state == "accepted")


async def test_a_token_that_slack_refuses_is_told_to_the_owner(stage: Stage) -> None:
    with pytest.raises(ConfigError, match="SLACK_APP_TOKEN"):
        await listen(BOT_TOKEN, slack_base_url(stage.url), Ears().accept, Ears().leave)
