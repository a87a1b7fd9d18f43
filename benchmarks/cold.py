"""A message to a bot whose functions have not started: when does the model hear of it, and the person of the bot?

Ours crosses a queue and starts two functions; the plain way (``plain_handler.py``) is one that answers in place. Of
each: milliseconds from the platform's request until the model's server has the first request, and of processor time
that the functions used for it; ``sign_ms`` until the webhook's answer, which in Telegram is itself the typing sign.
Runs are interleaved, so that a busy moment falls on all; ``least`` is their minimum.

Everything is on this machine. On AWS come the network and Lambda's own share of a cold start, for ours twice.
"""

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from benchmarks.in_lambda import Function, Surroundings, functions, plain_settings, surroundings
from benchmarks.performance_page import Aim, at_most, section, table
from simulator import slack, telegram
from simulator.model_reply import Answer
from simulator.script import reply, text
from simulator.serving import serve
from tests.emulator import Emulator, running_emulator
from tests.packages.events import http_event, sqs_event
from tests.packages.runtime_api import Runtime

ROUNDS = 5
WAIT = 60.0

WAYS = {
    "kabar_telegram": ("telegram", ("webhook", "worker")),
    "kabar_slack": ("slack", ("webhook", "worker")),
    "plain_telegram": ("telegram", ("plain",)),
    "plain_slack": ("slack", ("plain",)),
    "plain_telegram_without_pyc": ("telegram", ("plain_sources",)),
}


class Seen(Struct):
    """Seconds of ``time.perf_counter``, and of processors."""

    came: float = 0.0
    signed: float = 0.0
    asked: float = 0.0
    processors: float = 0.0
    sign: Any = None
    """The webhook's answer."""


TIMES_PLAIN = 1.1


def aims(figures: Mapping[str, Any]) -> list[Aim]:
    cold = [
        at_most(
            f"all cold, first request to the model for a message in {platform.capitalize()}, times the plain way",
            TIMES_PLAIN,
            figures[f"{platform}_times_plain"]["request_ms"],
        )
        for platform in ("telegram", "slack")
    ]
    signs = figures["typing_in_every_answer"]
    sign = Aim(
        "first sign of life in Telegram", "within the webhook's answer", "typing, in all" if signs else "", signs
    )
    return [*cold, sign]


def markdown(figures: Mapping[str, Any]) -> str:
    names = {
        "kabar_telegram": "Kabar, Telegram",
        "plain_telegram": "the plain way, Telegram",
        "kabar_slack": "Kabar, Slack",
        "plain_slack": "the plain way, Slack",
        "plain_telegram_without_pyc": "the plain way as `sam build` leaves it, Telegram",
    }
    columns = ("request_ms", "least_request_ms", "processor_ms", "sign_ms")
    rows = [(words, *(figures[name][column] for column in columns)) for name, words in names.items()]
    words = f"""
        Nothing runs, and somebody writes. Milliseconds from the platform's request until the model is asked, though
        Kabar starts two functions with a queue between them and reads its secrets from SSM; and until the webhook has
        answered, which in Telegram shows that it types. Medians of {figures["rounds"]} interleaved rounds. The network
        and Lambda's own share of a start, two of them for Kabar, are not in it. A function of 1,024 MB has 0.58 of a
        processor once it has started. SnapStart, where it is switched on, takes the loading out of both starts: what is
        left then is a restore, which only AWS can do."""
    head = ["", "model asked, ms", "least", "processor, ms", "webhook answered, ms"]
    return section("Everything cold", words, table(head, rows))


def measure() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder, running_emulator() as emulator:
        known, _ = functions(Path(folder))
        return asyncio.run(_rounds(emulator, known))


async def _rounds(emulator: Emulator, known: dict[str, Function]) -> dict[str, Any]:
    runs: dict[str, list[Seen]] = {way: [] for way in WAYS}
    for way in WAYS:  # once only to warm the disk's cache
        await _run(emulator, known, way)
    for _ in range(ROUNDS):
        for way in WAYS:
            runs[way].append(await _run(emulator, known, way))
    figures: dict[str, Any] = {way: _figures(each) for way, each in runs.items()}
    for platform in ("telegram", "slack"):
        ours, plain = figures[f"kabar_{platform}"], figures[f"plain_{platform}"]
        figures[f"{platform}_times_plain"] = {
            name: round(ours[name] / plain[name], 2) for name in ("request_ms", "least_request_ms", "processor_ms")
        }
    signs = [json.loads(run.sign["body"] or "{}").get("action") for run in runs["kabar_telegram"]]
    return {"rounds": ROUNDS, "typing_in_every_answer": set(signs) == {"typing"}, **figures}


def _figures(runs: list[Seen]) -> dict[str, float]:
    requests = [1000 * (run.asked - run.came) for run in runs]
    return {
        "request_ms": round(statistics.median(requests)),
        "least_request_ms": round(min(requests)),
        "processor_ms": round(min(1000 * run.processors for run in runs)),
        "sign_ms": round(statistics.median(1000 * (run.signed - run.came) for run in runs)),
    }


async def _run(emulator: Emulator, known: dict[str, Function], way: str) -> Seen:
    platform, names = WAYS[way]
    asked = asyncio.Event()

    def brain(_: Any) -> Answer:
        if not seen.asked:
            seen.asked, seen.processors = time.perf_counter(), way_in.processor_seconds
            asked.set()
        return reply(text("Hello."))

    seen = Seen()
    async with surroundings(emulator, brain) as around:
        way_in = Way(around, seen, [known[name] for name in names])
        async with way_in.served() as url:
            around.simulator.connect(url)
            if platform == "telegram":
                await around.simulator.telegram.say(telegram.ANN_CHAT, "ann", "hello")
            else:
                await around.simulator.slack.say(slack.ANN_DM, "ann", "hello")
            async with asyncio.timeout(WAIT):
                await asked.wait()
                await way_in.over()
    return seen


class Way:
    """The function that hears the platform, started by its first request, and the one behind the queue, if there is
    one, started by the first message there."""

    def __init__(self, around: Surroundings, seen: Seen, functions: Sequence[Function]) -> None:
        self._around = around
        self._seen = seen
        self._functions = functions
        self._started: list[Runtime] = []
        self._running = ExitStack()
        self._tasks: list[asyncio.Future[Any]] = []
        self._front = asyncio.Lock()
        self._app = Starlette(routes=[Route("/{path:path}", self._request, methods=["POST"])])

    @property
    def processor_seconds(self) -> float:
        return sum(each.processor_seconds for each in self._started)

    @asynccontextmanager
    async def served(self) -> AsyncIterator[str]:
        with self._running:
            async with serve(self._app) as url:
                yield url

    async def over(self) -> None:
        """Returns when all is done that was begun."""
        await asyncio.gather(*self._tasks)

    async def _request(self, request: Request) -> Response:
        event = http_event(request.url.path, await request.body(), dict(request.headers))
        async with self._front:  # an environment handles one event at a time
            if not self._started:
                self._seen.came = time.perf_counter()
                if len(self._functions) > 1:
                    self._tasks.append(asyncio.ensure_future(asyncio.to_thread(self._take_wake)))
                await asyncio.to_thread(self._start, self._functions[0])
            answered = asyncio.ensure_future(asyncio.to_thread(self._started[0].invoke, event))
            self._tasks.append(answered)
            answer = await asyncio.shield(answered)
            if not self._seen.signed:
                self._seen.signed, self._seen.sign = time.perf_counter(), answer
        return Response(answer.get("body", ""), answer["statusCode"], answer.get("headers"))

    def _start(self, function: Function) -> Runtime:
        runtime = self._around.start(function, plain_settings() if len(self._functions) == 1 else None)
        self._started.append(self._running.enter_context(runtime))
        return runtime

    def _take_wake(self) -> None:
        """What the event source does, which waits at the queue: a function is started for the message."""
        sqs, queue = self._around.account.client("sqs"), self._around.queue_url
        received = sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=20, AttributeNames=["All"])
        self._start(self._functions[1]).invoke(sqs_event(received["Messages"][0]))
