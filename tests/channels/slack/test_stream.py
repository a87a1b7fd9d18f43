"""What is added to a stream, and what can not be had by adding."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from bot.channels.slack.render import render
from bot.channels.slack.stream import SIZE_LIMIT, Stream, addition, settled
from bot.messages import Place, Task
from bot.ports import NOTHING_TO_SHOW, Rendered

PLACE = Place("slack:T1:C1:5.0", "C1", "5.0", "T1", group=True)
GALLERY = sorted((Path(__file__).parents[2] / "gallery").glob("*.md"))


def stream(text: str = "", **tasks: Task) -> Stream:
    return Stream(PLACE, "t1.0", 0.0, text, tasks)


def added(to: str, text: str, *, last: bool = False) -> str | None:
    """The text that is added; None where that is not possible."""
    found = addition(stream(to), Rendered(text), last=last)
    return None if found is None else "".join(chunk["text"] for chunk in found.chunks if "text" in chunk)


@pytest.mark.parametrize(
    ("text", "certain"),
    [
        ("Hello", "Hello"),
        ("Hello ", "Hello"),
        ("Hello **wor**", "Hello **wor"),
        ("a\n```py\nx = 1\n```", "a\n```py\nx = 1"),
        ("a\n```py", "a"),
        ("> - a\n>   ```\n>   x\n>   ```", "> - a\n>   ```\n>   x"),
        ("```", ""),
        ("a\n\n| b | c |", "a"),
        ("see <@U0", "see"),
        ("see &lt;@U0", "see"),
        ("see @Ann Le", "see"),
        ("see <@U1> (U", "see <@U1>"),
        ("see a@b.example", "see a@b.example"),
        ("see [docs](https://e.example/)", "see [docs](https://e.example/"),
        (NOTHING_TO_SHOW, ""),
    ],
)
def test_what_may_yet_turn_out_to_be_something_else_is_held_back(text: str, certain: str) -> None:
    assert settled(text) == certain


def test_only_what_is_new_is_added_and_at_the_end_all_of_it() -> None:
    assert added("", "Hello **wor**") == "Hello **wor"
    assert added("Hello **wor", "Hello **world**, you") == "ld**, you"
    assert added("Hello **world**, you", "Hello **world**, you**", last=True) == "**"
    assert added("Hello", "Hello") == added("Hello", "Hello", last=True) == ""


def test_less_that_is_certain_than_before_adds_nothing() -> None:
    assert added("Hello a", "Hello <@U") == added("Hello", "Hel") == ""
    assert added("Hello", "Hel", last=True) is None


def test_another_text_can_not_be_had_by_adding() -> None:
    assert added("Hello Ann", "Hello Bob") is None
    assert added("Hello Ann", "Hello Bob", last=True) is None


def test_text_and_steps_together_stay_below_what_a_message_holds() -> None:
    task = Task("1", "x" * 5_000, "running")
    fits = Rendered("y" * (SIZE_LIMIT - 600), tasks=(task,))
    assert addition(stream(), fits, last=True) is not None
    assert addition(stream(), Rendered("y" * (SIZE_LIMIT - 400), tasks=(task,)), last=True) is None


@pytest.mark.parametrize("file", GALLERY, ids=lambda file: file.stem)
def test_an_answer_that_is_written_word_by_word_never_leaves_its_stream(file: Path) -> None:
    markdown = file.read_text()[:8_000]
    shown = stream()
    for end in steps(len(markdown)):
        first, *_ = render(markdown[:end], growing=True)
        found = addition(shown, first, last=False)
        assert found is not None, (shown.text[-60:], first.text[-60:])
        shown.text = found.text


def steps(length: int) -> Iterator[int]:
    """Where pieces of a few words end."""
    random = Random(7)
    at = 0
    while at < length:
        at += random.randint(3, 80)
        yield at
