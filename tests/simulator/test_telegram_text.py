"""What Telegram makes of a text and its entities without a word."""

from typing import Any

import pytest

from simulator.telegram_text import BadRequest, formatted

Json = dict[str, Any]


def entity(kind: str, offset: int, length: int, **more: str) -> Json:
    return {"type": kind, "offset": offset, "length": length, **more}


def kept(text: str, *entities: Json) -> list[tuple[str, str]]:
    text, found = formatted(text, list(entities), "")
    return [(each["type"], text[each["offset"] : each["offset"] + each["length"]]) for each in found]


def test_spaces_go_from_the_ends_but_not_from_behind_the_first_entity() -> None:
    assert formatted(" \n a \n", None, "")[0] == "a"
    assert formatted("\n  b", [entity("bold", 3, 1)], "") == ("b", [entity("bold", 0, 1)])


def test_code_loses_the_indentation_of_its_first_line() -> None:
    assert formatted("    x\n    y", [entity("pre", 0, 11)], "") == ("x\n    y", [entity("pre", 0, 7)])
    assert formatted("\u00a0   x", [entity("pre", 0, 5)], "") == ("\u00a0   x", [entity("pre", 0, 5)])


def test_control_characters_become_spaces_and_some_characters_go() -> None:
    assert formatted("a\tb\x07c\r\nd\u2028e\u202ef", [entity("bold", 8, 4)], "") == (
        "a b c\ndef",
        [entity("bold", 7, 2)],
    )


@pytest.mark.parametrize("text", ["", " \n", "\u200b\u200e", "\u2800", "\u3000", "\ufeff\u00a0", "\x00"])
def test_nothing_is_left_of_a_text_that_nobody_sees(text: str) -> None:
    assert formatted(text, None, "") == ("", [])


def test_an_entity_over_white_space_only_goes() -> None:
    assert kept("a   b", entity("bold", 1, 3), entity("italic", 3, 2)) == [("italic", "b")]


def test_nothing_lies_inside_code_and_code_only_inside_quotes() -> None:
    assert kept("abcdef", entity("bold", 0, 6), entity("code", 2, 2)) == [
        ("bold", "ab"),
        ("code", "cd"),
        ("bold", "ef"),
    ]
    assert kept("abc", entity("text_link", 0, 3, url="https://e.example"), entity("code", 1, 1)) == [
        ("text_link", "abc")
    ]
    assert kept("abc", entity("blockquote", 0, 3), entity("pre", 1, 1)) == [("blockquote", "abc"), ("pre", "b")]


def test_quotes_lie_in_no_quote_and_no_link_or_code_crosses_their_border() -> None:
    assert kept("abcd", entity("blockquote", 0, 4), entity("blockquote", 1, 2)) == [("blockquote", "abcd")]
    assert kept("abcd", entity("blockquote", 1, 2), entity("code", 2, 2)) == [("blockquote", "bc")]


@pytest.mark.parametrize("url", ["https://localhost/x", "relative/path", "https:///x", ""])
def test_a_link_to_no_host_goes(url: str) -> None:
    assert kept("l", entity("text_link", 0, 1, url=url)) == []


@pytest.mark.parametrize("url", ["https://e.example/?a=1", "e.example", "tg://user?id=1", "http://u@e.example:8080#x"])
def test_a_link_to_a_host_stays(url: str) -> None:
    assert kept("l", entity("text_link", 0, 1, url=url)) == [("text_link", "l")]


def test_an_entity_that_splits_a_character_is_refused() -> None:
    with pytest.raises(BadRequest, match="in a middle of a UTF-16 symbol"):
        formatted("😀", [entity("bold", 0, 1)], "")
