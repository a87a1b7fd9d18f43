"""Write down the shape of everything stored, as today's schema has it: tests/contracts/schemas/<SCHEMA>.json.

To be run after SCHEMA was raised in bot/schema.py, never to change what a schema before it is said to be.
"""

from pathlib import Path
from typing import Any

from msgspec import json

from bot.messages import ChatSettings, Entry, Inbound, Installation, Profile, Reminder, ToolRun, Turn
from bot.schema import SCHEMA

SCHEMAS = Path(__file__).parents[1] / "tests/contracts/schemas"
KINDS: dict[str, Any] = {
    "entry": Entry,
    "inbound": Inbound,
    "turn": Turn,
    "settings": ChatSettings,
    "profile": Profile,
    "reminder": Reminder,
    "tool run": ToolRun,
    "installation": Installation,
}


def shape(kinds: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of each kind of value, without its words."""
    roots, components = json.schema_components(kinds.values(), ref_template="{name}")
    return {
        "kinds": _bare(dict(zip(kinds, roots, strict=True))),
        "structs": {name: _bare(component) for name, component in sorted(components.items())},
    }


def _bare(value: Any) -> Any:
    match value:
        case dict():
            return {
                key: _bare(each) for key, each in value.items() if not (key == "description" and isinstance(each, str))
            }
        case list() | tuple():
            return [_bare(each) for each in value]
    return value


def main() -> None:
    file = SCHEMAS / f"{SCHEMA}.json"
    file.write_bytes(json.format(json.encode(shape(KINDS), order="sorted"), indent=1) + b"\n")
    print(f"{file.relative_to(Path.cwd())}")


if __name__ == "__main__":
    main()
