"""What the pages say is so: links lead somewhere, files are there, snippets run, settings are those that are read."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.agentdir.folder import read_folder
from handlers.settings import SECRETS, Settings
from handlers.workshop import BUILT_IN
from tests.docs.pages import ROOT, page, pages

TOPS = "agent|benchmarks|bot|chaos|docs|evals|examples|handlers|infra|requirements|scripts|simulator|tests"
PATH = re.compile(rf"({TOPS})/[\w./*-]*")
SETTING = re.compile(r"\b(?:KABAR|TELEGRAM|SLACK|ANTHROPIC|DISCORD|AWS)(?:_[A-Z0-9]+)+\b")
ROW = re.compile(r"\| `(?P<name>[A-Z0-9_]+)`(?P<secret> \(secret\))? \| .+ \| ?(?P<default>.*?) ?\|")

YOURS = {
    "agent/card.json": "an owner writes it",
    "agent/mcp.json": "an owner writes it",
    "agent/peers.json": "an owner writes it",
    "bot/tools/dice.py": "the example of a tool",
    "docs/decisions/00NN-*.md": "the next one",
    "evals/drafts/": "made by kabar eval from-votes",
}
"""Paths that pages name and a fresh clone has not."""

COMING: set[str] = set()
"""Pages that these name and another change brings."""


@pytest.mark.parametrize("name", pages())
def test_every_link_of_a_page_leads_somewhere(name: str) -> None:
    lost = []
    for link in page(name).links:
        target, _, anchor = link.partition("#")
        if ":" in target:
            assert target.startswith("https://"), link
            continue
        file = (page(name).folder / target).resolve() if target else ROOT / name
        there = str(file.relative_to(ROOT))
        found = file.exists() and (not anchor or anchor in page(there).anchors)
        if not found and (file.exists() or there not in COMING):
            lost.append(link)
    assert lost == []


@pytest.mark.parametrize("name", pages())
def test_every_file_that_a_page_names_is_there(name: str) -> None:
    words = {*page(name).spans, *page(name).texts}
    paths = {word for word in words if PATH.fullmatch(word)} - YOURS.keys() - COMING
    assert [path for path in paths if not any(ROOT.glob(path.rstrip("/")))] == []


@pytest.fixture(scope="module")
def read_somewhere() -> set[str]:
    """Names of settings that stand in the code or in the template."""
    files = [file for top in ("bot", "examples", "handlers", "infra", "simulator") for file in (ROOT / top).rglob("*")]
    texts = (file.read_text() for file in files if file.suffix in (".py", ".yaml"))
    words = {word for text in texts for word in SETTING.findall(text)}
    return words | {name.upper() for name in Settings.__struct_fields__}


@pytest.mark.parametrize("name", pages())
def test_every_setting_that_a_page_names_is_read_somewhere(name: str, read_somewhere: set[str]) -> None:
    assert set(SETTING.findall((ROOT / name).read_text())) - read_somewhere == set()


def test_the_page_of_settings_has_each_with_its_default() -> None:
    rows = [found for line in (ROOT / "docs/settings.md").read_text().splitlines() if (found := ROW.match(line))]
    listed = {row["name"]: row for row in rows}
    fields = dict(zip(map(str.upper, Settings.__struct_fields__), Settings.__struct_defaults__, strict=True))

    assert listed.keys() ^ fields.keys() == set()
    assert len(rows) == len(fields)
    assert {name for name, row in listed.items() if row["secret"]} == set(SECRETS)
    for name, default in fields.items():
        shown, known = listed[name]["default"], f"{default:g}" if isinstance(default, float) else str(default)
        if known:
            assert shown == f"`{known}`", name
        else:
            assert not re.fullmatch(r"`[^`]*`", shown), name


@pytest.mark.parametrize("name", [name for name in pages() if not name.startswith("simulator")])
async def test_what_a_page_shows_in_code_works(name: str, tmp_path: Path) -> None:
    """Python runs, one snippet after the other, and the tests in it pass; JSON and YAML can be read; skills and agents
    are what ``kabar check`` wants."""
    known: dict[str, Any] = {"__name__": "snippet"}
    for fence in page(name).fences:
        where = f"{name}:{fence.line}"
        if fence.language == "python":
            exec(compile(fence.text, where, "exec"), known)
        elif fence.language == "json":
            json.loads(fence.text)
        elif fence.language == "yaml":
            assert yaml.safe_load(fence.text), where
        elif fence.language == "markdown":
            assert _faults(fence.text, tmp_path) == [], where
    for each, function in known.items():
        if each.startswith("test_"):
            await function()


def _faults(text: str, folder: Path) -> list[str]:
    """Of a skill, or of an agent where it names tools."""
    name = yaml.safe_load(text.split("---")[1])["name"]
    agent = "\ntools:" in text
    file = folder / ("agents" if agent else f"skills/{name}") / (f"{name}.md" if agent else "SKILL.md")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    (folder / "AGENTS.md").write_text("You are Kabar.")
    return [str(fault) for fault in read_folder(folder, BUILT_IN, {}).faults]


def test_both_readmes_say_the_same() -> None:
    english, indonesian = page("README.md"), page("README.id.md")
    assert [level for level, _ in english.headings] == [level for level, _ in indonesian.headings]
    shells = [[fence.text for fence in each.fences if fence.language] for each in (english, indonesian)]
    assert shells[0] == shells[1]
    others = {"README.md", "README.id.md"}
    assert sorted({*english.links} - others) == sorted({*indonesian.links} - others)
    assert sorted(english.spans) == sorted(indonesian.spans)


def test_the_map_shows_every_room_and_nothing_that_is_gone() -> None:
    """The modules of the core by name, packages and the rest by folder."""
    (drawing,) = (fence.text for fence in page("AGENTS.md").fences if fence.text.startswith("bot/"))
    words = set(re.findall(r"\w+", drawing))
    files = [*ROOT.glob("bot/*.py"), *ROOT.glob("handlers/*.py")]
    core = [file.stem for file in files if file.stem not in ("__init__", "version")]
    rooms = [file.parent.name for file in ROOT.glob("bot/*/__init__.py")]
    tops = [file.parent.name for file in ROOT.glob("*/__init__.py")]
    assert sorted({*core, *rooms, *tops} - words) == []

    modules = {file.name for top in TOPS.split("|") for file in (ROOT / top).rglob("*.py")}
    assert sorted(set(re.findall(r"\w+\.py\b", drawing)) - modules) == []
