"""``docs/performance.md`` and pages like it: aims and whether they hold, then a section of each measurement.

Nothing on them is written by hand; the same figures always make the same page.
"""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from msgspec import Struct

from scripts.imports import ROOT

DOCS = ROOT / "docs"
ABOUT = """
    Written by `{command}` and by nothing else: measured on this machine, with stand-ins on it for AWS, Telegram, Slack
    and the model. Milliseconds depend on the machine and on what else it does; ratios hardly do, and counts not at all.
    `{command}` prints the same figures as JSON."""


class Page(Struct, frozen=True):
    """Where it lies, what it is called, and what prints its figures."""

    path: Path
    title: str
    command: str


PERFORMANCE = Page(DOCS / "performance.md", "Performance", "make bench")


class Aim(Struct, frozen=True):
    """What we want, the most (or least) there may be, and what there is; ``holds`` says whether that is enough."""

    what: str
    wanted: str
    measured: str
    holds: bool


def at_most(what: str, limit: float, measured: float, unit: str = "") -> Aim:
    return Aim(what, f"at most {limit:g}{unit}", f"{measured:g}{unit}", measured <= limit)


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Figures to the right, words to the left: a column is of figures where its first row holds one."""
    lines = [[_cell(each) for each in row] for row in rows]
    rules = ["---:" if cell[:1].isdigit() else "---" for cell in lines[0]] if lines else ["---"] * len(head)
    return "\n".join("| " + " | ".join(line) + " |" for line in (list(head), rules, *lines))


def section(title: str, words: str, *parts: str) -> str:
    """``words`` may be wrapped as they like."""
    return "\n\n".join([f"## {title}", _filled(words), *parts])


def written(
    page: Page, figures: Mapping[str, Any], modules: Mapping[str, ModuleType], machine: Mapping[str, Any]
) -> str:
    """``figures`` and ``modules`` are those of each measurement, by its name; ``machine`` is told as it is."""
    aims = [aim for name, module in modules.items() if hasattr(module, "aims") for aim in module.aims(figures[name])]
    judged = [(aim.what, aim.wanted, aim.measured, "yes" if aim.holds else "**no**") for aim in aims]
    sections = [
        module.markdown(figures[name]).strip() for name, module in modules.items() if hasattr(module, "markdown")
    ]
    parts = [
        f"# {page.title}",
        _filled(ABOUT.format(command=page.command)),
        table(["machine", ""], [(name, str(value)) for name, value in machine.items()]),
        "## Aims",
        table(["what", "wanted", "measured", "holds"], judged),
        *sections,
    ]
    return "\n\n".join(parts) + "\n"


def _filled(words: str) -> str:
    return textwrap.fill(" ".join(words.split()), 120)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:,}"
    return str(value)
