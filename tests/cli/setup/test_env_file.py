"""The file .env: whole or as before, for its owner's eyes, with everything else that stands in it untouched."""

import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from dotenv import dotenv_values
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.cli.setup.env_file import EnvFile, Unreadable, with_values
from bot.cli.setup.wrong import Wrong

WRITTEN = """\
# my bot
export A=1   # the first
B='x # y'
C="two
A=lines"

D
E = 5
A=2
"""


async def test_values_stand_where_they_stood_and_new_ones_at_the_end(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text(WRITTEN)
    env = EnvFile(file, {})
    await env.put({"A": "new one", "B": "b", "C": "", "D": "d", "F": "f"})
    assert file.read_text() == "# my bot\nexport A='new one'   # the first\nB=b\n\nD=d\nE = 5\nF=f\n"
    assert env.values == {"A": "new one", "B": "b", "C": "", "D": "d", "E": "5", "F": "f"}


async def test_nobody_else_can_read_it_whatever_it_was_before(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    for before in (None, 0o644):
        if before:
            file.chmod(before)
        await EnvFile(file, {}).put({"A": "1"})
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert names(tmp_path) == [".env"]


async def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("B=2\n")
    (tmp_path / ".env").symlink_to("kept")
    await EnvFile(tmp_path / ".env", {}).put({"A": "1"})
    assert (tmp_path / ".env").is_symlink()
    assert (tmp_path / "kept").read_text() == "B=2\nA=1\n"


async def test_the_process_s_own_values_win_at_the_next_start_as_they_do_for_the_bot(tmp_path: Path) -> None:
    env = EnvFile(tmp_path / ".env", {"A": "shell"})
    await env.put({"A": "typed", "B": "2"})
    assert (env.values["A"], env.shadowed("A"), env.shadowed("B")) == ("typed", True, False)
    assert EnvFile(tmp_path / ".env", {"A": "shell"}).values == {"A": "shell", "B": "2"}
    assert dotenv_values(tmp_path / ".env") == {"A": "typed", "B": "2"}


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Path]:
    """A folder with a file, in which nothing more can be made."""
    (tmp_path / ".env").write_text("A=1\n")
    tmp_path.chmod(0o500)
    yield tmp_path
    tmp_path.chmod(0o700)


def names(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir()]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
async def test_a_folder_that_can_not_be_written_is_told_and_nothing_is_lost_in_it(locked: Path) -> None:
    await refused(locked / ".env", "env_unwritable")
    assert (locked / ".env").read_text() == "A=1\n"


async def test_a_place_where_no_file_can_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    await refused(tmp_path / "file/.env", "env_unwritable")


async def test_a_quote_that_is_open_is_told_with_its_line_and_nothing_is_changed(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("B=1\nE='open\n")
    await refused(tmp_path / ".env", "env_unreadable")
    assert (tmp_path / ".env").read_text() == "B=1\nE='open\n"


async def refused(file: Path, said: str) -> None:
    with pytest.raises(Wrong) as wrong:
        await EnvFile(file, {}).put({"A": "it's"})
    assert wrong.value.text == said


OPEN = "E='open"
LINE = st.sampled_from(
    ["A=1", "B = two words # c", "export C='q'", 'D="x\\"y"', "# note", "", "A", "=x", OPEN, "'F'=6", "\tG=7"]
)
VALUE = st.text(st.characters(blacklist_categories=["Cc", "Cs"], blacklist_characters="$"), min_size=1)


@settings(max_examples=60)
@given(
    lines=st.lists(LINE, max_size=8),
    end=st.sampled_from(["", "\n", "\r\n"]),
    values=st.dictionaries(st.sampled_from("ABCDFGH"), VALUE),
)
def test_whatever_stood_there_the_values_are_read_back_and_the_others_are_as_they_were(
    lines: list[str], end: str, values: dict[str, str]
) -> None:
    before = (end or "\n").join(lines) + end
    known = dotenv_values(stream=io.StringIO(before))
    try:
        after = dotenv_values(stream=io.StringIO(with_values(before, values)))
    except Unreadable as unreadable:
        assert lines[unreadable.line - 1] == OPEN
        return
    assert {name: after[name] for name in values} == values
    assert {name: value for name, value in after.items() if name not in values} == {
        name: value for name, value in known.items() if name not in values
    }
