"""A long answer on its way to people: does it grow without a halt, is it whole, and does the platform put up with it?

The bot as ``kabar serve`` runs it is asked one question in each of some places, side by side, each in a simulator of
its own with the platform's limits enforced. A scripted model writes the same Markdown everywhere, and in the middle the
platform refuses one call with 429.

Of each place: ``calls`` by method; ``limit_exceeded``, the calls refused beside that one, due to be 0;
``first_words_s`` from the model's first word to the first that people see; ``longest_still_s``, the longest time in
which people saw nothing new while the model wrote, less the wait that was asked for (``with_wait_s``: as it was);
``final_s`` from the model's last word until all was seen; ``whole``: every word was there, once and in order.

A Telegram group takes 20 messages and edits a minute, one every three seconds with nothing left for the final text, so
there an answer that was not held up once in a whole minute may end three seconds late.
"""

import asyncio
import math
import re
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import count, pairwise
from pathlib import Path
from typing import Any

from msgspec import Struct
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from benchmarks.performance_page import Aim, at_most, section, table
from bot.cli.serve import OneDoor
from bot.cli.wiring import local
from bot.governor import loop_time
from handlers.settings import Settings
from handlers.webhook import application
from simulator import serving, slack, telegram
from simulator.app import Simulator, serve, slack_base_url, telegram_base_url
from simulator.model_reply import words
from simulator.script import ScriptedModel, reply, text
from simulator.slack_rates import RATES
from simulator.telegram_limits import Flood
from simulator.world import Event, Fault, Platform

CHARACTERS = 30_000
SECONDS = 94.0
"""Of writing: 80 tokens of four characters each second."""
SETTLING = 60.0
"""Seconds the bot has, at most, to show what is left when the model is done."""

Figures = dict[str, Any]
SHOWN = ("first_words_s", "longest_still_s", "final_s")


class Scene(Struct, frozen=True):
    """Where a question is asked. ``refused`` is the method of the call that is refused."""

    platform: Platform
    chat: str
    question: str
    refused: str
    drafts: bool = False


class Answer(Struct, frozen=True):
    """What the model writes, within so many seconds. Once more than the share ``refused_from`` of it is seen, a call is
    refused for ``retry_after`` seconds."""

    source: str
    seconds: float
    refused_from: float
    retry_after: int


SCENES = {
    "telegram_private": Scene("telegram", telegram.ANN_CHAT, "Tell me all", "editMessageText"),
    "telegram_private_drafts": Scene("telegram", telegram.ANN_CHAT, "Tell me all", "sendMessageDraft", drafts=True),
    "telegram_group": Scene("telegram", telegram.GROUP, f"@{telegram.USERNAME} tell me all", "editMessageText"),
    "slack_thread": Scene("slack", slack.GENERAL, "@Kabar tell me all", "chat.appendStream"),
    "slack_direct": Scene("slack", slack.ANN_DM, "Tell me all", "chat.update"),
}


def aims(figures: Mapping[str, Any]) -> list[Aim]:
    scenes = [figures[name] for name in SCENES]
    whole, refused = all(each["whole"] for each in scenes), sum(each["limit_exceeded"] for each in scenes)
    prompt = [figures[name]["first_words_s"] for name in SCENES if name != "telegram_group"]
    return [
        Aim("a long answer on both platforms", "whole, once and in order", "it is" if whole else "it is not", whole),
        at_most("calls refused for their number while it grows", 0, refused),
        at_most("from the model's first word to people's, seconds", 1.0, max(prompt)),
        at_most("the same in a Telegram group, seconds", 3.0, figures["telegram_group"]["first_words_s"]),
        at_most("the longest time a growing answer stands still, seconds", 3.0, max(_each(scenes, "longest_still_s"))),
        at_most("from the model's last word until all is seen, seconds", 2.0, max(_each(scenes, "final_s"))),
    ]


def _each(scenes: Sequence[Mapping[str, Any]], name: str) -> list[float]:
    return [scene[name] for scene in scenes]


def markdown(figures: Mapping[str, Any]) -> str:
    rows = [
        (name.replace("_", " "), *(figures[name][each] for each in SHOWN), sum(figures[name]["calls"].values()))
        for name in SCENES
    ]
    words = f"""
        {figures["characters"]:,} characters, {figures["characters_per_second"]} each second, asked for in five places
        at once. Seconds from the model's first word until people see some, the longest time in which they saw nothing
        new, and from its last word until all was seen; and calls to the platform, one of which is refused on
        purpose."""
    head = ["", "first words, s", "longest still, s", "final, s", "calls"]
    return section("A long answer as it grows", words, table(head, rows))


def measure() -> Figures:
    return {
        "characters": CHARACTERS,
        "characters_per_second": round(CHARACTERS / SECONDS),
        **asyncio.run(_side_by_side()),
    }


async def _side_by_side() -> Figures:
    answer = Answer(essay(CHARACTERS), SECONDS, refused_from=0.5, retry_after=5)
    figures = await asyncio.gather(*(answered(scene, answer) for scene in SCENES.values()))
    return dict(zip(SCENES, figures, strict=True))


async def answered(scene: Scene, answer: Answer) -> Figures:
    simulator, model = Simulator(), Writer(answer)
    simulator.telegram.limit(Flood())
    simulator.slack.rates = RATES
    audience = Audience(simulator, scene, answer)
    with tempfile.TemporaryDirectory() as folder:
        async with serving.serve(model) as model_url, serve(simulator) as url, audience.watching():
            settings = _settings(scene, url, model_url, folder)
            async with local(settings, grace=SETTLING) as bot, serving.serve(application(OneDoor(bot.door))) as bot_url:
                simulator.connect(bot_url)
                platform = simulator.telegram if scene.platform == "telegram" else simulator.slack
                await platform.say(scene.chat, "ann", scene.question)
                async with asyncio.timeout(2 * answer.seconds + SETTLING):
                    await model.done.wait()
    return audience.figures(model.spoken)


def _settings(scene: Scene, url: str, model_url: str, folder: str) -> Settings:
    return Settings(
        telegram_bot_token=telegram.TOKEN,
        telegram_webhook_secret=telegram.SECRET,
        telegram_bot_username=telegram.USERNAME,
        telegram_api_base_url=telegram_base_url(url),
        slack_bot_token=slack.BOT_TOKEN,
        slack_signing_secret=slack.SIGNING_SECRET,
        slack_api_base_url=slack_base_url(url),
        anthropic_api_key="of-no-account",
        anthropic_base_url=model_url,
        kabar_allowed_users="*",
        kabar_telegram_drafts="on" if scene.drafts else "off",
        kabar_data=str(Path(folder, "kabar.sqlite3")),
        kabar_files=str(Path(folder, "files")),
    )


# The answer.


def essay(characters: int) -> str:
    """Markdown of at least so many characters, with everything a long answer has. Every third word is a number, one
    more than the one before it."""
    number = count(1)
    text = ""
    for chapter in count(1):
        for piece in _chapter(chapter, number):
            text += f"{piece}\n\n"
            if len(text) >= characters:
                return text.rstrip()
    raise AssertionError("there is always another chapter")


def _chapter(chapter: int, number: Iterator[int]) -> Iterator[str]:
    yield f"## Chapter {_words(number, 1)}"
    for _ in range(3):
        yield " ".join(f"{_words(number, 12).capitalize()}, **{_words(number, 2)}**." for _ in range(5))
    yield "\n".join(f"- {_words(number, 5)}" for _ in range(8))
    yield "\n".join(["```python", *(f"    if {_words(number, 1)}:  # {_words(number, 3)}" for _ in range(25)), "```"])
    yield _words(number, 60).capitalize()
    rows = (f"| {_words(number, 1)} | {_words(number, 1)} |" for _ in range(6 if chapter % 2 else 0))
    yield "\n".join(["| first | second |", "|---|---|", *rows]) if chapter % 2 else _words(number, 40)


def _words(number: Iterator[int], times: int) -> str:
    return " ".join(f"mountain of n{next(number):05}" for _ in range(times))


def numbers(text: str) -> list[str]:
    return re.findall(r"n\d{5}", text)


class Writer:
    """The model as an ASGI app that speaks at an even pace; ``spoken`` are the loop's times at which words went out."""

    def __init__(self, answer: Answer) -> None:
        self._app: ASGIApp = ScriptedModel([reply(text(answer.source))]).app
        self._pace = answer.seconds / len(words(answer.source))
        self.spoken: list[float] = []
        self.done = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def noted(message: Message) -> None:
            body = message.get("body", b"")
            if b"text_delta" in body:
                await self._next_word()
            await send(message)
            if b"message_stop" in body:
                self.done.set()

        await self._app(scope, receive, noted)

    async def _next_word(self) -> None:
        """Wait for its time, which does not depend on how late the words before it were."""
        if self.spoken:
            await asyncio.sleep(max(self.spoken[0] + len(self.spoken) * self._pace - loop_time(), 0))
        self.spoken.append(loop_time())


# Who watches.


class Audience:
    """What people in a chat see of the bot, and when that changes. Has the one call refused when it is time for it."""

    def __init__(self, simulator: Simulator, scene: Scene, answer: Answer) -> None:
        self._world = simulator.world
        self._platform = scene.platform
        self._expected = numbers(answer.source)
        self._refused_from = answer.refused_from * len(self._expected)
        self._fault = Fault(scene.platform, scene.refused, "error", status=429, retry_after=answer.retry_after)
        self._texts: dict[str, str] = {}
        self._changes: list[float] = []
        self._refused_at = 0.0

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        hello = asyncio.Event()
        watching = asyncio.create_task(self._watch(hello))
        await hello.wait()
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    async def _watch(self, hello: asyncio.Event) -> None:
        async for event in self._world.watch():
            hello.set()
            self._see(event)

    def _see(self, event: Event) -> None:
        before = self.seen
        match event.type, event.data:
            case "message", {"is_bot": True, "id": id}:
                self._texts[id] = event.data["text"] or event.data["markdown_text"]
            case "gone", {"id": id}:
                self._texts.pop(id, None)
            case "call", {"error": "status 429"}:
                self._refused_at = loop_time()
        if self.seen != before:
            self._changes.append(loop_time())
        if len(numbers(self.seen)) > self._refused_from:
            self._refused_from = math.inf
            self._world.add_fault(self._fault)

    @property
    def seen(self) -> str:
        return "\n".join(self._texts.values())

    def figures(self, spoken: list[float]) -> Figures:
        first, last = spoken[0], spoken[-1]
        changes = [first, *(at for at in self._changes if first < at < last), last]
        calls = [call for call in self._world.calls if call.platform == self._platform]
        return {
            "calls": dict(Counter(call.method for call in calls)),
            "limit_exceeded": sum(call.error.startswith(("Too Many Requests", "ratelimited")) for call in calls),
            "refused": sum(call.error == "status 429" for call in calls),
            "first_words_s": round(self._changes[0] - first, 2),
            "longest_still_s": round(max(later - at - self._waited(at, later) for at, later in pairwise(changes)), 2),
            "longest_still_with_wait_s": round(max(later - at for at, later in pairwise(changes)), 2),
            "final_s": round(self._changes[-1] - last, 2),
            "whole": numbers(self.seen) == self._expected,
            "messages": len(self._texts),
            "model_s": round(last - first, 1),
        }

    def _waited(self, start: float, end: float) -> float:
        """Seconds of this time in which the platform wanted no call."""
        return max(min(end, self._refused_at + self._fault.retry_after) - max(start, self._refused_at), 0.0)
