"""Starts from a snapshot (Lambda's SnapStart): what goes in, and what must not come out of it twice.

    init: warm up ──> snapshot ──┬──> renew ──> events of one environment
                                 └──> renew ──> events of another, perhaps days later

Every environment begins as a copy of one process. So into it go modules, and clients that have asked nobody anything:
no secret, no connection, no event loop, no time and no id. Those are made at an event, and ids of the system's
randomness, which Lambda keeps apart. What the clients know of credentials ends by itself: where snapshots are taken,
Lambda gives them with an end and botocore asks for the next ones.
Source: docs.aws.amazon.com/lambda/latest/dg/snapstart-runtime-hooks-python.html, snapstart-uniqueness.html.
"""

import os
import random
from collections.abc import Callable

from handlers.aws import Aws


def prepare(warm: Callable[[], Aws]) -> None:
    """For the end of a function's module: ``warm`` loads and makes what a first event would, and returns its clients.

    Does nothing where no snapshot is taken: a start would take longer for what its event may not need.
    """
    if os.environ.get("AWS_LAMBDA_INITIALIZATION_TYPE") != "snap-start":
        return
    from snapshot_restore_py import register_after_restore  # comes with the runtime

    register_after_restore(renew, warm())


def renew(aws: Aws) -> None:
    """In each environment, before its first event."""
    random.seed()  # or all would pause for the same times between their tries
    aws.close()  # connections only: a client goes on with new ones
