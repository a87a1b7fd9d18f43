"""How long the built functions take to start, under AWS's own runtime client on this machine.

A start is from the start of the process to its asking for the first event (on AWS: Init). Milliseconds depend on the
machine, so each figure is also given as a multiple of a handler that imports boto3 and does nothing: what any function
that talks to AWS pays. Runs are interleaved, so that a busy moment falls on all of them; figures are medians, and the
least start beside them shows how busy the machine was. Nothing here uses the network.
"""

import hashlib
import hmac
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from scripts.build import Package, build
from tests.packages.events import http_event
from tests.packages.libraries import LAMBDA_PYTHON, this_target
from tests.packages.runtime_api import Runtime

RUNS = 9
SIGNING_SECRET = "measured"
ENVIRONMENT = {
    "KABAR_TABLE": "conversations",
    "KABAR_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/000000000000/wakes.fifo",
    "SLACK_SIGNING_SECRET": SIGNING_SECRET,
}


class Candidate(Struct, frozen=True):
    """One handler to start: ``path`` is what stands on its PYTHONPATH."""

    handler: str
    path: tuple[Path, ...]
    requests: Mapping[str, Callable[[], Any]] = {}
    """Events to hand to the started function one after another, by the name of what their handling costs."""


def measure() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        packages = {name: build(name, this_target(), Path(folder, name)) for name in ("webhook", "worker")}
        runs = _runs(_candidates(Path(folder), packages))
    start_of_boto3 = statistics.median(run["start"] for run in runs["boto3"])
    figures = {name: _figures(measured, start_of_boto3) for name, measured in runs.items()}
    for name, package in packages.items():
        figures[name]["package_mb"] = round(package.bytes / 1e6, 1)
    return {
        "python": this_target().python,
        "machine": platform.machine(),
        "processors": os.cpu_count(),
        "compiled": all(package.compiled_bytes for package in packages.values()),
        "runs": RUNS,
        **figures,
    }


def _candidates(folder: Path, packages: Mapping[str, Package]) -> dict[str, Candidate]:
    (folder / "empty.py").write_text("def handler(event, context): pass\n")
    (folder / "only_boto3.py").write_text("import boto3\ndef handler(event, context): pass\n")
    webhook, worker = packages["webhook"].path, packages["worker"].path
    requests = {"first_request": _healthz, "second_request": _healthz, "first_slack_request": _slack_challenge}
    return {
        "empty": Candidate("empty.handler", (folder,)),
        "boto3": Candidate("only_boto3.handler", (folder, webhook)),
        "webhook": Candidate("handlers.webhook.handler", (webhook,), requests),
        "worker": Candidate("handlers.worker.handler", (worker,)),
    }


def _runs(candidates: Mapping[str, Candidate]) -> dict[str, list[dict[str, float]]]:
    """Seconds of each run, by candidate, after one that only warms the disk's cache."""
    for candidate in candidates.values():
        _run(candidate)
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in candidates}
    for _ in range(RUNS):
        for name, candidate in candidates.items():
            runs[name].append(_run(candidate))
    return runs


def _run(candidate: Candidate) -> dict[str, float]:
    environment = {**ENVIRONMENT, "PYTHONPATH": os.pathsep.join(map(str, candidate.path))}
    with Runtime(candidate.path[0], candidate.handler, LAMBDA_PYTHON, environment) as runtime:
        seconds = {"start": runtime.start_seconds}
        for name, event in candidate.requests.items():
            body = event()
            began = time.perf_counter()
            answer = runtime.invoke(body)
            seconds[name] = time.perf_counter() - began
            if answer["statusCode"] != 200:
                raise RuntimeError(f"{name} was answered with {answer}\n{runtime.log}")
    return seconds


def _figures(runs: list[dict[str, float]], start_of_boto3: float) -> dict[str, float]:
    medians = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    return {
        **{f"{name}_ms": round(seconds * 1000, 1) for name, seconds in medians.items()},
        "least_start_ms": round(min(run["start"] for run in runs) * 1000, 1),
        "start_times_boto3": round(medians["start"] / start_of_boto3, 2),
    }


def _healthz() -> dict[str, Any]:
    return http_event("/healthz", b"", {"content-type": "text/plain"}, method="GET")


def _slack_challenge() -> dict[str, Any]:
    body = json.dumps({"type": "url_verification", "challenge": "c", "token": "t"})
    now = str(int(time.time()))
    signature = hmac.new(SIGNING_SECRET.encode(), f"v0:{now}:{body}".encode(), hashlib.sha256).hexdigest()
    headers = {"x-slack-request-timestamp": now, "x-slack-signature": f"v0={signature}"}
    return http_event("/slack/events", body.encode(), {"content-type": "application/json", **headers})
