"""A Markdown table read from its tokens, and its cells as even columns of a fixed-width font."""

from collections.abc import Iterator, Sequence

from markdown_it.token import Token
from msgspec import Struct

from bot.channels.characters import columns, is_right_to_left

WIDEST = 40
"""Columns that a phone shows in one line."""
MEASURED_ROWS = 30
"""Rows below the head that decide about a table's look, so that what was shown of it stays while it grows."""


class Table(Struct, frozen=True):
    """``rows`` hold the cells' Markdown, the head first, each row as long as the head; ``right`` names the columns that
    are set to the right."""

    rows: tuple[tuple[str, ...], ...]
    right: tuple[bool, ...]


def table_of(tokens: Sequence[Token]) -> Table:
    """The table whose tokens these are, without its opening and closing one."""
    rows: list[list[str]] = []
    right: list[bool] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "th_open":
            right.append("right" in str(token.attrGet("style") or ""))
        elif token.type == "inline":
            rows[-1].append(token.content)
    return Table(tuple(map(tuple, rows)), tuple(right))


def makes_a_grid(rows: Sequence[Sequence[str]]) -> bool:
    """Whether these cells, as they are seen, make columns that a phone can show. Writing that runs from right to left
    makes none: each line would turn around on its own."""
    if any(is_right_to_left(cell) for row in rows[: MEASURED_ROWS + 1] for cell in row):
        return False
    widths = _widths(rows)
    return sum(widths) + 3 * (len(widths) - 1) <= WIDEST


def grid(rows: Sequence[Sequence[str]], right: Sequence[bool]) -> Iterator[str]:
    """The table line by line: a cell that is wider than those measured stands out."""
    widths = _widths(rows)
    for number, row in enumerate(rows):
        yield " │ ".join(map(_padded, row, widths, right)).rstrip()
        if number == 0:
            yield "─┼─".join("─" * width for width in widths)


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(columns, cells)) for cells in zip(*rows[: MEASURED_ROWS + 1], strict=True)]


def _padded(cell: str, width: int, right: bool) -> str:
    space = " " * (width - columns(cell))
    return space + cell if right else cell + space
