"""Skills in the public format: what is read of them, and what never is."""

from pathlib import Path

from bot.agentdir.skills import LARGEST, MOST, MOST_FILES, read_skills
from scripts.imports import ROOT
from tests.agentdir.tree import skill, tree

FULL = """---
name: report
description: >-
  Writes a report.
  Use it on Fridays.
license: MIT
compatibility: Needs a table.
metadata:
  author: ann
  version: 1.0
allowed-tools: Read Bash(git:*)
---

# Report

See [the form](forms/form.md) and `scripts/count.py`.
"""


def test_a_skill_is_its_front_matter_its_text_and_what_lies_beside_it(tmp_path: Path) -> None:
    tree(
        tmp_path / "skills/report",
        {
            "SKILL.md": FULL,
            "forms/form.md": "x",
            "scripts/count.py": "x",
            "scripts/__pycache__/count.pyc": b"x",
            ".DS_Store": "x",
        },
    )
    (found,), faults = read_skills(tmp_path)
    assert faults == []
    assert (found.name, found.description) == ("report", "Writes a report. Use it on Fridays.")
    assert found.body.startswith("# Report\n\nSee")
    assert found.files == ("forms/form.md", "scripts/count.py")
    assert found.data("forms/form.md") == b"x"


def test_the_skills_that_come_with_the_bot_are_without_a_fault() -> None:
    skills, faults = read_skills(ROOT / "agent")
    assert faults == []
    assert [(each.name, each.files) for each in skills] == [
        ("make-readable", ("scripts/table.py",)),
        ("summarise-thread", ()),
    ]


def test_one_broken_skill_keeps_no_other_from_being_used(tmp_path: Path) -> None:
    tree(tmp_path / "skills", {"a/SKILL.md": skill("a"), "b/SKILL.md": "no front matter", "c/SKILL.md": skill("c")})
    skills, faults = read_skills(tmp_path)
    assert [each.name for each in skills] == ["a", "c"]
    assert [fault.file for fault in faults] == ["skills/b/SKILL.md"]


def test_what_only_looks_odd_is_named_and_the_skill_is_used(tmp_path: Path) -> None:
    body = "See [this](gone.md), [that](https://x.y) and `[a](b)`."
    text = f"---\nname: a\ndescription: Does it.\nmodel: opus\n---\n{body}\n"
    tree(tmp_path / "skills/a", {"SKILL.md": text, "out.txt": "->../../../etc/passwd", "in.txt": "->SKILL.md"})
    (found,), faults = read_skills(tmp_path)
    assert [(fault.file, fault.line) for fault in faults] == [
        ("skills/a/SKILL.md", 4),
        ("skills/a/SKILL.md", 6),
        ("skills/a/out.txt", 0),
    ]
    assert found.files == ("in.txt",)


def test_nothing_outside_of_its_folder_is_ever_read(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("SECRET")
    tree(
        tmp_path / "skills",
        {
            "a/SKILL.md": skill("a"),
            "a/secret.txt": "->../../secret.txt",
            "a/up": "->../..",
            "a/mine.txt": "x",
            "b/SKILL.md": "->../../secret.txt",
        },
    )
    (found,), faults = read_skills(tmp_path)
    assert found.files == ("mine.txt",)
    assert {fault.file for fault in faults} == {"skills/a/secret.txt", "skills/a/up", "skills/b"}
    for name in ("secret.txt", "../../secret.txt", "up/secret.txt", "/etc/passwd", "", ".", "mine.txt\0"):
        assert found.data(name) is None
    (tmp_path / "skills/a/mine.txt").unlink()
    (tmp_path / "skills/a/mine.txt").symlink_to("../../secret.txt")
    assert found.data("mine.txt") is None


def test_a_skill_that_is_a_link_to_elsewhere_is_left_out(tmp_path: Path) -> None:
    tree(tmp_path / "other/a", {"SKILL.md": skill("a")})
    tree(tmp_path / "agent", {"skills/a": "->../../other/a"})
    skills, [fault] = read_skills(tmp_path / "agent")
    assert (skills, fault.file) == ((), "skills/a")
    assert "leads out" in fault.message


def test_the_number_of_skills_and_files_and_their_size_have_an_end(tmp_path: Path) -> None:
    names = [f"s{number:03}" for number in range(MOST + 2)]
    tree(tmp_path / "skills", {f"{name}/SKILL.md": skill(name) for name in names})
    tree(tmp_path / "skills/s000", {f"{number:03}.txt": "x" for number in range(MOST_FILES + 5)})
    tree(tmp_path / "skills/s001", {"a.txt": b"x", "b.bin": b"x" * LARGEST, "c.txt": b"x"})
    skills, faults = read_skills(tmp_path)
    assert [each.name for each in skills] == names[:MOST]
    assert (len(skills[0].files), skills[1].files) == (MOST_FILES, ("a.txt",))
    assert [fault.file for fault in faults] == [
        f"skills/s000/{MOST_FILES:03}.txt",
        "skills/s001/b.bin",
        *(f"skills/{name}" for name in names[MOST:]),
    ]
