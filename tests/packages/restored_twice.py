"""Run in a package, by the runtime's Python: a function's module is loaded as for a snapshot, which is restored twice.

    python restored_twice.py handlers.webhook '<event>' '<event>'

A snapshot restored twice is a process forked twice, but that a fork gives Python's own generator of numbers another
beginning, which is put back. Prints, for each of the two, what its handler answered and what it would name things.
"""

import importlib
import json
import os
import random
import sys
import tempfile
import uuid
from collections.abc import Callable
from typing import Any

from awslambdaric import lambda_runtime_hooks_runner as hooks


class Context:
    invoked_function_arn = "arn:aws:lambda:eu-central-1:000000000000:function:f:live"

    def get_remaining_time_in_millis(self) -> int:
        return 30_000


def restored(handler: Callable[[Any, Any], Any], state: Any, event: Any) -> dict[str, Any]:
    random.setstate(state)
    hooks.run_after_restore()
    answer = handler(event, Context())
    names = [random.random(), uuid.uuid4().hex, tempfile.mktemp()]
    return {"answer": answer, "names": names}


def main() -> None:
    module, *events = sys.argv[1:]
    handler = importlib.import_module(module).handler
    hooks.run_before_snapshot()
    state = random.getstate()
    for event in events:
        reading, writing = os.pipe()
        if os.fork() == 0:
            os.write(writing, json.dumps(restored(handler, state, json.loads(event))).encode())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as told:
            sys.stdout.write(f"{told.read()}\n")
            sys.stdout.flush()
        os.wait()


main()
