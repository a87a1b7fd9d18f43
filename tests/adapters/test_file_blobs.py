"""What only the folder of files has to promise: its files, through kills and on full disks."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from bot.adapters.file_blobs import FileBlobs
from bot.errors import ConfigError, StoreUnavailable
from bot.keeping import blob_key

ROOT = Path(__file__).parent.parent.parent
CHAT = "telegram:1"


async def test_nobody_else_can_read_the_folder_or_a_file(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path / "new" / "files")
    key = await blobs.put(CHAT, b"x", "text/plain")
    made = [blobs.folder, (blobs.folder / key).parent, blobs.folder / key]
    assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o700, 0o700, 0o600]


def test_a_folder_that_can_not_be_used_is_the_owners_business(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "files"):
        with pytest.raises(ConfigError, match="KABAR_FILES"):
            FileBlobs(folder)


async def test_what_the_disk_refuses_is_an_outage_and_leaves_nothing(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    key = await blobs.put(CHAT, b"x", "text/plain")
    (tmp_path / key).unlink()
    (tmp_path / key).mkdir()
    with pytest.raises(StoreUnavailable):
        await blobs.get(key)
    (tmp_path / "telegram_3a2").write_text("in the way")
    with pytest.raises(StoreUnavailable):
        await blobs.put("telegram:2", b"x", "text/plain")


WRITER = """
import asyncio, resource, sys
from bot.adapters.file_blobs import FileBlobs

async def write():
    blobs = FileBlobs(sys.argv[1])
    if sys.argv[2] == "full":
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
    for number in range(1_000_000):
        print(await blobs.put("telegram:1", b"%07d" % number * 300_000, "text/plain"), flush=True)

asyncio.run(write())
"""


def write_and_be_killed(folder: Path) -> list[str]:
    """The keys that a process of its own was given before it was killed in the middle of its work."""
    with subprocess.Popen([sys.executable, "-c", WRITER, folder, ""], cwd=ROOT, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        kept = [writer.stdout.readline().decode().strip() for _ in range(10)]
        writer.kill()
        return kept


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_a_file_is_there_whole_or_not_at_all_however_its_writer_was_killed(tmp_path: Path) -> None:
    kept = [write_and_be_killed(tmp_path) for _ in range(3)][-1]
    blobs = FileBlobs(tmp_path)
    for number, key in enumerate(kept):
        assert await blobs.get(key) == b"%07d" % number * 300_000
    for file in files_in(tmp_path):
        data = await blobs.get(f"telegram_3a1/{file.name}")
        assert data is None or blob_key(CHAT, data) == f"telegram_3a1/{file.name}"  # None: a piece has no key
    await blobs.forget(CHAT)
    assert files_in(tmp_path) == []


def test_a_disk_that_is_full_in_the_middle_of_a_file_leaves_no_piece_of_it(tmp_path: Path) -> None:
    """The limit on a file's size stands for the disk's: writing fails half-way."""
    writer = subprocess.run(
        [sys.executable, "-c", WRITER, tmp_path, "full"], cwd=ROOT, capture_output=True, timeout=60, check=False
    )
    assert b"StoreUnavailable" in writer.stderr
    assert files_in(tmp_path) == []
