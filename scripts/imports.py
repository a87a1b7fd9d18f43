"""What a module of this project imports, read from its source: nothing is run.

Two readers: ``scripts/build.py`` ships exactly the modules a function reaches, and ``tests/test_rooms.py`` checks who
may import whom. An import inside a function counts like one at the top, an import under ``if TYPE_CHECKING:`` does not,
and a name imported at run time (``importlib.import_module``) can not be seen: this project has none.
"""

import ast
import importlib.util
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]


class Reach(NamedTuple):
    """Everything an import of some modules can load."""

    own: frozenset[str]
    """Dotted names of this project's modules and packages, the starting ones included."""
    outside: frozenset[str]
    """Dotted names as they are imported from elsewhere, the standard library included."""


def source_of(module: str) -> Path | None:
    """The file of one of this project's modules, or None where the name is not one."""
    path = ROOT.joinpath(*module.split("."))
    files = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in files if file.is_file()), None)


@cache
def imports_of(module: str) -> frozenset[str]:
    """Absolute dotted names that ``module`` imports itself; ``from a import b`` gives ``a``, and ``a.b`` if a file."""
    file = source_of(module)
    if file is None:
        raise ModuleNotFoundError(module)
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    return frozenset(
        name for node in _running_code(ast.parse(file.read_bytes())) for name in _imported_names(node, package)
    )


def reach(entries: Iterable[str]) -> Reach:
    """Everything these modules load, directly or through each other.

    Raises ModuleNotFoundError where one of this project's own is not there.
    """
    own: set[str] = set()
    outside: set[str] = set()
    waiting = list(entries)
    while waiting:
        name = waiting.pop()
        if name in own:
            continue
        if source_of(name.partition(".")[0]) is None:
            outside.add(name)
            continue
        own.add(name)
        waiting.extend(imports_of(name))
        waiting.extend(_packages_above(name))
    return Reach(frozenset(own), frozenset(outside))


def _running_code(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node of a tree but those that only a type checker looks at."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and ast.unparse(child.test).removeprefix("typing.") == "TYPE_CHECKING":
            children: Iterable[ast.AST] = child.orelse
        else:
            yield child
            children = (child,)
        for inner in children:
            yield from _running_code(inner)


def _imported_names(node: ast.AST, package: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
        yield base
        yield from (f"{base}.{alias.name}" for alias in node.names if source_of(f"{base}.{alias.name}"))


def _packages_above(module: str) -> Iterator[str]:
    parts = module.split(".")[:-1]
    return (".".join(parts[:end]) for end in range(1, len(parts) + 1) if source_of(".".join(parts[:end])))
