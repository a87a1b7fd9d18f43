"""Every task that is shipped can be passed, and is not passed by doing nothing. The real agent, tools and store do it.

This proves the tasks, not the bot: a model that follows a task's own solution knows what to do.
"""

import pytest

from bot.cli.evals.solutions import IDLE, Solver, idle, run_with
from bot.cli.evals.tasks import read_tasks
from handlers.settings import Settings
from tests.evals.written import SHIPPED

LONG = "recall"
"""Two hundred turns: that nothing is done in them shows once."""


async def test_every_task_is_passed_by_its_own_solution_without_a_call_made_wrongly_or_twice() -> None:
    trials = await run_with(Solver, read_tasks(SHIPPED), Settings())

    assert {trial.task.name: trial.faults for trial in trials if not trial.passed} == {}
    wrong = {each.task.name: (each.measures.wrong, each.measures.repeated, each.measures.failed) for each in trials}
    assert {name: found for name, found in wrong.items() if any(found)} == {}


@pytest.mark.parametrize("name", IDLE)
async def test_no_task_is_passed_by_doing_nothing(name: str) -> None:
    tasks = [task for task in read_tasks(SHIPPED) if task.name != LONG or name == "ok"]
    trials = await run_with(lambda task: idle(IDLE[name]), tasks, Settings())

    assert len(trials) == len(tasks)
    assert [trial.task.name for trial in trials if trial.passed] == []
