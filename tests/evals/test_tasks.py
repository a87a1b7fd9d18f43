"""Tasks as files: what they may say, and how a fault in one is told."""

from pathlib import Path

import pytest

from bot.cli.evals.solutions import replies_of
from bot.cli.evals.tasks import Task, read_tasks
from bot.errors import ConfigError
from tests.evals.written import SHIPPED, write

LEAST = "why: to see\nsteps: [{say: hello, expect: [hello]}]\n"


def called(task: Task) -> list[str]:
    """The tools of its solution, one by one."""
    return [piece[0] for reply in replies_of(task) for piece in reply if not isinstance(piece, str)]


def used(task: Task) -> set[str]:
    return set(called(task))


def test_the_shipped_tasks_are_in_two_sets_that_share_none() -> None:
    sets = {name: {task.name for task in read_tasks(SHIPPED, chosen=name)} for name in ("tuning", "held-out")}

    assert len(sets["tuning"]) >= 30
    assert len(sets["held-out"]) >= 12
    assert not sets["tuning"] & sets["held-out"]
    assert len(read_tasks(SHIPPED)) == len(sets["tuning"]) + len(sets["held-out"])


def test_at_least_forty_shipped_tasks_take_several_calls() -> None:
    several = [task for task in read_tasks(SHIPPED) if len(called(task)) > 1]

    assert len(several) >= 40


def test_the_shipped_tasks_are_in_both_languages_and_about_all_that_is_hard() -> None:
    tags = [tag for task in read_tasks(SHIPPED) for tag in task.script.tags]

    assert tags.count("indonesian") >= 10
    assert tags.count("english") >= 30
    for tag in (
        "calendar",
        "memory",
        "files",
        "search",
        "numbers",
        "injection",
        "unclear",
        "approval",
        "groups",
        "web",
    ):
        assert tags.count(tag) >= 2, tag


def test_the_recall_task_plants_at_turn_three_and_asks_at_turn_two_hundred() -> None:
    [task] = read_tasks(SHIPPED, ("recall",))
    *_, asked = steps = task.script.steps

    assert sum(step.times for step in steps) == 200
    assert "remember" in steps[2].say
    assert len(asked.expect) == 4


def test_the_folder_a_task_is_in_is_its_set(tmp_path: Path) -> None:
    write(tmp_path, "tuning/a", LEAST)
    write(tmp_path, "held-out/b", LEAST)

    assert [(task.name, task.set) for task in read_tasks(tmp_path, chosen="held-out")] == [("b", "held-out")]


def test_drafts_are_read_only_where_they_are_named(tmp_path: Path) -> None:
    write(tmp_path, "tuning/a", LEAST)
    write(tmp_path, "drafts/b", LEAST)

    assert [task.name for task in read_tasks(tmp_path)] == ["a"]
    assert [task.name for task in read_tasks(tmp_path, chosen="drafts")] == ["b"]
    assert [task.name for task in read_tasks(tmp_path, ("b",))] == ["b"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("why: [", "bad.yaml:"),
        ("- a", "bad.yaml:1: It must begin with names and values"),
        ("why: x\n", "bad.yaml:1: Object missing required field `steps`"),
        (f"{LEAST}stepz: 1\n", "bad.yaml:3: There is no field 'stepz' here."),
        ("why: x\nsteps:\n  - say: 1\n    expect: [a]\n", "bad.yaml:3: Expected `str`, got `int`"),
        ("why: x\nsteps:\n  - say: a\n    expect: ['(']\n", "bad.yaml:4: '(' is no regular expression"),
        (
            "why: x\nsteps:\n  - say: a\n    expect: [a]\n    files: [b]\n",
            "bad.yaml:5: There is no file 'b' among files.",
        ),
        (
            "why: x\nsteps:\n  - {say: a, expect: [a], by: eve}\n",
            "bad.yaml:3: There is nobody 'eve' among people: ann.",
        ),
        ("why: x\nsteps: [{say: a}]\n", "bad.yaml:1: It checks nothing, so nobody could fail it"),
        (f"{LEAST}memory: {{eve: [x]}}\n", "bad.yaml:3: There is no person and no group 'eve'."),
        (f"{LEAST}settings: {{KABAR_MAX_TOKENS: many}}\n", "bad.yaml:3: KABAR_MAX_TOKENS must be a whole number"),
        (f"{LEAST}people: {{}}\n", "bad.yaml:3: The first of people owns the bot"),
        (f"{LEAST}now: soon\n", "bad.yaml:3: soon is no time such as 2030-06-03T09:00"),
        (f"{LEAST}checks:\n  - flies: true\n", "bad.yaml:4: There is no check 'flies'. There are: "),
        (f"{LEAST}files: {{a.pdf: {{from: b.pdf}}}}\n", "bad.yaml:3: There is no file 'b.pdf' beside the task."),
    ],
)
def test_a_faulty_task_is_named_with_the_line_and_what_is_wrong(tmp_path: Path, text: str, said: str) -> None:
    write(tmp_path, "bad", text)
    with pytest.raises(ConfigError) as caught:
        read_tasks(tmp_path)

    assert said in str(caught.value)


def test_an_unknown_task_is_named_with_those_there_are(tmp_path: Path) -> None:
    write(tmp_path, "sums", LEAST)
    with pytest.raises(ConfigError, match=r"There is no task moon in .* There are: sums"):
        read_tasks(tmp_path, ("moon",))


def test_a_folder_without_tasks_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="There are no tasks in"):
        read_tasks(tmp_path)


def test_an_unknown_set_is_named_with_those_there_are(tmp_path: Path) -> None:
    write(tmp_path, "tuning/sums", LEAST)
    with pytest.raises(ConfigError, match=r"There is no set tunning in .* There are: tuning"):
        read_tasks(tmp_path, chosen="tunning")


def test_two_tasks_with_one_name_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "tuning/sums", LEAST)
    write(tmp_path, "held-out/sums", LEAST)
    with pytest.raises(ConfigError, match="Two tasks are called sums"):
        read_tasks(tmp_path)
