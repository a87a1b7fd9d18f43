"""The owner's folder as it lies in S3, copied to this machine: instructions and skills without a new deployment."""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

Client = Any
"""A boto3 "s3" client: its methods are made at run time, so no type can be named."""

MOST_FILES = 500
LARGEST = 20_000_000
"""Bytes of all of them: a Lambda's own disk holds 512 MB, and a cold start waits for it."""
AT_ONCE = 10
LONGEST_KEY = 200
"""Characters behind the prefix: a file's name may have 255, a whole path on some systems 260."""

log = logging.getLogger(__name__)


class NotCopied(Exception):
    """The folder can not be had. The message says why."""


class S3Folder:
    def __init__(
        self, client: Callable[[], Client], bucket: str, prefix: str, *, most: int = MOST_FILES, largest: int = LARGEST
    ) -> None:
        """``client`` gives one that is shared between threads, made when it is first needed. ``prefix`` is a folder's
        name, with or without the slash at its end; ``most`` files are copied, of ``largest`` bytes together."""
        self._client = client
        self._bucket = bucket
        self._prefix = f"{prefix.strip('/')}/"
        self._most = most
        self._largest = largest

    def copy(self, into: Path) -> None:
        """All of it into this empty folder, or NotCopied: half of somebody's instructions would be others than theirs.

        A key that is no plain name for a file in the folder is left out, and told.
        """
        try:
            names = list(self._names())
            if not names:
                raise NotCopied(f"Nothing lies under {self._prefix} in {self._bucket}.")
            with ThreadPoolExecutor(AT_ONCE) as pool:
                list(pool.map(lambda name: self._copy(name, into), names))
        except (BotoCoreError, ClientError, OSError) as error:
            raise NotCopied(f"{type(error).__name__}: {error}") from error

    def _names(self) -> Iterator[str]:
        """Raises NotCopied where there is too much."""
        files = size = 0
        pages = self._client().get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=self._prefix)
        for each in (found for page in pages for found in page.get("Contents", [])):
            name = each["Key"][len(self._prefix) :]
            if not name or name.endswith("/"):
                continue  # what consoles put there for an empty folder
            if not _is_plain(name):
                log.warning("prefix=<%s>, name=<%.80r> | no plain name for a file, left out", self._prefix, name)
                continue
            files, size = files + 1, size + each["Size"]
            if files > self._most or size > self._largest:
                raise NotCopied(f"There are more than {self._most} files, or {self._largest:,} bytes.")
            yield name

    def _copy(self, name: str, into: Path) -> None:
        path = into.joinpath(*PurePosixPath(name).parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._client().get_object(Bucket=self._bucket, Key=self._prefix + name)["Body"] as body:
            path.write_bytes(body.read())


def _is_plain(name: str) -> bool:
    """Whether it names a file in the folder and nowhere else, on any system."""
    parts = name.split("/")
    inside = all(part.strip(" .") and part not in (".", "..") for part in parts)
    return inside and len(name) <= LONGEST_KEY and name.isprintable() and not set(name) & set('\\:*?"<>|')
