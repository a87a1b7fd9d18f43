"""Every sentence of setup in both languages; none is missing and none is left over."""

import ast
from pathlib import Path
from string import Formatter

import pytest

from bot.cli.doctor.model import Trouble
from bot.cli.setup.kinds import FORMS
from bot.cli.setup.texts import TEXTS
from tests.cli.setup.stage import ROOT

ROOM = ROOT / "bot/cli/setup"
FOUND_OUT = {
    *(f"is_{kind}" for kind, _ in FORMS),
    *(f"model_{trouble}" for trouble in Trouble.__args__),
}
"""Names that are put together."""


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def words_of(file: Path) -> set[str]:
    """All that stands in quotes."""
    nodes = ast.walk(ast.parse(file.read_bytes()))
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


@pytest.mark.parametrize("name", TEXTS)
def test_a_sentence_says_the_same_values_in_both_languages(name: str) -> None:
    english, indonesian = TEXTS[name]
    assert placeholders(english) == placeholders(indonesian)
    assert english.strip() == english != ""
    assert indonesian.strip() == indonesian != ""


def test_every_sentence_is_said_somewhere_and_every_one_that_is_said_is_there() -> None:
    said = set().union(*(words_of(file) for file in ROOM.glob("*.py") if file.name != "texts.py"))
    assert TEXTS.keys() - said - FOUND_OUT == {"bedrock_key", "bedrock_access", "bedrock_away"}
    assert TEXTS.keys() >= FOUND_OUT
