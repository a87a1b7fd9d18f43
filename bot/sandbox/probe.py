"""Run as a script in a place, it tries what a place should shut off, and prints what it could do, as a JSON list.

    probe.py PORT FOLDER PROCESS MEMORY

Somebody listens on the port of this machine; the folder and the process are not the script's; memory is in bytes.
"""

import json
import mmap
import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

KEPT = "kept.txt"
WRITTEN = "written.txt"


def connects(port: str) -> bool:
    socket.create_connection(("127.0.0.1", int(port)), timeout=2).close()
    return True


def reads(folder: str) -> bool:
    return bool(Path(folder, KEPT).read_bytes())


def lists(folder: str) -> bool:
    return bool(list(Path(folder).iterdir()))


def writes(folder: str) -> bool:
    Path(folder, WRITTEN).write_bytes(b"x")
    return True


def changes(folder: str) -> bool:
    """Its mode, also where it can not be opened."""
    kept = Path(folder, KEPT)
    before = kept.stat().st_mode
    kept.chmod(0o444)
    return kept.stat().st_mode != before


def signals(process: str) -> bool:
    os.kill(int(process), 0)
    return True


def looks_into(process: str) -> bool:
    return bool(Path(f"/proc/{process}/environ").read_bytes())


def takes(memory: str) -> bool:
    """Asked for, not used."""
    mmap.mmap(-1, 2 * int(memory)).close()
    return True


def main() -> None:
    port, folder, process, memory = sys.argv[1:]
    tries: list[tuple[str, Callable[[str], bool], str]] = [
        ("network", connects, port),
        ("reading", reads, folder),
        ("reading", lists, folder),
        ("writing", writes, folder),
        ("writing", changes, folder),
        ("processes", signals, process),
        ("reading", looks_into, process),
        ("memory", takes, memory),
    ]
    could = []
    for door, tried, argument in tries:
        with suppress(OSError, ValueError, MemoryError, OverflowError):
            could += [door] if tried(argument) else []
    print(json.dumps(sorted(set(could))))  # noqa: T201 - its answer


if __name__ == "__main__":
    main()
