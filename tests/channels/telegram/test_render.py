"""What Telegram is given for a model's Markdown."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from telegram import Message, MessageEntity

from bot.channels.characters import units
from bot.channels.telegram.render import ENTITY_LIMIT, MESSAGE_LIMIT, render
from bot.ports import Rendered
from simulator.telegram_text import formatted


def covered(part: Rendered) -> list[tuple[str, str]]:
    """The entities as Telegram's own SDK reads them."""
    entities = [MessageEntity(**entity) for entity in part.markup]
    message = Message.de_json(
        {
            "message_id": 1,
            "date": 0,
            "chat": {"id": 1, "type": "private"},
            "text": part.text,
            "entities": list(part.markup),
        },
        None,
    )
    return [(entity.type, message.parse_entity(entity)) for entity in entities]


def test_entity_offsets_count_utf16_units() -> None:
    (part,) = render("😀 **bold 😀** `code`")

    assert part.markup == (
        {"type": "bold", "offset": 3, "length": 7},
        {"type": "code", "offset": 11, "length": 4},
    )
    assert covered(part) == [("bold", "bold 😀"), ("code", "code")]


def test_every_style_has_its_telegram_type() -> None:
    (part,) = render("> q\n\n*i* ~~s~~ [l](https://e.example/)\n```py\nx\n```")

    assert [(entity["type"], entity.get("url"), entity.get("language")) for entity in part.markup] == [
        ("blockquote", None, None),
        ("italic", None, None),
        ("strikethrough", None, None),
        ("text_link", "https://e.example/", None),
        ("pre", None, "py"),
    ]


@pytest.mark.parametrize("text", ["", "  \n", "\u200b", "<!-- nothing -->"])
def test_an_empty_answer_is_still_a_message_telegram_takes(text: str) -> None:
    assert render(text) == [Rendered("…")]


def test_three_hundred_links_keep_every_link_within_the_entity_limit() -> None:
    parts = render("\n".join("[a](https://e.example/1?x=1&y=2)" for _ in range(300)))

    assert sum(len(part.markup) for part in parts) == 300
    assert all(len(part.markup) <= ENTITY_LIMIT for part in parts)
    assert "".join(part.text for part in parts) == "\n".join("a" * 300)


def test_many_quoted_lines_keep_all_their_text() -> None:
    parts = render("\n".join("> q" for _ in range(1250)))

    assert "".join(part.text for part in parts) == "\n".join("q" * 1250)


def test_code_that_runs_over_the_limit_is_code_in_every_part() -> None:
    parts = render("x" * 3_990 + " `" + "y" * 400 + "` &amp; z")

    assert "".join(part.text for part in parts) == "x" * 3_990 + " " + "y" * 400 + " & z"
    assert [covered(part) for part in parts] == [[], [("code", "y" * 400)]]


def test_code_keeps_the_indentation_of_its_first_line_in_every_part() -> None:
    """Telegram takes spaces from the beginning of a code block, and of a message."""
    (part,) = render("```py\n    return x\n    # end\n```")
    assert part.text == "\u00a0   return x\n    # end"

    parts = render("```py\ndef f():\n" + "    x = 1\n" * 900 + "```")
    for part in parts:
        text, entities = formatted(part.text, list(part.markup), "")
        assert {line.replace("\u00a0", " ") for line in text.split("\n")} <= {"def f():", "    x = 1"}
        assert [(entity["type"], entity["language"], entity["length"]) for entity in entities] == [
            ("pre", "py", len(text))
        ]


def test_a_cut_falls_before_a_line_that_is_not_indented() -> None:
    parts = render("\n".join(f"- item {n}\n  - {'word ' * 20}" for n in range(60)))

    assert len(parts) > 1
    assert all(part.text.startswith("• item") for part in parts)


def test_half_an_answer_shows_no_raw_marks_while_it_grows_and_what_it_says_when_it_is_done() -> None:
    assert render("so **bo", growing=True) == render("so **bo**")
    assert render("so **bo") == [Rendered("so **bo")]
    assert render("[te", growing=True) == [Rendered("…")]


def test_one_word_longer_than_a_message_still_gets_through() -> None:
    parts = render("😀" * 5_000)

    assert [units(part.text) for part in parts] == [4_000, 4_000, 2_000]


@settings(deadline=None)
@given(st.text(st.sampled_from("a😀 *_`\n[](x)~|>#-"), min_size=1, max_size=300), st.integers(1, 60))
def test_no_part_is_empty_or_too_long_and_every_entity_lies_inside_it(text: str, times: int) -> None:
    for part in render(text * times):
        length = units(part.text)
        assert part.text.strip()
        assert length <= MESSAGE_LIMIT
        assert len(part.markup) <= ENTITY_LIMIT
        for entity in part.markup:
            assert entity["length"] > 0
            assert 0 <= entity["offset"] <= length - entity["length"]
