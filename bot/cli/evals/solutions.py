"""Proof that a task can be passed, and that doing nothing does not pass it: a model that follows the task's solution,
and three that do nothing, behind the real agent and its real tools.

A solution is the list of the model's replies, in order: a text is an answer; names with arguments are tool calls, and
``say`` stands before them; a list of these are calls of one reply; ``times`` plays a reply so often. In any text
``{{expression}}`` stands for what the first group of this regular expression finds in what the model has read, the
newest first, so that a solution stands or falls with what the tools return.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.routing import Mount

from bot.cli.evals.judge import Judge
from bot.cli.evals.tasks import Task
from bot.cli.evals.trial import Trial, run_all
from bot.messages import Json
from handlers.settings import Settings
from handlers.workshop import Refit, unchanged
from simulator.model import Brain, ModelServer
from simulator.model_reply import Answer, Step
from simulator.model_rules import all_blocks
from simulator.serving import serve

LEFT_OPEN = re.compile(r"\{\{(?P<wanted>.+?)\}\}(?!\})")
NOT_FOUND = "(not found)"
NO_STEP = "(the solution has no more replies)"
ASKING = re.compile(r"</?(?:summary|conversation)>|\(none\)|Write the new summary now\.")
LONGEST_SUMMARY = 4_000
"""Characters."""

IDLE: dict[str, str] = {"ok": "OK.", "silent": "", "unable": "I can not do that."}
"""Models that do nothing, by name: all they ever say."""


class Solver:
    """Plays a solution. What asks for a summary of a conversation gets its beginning."""

    def __init__(self, task: Task) -> None:
        self._replies = replies_of(task)

    def __call__(self, request: Json) -> Step:
        if not request.get("tools"):
            return _summary(request)
        reply = next(self._replies, [NO_STEP])
        known = [*_texts(request)]
        content = [_block(each, known) for each in reply]
        calls = any(block["type"] == "tool_use" for block in content)
        return Answer(content, "tool_use" if calls else "end_turn")


def replies_of(task: Task) -> Iterator[list[Any]]:
    """Each reply as texts and pairs of a tool's name and its arguments."""
    for written in task.script.solution:
        pieces = [written] if isinstance(written, str | dict) else [*written]
        times = next((each["times"] for each in pieces if isinstance(each, dict) and "times" in each), 1)
        for _ in range(times):
            yield [piece for each in pieces for piece in _pieces(each)]


def _pieces(written: str | Json) -> Iterator[Any]:
    if isinstance(written, str):
        yield written
        return
    for name, given in written.items():
        if name == "say":
            yield given
        elif name != "times":
            yield name, given or {}


def _block(piece: Any, known: Sequence[str]) -> Json:
    if isinstance(piece, str):
        return {"type": "text", "text": _filled(piece, known)}
    name, given = piece
    return {"type": "tool_use", "name": name, "input": _filled(given, known)}


def _filled(value: Any, known: Sequence[str]) -> Any:
    match value:
        case str():
            return LEFT_OPEN.sub(lambda wanted: _found(wanted["wanted"], known), value)
        case dict():
            return {name: _filled(inner, known) for name, inner in value.items()}
        case list():
            return [_filled(inner, known) for inner in value]
    return value


def _found(pattern: str, known: Sequence[str]) -> str:
    hits = (re.search(pattern, text) for text in reversed(known))
    return next((hit[1] for hit in hits if hit), NOT_FOUND)


def _texts(request: Json) -> Iterator[str]:
    """All that the model has read, in order: a tool's result is one text."""
    for block in all_blocks(request):
        if block.get("type") == "text":
            yield block["text"]
        elif block.get("type") == "tool_result" and isinstance(block.get("content"), str):
            yield block["content"]


def _summary(request: Json) -> Answer:
    """The beginning of what is to be summed up, without the words that ask for it."""
    said = ASKING.sub("", "\n".join(_texts(request)))
    return spoken(said.strip()[:LONGEST_SUMMARY])


def spoken(words: str) -> Answer:
    return Answer([{"type": "text", "text": words}] if words else [])


def idle(words: str) -> Brain:
    """Says the same whatever people ask."""
    return lambda request: spoken(words) if request.get("tools") else _summary(request)


BrainOf = Callable[[Task], Brain]


async def run_with(
    brain_of: BrainOf,
    tasks: Sequence[Task],
    settings: Settings,
    *,
    repeat: int = 1,
    jobs: int = 4,
    refit: Refit = unchanged,
    judge: Judge | None = None,
) -> list[Trial]:
    """As ``run_all``, with a model server of its own for every run, all on one port. Raises AssertionError where the
    bot sent what the Messages API refuses."""
    servers = {f"{task.name}/{n}": ModelServer(brain_of(task)) for task in tasks for n in range(1, repeat + 1)}
    app = Starlette(routes=[Mount(f"/{name}", server.app) for name, server in servers.items()])
    async with serve(app) as address:

        def settings_of(task: Task, number: int) -> Settings:
            url = f"{address}/{task.name}/{number}"
            return replace(settings, anthropic_base_url=url, anthropic_api_key="scripted", kabar_provider="anthropic")

        trials = await run_all(tasks, settings_of, repeat=repeat, jobs=jobs, refit=refit, judge=judge)
    if refused := [f"{name}: {fault}" for name, server in servers.items() for fault in server.refused]:
        raise AssertionError("\n".join(refused))
    return trials
