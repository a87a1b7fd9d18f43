"""One, ten, a hundred and a thousand people who write at the same time: is each message answered once and in order, and
how long does it wait?

``local``: the bot as ``kabar serve`` runs it, one process on SQLite. ``aws_emulator``: the real handlers on DynamoDB
and SQS, the worker in several processes that take one wake at a time, as Lambda's execution environments do. Both hear
the simulator's Telegram over HTTP, and a model that says which messages it was newly asked. A few people's model is
slow.

Of each run, by the number of people: ``messages_per_second`` from the first message to the last answer; ``answers``,
fewer than messages where several waited together or joined a turn that was running; ``queue_age_s`` from a message's
being accepted to the model's being asked it, the slow people's apart; ``losses``, ``doubles`` (a message named in more
than one answer) and ``order_faults`` (an answer that names an earlier message than the one before it in its chat), all
due to be 0.
"""

import asyncio
import json
import multiprocessing
import os
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from itertools import pairwise
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import boto3
import pytest

from benchmarks.performance_page import DOCS, Aim, Page, at_most, section, table
from bot.adapters.dynamodb_store import create_table
from bot.cli.serve import OneDoor
from bot.cli.wiring import local
from handlers.settings import Settings
from handlers.webhook import application
from simulator import telegram
from simulator.app import Simulator, telegram_base_url
from simulator.model import ModelServer
from simulator.model_reply import Answer
from simulator.script import call, reply, text
from simulator.serving import serve
from simulator.world import Chat, Person
from tests.brain import Turn, ids_in
from tests.cloud import QUEUE, TABLE, Cloud, Context
from tests.emulator import Account, running_emulator
from tests.packages.events import sqs_event

CROWDS = {1: 10, 10: 6, 100: 5, 1_000: 2}
"""Messages of each of so many people."""
SLOW = 0.02  # of the people
GAP = 8.0  # seconds; the longest pause between two messages of one person
THINKING = 0.3  # seconds before the model begins to speak
SLOW_THINKING = 5.0
ENVIRONMENTS = 8  # worker processes on a few processors; WorkerConcurrency is 20, and so is KABAR_CONCURRENCY
PATIENCE = 60.0  # seconds without a new answer after which what is missing counts as lost
FIRST_CHAT = 5_000

WHERE = {"local": "local", "aws_emulator": "AWS, played"}
FAULTS = {"losses": "lost", "doubles": "doubled", "order_faults": "out of order"}
TOLD_ON = Page(DOCS / "load.md", "Many people at once", "make load")

Figures = dict[str, Any]


def measure() -> Figures:
    return {
        "processors": os.cpu_count(),
        "messages_of_each": {str(people): messages for people, messages in CROWDS.items()},
        "local": {str(people): _told(asyncio.run(_local(people, messages))) for people, messages in CROWDS.items()},
        "aws_emulator": {str(people): _told(_aws_emulator(people, messages)) for people, messages in CROWDS.items()},
    }


def _told(figures: Figures) -> Figures:
    """At once, too: the largest crowd takes minutes."""
    print(json.dumps(figures), file=sys.stderr, flush=True)
    return figures


async def _local(people: int, messages: int) -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        async with _town(people, messages) as town:
            settings = Settings(
                telegram_bot_token=telegram.TOKEN,
                telegram_webhook_secret=telegram.SECRET,
                telegram_bot_username=telegram.USERNAME,
                telegram_api_base_url=telegram_base_url(town.url),
                anthropic_api_key="of-no-account",
                anthropic_base_url=town.model_url,
                kabar_allowed_users="*",
                kabar_data=str(Path(folder, "kabar.sqlite3")),
            )
            async with local(settings) as bot, serve(application(OneDoor(bot.door))) as url:
                town.simulator.connect(url)
                return await town.talk()


def _aws_emulator(people: int, messages: int) -> Figures:
    with running_emulator() as emulator, emulator.account() as account, pytest.MonkeyPatch.context() as patch:
        create_table(account.client("dynamodb"), TABLE)
        queue_url = account.client("sqs").create_queue(QueueName="wakes.fifo", Attributes=QUEUE)["QueueUrl"]
        environment = {
            **account.environment,
            "KABAR_TABLE": TABLE,
            "KABAR_QUEUE_URL": queue_url,
            "KABAR_BUCKET": account.bucket(),
            "KABAR_ALLOWED_USERS": "*",
            "KABAR_LOG_LEVEL": "ERROR",
            "TELEGRAM_BOT_TOKEN": telegram.TOKEN,
            "TELEGRAM_WEBHOOK_SECRET": telegram.SECRET,
            "TELEGRAM_BOT_USERNAME": telegram.USERNAME,
            "ANTHROPIC_API_KEY": "of-no-account",
        }
        for name, value in environment.items():
            patch.setenv(name, value)
        return asyncio.run(_on(account, queue_url, environment, people, messages))


async def _on(account: Account, queue_url: str, environment: Mapping[str, str], people: int, messages: int) -> Figures:
    cloud = Cloud(account, queue_url, seconds=60)
    try:
        async with _town(people, messages) as town, serve(cloud.app) as url:
            addresses = {"TELEGRAM_API_BASE_URL": telegram_base_url(town.url), "ANTHROPIC_BASE_URL": town.model_url}
            with _environments({**environment, **addresses}, min(people, ENVIRONMENTS)):
                town.simulator.connect(url)
                return await town.talk()
    finally:
        await cloud.close()


# Workers.


@contextmanager
def _environments(environment: dict[str, str], count: int) -> Iterator[None]:
    """Worker processes that take wakes until the block ends."""
    context = multiprocessing.get_context("spawn")
    over = context.Event()
    processes = [context.Process(target=_take_wakes, args=(environment, over)) for _ in range(count)]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        over.set()
        for process in processes:
            process.join(PATIENCE)
            if process.exitcode != 0:
                process.kill()
                raise RuntimeError(f"A worker process ended with {process.exitcode}.")


def _take_wakes(environment: dict[str, str], over: Event) -> None:
    """One execution environment with the event source in front of it: one message at a time, deleted when answered.

    The queue itself sees to it that a group has one message under way, so environments need not know of each other.
    """
    os.environ.update(environment)
    from handlers import worker  # as on Lambda, where the environment is there first

    sqs, queue = boto3.client("sqs"), environment["KABAR_QUEUE_URL"]
    while not over.is_set():
        received = sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=1, AttributeNames=["All"])
        for message in received.get("Messages", []):
            answer = worker.handler(sqs_event(message), Context(60))
            if not answer["batchItemFailures"]:
                sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
    worker.forget()


# People.


@asynccontextmanager
async def _town(people: int, messages: int) -> AsyncIterator["Town"]:
    simulator = Simulator()
    town = Town(simulator, people, messages)
    async with serve(simulator.app) as town.url, serve(ModelServer(town.think).app) as town.model_url:
        watching = asyncio.create_task(town.watch())
        yield town
        watching.cancel()


class Town:
    """People with a private chat each, the model that answers them, and who notes when what happened.

    A message reads "m<number>", or "m<number> sum" where the model is to use a tool first.
    """

    def __init__(self, simulator: Simulator, people: int, messages: int) -> None:
        self.simulator = simulator
        self._messages = messages
        self._sent = people * messages
        self.url = ""
        self.model_url = ""
        self._chats = [str(FIRST_CHAT + number) for number in range(people)]
        self._said: dict[str, list[str]] = {chat: [] for chat in self._chats}
        self._accepted: dict[str, float] = {}
        self._asked: dict[str, float] = {}
        self._slow: set[str] = set()
        self._random = random.Random(1)
        world = simulator.world
        for chat in self._chats:
            world.chats.append(Chat("telegram", chat, "private", "Kabar", (chat,)))
        residents = [Person(chat, f"Person {chat}", int(chat), f"U{chat}", "en") for chat in self._chats]
        world.people = tuple(residents)  # those who live there make way for many

    async def talk(self) -> Figures:
        began = time.monotonic()
        await asyncio.gather(*(self._write(number, chat) for number, chat in enumerate(self._chats)))
        ended = await self._last_answer()
        answers = {chat: self._answers(chat) for chat in self._chats}
        named = {chat: [id for answer in answers[chat] for id in answer] for chat in self._chats}
        quick = [self._age(id) for id in self._asked if id not in self._slow]
        return {
            "messages_per_second": round(self._sent / (ended - began), 1),
            "answers": sum(map(len, answers.values())),
            "queue_age_s": _spread(quick),
            "queue_age_of_slow_s": _spread([self._age(id) for id in self._asked if id in self._slow]),
            "losses": sum(len(set(self._said[chat]) - set(named[chat])) for chat in self._chats),
            "doubles": sum(times - 1 for chat in self._chats for times in Counter(named[chat]).values()),
            "order_faults": sum(_order_faults(named[chat]) for chat in self._chats),
        }

    async def _write(self, number: int, chat: str) -> None:
        for each in range(self._messages):
            await asyncio.sleep(self._random.uniform(0, GAP))
            id = f"m{number * self._messages + each}"
            self._said[chat].append(id)
            if number < SLOW * len(self._chats):
                self._slow.add(id)
            await self.simulator.telegram.say(chat, chat, f"{id} sum" if each % 3 == 0 else id)

    async def think(self, request: dict[str, Any]) -> Answer:
        turn = Turn(request["messages"])
        for id in turn.ids:
            self._asked.setdefault(id, time.monotonic())
        await asyncio.sleep(SLOW_THINKING if self._slow & set(turn.ids) else THINKING)
        has_results = any(block["type"] == "tool_result" for block in request["messages"][-1]["content"])
        if "sum" in turn.words and not has_results:
            return reply(call("calculator", {"expression": "6*7"}))
        return reply(text(" ".join(["Re:", *turn.ids])))

    async def watch(self) -> None:
        """Note when each message was accepted by the bot: from then on it is stored."""
        async for event in self.simulator.world.watch():
            delivery = event.data.get("delivery") if event.type == "message" else None
            if delivery and delivery["state"] == "accepted":
                self._accepted.setdefault(event.data["text"].split()[0], time.monotonic())

    async def _last_answer(self) -> float:
        """When the newest answer was seen, once all are there or none came for a while; what comes twice had its time
        as well."""
        seen, at = 0, time.monotonic()
        while seen < self._sent and time.monotonic() - at < PATIENCE:
            await asyncio.sleep(0.2)
            now = sum(len({id for answer in self._answers(chat) for id in answer}) for chat in self._chats)
            if now > seen:
                seen, at = now, time.monotonic()
        await asyncio.sleep(SLOW_THINKING)
        return at

    def _answers(self, chat: str) -> list[list[str]]:
        """The messages that each answer in the chat names, in the order sent."""
        shown = (message.text for message in self.simulator.telegram.messages(chat) if message.is_bot)
        return [ids_in(answer) for answer in shown]

    def _age(self, id: str) -> float:
        """The bot may be quicker than its own 200 is."""
        return max(self._asked[id] - self._accepted.get(id, self._asked[id]), 0.0)


def _order_faults(named: list[str]) -> int:
    numbers = [int(id.removeprefix("m")) for id in named]
    return sum(later < earlier for earlier, later in pairwise(numbers))


def _spread(seconds: list[float]) -> dict[str, float] | None:
    """None where there are none."""
    if len(seconds) < 2:
        return None
    hundredths = statistics.quantiles(seconds, n=100, method="inclusive")
    return {"p50": round(hundredths[49], 2), "p95": round(hundredths[94], 2), "max": round(max(seconds), 2)}


def aims(figures: Mapping[str, Any]) -> list[Aim]:
    runs = [run for where in WHERE for run in figures[where].values()]
    most = f"at up to {max(map(int, figures['messages_of_each'])):,} people at once, local and on AWS"
    return [at_most(f"messages {what} {most}", 0, sum(run[name] for run in runs)) for name, what in FAULTS.items()]


def markdown(figures: Mapping[str, Any]) -> str:
    about = """
        Bot, platform, model and the AWS that is played share the machine's processors. A model's call takes 0.3 s, that
        of a few people 5 s. Waited are the seconds from a message's being accepted until the model is asked it: the
        median, and the longest. Messages that wait together, or come while an answer is written, are answered
        together."""
    head = ["people", "messages", "where", "messages a second", "waited", "longest", "answers", *FAULTS.values()]
    rows = [
        (int(people), int(people) * figures["messages_of_each"][people], words, *_row(run))
        for where, words in WHERE.items()
        for people, run in figures[where].items()
    ]
    return section("Who writes, and what becomes of it", about, table(head, rows))


def _row(run: Figures) -> list[Any]:
    age = run["queue_age_s"] or run["queue_age_of_slow_s"]
    return [run["messages_per_second"], age["p50"], age["max"], run["answers"], *(run[name] for name in FAULTS)]
