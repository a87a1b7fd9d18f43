"""Libraries made quicker to load, in the packages for Lambda: nothing that is used of them is gone or does otherwise.

**botocore** reads its services' models as compressed JSON that is mostly documentation, and the addresses of hundreds
of services where seven are called: both are left out, which takes two thirds off the making of a client.

**anthropic** loads 3,200 modules, most of them types that nobody here names: its packages are made lazy
(``scripts/lazy.py``), and what it loads for tracing and for errors it loads when there is something to trace, or an
error. Should a new version look otherwise there, the build ends with a sentence that says where.

tests/packages/test_lighter.py keeps what is said here.
"""

import gzip
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

from scripts.lazy import make_lazy


class Edit(NamedTuple):
    file: str
    before: str
    """Stands in the file exactly once."""
    after: str


def _loaded_when_called(module: str, name: str) -> str:
    lines = (f"def {name}(*args, **options):", f"    from {module} import {name} as function", "")
    return "\n".join((*lines, "    return function(*args, **options)", ""))


ANTHROPIC = (
    # It would load every name to set the module that error messages tell.
    Edit("__init__.py", "for __name in __all__:", "for __name in ():"),
    Edit(
        "_base_client.py",
        "from ._error_classes import make_status_error\n",
        _loaded_when_called("._error_classes", "make_status_error"),
    ),
    Edit(
        "_base_client.py",
        "from .lib._tracing import OpenTelemetryConfig, finish_api_call_span\n",
        "from .lib._tracing import OpenTelemetryConfig\n"
        + _loaded_when_called(".lib._tracing", "finish_api_call_span"),
    ),
)


def lighten(folder: Path, services: Collection[str]) -> None:
    """Do so with the libraries installed in ``folder``. Raises ValueError where one is not as it is known to be."""
    if (data := folder / "botocore" / "data").is_dir():
        _lighten_models(data, services)
    if (anthropic := folder / "anthropic").is_dir():
        for edit in ANTHROPIC:
            _apply(edit, anthropic)
        make_lazy(anthropic)


def _lighten_models(data: Path, services: Collection[str]) -> None:
    for packed in sorted(data.rglob("*.json.gz")):
        model = json.loads(gzip.decompress(packed.read_bytes()))
        _write(packed.with_suffix(""), _without_words(model))
        packed.unlink()
    endpoints = json.loads((data / "endpoints.json").read_bytes())
    for partition in endpoints["partitions"]:
        known = partition["services"]
        partition["services"] = {name: known[name] for name in known if name in services}
    _write(data / "endpoints.json", endpoints)


def _write(file: Path, value: Any) -> None:
    file.write_text(json.dumps(value, separators=(",", ":")))


def _without_words(value: Any) -> Any:
    """A model without what it says to people. A member that is called so is no text and stays."""
    if isinstance(value, dict):
        # Emptied, not gone: botocore looks for some of them by name.
        return {name: "" if _is_words(name, each) else _without_words(each) for name, each in value.items()}
    return [_without_words(each) for each in value] if isinstance(value, list) else value


def _is_words(name: str, value: Any) -> bool:
    return name == "documentation" and isinstance(value, str)


def _apply(edit: Edit, folder: Path) -> None:
    file = folder / edit.file
    source = file.read_text()
    if source.count(edit.before) != 1:
        raise ValueError(
            f"{file.name} of {folder.name} is not as scripts/lighten.py knows it: look at the new version, and change "
            f"what is said there of {edit.before.strip()!r}."
        )
    file.write_text(source.replace(edit.before, edit.after))
