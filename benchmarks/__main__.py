"""The measurements of this folder, as one JSON object: ``make bench``.

    python -m benchmarks            all but those that take minutes
    python -m benchmarks start      only these

A measurement is a module here without an underscore in its name, with ``def measure() -> dict``: figures by name, JSON
values only.
"""

import importlib
import json
import pkgutil
import sys

import benchmarks

ON_REQUEST = {"histories", "load", "misconfigured", "records", "rendering", "scale", "security"}
"""Take minutes: measured only where they are named."""


def main() -> None:
    known = [module.name for module in pkgutil.iter_modules(benchmarks.__path__) if "_" not in module.name]
    names = sys.argv[1:] or [name for name in known if name not in ON_REQUEST]
    unknown = set(names) - set(known)
    if unknown:
        sys.exit(f"There is no measurement {', '.join(sorted(unknown))}: choose from {', '.join(known)}.")
    print(json.dumps({name: importlib.import_module(f"benchmarks.{name}").measure() for name in names}, indent=2))


if __name__ == "__main__":
    main()
