"""One run of one task: played, checked, judged, measured. Many of them side by side."""

import asyncio
import inspect
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence

from msgspec import Struct

from bot.cli.evals.judge import Judge, Judgement
from bot.cli.evals.measures import Measures, measured
from bot.cli.evals.stage import Outcome, Stage, staged
from bot.cli.evals.tasks import Check, Step, Task
from bot.cli.evals.transcript import as_text, calls_in, shown_in
from bot.errors import ConfigError
from bot.messages import Entry, Numbered
from handlers.settings import Settings
from handlers.workshop import Refit, unchanged

STEP_SECONDS = 900.0
"""What one message may take; a turn ends by its own limits long before."""
SHOWN = 500
"""Characters of an answer that a fault repeats."""


class Trial(Struct, frozen=True):
    """``faults`` say what is wrong, none where it passed; ``unjudged`` why a rubric was not scored. ``entries`` are the
    records of its conversations; ``sent`` and ``asked`` are as in Outcome."""

    task: Task
    number: int
    faults: tuple[str, ...]
    measures: Measures
    judged: Judgement | None = None
    unjudged: str = ""
    entries: dict[str, tuple[Numbered, ...]] = {}
    sent: dict[str, str] = {}
    asked: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return not self.faults


SettingsOf = Callable[[Task, int], Settings]
"""The settings for one run of a task, with the model it talks to."""


async def run_all(
    tasks: Sequence[Task],
    settings_of: SettingsOf,
    *,
    repeat: int = 1,
    jobs: int = 4,
    judge: Judge | None = None,
    refit: Refit = unchanged,
    on_done: Callable[[Trial], None] = lambda trial: None,
) -> list[Trial]:
    """Every task ``repeat`` times, at most ``jobs`` runs at once; in the order of the tasks."""
    room = asyncio.Semaphore(jobs)

    async def one(task: Task, number: int) -> Trial:
        async with room:
            trial = await run(task, number, settings_of(task, number), judge=judge, refit=refit)
        on_done(trial)
        return trial

    try:
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(one(task, number)) for task in tasks for number in range(1, repeat + 1)]
    except BaseExceptionGroup as broken:
        raise broken.exceptions[0] from None  # the others were cancelled
    return [each.result() for each in running]


async def run(
    task: Task, number: int, settings: Settings, *, judge: Judge | None = None, refit: Refit = unchanged
) -> Trial:
    """Raises ConfigError where the task can not be used as it is; whatever else goes wrong is a fault of the run."""
    began = time.monotonic()
    try:
        async with staged(task, settings, refit) as stage:
            faults, shown = await _played(task, stage)
            outcome = await stage.outcome(shown)
        seconds = time.monotonic() - began
        faults += await _checked(task, outcome)
    except ConfigError as error:
        raise ConfigError(f"{task.name}: {error}") from error
    except Exception as error:  # where a run begins: the others may have been paid for
        return Trial(task, number, (f"the run broke: {type(error).__name__}: {error}",), Measures())
    judgement = await _judged(task, outcome, judge)
    if isinstance(judgement, Judgement) and not judgement.passes:
        faults.append(f"the judge gave {judgement.score} of 5: {judgement.reason}")
    if task.is_judged_only and isinstance(judgement, str):
        faults.append(f"nothing but a rubric tells whether it passed, and nobody scored it: {judgement}")
    every = [each.entry for numbered in outcome.entries.values() for each in numbered]
    return Trial(
        task=task,
        number=number,
        faults=tuple(faults),
        measures=measured([each for each in every if not _is_before(each)], seconds),
        judged=judgement if isinstance(judgement, Judgement) else None,
        unjudged=judgement if isinstance(judgement, str) else "",
        entries=outcome.entries,
        sent=outcome.sent,
        asked=outcome.asked,
    )


async def _played(task: Task, stage: Stage) -> tuple[list[str], str]:
    """What is wrong with its steps, and all that was shown."""
    faults: list[str] = []
    shown: list[str] = []
    for at, step in enumerate(task.script.steps, 1):
        for n in range(1, step.times + 1):
            where = f"step {at}" if step.times == 1 else f"step {at}, time {n}"
            try:
                async with asyncio.timeout(STEP_SECONDS):
                    entries = await stage.play(step, n)
            except TimeoutError:
                return [*faults, f"{where}: it took longer than {STEP_SECONDS:.0f} seconds"], "\n".join(shown)
            shown.append(shown_in(entries))
            faults += [f"{where}: {fault}" for fault in _faults(step, entries)]
    return faults, "\n".join(shown)


def _is_before(entry: Entry) -> bool:
    return getattr(entry, "turn", "").startswith(Stage.EARLIER)


async def _judged(task: Task, outcome: Outcome, judge: Judge | None) -> Judgement | str:
    """Empty where there is nothing to judge."""
    if not task.script.rubric:
        return ""
    if judge is None:
        return "There is no model to judge it."
    return await judge.score(task.script.rubric, as_text(outcome.entries, task.script))


async def _checked(task: Task, outcome: Outcome) -> list[str]:
    return [f"{check.name}: {fault}" for check in task.checks for fault in await _found_by(check, outcome)]


async def _found_by(check: Check, outcome: Outcome) -> list[str]:
    given = check.given if isinstance(check.given, dict) else {"value": check.given}
    try:
        inspect.signature(check.function).bind(outcome, **given)
    except TypeError as error:
        raise ConfigError(f"the check {check.name} can not take {check.given!r}: {error}") from error
    found = check.function(outcome, **given)
    return await found if inspect.isawaitable(found) else found


def _faults(step: Step, entries: Sequence[Entry]) -> list[str]:
    shown = shown_in(entries)
    calls = calls_in(entries)
    made = Counter(call["name"] for call, _ in calls)
    worked = {call["name"] for call, result in calls if result is None or not result.get("is_error")}
    return [
        *(f"{each!r} is not in {shown[:SHOWN]!r}" for each in step.expect if not _has(each, shown)),
        *(f"{each!r} is in {shown[:SHOWN]!r}" for each in step.reject if _has(each, shown)),
        *(f"{tool} was not used" for tool in step.uses if tool not in worked),
        *(f"{tool} was called" for tool in step.avoids if made[tool]),
        *(
            f"{tool} was called {made[tool]} times, not {most} at most"
            for tool, most in step.at_most.items()
            if made[tool] > most
        ),
    ]


def _has(pattern: str, shown: str) -> bool:
    return re.search(pattern, shown, re.IGNORECASE) is not None
