"""JSON that no platform sends, and real updates in which something is odd."""

import copy
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import strategies as st

from bot.messages import Inbound, Json, decode_inbound, encode

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4))


def paths(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The way to every value inside a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield (*path, key)
        yield from paths(item, (*path, key))


@st.composite
def mutated(draw: st.DrawFn, real: Sequence[Json]) -> Json:
    """One of these with some of its values replaced by anything."""
    update: Json = copy.deepcopy(draw(st.sampled_from(real)))
    for _ in range(draw(st.integers(1, 3))):
        *way, last = draw(st.sampled_from([*paths(update)]))
        holder: Any = update
        for key in way:
            holder = holder[key]
        holder[last] = draw(JSON)
    return update


def storable(inbound: Inbound | None) -> bool:
    """Whether it is the same once it was stored and read again."""
    return inbound is None or decode_inbound(encode(inbound)) == inbound
