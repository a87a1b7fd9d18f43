"""The ``kabar`` command as a process of its own, as a person starts it."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
WAIT = 40.0
"""Seconds; a bound for a machine that is busy, not a pause."""


class Kabar:
    def __init__(self, process: Process) -> None:
        self._process = process
        self.output = ""

    async def says(self, words: str) -> None:
        """Until it has written these words; fails with what it wrote."""
        assert self._process.stdout is not None
        async with asyncio.timeout(WAIT):
            while words not in self.output:
                piece = await self._process.stdout.read(1_000)
                assert piece, self.output
                self.output += piece.decode()

    async def hears(self, *lines: bytes, end: bool = False) -> None:
        """Type these lines, and the end of input."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"".join(line + b"\n" for line in lines))
        await self._process.stdin.drain()
        if end:
            self._process.stdin.close()

    async def ends(self) -> int:
        """Its exit code; what it wrote until then is in ``output``."""
        assert self._process.stdout is not None
        async with asyncio.timeout(WAIT):
            self.output += (await self._process.stdout.read()).decode()
            return await self._process.wait()

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)


def surroundings(settings: Mapping[str, str]) -> dict[str, str]:
    """The environment of a ``kabar`` with these settings and no others."""
    system = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "SYSTEMROOT") if name in os.environ}
    return {**system, "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", "USER": "ann", **settings}


@asynccontextmanager
async def kabar(
    folder: Path, *arguments: str, settings: Mapping[str, str] | None = None, module: str = "bot.cli.main"
) -> AsyncIterator[Kabar]:
    """``kabar <arguments>`` in an empty folder, with these settings and no others; killed at the end. ``module`` is
    another that is run in its place."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module, *arguments),
        cwd=folder,
        env=surroundings(settings or {}),
        stdin=PIPE,
        stdout=PIPE,
        stderr=STDOUT,
    )
    try:
        yield Kabar(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
