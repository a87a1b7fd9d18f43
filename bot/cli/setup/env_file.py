"""Answers in a file .env, which keeps all else that somebody wrote there."""

import io
import os
import re
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from dotenv import dotenv_values
from dotenv.parser import parse_stream

from bot.cli.setup.wrong import Wrong

PLAIN = re.compile(r"[\w.:/@%+,*=-]*", re.ASCII)
"""Needs no quotes in a file .env."""
LINE = re.compile(
    r"""(?P<name>\s*(?:export\s+)?[^=\s]+\s*=[^\S\r\n]*)"""
    r"""(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^\r\n]*?)"""
    r"""(?P<rest>(?:[^\S\r\n]+\#[^\r\n]*)?\s*)""",
    re.DOTALL,
)
"""One setting of such a file, with the blank lines before it and the comment behind it."""
LINE_END = re.compile(r"\r\n|\r|\n")
OPEN = re.compile(r"=\s*['\"]")
"""Begins a quote, which is never closed in a line that can not be read."""


class Unreadable(Exception):
    """``line`` is the first that can not be read, 0 where there is none."""

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line


class EnvFile:
    """Readable by its owner only, whatever it was before; what stands there beside the answers stays as it is."""

    def __init__(self, file: Path, environment: Mapping[str, str]) -> None:
        """``environment`` is the process's own: it wins over the file, and over an answer from the next start on."""
        self._file = file
        self._environment = environment
        self.where = str(file)
        self.values = {name: value or "" for name, value in dotenv_values(file).items()} | dict(environment)

    async def put(self, values: Mapping[str, str]) -> None:
        try:
            file = self._file.resolve()  # a link stays one
            before = file.read_bytes().decode(errors="surrogateescape") if file.exists() else ""
            _replace(file, with_values(before, values))
        except Unreadable as error:
            raise Wrong("env_unreadable", where=self.where, line=str(error.line)) from error
        except OSError as error:
            raise Wrong("env_unwritable", where=self.where, why=error.strerror or type(error).__name__) from error
        self.values |= {name: value or self._environment.get(name, "") for name, value in values.items()}

    def shadowed(self, name: str) -> bool:
        return bool(self._environment.get(name))


def with_values(text: str, values: Mapping[str, str]) -> str:
    """The file's text with these values, each where it stood; "" takes a line away. Raises Unreadable where a quote
    that is open swallows one."""
    left = {name: value for name, value in values.items() if value}
    pieces, at, faulty = [], 0, 0
    for binding in parse_stream(io.StringIO(text, newline="")):
        piece = binding.original.string
        blank = piece[: len(piece) - len(piece.lstrip())]
        if binding.error and OPEN.search(piece):
            faulty = faulty or len(LINE_END.findall(text[: at + len(blank)])) + 1
        at += len(piece)
        if binding.key in left:
            piece = _set(piece, left.pop(binding.key))
        elif binding.key in values:
            piece = blank
        pieces.append(piece)
    kept = "".join(pieces)
    end = "" if not kept or kept.endswith(("\n", "\r")) else "\n"
    whole = kept + end + "".join(f"{name}={_quoted(value)}\n" for name, value in left.items())
    read = {each.key: each.value for each in parse_stream(io.StringIO(whole, newline=""))}
    if any((read.get(name) or "") != value for name, value in values.items()):
        raise Unreadable(faulty)
    return whole


def _set(line: str, value: str) -> str:
    """The same line with another value; a bare name gets its first."""
    found = LINE.fullmatch(line)
    if found is None:
        return f"{line.rstrip()}={_quoted(value)}\n"
    return f"{found['name']}{_quoted(value)}{found['rest']}"


def _quoted(value: str) -> str:
    if PLAIN.fullmatch(value):
        return value
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _replace(file: Path, text: str) -> None:
    """Whole or not at all; mkstemp's files are readable by their owner only."""
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".env.")
    try:
        with os.fdopen(handle, "wb") as new:
            new.write(text.encode(errors="surrogateescape"))
            new.flush()
            os.fsync(new.fileno())
        Path(name).replace(file)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
