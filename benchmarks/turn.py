"""What a message costs beyond the model and the platform: own time, and requests to DynamoDB.

``own_ms``: processor time of a turn, message in and answer out, with a model and a platform that answer at once, by
store and by entries of history, so that what is left is ours and the store's client; ``client_ms``: what AWS's client
took of it. ``dynamodb``: requests, capacity units and kilobytes read for one message, webhook and worker together,
after so many messages.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.capacity_units import READS
from benchmarks.performance_page import Aim, at_most, section, table
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
from handlers.aws import CONFIG
from tests.adapters.wire import wire_to
from tests.bots import NoWake, turns_of
from tests.emulator import running_emulator
from tests.recorder import RecordingChannel

RUNS = 31
LOOKED_AT = 10
"""After so many turns it is looked whether the view is to be cut."""
OWN_MS = 30.0
LENGTHS = (10, 100, 1000)
TABLE = "conversations"
STORES = ("SQLite", "DynamoDB")
COUNTED = ("read_requests", "write_requests", "read_kb", "write_units")
ANN = Person(id="telegram:1", name="Ann")


class InstantModel:
    async def reply(self, prompt: Prompt, on_text: OnText) -> Reply:
        on_text("Hello.")
        return Reply([{"type": "text", "text": "Hello."}], "end_turn")


def aims(figures: Mapping[str, Any]) -> list[Aim]:
    longest = str(LENGTHS[-1])
    what = f"own processor time of a turn at {int(longest):,} entries of history"
    stores = {name: times[longest] for name, times in figures["own_ms"].items()}
    alone = round(stores["DynamoDB"] - figures["client_ms"][longest], 1)
    own = {"SQLite": stores["SQLite"], "DynamoDB": alone, "DynamoDB with AWS's client": stores["DynamoDB"]}
    counts = [[costs["read_requests"], costs["write_requests"]] for costs in figures["dynamodb"].values()]
    reads, writes = counts[0]
    flat = all(each == counts[0] for each in counts)
    return [
        *(at_most(f"{what}, on {where}", OWN_MS, each, " ms") for where, each in own.items()),
        Aim("requests to DynamoDB for a message, at every length", "the same", f"{reads} reads, {writes} writes", flat),
    ]


def markdown(figures: Mapping[str, Any]) -> str:
    own, costs = figures["own_ms"], figures["dynamodb"]
    words = """
        Processor time of a turn, message in and answer out, where model and platform answer at once, and what AWS's
        client takes of it; and what DynamoDB is asked for one message, webhook and worker together."""
    head = [
        "entries of history",
        *(f"ms, {store}" for store in own),
        "of it AWS's client",
        *(name.replace("_", " ") for name in COUNTED),
    ]
    rows = [
        (
            int(length),
            *(times[length] for times in own.values()),
            figures["client_ms"][length],
            *(costs[length][name] for name in COUNTED),
        )
        for length in costs
    ]
    return section("Of a turn, our own", words, table(head, rows))


def measure() -> dict[str, Any]:
    with running_emulator() as emulator, tempfile.TemporaryDirectory() as folder:
        with emulator.account() as account:
            create_table(account.client("dynamodb"), TABLE)
            client = Timed(account.client("dynamodb", config=CONFIG))
            dynamodb = DynamoDBStore(client, TABLE, SystemClock())
            sqlite = SQLiteStore(Path(folder, "kabar.sqlite3"), SystemClock())
            own = asyncio.run(_own({"SQLite": sqlite, "DynamoDB": dynamodb}, client))
            sqlite.close()
        with emulator.account() as account, wire_to(emulator.endpoint) as wire:
            create_table(account.client("dynamodb"), TABLE)
            through = account.client("dynamodb", endpoint=wire.endpoint)
            costs = {str(length): asyncio.run(_cost(through, wire.passed, length)) for length in LENGTHS}
    return {"runs": RUNS, "own_ms": {name: own[name] for name in STORES}, "client_ms": own["client"], "dynamodb": costs}


class Timed:
    """A client of AWS that knows how many seconds its calls took of a processor."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.seconds = 0.0

    def __getattr__(self, name: str) -> Any:
        known = getattr(self._client, name)
        return partial(self._call, known) if callable(known) else known

    def _call(self, operation: Any, **request: Any) -> Any:
        began = time.thread_time()
        try:
            return operation(**request)
        finally:
            self.seconds += time.thread_time() - began


async def _own(stores: Mapping[str, Store], client: Timed) -> dict[str, dict[str, float]]:
    """Median milliseconds by store and length. They take turns, so that where the machine slows down it is for all."""
    bots = {name: _bot(store) for name, store in stores.items()}
    took: dict[str, dict[str, list[float]]] = {
        name: {str(length): [] for length in LENGTHS} for name in (*stores, "client")
    }
    for store in stores.values():
        for length in LENGTHS:
            await fill(store, _place(length), length)
    for run in range(RUNS):
        for name, store in stores.items():
            for length in LENGTHS:
                client.seconds = 0.0
                place, began = _place(length), time.process_time()
                await accept(_said(length + 1 + run, place), store, NoWake(), SystemClock())
                await bots[name].handle(place.conversation, Deadline(60))
                took[name][str(length)].append(time.process_time() - began)
                if name == "DynamoDB":
                    took["client"][str(length)].append(client.seconds)
    return {
        name: {length: round(statistics.median(each[1:]) * 1000, 1) for length, each in of_store.items()}
        for name, of_store in took.items()
    }


def _place(length: int) -> Place:
    return Place(conversation=f"telegram:{length}", chat=str(length))


async def _cost(client: Any, passed: list[Any], length: int) -> dict[str, float]:
    """Of one message to a conversation of so many."""
    store = DynamoDBStore(client, TABLE, SystemClock())
    place = _place(length)
    await fill(store, place, length)
    for number in (length + 1, length + 2):  # of the first it is also noted who the person is
        del passed[:]
        await accept(_said(number, place), store, NoWake(), SystemClock())
        await _bot(store).handle(place.conversation, Deadline(60))
    reads = [each for each in passed if each.operation in READS]
    writes = [each for each in passed if each.operation not in READS]
    return {
        "read_requests": len(reads),
        "read_kb": round(sum(len(repr(each.answer)) for each in reads) / 1000, 1),
        "write_requests": len(writes),
        "write_units": sum(each.units for each in writes),
    }


async def fill(store: Store, place: Place, length: int) -> None:
    """So many messages, half of them the bot's, with the view cut as turns do it, though not after each."""
    head = await store.claim(place.conversation, "filler", int(time.time() * 1000) + 60_000)
    if head is None:
        raise RuntimeError("The conversation is not new.")
    window: list[Numbered] = []
    for number in range(1, length // 2 + 1):
        said = Asked(turn=str(number), said=(_said(number, place),))
        reply = Answered(turn=str(number), reply=Reply([{"type": "text", "text": "Hello. " * 20}], "end_turn"))
        window += [Numbered(head.last + 1, said), Numbered(head.last + 2, reply)]
        upto = cut(View([], [], window), Marks()) if number % LOOKED_AT == 0 else None
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
