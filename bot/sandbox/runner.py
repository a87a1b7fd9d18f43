"""What runs inside, as the script itself would: it runs the script and saves the figures that nobody saved.

    python -I runner.py SCRIPT LIBRARIES [ARGUMENT ...]

A file of its own, with Python's library only: nothing else of ours can be read there.
"""

import importlib.abc
import importlib.machinery
import linecache
import os
import sys
import traceback
import types
import warnings
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path

NAME = "script.py"
"""What tracebacks call it."""


class Touch(importlib.abc.Loader):
    """A module's own loader, and something done to the module once it is loaded."""

    def __init__(self, loader: importlib.abc.Loader, touch: Callable[[types.ModuleType], None]) -> None:
        self._loader = loader
        self._touch = touch

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: types.ModuleType) -> None:
        self._loader.exec_module(module)
        self._touch(module)


class Touching(importlib.abc.MetaPathFinder):
    def __init__(self, touches: dict[str, Callable[[types.ModuleType], None]]) -> None:
        self._touches = touches

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        touch = self._touches.get(fullname)
        spec = importlib.machinery.PathFinder.find_spec(fullname, path) if touch else None
        if touch and spec and spec.loader:
            spec.loader = Touch(spec.loader, touch)
        return spec


class Figures:
    """Those of matplotlib: what the script shows is saved, and what it leaves open; what it saves itself is not."""

    def __init__(self) -> None:
        self._saved: weakref.WeakSet[object] = weakref.WeakSet()
        self._count = 0

    def watch_saving(self, module: types.ModuleType) -> None:
        """Of matplotlib.figure."""
        save = module.Figure.savefig

        def savefig(figure: object, *arguments: object, **options: object) -> object:
            self._saved.add(figure)
            return save(figure, *arguments, **options)

        module.Figure.savefig = savefig

    def watch_showing(self, module: types.ModuleType) -> None:
        """Of matplotlib.pyplot: without a screen, show() is the end of a figure as it is with one."""
        warnings.filterwarnings("ignore", ".*non-interactive", UserWarning)

        def show(*arguments: object, **options: object) -> None:
            self.save_open()
            module.close("all")

        setattr(module, "show", show)  # noqa: B010 - a module has no such name for a type checker

    def save_open(self) -> None:
        pyplot = sys.modules.get("matplotlib.pyplot")
        for number in pyplot.get_fignums() if pyplot else ():
            figure = pyplot.figure(number)  # type: ignore[union-attr]  # there are numbers, so it is there
            if figure not in self._saved:
                figure.savefig(self._free_name(), bbox_inches="tight")

    def _free_name(self) -> str:
        self._count += 1
        while Path(name := f"plot-{self._count}.png").exists():
            self._count += 1
        return name


def run(path: str) -> int:
    """The exit status. A traceback shows the script's own lines and none of ours."""
    source = Path(path).read_text(encoding="utf-8")
    linecache.cache[NAME] = (len(source), None, source.splitlines(keepends=True), NAME)
    module = types.ModuleType("__main__")
    module.__file__ = NAME
    sys.modules["__main__"] = module
    try:
        exec(compile(source, NAME, "exec"), module.__dict__)  # noqa: S102 - it is what this process is for
    except SystemExit as end:
        return _status(end.code)
    except BaseException as error:
        at = error.__traceback__.tb_next if error.__traceback__ else None
        traceback.print_exception(type(error), error, at)
        return 1
    return 0


def _status(code: object) -> int:
    if code is None or isinstance(code, int):
        return code or 0
    print(code, file=sys.stderr)  # noqa: T201 - as Python itself does
    return 1


def main() -> None:
    script, libraries = sys.argv[1:3]
    sys.argv[:] = [NAME, *sys.argv[3:]]
    sys.path[:0] = [str(Path.cwd())]
    sys.path += filter(None, libraries.split(os.pathsep))
    figures = Figures()
    sys.meta_path.insert(
        0, Touching({"matplotlib.figure": figures.watch_saving, "matplotlib.pyplot": figures.watch_showing})
    )
    status = run(script)
    try:
        figures.save_open()
    except BaseException as error:  # a figure that can not be drawn is one more fault of the script
        print(f"A figure could not be saved: {type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201
        status = status or 1
    sys.exit(status)


if __name__ == "__main__":
    main()
