"""The owner's files in ``agent/`` read as data, with the line of whatever is wrong: YAML front matter, and JSON.

Nothing here raises for what a file holds: a fault names it, and the bot goes on without the part that can not be used.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml
from msgspec import Struct

LARGEST = 1_000_000
"""Bytes of one file that a person wrote."""

_FRONT = re.compile(r"---[ \t]*\n(?P<yaml>.*?\n)?---[ \t]*(?:\n|\Z)", re.DOTALL)
_PLACE = re.compile(r" - at `\$(?P<path>[^`]*)`$")
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>[^`]*)`")

T = TypeVar("T")


class Fault(Struct, frozen=True, order=True):
    """What is wrong in one of the owner's files, and what to do. ``file`` is relative to the folder, with slashes;
    ``line`` counts from 1 and is 0 where it is about the whole file."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}" if self.line else f"{self.file}: {self.message}"


class Document(Struct, frozen=True):
    """A file's data. ``lines`` are by path, such as ``.limits.model_calls`` or ``.tools[1]``; "" is all of it. ``body``
    is the text behind front matter, which begins at ``body_line``."""

    file: str
    value: Any = None
    lines: Mapping[str, int] = {}
    body: str = ""
    body_line: int = 1

    def line(self, path: str) -> int:
        """Of this path, else of what it is in."""
        while path and path not in self.lines:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return self.lines.get(path, 0)

    def fault(self, message: str, path: str = "") -> Fault:
        return Fault(self.file, self.line(path), message)


def text_of(folder: Path, name: str) -> str | Fault:
    """A text file with plain line ends; a Fault where it is none."""
    try:
        data = (folder / name).read_bytes()
    except OSError as error:
        return Fault(name, 0, f"It can not be read: {error.strerror}.")
    if len(data) > LARGEST:
        return Fault(name, 0, f"It has more than {LARGEST:,} bytes.")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        return Fault(name, data[: error.start].count(b"\n") + 1, "It is not UTF-8 text.")


def inside(folder: Path, name: str, *, folders: bool = False) -> Path | None:
    """Where a file of the folder (with ``folders``, or another folder) is, links followed; None where there is no such
    thing in it."""
    try:
        path = (folder / name).resolve()
        there = path.is_file() or (folders and path.is_dir())
        return path if there and path.is_relative_to(folder.resolve()) else None
    except (OSError, RuntimeError, ValueError):  # a loop of links, a name that no system takes
        return None


def with_front_matter(text: str, file: str) -> Document | Fault:
    """A Markdown file that begins with YAML between two lines of three hyphens."""
    found = _FRONT.match(text)
    if found is None:
        return Fault(file, 1, "It must begin with a line ---, then name and description, then another line ---.")
    read = _yaml(found["yaml"] or "", file, 2)
    if isinstance(read, Fault):
        return read
    value, lines = read
    if not isinstance(value, dict):
        return Fault(file, 2, "Between the two lines --- must stand names with values, such as name: report.")
    return Document(file, value, lines, text[found.end() :], text[: found.end()].count("\n") + 1)


def as_json(text: str, file: str) -> Document | Fault:
    """A JSON object."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        return Fault(file, error.lineno, f"It is not JSON: {error.msg}.")
    except RecursionError:
        return Fault(file, 0, "It is nested too deep.")
    if not isinstance(value, dict):
        return Fault(file, 1, "It must be one JSON object, in braces.")
    read = _yaml(text.replace("\t", " "), file, 1)  # JSON is YAML, whose parser knows the lines; tabs are not
    return Document(file, value, {} if isinstance(read, Fault) else read[1])


def as_yaml(text: str, file: str) -> Document | Fault:
    """A file of YAML that begins with names and values."""
    read = _yaml(text, file, 1)
    if isinstance(read, Fault):
        return read
    if not isinstance(read[0], dict):
        return Fault(file, 1, "It must begin with names and values, such as why: to see.")
    return Document(file, *read)


def fitted(document: Document, kind: type[T], path: str = "", value: Any = msgspec.UNSET) -> T | Fault:
    """The document, or what is in it at ``path``, as a ``kind``."""
    try:
        return msgspec.convert(document.value if value is msgspec.UNSET else value, kind)
    except msgspec.ValidationError as error:
        message = str(error)
        place = path + (found["path"].replace("[...]", "") if (found := _PLACE.search(message)) else "")
        if unknown := _UNKNOWN.match(message):
            return document.fault(f"There is no field {unknown['name']!r} here.", f"{place}.{unknown['name']}")
        where = f" ({place.removeprefix('.')})" if place else ""
        return document.fault(f"{_PLACE.sub('', message)}{where}.", place)


def _yaml(text: str, file: str, first_line: int) -> tuple[Any, dict[str, int]] | Fault:
    """Its value, and the line of each path in it."""
    try:
        loader = yaml.CSafeLoader(text)
        node = loader.get_single_node()
        if node is None:
            return {}, {}
        lines: dict[str, int] = {}
        _note_lines(node, "", first_line, lines, node.start_mark.line, set())
        return loader.construct_document(node), lines
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line if error.problem_mark else 0
        return Fault(file, first_line + line, f"It is not YAML: {error.problem or error.context}.")
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # a date that does not exist is a ValueError
        return Fault(file, first_line, f"It is not YAML: {str(error).splitlines()[0]}.")


def _note_lines(node: yaml.Node, path: str, first_line: int, lines: dict[str, int], line: int, seen: set[int]) -> None:
    """``line``: where its key stands. What is in a node that is there under several names (an alias) keeps its first
    path: there may be more names than anybody could write."""
    lines[path] = first_line + line
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            _note_lines(value, f"{path}.{key.value}", first_line, lines, key.start_mark.line, seen)
    elif isinstance(node, yaml.SequenceNode):
        for number, each in enumerate(node.value):
            _note_lines(each, f"{path}[{number}]", first_line, lines, each.start_mark.line, seen)
