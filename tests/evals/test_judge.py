"""A model that scores by a rubric, over the real wire."""

from pathlib import Path

import pytest

from bot.adapters.anthropic_model import AnthropicModel, client
from bot.cli.evals.judge import Judge, Judgement
from bot.cli.evals.trial import Trial
from simulator.script import overloaded, scripted, text
from tests.evals.written import played

TASK = """
    why: to see
    files: {secret.txt: "the code is 4711"}
    steps: [{say: is it good?, files: [secret.txt], quote: {text: I think so, author: Tom}, expect: [good]}]
    rubric: The answer is one word.
    solution: [{current_time: {}}, It is good.]
    """


async def judged(folder: Path, *said: str, task: str = TASK) -> tuple[Trial, str]:
    """The trial, and what the judge was shown."""
    async with scripted(*map(text, said)) as model, client("key", model.url) as anthropic:
        trial = await played(folder, task, judge=Judge(AnthropicModel(anthropic, "claude-sonnet-5-5")))
    [request] = model.requests
    return trial, request["messages"][0]["content"][0]["text"]


async def test_a_judge_reads_the_whole_conversation_and_its_score_and_reason_are_kept(tmp_path: Path) -> None:
    trial, shown = await judged(tmp_path, '{"reason": "One word.", "score": 4}')

    assert (trial.passed, trial.judged) == (True, Judgement(4, "One word."))
    for part in ("The answer is one word.", "is it good?", "I think so", "current_time", "UTC", "It is good.", "4711"):
        assert part in shown


async def test_a_low_score_fails_the_task_and_says_why(tmp_path: Path) -> None:
    trial, _ = await judged(tmp_path, 'I think:\n```json\n{"score": 2, "reason": "Three words."}\n```')

    assert trial.faults == ("the judge gave 2 of 5: Three words.",)


@pytest.mark.parametrize("said", ["Good!", '{"score": "high"}', '{"score": 9, "reason": "wow"}', '{"score": 5}'])
async def test_a_judge_that_gives_no_score_neither_passes_nor_fails_a_task(tmp_path: Path, said: str) -> None:
    trial, _ = await judged(tmp_path, said)

    assert (trial.passed, trial.judged) == (True, None)
    assert "judge gave" in trial.unjudged


async def test_a_judge_that_can_not_be_reached_is_told(tmp_path: Path) -> None:
    async with scripted(overloaded()) as model, client("key", model.url) as anthropic:
        judgement = await Judge(AnthropicModel(anthropic, "claude-sonnet-5-5")).score("rubric", "words")

    assert isinstance(judgement, str)
    assert judgement.startswith("The judge could not be asked")


async def test_without_a_judge_a_rubric_is_not_scored_and_the_rest_counts(tmp_path: Path) -> None:
    trial = await played(tmp_path, TASK)

    assert (trial.passed, trial.judged, trial.unjudged) == (True, None, "There is no model to judge it.")


async def test_what_only_a_judge_could_tell_is_not_passed_without_one(tmp_path: Path) -> None:
    trial = await played(tmp_path, "{why: x, steps: [{say: a}], rubric: be kind, solution: [hello]}")

    assert not trial.passed
    assert "nobody scored it" in trial.faults[0]
