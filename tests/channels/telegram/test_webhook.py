"""The webhook set over plain HTTP, at a Telegram that is not always well."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from bot.channels.telegram.webhook import Webhook
from bot.errors import ConfigError
from simulator import telegram
from simulator.app import Simulator, serve, telegram_base_url
from simulator.world import Fault

ADDRESS = "https://bot.example/telegram"


@pytest.fixture
async def simulator() -> AsyncIterator[tuple[Simulator, Webhook]]:
    simulator = Simulator()
    async with serve(simulator) as url:
        yield simulator, Webhook(telegram.TOKEN, telegram_base_url(url), pauses=(0.0, 0.0))


async def set_webhook(webhook: Webhook) -> None:
    await asyncio.to_thread(webhook.set, ADDRESS, "secret", 500)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (429, "Too Many Requests: retry after 0"),
        (502, "Bad Gateway"),
        (400, "Bad Request: bad webhook: Failed to resolve host: Name or service not known"),
    ],
)
async def test_what_passes_by_itself_is_waited_for(
    simulator: tuple[Simulator, Webhook], status: int, error: str
) -> None:
    world, webhook = simulator
    world.world.add_fault(Fault("telegram", "setWebhook", "error", times=2, status=status, error=error))

    await set_webhook(webhook)

    assert (world.webhook.url, world.webhook.max_connections) == (ADDRESS, 100)


async def test_what_does_not_pass_is_said_in_telegram_s_words(simulator: tuple[Simulator, Webhook]) -> None:
    world, webhook = simulator
    world.world.add_fault(Fault("telegram", "setWebhook", "error", times=3, status=502, error="Bad Gateway"))
    with pytest.raises(ConfigError, match="Telegram refuses setWebhook: Bad Gateway"):
        await set_webhook(webhook)
    with pytest.raises(ConfigError, match="unallowed characters"):
        await asyncio.to_thread(webhook.set, ADDRESS, "not allowed!", 0)


async def test_a_token_that_is_not_known_is_no_reason_to_try_again(simulator: tuple[Simulator, Webhook]) -> None:
    world, webhook = simulator
    world.world.add_fault(Fault("telegram", "getMe", "error", status=401, error="Unauthorized"))

    with pytest.raises(ConfigError, match="does not know TELEGRAM_BOT_TOKEN"):
        await asyncio.to_thread(webhook.username)
    assert await asyncio.to_thread(webhook.username) == "kabar_simulator_bot"
