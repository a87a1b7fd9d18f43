"""Commands that the pages name are there, with these options; and those that can run here do."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from bot.cli.main import parser
from bot.commands import MENU, NAMES
from simulator.script import text
from tests.bots import bot_on
from tests.docs.pages import ROOT, commands, page, pages
from tests.say import inbound

MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = set(re.findall(r"^([\w.-]+):", MAKEFILE, re.MULTILINE))
SHOWN = set(re.findall(r"^([\w-]+):.*?## ", MAKEFILE, re.MULTILINE))
IN_THE_ENVIRONMENT = re.compile(r"\.venv/(run|dev)/bin/")

WHY_NOT_HERE = {
    "make": "takes minutes, or would run this very test",
    "kabar setup": "asks a person",
    "kabar run": "wants tokens",
    "kabar chat": "wants a model's server",
    "kabar serve": "wants tokens",
    "kabar eval": "takes minutes, or a model",
    "kabar doctor": "finds something that is not set up here",
    "kabar logs": "wants a reference",
    "python -m examples.discord": "wants a token; tests/examples runs it",
    "pip": "downloads",
    "git": "downloads",
    "curl": "wants a token",
    "export": "sets something in a person's own shell",
    "aws": "wants an account",
    "sam": "wants an account",
    "llama-server": "is somebody else's program",
    "ollama": "is somebody else's program",
}
"""What pages show and this test does not run, by how it begins; all else is run."""


def in_fences(name: str, *languages: str) -> list[list[str]]:
    """The commands of a page's fences: what is set for one of them, and where its program lies, left out."""
    fences = (fence for fence in page(name).fences if fence.language in languages)
    return [words for fence in fences for words in map(_bare, commands(fence)) if words]


def _bare(words: list[str]) -> list[str]:
    start = next((at for at, word in enumerate(words) if not re.match(r"[A-Z_]+=", word)), len(words))
    return [IN_THE_ENVIRONMENT.sub("", word) for word in words[start:]]


def named(name: str) -> Iterator[list[str]]:
    """All commands of ours that a page names, in its text and in its fences."""
    spans = (span for span in page(name).spans if re.match(r"(\.venv/\w+/bin/)?(kabar|make) \w", span))
    for words in (*in_fences(name, "", "sh"), *map(_bare, map(shlex.split, spans))):
        if words[0] in ("kabar", "make"):
            yield words


@pytest.mark.parametrize("name", pages())
def test_what_a_page_calls_exists(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = []
    for program, *words in named(name):
        if program == "make":
            wrong += [f"make {word}" for word in words if "=" not in word and word not in TARGETS]
        else:
            try:  # a name alone says only that there is such a command
                parser().parse_args(words if len(words) > 1 else [*words, "--help"])
            except SystemExit as end:
                if end.code:
                    wrong.append(f"kabar {' '.join(words)}: {capsys.readouterr().err}")
    assert wrong == []


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """Where somebody runs kabar who has said one word to it and changed nothing."""
    shutil.copytree(ROOT / "agent", tmp_path / "agent")
    (tmp_path / ".data").mkdir()
    async with bot_on(tmp_path / ".data" / "kabar.sqlite3", text("Hello Ann.")) as bot:
        await bot.hears(inbound("I am Ann"))
        await bot.wakes()
    return tmp_path


@pytest.mark.parametrize("name", [name for name in pages() if in_fences(name, "sh")])
def test_what_a_page_tells_to_run_runs(name: str, folder: Path) -> None:
    environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(folder)}
    for words in filter(_runs_here, in_fences(name, "sh")):
        where = folder if words[0] == "kabar" else ROOT
        ran = subprocess.run(words, cwd=where, env=environment, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, f"{' '.join(words)}\n{ran.stdout}{ran.stderr}"


def _runs_here(words: list[str]) -> bool:
    line = " ".join(words)
    return "--help" in words or not any(line.startswith(start) for start in WHY_NOT_HERE)


def test_the_owner_s_page_lists_the_commands_of_a_chat() -> None:
    listed = {span[1:].split()[0] for span in page("docs/owner.md").spans if re.match(r"/\w+", span)}
    assert set(MENU) <= listed
    assert listed - {"kabar"} <= NAMES


def test_the_map_lists_what_make_does() -> None:
    listed = {word for span in page("AGENTS.md").spans if span.startswith("make ") for word in span.split()[1:]}
    assert {word for word in SHOWN if word != "help"} - listed == set()


def test_the_hooks_of_git_run_what_is_there() -> None:
    (ours,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert ours["repo"] == "local"
    for program, *words in (shlex.split(hook["entry"]) for hook in ours["hooks"]):
        there = (
            words[-1] in TARGETS if program == "make" else Path(sys.executable).with_name(Path(program).name).exists()
        )
        assert there, program


def test_the_readme_names_the_tests_that_have_to_pass() -> None:
    assert ["make", "test"] in in_fences("README.md", "sh")
    assert "make test" in (ROOT / ".ci" / "run").read_text().splitlines()
