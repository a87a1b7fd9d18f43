"""``kabar serve``: webhooks over HTTP, killed and started again, and on the cloud's own store and queue."""

import signal
import socket
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
from a2a.client import ClientConfig, create_client

from bot.adapters.dynamodb_store import create_table
from simulator import slack, telegram
from simulator.app import Simulator, serve, slack_base_url, telegram_base_url
from simulator.deliver import QUICK
from simulator.script import reply, scripted, text
from simulator.serving import free_port
from simulator.world import Fault
from tests.channels.a2a.agents import KEYS, http, message, sent, words
from tests.cli.process import WAIT, kabar
from tests.cloud import QUEUE, TABLE
from tests.emulator import Account

ANN = "1001"


@asynccontextmanager
async def platforms(port: int, model_url: str) -> AsyncIterator[tuple[Simulator, dict[str, str]]]:
    """Both platforms, delivering to this port, and the settings of a bot that listens there."""
    simulator = Simulator(pace=QUICK)
    async with serve(simulator) as url:
        simulator.connect(f"http://127.0.0.1:{port}")
        yield (
            simulator,
            {
                "TELEGRAM_API_BASE_URL": telegram_base_url(url),
                "TELEGRAM_BOT_TOKEN": telegram.TOKEN,
                "TELEGRAM_WEBHOOK_SECRET": telegram.SECRET,
                "SLACK_API_BASE_URL": slack_base_url(url),
                "SLACK_BOT_TOKEN": slack.BOT_TOKEN,
                "SLACK_SIGNING_SECRET": slack.SIGNING_SECRET,
                "KABAR_ALLOWED_USERS": "*",
                "ANTHROPIC_BASE_URL": model_url,
            },
        )


def end_leases(folder: Path) -> None:
    """As if the dead process's lease had run out: nothing waits for that in a test."""
    with closing(sqlite3.connect(folder / ".data/kabar.sqlite3", isolation_level=None)) as database:
        database.execute("UPDATE head SET until_ms = min(until_ms, 1)")


async def test_a_process_killed_in_mid_answer_goes_on_in_the_next_and_in_the_same_message(tmp_path: Path) -> None:
    port = free_port()
    begun = reply(text("one two three four five six " * 100), pace=0.05)
    async with scripted(begun, text("All of it.")) as model, platforms(port, model.url) as (simulator, settings):
        async with kabar(tmp_path, "serve", "--port", str(port), settings=settings) as bot:
            await bot.says("Listening on")
            await simulator.telegram.say(ANN, "ann", "count")
            await simulator.telegram.wait_for(lambda seen: seen.is_bot and seen.text.count("two") > 5, WAIT)
        end_leases(tmp_path)
        async with kabar(tmp_path, "serve", "--port", str(port), settings=settings):
            await simulator.telegram.wait_for(lambda seen: seen.is_bot and seen.text == "All of it.", WAIT)
        answers = [seen for seen in simulator.world.messages_of("telegram", ANN) if seen.is_bot]
        assert len(answers) == 1


async def test_several_bots_answer_each_in_its_own_place(tmp_path: Path) -> None:
    port = free_port()
    async with (
        scripted(text("Hello."), text("Hello from lola.")) as model,
        platforms(port, model.url) as (simulator, settings),
        platforms(port, model.url) as (other, its),
    ):
        other.connect(f"http://127.0.0.1:{port}/lola")
        named = {f"LOLA__{name}": its[name] for name in its if name.startswith(("TELEGRAM_", "SLACK_"))}
        settings = {**settings, **named, "KABAR_BOTS": "lola", "LOLA__KABAR_ALLOWED_USERS": "*"}
        async with kabar(tmp_path, "serve", "--port", str(port), settings=settings) as bot:
            await bot.says(f"/lola/telegram and http://127.0.0.1:{port}/lola/slack/events")
            await simulator.telegram.say(ANN, "ann", "hello")
            await simulator.telegram.wait_for(lambda seen: seen.is_bot and seen.text == "Hello.", WAIT)
            await other.telegram.say(ANN, "ann", "hello")
            await other.telegram.wait_for(lambda seen: seen.is_bot and seen.text == "Hello from lola.", WAIT)
    assert (tmp_path / ".data/lola/kabar.sqlite3").exists()


async def test_a_bot_that_is_not_there_is_named(tmp_path: Path) -> None:
    async with kabar(tmp_path, "--bot", "lola", "export", settings={}) as bot:
        assert await bot.ends() == 1
        assert "There is no bot called lola: KABAR_BOTS names none." in bot.output


async def test_it_listens_while_telegram_does_not_answer_and_ends_when_it_is_told_to(tmp_path: Path) -> None:
    port = free_port()
    async with platforms(port, "http://127.0.0.1:9") as (simulator, settings):
        simulator.world.add_fault(Fault("telegram", "setMyCommands", "hang"))
        async with kabar(tmp_path, "serve", "--port", str(port), settings=settings) as bot:
            await bot.says("Listening on")
            assert "menu of commands" not in bot.output
            bot.signal(signal.SIGTERM)
            assert await bot.ends() == 0


async def test_on_dynamodb_and_sqs_a_queue_that_fails_for_a_while_makes_nobody_deaf(
    aws: Account, tmp_path: Path
) -> None:
    port = free_port()
    create_table(aws.client("dynamodb"), TABLE)
    sqs = aws.client("sqs")
    queue = sqs.create_queue(QueueName="wakes.fifo", Attributes=QUEUE)["QueueUrl"]
    sqs.delete_queue(QueueUrl=queue)
    async with scripted(text("Hello.")) as model, platforms(port, model.url) as (simulator, settings):
        cloud = {
            **settings,
            **aws.environment,
            "KABAR_TABLE": TABLE,
            "KABAR_QUEUE_URL": queue,
            "KABAR_BUCKET": aws.bucket(),
            "ANTHROPIC_API_KEY": "k",
        }
        async with kabar(tmp_path, "serve", "--port", str(port), settings=cloud) as bot:
            await bot.says("the queue is asked again in a moment")
            sqs.create_queue(QueueName="wakes.fifo", Attributes=QUEUE)
            await simulator.telegram.say(ANN, "ann", "hello")
            await simulator.telegram.wait_for(lambda seen: seen.is_bot and seen.text == "Hello.", WAIT)


async def test_one_process_answers_people_and_other_agents(tmp_path: Path) -> None:
    port = free_port()
    keys = {"KABAR_A2A_KEYS": f"weather:{KEYS['weather']}"}
    async with (
        scripted(text("Hello Ann."), text("Hello agent.")) as model,
        platforms(port, model.url) as (simulator, settings),
        kabar(tmp_path, "serve", "--a2a", "--port", str(port), settings={**settings, **keys}) as bot,
        http() as client,
    ):
        await bot.says("Listening on")
        await simulator.telegram.say(ANN, "ann", "hello")
        await simulator.telegram.wait_for(lambda seen: seen.is_bot and seen.text == "Hello Ann.", WAIT)
        config = ClientConfig(httpx_client=client, streaming=False)
        agent = await create_client(f"http://127.0.0.1:{port}", config)
        assert words(await sent(agent, message("hello"))) == ["Hello agent."]
        assert (await client.get(f"http://127.0.0.1:{port}/healthz")).text == "ok"


@pytest.mark.parametrize("secret", ["TELEGRAM_WEBHOOK_SECRET", "SLACK_SIGNING_SECRET"])
async def test_it_does_not_start_without_a_platform_s_secret(tmp_path: Path, secret: str) -> None:
    async with (
        platforms(9, "http://127.0.0.1:9") as (_, settings),
        kabar(tmp_path, "serve", "--port", "0", settings={**settings, secret: ""}) as bot,
    ):
        assert await bot.ends() == 1
        assert f"kabar: Set {secret}" in bot.output


async def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        async with (
            platforms(9, "http://127.0.0.1:9") as (_, settings),
            kabar(tmp_path, "serve", "--port", port, settings=settings) as bot,
        ):
            assert await bot.ends() == 1
            assert f"Port {port} of 127.0.0.1 can not be used" in bot.output
            assert "Traceback" not in bot.output
