"""``${NAME}`` in the owner's files: a value of the environment or of the secrets; ``${NAME:-other}`` has one for where
there is none.
"""

import re
from collections.abc import Mapping
from typing import Any

_NAMED = re.compile(r"\$\{(?P<name>[A-Za-z_]\w*)(?::-(?P<default>[^}]*))?\}", re.ASCII)


def filled(value: Any, path: str, values: Mapping[str, str], missing: dict[str, str]) -> Any:
    """With values in place of their names; ``missing`` are the names that have none, with the path of each."""

    def found(match: re.Match[str]) -> str:
        name, default = match["name"], match["default"]
        if not values.get(name) and default is None:
            missing.setdefault(name, path)
        return values.get(name) or default or ""

    match value:
        case str():
            return _NAMED.sub(found, value)
        case dict():
            return {key: filled(each, f"{path}.{key}", values, missing) for key, each in value.items()}
        case list():
            return [filled(each, f"{path}[{at}]", values, missing) for at, each in enumerate(value)]
    return value
