"""Every sentence in both languages."""

import re
from string import Formatter

import pytest

from bot.commands import NAMES
from bot.texts import _TEXTS, say


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("name", [name for name in _TEXTS if _TEXTS[name][0] != _TEXTS[name][1]])
def test_a_sentence_says_the_same_values_in_both_languages(name: str) -> None:
    english, indonesian = _TEXTS[name]
    assert placeholders(english) == placeholders(indonesian)
    assert english.strip() == english != indonesian == indonesian.strip() != ""


BARE = re.compile(rf"(?<![\w`])/({'|'.join(NAMES)})\b")


@pytest.mark.parametrize("name", _TEXTS)
def test_a_sentence_leaves_it_to_the_platform_how_a_command_is_typed(name: str) -> None:
    assert [BARE.findall(text) for text in _TEXTS[name]] == [[], []]


@pytest.mark.parametrize("language", ["id", "ID", "id-ID", "in", "in-ID"])
def test_indonesian_is_spoken_to_who_has_it(language: str) -> None:
    assert say("stopped", language) == "(Dihentikan.)"


@pytest.mark.parametrize("language", ["", "en", "en-GB", "de", "idx", "hi-in", "i"])
def test_everybody_else_hears_english(language: str) -> None:
    assert say("stopped", language) == "(Stopped.)"


def test_a_value_is_never_read_as_a_template() -> None:
    assert "{person}" in say("denied", "", person="{person}")
