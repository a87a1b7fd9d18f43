"""``kabar eval``: tasks in, figures out, with the demo model in the model's place."""

import json
from pathlib import Path

import pytest

from bot.cli.evaluate import evaluate, read_tasks
from bot.errors import ConfigError
from handlers.settings import Settings

SHIPPED = Path(__file__).parents[2] / "evals"


def task(folder: Path, name: str, **fields: object) -> None:
    (folder / f"{name}.json").write_text(json.dumps({"why": "to see", **fields}))


async def test_a_task_passes_where_every_answer_has_what_it_must(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = [{"say": "What is {number}+1?", "times": 2, "expect": ["= \\*\\*[23]\\*\\*"], "uses": ["calculator"]}]
    task(tmp_path, "sums", settings={"KABAR_CONTEXT_TOKENS": "5000"}, steps=steps)

    assert await evaluate(Settings(), tmp_path, [])

    result = json.loads(capsys.readouterr().out)["tasks"]["sums"]
    assert (result["turns"], result["missing"]) == (2, [])


async def test_what_an_answer_lacks_is_named_with_its_turn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task(tmp_path, "moon", steps=[{"say": "hello"}, {"say": "hello", "expect": ["the moon"], "uses": ["calculator"]}])

    assert not await evaluate(Settings(), tmp_path, ["moon"])

    missing = json.loads(capsys.readouterr().out)["tasks"]["moon"]["missing"]
    assert [line.partition(":")[0] for line in missing] == ["turn 2", "turn 2"]
    assert "calculator was not used" in missing[1]


def test_the_shipped_tasks_can_be_read() -> None:
    assert {"recall", "arithmetic"} <= set(read_tasks(SHIPPED, []))


def test_the_recall_task_plants_at_turn_three_and_asks_at_turn_two_hundred() -> None:
    *_, asked = steps = read_tasks(SHIPPED, ["recall"])["recall"].steps
    assert sum(step.times for step in steps) == 200
    assert "remember" in steps[2].say
    assert len(asked.expect) == 4


@pytest.mark.parametrize(
    "text", ["{", '{"why": "x"}', '{"why": "x", "steps": [{"say": 1}]}', '{"why": "", "stepz": []}']
)
def test_a_faulty_task_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(ConfigError, match=r"bad\.json"):
        read_tasks(tmp_path, [])


def test_an_unknown_task_is_named_with_those_there_are(tmp_path: Path) -> None:
    task(tmp_path, "sums", steps=[])
    with pytest.raises(ConfigError, match=r"There is no task moon in .* There are: sums"):
        read_tasks(tmp_path, ["moon"])
