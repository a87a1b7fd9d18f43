"""A person at a real terminal: ``kabar`` in a pseudo-terminal of its own, read and typed into."""

import asyncio
import fcntl
import os
import re
import struct
import sys
import termios
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from tests.cli.process import WAIT, surroundings

ANSI = re.compile(r"\033\[[0-9;]*m")
ROWS, COLUMNS = 40, 100


class Typist:
    """``output`` is all that stood on the screen; ``answers`` how many lines were typed."""

    def __init__(self, master: int, process: asyncio.subprocess.Process) -> None:
        self._master = master
        self._process = process
        self._raw = b""
        self._more = asyncio.Event()
        self._seen = 0
        self.answers = 0
        asyncio.get_running_loop().add_reader(master, self._read)

    @property
    def output(self) -> str:
        return ANSI.sub("", self._raw.decode(errors="replace")).replace("\r\n", "\n")

    def _read(self) -> None:
        try:
            piece = os.read(self._master, 65_536)
        except OSError:  # Linux: nobody has the terminal open any more
            piece = b""
        self._raw += piece
        if not piece:
            asyncio.get_running_loop().remove_reader(self._master)
        self._more.set()

    async def sees(self, words: str) -> re.Match[str]:
        """Until these words, however they are broken into lines, stand behind what was seen before. ``words`` is a
        regular expression."""
        pattern = re.compile(r"\s+".join(words.split()))
        try:
            async with asyncio.timeout(WAIT):
                while not (found := pattern.search(self.output, self._seen)):
                    self._more.clear()
                    await self._more.wait()
        except TimeoutError:
            raise AssertionError(f"{words!r} is not in:\n{self.output[self._seen :]}") from None
        self._seen = found.end()
        return found

    def types(self, line: str = "") -> None:
        """A line and Enter."""
        self.answers += 1
        self.presses(f"{line}\n")

    def presses(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    async def answers_to(self, question: str, line: str = "") -> None:
        await self.sees(question)
        self.types(line)

    async def ends(self) -> int:
        """The exit code."""
        async with asyncio.timeout(WAIT):
            return await self._process.wait()


@asynccontextmanager
async def at_terminal(folder: Path, *arguments: str, settings: Mapping[str, str]) -> AsyncIterator[Typist]:
    """``kabar <arguments>`` in this folder, with these settings and no others; killed at the end."""
    master, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot.cli.main", *arguments),
        cwd=folder,
        env=surroundings(settings),
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # so that Ctrl-C is a signal
    )
    os.close(terminal)
    typist = Typist(master, process)
    try:
        yield typist
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        asyncio.get_running_loop().remove_reader(master)
        os.close(master)
