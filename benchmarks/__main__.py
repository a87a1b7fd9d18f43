"""The measurements of this folder, as one JSON object, and the pages that tell them: ``make bench``.

    python -m benchmarks            all but those that take long, and docs/performance.md
    python -m benchmarks start      only these, and no page but their own
    python -m benchmarks --page figures.json    only the page, of figures that were printed before

A measurement is a module here without an underscore in its name, with ``def measure() -> dict``: figures by name, JSON
values only. It may have ``def aims(figures) -> list[Aim]``; ``def markdown(figures) -> str``, its section of the page;
and ``TOLD_ON``, a page of its own.
"""

import argparse
import importlib
import json
import os
import pkgutil
import platform
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import benchmarks
from benchmarks.performance_page import PERFORMANCE, Page, written

ON_REQUEST = {"histories", "load", "misconfigured", "records", "rendering", "scale", "security"}
"""Take minutes: measured only where they are named."""
FIRST = ("start", "cold", "warm", "turn")
"""What the page begins with; the others follow by name."""


def main() -> None:
    known = {module.name for module in pkgutil.iter_modules(benchmarks.__path__) if "_" not in module.name}
    arguments = _arguments()
    if arguments.page:
        _write(json.loads(arguments.page.read_text()))
        return
    if unknown := set(arguments.names) - known:
        sys.exit(f"There is no measurement {', '.join(sorted(unknown))}: choose from {', '.join(sorted(known))}.")
    names = arguments.names or [*FIRST, *sorted(known - ON_REQUEST - set(FIRST))]
    run = _measured(names)
    print(json.dumps(run, indent=2))
    _write(run, but=PERFORMANCE if arguments.names else None)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure, and tell it as JSON.")
    parser.add_argument("names", nargs="*", help="measurements; without any all that do not take long, and the page")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write only the page, of this file's figures")
    return parser.parse_args()


def _measured(names: Sequence[str]) -> dict[str, Any]:
    figures, took = {}, {}
    load = os.getloadavg()[0]
    for name in names:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        began = time.monotonic()
        figures[name] = _module(name).measure()
        took[name] = round(time.monotonic() - began)
    machine = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "system": platform.platform(),
        "processors": os.cpu_count(),
        "busy processors before": round(load, 1),
        "Python": platform.python_version(),
        "seconds taken": sum(took.values()),
    }
    return {"machine": machine, "took_s": took, **figures}


def _write(run: dict[str, Any], but: Page | None = None) -> None:
    pages: dict[Page, dict[str, ModuleType]] = {}
    for name in run["took_s"]:
        pages.setdefault(getattr(_module(name), "TOLD_ON", PERFORMANCE), {})[name] = _module(name)
    for page in pages.keys() - {but}:
        page.path.write_text(written(page, run, pages[page], run["machine"]))


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"benchmarks.{name}")


if __name__ == "__main__":
    main()
