"""Tasks written for one test, run for real: a model that follows their solution, behind the real agent."""

import shutil
from pathlib import Path
from textwrap import dedent
from typing import Any

from bot.cli.evals.solutions import Solver, run_with
from bot.cli.evals.tasks import read_tasks
from bot.cli.evals.trial import Trial
from handlers.settings import Settings

SHIPPED = Path(__file__).parents[2] / "evals"


def write(folder: Path, name: str, text: str) -> None:
    """A task in this folder, with the checks that are shipped; ``name`` may begin with its set."""
    shutil.copy(SHIPPED / "checks.py", folder)
    file = folder / f"{name}.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(dedent(text), encoding="utf-8")


async def played(folder: Path, text: str, **options: Any) -> Trial:
    """One run of one task."""
    write(folder, "task", text)
    [trial] = await run_with(Solver, read_tasks(folder), Settings(), **options)
    return trial


async def faults_of(folder: Path, text: str) -> tuple[str, ...]:
    return (await played(folder, text)).faults
