"""The person at the terminal: lines shown, lines typed, and lines typed unseen.

Lines are waited for by the event loop, not by a blocking read: so Ctrl-C ends a question at once, and other things can
be waited for at the same time.
"""

import asyncio
import os
import shutil
import termios
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

WIDEST = 100
"""Columns; longer lines are hard to read."""
LONGEST = 65_536
"""Bytes of one line; a terminal hands over far fewer."""


class Terminal:
    def __init__(self, input: TextIO, output: TextIO) -> None:
        self._input = input.fileno()
        self._output = output

    @property
    def has_person(self) -> bool:
        """Whether somebody can be asked here."""
        return os.isatty(self._input) and self._output.isatty()

    def say(self, text: str) -> None:
        """A paragraph, broken between words only: a link stays whole."""
        width = min(shutil.get_terminal_size().columns, WIDEST)
        self.show(textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False))

    def show(self, line: str) -> None:
        """As it is: what is to be copied."""
        print(line, file=self._output, flush=True)

    def good(self, text: str) -> None:
        self.say(f"{self._coloured('✓', 32)} {text}")

    def bad(self, text: str) -> None:
        self.say(f"{self._coloured('✗', 31)} {text}")

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Shows what is typed only while a question waits for it: a token pasted too early is nobody's to see."""
        with _echo(self._input, shown=False):
            yield

    async def ask(self, question: str) -> str:
        """The line typed, without what stands around it. Raises EOFError at the end of input."""
        with _echo(self._input, shown=True):
            self._prompt(question)
            return await self.line()

    async def ask_unseen(self, question: str) -> str:
        """As ``ask``, for what nobody may see."""
        with _echo(self._input, shown=False):
            self._prompt(question)
            line = await self.line()
        self.show("")  # the person's own end of line was not shown
        return line

    async def line(self) -> str:
        """The next line, whoever asked for it. Raises EOFError at the end of input."""
        await _readable(self._input)
        line = os.read(self._input, LONGEST)
        if not line:
            raise EOFError
        return line.decode(errors="replace").strip()

    def _prompt(self, question: str) -> None:
        print(f"{self._coloured('?', 36)} {question}: ", end="", file=self._output, flush=True)

    def _coloured(self, mark: str, colour: int) -> str:
        return f"\033[{colour}m{mark}\033[0m" if self._output.isatty() else mark


async def _readable(file: int) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(file, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(file)


@contextmanager
def _echo(file: int, *, shown: bool) -> Iterator[None]:
    """Whether what is typed is shown. What was typed before belongs to no question and is forgotten."""
    before = termios.tcgetattr(file)
    wanted = [*before]
    wanted[3] = wanted[3] | termios.ECHO if shown else wanted[3] & ~termios.ECHO
    termios.tcsetattr(file, termios.TCSAFLUSH, wanted)
    try:
        yield
    finally:
        termios.tcsetattr(file, termios.TCSAFLUSH, before)
