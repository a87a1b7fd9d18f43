"""Tasks: one YAML file each, in a folder for each set, such as ``evals/tuning/rent.yaml`` (docs/evals.md).

why: The rent is worked out from the contract, and the day it is due is remembered.
now: 2030-06-03T09:00+07:00
people: {rina: {name: Rina, language: id, zone: Asia/Jakarta}}
files: {contract.txt: "Rent: 2,400,000 a month, due on the 5th."}
steps:
  - say: Please read the contract. What is a year's rent? Remind me every month when it is due.
    files: [contract.txt]
    approve: yes
    expect: ['28[.,]?800[.,]?000']
    uses: [remind]
checks:
  - reminder: {at: 2030-06-05T09:00, repeat: MONTHLY}
solution:
  - calculator: {expression: 12 * 2400000}
  - remind: {text: Rent, when: 2030-06-05T09:00, repeat: monthly}
  - The rent is {{(28800000)}} a year.
"""

import importlib.util
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Literal
from zoneinfo import ZoneInfo

from msgspec import Struct, field
from msgspec.structs import replace

from bot.agentdir.documents import Document, Fault, as_yaml, fitted, text_of
from bot.errors import ConfigError
from bot.messages import Json
from handlers.settings import Settings, read_settings

DRAFTS = "drafts"
"""The set of what is not finished: run only where it is named."""
CHECKS = "checks.py"
"""In the folder of all tasks: the functions that every task may name. Those of one task are in a file beside it, with
the ending .py."""

CheckFunction = Callable[..., list[str] | Awaitable[list[str]]]
"""Called with the Outcome and what the task says of it; returns what is wrong, a sentence each."""


class Speaker(Struct, frozen=True, forbid_unknown_fields=True):
    """Somebody who writes. ``zone``: the bot knows their time zone; it does not where it is ""."""

    name: str
    language: str = "en"
    zone: str = ""
    role: Literal["member", "guest"] = "member"


class Quoted(Struct, frozen=True, forbid_unknown_fields=True):
    """What a message replies to or forwards."""

    text: str
    author: str = ""


class Step(Struct, frozen=True, forbid_unknown_fields=True):
    """One message and what must be true of the turns it starts.

    ``times``: so often, with ``{number}`` counted from 1. ``by``: the first of ``people`` where it is "". ``group``:
    said in the group of that name. ``approve``: the answer to everything the bot asks leave for; it is no where nothing
    is said. ``expect`` and ``reject`` are regular expressions that must, and must not, be found in what the person
    reads, in upper or lower case. A tool of ``uses`` must have worked at least once, one of ``avoids`` must not have
    been called; ``at_most`` is the number of calls by tool.
    """

    say: str = ""
    times: int = 1
    by: str = ""
    group: str = ""
    files: tuple[str, ...] = ()
    quote: Quoted | None = None
    approve: bool = False
    expect: tuple[str, ...] = ()
    reject: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    avoids: tuple[str, ...] = ()
    at_most: dict[str, int] = {}


class Beforehand(Struct, frozen=True, forbid_unknown_fields=True):
    """A reminder that is set when the task begins; ``when`` and ``repeat`` as the tool takes them."""

    text: str
    when: str
    repeat: str = ""
    by: str = ""
    group: str = ""
    asks: bool = False


class Earlier(Struct, frozen=True, forbid_unknown_fields=True):
    """A turn of the conversation that was over before the task begins."""

    say: str
    answer: str
    by: str = ""
    group: str = ""


class Script(Struct, frozen=True, forbid_unknown_fields=True):
    """What a task's file says.

    ``now``: when it begins; the time it is where nothing is said, and the first person's local time where no offset is.
    ``settings``: the bot's, by their names in capitals. ``people``: the first owns the bot. ``tools``: those the bot
    has, all where none is named. ``memory``: what is remembered already, of each person and group by name. ``files``:
    texts by name, or ``{from: path}`` beside the task. ``web``: pages by site and path, served on the port that
    ``{port}`` stands for. ``checks``: functions by name with what they are given. ``rubric``: what a judge scores.
    ``solution``: replies of a model that pass (bot/cli/evals/solutions.py).
    """

    why: str
    steps: tuple[Step, ...]
    tags: tuple[str, ...] = ()
    now: Any = ""
    settings: dict[str, str] = {}
    people: dict[str, Speaker] = field(default_factory=lambda: {"ann": Speaker("Ann")})
    tools: tuple[str, ...] = ()
    memory: dict[str, tuple[str, ...]] = {}
    reminders: tuple[Beforehand, ...] = ()
    earlier: tuple[Earlier, ...] = ()
    files: dict[str, str | dict[Literal["from"], str]] = {}
    web: dict[str, dict[str, str]] = {}
    checks: tuple[dict[str, Any], ...] = ()
    rubric: str = ""
    solution: tuple[str | Json | tuple[Json, ...], ...] = ()


class Check(Struct, frozen=True):
    name: str
    function: CheckFunction
    given: Any


class Task(Struct, frozen=True):
    """``set`` is the folder it is in, "" for none; ``folder`` is what paths in it are relative to; ``text`` is its file
    as it was written."""

    name: str
    set: str
    folder: Path
    text: str
    script: Script
    checks: tuple[Check, ...] = ()

    @property
    def is_judged_only(self) -> bool:
        """Whether only a judge can tell if it is passed."""
        return not self.checks and not any(map(_demands, self.script.steps))


def read_tasks(folder: Path, names: tuple[str, ...] = (), chosen: str = "") -> list[Task]:
    """These tasks, or those of the set ``chosen``, or all but drafts. Raises ConfigError naming every fault in them."""
    files = _files(folder)
    if not files:
        raise ConfigError(f"There are no tasks in {folder}.")
    if unknown := [name for name in names if name not in files]:
        raise ConfigError(f"There is no task {', '.join(unknown)} in {folder}. There are: {', '.join(files)}.")
    sets = {name: _set_of(file, folder) for name, file in files.items()}
    if chosen and chosen not in sets.values():
        raise ConfigError(f"There is no set {chosen} in {folder}. There are: {', '.join(sorted({*sets.values()}))}.")
    wanted = names or [name for name in files if (sets[name] == chosen if chosen else sets[name] != DRAFTS)]
    shared = _functions(folder / CHECKS)
    read = [_read(files[name], name, folder, shared) for name in wanted]
    if faults := [f"{folder}/{fault}" for each in read if isinstance(each, list) for fault in each]:
        raise ConfigError("\n".join(faults))
    return [each for each in read if isinstance(each, Task)]


def _files(folder: Path) -> dict[str, Path]:
    """By the names of their tasks. Raises ConfigError where two have the same."""
    files: dict[str, Path] = {}
    for file in sorted(folder.rglob("*.yaml")):
        if file.stem in files:
            raise ConfigError(f"Two tasks are called {file.stem}: {files[file.stem]} and {file}.")
        files[file.stem] = file
    return files


def _set_of(file: Path, folder: Path) -> str:
    return "/".join(file.relative_to(folder).parts[:-1])


def _read(file: Path, name: str, folder: Path, shared: Mapping[str, CheckFunction]) -> Task | list[Fault]:
    known = file.relative_to(folder).as_posix()
    text = text_of(folder, known)
    if isinstance(text, Fault):
        return [text]
    document = as_yaml(text, known)
    if isinstance(document, Fault):
        return [document]
    script = fitted(document, Script)
    if isinstance(script, Fault):
        return [script]
    functions = {**shared, **_functions(file.with_suffix(".py"))}
    faults = [*_faults(script, document, file.parent), *_unknown_checks(script, document, functions)]
    checks = [
        Check(called, functions[called], given)
        for each in script.checks
        for called, given in each.items()
        if called in functions
    ]
    task = Task(name, _set_of(file, folder), file.parent, text, script, tuple(checks))
    if task.is_judged_only and not script.rubric:
        faults.append(
            document.fault("It checks nothing, so nobody could fail it: add expect, uses, checks or a rubric.")
        )
    return faults or task


def _unknown_checks(script: Script, document: Document, functions: Mapping[str, CheckFunction]) -> Iterator[Fault]:
    for number, each in enumerate(script.checks):
        for name in each:
            if name not in functions:
                known = ", ".join(functions) or "none"
                yield document.fault(f"There is no check {name!r}. There are: {known}.", f".checks[{number}].{name}")


def _faults(script: Script, document: Document, folder: Path) -> Iterator[Fault]:
    """What the shape alone does not tell."""
    if script.now and (why := _no_moment(script.now)):
        yield document.fault(f"{script.now} is no time such as 2030-06-03T09:00: {why}.", ".now")
    if why := _no_settings(script.settings):
        yield document.fault(why, ".settings")
    if not script.people or next(iter(script.people.values())).role != "member":
        yield document.fault("The first of people owns the bot: name one, or leave the field out.", ".people")
    for number, step in enumerate(script.steps):
        place = f".steps[{number}]"
        for kind in ("expect", "reject"):
            for pattern in getattr(step, kind):
                if why := _no_pattern(pattern):
                    yield document.fault(f"{pattern!r} is no regular expression: {why}.", f"{place}.{kind}")
        for file in step.files:
            if file not in script.files:
                yield document.fault(f"There is no file {file!r} among files.", f"{place}.files")
        if step.times < 1:
            yield document.fault("It must be said once at least.", f"{place}.times")
    said_in: list[Step | Earlier | Beforehand] = [*script.steps, *script.earlier, *script.reminders]
    groups = {each.group for each in said_in}
    for whose in script.memory:
        if whose not in script.people and whose not in groups:
            yield document.fault(f"There is no person and no group {whose!r}.", f".memory.{whose}")
    said = [
        (f".{field}[{n}].by", each.by)
        for field in ("steps", "reminders", "earlier")
        for n, each in enumerate(getattr(script, field))
    ]
    for place, by in said:
        if by and by not in script.people:
            yield document.fault(f"There is nobody {by!r} among people: {', '.join(script.people)}.", place)
    for name, given in script.files.items():
        if isinstance(given, dict) and not (folder / given.get("from", "")).is_file():
            yield document.fault(f"There is no file {given.get('from')!r} beside the task.", f".files.{name}")


def with_changes(settings: Settings, changes: dict[str, str]) -> Settings:
    """Raises ConfigError for a name that is no setting, or a value that is none."""
    if unknown := [name for name in changes if name.lower() not in Settings.__struct_fields__]:
        raise ConfigError(f"No settings: {', '.join(unknown)}.")
    changed = read_settings(changes)
    return replace(settings, **{name.lower(): getattr(changed, name.lower()) for name in changes})


def moment(written: Any, zone: ZoneInfo) -> datetime:
    """A time as somebody writes it in a task, local where it says no offset; YAML has made a time of some of them
    already. Raises ValueError."""
    found = written if isinstance(written, datetime) else datetime.fromisoformat(str(written))
    return found if found.tzinfo else found.replace(tzinfo=zone)


def _no_pattern(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        return str(error)
    return ""


def _no_moment(written: Any) -> str:
    try:
        moment(written, ZoneInfo("UTC"))
    except ValueError as error:
        return str(error)
    return ""


def _no_settings(changes: dict[str, str]) -> str:
    try:
        with_changes(Settings(), changes)
    except ConfigError as error:
        return str(error)
    return ""


def _demands(step: Step) -> bool:
    """Whether a bot that says and does nothing could fail this step, or one that does too much."""
    return bool(step.expect or step.reject or step.uses or step.avoids or step.at_most)


def _functions(file: Path) -> Mapping[str, CheckFunction]:
    """Every public function that the file itself defines. It is the owner's own code, and is run. Raises ConfigError
    where it does not even load."""
    if not file.is_file():
        return MappingProxyType({})
    spec = importlib.util.spec_from_file_location(f"kabar_checks_{file.stem}", file)
    assert spec is not None and spec.loader is not None  # noqa: S101 - a file with the ending .py has both
    module: ModuleType = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # where somebody else's code begins
        raise ConfigError(f"{file} can not be loaded: {type(error).__name__}: {error}.") from error
    found = {name: value for name, value in vars(module).items() if callable(value) and not name.startswith("_")}
    return {name: value for name, value in found.items() if getattr(value, "__module__", "") == module.__name__}
