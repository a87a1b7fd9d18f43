"""What the tests of the packages build for, and the libraries for it.

    python -m tests.packages.libraries      fetches them, so that the tests themselves need no network

The packages that are run are built for this machine's processor and for the Python in ``.venv/lambda``: the runtime's
own version where this machine has it. The other processor's are built too, and only looked at.
"""

import platform
import subprocess
from functools import cache

from scripts.build import FUNCTIONS, MACHINES, Target, dependencies
from scripts.imports import ROOT
from scripts.pythons import find_python

LAMBDA_PYTHON = ROOT / ".venv/lambda/bin/python"
"""An interpreter with awslambdaric, as AWS's image has it."""


@cache
def targets() -> dict[str, Target]:
    """By architecture, this machine's first."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    version = subprocess.run([LAMBDA_PYTHON, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    here = "arm64" if platform.machine() in ("aarch64", "arm64") else "x86_64"
    return {arch: Target(arch, version) for arch in sorted(MACHINES, key=lambda arch: arch != here)}


def this_target() -> Target:
    return next(iter(targets().values()))


if __name__ == "__main__":
    for target in targets().values():
        for function in FUNCTIONS:
            dependencies(function, target, find_python(target.python))
