"""Files and pictures in a folder, for a laptop or a small server: one folder per conversation, one file per content.

A file has its name only once it is whole and on the disk, so what can be read is always what was kept, whatever was
killed meanwhile; the piece that a kill may leave goes with its conversation. Names are small letters, digits and signs
that every file system takes (bot/keeping.py).
"""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import ParamSpec, TypeVar

from bot.errors import ConfigError, StoreUnavailable
from bot.keeping import blob_folder, blob_key, is_blob_key

P = ParamSpec("P")
T = TypeVar("T")


class FileBlobs:
    """The Blobs port on a folder that is made where it does not exist, for nobody but its owner."""

    def __init__(self, folder: str | Path) -> None:
        """Raises ConfigError where it can not be made or written to."""
        self.folder = Path(folder)
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder):
                pass
        except OSError as error:
            raise ConfigError(f"KABAR_FILES: {self.folder} can not be written to: {error}") from error

    async def put(self, conversation: str, data: bytes, media_type: str) -> str:
        """The kind is not kept: whoever has the key was told it too."""
        key = blob_key(conversation, data)
        await _off_loop(_write, self.folder / key, data)
        return key

    async def get(self, key: str) -> bytes | None:
        if not is_blob_key(key):
            return None
        return await _off_loop(_read, self.folder / key)

    async def forget(self, conversation: str) -> None:
        await _off_loop(_remove, self.folder / blob_folder(conversation))


async def _off_loop(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    try:
        return await asyncio.to_thread(work, *args, **kwargs)
    except OSError as error:
        raise StoreUnavailable(f"The folder of files: {error}") from error


def _write(path: Path, data: bytes) -> None:
    if path.exists():  # its name is its content
        return
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            Path(file.name).unlink()
            raise
    Path(file.name).replace(path)
    _sync(path.parent)
    _sync(path.parent.parent)


def _sync(folder: Path) -> None:
    """Let the names in it survive a power cut as well. Windows opens no folder, and needs none of this."""
    with suppress(PermissionError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _read(path: Path) -> bytes | None:
    with suppress(FileNotFoundError):
        return path.read_bytes()
    return None


def _remove(folder: Path) -> None:
    while folder.exists():
        with suppress(FileNotFoundError):  # somebody else is deleting it too
            shutil.rmtree(folder)
