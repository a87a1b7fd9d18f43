"""What of the owner's folder gets into a package: all that somebody wrote, as it is."""

import shutil
from pathlib import Path

from scripts.build import own_files, read_files
from scripts.imports import ROOT
from tests.agentdir.tree import tree


def test_nested_files_and_scripts_get_in_and_caches_hidden_files_and_links_out_do_not(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("SECRET")
    wanted: dict[str, str | bytes] = {
        "AGENTS.md": "Be kind.",
        "skills/a/SKILL.md": "x",
        "skills/a/scripts/deep/er/count.py": "print(1)",
        "skills/a/tests/test_count.py": "x",
        "skills/a/data.pyi": "x",
        "skills/a/inner.md": "->SKILL.md",
    }
    unwanted: dict[str, str | bytes] = {
        "skills/a/scripts/__pycache__/count.cpython-313.pyc": b"x",
        "skills/a/.venv/lib.py": "x",
        ".DS_Store": "x",
        "skills/a/out.txt": "->../../../secret.txt",
        "skills/a/up": "->../../..",
        "skills/a/gone": "->nowhere",
    }
    folder = tree(tmp_path / "agent", {**wanted, **unwanted})
    assert [path.relative_to(folder).as_posix() for path in read_files(folder)] == sorted(wanted)


def test_the_folder_of_a_bot_with_a_name_gets_in_beside_the_common_one() -> None:
    folder = ROOT / "agent-of-a-test"
    try:
        tree(folder, {"AGENTS.md": "Be brief."})
        assert folder / "AGENTS.md" in own_files("worker")
        assert folder / "AGENTS.md" not in own_files("webhook")
    finally:
        shutil.rmtree(folder)


def test_the_worker_carries_the_shipped_skills_with_their_scripts_and_the_webhook_none() -> None:
    names = {path.relative_to(ROOT).as_posix() for path in own_files("worker")}
    assert {
        "agent/AGENTS.md",
        "agent/skills/make-readable/SKILL.md",
        "agent/skills/make-readable/scripts/table.py",
        "agent/skills/summarise-thread/SKILL.md",
    } <= names
    assert not any(path.is_relative_to(ROOT / "agent") for path in own_files("webhook"))
