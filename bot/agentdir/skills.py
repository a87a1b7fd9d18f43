"""The owner's skills in the public Agent Skills format: ``skills/<name>/SKILL.md`` with files and scripts beside it.

Source: agentskills.io/specification. ``allowed-tools`` is taken and loosens nothing: who is asked first is a setting.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from msgspec import Struct, field

from bot.agentdir.documents import Document, Fault, fitted, inside, text_of, with_front_matter
from bot.agentdir.prose import without_code

FOLDER, FILE = "skills", "SKILL.md"
MOST = 100
"""Skills: their names alone are then 7,000 characters of every prompt."""
MOST_FILES = 100
LARGEST = 10_000_000
"""Bytes of a skill's files together."""
LONGEST_NAME, LONGEST_DESCRIPTION, LONGEST_COMPATIBILITY = 64, 1_024, 500
"""Characters, as the format has it."""
FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
CACHES = ("__pycache__", "node_modules")

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LINK = re.compile(r"\]\(\s*<?([^)\s>#]+)")


class Skill(Struct, frozen=True):
    """``files`` are what lies beside its SKILL.md, with slashes; ``body`` is that file's text."""

    name: str
    description: str
    folder: Path
    body: str
    files: tuple[str, ...] = ()

    def data(self, name: str) -> bytes | None:
        """One of its files; None where it has no such file, or it can not be read any more. Nothing outside of its
        folder is ever read."""
        path = inside(self.folder, name) if name in self.files else None
        try:
            return path.read_bytes() if path else None
        except OSError:
            return None


class _Front(Struct, frozen=True):
    name: str
    description: str
    license: str = ""
    compatibility: str = ""
    metadata: dict[str, Any] = {}
    allowed_tools: str | list[str] = field(name="allowed-tools", default="")


def read_skills(folder: Path) -> tuple[tuple[Skill, ...], list[Fault]]:
    """In the order of their names. A skill that does not keep to the format is left out; one with a field that nobody
    knows or a link to nothing is named and used."""
    top = folder / FOLDER
    if not top.exists():
        return (), []
    try:
        entries = sorted(each.name for each in top.iterdir() if not is_hidden(each.name))
    except OSError as error:
        return (), [Fault(FOLDER, 0, f"It must be a folder with a folder for each skill: {error.strerror}.")]
    skills: list[Skill] = []
    faults: list[Fault] = []
    for name in entries:
        if (top / name).is_dir():
            skill, wrong = _skill(folder, name)
            faults += wrong
            if skill and len(skills) == MOST:
                faults.append(Fault(f"{FOLDER}/{name}", 0, f"There are more than {MOST} skills: this one is left out."))
            elif skill:
                skills.append(skill)
        elif not name.lower().startswith(("readme", "license")):
            faults.append(Fault(f"{FOLDER}/{name}", 0, f"A skill is a folder: move this to {Path(name).stem}/{FILE}."))
    return tuple(skills), faults


def is_hidden(name: str) -> bool:
    """Whether nobody wrote it: caches, and what systems leave behind."""
    return name.startswith(".") or name in CACHES


def _skill(folder: Path, name: str) -> tuple[Skill | None, list[Fault]]:
    place = f"{FOLDER}/{name}"
    root = (folder / place).resolve()
    if not root.is_relative_to(folder.resolve()):
        return None, [Fault(place, 0, "It is a link that leads out of the folder: copy the skill here.")]
    if inside(root, FILE) is None:
        return None, [Fault(place, 0, _why_none(root))]
    text = text_of(folder, f"{place}/{FILE}")
    document = text if isinstance(text, Fault) else with_front_matter(text, f"{place}/{FILE}")
    if isinstance(document, Fault):
        return None, [document]
    front = fitted(document, _Front)
    unknown = [
        document.fault(f"There is no field {each!r}: there are {', '.join(FIELDS)}.", f".{each}")
        for each in document.value
        if each not in FIELDS
    ]
    if isinstance(front, Fault):
        return None, [front, *unknown]
    if wrong := list(_misfits(document, front, name)):
        return None, [*wrong, *unknown]
    files, odd = _files(root, place)
    skill = Skill(front.name, " ".join(front.description.split()), root, document.body.strip(), files)
    return skill, [*unknown, *_dead_links(document, root), *odd]


def _why_none(root: Path) -> str:
    if (root / FILE).is_symlink():
        return f"{FILE} is a link that leads nowhere, or out of the skill's folder."
    other = next((each.name for each in root.iterdir() if each.name.lower() == FILE.lower()), "")
    return f"{other} must be called {FILE}." if other else f"There is no {FILE} in this folder."


def _misfits(document: Document, front: _Front, folder: str) -> Iterator[Fault]:
    """Where it breaks the format, for which the skill is left out."""
    if not _NAME.fullmatch(front.name):
        yield document.fault(
            f"The name {front.name!r} must be lowercase letters, digits and single hyphens between them.", ".name"
        )
    elif len(front.name) > LONGEST_NAME:
        yield document.fault(f"The name has more than {LONGEST_NAME} characters.", ".name")
    elif front.name != folder:
        yield document.fault(f"The name {front.name!r} is not that of its folder, {folder!r}.", ".name")
    if not front.description.strip():
        yield document.fault("The description is empty: say what it does and when to use it.", ".description")
    elif len(front.description) > LONGEST_DESCRIPTION:
        yield document.fault(f"The description has more than {LONGEST_DESCRIPTION:,} characters.", ".description")
    if len(front.compatibility) > LONGEST_COMPATIBILITY:
        yield document.fault(f"compatibility has more than {LONGEST_COMPATIBILITY} characters.", ".compatibility")
    if not document.body.strip():
        yield Fault(document.file, document.body_line, "Below the second line --- must stand what is to be done.")


def _dead_links(document: Document, root: Path) -> Iterator[Fault]:
    if "](" not in document.body:
        return
    body = without_code(document.body)
    links = {unquote(found[1]): found.start(1) for found in reversed(list(_LINK.finditer(body)))}
    for target, at in links.items():  # where each stands first
        if ":" not in target and inside(root, target, folders=True) is None:
            line = document.body_line + body[:at].count("\n")
            yield Fault(document.file, line, f"There is no file {target} in this skill's folder.")


def _files(root: Path, place: str) -> tuple[tuple[str, ...], list[Fault]]:
    """What lies beside SKILL.md, by name. Links that lead out are never followed."""
    names: list[str] = []
    faults: list[Fault] = []
    size = 0
    for name in _walked(root):
        path = inside(root, name)
        size += path.stat().st_size if path else 0
        if path is None:
            faults.append(Fault(f"{place}/{name}", 0, "It is a link that leads nowhere, or out of the skill's folder."))
        elif size > LARGEST or len(names) == MOST_FILES:
            most = f"at most {MOST_FILES} files of {LARGEST // 1_000_000} MB together"
            faults.append(Fault(f"{place}/{name}", 0, f"From here on files are left out: a skill has {most}."))
            break
        else:
            names.append(name)
    return tuple(names), faults


def _walked(root: Path) -> Iterator[str]:
    """Files, and links to folders, in one order on every system."""
    for folder, inner, files in os.walk(root):
        inner[:] = sorted(each for each in inner if not is_hidden(each))
        linked = [each for each in inner if Path(folder, each).is_symlink()]
        for name in sorted([*files, *linked]):
            relative = Path(folder, name).relative_to(root).as_posix()
            if not is_hidden(name) and relative != FILE:
                yield relative
