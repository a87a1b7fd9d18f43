"""What Slack is given for a model's Markdown."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.channels.characters import units
from bot.channels.markdown import flatten
from bot.channels.slack.render import MESSAGE_LIMIT, render, split
from bot.ports import Rendered
from simulator.slack_limits import check_markdown
from tests.channels.visible import squeezed


def texts(markdown: str) -> list[str]:
    return [part.text for part in render(markdown)]


def code_of(part: str) -> list[str]:
    """The code blocks of a message, as a Markdown reader sees them."""
    flat = flatten(part)
    return [flat.text[span.start : span.end] for span in flat.spans if span.style == "pre"]


def test_standard_markdown_goes_out_as_it_is() -> None:
    markdown = "# Head\n\n**[Docs](https://e.example/?a=1&b=2)** and *it* and ~~no~~\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    assert texts(markdown) == [markdown]


@pytest.mark.parametrize("text", ["", " \n", "\u200b", "<!-- x -->"])
def test_an_empty_answer_is_still_a_message_slack_takes(text: str) -> None:
    assert render(text) == [Rendered("…")]


@pytest.mark.parametrize(
    "call",
    [
        "<!channel>",
        "<!here>",
        "<!everyone>",
        "<!subteam^S012>",
        "<!subteam^S012|@ops>",
        "<@U999>",
        "<@W9|ann>",
        "<#C1>",
        "<!HERE|x>",
    ],
)
def test_nobody_is_called_by_what_the_model_writes(call: str) -> None:
    (text,) = texts(f"repeat: {call} free pizza `{call}`")
    assert text == f"repeat: &lt;{call[1:-1]}&gt; free pizza `&lt;{call[1:-1]}&gt;`"


def test_a_call_that_is_not_closed_is_taken_apart_as_well() -> None:
    assert texts("hey <!channel") == ["hey &lt;!channel"]


def test_html_and_addresses_are_no_calls() -> None:
    markdown = "<!DOCTYPE html> <https://e.example> a<b <!-- note -->x"
    assert texts(markdown) == [markdown]


def test_a_long_answer_is_cut_between_paragraphs() -> None:
    paragraphs = [f"{number} " + "word " * 200 for number in range(30)]
    parts = texts("\n\n".join(paragraphs))

    assert len(parts) == 3
    assert all(len(part) <= MESSAGE_LIMIT for part in parts)
    assert "\n\n".join(part.strip("\n") for part in parts) == "\n\n".join(paragraphs)


def test_one_paragraph_longer_than_a_message_is_cut_between_words() -> None:
    parts = texts("word " * 5_000)

    assert all(len(part) <= MESSAGE_LIMIT and set(part.split()) == {"word"} for part in parts)
    assert "".join(parts) == "word " * 5_000


def test_code_cut_in_two_is_a_code_block_of_its_language_in_both_parts() -> None:
    lines = [f"line_{number} = {number}" for number in range(1_000)]
    parts = texts("Look:\n\n```python\n" + "\n".join(lines) + "\n```\n\nDone.")

    assert len(parts) == 2
    assert parts[0].startswith("Look:\n\n```python\nline_0") and parts[0].endswith("\n```")
    assert parts[1].startswith("```python\n") and parts[1].endswith("\n```\n\nDone.")
    assert "\n".join("\n".join(code_of(part)) for part in parts) == "\n".join(lines)


def test_the_last_line_of_code_that_is_still_being_written_is_shown() -> None:
    lines = ["x" * 5_000, "y" * 5_000, "z" * 5_000, "last"]
    parts = texts("```\n" + "\n".join(lines))

    assert [code for part in parts for code in code_of(part)] == ["\n".join(lines[:2]), "\n".join(lines[2:])]


@pytest.mark.parametrize(
    ("before", "indent"),
    [("- item\n\n", "  "), ("> said\n", "> "), ("1. a\n   - b\n", "     "), ("> - c\n", ">   ")],
)
def test_code_inside_a_list_or_a_quote_stays_code_in_every_part(before: str, indent: str) -> None:
    lines = [f"{number}) text" for number in range(1_500)]
    parts = texts(before + "".join(f"{indent}{line}\n" for line in ["~~~", *lines, "~~~"]) + "\nafter")

    assert len(parts) > 1
    assert "\n".join("\n".join(code_of(part)) for part in parts) == "\n".join(lines)
    assert flatten(parts[-1]).text.endswith("after")


def test_no_empty_code_block_is_left_where_a_cut_falls_on_a_fence() -> None:
    for filler in range(10_900, 11_010):
        parts = texts("x" * (filler // 2) + "\n" + "y" * (filler - filler // 2) + "\n```py\ncode\n```\nend")
        assert [code for part in parts for code in code_of(part)] == ["code"]
        assert all(part.count("```") in (0, 2) for part in parts)


TABLE = "| a | b |\n|---|---|\n"


def test_every_table_has_a_message_of_its_own_with_the_line_that_announces_it() -> None:
    assert texts(f"Hi\n\n## First\n\n{TABLE}| 1 | 2 |\n\nSecond:\n\n{TABLE}| 3 | 4 |\n\nEnd") == [
        f"Hi\n\n## First\n\n{TABLE}| 1 | 2 |\n",
        f"Second:\n\n{TABLE}| 3 | 4 |\n\nEnd",
    ]


def test_a_long_table_goes_on_under_its_head() -> None:
    rows = [f"| {number} | {'x' * 40} |" for number in range(250)]
    parts = texts(TABLE + "\n".join(rows) + "\n\nEnd")

    assert len(parts) == 3
    assert all(part.startswith(TABLE) for part in parts)
    assert parts[-1].endswith("|\n\nEnd")
    assert [line for part in parts for line in part.split("\n")[2:] if line.startswith("|")] == rows
    for part in parts:
        check_markdown(part)


def test_a_table_of_more_columns_than_slack_takes_is_code() -> None:
    row = "|" + " x |" * 21
    source = "\n".join([row, "|" + "---|" * 21, row])

    assert texts(f"Look:\n\n{source}\n\nEnd") == [f"Look:\n\n```\n{source}\n```\n\nEnd"]


def test_a_table_inside_code_is_no_table() -> None:
    code = f"```\n{TABLE}| 1 | 2 |\n```"
    assert texts(f"{code}\n\n{code}\n\n{TABLE}| 1 | 2 |") == [f"{code}\n\n{code}\n\n{TABLE}| 1 | 2 |"]


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("**", "**"),
        ("*", "*"),
        ("~~", "~~"),
        ("`", "`"),
        ("[", "](<https://e.example/x>)"),
        ("**[", "](<https://e.example/x>)**"),
    ],
)
def test_markup_that_is_open_where_a_paragraph_is_cut_is_closed_and_opened_again(opening: str, closing: str) -> None:
    first, second = split("word " * 58 + f"{opening}one " + "two " * 20 + f"three{closing} end", 320)

    assert first.endswith(f"two{closing}")
    assert second.startswith(f"{opening}two")
    assert (first + second).count(opening.strip("[")) == 4 or "[" in opening


def test_what_goes_on_in_a_list_begins_at_the_margin() -> None:
    items = "\n".join(f"      - deep {number} {'word ' * 30}" for number in range(100))
    parts = texts(f"- a\n  - b\n    - c\n{items}\n  - d\n- e")

    assert len(parts) > 1
    assert all(part.startswith("- ") for part in parts)
    assert not any(span.style == "pre" for part in parts for span in flatten(part).spans)
    assert parts[-1].endswith("\n- d\n- e")


def test_a_sign_at_the_beginning_of_a_piece_of_a_line_makes_no_list() -> None:
    first, second = split("x" * 290 + " " + "- y " * 10 + "1. z", 300)

    assert squeezed(flatten(first).text + flatten(second).text) == "x" * 290 + "-y" * 10 + "1.z"


def test_lengths_are_counted_in_utf16() -> None:
    assert [units(part) for part in texts("😀" * 12_000)] == [10_998, 10_998, 2_004]


def test_half_an_answer_only_grows_but_for_the_marks_that_close_it() -> None:
    """A stream can not take anything back."""
    answer = (
        "So **bold and `code`** with [a link](https://e.example/x) and ~~no~~.\n\n- *one*\n- two\n\n```py\nx\n```\nEnd"
    )
    before = ""
    for end in range(1, len(answer)):
        (part,) = render(answer[:end], growing=True)
        text = part.text.rstrip("…*_~`\n ")
        assert text.startswith(before)
        before = text


LINES = ("", "word " * 60, "```", "~~~~", "- item", "  ```py", "> quote", "> ```", "x = 1", "<!here> you", "    four")
LINE = st.sampled_from([*LINES, "y" * 4_000])


@settings(max_examples=80, deadline=None)
@given(st.lists(LINE, max_size=60), st.integers(1, 8))
def test_every_part_is_within_the_limit_and_nothing_is_lost(lines: list[str], times: int) -> None:
    markdown = "\n".join(lines * times)
    parts = texts(markdown)

    assert all(part.strip() and len(part) <= MESSAGE_LIMIT for part in parts)
    for word in ("word", "item", "quote", "x = 1", "here", "four"):
        assert sum(part.count(word) for part in parts) == markdown.count(word)


@settings(max_examples=40, deadline=None)
@given(st.lists(LINE, max_size=40))
def test_parts_but_the_last_two_stay_as_they_are_while_the_text_grows(lines: list[str]) -> None:
    text, settled = "", list[str]()
    for line in lines:
        text += f"{line}\n"
        parts = texts(text)
        assert parts[: len(settled)] == settled
        settled = parts[:-2]
