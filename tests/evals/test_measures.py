"""Figures of one run and of many."""

import math
from pathlib import Path

import pytest

from bot.cli.evals.measures import Measures, measures_over, pass_hat, spread, summarised
from bot.cli.evals.solutions import run_with
from bot.cli.evals.tasks import read_tasks
from handlers.settings import Settings
from simulator.model_reply import Answer
from tests.evals.written import played, write


async def test_calls_are_counted_by_what_became_of_them(tmp_path: Path) -> None:
    trial = await played(
        tmp_path,
        """
        why: to see
        steps: [{say: go on, uses: [calculator]}]
        solution:
          - calculator: {expression: 1 + 1}
          - calculator: {expression: 1 + 1}
          - calculator: {sum: 1 + 1}
          - abacus: {beads: 2}
          - calculator: {expression: 1 / 0}
          - Two.
        """,
    )

    measures = trial.measures
    assert (measures.turns, measures.model_calls, measures.tool_calls) == (1, 6, 5)
    assert (measures.repeated, measures.wrong, measures.tool_errors, measures.denied) == (1, 2, 1, 0)
    assert measures.prompt > 1_000
    assert measures.output > 5
    assert measures.cost is not None
    assert measures.cost > 0


async def test_arguments_that_are_no_json_are_a_wrong_call(tmp_path: Path) -> None:
    write(tmp_path, "task", "{why: x, steps: [{say: a, expect: [done]}]}")
    replies = iter(
        [{"type": "tool_use", "name": "calculator", "input": '{"expression": '}, {"type": "text", "text": "done"}]
    )

    def brain(request: object) -> Answer:
        block = next(replies)
        return Answer([block], "tool_use" if block["type"] == "tool_use" else "end_turn")

    [trial] = await run_with(lambda task: brain, read_tasks(tmp_path), Settings())

    assert (trial.passed, trial.measures.wrong, trial.measures.tool_errors) == (True, 1, 0)


def test_a_model_without_a_known_price_has_no_cost() -> None:
    assert measures_over([Measures(cost=0.5), Measures(cost=None)])["cost"] is None


def test_spread_is_the_mean_and_the_sample_s_standard_deviation() -> None:
    assert (spread([2, 4, 6]).mean, spread([2, 4, 6]).sd) == (4, 2)
    assert spread([3]).sd == 0
    assert spread([]).mean == 0


@pytest.mark.parametrize(
    ("passes", "k", "expected"), [(4, 2, 1.0), (2, 1, 0.5), (2, 2, 1 / 6), (1, 2, 0.0), (0, 1, 0.0)]
)
def test_pass_hat_is_the_share_of_draws_that_all_pass(passes: int, k: int, expected: float) -> None:
    assert math.isclose(pass_hat([n < passes for n in range(4)], k), expected)


def test_a_summary_spreads_the_pass_rate_over_repeats() -> None:
    runs = {
        "a": [(True, Measures(tool_calls=2)), (True, Measures(tool_calls=4))],
        "b": [(True, Measures(tool_calls=3)), (False, Measures(tool_calls=3))],
    }
    summary = summarised(runs)

    assert (summary["tasks"], summary["runs"], summary["passed"]) == (2, 4, 3)
    assert summary["pass_rate"] == {"mean": 0.75, "sd": pytest.approx(0.353553)}
    assert summary["pass_hat"] == {"1": 0.75, "2": 0.5}
    assert summary["measures"]["tool_calls"]["mean"] == 3
    assert summary["measures"]["tool_calls"]["total"] == 12
