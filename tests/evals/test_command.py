"""``kabar eval``: tasks in, figures out, with the demo model in the model's place."""

import json
from pathlib import Path
from typing import Any

import pytest

from bot.cli.evals.command import Choice, evaluate, prove
from bot.cli.main import main
from bot.errors import ConfigError
from handlers.settings import Settings
from tests.evals.written import write

SUM = """
    why: to see
    tags: [numbers]
    settings: {KABAR_CONTEXT_TOKENS: "5000"}
    steps: [{say: "What is {number}+1?", times: 2, expect: ['= \\*\\*[23]\\*\\*'], uses: [calculator]}]
    solution: [{calculator: {expression: 1 + 1}}, "= **2**", {calculator: {expression: 2 + 1}}, "= **3**"]
    """
MOON = "{why: to see, steps: [{say: hello, expect: [the moon], uses: [calculator]}], solution: [no idea]}"


def printed(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


async def test_a_task_passes_where_every_answer_has_what_it_must(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "tuning/sums", SUM)

    assert await evaluate(Settings(), Choice(folder=tmp_path))

    results = printed(capsys)
    [run] = results["tasks"]["sums"]["runs"]
    assert (results["model"], results["summary"]["passed"], results["tags"]["numbers"]["passed"]) == ("demo", 1, 1)
    assert (run["passed"], run["faults"], run["measures"]["turns"], run["measures"]["tool_calls"]) == (True, [], 2, 2)
    assert "says nothing about the bot" in results["note"]


async def test_what_an_answer_lacks_is_named_with_its_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "moon", MOON)

    assert not await evaluate(Settings(), Choice(folder=tmp_path, names=("moon",)))

    [run] = printed(capsys)["tasks"]["moon"]["runs"]
    assert [fault.partition(":")[0] for fault in run["faults"]] == ["step 1", "step 1"]
    assert "calculator was not used" in run["faults"][1]


async def test_repeated_runs_are_counted_one_by_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "sums", SUM)
    write(tmp_path, "moon", MOON)

    assert not await evaluate(Settings(), Choice(folder=tmp_path, repeat=3, jobs=2))

    results = printed(capsys)
    assert (results["summary"]["runs"], results["summary"]["passed"]) == (6, 3)
    assert results["summary"]["pass_hat"] == {"1": 0.5, "2": 0.5, "3": 0.5}
    assert results["tasks"]["sums"]["pass_hat"] == {"1": 1.0, "2": 1.0, "3": 1.0}


async def test_pages_and_results_are_written_where_a_folder_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "sums", SUM)
    await evaluate(Settings(), Choice(folder=tmp_path, repeat=2, out=tmp_path / "out/one"))

    assert sorted(file.name for file in (tmp_path / "out/one").iterdir()) == [
        "index.html",
        "results.json",
        "sums-1.html",
        "sums-2.html",
    ]
    assert json.loads((tmp_path / "out/one/results.json").read_text()) == printed(capsys)


async def test_tasks_are_proved_by_their_solutions_and_by_doing_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "sums", SUM)
    write(tmp_path, "moon", MOON)
    write(tmp_path, "easy", "{why: to see, steps: [{say: hello, reject: [bye]}], solution: [hello]}")

    assert not await prove(Settings(), Choice(folder=tmp_path))

    proof = printed(capsys)
    assert list(proof["unsolved"]) == ["moon"]
    assert proof["passed_by_doing_nothing"] == ["easy: ok", "easy: silent", "easy: unable"]


async def test_a_model_can_be_named_for_one_evaluation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from simulator.model import demo_app
    from simulator.serving import serve

    write(tmp_path, "sums", SUM)
    async with serve(demo_app(word_delay=0)) as address:
        settings = Settings(anthropic_base_url=address, anthropic_api_key="key", kabar_provider="anthropic")
        assert await evaluate(settings, Choice(folder=tmp_path, model="claude-haiku-5-5", judge="claude-opus-5"))

    results = printed(capsys)
    assert (results["model"], results["judge"], results["note"]) == ("claude-haiku-5-5", "claude-opus-5", "")


def test_the_exit_code_tells_whether_all_passed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    write(tmp_path, "tuning/sums", SUM)
    write(tmp_path, "held-out/moon", MOON)

    assert main(["eval", "--folder", str(tmp_path), "--set", "tuning"]) == 0
    assert main(["eval", "--folder", str(tmp_path)]) == 1


async def test_a_faulty_task_is_named_before_anything_is_run(tmp_path: Path) -> None:
    write(tmp_path, "bad", "why: [")
    with pytest.raises(ConfigError, match=r"bad\.yaml"):
        await evaluate(Settings(), Choice(folder=tmp_path))
