"""What long conversations cost under each policy, with the real builder and policies and a cache that follows the
documented rules: exact prefixes, shortest length, look-back, lifetimes, prices.

``cost`` is the price of everything that was read, summaries included, in tokens of fresh input; ``resend`` of it is
what the same costs when everything is sent each time without a cache, ``slide`` when the window drops its oldest turn
whenever it is above the same mark. ``breaks`` are requests that could not read from the cache what the request before
had left there, by their reason. Pauses between turns are 20 seconds to 4 minutes, inside the cache's shortest lifetime,
but in ``pauses``, where they are 1 minute to 2 hours.
"""

import asyncio
import random
import struct
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from bot.adapters.anthropic_model import request, usage_of
from bot.context import Marks, View, fill
from bot.deadline import Deadline
from bot.folding import Folding
from bot.messages import (
    Answered,
    Asked,
    Entry,
    Inbound,
    Json,
    Numbered,
    Person,
    Place,
    Reply,
    Returned,
    Usage,
    prompt_tokens,
)
from bot.models import WRITE_LONG, WRITE_SHORT, facts_of
from bot.policies.compact import Compact
from bot.policies.summarise import Summarise
from bot.policies.window import Window
from bot.ports import OnText, Policy, Prompt
from bot.prompt import PromptBuilder
from bot.toolkit import Toolbox
from bot.tools.calculator import calculator
from bot.tools.current_time import current_time
from bot.tools.reopen import reopen
from simulator.model_cache import BYTES_PER_TOKEN, PromptCache, count

TURNS = 300
SHOWN_AT = (10, 100, 300)
CHAT, CHEAP = "claude-sonnet-5-5", "claude-haiku-5-5"
MARKS = Marks()
BEGAN = 1_800_000_000
LONGEST_KEPT = 300
"""Seconds that the end of a prompt stays in the cache."""
SUMMARY = "Ann plans a stand in Mataram. " * 80
ANN = Person(id="telegram:1", name="Ann")
HERE = Place(conversation="telegram:1", chat="1")


class Talk(Struct, frozen=True):
    """One turn: the seconds before it, what is said, the results of the tools called one after another, the answer."""

    pause: int
    said: str
    results: tuple[str | list[Json], ...]
    answer: str


# Conversations


def _short(turns: int) -> Iterator[Talk]:
    dice = random.Random(1)
    for _ in range(turns):
        yield Talk(dice.randint(20, 240), _words(dice, 400), (), _words(dice, 1_200))


def _tools(turns: int) -> Iterator[Talk]:
    dice = random.Random(2)
    for _ in range(turns):
        results = tuple(_words(dice, dice.randint(500, 12_000)) for _ in range(dice.choice((0, 1, 1, 3))))
        yield Talk(dice.randint(20, 240), _words(dice, 200), results, _words(dice, 800))


def _images(turns: int) -> Iterator[Talk]:
    dice = random.Random(3)
    for number in range(turns):
        picture = ([_picture(number)],) if number % 3 == 0 else ()
        yield Talk(dice.randint(20, 240), _words(dice, 200), picture, _words(dice, 600))


def _pauses(turns: int) -> Iterator[Talk]:
    dice = random.Random(4)
    for _ in range(turns):
        yield Talk(dice.randint(60, 7_200), _words(dice, 400), (), _words(dice, 1_200))


CONVERSATIONS: dict[str, Callable[[int], Iterator[Talk]]] = {
    "short": _short,
    "tools": _tools,
    "images": _images,
    "pauses": _pauses,
}


def _words(dice: random.Random, length: int) -> str:
    text = ""
    while len(text) < length:
        text += f"{dice.choice(('stand', 'market', 'price', 'Mataram', 'permit', 'coffee'))} {dice.randint(1, 9_999)} "
    return text[:length].strip()


def _picture(number: int) -> Json:
    """A picture by its header; nobody looks at the rest."""
    header = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 1_000, 1_000)
    data = b64encode(header + struct.pack(">I", number) * 64).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


# The models


class Chat:
    """A cache with its clock, and what was paid to it."""

    def __init__(self) -> None:
        self.now = float(BEGAN)
        self.cache = PromptCache(facts_of(CHAT).cached_from, lambda: self.now)
        self.usage = Usage()
        self.cost = 0.0

    def pay(self, prompt: Prompt) -> Usage:
        usage = usage_of(self.cache.usage(request(prompt, CHAT)))
        self.usage += usage
        self.cost += cost(usage)
        return usage


def cost(usage: Usage, model: str = CHAT) -> float:
    """In tokens of fresh input to the chat's model; what it says itself is the same under every policy and left out."""
    facts, chat = facts_of(model), facts_of(CHAT)
    read = usage.fresh + usage.cache_write * WRITE_SHORT + usage.cache_write_long * WRITE_LONG
    return (read + usage.cache_read * facts.read) * facts.price_in / chat.price_in


class SumsUp:
    """The Model port; folds, or writes a summary, of always the same length, and is paid for it."""

    def __init__(self, chat: Chat, model: str) -> None:
        self._chat = chat
        self._model = model

    async def reply(self, prompt: Prompt, on_text: OnText) -> Reply:
        if prompt.compacts is None:
            self._chat.cost += cost(Usage(fresh=count(request(prompt, self._model))), self._model)
            content, reason = [{"type": "text", "text": SUMMARY}], "end_turn"
        else:
            self._chat.pay(prompt)
            content, reason = [{"type": "compaction", "content": SUMMARY, "signature": "c2ln"}], "compaction"
        self._chat.cost += len(SUMMARY) / 4 * facts_of(self._model).price_out / facts_of(CHAT).price_in
        return Reply(content, reason, model=self._model)


def _policy(name: str, chat: Chat) -> Policy:
    summarise = Summarise(SumsUp(chat, CHEAP), 200_000)
    policies: dict[str, Policy] = {
        "window": Window(),
        "summarise": summarise,
        "compact": Compact(SumsUp(chat, CHAT), summarise),
    }
    return policies[name]


# One conversation


class Run:
    """A conversation's record and window, turn by turn."""

    def __init__(self, builder: PromptBuilder) -> None:
        self.chat = Chat()
        self.builder = builder
        self.window: list[Numbered] = []
        self.last = 0
        self.sizes: list[int] = []
        self.breaks: Counter[str] = Counter()
        self._kept = 0

    def add(self, entry: Entry) -> None:
        self.last += 1
        self.window.append(Numbered(self.last, entry))

    def turn(self, number: int, talk: Talk, why: str) -> None:
        """``why`` is the reason for which the prompt begins otherwise than the one before, or ""."""
        self.chat.now += talk.pause
        why = why or ("expired" if talk.pause > LONGEST_KEPT else "")
        name = f"t{number}"
        self.add(Asked(name, (_said(number, talk.said, self.chat.now),)))
        for step, result in enumerate(talk.results):
            call = {
                "type": "tool_use",
                "id": f"toolu_{number}_{step}",
                "name": "calculator",
                "input": {"expression": "1"},
            }
            self.add(Answered(name, Reply([call], "tool_use", CHAT, self._ask(name, why))))
            self.add(Returned(name, ({"type": "tool_result", "tool_use_id": call["id"], "content": result},)))
            why = ""
            self.chat.now += 5
        usage = self._ask(name, why)
        self.add(Answered(name, Reply([{"type": "text", "text": talk.answer}], "end_turn", CHAT, usage)))
        self.sizes.append(prompt_tokens(usage))

    def _ask(self, turn: str, why: str) -> Usage:
        usage = self.chat.pay(self.builder.build([each.entry for each in self.window], turn, allow_tools=True))
        if usage.cache_read < self._kept:
            self.breaks[why or "unexplained"] += 1
        self._kept = usage.cache_read + usage.cache_write + usage.cache_write_long
        return usage


def _said(number: int, words: str, now: float) -> Inbound:
    return Inbound(HERE, f"m{number}", f"{number:012d}", ANN, int(now), text=words)


async def under(policy: str, builder: PromptBuilder, talks: Sequence[Talk], marks: Marks) -> Run:
    run = Run(builder)
    folding = Folding(builder, _policy(policy, run.chat), marks)
    why = ""
    for number, talk in enumerate(talks):
        run.turn(number, talk, why)
        summary = await folding.after(run.window, Deadline(60))
        why = "cut" if summary else ""
        if summary:
            run.add(summary)
            run.window = [each for each in run.window if each.seq > summary.upto]
    return run


def sliding(builder: PromptBuilder, talks: Sequence[Talk], marks: Marks) -> Run:
    """The yardstick: one turn goes whenever there is more than fits."""
    run = Run(builder)
    why = ""
    for number, talk in enumerate(talks):
        run.turn(number, talk, why)
        why = ""
        while fill(View(*builder.stable, run.window), BYTES_PER_TOKEN).total > marks.high:
            run.window, why = run.window[_second_turn(run.window) :], "cut"
    return run


def _second_turn(window: Sequence[Numbered]) -> int:
    starts = (at for at, each in enumerate(window) if at and isinstance(each.entry, Asked))
    return next(starts, len(window))


def resending(builder: PromptBuilder, talks: Sequence[Talk]) -> float:
    """The other yardstick: everything, each time, at the price of fresh tokens. Each entry's size is counted once."""
    run = Run(builder)
    fixed = count(request(builder.build([], "", allow_tools=True), CHAT))
    size, total = fixed, 0
    for number, talk in enumerate(talks):
        run.turn(number, talk, "")
        new, run.window = run.window, []
        for each in new:
            if isinstance(each.entry, Answered):
                total += size
            size += fill(View([], [], [each]), BYTES_PER_TOKEN).total
    return float(total)


def measure() -> dict[str, Any]:
    return asyncio.run(_measure(TURNS, MARKS))


async def _measure(turns: int, marks: Marks) -> dict[str, Any]:
    instructions = "You help Ann with her stand. " * 100
    builder = PromptBuilder(instructions, Toolbox([calculator, current_time, reopen]), 8_192)
    figures: dict[str, Any] = {}
    for name, conversation in CONVERSATIONS.items():
        talks = list(conversation(turns))
        resend, slide = resending(builder, talks), sliding(builder, talks, marks)
        figures[name] = {"resend": {"cost": round(resend)}, "slide": _figures(slide, resend, slide.chat.cost)}
        for policy in ("window", "summarise", "compact"):
            run = await under(policy, builder, talks, marks)
            figures[name][policy] = _figures(run, resend, slide.chat.cost)
    return figures


def _figures(run: Run, resend: float, slide: float) -> dict[str, Any]:
    usage = run.chat.usage
    prompts = prompt_tokens(usage)
    return {
        "cost": round(run.chat.cost),
        "cost_ratio_resend": round(run.chat.cost / resend, 3),
        "cost_ratio_slide": round(run.chat.cost / slide, 3),
        "cache_share": round(usage.cache_read / prompts, 3),
        "prompt_tokens_at": {str(at): run.sizes[at - 1] for at in SHOWN_AT if at <= len(run.sizes)},
        "breaks": dict(run.breaks),
    }
