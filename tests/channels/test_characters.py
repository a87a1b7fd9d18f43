"""Characters as people see them."""

import pytest

from bot.channels.characters import clusters, columns, is_blank, is_right_to_left, units


@pytest.mark.parametrize(
    "whole",
    [
        "e\u0301",
        "👩\u200d👩\u200d👧",
        "👍🏽",
        "🇮🇩",
        "1\ufe0f\u20e3",
        "❤\ufe0f\u200d🔥",
        "🏴󠁧󠁢󠁳󠁣󠁴󠁿",
        "한",
        "क्ष",
        "กำ",
        "\u200d",
    ],
)
def test_what_is_seen_as_one_character_is_one(whole: str) -> None:
    assert clusters(f"a{whole}b") in (["a", whole, "b"], [f"a{whole}b"[:2], "b"])


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("abc", 3),
        ("日本", 4),
        ("é", 1),
        ("e\u0301", 1),
        ("👩\u200d👩\u200d👧", 2),
        ("👍🏽", 2),
        ("🇮🇩🇯🇵", 4),
        ("❤\ufe0f", 2),
        ("\u200b", 0),
    ],
)
def test_columns_of_a_fixed_width_font(text: str, width: int) -> None:
    assert columns(text) == width


def test_units_count_utf16() -> None:
    assert [units(text) for text in ("a", "é", "漢", "😀", "\ud83d")] == [1, 1, 1, 2, 1]


@pytest.mark.parametrize("text", [" \n", "\u200b", "\u2800", "\ufffc", "\x00\x07", "\u3000", "\U000e0041"])
def test_what_telegram_takes_for_empty_is_blank(text: str) -> None:
    assert is_blank(text)


def test_writing_from_right_to_left_is_known_by_its_letters() -> None:
    assert [is_right_to_left(text) for text in ("abc", "שלום", "x مرحبا", "漢字 1")] == [False, True, True, False]
