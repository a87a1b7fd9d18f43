"""Every sentence of setup in both languages; none is missing and none is left over."""

import ast
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest

from bot.cli.setup.texts import TEXTS
from handlers.doctor.kinds import FORMS
from handlers.doctor.model import Trouble
from tests.cli.setup.stage import ROOT

ROOM = ROOT / "bot/cli/setup"
FOUND_OUT = {
    *(f"is_{kind}" for kind, _ in FORMS),
    *(f"model_{trouble}" for trouble in get_args(Trouble)),
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


def said_in(file: Path) -> set[str]:
    """Names of texts that are asked for by name."""
    calls = (node for node in ast.walk(ast.parse(file.read_bytes())) if isinstance(node, ast.Call) and node.args)
    firsts = (call.args[0] for call in calls if ast.unparse(call.func).rpartition(".")[2] in ("Wrong", "say", "text"))
    return {first.value for first in firsts if isinstance(first, ast.Constant) and isinstance(first.value, str)}


def test_every_sentence_is_said_somewhere_and_every_one_that_is_said_is_there() -> None:
    files = [file for file in ROOM.glob("*.py") if file.name != "texts.py"]
    assert TEXTS.keys() <= set().union(FOUND_OUT, *map(words_of, files))
    assert set().union(FOUND_OUT, *map(said_in, files)) <= TEXTS.keys()
