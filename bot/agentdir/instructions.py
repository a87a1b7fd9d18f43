"""The owner's instructions: ``AGENTS.md``, or ``CLAUDE.md`` where there is none, with the files they include.

``@path/to/file.md`` as a word outside code includes a file, relative to the one it stands in (Claude Code's
convention). A line of such words alone gives way to what they include; below any other line it follows.
"""

import posixpath
import re
from pathlib import Path

from msgspec import Struct

from bot.agentdir.documents import Fault, inside, text_of
from bot.agentdir.prose import without_code

FILES = ("AGENTS.md", "CLAUDE.md")
"""The first that is there is read."""
DEEPEST = 5
"""Files that include each other, as in Claude Code."""
LONGEST = 100_000
"""Characters of all of them together: some 25,000 tokens, in every prompt."""

_WORD = re.compile(r"(?<!\S)@((?:\\ |[^\s\\`])+)")
_AROUND = ".,;:!?)]}\"'*_"
"""What may stand behind a name in a sentence."""


class Instructions(Struct, frozen=True):
    """``files`` are those it names, relative to the folder, the main one first."""

    text: str = ""
    files: tuple[str, ...] = ()


def read_instructions(folder: Path) -> tuple[Instructions, list[Fault]]:
    """An include that can not be read is a fault, and its line stays as it is."""
    there = [name for name in FILES if (folder / name).exists() or (folder / name).is_symlink()]
    if not there:
        return Instructions(), []
    reading = _Reading(folder)
    instructions = Instructions(reading.all_of(there[0]), tuple(reading.files))
    return instructions, [*reading.faults, *_passed_over(folder, there[1:], reading.files)]


def _passed_over(folder: Path, others: list[str], read: dict[str, None]) -> list[Fault]:
    """A second file that says something of its own and is not read."""
    main = FILES[0]
    return [
        Fault(name, 1, f"It is not read, because there is {main}: write @{name} into that, or @{main} into this.")
        for name in others
        if name not in read and inside(folder, name) != inside(folder, main) and main not in _words(folder, name)
    ]


def _words(folder: Path, name: str) -> str:
    text = text_of(folder, name)
    return "" if isinstance(text, Fault) else text


class _Reading:
    """What was read so far, and what was wrong."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._room = LONGEST
        self.files: dict[str, None] = {}
        self.faults: list[Fault] = []

    def all_of(self, name: str) -> str:
        """The main file with all that it includes."""
        if inside(self._folder, name) is None and (self._folder / name).is_file():
            self.faults.append(Fault(name, 0, "It is a link that leads out of the folder."))
            return ""
        text = self._text(name)
        if text is None:
            return ""
        if not text.strip():
            self.faults.append(Fault(name, 1, "It is empty: write who the bot is and how it works."))
        if len(text) > LONGEST:
            text = text[:LONGEST].rpartition("\n")[0]
            line = text.count("\n") + 2
            self.faults.append(Fault(name, line, f"From here on nothing is read: at most {LONGEST:,} characters are."))
        self._room -= len(text)
        return self._expanded(name, text, ())

    def _text(self, name: str) -> str | None:
        text = text_of(self._folder, name)
        self.files[name] = None
        if isinstance(text, Fault):
            if text not in self.faults:
                self.faults.append(text)
            return None
        return text

    def _expanded(self, name: str, text: str, above: tuple[str, ...]) -> str:
        """``above`` are the files that led here, the main one first."""
        if "@" not in text:
            return text
        lines = []
        for number, (line, prose) in enumerate(
            zip(text.split("\n"), without_code(text).split("\n"), strict=True), start=1
        ):
            words = _WORD.findall(prose)
            parts = [self._included(word, name, number, above) for word in words]
            if not words or None in parts or _WORD.sub("", prose).strip():
                lines.append(line)
            lines += [part.strip("\n") for part in parts if part]
        return "\n".join(lines)

    def _included(self, word: str, name: str, number: int, above: tuple[str, ...]) -> str | None:
        """What the word stands for; None where it includes nothing."""
        path = word.partition("#")[0].rstrip(_AROUND).replace("\\ ", " ")
        inner = "" if path.startswith("~") else self._led_to(name, path)
        is_there = bool(inner) and inside(self._folder, inner) is not None
        if not path or not (is_there or {"/", "."} & set(path)):
            return None  # somebody's name
        self.files[posixpath.normpath(posixpath.join(posixpath.dirname(name), path))] = None
        chain, text, wrong = (*above, name), None, ""
        if not inner:
            wrong = f"{path} leads out of the folder: only what lies in it can be included."
        elif not is_there:
            wrong = f"There is no file {path} to include; what is no file's name belongs in backticks."
        elif inner in chain:
            wrong = f"{' includes '.join((*chain[chain.index(inner) :], inner))}: it would never end."
        elif len(chain) > DEEPEST:
            wrong = f"{path} is included more than {DEEPEST} files deep."
        elif (text := self._text(inner)) is not None and len(text) > self._room:
            wrong = f"With {path} the instructions would have more than {LONGEST:,} characters."
        if wrong:
            self.faults.append(Fault(name, number, wrong))
        if wrong or text is None:
            return None
        self._room -= len(text)
        return self._expanded(inner, text, chain)

    def _led_to(self, name: str, path: str) -> str:
        """Where a path that stands in a file leads, links followed, relative to the folder; "" where it leads out."""
        root = self._folder.resolve()
        try:
            target = ((root / name).resolve().parent / path).resolve()
        except (OSError, RuntimeError, ValueError):  # a loop of links, a name that no system takes
            return path
        return target.relative_to(root).as_posix() if target.is_relative_to(root) else ""
