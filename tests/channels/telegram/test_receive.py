"""Who may speak as Telegram, and who the bot is."""

import asyncio
import subprocess
import sys

import pytest

from bot.channels.telegram.parse import Me
from bot.channels.telegram.receive import Identity, proved
from bot.errors import ConfigError
from tests.channels.canned import canned_platform, unreachable

TOKEN = "777001:" + "A" * 35


@pytest.mark.parametrize("header", [None, "", "wrong", "s3cret ", "S3cret", "s3cre", "s3crét\udce9"])
def test_an_update_without_the_right_secret_is_refused(header: str | None) -> None:
    assert not proved("s3cret", header)


@pytest.mark.parametrize("header", [None, "", "anything"])
def test_without_a_configured_secret_everything_is_refused(header: str | None) -> None:
    assert not proved("", header)


def test_an_update_with_the_secret_is_accepted() -> None:
    assert proved("s3cret", "s3cret")


async def test_a_given_user_name_is_used_without_asking() -> None:
    assert await Identity(TOKEN, "@MyBot", unreachable()).me() == Me(777001, "MyBot")


async def test_the_user_name_is_asked_once_however_many_updates_come() -> None:
    async with canned_platform({"ok": True, "result": {"id": 777001, "username": "MyBot"}}) as telegram:
        identity = Identity(TOKEN, base_url=telegram.url)

        assert await asyncio.gather(*(identity.me() for _ in range(5))) == [Me(777001, "MyBot")] * 5
        assert [call.method for call in telegram.calls] == ["getMe"]


async def test_a_telegram_that_can_not_be_asked_leaves_the_name_open_and_is_not_asked_every_time(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with canned_platform({"ok": False}) as telegram:
        identity = Identity(TOKEN, base_url=telegram.url)

        assert [await identity.me(), await identity.me()] == [Me(777001), Me(777001)]
        assert len(telegram.calls) == 1
    assert TOKEN not in caplog.text


async def test_an_unreachable_telegram_leaves_the_name_open(caplog: pytest.LogCaptureFixture) -> None:
    assert await Identity(TOKEN, base_url=unreachable()).me() == Me(777001)
    assert TOKEN not in caplog.text


@pytest.mark.parametrize("token", ["", "abc", ":x", "²:x"])
def test_something_that_is_no_token_is_named_as_such(token: str) -> None:
    with pytest.raises(ConfigError, match="TELEGRAM_BOT_TOKEN"):
        Identity(token)


def test_the_webhook_half_loads_no_sdk() -> None:
    code = "import sys, bot.channels.telegram.receive, bot.channels.slack.receive; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {"telegram", "httpx", "aiohttp", "slack_bolt", "slack_sdk", "markdown_it"} & set(run.stdout.split())
    assert loaded == set()
