"""Build what a Lambda function is deployed with, on any machine: no Docker, no account, wheels of the target only.

    requirements/<function>.txt ──pip──> .cache/dependencies/<digest>/   pruned and compiled, made once
    handlers/<function>.py ──its imports followed──┐
                                                   └──> OUT/             reproducible: same input, same bytes

    python -m scripts.build webhook OUT [--arch arm64]

``OUT`` must be empty or not there. ``make build`` calls this for each function, ``sam build`` through the Makefile.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from scripts import lazy, lighten
from scripts.imports import ROOT, reach, source_of
from scripts.pythons import find_python


class Recipe(NamedTuple):
    """``requirements`` names the pinned list; ``folders`` are read at run time, beside the modules it imports, and so
    are those of bots with a name (``agent-lola``)."""

    requirements: str
    folders: tuple[str, ...] = ()


FUNCTIONS = {
    "webhook": Recipe("webhook"),
    "worker": Recipe("worker", ("agent",)),
    "deadletter": Recipe("worker", ("agent",)),
    "sandbox": Recipe("sandbox"),
    "a2a": Recipe("a2a", ("agent",)),
    "registrar": Recipe("webhook"),
}
MACHINES = {"arm64": "aarch64", "x86_64": "x86_64"}
RUNTIME = "3.13"
GLIBC = ("manylinux2014", "manylinux_2_17", "manylinux_2_28", "manylinux_2_34")
"""What Amazon Linux 2023, under every current Python runtime, can load: its glibc is 2.34."""

TASK_ROOT = "/var/task"
"""Where Lambda unpacks the package: the paths that tracebacks show."""

LONG_AGO = 315_532_800
"""1980-01-01, the first moment a zip file can hold: every file's time, so that equal files make equal packages."""

SERVICES = {"dynamodb", "sqs", "ssm", "s3", "lambda", "scheduler", "sts", "kms", "cloudformation"}
"""The only ones of botocore's 400 service models that are shipped: 20 MB less to unpack, 20 ms less to search."""

SOURCES_NOT_RUN = {".pyi", ".pyx", ".pxd", ".pxi", ".c", ".h", ".cpp", ".hpp", ".pyc"}
CACHES = {"__pycache__", "node_modules"}
METADATA_KEPT = {"METADATA", "entry_points.txt", "licenses"}


class Target(NamedTuple):
    arch: str
    """"arm64" or "x86_64", as AWS names them."""
    python: str = RUNTIME


class Package(NamedTuple):
    path: Path
    bytes: int
    compiled_bytes: int
    """Of the .pyc among them; 0 where this machine has no Python of the target's version."""


def build(function: str, target: Target, out: Path) -> Package:
    """Fill ``out`` with one function's package. Raises CalledProcessError where pip or the compiler fails."""
    if out.exists() and any(out.iterdir()):
        raise FileExistsError(f"{out} is not empty")
    compiler = find_python(target.python)
    shutil.copytree(dependencies(function, target, compiler), out, dirs_exist_ok=True)
    for file in own_files(function):
        copy = out / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    _compile(out, compiler, ["bot", "handlers"])
    _settle_times(out)
    return measure(out)


def own_files(function: str) -> list[Path]:
    """This project's files that the function needs: the modules its handler reaches, and the folders it reads."""
    modules = reach([f"handlers.{function}"]).own
    sources = [file for file in map(source_of, modules) if file]
    folders = (each for name in FUNCTIONS[function].folders for each in (ROOT / name, *ROOT.glob(f"{name}-*/")))
    return sorted([*sources, *(file for folder in folders for file in read_files(folder))])


def read_files(folder: Path) -> list[Path]:
    """All that somebody wrote there, as it is: no caches, nothing hidden, and no link to what lies elsewhere."""
    return [
        file
        for file in sorted(folder.rglob("*"))
        if file.is_file()
        and file.resolve().is_relative_to(folder.resolve())
        and not any(part.startswith(".") or part in CACHES for part in file.relative_to(folder).parts)
    ]


def dependencies(function: str, target: Target, compiler: Path | None) -> Path:
    """The folder of this function's pinned libraries for this target, from the cache or made now."""
    return libraries([FUNCTIONS[function].requirements], target, compiler)


def libraries(lists: Sequence[str], target: Target, compiler: Path | None, *, as_they_are: bool = False) -> Path:
    """The same for these pinned lists together; ``as_they_are``: nothing of them left out or changed."""
    requirements = [ROOT / "requirements" / f"{name}.txt" for name in lists]
    makers = [Path(maker) for maker in (__file__, *(() if as_they_are else (lazy.__file__, lighten.__file__)))]
    kind = ["compiled" if compiler else "sources", "whole" if as_they_are else "light"]
    recipe = [*target, *kind, *(file.read_text() for file in (*requirements, *makers))]
    made = ROOT / ".cache" / "dependencies" / hashlib.sha256("\0".join(recipe).encode()).hexdigest()[:16]
    if made.exists():
        return made
    made.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=made.parent, prefix="making-") as workshop:
        folder = Path(workshop, "libraries")
        _install(requirements, target, folder)
        if not as_they_are:
            _prune(folder)
            lighten.lighten(folder, SERVICES)
        _compile(folder, compiler, ["."])
        # Two builds at once make the same folder: whoever is second keeps the first one's.
        if not made.exists():
            folder.rename(made)
    return made


def measure(package: Path) -> Package:
    sizes = [(file.suffix, file.stat().st_size) for file in package.rglob("*") if file.is_file()]
    return Package(package, sum(size for _, size in sizes), sum(size for suffix, size in sizes if suffix == ".pyc"))


def unused(file: PurePosixPath) -> bool:
    """Whether the running function never reads this file of an installed library (path relative to the package)."""
    match file.parts:
        case ["bin", *_] | ["boto3", "examples", *_] | ["html_to_markdown", "bin", *_] | ["telegram", "ext", *_]:
            return True
        case ["anthropic", "_vendor", "httpx_aiohttp", *_]:
            return True  # where it finds it, the SDK loads aiohttp, which is here for Slack
        case ["botocore", "data", _, _, "examples-1.json"]:
            return True
        case [_, *folders, _] if "tests" in folders:
            return True
        case ["botocore" | "boto3", "data", service, _, *_]:
            return service not in SERVICES
        case [folder, name, *_] if folder.endswith(".dist-info"):
            # Versions, licences and plug-in points stay: libraries read them at run time, people by law.
            return name not in METADATA_KEPT and not name.upper().startswith(("LICEN", "NOTICE", "COPYING"))
        case _:
            return file.suffix in SOURCES_NOT_RUN


def _install(requirements: Sequence[Path], target: Target, folder: Path) -> None:
    machine = MACHINES[target.arch]
    platforms = [word for glibc in GLIBC for word in ("--platform", f"{glibc}_{machine}")]
    command = [sys.executable, "-m", "pip", "--quiet", "--quiet", "--disable-pip-version-check", "install"]
    selection = [*platforms, "--python-version", target.python, "--implementation", "cp", "--only-binary", ":all:"]
    # The list is complete, so nothing is resolved: what is tested is what is shipped. It is for the target's Python,
    # while pip would look whether the one that it runs on will do.
    chosen = ["--no-deps", "--ignore-requires-python", "--no-compile"]
    lists = [word for file in requirements for word in ("--requirement", str(file))]
    options = [*selection, *chosen, "--target", str(folder), *lists]
    subprocess.run([*command, *options], check=True)


def _prune(folder: Path) -> None:
    for file in _files(folder):
        if unused(PurePosixPath(file.relative_to(folder).as_posix())):
            file.unlink()
    for directory in sorted((path for path in folder.rglob("*") if path.is_dir()), reverse=True):
        if not any(directory.iterdir()):
            directory.rmdir()


def _compile(root: Path, compiler: Path | None, names: list[str]) -> None:
    """Add .pyc that Python takes without a look at the source's time, which unpacking does not keep.

    It halves the start.
    """
    if compiler is None:
        return
    paths = ["-s", str(root), "-p", TASK_ROOT, *(str(root / name) for name in names)]
    command = [str(compiler), "-m", "compileall", "-q", "-j", "0", "--invalidation-mode", "unchecked-hash", *paths]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}  # the order inside a compiled set depends on it
    subprocess.run(command, check=True, env=environment)


def _settle_times(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        os.utime(path, (LONG_AGO, LONG_AGO))


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def main() -> None:
    parser = argparse.ArgumentParser(description="Build one function's Lambda package.")
    parser.add_argument("function", choices=FUNCTIONS)
    parser.add_argument("out", type=Path)
    parser.add_argument("--arch", choices=MACHINES, default="arm64")
    parser.add_argument("--python", default=RUNTIME, help="the version that it runs on")
    arguments = parser.parse_args()
    target = Target(arguments.arch, arguments.python)
    package = build(arguments.function, target, arguments.out)
    print(
        f"{arguments.function} for {target.arch}, Python {target.python}: {package.bytes / 1e6:.1f} MB, "
        f"{package.compiled_bytes / 1e6:.1f} MB of it compiled ahead"
    )
    if not package.compiled_bytes:
        print(
            f"No Python {target.python} on this machine, so nothing is compiled ahead: the function works, but takes "
            f"twice as long to start. Put a python{target.python} on PATH and build again."
        )


if __name__ == "__main__":
    main()
