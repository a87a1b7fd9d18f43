"""The sandbox function: runs one script for one conversation. Its role may do nothing, it knows nobody's address.

Lambda gives each conversation (``TenantId``) an environment of its own. In it a script runs apart from this process and
without its environment, and nothing of it is left for the next one.
"""

from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from bot.sandbox import wire
from bot.sandbox.box import Box, remove
from bot.sandbox.kernel import LINUX, PR_SET_DUMPABLE, prctl
from bot.sandbox.port import Job
from handlers.loop import run

SPARE = 400 * 1024 * 1024
"""Bytes of the function's memory that are not the script's: this process, and what it packs."""
AWS_TASK_ROOT = Path("/var/task")
ROOT = Path(__file__).parents[1]
TEMPORARY = Path("/tmp")  # noqa: S108 - Lambda's own, and one environment is one conversation


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Lambda's entry point, for ``wire.request``. CanNotRun's text is for the model; Lambda tells the caller."""
    clean()
    try:
        job = wire.unpack(event["job"], Job)
        return wire.response(run(_box(int(context.memory_limit_in_mb)).run(job)))
    finally:
        clean()


def clean() -> None:
    """Empty /tmp, on AWS alone: elsewhere it is everybody's."""
    if ROOT == AWS_TASK_ROOT:
        empty(TEMPORARY)


def empty(folder: Path) -> None:
    for entry in list(folder.iterdir()):
        with suppress(OSError):
            if entry.is_dir() and not entry.is_symlink():
                remove(entry)
            else:
                entry.unlink()


@cache
def _box(megabytes: int) -> Box:
    """One for the life of an environment: it finds out once what can not be shut off."""
    if LINUX:
        with suppress(OSError):
            prctl(PR_SET_DUMPABLE, 0)  # this process's memory and environment are nobody's but the kernel's
    memory = megabytes * 1024 * 1024 - SPARE
    return Box(seconds=wire.SECONDS, memory=memory, largest=wire.LARGEST, libraries=(ROOT.resolve(),))
