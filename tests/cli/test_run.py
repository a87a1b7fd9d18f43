"""``kabar run``: long polling and Socket Mode against the local platforms, and what it says where it can not start."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from simulator import slack, telegram
from simulator.app import Simulator, serve, slack_base_url, telegram_base_url
from simulator.deliver import PATIENT
from simulator.script import scripted, text
from simulator.world import Fault
from tests.cli.process import WAIT, kabar

ANN = "1001"


@asynccontextmanager
async def platforms() -> AsyncIterator[tuple[Simulator, dict[str, str]]]:
    """Both platforms without webhooks, and the settings of a bot that listens to them."""
    simulator = Simulator(pace=PATIENT)
    async with serve(simulator) as url:
        yield (
            simulator,
            {
                "TELEGRAM_API_BASE_URL": telegram_base_url(url),
                "TELEGRAM_BOT_TOKEN": telegram.TOKEN,
                "SLACK_API_BASE_URL": slack_base_url(url),
                "SLACK_BOT_TOKEN": slack.BOT_TOKEN,
                "SLACK_APP_TOKEN": slack.APP_TOKEN,
                "KABAR_ALLOWED_USERS": "*",
                "ANTHROPIC_API_KEY": "k",
            },
        )


async def test_both_platforms_are_heard_and_answered(tmp_path: Path) -> None:
    async with (
        platforms() as (simulator, settings),
        scripted(text("Hello."), text("Hi."), text("Soon.")) as model,
        kabar(tmp_path, "run", settings={**settings, "ANTHROPIC_BASE_URL": model.url}),
    ):
        await simulator.world.wait_until(lambda: simulator.events.sockets, WAIT)
        await simulator.telegram.say(ANN, "ann", "hello")
        await simulator.telegram.wait_for(lambda seen: seen.is_bot and seen.text == "Hello.", WAIT)
        await simulator.slack.say("D0ANN", "ann", "hi")
        await simulator.slack.wait_for(lambda seen: seen.is_bot and seen.markdown_text == "Hi.", WAIT)
        await simulator.slack.command("D0ANN", "ann", "when is lunch?")
        await simulator.slack.wait_for(lambda seen: seen.is_bot and seen.text == "⏳ when is lunch?", WAIT)
        await simulator.slack.wait_for(lambda seen: seen.is_bot and seen.markdown_text == "Soon.", WAIT)
        await simulator.world.wait_until(lambda: simulator.world.commands, WAIT)


async def test_a_telegram_that_fails_for_a_while_is_asked_again(tmp_path: Path) -> None:
    async with platforms() as (simulator, settings), scripted(text("Hello.")) as model:
        simulator.world.add_fault(Fault("telegram", "getUpdates", "error", status=502, error="Bad Gateway"))
        await simulator.telegram.say(ANN, "ann", "hello")
        only = {**settings, "SLACK_APP_TOKEN": "", "ANTHROPIC_BASE_URL": model.url}
        async with kabar(tmp_path, "run", settings=only) as bot:
            await bot.says("polling again later")
            await simulator.telegram.wait_for(lambda seen: seen.is_bot and seen.text == "Hello.", WAIT)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"TELEGRAM_BOT_TOKEN": "1000001:wrong"}, "Telegram does not know TELEGRAM_BOT_TOKEN"),
        ({"TELEGRAM_BOT_TOKEN": "wrong"}, "must look like 123456:ABC"),
        ({"TELEGRAM_API_BASE_URL": "http://127.0.0.1:9"}, "Telegram can not be reached"),
        ({"TELEGRAM_BOT_TOKEN": "", "SLACK_APP_TOKEN": "xapp-wrong"}, "Slack refuses SLACK_APP_TOKEN (invalid_auth)"),
        ({"TELEGRAM_BOT_TOKEN": "", "SLACK_API_BASE_URL": "http://127.0.0.1:9/"}, "Slack can not be reached"),
        ({"KABAR_LOG_LEVEL": "loud", "KABAR_MAX_TOKENS": "x"}, "KABAR_LOG_LEVEL must be one of"),
        ({"KABAR_ALLOWED_USERS": "", "ANTHROPIC_API_KEY": ""}, "Nobody may talk to this bot yet"),
    ],
)
async def test_a_set_up_that_can_not_work_ends_with_one_plain_sentence(
    tmp_path: Path, wrong: dict[str, str], sentence: str
) -> None:
    async with platforms() as (_, settings), kabar(tmp_path, "run", settings={**settings, **wrong}) as bot:
        assert await bot.ends() == 1
        assert "kabar: " in bot.output
        assert sentence in bot.output
        assert "Traceback" not in bot.output


async def test_a_webhook_that_is_set_is_left_alone_unless_it_is_taken_over(tmp_path: Path) -> None:
    async with platforms() as (simulator, settings), scripted(text("Hello.")) as model:
        simulator.connect("http://127.0.0.1:9")
        only = {**settings, "SLACK_APP_TOKEN": "", "ANTHROPIC_BASE_URL": model.url}
        async with kabar(tmp_path, "run", settings=only) as bot:
            assert await bot.ends() == 1
            assert "kabar run --take-over" in bot.output
        async with kabar(tmp_path, "run", "--take-over", settings=only):
            await simulator.telegram.say(ANN, "ann", "hello")
            await simulator.telegram.wait_for(lambda seen: seen.is_bot and seen.text == "Hello.", WAIT)


async def test_without_a_key_the_demo_model_answers_where_it_is_asked_for(tmp_path: Path) -> None:
    async with platforms() as (simulator, settings):
        keyless = {**settings, "SLACK_APP_TOKEN": "", "ANTHROPIC_API_KEY": ""}
        async with kabar(tmp_path, "run", "--demo", settings=keyless) as bot:
            await bot.says("the demo model answers")
            await simulator.telegram.say(ANN, "ann", "hello")
            await simulator.telegram.wait_for(lambda seen: seen.is_bot and bool(seen.text), WAIT)
