"""Two evaluations compared: planted regressions are found, with a figure and by name.

With a model of a few rules this proves the evaluation, not the bot: how much a real model minds a worse description has
to be measured with that model.
"""

import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.cli.evals import command, page
from bot.cli.evals.results import compared, read_results, results_of
from bot.cli.evals.solutions import run_with
from bot.cli.evals.tasks import Task, read_tasks
from bot.cli.main import main
from bot.errors import ConfigError
from bot.toolkit import Tool
from handlers.settings import Settings
from handlers.workshop import Refit, unchanged
from tests.evals.student import WISHES, Student
from tests.evals.test_tasks import used
from tests.evals.written import SHIPPED

KEPT = {*WISHES, "list_files", "read_file", "reopen", "web_search"}
"""Tools that others add later are no part of these measurements."""


def known() -> list[Task]:
    """Tasks of which the student can do each step."""
    return [task for task in read_tasks(SHIPPED, chosen="held-out") if used(task) <= set(WISHES)]


def changed(name: str, change: Callable[[Tool], Tool]) -> Refit:
    def refit(tools: Sequence[Tool]) -> Sequence[Tool]:
        return [change(tool) if tool.name == name else tool for tool in tools if tool.name in KEPT]

    return refit


def as_it_is(tool: Tool) -> Tool:
    return tool


def worse(tool: Tool) -> Tool:
    return dataclasses.replace(tool, description="Does something with words.")


def broken(tool: Tool) -> Tool:
    async def run(**arguments: Any) -> str:
        return "-1"

    return dataclasses.replace(tool, run=run)


async def results(refit: Refit = unchanged) -> Any:
    trials = await run_with(Student, known(), Settings(), refit=refit)
    return results_of(trials, command.about(command.Choice(set="held-out"), model="student", note=""))


@pytest.mark.parametrize(("name", "change"), [("remind", worse), ("remember", worse), ("calculator", broken)])
async def test_a_planted_regression_makes_just_those_tasks_fall_that_need_the_tool(
    name: str, change: Callable[[Tool], Tool]
) -> None:
    before, after = await results(changed(name, as_it_is)), await results(changed(name, change))
    changes = compared(before, after)

    needing = {task.name for task in known() if name in used(task)}
    assert before["summary"]["passed"] == len(known())
    assert len(needing) >= 3
    assert set(changes["fell"]) == needing
    assert changes["rose"] == {}
    assert changes["pass_rate"] == {"from": 1.0, "to": round(1 - len(needing) / len(known()), 4)}
    assert all(each["faults"] for each in changes["fell"].values())


async def test_the_command_names_what_fell_and_says_so_with_its_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = await results(changed("", worse)), await results(changed("write_file", worse))
    for name, each in (("before", before), ("after", after)):
        page.write_pages(tmp_path / name, each, ())

    assert not command.compare(tmp_path / "before", tmp_path / "after", tmp_path)
    changes = json.loads(capsys.readouterr().out)
    assert set(changes["fell"]) == {task.name for task in known() if "write_file" in used(task)}
    assert "shopping-list" in (tmp_path / "compare.html").read_text()
    assert command.compare(tmp_path / "after", tmp_path / "before", None)


def two(before: Sequence[tuple[str, float]], after: Sequence[tuple[str, float]]) -> Any:
    def one(rates: Sequence[tuple[str, float]]) -> Any:
        measures = {"tool_calls": 2, "cost": None}
        tasks = {name: {"pass_rate": rate, "runs": [{"faults": ["f"], "measures": measures}]} for name, rate in rates}
        return {"tasks": tasks}

    return compared(one(before), one(after))


def test_a_task_that_only_one_of_them_has_is_no_change() -> None:
    changes = two([("a", 1.0), ("b", 0.0)], [("b", 0.0), ("c", 1.0)])

    assert (changes["tasks"], changes["fell"], changes["rose"], changes["same"]) == (1, {}, {}, 1)
    assert (changes["only_before"], changes["only_after"]) == (["a"], ["c"])


def test_what_fell_furthest_comes_first() -> None:
    changes = two([("a", 1.0), ("b", 1.0), ("c", 0.5)], [("a", 0.8), ("b", 0.0), ("c", 1.0)])

    assert list(changes["fell"]) == ["b", "a"]
    assert list(changes["rose"]) == ["c"]


@pytest.mark.parametrize(
    ("fell", "rose", "chance"), [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 0.0625), (8, 1, 0.0391), (3, 3, 1.0)]
)
def test_the_sign_test_tells_how_much_may_be_chance(fell: int, rose: int, chance: float) -> None:
    names = [f"t{n}" for n in range(fell + rose)]
    before = [(name, 1.0 if n < fell else 0.0) for n, name in enumerate(names)]
    after = [(name, 1.0 - rate) for name, rate in before]

    assert two(before, after)["sign_test"] == chance


def test_a_cost_that_is_not_known_is_not_compared() -> None:
    changes = two([("a", 1.0)], [("a", 1.0)])

    assert changes["measures"]["cost"] is None
    assert changes["measures"]["tool_calls"] == {"from": 2, "to": 2, "change_percent": 0.0}


@pytest.mark.parametrize("text", ["", "[]", '{"kind": "something else"}'])
def test_what_holds_no_results_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "results.json").write_text(text)
    with pytest.raises(ConfigError, match=r"results\.json holds no results of kabar eval"):
        read_results(tmp_path)


def test_two_must_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "compare", "one"]) == 1
    assert "kabar eval compare before after" in capsys.readouterr().err
