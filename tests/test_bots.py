"""Two bots of one owner in one deployment, both ways to run it: the same words and ids, and nothing crosses."""

import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.adapters.dynamodb_store import DynamoDBStore
from bot.cli.serve import OneDoor
from bot.cli.wiring import local
from bot.clock import SystemClock
from bot.messages import Person, Place, Reminder
from handlers.bots import every_bot
from handlers.webhook import application
from simulator import serving, telegram
from simulator.app import Simulator, serve, telegram_base_url
from simulator.deliver import QUICK
from simulator.script import Line, ScriptedModel, call, scripted, text
from simulator.world import Message
from tests.bots import words
from tests.cloud import TABLE, Cloud, cloud_for
from tests.emulator import Account

ANN = "1001"
LOLA = "777000111:lola-s-token"
SECRET = "lola-s-secret"
Staged = Callable[..., AbstractAsyncContextManager["Stage"]]


@dataclass
class Stage:
    """Ann's Telegram with the bot that has no name, and with lola."""

    one: Simulator
    lola: Simulator
    model: ScriptedModel
    cloud: Cloud | None

    async def hears(self, simulator: Simulator, text: str) -> Message:
        return await simulator.telegram.wait_for(lambda seen: seen.is_bot and text in seen.text, 20)

    async def asks(self, simulator: Simulator, command: str) -> str:
        """The page that answers it."""
        said = await simulator.telegram.say(ANN, "ann", command)

        def is_answer(seen: Message) -> bool:
            return seen.is_bot and int(seen.id) > int(said.id)

        return (await simulator.telegram.wait_for(is_answer, 20)).text

    def said(self, simulator: Simulator) -> list[str]:
        return [seen.text for seen in simulator.world.messages_of("telegram", ANN) if seen.is_bot]


@pytest.fixture(params=["cloud", "local"])
def staged(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Staged:
    @asynccontextmanager
    async def stage(*script: Line) -> AsyncIterator[Stage]:
        # Both count their messages from 1: every id that one bot sees the other sees too.
        one, lola = Simulator(pace=QUICK), Simulator(pace=QUICK, telegram_token=LOLA)
        async with AsyncExitStack() as stack:
            model = await stack.enter_async_context(scripted(*script))
            urls = [await stack.enter_async_context(serve(each)) for each in (one, lola)]
            cloud = None
            if request.param == "local":
                environment = {
                    "KABAR_BOTS": "lola",
                    "KABAR_ALLOWED_USERS": "*",
                    "LOLA__KABAR_ALLOWED_USERS": "*",
                    "TELEGRAM_BOT_TOKEN": telegram.TOKEN,
                    "TELEGRAM_WEBHOOK_SECRET": telegram.SECRET,
                    "TELEGRAM_API_BASE_URL": telegram_base_url(urls[0]),
                    "LOLA__TELEGRAM_BOT_TOKEN": LOLA,
                    "LOLA__TELEGRAM_WEBHOOK_SECRET": SECRET,
                    "LOLA__TELEGRAM_API_BASE_URL": telegram_base_url(urls[1]),
                    "LOLA__KABAR_MODEL": "claude-haiku-5-5",
                    "KABAR_DATA": str(tmp_path / "kabar.sqlite3"),
                    "KABAR_FILES": str(tmp_path / "files"),
                    "ANTHROPIC_BASE_URL": model.url,
                }
                for name, value in environment.items():
                    monkeypatch.setenv(name, value)
                every = every_bot(environment)
                bots = {name: await stack.enter_async_context(local(each, grace=5)) for name, each in every.items()}
                app = application(OneDoor(bots[""].door), {"lola": OneDoor(bots["lola"].door)})
                bot_url = await stack.enter_async_context(serving.serve(app))
            else:
                aws: Account = request.getfixturevalue("aws")
                secrets = {
                    "lola/TELEGRAM_BOT_TOKEN": LOLA,
                    "lola/TELEGRAM_WEBHOOK_SECRET": SECRET,
                    "lola/TELEGRAM_API_BASE_URL": telegram_base_url(urls[1]),
                    "lola/KABAR_ALLOWED_USERS": "*",
                    "lola/KABAR_MODEL": "claude-haiku-5-5",
                }
                cloud = await stack.enter_async_context(
                    cloud_for(aws, urls[0], model.url, monkeypatch, secrets=secrets, more={"KABAR_BOTS": "lola"})
                )
                bot_url = cloud.url
            one.connect(bot_url)
            lola.connect(f"{bot_url}/lola", telegram_secret=SECRET)
            yield Stage(one, lola, model, cloud)

    return stage


async def test_the_same_message_in_both_gets_two_answers_and_neither_knows_of_the_other(staged: Staged) -> None:
    script = (call("remember", {"fact": "Ann likes tea."}), text("Kept."), text("Hello from lola."))
    async with staged(*script) as stage:
        await stage.one.telegram.say(ANN, "ann", "Remember that I like tea.")
        await stage.hears(stage.one, "Kept.")
        await stage.lola.telegram.say(ANN, "ann", "What do you know of me?")
        await stage.hears(stage.lola, "Hello from lola.")

        first, _, other = stage.model.requests
        assert (first["model"], other["model"]) == ("claude-sonnet-5-5", "claude-haiku-5-5")
        assert len(other["messages"]) == 1
        assert not any("tea" in each for each in words(other))

        memories = [await stage.asks(each, "/memory") for each in (stage.one, stage.lola)]
        assert ["tea" in memory for memory in memories] == [True, False]
        usages = [await stage.asks(each, "/usage") for each in (stage.one, stage.lola)]
        costs = [re.findall(r"\$[\d.]+", usage) for usage in usages]
        assert all(re.search(r"\b1 answer\b", usage) for usage in usages) and set(costs[0]) & set(costs[1]) == {"$2.00"}
        ids = [{seen.id for seen in each.world.messages_of("telegram", ANN)} for each in (stage.one, stage.lola)]
        assert ids[0] & ids[1]


async def test_a_secret_of_one_opens_nothing_of_the_other(staged: Staged) -> None:
    async with staged(text("Hello.")) as stage:
        stage.lola.webhook.secret = telegram.SECRET
        said = await stage.lola.telegram.say(ANN, "ann", "hi")
        await stage.lola.world.wait_until(lambda: said.delivery is not None and said.delivery.status == 401, 20)
        stage.lola.webhook.secret = SECRET
        await stage.hears(stage.lola, "Hello.")
        assert stage.said(stage.one) == []


@pytest.mark.parametrize("staged", ["cloud"], indirect=True)
async def test_a_reminder_is_told_by_the_bot_that_was_asked(staged: Staged) -> None:
    async with staged() as stage:
        assert stage.cloud is not None
        place = Place(f"telegram:{ANN}", ANN)
        reminder = Reminder("r1", place, Person(f"telegram:{ANN}", "Ann", "en"), "Drink", at=int(time.time()) - 1)
        client = stage.cloud.account.client("dynamodb")
        await DynamoDBStore(client, TABLE, SystemClock(), "lola").put_reminder(reminder)
        due = {"conversation": place.conversation, "id": "r1", "at": reminder.at}
        for bot in ({}, {"bot": "lola"}, {"bot": "gone"}):
            await stage.cloud.call_webhook({"due": {**due, **bot}})
        await stage.hears(stage.lola, "Drink")
        assert stage.said(stage.one) == []
