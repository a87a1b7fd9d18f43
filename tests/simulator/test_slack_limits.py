"""What Slack refuses of Markdown."""

import pytest

from simulator.slack_limits import Refused, check_blocks, check_markdown

TABLE = "| a | b |\n|---|---|\n"


def test_its_length_is_counted_in_utf16() -> None:
    check_markdown("😀" * 6_000)
    with pytest.raises(Refused, match="msg_too_long"):
        check_markdown("😀" * 6_001)


def test_a_message_holds_one_table() -> None:
    check_markdown(f"{TABLE}| 1 | 2 |\n\n```\n{TABLE}\n```\n\na | b")
    with pytest.raises(Refused) as caught:
        check_markdown(f"{TABLE}\n> {TABLE.strip().replace(chr(10), chr(10) + '> ')}")
    assert caught.value.details == ["[ERROR] only_one_table_allowed"]


def test_so_do_the_markdown_blocks_of_a_message_together() -> None:
    with pytest.raises(Refused, match="invalid_blocks"):
        check_blocks([{"type": "markdown", "text": TABLE}, {"type": "markdown", "text": TABLE}])


@pytest.mark.parametrize(
    "table",
    [
        TABLE + "| 1 | 2 |\n" * 100,
        "|" + " x |" * 21 + "\n|" + "---|" * 21,
        TABLE + f"| {'x' * 5_000} | {'y' * 5_001} |",
    ],
    ids=["rows", "columns", "characters"],
)
def test_a_table_has_its_limits(table: str) -> None:
    with pytest.raises(Refused, match="invalid_blocks"):
        check_markdown(table)


def test_a_table_within_them_is_taken() -> None:
    check_markdown(TABLE + "| 1 | 2 |\n" * 99)
