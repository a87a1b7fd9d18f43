"""What one message asks of the store after 10, 1,000, 10,000 and 100,000 entries of history: the same.

``dynamodb``: requests, capacity units and kilobytes read and written for one message, webhook and worker together, on
the emulator. Both stores: ``own_ms``, the processor time that this process spends on such a message, the median of some
(DynamoDB's without the emulator's, which is another process), and ``filled_s``, the seconds that it took to write the
history down. The window, what the model is shown, is as long everywhere: what is before it was folded away.
Where the emulator needs longer than a lease's quarter of a minute, its renewals are among the writes.
``grows``: the last length's figure as a multiple of the second's, at which the window is full already.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.capacity_units import READS
from benchmarks.metered_turns import ANSWER, Meter, Passed
from benchmarks.performance_page import table
from benchmarks.turn import InstantModel
from bot.adapters.dynamodb_store import DynamoDBStore, create_table
from bot.adapters.sqlite_store import SQLiteStore
from bot.clock import SystemClock
from bot.deadline import Deadline
from bot.intake import accept
from bot.messages import Answered, Asked, Entry, Inbound, Person, Place, Reply, Summary
from bot.ports import Change, Store
from bot.toolkit import Toolbox
from bot.tools.calculator import calculator
from simulator.serving import serve
from tests.bots import NoWake, turns_of
from tests.emulator import running_emulator
from tests.recorder import RecordingChannel

LENGTHS = (10, 1_000, 10_000, 100_000)
WINDOW = 40
"""Entries that are not folded."""
AT_ONCE = 80
"""Entries of one write."""
MESSAGES = 15
FEW = 2
"""Messages where the history is so long that the emulator, which sorts a conversation for each query, needs seconds."""
TABLE = "conversations"
ANN = Person(id="telegram:1", name="Ann")

Figures = dict[str, dict[str, float]]


def measure() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        sqlite = asyncio.run(on_sqlite(Path(folder, "kabar.sqlite3"), LENGTHS))
    with running_emulator() as emulator:
        dynamodb = asyncio.run(on_dynamodb(emulator.account().client, emulator.endpoint, LENGTHS))
    return {"window": WINDOW, "sqlite": with_growth(sqlite), "dynamodb": with_growth(dynamodb)}


async def on_sqlite(path: Path, lengths: Sequence[int]) -> Figures:
    store = SQLiteStore(path, SystemClock())
    try:
        return {
            str(length): {**await _fill(store, _place(length), length), **await _own(store, length)}
            for length in lengths
        }
    finally:
        store.close()


async def on_dynamodb(client: Callable[..., Any], endpoint: str, lengths: Sequence[int]) -> Figures:
    """``client`` makes one of a service, as ``Account.client`` does."""
    create_table(client("dynamodb"), TABLE)
    store = DynamoDBStore(client("dynamodb", patience=ANSWER), TABLE, SystemClock())
    meter, figures = Meter(endpoint), {}
    async with serve(meter.app) as address:
        metered = DynamoDBStore(client("dynamodb", endpoint=address, patience=ANSWER), TABLE, SystemClock())
        for length in lengths:
            filled = await _fill(store, _place(length), length)
            await _hear(store, _place(length), -1)  # what is noted of a person who is new
            del meter.passed[:]
            await _hear(metered, _place(length), 0)
            own = await _own(store, length, MESSAGES if length <= 10_000 else FEW)
            figures[str(length)] = {**_counted(meter.passed), **own, **filled}
    await meter.close()
    return figures


async def _own(store: Store, length: int, messages: int = MESSAGES) -> dict[str, float]:
    own = []
    for number in range(1, messages + 1):
        processor = time.process_time()
        await _hear(store, _place(length), number)
        own.append(time.process_time() - processor)
    return {"own_ms": round(statistics.median(own) * 1000, 2)}


def _counted(passed: Sequence[Passed]) -> dict[str, float]:
    reads = sum(each.operation in READS for each in passed)
    return {
        "read_requests": reads,
        "write_requests": len(passed) - reads,
        "read_units": sum(each.reads for each in passed),
        "write_units": sum(each.writes for each in passed),
        "read_kb": round(sum(each.found for each in passed) / 1000, 1),
    }


async def _fill(store: Store, place: Place, length: int) -> dict[str, float]:
    """Questions and answers, with all but the last of them folded into a summary."""
    began = time.perf_counter()
    head = await store.claim(place.conversation, "filler", int(time.time() * 1000) + 3_600_000)
    if head is None:
        raise RuntimeError("The conversation is not new.")
    entries = [entry for number in range(length // 2) for entry in _exchange(number, place)]
    for first in range(0, length, AT_ONCE):
        head = await store.commit(head, Change(entries=tuple(entries[first : first + AT_ONCE])))
    if length > WINDOW:
        summary = Summary("What was said before. " * 100, head.last - WINDOW)
        head = await store.commit(head, Change(entries=(summary,), since=summary.upto + 1))
    await store.commit(head, Change(release=True))
    return {"filled_s": round(time.perf_counter() - began, 2)}


def _exchange(number: int, place: Place) -> tuple[Entry, Entry]:
    turn = f"t{number}"
    reply = Reply([{"type": "text", "text": "Hello. " * 20}], "end_turn")
    return Asked(turn=turn, said=(_said(f"f{number}", place),)), Answered(turn=turn, reply=reply)


async def _hear(store: Store, place: Place, number: int) -> None:
    """One message, in and answered."""
    turns, _ = turns_of(
        store, {"telegram": RecordingChannel()}, InstantModel(), Toolbox([calculator]), SystemClock(), NoWake()
    )
    await accept(_said(f"m{number}", place), store, NoWake(), SystemClock())
    await turns.handle(place.conversation, Deadline(60))


def _said(id: str, place: Place) -> Inbound:
    now = int(time.time())
    return Inbound(place=place, id=id, order=f"{now:012d}", sender=ANN, sent_at=now, text="hello " * 20)


def _place(length: int) -> Place:
    return Place(conversation=f"telegram:{length}", chat=str(length))


def with_growth(figures: Figures) -> dict[str, Any]:
    lengths = list(figures)
    second, last = figures[lengths[1]], figures[lengths[-1]]
    grows = {name: round(last[name] / second[name], 2) for name in second if name != "filled_s"}
    return {**figures, "grows": grows}


def markdown(histories: Mapping[str, Any]) -> str:
    """The page's section, of what ``measure`` says."""
    rows = []
    for store in ("dynamodb", "sqlite"):
        figures = dict(histories[store])
        rows += [
            [store, name, *(f"{length[name]:g}" for length in list(figures.values())[:-1]), f"{grown:g}"]
            for name, grown in figures["grows"].items()
        ]
    lengths = [f"{int(length):,}" for length in list(histories["dynamodb"])[:-1]]
    return "\n".join(
        [
            "What one message asks of the store, by the entries of the conversation before it; the last column is the"
            " last length as a multiple of the second.",
            "",
            table(["store", "", *lengths, "grows"], [[row[0], row[1].replace("_", " "), *row[2:]] for row in rows]),
        ]
    )
