"""The results of an evaluation: one JSON object. And what changed between two of them. Pure, but for reading a file."""

import json
import math
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from bot.cli.evals.measures import Measures, pass_hat, summarised
from bot.cli.evals.trial import Trial
from bot.errors import ConfigError
from bot.messages import Json

FILE = "results.json"
KIND = "kabar eval"


def results_of(trials: Sequence[Trial], about: Json) -> Json:
    """``about`` names the model and how it was run."""
    by_task: dict[str, list[Trial]] = {}
    for trial in trials:
        by_task.setdefault(trial.task.name, []).append(trial)
    tags = sorted({tag for trial in trials for tag in (trial.task.set, *trial.task.script.tags) if tag})
    tagged = {tag: [each for each in trials if tag in (each.task.set, *each.task.script.tags)] for tag in tags}
    return {
        "kind": KIND,
        **about,
        "summary": summarised(
            {name: [(each.passed, each.measures) for each in runs] for name, runs in by_task.items()}
        ),
        "tags": {tag: {"runs": len(runs), "passed": sum(each.passed for each in runs)} for tag, runs in tagged.items()},
        "tasks": {name: _task(runs) for name, runs in by_task.items()},
    }


def _task(runs: Sequence[Trial]) -> Json:
    task, passed = runs[0].task, [each.passed for each in runs]
    return {
        "why": task.script.why,
        "set": task.set,
        "tags": list(task.script.tags),
        "pass_rate": sum(passed) / len(passed),
        "pass_hat": {str(k): round(pass_hat(passed, k), 4) for k in range(1, len(passed) + 1)},
        "runs": [_run(each) for each in runs],
    }


def _run(trial: Trial) -> Json:
    judged = {"judged": asdict(trial.judged)} if trial.judged else {}
    unjudged = {"unjudged": trial.unjudged} if trial.unjudged else {}
    return {
        "passed": trial.passed,
        "faults": list(trial.faults),
        **judged,
        **unjudged,
        "measures": asdict(trial.measures),
    }


def stamp() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def read_results(path: Path) -> Json:
    """Of a folder that ``kabar eval --out`` wrote, or the file itself. Raises ConfigError where it is none."""
    file = path / FILE if path.is_dir() else path
    try:
        value: Any = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file} holds no results of kabar eval: {error}.") from error
    if not isinstance(value, dict) or value.get("kind") != KIND:
        raise ConfigError(f"{file} holds no results of kabar eval.")
    return value


# Two of them


def compared(before: Json, after: Json) -> Json:
    """What got better and worse, over the tasks that both have. ``sign_test`` is the two-sided probability that as many
    tasks or more move one way if nothing changed: with few of them, or one run each, much is chance."""
    tasks = [name for name in before["tasks"] if name in after["tasks"]]
    changes = {name: _change(before["tasks"][name], after["tasks"][name]) for name in tasks}
    fell = {name: each for name, each in changes.items() if each["to"] < each["from"]}
    rose = {name: each for name, each in changes.items() if each["to"] > each["from"]}
    return {
        "before": _about(before),
        "after": _about(after),
        "tasks": len(tasks),
        "pass_rate": {"from": _rate(before, tasks), "to": _rate(after, tasks)},
        "fell": dict(sorted(fell.items(), key=lambda each: each[1]["to"] - each[1]["from"])),
        "rose": dict(sorted(rose.items(), key=lambda each: each[1]["from"] - each[1]["to"])),
        "same": len(tasks) - len(fell) - len(rose),
        "sign_test": round(_sign_test(len(fell), len(rose)), 4),
        "only_before": [name for name in before["tasks"] if name not in after["tasks"]],
        "only_after": [name for name in after["tasks"] if name not in before["tasks"]],
        "measures": {name: _measure(name, before, after, tasks) for name in Measures.__struct_fields__},
    }


def _about(results: Json) -> Json:
    return {name: results.get(name) for name in ("model", "started", "set", "repeat")}


def _change(before: Json, after: Json) -> Json:
    faults = sorted({fault for run in after["runs"] for fault in run["faults"]})
    return {"from": before["pass_rate"], "to": after["pass_rate"], "runs": len(after["runs"]), "faults": faults[:5]}


def _rate(results: Json, tasks: Sequence[str]) -> float:
    return round(sum(results["tasks"][name]["pass_rate"] for name in tasks) / len(tasks), 4) if tasks else 0.0


def _sign_test(fell: int, rose: int) -> float:
    moved, most = fell + rose, max(fell, rose)
    tail = sum(math.comb(moved, k) for k in range(most, moved + 1)) / 2**moved
    return min(1.0, 2.0 * float(tail))


def _measure(name: str, before: Json, after: Json, tasks: Sequence[str]) -> Json | None:
    """The mean over the runs of these tasks; None where it is not known of one."""
    means = []
    for results in (before, after):
        values = [run["measures"].get(name) for task in tasks for run in results["tasks"][task]["runs"]]
        if not values or None in values:
            return None
        means.append(round(sum(values) / len(values), 6))
    change = round(100 * (means[1] - means[0]) / means[0], 1) if means[0] else None
    return {"from": means[0], "to": means[1], "change_percent": change}
