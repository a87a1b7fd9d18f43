"""Skills as the model has them: listed within bounds, read when wanted, their scripts run in a real sandbox."""

import re
import sys
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from python_calamine import CalamineWorkbook

from bot.adapters.anthropic_files import AnthropicFiles
from bot.adapters.anthropic_model import client
from bot.adapters.file_blobs import FileBlobs
from bot.adapters.file_reader import FileReader
from bot.adapters.local_sandbox import LocalSandbox
from bot.agentdir.skills import LONGEST_DESCRIPTION, LONGEST_NAME, MOST, Skill, read_skills
from bot.context import SKILLS
from bot.files import Files
from bot.messages import Entry, Person, Place, Returned
from bot.toolkit import Toolbox, ToolContext
from bot.tools.run_python import run_python
from bot.tools.skill import LISTED, listed, skill_tool
from bot.tools.upload_files import upload_files
from scripts.imports import ROOT
from simulator.script import scripted
from tests.agentdir.tree import skill, tree

HERE = Place("terminal:here", "here")


def skills(folder: Path) -> Sequence[Skill]:
    found, faults = read_skills(folder)
    assert faults == []
    return found


class Chat:
    """The tools of skills and scripts, with one conversation's files."""

    def __init__(self, folder: Path, known: Sequence[Skill]) -> None:
        self.entries: list[Entry] = []
        self.blobs = FileBlobs(folder)
        self.files = Files(self.blobs, HERE.conversation, self._record)
        self.toolbox = Toolbox([skill_tool(known), run_python(LocalSandbox(), FileReader(None), known)])

    async def _record(self) -> list[Entry]:
        return self.entries

    async def sent(self, name: str, data: bytes) -> None:
        self.entries.append(Returned("t", (), files=(await self.files.keep(name, data, "text/csv"),)))

    async def made(self, name: str) -> bytes:
        kept = await self.files.find(name)
        assert kept is not None
        data = await self.files.data(kept)
        assert data is not None
        return data

    async def calls(self, tool: str, **given: Any) -> tuple[str, bool]:
        """What the model is told, and whether it is an error."""
        block = {"type": "tool_use", "id": "1", "name": tool, "input": given}
        outcome = await self.toolbox.call(block, ToolContext(HERE, Person("terminal:ann"), 0.0, files=self.files), 120)
        if outcome.files:
            self.entries.append(Returned("t", (outcome.result,), files=outcome.files))
        return outcome.result["content"], bool(outcome.result.get("is_error"))


# The list


def some(count: int, length: int) -> list[Skill]:
    return [Skill(f"skill-{number:02}", f"{number} does " * length, Path(), "Do it.") for number in range(count)]


def test_names_and_descriptions_stand_in_the_tool_in_one_order_and_in_the_same_bytes(tmp_path: Path) -> None:
    tree(tmp_path / "skills", {f"{name}/SKILL.md": skill(name, f"Does {name}.") for name in ("b", "a", "c")})
    first, again = skill_tool(skills(tmp_path)), skill_tool(skills(tmp_path))
    assert first.definition() == again.definition()
    assert first.definition()["description"].endswith("\n- a: Does a.\n- b: Does b.\n- c: Does c.")
    assert first.name == SKILLS
    assert not (first.writes or first.untrusted or first.outward or first.asks)


def test_fifty_skills_stay_within_a_bound_and_the_short_descriptions_whole() -> None:
    long, short = some(49, 60), Skill("zz", "Short and whole.", Path(), "Do it.")
    lines = listed([*long, short]).splitlines()
    assert len(lines) == 50
    assert lines[-1] == "- zz: Short and whole."
    assert sum(len(line) + 1 for line in lines) <= LISTED
    assert all(line.endswith("…") for line in lines[:-1])
    assert max(map(len, lines)) - min(map(len, lines[:-1])) < 20


def test_no_list_is_longer_than_the_bound() -> None:
    worst = [Skill("n" * LONGEST_NAME, "d" * LONGEST_DESCRIPTION, Path(), "x")] * MOST
    assert len(listed(worst)) <= LISTED
    assert listed(worst).count("n" * LONGEST_NAME) == MOST
    assert listed([]) == ""
    assert listed([replace(worst[0], description="Whole.")]) == f"- {'n' * LONGEST_NAME}: Whole."


# Reading


async def test_a_skill_is_read_when_asked_for_and_names_its_files(tmp_path: Path) -> None:
    tree(tmp_path / "skills/report", {"SKILL.md": skill("report", body="# Report\n"), "a/form.md": "FORM", "b.py": "x"})
    chat = Chat(tmp_path / "files", skills(tmp_path))
    words, failed = await chat.calls("skill", name="report")
    assert not failed
    assert words.startswith("(Page 1 of 1.)\n# Report\n")
    assert "- b.py\n- a/form.md" in words
    assert '"skill:report"' in words and 'run_path("report/b.py"' in words
    assert await chat.calls("skill", name="report", file="a/form.md") == ("(Page 1 of 1.)\nFORM", False)
    assert (await chat.calls("skill", name="report", file="SKILL.md"))[0] == words


async def test_a_long_file_is_read_page_by_page(tmp_path: Path) -> None:
    tree(tmp_path / "skills/a", {"SKILL.md": skill("a"), "long.txt": "x" * 8_000 + "the end"})
    chat = Chat(tmp_path / "files", skills(tmp_path))
    assert (await chat.calls("skill", name="a", file="long.txt", page=2))[0] == "(Page 2 of 2.)\nthe end"
    assert await chat.calls("skill", name="a", file="long.txt", page=3) == ("It has 2 pages.", True)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"name": "b"}, "There is no skill 'b'. There are: a."),
        ({"name": "a", "file": "gone.md"}, "a has no file 'gone.md'. There are: notes.bin, ok.md."),
        ({"name": "a", "file": "../../../secret.txt"}, "a has no file"),
        ({"name": "a", "file": "../a/ok.md"}, "a has no file"),
        ({"name": "a", "file": "/etc/passwd"}, "a has no file"),
        (
            {"name": "a", "file": "notes.bin"},
            "notes.bin is no text. Take it along to where code runs, as skill:a/notes.bin.",
        ),
        ({"name": ""}, "There is no skill ''"),
    ],
)
async def test_what_there_is_not_is_told_with_what_there_is(tmp_path: Path, given: Any, words: str) -> None:
    (tmp_path / "secret.txt").write_text("SECRET")
    tree(tmp_path / "agent/skills/a", {"SKILL.md": skill("a"), "ok.md": "OK", "notes.bin": b"\xff\x00"})
    told, failed = await Chat(tmp_path / "files", skills(tmp_path / "agent")).calls("skill", **given)
    assert failed
    assert told.startswith(words)


# Scripts

CSV = "Laporan April\nNama;Harga;Tanggal\nTeh;Rp 12.500;03/04/2026\nKopi;Rp 1.250,50;15/04/2026\nGula;;16/04/2026\n"
RUN = 'import runpy; runpy.run_path("make-readable/scripts/table.py", run_name="__main__")'


@pytest.fixture
def shipped(tmp_path: Path) -> Chat:
    return Chat(tmp_path / "files", skills(ROOT / "agent"))


runs_scripts = pytest.mark.skipif(sys.platform == "win32", reason="no place for scripts on Windows")


async def test_a_script_is_told_by_the_name_that_it_has_where_the_provider_runs_it(
    shipped: Chat, tmp_path: Path
) -> None:
    told, _ = await shipped.calls("skill", name="make-readable")
    [script] = re.findall(r"run (\S+) there", told)
    async with scripted() as model, client("key", model.url) as anthropic:
        shipped.toolbox = Toolbox([upload_files(AnthropicFiles(anthropic), skills(ROOT / "agent"))])
        await shipped.calls("upload_files", names=["skill:make-readable"])
        assert script in [kept.name for kept in model.workspace.files.values()]


@runs_scripts
async def test_the_shipped_script_makes_a_table_readable_and_tidy_in_the_sandbox(shipped: Chat) -> None:
    await shipped.sent("april.csv", CSV.encode("cp1252"))
    taken = ["april.csv", "skill:make-readable"]
    told, failed = await shipped.calls(
        "run_python", code=RUN, files=taken, arguments=["april.csv", "--out", "tidy.xlsx"]
    )
    assert not failed
    assert told.startswith("exit code: 0\n")
    assert "3 rows, 3 columns." in told
    assert "| Harga (Rp) | number | 2/3 | 1,250.5 to 12,500, mean 6,875.25, sum 13,750.5 | 1 empty |" in told
    assert "| Tanggal | date | 3/3 | 2026-04-03 to 2026-04-16 | read as day/month/year |" in told
    assert "| Teh | 12500 | 2026-04-03 |" in told
    assert "files, sent to the person: tidy.xlsx" in told  # and nothing of the skill itself
    taken[0] = "tidy.xlsx"
    again, _ = await shipped.calls("run_python", code=RUN, files=taken, arguments=["tidy.xlsx", "--rows", "1"])
    assert "| Harga (Rp) | number | 2/3 | 1,250.5 to 12,500, mean 6,875.25, sum 13,750.5 | 1 empty |" in again
    workbook = CalamineWorkbook.from_filelike(BytesIO(await shipped.made("tidy.xlsx")))
    assert workbook.get_sheet_by_index(0).to_python()[0] == ["Nama", "Harga (Rp)", "Tanggal"]


@runs_scripts
async def test_the_shipped_script_says_which_library_is_missing(shipped: Chat) -> None:
    await shipped.sent("a.xlsx", b"PK")
    without = f"import sys; sys.modules['openpyxl'] = None; {RUN}"
    told, _ = await shipped.calls(
        "run_python", code=without, files=["a.xlsx", "skill:make-readable/scripts/table.py"], arguments=["a.xlsx"]
    )
    assert "need the library openpyxl, and it is not installed here" in told


@runs_scripts
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gone.csv"], "There is no file gone.csv. Files here: april.csv."),
        (["april.csv", "--out", "x.doc"], "only .xlsx and .csv can be written"),
    ],
)
async def test_the_shipped_script_says_what_it_can_not_do(shipped: Chat, arguments: list[str], words: str) -> None:
    await shipped.sent("april.csv", CSV.encode())
    told, _ = await shipped.calls(
        "run_python", code=RUN, files=["april.csv", "skill:make-readable"], arguments=arguments
    )
    assert told.startswith("exit code: 1")
    assert words in told


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("skill:other", "There is no skill 'other'. There are: make-readable, summarise-thread."),
        ("skill:make-readable/gone.py", "make-readable has no file 'gone.py'. There are: scripts/table.py."),
        ("skill:make-readable/../summarise-thread/SKILL.md", "make-readable has no file"),
        ("skill:make-readable//etc/passwd", "make-readable has no file"),
    ],
)
async def test_a_script_gets_no_file_that_is_not_a_skills(shipped: Chat, name: str, words: str) -> None:
    told, failed = await shipped.calls("run_python", code="print(1)", files=[name])
    assert failed
    assert told.startswith(words)


def test_scripts_are_told_of_skills_only_where_there_are_some(shipped: Chat) -> None:
    plain, more = (run_python(LocalSandbox(), FileReader(None), known) for known in ((), skills(ROOT / "agent")))
    assert "skill:" not in plain.description
    assert more.description.startswith(plain.description)
    assert "skill:report" in more.description
