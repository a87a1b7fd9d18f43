"""How long the built functions take to start, under AWS's own runtime client on this machine.

A start is from the start of the process to its asking for the first event (on AWS: Init). Milliseconds depend on the
machine, so each figure is also given as a multiple of a handler that imports boto3 and does nothing, what any function
that talks to AWS pays, and of the plain way, one function that imports every SDK (``plain_handler.py``). Runs are
interleaved, so that a busy moment falls on all of them; figures are medians, ``least`` are minima, and ``processor_ms``
is the least processor time, which what else the machine does hardly changes. Nothing here uses the network but the
first run ever, which fetches the plain way's libraries.
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

from benchmarks.in_lambda import Function, functions, plain_settings
from benchmarks.performance_page import Aim, at_most, section, table
from scripts.build import Package
from tests.packages.events import http_event
from tests.packages.libraries import LAMBDA_PYTHON, this_target
from tests.packages.runtime_api import Runtime

RUNS = 9
SIGNING_SECRET = "measured"
NOWHERE = "http://127.0.0.1:9/"
ENVIRONMENT = {
    "KABAR_TABLE": "conversations",
    "KABAR_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/000000000000/wakes.fifo",
    **plain_settings(),
    "ANTHROPIC_BASE_URL": NOWHERE,
    "TELEGRAM_API_BASE_URL": NOWHERE,
    "SLACK_API_BASE_URL": NOWHERE,
    "SLACK_SIGNING_SECRET": SIGNING_SECRET,
}
WEBHOOK_TIMES_BOTO3, WEBHOOK_TIMES_PLAIN = 1.3, 0.25


def measure() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        known, packages = functions(Path(folder))
        return _figures(_runs(known), packages)


def aims(figures: Mapping[str, Any]) -> list[Aim]:
    webhook = figures["webhook"]
    return [
        at_most("start of the webhook, times boto3 alone", WEBHOOK_TIMES_BOTO3, webhook["times_boto3"]),
        at_most("start of the webhook, times the plain single function", WEBHOOK_TIMES_PLAIN, webhook["times_plain"]),
    ]


def markdown(figures: Mapping[str, Any]) -> str:
    names = {
        "empty": "a handler that does nothing",
        "boto3": "a handler that imports boto3",
        "webhook": "our webhook",
        "worker": "our worker",
        "plain": "the plain way: all SDKs in one function",
        "plain_sources": "the same as `sam build` leaves it, without .pyc",
    }
    columns = ("start_ms", "least_start_ms", "processor_ms", "times_boto3", "times_plain", "memory_mb")
    rows = [(words, *(figures[name][column] for column in columns)) for name, words in names.items()]
    head = ["", "start, ms", "least", "processor, ms", "times boto3", "times plain", "holds, MB"]
    webhook = figures["webhook"]
    requests = [(name.replace("_", " "), webhook[f"{name}_ms"]) for name in _requests()]
    sizes = [(name, figures[name]["package_mb"]) for name in ("webhook", "worker")]
    words = f"""
        From the start of the process to its asking for the first event, under AWS's runtime client; Python
        {figures["python"]}, {"compiled ahead" if figures["compiled"] else "not compiled ahead"}, medians of
        {figures["runs"]} interleaved runs."""
    return section(
        "Starts", words, table(head, rows), table(["request to a started webhook", "ms"], requests),
        table(["package", "MB"], sizes),
    )  # fmt: skip


def _runs(known: Mapping[str, Function]) -> dict[str, list[dict[str, float]]]:
    """Seconds and bytes of each run, by function, after one that only warms the disk's cache."""
    for name, function in known.items():
        _run(name, function)
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in known}
    for _ in range(RUNS):
        for name, function in known.items():
            runs[name].append(_run(name, function))
    return runs


def _run(name: str, function: Function) -> dict[str, float]:
    environment = {**ENVIRONMENT, "PYTHONPATH": os.pathsep.join(map(str, function.path))}
    with Runtime(function.path[0], function.handler, LAMBDA_PYTHON, environment) as runtime:
        seen = {
            "start": runtime.start_seconds,
            "processor": runtime.processor_seconds,
            "memory": float(runtime.memory),
        }
        for request, event in _requests().items() if name == "webhook" else ():
            body = event()
            began = time.perf_counter()
            answer = runtime.invoke(body)
            seen[request] = time.perf_counter() - began
            if answer["statusCode"] != 200:
                raise RuntimeError(f"{request} was answered with {answer}\n{runtime.log}")
    return seen


def _figures(runs: Mapping[str, list[dict[str, float]]], packages: Mapping[str, Package]) -> dict[str, Any]:
    medians = {
        name: {each: statistics.median(run[each] for run in measured) for each in measured[0]}
        for name, measured in runs.items()
    }
    figures: dict[str, Any] = {
        "python": this_target().python,
        "machine": platform.machine(),
        "compiled": all(package.compiled_bytes for package in packages.values()),
        "runs": RUNS,
    }
    for name, measured in runs.items():
        start = medians[name]["start"]
        figures[name] = {
            "start_ms": _ms(start),
            "least_start_ms": _ms(min(run["start"] for run in measured)),
            "processor_ms": _ms(min(run["processor"] for run in measured)),
            "times_boto3": round(start / medians["boto3"]["start"], 2),
            "times_plain": round(start / medians["plain"]["start"], 2),
            "memory_mb": round(medians[name]["memory"] / 1e6),
        }
    for request in _requests():
        figures["webhook"][f"{request}_ms"] = _ms(medians["webhook"][request])
    for name, package in packages.items():
        figures[name]["package_mb"] = round(package.bytes / 1e6, 1)
    return figures


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)


def _requests() -> dict[str, Callable[[], Any]]:
    """Events to hand to the started webhook one after another, by the name of what their handling costs."""
    return {"first_request": _healthz, "second_request": _healthz, "first_slack_request": _slack_challenge}


def _healthz() -> dict[str, Any]:
    return http_event("/healthz", b"", {"content-type": "text/plain"}, method="GET")


def _slack_challenge() -> dict[str, Any]:
    body = json.dumps({"type": "url_verification", "challenge": "c", "token": "t"})
    now = str(int(time.time()))
    signature = hmac.new(SIGNING_SECRET.encode(), f"v0:{now}:{body}".encode(), hashlib.sha256).hexdigest()
    headers = {"x-slack-request-timestamp": now, "x-slack-signature": f"v0={signature}"}
    return http_event("/slack/events", body.encode(), {"content-type": "application/json", **headers})
