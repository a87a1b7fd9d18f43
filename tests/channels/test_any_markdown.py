"""Whatever a model writes: accepted by both platforms, whole, and in parts that stay."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.channels.any_markdown import BLOCKS, WORDS, faults, markdown

PIECES = st.lists(st.sampled_from([*BLOCKS, *(f"{word} " for word in WORDS)]), max_size=80).map("".join)


@settings(max_examples=300, deadline=None)
@given(PIECES | st.text(max_size=300), st.integers(0, 2**32))
def test_any_markdown_becomes_messages_that_are_taken_as_they_are(source: str, seed: int) -> None:
    assert list(faults(source, Random(seed))) == []


def test_so_does_markdown_of_many_messages() -> None:
    random = Random(7)
    for _ in range(3):
        assert list(faults(markdown(random, 2_000), random)) == []
