"""Markdown tables of the pages that measurements write."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Its lines."""
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]
