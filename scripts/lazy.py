"""Packages whose ``__init__`` hands on what their modules define, made to load each name when it is asked for.

``import anthropic`` loads some 3,200 modules where a turn needs a few dozen, because its packages name all their types
in their ``__init__``. PEP 562 lets a package answer for a name when somebody asks: in the package built for Lambda it
does so, and all that can be imported from the library can be imported from there too (tests/packages/test_lighter.py).

Made lazy are statements ``from .module import name``, with a star too, and aliases made of such names. Names that the
``__init__`` uses itself stay as they are, and so do those that a module beside it has too.
"""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

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


def lazy(source: str, file: Path) -> str:
    """The source of the package's ``__init__`` at ``file``, made lazy; the same where nothing can be."""
    tree = ast.parse(source)
    neighbours = {path.stem for path in file.parent.iterdir()} - {"__init__"}
    names: dict[str, tuple[str, str]] = {}
    modules: set[str] = set()
    kept: list[ast.stmt] = []
    aliases: dict[str, ast.expr] = {}
    for node in tree.body:
        if (made := _alias(node)) and _used([made[1]]) & (names.keys() | aliases.keys()):
            aliases[made[0]] = made[1]
        elif isinstance(node, ast.ImportFrom) and node.level:
            if node.level == 1 and node.module:  # to import from a module leaves the module itself there too
                modules.add(node.module.partition(".")[0])
            eager = []
            for name, origin in _handed_on(node, file):
                if origin == (".", name):
                    modules.add(name)
                elif name in neighbours:
                    eager.append(ast.alias(origin[1], name))
                else:
                    names[name] = origin
            if eager:
                kept.append(ast.ImportFrom(node.module, eager, node.level))
        else:
            kept.append(node)
    modules -= names.keys() | _bound(kept)
    needed = _used(kept)
    while needed & aliases.keys():  # what is made of something is needed with it
        name = (needed & aliases.keys()).pop()
        kept.append(ast.Assign([ast.Name(name, ast.Store())], aliases.pop(name), lineno=0))
        needed = _used(kept)
    if not names and not modules:
        return source
    early = [_import(name, names.pop(name)) for name in sorted(needed & names.keys())]
    early += [ast.ImportFrom(None, [ast.alias(name)], 1) for name in sorted(needed & modules)]
    modules -= needed
    return _written(kept, early, names, modules, aliases)


def _written(
    kept: list[ast.stmt],
    early: list[ast.stmt],
    names: Mapping[str, tuple[str, str]],
    modules: set[str],
    aliases: Mapping[str, ast.expr],
) -> str:
    at = sum(1 for node in kept[:2] if _comes_first(node))
    makers = []
    for name, value in aliases.items():
        lines = [ast.unparse(_import(used, names[used])) for used in sorted(_used([value]) & names.keys())]
        makers.append("\n    ".join([f"def _make_{name}():", *lines, f"return {ast.unparse(value)}"]))
    parts = [
        ast.unparse(ast.Module([*kept[:at], *early, *kept[at:]], [])),
        *makers,
        f"_MODULES = {sorted(modules)!r}",
        f"_NAMES = {dict(names)!r}",
        f"_MADE = {{{', '.join(f'{name!r}: _make_{name}' for name in aliases)}}}",
    ]
    # A star hands on what is lazy too only where the names are listed.
    if "__all__" not in {name for node in kept for name in _assigned(node)}:
        public = sorted(name for name in {*names, *modules, *aliases, *_bound(kept)} if not name.startswith("_"))
        parts.append(f"__all__ = {public!r}")
    return "\n".join(parts) + ANSWER


def _comes_first(node: ast.stmt) -> bool:
    """A docstring, or an import from the future."""
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return docstring or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


def _import(name: str, origin: tuple[str, str]) -> ast.stmt:
    module, its_name = origin
    level = len(module) - len(module.lstrip("."))
    return ast.ImportFrom(module[level:] or None, [ast.alias(its_name, name if name != its_name else None)], level)


def _alias(node: ast.stmt) -> tuple[str, ast.expr] | None:
    """Of ``Name: TypeAlias = value``: the name and the value."""
    if isinstance(node, ast.AnnAssign) and node.value and isinstance(node.target, ast.Name):
        return node.target.id, node.value
    return None


def _handed_on(node: ast.ImportFrom, file: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    """Each name that an import binds, with the module it comes from and its name there."""
    module = "." * node.level + (node.module or "")
    for alias in node.names:
        if alias.name == "*":
            yield from ((name, (module, name)) for name in _public(file, node))
        else:
            yield alias.asname or alias.name, (module, alias.name)


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
