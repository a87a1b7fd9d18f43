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


class EnvFile:
    """Readable by its owner only, whatever it was before; what stands there beside the answers stays as it is."""

    def __init__(self, file: Path, environment: Mapping[str, str]) -> None:
        """``environment`` is the process's own: it wins over the file."""
        self._file = file
        self._environment = environment
        self.where = str(file)
        self.values = {name: value or "" for name, value in dotenv_values(file).items()} | dict(environment)

    async def put(self, values: Mapping[str, str]) -> None:
        try:
            file = self._file.resolve()  # a link stays one
            before = file.read_bytes().decode(errors="surrogateescape") if file.exists() else ""
            _replace(file, _with(before, values))
        except OSError as error:
            raise Wrong("env_unwritable", where=self.where, why=error.strerror or type(error).__name__) from error
        self.values |= {**values, **self._environment}

    def shadowed(self, name: str) -> bool:
        return bool(self._environment.get(name))


def _with(text: str, values: Mapping[str, str]) -> str:
    """The file's text with these values, each where it stood."""
    left = {name: value for name, value in values.items() if value}
    pieces = []
    for binding in parse_stream(io.StringIO(text, newline="")):
        piece = binding.original.string
        is_set = binding.value is not None  # a bare name is not
        if is_set and binding.key in left:
            piece = _set(piece, left.pop(binding.key))
        elif is_set and binding.key in values:
            piece = piece[: len(piece) - len(piece.lstrip())]
        pieces.append(piece)
    kept = "".join(pieces)
    end = "" if not kept or kept.endswith("\n") else "\n"
    return kept + end + "".join(f"{name}={_quoted(value)}\n" for name, value in left.items())


def _set(line: str, value: str) -> str:
    found = LINE.fullmatch(line)
    assert found is not None, "a line that dotenv read is a name and a value"  # noqa: S101
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
