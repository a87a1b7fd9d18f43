"""Long polling against the local Telegram: what arrives, what is confirmed, and what happens when something fails."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import telegram

from bot.channels.telegram.poll import PAUSE, poll
from bot.channels.telegram.send import telegram_bot
from bot.errors import ConfigError, StoreUnavailable
from bot.messages import Inbound
from simulator.app import Simulator, serve, telegram_base_url
from simulator.deliver import QUICK
from simulator.telegram import ANN_CHAT, TOKEN
from simulator.world import Fault
from tests.clock import FakeClock


class Intake:
    """Keeps what is accepted; fails as often as told to before that."""

    def __init__(self) -> None:
        self.accepted: list[Inbound] = []
        self.failures = 0
        self._more = asyncio.Event()

    async def accept(self, inbound: Inbound) -> None:
        if self.failures:
            self.failures -= 1
            raise StoreUnavailable("no disk")
        self.accepted.append(inbound)
        self._more.set()

    async def wait_for(self, count: int) -> list[str]:
        async with asyncio.timeout(5):
            while len(self.accepted) < count:
                self._more.clear()
                await self._more.wait()
        return [inbound.text or inbound.data or inbound.kind for inbound in self.accepted]


class Stage:
    def __init__(self, simulator: Simulator, url: str) -> None:
        self.telegram = simulator.telegram
        self.world = simulator.world
        self.connect = simulator.connect
        self.url = telegram_base_url(url)
        self.intake = Intake()
        self.clock = FakeClock()

    @asynccontextmanager
    async def polling(self) -> AsyncIterator[None]:
        bot = telegram_bot(TOKEN, self.url)
        task = asyncio.create_task(poll(bot, self.intake.accept, self.clock, take_over=False))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await bot.request.shutdown()

    async def call(self, method: str) -> None:
        """Wait until the bot made this call and heard that it went well."""
        await self.world.wait_until(lambda: any(c.method == method and c.ok for c in self.world.calls))


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    simulator = Simulator(pace=QUICK)
    async with serve(simulator) as url:
        yield Stage(simulator, url)


async def test_what_people_do_arrives_in_order(stage: Stage) -> None:
    await stage.telegram.say(ANN_CHAT, "ann", "before")
    async with stage.polling():
        await stage.intake.wait_for(1)
        said = await stage.telegram.say(ANN_CHAT, "ann", "afta")
        await stage.telegram.edit(ANN_CHAT, "ann", said.id, "after")
        await stage.telegram.block("ann")
        assert await stage.intake.wait_for(4) == ["before", "afta", "after", "left"]


async def test_a_tap_is_acknowledged_at_once(stage: Stage) -> None:
    bot = telegram_bot(TOKEN, stage.url)
    keyboard = telegram.InlineKeyboardMarkup([[telegram.InlineKeyboardButton("Go", callback_data="go:1")]])
    sent = await bot.send_message(ANN_CHAT, "?", reply_markup=keyboard)
    await bot.request.shutdown()
    async with stage.polling():
        await stage.telegram.tap(ANN_CHAT, "ann", sent.message_id)
        assert await stage.intake.wait_for(1) == ["go:1"]
        await stage.call("answerCallbackQuery")


async def test_a_tap_too_old_to_be_acknowledged_counts_all_the_same(stage: Stage) -> None:
    tap = {"id": "1", "from": {"id": 1001, "is_bot": False, "first_name": "Ann"}, "chat_instance": "c", "data": "go:1"}
    button = {"message_id": 3, "date": 0, "chat": {"id": 1001, "type": "private", "first_name": "Ann"}}
    async with stage.polling():
        stage.telegram.push("callback_query", {**tap, "message": button}, ANN_CHAT)
        await stage.telegram.say(ANN_CHAT, "ann", "next")
        assert await stage.intake.wait_for(2) == ["go:1", "next"]


async def test_what_could_not_be_stored_is_not_confirmed_and_comes_again(stage: Stage) -> None:
    stage.intake.failures = 1
    async with stage.polling():
        await stage.telegram.say(ANN_CHAT, "ann", "hi")
        assert await stage.clock.next_sleep() == PAUSE
        assert len(stage.telegram.webhook.pending) == 1
        stage.clock.advance(PAUSE)
        assert await stage.intake.wait_for(1) == ["hi"]


@pytest.mark.parametrize(("fault", "pause"), [((502, 0), PAUSE), ((429, 17), 17)])
async def test_a_telegram_that_fails_is_asked_again_when_it_says(
    stage: Stage, fault: tuple[int, int], pause: float
) -> None:
    status, retry_after = fault
    stage.world.add_fault(Fault("telegram", "getUpdates", "error", status=status, retry_after=retry_after))
    async with stage.polling():
        assert await stage.clock.next_sleep() == pause
        stage.clock.advance(pause)
        await stage.telegram.say(ANN_CHAT, "ann", "hi")
        assert await stage.intake.wait_for(1) == ["hi"]


async def test_a_webhook_that_is_set_is_named_and_can_be_taken_over(stage: Stage) -> None:
    stage.connect("http://127.0.0.1:1")
    bot = telegram_bot(TOKEN, stage.url)
    with pytest.raises(ConfigError, match="take-over"):
        await poll(bot, stage.intake.accept, stage.clock, take_over=False)
    polling = asyncio.create_task(poll(bot, stage.intake.accept, stage.clock, take_over=True))
    await stage.telegram.say(ANN_CHAT, "ann", "hi")
    assert await stage.intake.wait_for(1) == ["hi"]
    polling.cancel()
    await asyncio.gather(polling, return_exceptions=True)
    await bot.request.shutdown()


async def test_a_wrong_token_is_named_as_such(stage: Stage) -> None:
    bot = telegram_bot("1000002:other", stage.url)
    with pytest.raises(ConfigError, match="TELEGRAM_BOT_TOKEN"):
        await poll(bot, stage.intake.accept, stage.clock, take_over=False)
    await bot.request.shutdown()
