"""What the built functions take of a processor for a message once they run, and whether what they hold stays the same.

All is measured from outside, on the process under AWS's runtime client: our code, the SDKs of AWS, of the model and of
Telegram, and the runtime client itself. Waiting costs nothing here, so the time of model, platform and store is not in
it.

``webhook_ms``: one message stored and its chat woken. ``turn_ms``: one turn, a question and an answer of one sentence,
in conversations of so many entries. ``stream_event_ms``: what each event of a long answer adds, shown in Telegram as it
grows. ``memory_mb``: what the worker holds after so many turns of a hundred conversations in one process.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from benchmarks.in_lambda import Function, Surroundings, functions, surroundings
from benchmarks.performance_page import Aim, at_most, section, table
from benchmarks.turn import fill
from bot.adapters.dynamodb_store import DynamoDBStore
from bot.clock import SystemClock
from bot.messages import Inbound, Json, Place
from bot.messages import Person as Sender
from simulator import telegram
from simulator.model_reply import Answer
from simulator.script import reply, text
from simulator.world import Chat, Person
from tests.cloud import TABLE
from tests.emulator import Emulator, running_emulator
from tests.packages.events import http_event, telegram_update
from tests.packages.runtime_api import Runtime

RUNS = 16
BURST = 4
"""Turns in a row that a chat takes before the bot has to pause: so many are measured in each."""
LENGTHS = (10, 100, 1000)
TURNS = 1000
CHATS = 100
FIRST_CHAT = 5_000
MEASURED_AT = (100, 250, 500, TURNS)
LONG = 2_000
"""Words of a long answer, each an event."""
SETTINGS = {
    "KABAR_CONTEXT_POLICY": "window",
    "KABAR_MESSAGES_PER_MINUTE": "0",
    **{f"KABAR_BUDGET_{scope}": "0" for scope in ("PERSON_DAY", "CHAT_DAY", "DAY", "MONTH")},
}
SHORT_ANSWER = "Hello, Ann."


FLAT = 1.03
"""Times what is held after the first hundred turns: Python's own heap breathes by as much."""


def aims(figures: Mapping[str, Any]) -> list[Aim]:
    held = figures["memory_mb"]
    grown = round(held[str(TURNS)] / held[str(MEASURED_AT[0])], 3)
    return [at_most(f"memory after {TURNS:,} turns in one process, times that after {MEASURED_AT[0]}", FLAT, grown)]


def markdown(figures: Mapping[str, Any]) -> str:
    turns = [(f"a turn, {int(length):,} entries of history", ms) for length, ms in figures["turn_ms"].items()]
    rows = [
        ("a message stored and its chat woken", figures["webhook_ms"]),
        *turns,
        ("an event of a long answer", figures["stream_event_ms"]),
    ]
    held = [(int(turn), megabytes) for turn, megabytes in figures["memory_mb"].items()]
    words = f"""
        Processor time of the running functions, the SDKs of AWS, model and Telegram and AWS's runtime client in it;
        medians of {figures["runs"]}. What is our own of it is in the next section."""
    return section("Once they run", words, table(["", "ms"], rows), table(["turns in one process", "MB held"], held))


def measure() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder, running_emulator() as emulator:
        known, _ = functions(Path(folder))
        return asyncio.run(_measure(emulator, known))


async def _measure(emulator: Emulator, known: dict[str, Function]) -> dict[str, Any]:
    said = SHORT_ANSWER

    def brain(_: Json) -> Answer:
        return reply(text(said))

    figures: dict[str, Any] = {"runs": RUNS}
    async with surroundings(emulator, brain) as around:
        places = _chats(around)
        figures["webhook_ms"] = await asyncio.to_thread(_webhook, around, known["webhook"])
        with around.start(known["worker"], SETTINGS) as runtime:
            worker, first = Worker(around, runtime), iter(places)
            await worker.turns(_some(first))  # until all is loaded, and connections are open
            figures["turn_ms"] = {}
            for length in LENGTHS:
                chats = _some(first)
                for place in chats:
                    await fill(worker.store, place, length)
                figures["turn_ms"][str(length)] = _median_ms(await worker.turns(chats))
            chats = _some(first)
            short = _median_ms(await worker.turns(chats[:1]))
            said = "word " * LONG
            long = _median_ms(await worker.turns(chats[1:2]))
            figures["stream_event_ms"] = round((long - short) / LONG, 3)
        said = SHORT_ANSWER
        with around.start(known["worker"], SETTINGS) as runtime:
            figures["memory_mb"] = await Worker(around, runtime).memory(places)
    return figures


def _chats(around: Surroundings) -> list[Place]:
    """Private chats of so many people, each a conversation."""
    world, chats = around.simulator.world, [str(FIRST_CHAT + number) for number in range(CHATS)]
    world.chats += [Chat("telegram", chat, "private", "Kabar", (chat,)) for chat in chats]
    world.people = tuple(Person(chat, f"Person {chat}", int(chat), f"U{chat}", "en") for chat in chats)
    return [Place(f"telegram:{chat}", chat) for chat in chats]


def _some(places: Iterator[Place]) -> list[Place]:
    """Enough for all runs."""
    return list(islice(places, RUNS // BURST))


def _webhook(around: Surroundings, function: Function) -> float:
    headers = {"content-type": "application/json", "x-telegram-bot-api-secret-token": telegram.SECRET}
    took = []
    with around.start(function) as webhook:
        for number in range(2 * RUNS):
            event = http_event("/telegram", telegram_update(number + 1, "hello"), headers)
            before = webhook.processor_seconds
            answer = webhook.invoke(event)
            took.append(webhook.processor_seconds - before)
            if answer["statusCode"] != 200:
                raise RuntimeError(f"{answer}\n{webhook.log}")
    return _median_ms(took[RUNS:])


class Worker:
    """A started worker, and the store into which messages are put for it."""

    def __init__(self, around: Surroundings, runtime: Runtime) -> None:
        self.store = DynamoDBStore(around.account.client("dynamodb"), TABLE, SystemClock())
        self._around = around
        self._runtime = runtime
        self._numbers = 0

    async def turns(self, places: Sequence[Place]) -> list[float]:
        """Processor seconds of each, as many in each place as go without a pause."""
        return [await self._turn(place) for place in places for _ in range(BURST)]

    async def memory(self, places: Sequence[Place]) -> dict[str, float]:
        """Megabytes after so many turns."""
        held = {}
        for number, place in zip(range(1, TURNS + 1), cycle(places), strict=False):
            await self._turn(place)
            if number in MEASURED_AT:
                held[str(number)] = round(self._runtime.memory / 1e6, 1)
        return held

    async def _turn(self, place: Place) -> float:
        """Processor seconds of one."""
        self._numbers += 1
        order = f"{time.time_ns():020d}"
        sender = Sender(place.conversation, "Ann", "en")
        said = Inbound(place, f"m{order}", order, sender, int(time.time()), text=f"hello {self._numbers}")
        await self.store.receive(said)
        before = self._runtime.processor_seconds
        answer = await asyncio.to_thread(self._runtime.invoke, _wake(place.conversation, self._numbers))
        if answer != {"batchItemFailures": []}:
            raise RuntimeError(f"{answer}\n{self._runtime.log}")
        return self._runtime.processor_seconds - before


def _wake(conversation: str, number: int) -> Json:
    """As the event source hands it on; it came from no queue, and none hides it."""
    attributes = {"MessageGroupId": conversation, "MessageDeduplicationId": str(number)}
    body = f'{{"conversation":"{conversation}","reason":"said"}}'
    return {"Records": [{"messageId": str(number), "receiptHandle": "none", "body": body, "attributes": attributes}]}


def _median_ms(seconds: list[float]) -> float:
    return round(statistics.median(seconds) * 1000, 1)
