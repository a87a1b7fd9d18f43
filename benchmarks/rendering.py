"""Twenty thousand pieces of Markdown, whole, cut anywhere and cut small, on both platforms: ``make rendering``.

``failures`` counts those whose messages one of the strict parsers of the simulator refuses or changes, that lose text,
hold half a character, or change a message that was settled while the text grew. It must be 0; ``first`` names some.
"""

import time
from concurrent.futures import ProcessPoolExecutor
from random import Random
from typing import Any

from tests.channels.any_markdown import faults, markdown

CASES = 20_000
SHARE = 250
"""Cases that one process takes at a time."""
SEED = 20261130
LONG = 2_000
"""Words and blocks of every five hundredth, so that it is many messages."""


def measure(cases: int = CASES) -> dict[str, Any]:
    began = time.perf_counter()
    starts = range(0, cases, SHARE)
    with ProcessPoolExecutor() as pool:
        found = [
            each for share in pool.map(_share, starts, [min(SHARE, cases - at) for at in starts]) for each in share
        ]
    return {"cases": cases, "failures": len(found), "first": found[:10], "seconds": round(time.perf_counter() - began)}


def _share(start: int, count: int) -> list[str]:
    found = []
    for number in range(start, start + count):
        random = Random(SEED + number)
        source = markdown(random, LONG) if number % 500 == 0 else markdown(random)
        if wrong := next(faults(source, random), None):
            found.append(f"{number}: {wrong}")
    return found
