"""``kabar eval``: how good the agent is, measured with the model that is set up. docs/evals.md tells how to use it."""

import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from bot.cli.chat import some_model
from bot.cli.evals import page
from bot.cli.evals.judge import Judge
from bot.cli.evals.results import compared, read_results, results_of, stamp
from bot.cli.evals.tasks import Task, read_tasks
from bot.cli.evals.trial import Trial, run_all
from bot.cli.evals.votes import WARNING, write_drafts
from bot.errors import ConfigError
from bot.messages import Json
from handlers.provider import Provider
from handlers.settings import Settings, lacks_key

DEMO = "The demo model answered: it shows that the evaluation works, and says nothing about the bot."
PROOF = "The solutions of the tasks answered: it shows that each can be passed, and says nothing about the bot."


class Choice(Struct, frozen=True):
    """What is to be run, and how; the names are those of the options."""

    names: tuple[str, ...] = ()
    folder: Path = Path("evals")
    set: str = ""
    repeat: int = 1
    jobs: int = 4
    model: str = ""
    judge: str = ""
    out: Path | None = None


async def evaluate(settings: Settings, choice: Choice) -> bool:
    """Print one JSON object, and write pages where a folder is named; whether all passed. Raises ConfigError for a
    faulty task."""
    tasks = read_tasks(choice.folder, choice.names, choice.set)
    is_demo = lacks_key(settings)
    settings = replace(settings, kabar_model=choice.model or settings.kabar_model)
    async with some_model(settings, sys.stderr, word_delay=0) as settings, _judge(settings, choice, is_demo) as judge:
        note = DEMO if is_demo else ""
        model = "demo" if is_demo else settings.kabar_model
        trials = await run_all(
            tasks, lambda task, number: settings, repeat=choice.repeat, jobs=choice.jobs, judge=judge, on_done=_tell
        )
    return report(trials, choice, model=model, note=note, judged=judge is not None)


@asynccontextmanager
async def _judge(settings: Settings, choice: Choice, is_demo: bool) -> AsyncIterator[Judge | None]:
    """None where only the demo model is there."""
    if is_demo:
        yield None
        return
    provider = Provider(settings)
    try:
        yield Judge(provider.model(choice.judge or settings.kabar_model))
    finally:
        await provider.close()


def report(trials: Sequence[Trial], choice: Choice, *, model: str, note: str, judged: bool = False) -> bool:
    judge = (choice.judge or model) if judged else ""
    results = results_of(trials, about(choice, model=model, note=note, judge=judge))
    if choice.out is not None:
        page.write_pages(choice.out, results, trials)
    print(json.dumps(results, indent=2, ensure_ascii=False))
    return all(trial.passed for trial in trials)


def about(choice: Choice, *, model: str, note: str, judge: str = "") -> Json:
    """How it was run."""
    how = {"started": stamp(), "set": choice.set, "repeat": choice.repeat, "jobs": choice.jobs}
    return {"model": model, "judge": judge, **how, "note": note}


def _tell(trial: Trial) -> None:
    word = "passed" if trial.passed else "failed"
    print(f"{word} {trial.task.name} {trial.number}", file=sys.stderr)


async def prove(settings: Settings, choice: Choice) -> bool:
    """Whether each task is passed by its own solution, and by none of the models that do nothing. Prints one JSON
    object; all of it runs here, without a key."""
    from bot.cli.evals.solutions import IDLE, Solver, idle, run_with

    tasks = read_tasks(choice.folder, choice.names, choice.set)
    solved = await run_with(Solver, tasks, settings, jobs=choice.jobs)
    idly = {
        name: await run_with(lambda task, words=words: idle(words), tasks, settings, jobs=choice.jobs)  # type: ignore[misc]
        for name, words in IDLE.items()
    }
    unsolved = {trial.task.name: list(trial.faults) for trial in solved if not trial.passed}
    passed_idly = [f"{trial.task.name}: {name}" for name, trials in idly.items() for trial in trials if trial.passed]
    if choice.out is not None:
        results = results_of(solved, about(choice, model="solutions", note=PROOF))
        page.write_pages(choice.out, results, solved)
    proof = {"tasks": len(tasks), "sets": _counted(tasks), "unsolved": unsolved, "passed_by_doing_nothing": passed_idly}
    print(json.dumps(proof, indent=2, ensure_ascii=False))
    return not unsolved and not passed_idly


def _counted(tasks: Sequence[Task]) -> Json:
    sets = sorted({task.set for task in tasks})
    return {each: sum(task.set == each for task in tasks) for each in sets}


def compare(before: Path, after: Path, out: Path | None) -> bool:
    """Print what changed as one JSON object, and write a page where a folder is named; whether nothing fell."""
    changes = compared(read_results(before), read_results(after))
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "compare.html").write_text(page.comparison(changes), encoding="utf-8")
    print(json.dumps(changes, indent=2, ensure_ascii=False))
    return not changes["fell"]


async def from_votes(settings: Settings, folder: Path, kinds: Sequence[bool]) -> None:
    drafts = await write_drafts(settings, folder, kinds)
    for draft in drafts:
        print(draft)
    print(f"\n{WARNING}" if drafts else "There is no vote that has no draft yet.", file=sys.stderr)


def wanted(words: Sequence[str]) -> tuple[Path, Path]:
    """The two that ``kabar eval compare`` is about."""
    if len(words) != 2:
        raise ConfigError("Name two folders or files with results: kabar eval compare before after.")
    return Path(words[0]), Path(words[1])
