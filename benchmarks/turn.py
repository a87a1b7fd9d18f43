"""What a message costs beyond the model and the platform: own time, and requests to DynamoDB.

``webhook``: one warm call of the real handler against the local AWS emulator; ``own_ms`` is the processor time this
process spent on it, ``wall_ms`` includes the emulator's. ``turn``: wall time of a turn with a model and a platform that
answer at once, so that what is left is ours and the store's. ``dynamodb``: requests, capacity units and kilobytes read
for one message, webhook and worker together, after so many messages.
"""

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bot.adapters.dynamodb_store import DynamoDBStore, create_table
from bot.adapters.sqlite_store import SQLiteStore
from bot.clock import SystemClock
from bot.context import Marks, View, cut
from bot.deadline import Deadline
from bot.intake import accept
from bot.messages import Answered, Asked, Inbound, Numbered, Person, Place, Reply, Summary
from bot.ports import Change, OnText, Prompt, Store
from bot.toolkit import Toolbox
from bot.tools.calculator import calculator
from bot.turn import Turns
from handlers import webhook
from handlers.settings import SECRETS
from simulator import telegram
from tests.adapters.wire import wire_to
from tests.bots import NoWake, turns_of
from tests.cloud import Context
from tests.emulator import Account, running_emulator
from tests.packages.events import http_event, telegram_update
from tests.recorder import RecordingChannel

CONTEXT = Context(30.0)
RUNS = 51
LENGTHS = (10, 100, 1000)
TABLE = "conversations"
READS = ("GetItem", "BatchGetItem", "Query")
ANN = Person(id="telegram:1", name="Ann")


class InstantModel:
    async def reply(self, prompt: Prompt, on_text: OnText) -> Reply:
        on_text("Hello.")
        return Reply([{"type": "text", "text": "Hello."}], "end_turn")


def measure() -> dict[str, Any]:
    with running_emulator() as emulator, tempfile.TemporaryDirectory() as folder:
        with emulator.account() as account:
            create_table(account.client("dynamodb"), TABLE)
            own_ms, wall_ms = _webhook(account)
        with emulator.account() as account:
            create_table(account.client("dynamodb"), TABLE)
            dynamodb = DynamoDBStore(account.client("dynamodb"), TABLE, SystemClock())
            sqlite = SQLiteStore(Path(folder, "kabar.sqlite3"), SystemClock())
            turns = {"sqlite_ms": asyncio.run(_turns(sqlite)), "dynamodb_emulator_ms": asyncio.run(_turns(dynamodb))}
            sqlite.close()
        with emulator.account() as account, wire_to(emulator.endpoint) as wire:
            create_table(account.client("dynamodb"), TABLE)
            client = account.client("dynamodb", endpoint=wire.endpoint)
            costs = {str(length): asyncio.run(_cost(client, wire.passed, length)) for length in LENGTHS}
    return {"webhook": {"own_ms": own_ms, "wall_ms": wall_ms}, "turn": turns, "dynamodb": costs}


def _webhook(account: Account) -> tuple[float, float]:
    """Median processor and wall milliseconds of one warm call that stores a message and wakes its chat."""
    queue = account.client("sqs").create_queue(QueueName="wakes.fifo", Attributes={"FifoQueue": "true"})
    environment = {
        **account.environment,
        "KABAR_TABLE": TABLE,
        "KABAR_QUEUE_URL": queue["QueueUrl"],
        "TELEGRAM_BOT_TOKEN": telegram.TOKEN,
        "TELEGRAM_WEBHOOK_SECRET": telegram.SECRET,
        "TELEGRAM_BOT_USERNAME": "kabar_bot",
        "KABAR_LOG_LEVEL": "WARNING",
    }
    headers = {"content-type": "application/json", "x-telegram-bot-api-secret-token": telegram.SECRET}
    own, wall = [], []
    with _environment(environment):
        for number in range(RUNS):
            event = http_event("/telegram", telegram_update(number + 1, "hello"), headers)
            began, processor = time.perf_counter(), time.process_time()
            answer = webhook.handler(event, CONTEXT)
            own.append(time.process_time() - processor)
            wall.append(time.perf_counter() - began)
            if answer["statusCode"] != 200:
                raise RuntimeError(answer)
        webhook.forget()
    return _median_ms(own[1:]), _median_ms(wall[1:])


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in [*values, *SECRETS]}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


async def _turns(store: Store) -> float:
    """Median milliseconds of a whole turn, message in and answer out."""
    turns, took = _bot(store), []
    for number in range(1, RUNS + 1):
        began = time.perf_counter()
        await accept(_said(number), store, NoWake(), SystemClock())
        await turns.handle("telegram:1", Deadline(60))
        took.append(time.perf_counter() - began)
    return _median_ms(took[1:])


async def _cost(client: Any, passed: list[Any], length: int) -> dict[str, float]:
    """Of one message to a conversation of so many."""
    store = DynamoDBStore(client, TABLE, SystemClock())
    place = Place(conversation=f"telegram:{length}", chat=str(length))
    await fill(store, place, length)
    del passed[:]
    await accept(_said(length + 1, place), store, NoWake(), SystemClock())
    await _bot(store).handle(place.conversation, Deadline(60))
    reads = [each for each in passed if each.operation in READS]
    writes = [each for each in passed if each.operation not in READS]
    return {
        "read_requests": len(reads),
        "read_kb": round(sum(len(repr(each.answer)) for each in reads) / 1000, 1),
        "write_requests": len(writes),
        "write_units": sum(each.units for each in writes),
    }


async def fill(store: DynamoDBStore, place: Place, length: int) -> None:
    """So many messages, half of them the bot's, with the view cut after each turn as a turn does it."""
    head = await store.claim(place.conversation, "filler", int(time.time() * 1000) + 60_000)
    if head is None:
        raise RuntimeError("The conversation is not new.")
    window: list[Numbered] = []
    for number in range(1, length // 2 + 1):
        said = Asked(turn=str(number), said=(_said(number, place),))
        reply = Answered(turn=str(number), reply=Reply([{"type": "text", "text": "Hello. " * 20}], "end_turn"))
        window += [Numbered(head.last + 1, said), Numbered(head.last + 2, reply)]
        upto = cut(View([], [], window), Marks())
        since, summary = (None, ()) if upto is None else (upto + 1, (Summary("What was said before. " * 100, upto),))
        head = await store.commit(head, Change(entries=(said, reply, *summary), since=since))
        window += [Numbered(head.last, each) for each in summary]
        window = [each for each in window if each.seq >= head.since]
    await store.commit(head, Change(release=True))


def _bot(store: Store) -> Turns:
    channels = {"telegram": RecordingChannel()}
    toolbox = Toolbox([calculator])
    turns, _ = turns_of(store, channels, InstantModel(), toolbox, SystemClock(), NoWake())
    return turns


def _said(number: int, place: Place | None = None) -> Inbound:
    return Inbound(
        place=place or Place(conversation="telegram:1", chat="1"),
        id=f"m{number}",
        order=f"{number:012d}",
        sender=ANN,
        sent_at=int(time.time()),
        text="hello " * 20,
    )


def _median_ms(seconds: list[float]) -> float:
    return round(statistics.median(seconds) * 1000, 2)
