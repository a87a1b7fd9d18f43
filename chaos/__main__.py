"""``make chaos``: everything that can go wrong goes wrong, and the figures are one JSON object.

    python -m chaos                                     every plan
    python -m chaos --only telegram:kill --only wakes   these
    python -m chaos --only telegram:kill --most 20      at most so many points of a plan of kills
    python -m chaos --list                              their names

Ends with 1 where anything was lost, doubled without need, repeated, unsendable or hasty, or where too many points were
not reached.
"""

import argparse
import asyncio
import json
import logging
import sys
import tempfile
from pathlib import Path

from chaos.plans import NAMES
from chaos.run import run
from tests.emulator import running_emulator


def main() -> None:
    options = _options()
    if options.list:
        _say("\n".join(NAMES))
        return
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # it reports every connection that we break
    log = Path(options.log or tempfile.mkdtemp(prefix="chaos-"))
    with running_emulator() as emulator:
        report = asyncio.run(run(emulator, options.only or NAMES, log, options.most))
    _say(json.dumps(report, indent=2))
    sys.exit(0 if report["reached_its_aims"] else 1)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m chaos", description="Kill and repeat at every step.")
    parser.add_argument("--only", action="append", choices=NAMES, help="a plan; may be given several times")
    parser.add_argument("--most", type=int, help="points of each plan of kills, spread evenly over all there are")
    parser.add_argument("--log", help="an empty folder for what the processes print")
    parser.add_argument("--list", action="store_true", help="name the plans")
    return parser.parse_args()


if __name__ == "__main__":
    main()
