"""Read fields of a platform's JSON. It is outside data: a field of the wrong type is the same as a missing one."""

from bot.messages import Json, whole

LARGEST = 2**53
"""Whole numbers from here on are not exact in JSON."""


def object_at(data: Json, name: str) -> Json:
    value = data.get(name)
    return value if isinstance(value, dict) else {}


def objects_at(data: Json, name: str) -> list[Json]:
    """The objects of a list; whatever else is in it is left out."""
    value = data.get(name)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def number_at(data: Json, name: str) -> int:
    """A whole number, 0 where there is none."""
    value = data.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST else 0


def text_at(data: Json, name: str) -> str:
    """Text that can be encoded: JSON can carry half a surrogate pair, UTF-8 can not."""
    value = data.get(name)
    return whole(value) if isinstance(value, str) else ""
