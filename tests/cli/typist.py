"""A person at a real terminal: a pseudo-terminal, read and typed into, with a ``kabar`` at its other end."""

import asyncio
import fcntl
import os
import re
import struct
import sys
import termios
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from bot.cli.setup.terminal import Terminal
from bot.errors import ConfigError
from tests.cli.process import WAIT, surroundings

ANSI = re.compile(r"\033\[[0-9;]*m")
ROWS, COLUMNS = 40, 100


class Typist:
    """``output`` is all that stood on the screen; ``answers`` how many lines were typed."""

    def __init__(self, master: int, ended: Callable[[], Awaitable[int]]) -> None:
        self._master = master
        self._ended = ended
        self._raw = b""
        self._more = asyncio.Event()
        self._seen = 0
        self.answers = 0
        loop = asyncio.get_running_loop()
        self._reader = threading.Thread(target=self._read, args=(loop,), daemon=True)
        self._reader.start()

    @property
    def output(self) -> str:
        return ANSI.sub("", self._raw.decode(errors="replace")).replace("\r\n", "\n")

    def shows_typing(self) -> bool:
        """Whether the terminal echoes."""
        return bool(termios.tcgetattr(self._master)[3] & termios.ECHO)

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        """In a thread: who writes to a terminal that nobody reads may have to wait."""
        with suppress(OSError, RuntimeError):  # nobody has the terminal open any more; the loop is closed
            while piece := os.read(self._master, 65_536):
                self._raw += piece
                loop.call_soon_threadsafe(self._more.set)

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

    def close(self) -> None:
        """Once nobody has the other end open any more."""
        self._reader.join(WAIT)
        os.close(self._master)

    async def ends(self) -> int:
        """The exit code; all that was shown until then is in ``output``."""
        async with asyncio.timeout(WAIT):
            code = await self._ended()
            await asyncio.to_thread(self._reader.join)
            return code


@asynccontextmanager
async def at_terminal(folder: Path, *arguments: str, settings: Mapping[str, str]) -> AsyncIterator[Typist]:
    """``kabar <arguments>`` as a process in this folder, with these settings and no others; killed at the end."""
    master, terminal = _opened()
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
    typist = Typist(master, process.wait)
    try:
        yield typist
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        typist.close()


@asynccontextmanager
async def sitting(command: Callable[[Terminal], Awaitable[int]]) -> AsyncIterator[Typist]:
    """A command in this process, which spares the start of one; stopped at the end."""
    master, terminal = _opened()
    input, output = os.fdopen(terminal, closefd=False), os.fdopen(terminal, "w")
    running = asyncio.ensure_future(command(Terminal(input, output)))

    async def ended() -> int:
        try:
            return await running
        finally:
            input.close()
            output.close()

    typist = Typist(master, ended)
    try:
        yield typist
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError, ConfigError):
            await ended()
        typist.close()


def _opened() -> tuple[int, int]:
    """Its two ends: the person's and the program's."""
    master, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    return master, terminal
