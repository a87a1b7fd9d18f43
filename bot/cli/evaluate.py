"""``kabar eval``: how good the agent is, measured with the model that is set up. Tasks are files in ``evals/``.

A task is a conversation through the same store and turns as everywhere, in a chat of its own that is thrown away:

    {"why": "...", "settings": {"KABAR_CONTEXT_TOKENS": "6000"},
     "steps": [{"say": "text with {number}", "times": 1, "expect": ["regular expression"], "uses": ["tool"]}]}

Each pattern must be found in the answer to its step (upper or lower case), each tool must be used for it.
"""

import json
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bot.adapters.local_wake import LocalWake
from bot.channels.terminal import TerminalChannel, typed
from bot.cli.chat import some_model
from bot.cli.wiring import Local, local
from bot.errors import ConfigError
from bot.history import reply_text, tool_calls
from bot.intake import accept
from bot.messages import Answered, Ended, Entry, Person
from handlers.settings import Settings, read_settings

TESTER = Person(id="terminal:tester", name="Tester", language="en")
UNLIMITED = {
    "kabar_budget_person_day": 0.0,
    "kabar_budget_chat_day": 0.0,
    "kabar_budget_day": 0.0,
    "kabar_budget_month": 0.0,
    "kabar_messages_per_minute": 0,
    "kabar_owner": TESTER.id,
}


class Step(Struct, frozen=True, forbid_unknown_fields=True):
    say: str
    times: int = 1
    expect: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()


class Task(Struct, frozen=True, forbid_unknown_fields=True):
    why: str
    steps: tuple[Step, ...]
    settings: dict[str, str] = {}


async def evaluate(settings: Settings, folder: Path, names: list[str]) -> bool:
    """Run these tasks, or all, and print one JSON object; whether all passed. Raises ConfigError for a faulty task."""
    tasks = read_tasks(folder, names)
    async with some_model(settings, sys.stderr, word_delay=0) as settings:
        results = {name: await _run(task, settings) for name, task in tasks.items()}
    print(json.dumps({"model": settings.kabar_model, "tasks": results}, indent=2, ensure_ascii=False))
    return all(not result["missing"] for result in results.values())


def read_tasks(folder: Path, names: list[str]) -> dict[str, Task]:
    known = {file.stem: file for file in sorted(folder.glob("*.json"))}
    if unknown := [name for name in names if name not in known]:
        raise ConfigError(
            f"There is no task {', '.join(unknown)} in {folder}. There are: {', '.join(known) or 'none'}."
        )
    tasks = {}
    for name in names or known:
        try:
            tasks[name] = msgspec.json.decode(known[name].read_bytes(), type=Task)
        except msgspec.DecodeError as error:
            raise ConfigError(f"{known[name]}: {error}") from error
    return tasks


async def _run(task: Task, settings: Settings) -> dict[str, Any]:
    began = time.monotonic()
    missing: list[str] = []
    turns = 0
    with tempfile.TemporaryDirectory() as folder:
        settings = replace(_with(settings, task.settings), kabar_data=str(Path(folder, "eval.sqlite3")), **UNLIMITED)
        async with local(settings, {"terminal": TerminalChannel(lambda _: None)}) as bot:
            for step in task.steps:
                for number in range(1, step.times + 1):
                    turns += 1
                    entries = await _answer(bot, step.say.replace("{number}", str(number)))
                    missing += [f"turn {turns}: {fault}" for fault in _faults(step, entries)]
    return {"why": task.why, "turns": turns, "missing": missing, "seconds": round(time.monotonic() - began, 1)}


async def _answer(bot: Local, text: str) -> list[Entry]:
    """The entries that this message leaves in the record."""
    inbound = typed("eval", TESTER, text, bot.clock.now())
    await accept(inbound, bot.store, bot.wake, bot.clock)
    assert isinstance(bot.wake, LocalWake)  # noqa: S101 - local() has no other
    await bot.wake.drain()
    entries = [each.entry for each in await bot.store.record(inbound.conversation, 1)]
    asked = max(
        n for n, entry in enumerate(entries) if any(each.id == inbound.id for each in getattr(entry, "said", ()))
    )
    return entries[asked:]


def _faults(step: Step, entries: list[Entry]) -> list[str]:
    answers = [entry for entry in entries if isinstance(entry, Answered)]
    shown = "\n".join([*map(reply_text, answers), *(entry.shown for entry in entries if isinstance(entry, Ended))])
    used = {call["name"] for answer in answers for call in tool_calls(answer)}
    return [
        *(f"{pattern!r} is not in {shown[:500]!r}" for pattern in step.expect if not re.search(pattern, shown, re.I)),
        *(f"{tool} was not used" for tool in step.uses if tool not in used),
    ]


def _with(settings: Settings, changes: dict[str, str]) -> Settings:
    """Raises ConfigError for a name that is no setting, or a value that is none."""
    if unknown := [name for name in changes if name.lower() not in Settings.__struct_fields__]:
        raise ConfigError(f"No settings: {', '.join(unknown)}.")
    changed = read_settings(changes)
    return replace(settings, **{name.lower(): getattr(changed, name.lower()) for name in changes})
