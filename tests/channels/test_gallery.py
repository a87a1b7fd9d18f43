"""Forty answers on both platforms: accepted, whole, and steady while they grow."""

from html import unescape
from itertools import pairwise

import pytest

from bot.channels.slack.render import render as slack
from bot.channels.slack.render import without_calls
from bot.channels.telegram.render import render as telegram
from bot.ports import Rendered
from scripts.gallery import drawn
from simulator.slack_limits import check_markdown
from simulator.telegram_text import formatted, units
from tests.channels.any_markdown import looks
from tests.channels.visible import differs, seen, squeezed
from tests.gallery import answers

ANSWERS = answers()
EACH = pytest.mark.parametrize("answer", ANSWERS.values(), ids=list(ANSWERS))
SHORT, LONG = 60, 8
"""Beginnings of an answer that are looked at while it grows: of one that is a message or two, and of a longer one."""


@EACH
def test_telegram_keeps_every_message_as_it_is_sent(answer: str) -> None:
    for part in telegram(answer):
        text, entities = formatted(part.text, list(part.markup), "")
        assert text == part.text.strip(" \n")
        assert looks(text, entities) == looks(part.text, list(part.markup))


@EACH
def test_telegram_shows_what_the_markdown_says(answer: str) -> None:
    assert differs("".join(part.text for part in telegram(answer)), seen(answer)) == ""


def test_the_pictures_lose_no_letter() -> None:
    assert drawn("telegram", "nobody **is** known") == [
        {"text": "nobody is known", "entities": telegram("nobody **is** known")[0].markup}
    ]


@EACH
def test_slack_accepts_every_message(answer: str) -> None:
    for part in slack(answer):
        assert part.text.strip()
        check_markdown(part.text)


@EACH
def test_slack_s_messages_say_what_the_markdown_says(answer: str) -> None:
    """Each is read on its own; the head of a table that goes on in it stands there again."""
    text, head = "", ""
    whole = unescape("".join(stretch.text for stretch in seen(without_calls(answer))))
    for part in slack(answer):
        stretches = seen(part.text)
        shown = unescape("".join(stretch.text for stretch in stretches))
        if head and not whole[len(text) :].startswith(shown):
            shown = shown.removeprefix(head)
        text += shown
        head = next((squeezed("".join(row)) for row in table_heads(part)), "")
    assert text == whole


def table_heads(part: Rendered) -> list[list[str]]:
    lines = [line.lstrip("> ") for line in part.text.split("\n")]
    return [line.strip("|").split("|") for line, below in pairwise(lines) if below.startswith(("|--", "|:-"))]


def read(parts: list[Rendered]) -> list[tuple[str, set[tuple[str, str]]]]:
    """What is seen, character by character, with its look; white space and the lines of tables aside."""
    text = "".join(part.text for part in parts)
    styles = [look for part in parts for look in looks(part.text, list(part.markup))]
    letters = [char for char in text if not char.isspace() for _ in range(units(char))]
    return [(char, look) for char, look in zip(letters, styles, strict=True) if char not in "│┼─"]


def beginnings(answer: str) -> list[str]:
    step = max(1, len(answer) // (SHORT if len(answer) < 5_000 else LONG))
    return [answer[:end] for end in range(1, len(answer), step)]


UNSTEADY = {
    "20-table-wide": "becomes too wide for columns with its first row",
    "33-half-open": "has marks that are only text",
}
STEADY = {name: answer for name, answer in ANSWERS.items() if name not in UNSTEADY}


@pytest.mark.parametrize("answer", STEADY.values(), ids=list(STEADY))
def test_what_is_shown_of_an_answer_that_grows_is_its_beginning_in_its_final_look(answer: str) -> None:
    final = read(telegram(answer))
    for beginning in beginnings(answer):
        shown = read(telegram(beginning, growing=True))
        if shown != [("…", set())]:
            assert shown == final[: len(shown)], beginning[-60:]
