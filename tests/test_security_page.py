"""What docs/security.md claims names code that is there, and a test that is there and would fail."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/security.md").read_text()
TESTS = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)))
FILES = sorted(set(re.findall(r"`((?:bot|handlers|infra|tests|docs)/[\w./-]+\.(?:py|yaml|md))(?:::\w+)?`", PAGE)))


def rows() -> list[str]:
    """Of the tables that say what stands against whom."""
    claims = PAGE.partition("## Who tries what")[2].partition("## Encryption")[0]
    lines = [line for line in claims.splitlines() if line.startswith("|")]
    return [line for line in lines if not line.startswith(("|---", "| tries"))]


@cache
def functions_of(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / file).read_text())
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize(("file", "test"), TESTS)
def test_every_test_that_is_named_is_there(file: str, test: str) -> None:
    assert test in functions_of(file)


@pytest.mark.parametrize("file", FILES)
def test_every_file_that_is_named_is_there(file: str) -> None:
    assert (ROOT / file).is_file()


@pytest.mark.parametrize("row", rows())
def test_every_claim_names_its_code_and_its_test(row: str) -> None:
    _, tries, against, test, _ = row.split("|")

    assert tries.strip()
    assert re.search(r"`(bot|handlers|infra)/", against)
    assert re.search(r"`tests/.*::", test)


def test_every_secret_has_its_way_to_be_replaced() -> None:
    from handlers.settings import SECRETS

    replaced = PAGE.partition("## When a secret may be known")[2].partition("## What is not")[0]
    assert set(SECRETS) <= set(re.findall(r"`([A-Z0-9_]+)`", replaced))


def test_how_to_report_is_said_without_an_address_that_nobody_reads() -> None:
    words = (ROOT / "SECURITY.md").read_text()

    assert "Report a vulnerability" in words and "docs/security.md" in words
    assert "@" not in words
