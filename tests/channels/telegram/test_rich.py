"""Rich messages as text: what stands where, and that no tree makes it fail."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.channels.telegram.rich import flattened, media
from bot.messages import Json


def paragraph(text: Any) -> Json:
    return {"type": "paragraph", "text": text}


def text_of(*blocks: Any) -> str:
    return flattened({"blocks": list(blocks)})[0]


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ({"type": "heading", "size": 3, "text": "Plan"}, "### Plan"),
        (paragraph(["a ", {"type": "bold", "text": ["b", {"type": "italic", "text": "c"}]}, " d"]), "a bc d"),
        (
            {
                "type": "list",
                "items": [
                    {"label": "1.", "blocks": [paragraph("one"), paragraph("more")]},
                    {
                        "label": "2.",
                        "blocks": [
                            paragraph("two"),
                            {"type": "list", "items": [{"label": "•", "blocks": [paragraph("inner")]}]},
                        ],
                    },
                ],
            },
            "1. one\n   more\n2. two\n   • inner",
        ),
        (
            {
                "type": "list",
                "items": [
                    {"has_checkbox": True, "is_checked": True, "blocks": [paragraph("done")]},
                    {"has_checkbox": True, "blocks": [paragraph("open")]},
                ],
            },
            "• [x] done\n• [ ] open",
        ),
        (
            {"type": "table", "cells": [[{"text": "a"}, {"text": "b"}], [{"text": "1"}, {}]]},
            "| a | b |\n| 1 |  |",
        ),
        (
            {"type": "blockquote", "blocks": [paragraph("a"), {"type": "blockquote", "blocks": [paragraph("b")]}]},
            "> a\n> > b",
        ),
        ({"type": "details", "summary": "More", "blocks": [paragraph("inside")]}, "More\ninside"),
        ({"type": "mathematical_expression", "expression": "x^2"}, "x^2"),
        (paragraph(["so ", {"type": "custom_emoji", "alternative_text": "🎉"}]), "so 🎉"),
        ({"type": "photo", "photo": [], "caption": {"text": "Bromo"}}, "Bromo"),
        ({"type": "divider"}, ""),
        ({"type": "brand_new", "text": "still read"}, "still read"),
    ],
)
def test_each_kind_of_block_reads_like_what_it_is(block: Json, text: str) -> None:
    assert text_of(block) == text


def test_entities_count_utf_16_units_from_the_beginning_of_the_whole_text() -> None:
    blocks = [
        paragraph("😀"),
        paragraph([{"type": "mention", "text": "@MyBot", "username": "MyBot"}, " see ", {"type": "code", "text": "a"}]),
    ]
    assert flattened({"blocks": blocks}) == (
        "😀\n@MyBot see a",
        ({"type": "mention", "offset": 3, "length": 6}, {"type": "code", "offset": 14, "length": 1}),
    )


def test_files_are_found_wherever_they_stand() -> None:
    voice = {"type": "voice_note", "voice_note": {"file_id": "v"}}
    photo = {"type": "photo", "photo": [{"file_id": "p"}]}
    collage = {"type": "collage", "blocks": [photo]}
    listed = {"type": "list", "items": [{"label": "•", "blocks": [voice]}]}
    assert list(media({"blocks": [collage, listed]})) == [
        {"photo": [{"file_id": "p"}]},
        {"voice": {"file_id": "v"}},
    ]


def test_a_tree_deeper_than_telegrams_is_read_as_far_as_it_makes_sense() -> None:
    text: Any = "deep"
    block: Json = paragraph("deep")
    for _ in range(500):
        text = [{"type": "bold", "text": text}]
        block = {"type": "blockquote", "blocks": [block]}
    assert text_of(paragraph(text), block, paragraph("after")) == "after"
    assert list(media({"blocks": [block]})) == []


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
NAMES = st.sampled_from(["type", "text", "blocks", "items", "cells", "label", "size", "caption", "summary", "url"])
KINDS = st.sampled_from(["heading", "list", "table", "pre", "details", "blockquote", "bold", "photo", "voice_note"])
TREES = st.recursive(
    SCALARS | KINDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES | KINDS, inner, max_size=5),
    max_leaves=30,
)


@settings(deadline=None)
@given(st.lists(TREES, max_size=5))
def test_any_tree_is_read_or_left_out(blocks: list[Any]) -> None:
    text, entities = flattened({"blocks": blocks})
    list(media({"blocks": blocks}))
    length = len(text.encode("utf-16-le")) // 2
    assert all(entity["offset"] >= 0 and entity["offset"] + entity["length"] <= length for entity in entities)
