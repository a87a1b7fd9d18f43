"""Counts what messages ask of AWS: the real handlers on the local emulator, with a meter in between.

The meter passes every request on and notes it. The model behind the bot speaks as fast as a real one, so that what a
turn does by the clock (looking into the inbox, renewing its lease, keeping its wake hidden, editing its message) is
counted as it happens. What the event source mapping itself does is not passed through: it is one receive and one
delete for each wake.
"""

import asyncio
import io
import logging
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import chain
from typing import Any

import httpx
import pytest
from msgspec import Struct, json
from PIL import Image
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from benchmarks.capacity_units import item_bytes, read_units, write_units
from bot.adapters.dynamodb_store import DynamoDBStore
from bot.budget import month_of
from bot.clock import SystemClock
from bot.messages import EVERYBODY, Bill, Spent
from bot.messages import Counter as CounterName
from simulator.app import Simulator
from simulator.deliver import QUICK
from simulator.model import ModelServer
from simulator.model_reply import Answer
from simulator.script import call, reply, text
from simulator.serving import serve
from simulator.world import File
from tests.cloud import TABLE, Cloud, cloud_for
from tests.emulator import running_emulator

ANN, ANN_ID = "1001", "ann"
EARLIER = 10
"""Questions, each with its answer, that the conversation has before anything is counted."""
FIRST_WORD, PACE = 1.2, 0.02
"""Seconds until the model's first word, and from one to the next: some 60 tokens a second. Assumed, as the next is."""
WORDS = 250
"""Of an answer."""
KINDS = ("talk", "tool", "picture")
"""A question; one that needs a tool; one with a picture of some 100 KB."""
TRIES = 3
PATIENCE = 60.0
ANSWER = 300.0
"""Seconds that the emulator may take for a request: a query of a conversation of 100,000 entries has it sort them."""
DEPLOYED = {"KABAR_METRICS": "kabar"}
"""So that lines are logged as the template has them: with what they measure."""


class Passed(Struct, frozen=True):
    """One request to AWS. ``at`` is when it was answered, in seconds of the monotonic clock."""

    service: str
    operation: str
    at: float
    reads: float = 0.0
    writes: float = 0.0
    found: int = 0
    stored: int = 0
    """Bytes of the items read, and of those put down."""
    is_everybodys: bool = False
    """Whether it is a transaction on a counter that every conversation adds to."""


class Meter:
    """An ASGI app in front of the emulator; ``passed`` is what went through."""

    def __init__(self, emulator: str) -> None:
        self._emulator = emulator
        self.passed: list[Passed] = []
        self.app = Starlette(
            routes=[Route("/{path:path}", self._pass, methods=["GET", "POST", "PUT", "HEAD", "DELETE"])]
        )
        self._client = httpx.AsyncClient(timeout=ANSWER)

    async def close(self) -> None:
        await self._client.aclose()

    async def _pass(self, request: HttpRequest) -> Response:
        service = request.headers["authorization"].partition("Credential=")[2].split("/")[3]
        operation = request.headers.get("x-amz-target", request.method).rpartition(".")[2]
        body = await request.body()
        asked = json.decode(body) if service == "dynamodb" else {}
        if asked:
            body = json.encode({**asked, "ReturnConsumedCapacity": "TOTAL"})
        kept = {name: value for name, value in request.headers.items() if name not in ("host", "content-length")}
        address = f"{self._emulator}{request.url.path}" + (f"?{request.url.query}" if request.url.query else "")
        answer = await self._client.request(request.method, address, content=body, headers=kept)
        self._note(service, operation, asked, answer.content)
        headers = {name: value for name, value in answer.headers.items() if name not in ("connection", "date")}
        return Response(answer.content, answer.status_code, headers)

    def _note(self, service: str, operation: str, asked: dict[str, Any], answer: bytes) -> None:
        now = time.monotonic()
        if service != "dynamodb":
            self.passed.append(Passed(service, operation, now))
            return
        told = json.decode(answer)
        units = read_units(operation, asked, told), write_units(operation, asked, told)
        self.passed.append(Passed(service, operation, now, *units, _found(told), _stored(asked), _is_everybodys(asked)))


def _found(told: dict[str, Any]) -> int:
    batches = told.get("Responses", {})
    found = [*told.get("Items", []), *filter(None, [told.get("Item")]), *chain.from_iterable(batches.values())]
    return sum(map(item_bytes, found))


def _stored(asked: dict[str, Any]) -> int:
    puts = [write["Put"] for write in asked.get("TransactItems", []) if "Put" in write] or [asked]
    return sum(item_bytes(put["Item"]) for put in puts if "Item" in put)


def _is_everybodys(asked: dict[str, Any]) -> bool:
    updates = (write["Update"]["Key"]["pk"]["S"] for write in asked.get("TransactItems", []) if "Update" in write)
    return any(pk.startswith(f"B#{EVERYBODY}#") for pk in updates)


class Counted:
    """An ASGI app whose requests are counted in bytes, their headers included."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.bytes = 0
        self.calls: Counter[str] = Counter()
        """By the last part of their address."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def counting() -> Message:
            message = await receive()
            self.bytes += len(message.get("body", b""))
            return message

        if scope["type"] == "http":
            self.calls[scope["path"].rpartition("/")[2]] += 1
            self.bytes += sum(len(name) + len(value) + 4 for name, value in scope["headers"])
        await self._app(scope, counting, send)


class Speaker:
    """A model that takes its time once ``slow`` is set, and uses the calculator where it is asked for a sum."""

    def __init__(self) -> None:
        self.slow = False
        self.app = ModelServer(self._think).app

    async def _think(self, request: dict[str, Any]) -> Answer:
        if self.slow:
            await asyncio.sleep(FIRST_WORD)
        pace = PACE if self.slow else 0.0
        last = request["messages"][-1]["content"]
        if any("sum" in block.get("text", "").split() for block in last):
            return reply(text("Let me see."), call("calculator", {"expression": "6*7"}), pace=pace)
        return reply(text("word " * (WORDS - 1) + "end."), pace=pace)


class Lines(logging.Handler):
    """Counts what is logged, as the functions' log groups would hold it."""

    def __init__(self) -> None:
        super().__init__()
        self.lines = 0
        self.bytes = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.lines += 1
        self.bytes += len(self.format(record).encode()) + 1


class Count(Struct, frozen=True):
    """What one message asked for, webhook and worker together.

    ``worker_s`` are the seconds that its worker was at it. ``requests`` is by service and operation, without the reads
    of secrets, which come by the minute. ``stored_bytes`` stay in the table. ``everybodys`` are transactions on a
    counter that all conversations share. ``platform`` are its calls by method, ``model`` is what its tokens came to;
    what is sent to both is in bytes.
    """

    worker_s: float
    requests: dict[str, int]
    read_units: float
    write_units: float
    stored_bytes: int
    log_lines: int
    log_bytes: int
    model_bytes: int
    platform: dict[str, int]
    platform_bytes: int
    everybodys: int
    model: Bill


@cache
def counted() -> dict[str, Count]:
    """Of a message of each kind, in a conversation that has a history; once in a process."""
    return asyncio.run(metered(EARLIER, slow=True))


async def metered(earlier: int, *, slow: bool) -> dict[str, Count]:
    """The same with so many earlier questions, by a model that takes its time or does not."""
    speaker, simulator = Speaker(), Simulator(pace=QUICK)
    model, platform = Counted(speaker.app), Counted(simulator.app)
    with running_emulator() as emulator, emulator.account() as account, pytest.MonkeyPatch.context() as patch:
        meter = Meter(emulator.endpoint)
        async with (
            serve(platform) as url,
            serve(model) as model_url,
            serve(meter.app) as meter_url,
            cloud_for(account, url, model_url, patch) as cloud,
        ):
            for name, value in {"AWS_ENDPOINT_URL": meter_url, **DEPLOYED}.items():
                patch.setenv(name, value)
            simulator.connect(cloud.url)
            town = Town(simulator, cloud, meter, model, platform)
            with town.logging():
                for number in range(earlier):
                    await town.answered(f"question {number}")
                speaker.slow = slow
                counts = {kind: await town.count(kind) for kind in KINDS}
            await meter.close()
    return counts


class Town:
    """One person in a private chat, and everything that is counted."""

    def __init__(self, simulator: Simulator, cloud: Cloud, meter: Meter, model: Counted, platform: Counted) -> None:
        self._simulator = simulator
        self._cloud = cloud
        self._meter = meter
        self._model = model
        self._platform = platform
        self._lines = Lines()
        self._store = DynamoDBStore(cloud.account.client("dynamodb"), TABLE, SystemClock())

    @contextmanager
    def logging(self) -> Iterator[None]:
        root = logging.getLogger()
        root.addHandler(self._lines)
        try:
            yield
        finally:
            root.removeHandler(self._lines)

    async def answered(self, words: str, file: File | None = None) -> None:
        """Say something, and wait until the worker is done with it."""
        done = len(self._cloud.answers)
        await self._simulator.telegram.say(ANN, ANN_ID, words, file=file)
        async with asyncio.timeout(PATIENCE):
            while len(self._cloud.answers) == done:  # noqa: ASYNC110 - it tells nobody
                await asyncio.sleep(0.01)

    async def count(self, kind: str) -> Count:
        """Again where the platform, as it found the machine busy, sent the message twice."""
        for _ in range(TRIES):
            count = await self._counted(kind)
            if count.requests["sqs.SendMessage"] == count.requests["dynamodb.PutItem"] == count.model.turns == 1:
                return count
        raise RuntimeError(f"The machine is too busy to count a message of the kind {kind!r}: {count}")

    async def _counted(self, kind: str) -> Count:
        before, sizes, bill = len(self._meter.passed), self._sizes(), await self._bill()
        called = self._platform.calls.copy()
        file = File("photo.png", "image/png", _photo()) if kind == "picture" else None
        await self.answered("what is the sum of it" if kind == "tool" else "what is it like " * 12, file)
        ended = time.monotonic()
        passed = [each for each in self._meter.passed[before:] if each.service != "ssm"]
        woken = next(each.at for each in passed if each.operation == "SendMessage")
        after = self._sizes()
        lines, logged, asked, said = (late - early for late, early in zip(after, sizes, strict=True))
        return Count(
            worker_s=round(ended - woken, 2),
            requests=dict(Counter(f"{each.service}.{each.operation}" for each in passed)),
            read_units=sum(each.reads for each in passed),
            write_units=sum(each.writes for each in passed),
            stored_bytes=sum(each.stored for each in passed),
            log_lines=lines,
            log_bytes=logged,
            model_bytes=asked,
            platform=dict(self._platform.calls - called),
            platform_bytes=said,
            everybodys=sum(each.is_everybodys for each in passed),
            model=_less(await self._bill(), bill),
        )

    def _sizes(self) -> tuple[int, ...]:
        lines, model, platform = self._lines, self._model, self._platform
        return lines.lines, lines.bytes, model.bytes, platform.bytes

    async def _bill(self) -> Bill:
        """What everybody's turns came to in this month."""
        counter = CounterName(EVERYBODY, month_of(time.time()))
        return (await self._store.spent([counter])).get(counter, Spent()).bill


def _photo() -> bytes:
    """As hard to compress as a real one."""
    data = io.BytesIO()
    Image.effect_noise((400, 300), 80).save(data, "PNG")
    return data.getvalue()


def _less(late: Bill, early: Bill) -> Bill:
    return Bill(*(getattr(late, name) - getattr(early, name) for name in Bill.__struct_fields__))
