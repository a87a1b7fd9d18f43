"""What people watch while an answer grows."""

import pytest

from bot.channels.growing import healed
from bot.channels.markdown import flatten


@pytest.mark.parametrize(
    ("beginning", "shown"),
    [
        ("so **bo", "so **bo**"),
        ("so **bold*", "so **bold**"),
        ("so **bold **", "so **bold**"),
        ("**bold *both", "**bold *both***"),
        ("~~gon", "~~gon~~"),
        ("run `git re", "run `git re`"),
        ("run ``a `tick`", "run ``a `tick``"),
        ("**see `x", "**see `x`**"),
        ("这是**粗体", "这是**粗体**"),
        ("## He **x", "## He **x**"),
        ("> a **b\n> ", "> a **b**"),
        ("- a\n  - **b", "- a\n  - **b**"),
        ("- [x] do **it", "- [x] do **it**"),
    ],
)
def test_open_markup_is_closed(beginning: str, shown: str) -> None:
    assert healed(beginning) == shown


@pytest.mark.parametrize(
    "half",
    [
        *[
            "**",
            "*",
            "`",
            "``",
            "[te",
            "[text]",
            "[text](",
            "[text](https://e.example/a_b",
            '[text](https://e.example "ti',
        ],
        *[
            "![",
            "![al",
            "![alt](https://e",
            "[![alt](https://e.example/i.png)](http",
            "<https://e.ex",
            "__ini",
            "&am",
            "\\",
        ],
        *["**[te", "**[text](", "[**te"],
    ],
)
def test_what_nobody_can_tell_yet_is_held_back(half: str) -> None:
    assert healed(f"so {half}") == "so"


@pytest.mark.parametrize(
    "line",
    [
        "-",
        "- ",
        "- [",
        "- [x",
        "- [ ]",
        "1",
        "1.",
        "1. **",
        "#",
        "## ",
        ">",
        "> - ",
        "--",
        "``",
        "```",
        "```py",
        "~~~",
        "|",
        "* **",
    ],
)
def test_a_line_of_nothing_but_markup_is_held_back(line: str) -> None:
    assert healed(f"text\n\n{line}").rstrip() == "text"


@pytest.mark.parametrize(
    "table", ["| a | b |", "| a | b |\n|--", "| a | b |\n|---|---|\n", "| a | b |\n|---|---|\n| 1 | 2"]
)
def test_a_table_is_held_back_until_its_first_row_is_whole(table: str) -> None:
    assert healed(f"text\n\n{table}").rstrip() == "text"


def test_a_table_shows_its_rows_as_they_are_finished() -> None:
    table = "| a | b |\n|---|---|\n| 1 | 2 |"
    assert healed(f"{table}\n| 3 | *4") == table
    assert healed(f"{table}\n") == table


@pytest.mark.parametrize("signs", ["", "`", "``", "```"])
def test_code_never_shows_the_first_signs_of_its_end(signs: str) -> None:
    assert flatten(healed(f"```py\nx = 1\n{signs}")).text == "x = 1"


@pytest.mark.parametrize(
    "text", ["3 * 4 = 12", "area = 2*r", "snake_case_names", "an `end`, **all** closed", "# done\n\n**x\n\ny"]
)
def test_what_is_whole_stays_as_it_is(text: str) -> None:
    assert healed(text) == text


@pytest.mark.parametrize(
    "source", ["[" * 2_000, "[a](" * 700, "(" * 2_000, "[a](x(" * 500, "`" * 1_999 + "x", "*a " * 900, "<" * 2_000]
)
def test_a_flood_of_markup_is_read_in_one_go(source: str) -> None:
    assert isinstance(healed(source), str)
