"""Packages whose ``__init__`` hands on what their modules define, made to load each name when it is asked for.

``import anthropic`` loads some 3,200 modules where a turn needs a few dozen, because its packages name all their types
in their ``__init__``. PEP 562 lets a package answer for a name when somebody asks: in the package built for Lambda it
does so, and all that can be imported from the library can be imported from there too (tests/packages/test_lighter.py).

Made lazy are statements ``from .module import name``, with a star too, and aliases made of such names. Names that the
``__init__`` uses itself stay as they are, and so do those that a module beside it has too.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ANSWER = """

def __getattr__(name):
    import importlib

    if name in _MODULES:
        value = importlib.import_module("." + name, __name__)
    elif name in _NAMES:
        module, its_name = _NAMES[name]
        value = getattr(importlib.import_module(module, __name__), its_name)
    elif name in _MADE:
        value = _MADE[name]()
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_MODULES, *_NAMES, *_MADE})
"""


def make_lazy(folder: Path) -> int:
    """Rewrite each ``__init__.py`` under ``folder`` for which that changes anything; returns how many those were."""
    changed = 0
    for file in sorted(folder.rglob("__init__.py")):
        source = file.read_text()
        made = lazy(source, file)
        if made != source:
            file.write_text(made)
            changed += 1
    return changed


class _Plan(NamedTuple):
    """What stands in an ``__init__`` as before, and what it answers for: submodules, names by where they come from, and
    what is made of such names."""

    kept: list[ast.stmt]
    modules: set[str]
    names: dict[str, tuple[str, str]]
    made: dict[str, ast.expr]


def lazy(source: str, file: Path) -> str:
    """The source of the package's ``__init__`` at ``file``, made lazy; the same where nothing can be, or is already."""
    body = ast.parse(source).body
    plan = _planned(body, file)
    return _written(plan) if (plan.names or plan.modules) and "__getattr__" not in _bound(body) else source


def _planned(body: list[ast.stmt], file: Path) -> _Plan:
    neighbours = {path.stem for path in file.parent.iterdir()}
    needed = _needed(body)
    plan = _Plan([], set(), {}, {})
    for node in body:
        if alias := _alias(node):
            if alias[0] in needed or not _used([alias[1]]) & (plan.names.keys() | plan.made.keys()):
                plan.kept.append(node)
            else:
                plan.made[alias[0]] = alias[1]
        elif isinstance(node, ast.ImportFrom) and node.level:
            _plan_import(node, file, neighbours, needed, plan)
        else:
            plan.kept.append(node)
    plan.modules.difference_update(_bound(plan.kept), plan.names, plan.made)
    return plan


def _plan_import(node: ast.ImportFrom, file: Path, neighbours: set[str], needed: set[str], plan: _Plan) -> None:
    if node.level == 1 and node.module:  # to import from a module leaves the module itself there too
        plan.modules.add(node.module.partition(".")[0])
    eager = []
    for name, its_name in _handed_on(node, file):
        if node.module and name not in neighbours | needed:
            plan.names[name] = ("." * node.level + node.module, its_name)
        elif not node.module and node.level == 1 and name == its_name and name in neighbours - needed:
            plan.modules.add(name)
        else:
            eager.append(ast.alias(its_name, name if name != its_name else None))
    if eager:
        plan.kept.append(ast.ImportFrom(node.module, eager, node.level))


def _needed(body: list[ast.stmt]) -> set[str]:
    """Names that the ``__init__`` uses itself, and those that such a name is made of."""
    aliases = dict(alias for node in body if (alias := _alias(node)))
    needed = _used([node for node in body if not _alias(node)])
    while more := _used([aliases[name] for name in needed & aliases.keys()]) - needed:
        needed |= more
    return needed


def _written(plan: _Plan) -> str:
    later = plan.names.keys() | plan.made.keys()
    makers = []
    for name, value in plan.made.items():
        lines = [f"{used} = __getattr__({used!r})" for used in sorted(_used([value]) & later)]
        makers.append("\n    ".join([f"def _make_{name}():", *lines, f"return {ast.unparse(value)}"]))
    parts = [
        ast.unparse(ast.Module(plan.kept, [])),
        *makers,
        f"_MODULES = {sorted(plan.modules)!r}",
        f"_NAMES = {plan.names!r}",
        f"_MADE = {{{', '.join(f'{name!r}: _make_{name}' for name in plan.made)}}}",
    ]
    # A star hands on what is lazy too only where the names are listed.
    if "__all__" not in {name for node in plan.kept for name in _assigned(node)}:
        public = sorted(name for name in later | plan.modules | _bound(plan.kept) if not name.startswith("_"))
        parts.append(f"__all__ = {public!r}")
    return "\n".join(parts) + ANSWER


def _alias(node: ast.stmt) -> tuple[str, ast.expr] | None:
    """Of ``Name: TypeAlias = value``: the name and the value."""
    if isinstance(node, ast.AnnAssign) and node.value and isinstance(node.target, ast.Name):
        return node.target.id, node.value
    return None


def _handed_on(node: ast.ImportFrom, file: Path) -> Iterator[tuple[str, str]]:
    """Each name that an import binds, with its name where it comes from."""
    for alias in node.names:
        if alias.name == "*":
            yield from ((name, name) for name in _public(file, node))
        else:
            yield alias.asname or alias.name, alias.name


def _public(file: Path, node: ast.ImportFrom) -> list[str]:
    """What a star brings: the module's ``__all__`` where there is one, else all it binds without an underscore."""
    folder = file.parents[node.level - 1].joinpath(*(node.module or "").split("."))
    source = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    tree = ast.parse(source.read_text())
    for each in tree.body:
        if "__all__" in _assigned(each) and isinstance(each, ast.Assign | ast.AnnAssign) and each.value:
            return list(ast.literal_eval(each.value))
    return sorted(name for name in _bound(tree.body) if not name.startswith("_"))


def _bound(body: list[ast.stmt]) -> set[str]:
    names = set()
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        else:
            names |= _assigned(node)
    return names


def _assigned(node: ast.stmt) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _used(nodes: list[ast.stmt] | list[ast.expr]) -> set[str]:
    found = (inner for node in nodes for inner in ast.walk(node))
    return {node.id for node in found if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
