"""Where this machine keeps a Python of a certain version.

    python -m scripts.pythons 3.13      prints its path, or nothing (exit status 1)

The packages are compiled for, and tested under, the version that AWS runs: any other version's .pyc is ignored there.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path


def find_python(version: str) -> Path | None:
    """A working interpreter of exactly this minor version ("3.13"): from PATH, pyenv or uv; None where none is."""
    return next((path for path in _candidates(version) if _runs(path, version)), None)


def _candidates(version: str) -> Iterator[Path]:
    yield Path(sys.executable)
    on_path = shutil.which(f"python{version}")
    if on_path:
        yield Path(on_path)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted(pyenv.glob(f"versions/{version}.*/bin/python"), reverse=True)
    yield from sorted((Path.home() / ".local/share/uv/python").glob(f"cpython-{version}.*/bin/python{version}"))


def _runs(path: Path, version: str) -> bool:
    """Ask it: pyenv puts a launcher on PATH for versions that are installed but not switched on."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        asked = subprocess.run([path, "-c", code], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return asked.stdout.strip() == version


if __name__ == "__main__":
    found = find_python(sys.argv[1])
    if found is None:
        sys.exit(1)
    print(found)
