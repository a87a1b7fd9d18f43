"""A local AWS in a process of its own: ministack, from an environment of its own because it pins botocore."""

import contextlib
import itertools
import os
import shutil
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import boto3
import pytest
from botocore.config import Config

from simulator.serving import free_port

PROGRAM = Path(__file__).parent.parent / ".venv/emulator/bin/ministack"
REGION = "eu-central-1"
START_WAIT = 20.0
"""Seconds; it needs less than one on an idle machine."""

LIBRARY = boto3.session.Session(region_name=REGION)
"""One for all accounts: it reads what it knows of a service from large files, once."""


class Account:
    """An AWS account of one test's own: the emulator takes a 12-digit access key for the account's number."""

    def __init__(self, endpoint: str, number: str) -> None:
        self.endpoint = endpoint
        self.environment = {
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ACCESS_KEY_ID": number,
            "AWS_SECRET_ACCESS_KEY": "none",
            "AWS_DEFAULT_REGION": REGION,
        }
        self._number = number
        self._clients: dict[tuple[Any, ...], Any] = {}

    def client(
        self,
        service: str,
        *,
        endpoint: str | None = None,
        attempts: int = 1,
        patience: float = 20,
        config: Config | None = None,
    ) -> Any:
        """A boto3 client that ends with the account. ``attempts`` is how often it tries one request in all,
        ``patience`` how many seconds it waits for an answer; ``config`` is another in their place."""
        wanted = service, endpoint or self.endpoint, attempts, patience, config
        if wanted not in self._clients:
            usual = Config(
                retries={"mode": "standard", "total_max_attempts": attempts},
                connect_timeout=5,
                read_timeout=patience,
                max_pool_connections=40,
            )
            self._clients[wanted] = LIBRARY.client(
                service,
                endpoint_url=endpoint or self.endpoint,
                aws_access_key_id=self._number,
                aws_secret_access_key="none",
                config=config or usual,
            )
        return self._clients[wanted]

    def bucket(self) -> str:
        """A new bucket. The emulator knows buckets by name alone, whosever they are."""
        name = f"kabar-{uuid.uuid4().hex}"
        self.client("s3").create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})
        return name

    def __enter__(self) -> "Account":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for client in self._clients.values():
            client.close()


class Emulator:
    """A running emulator. ``endpoint`` serves every AWS service."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self._numbers = itertools.count(100_000_000_000)

    def account(self) -> Account:
        return Account(self.endpoint, str(next(self._numbers)))


@contextlib.contextmanager
def running_emulator(**settings: str) -> Iterator[Emulator]:
    """Start the emulator on a free port and stop it afterwards. ``settings`` are its own, such as ``AUTH="true"``.

    Where it is not installed, the tests that need it are skipped, but on CI they fail.
    """
    if not PROGRAM.exists():
        message = "The AWS emulator is not installed: `make test` does it (.venv/emulator)."
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    folder = tempfile.mkdtemp(prefix="emulator-")
    process = None
    try:
        port = free_port()
        with (Path(folder) / "log").open("wb") as log:
            process = subprocess.Popen(
                [PROGRAM], env={**_environment(port, folder), **settings}, stdout=log, stderr=log
            )
        _wait_until_it_listens(process, port, Path(folder) / "log")
        yield Emulator(f"http://127.0.0.1:{port}")
    finally:
        if process is not None:
            _end(process)
        shutil.rmtree(folder, ignore_errors=True)


def _environment(port: int, folder: str) -> dict[str, str]:
    """Nothing of ours is passed on: above all no credentials."""
    return {
        "PATH": os.defpath,
        "HOME": folder,
        "TMPDIR": folder,
        "GATEWAY_PORT": str(port),
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "MINISTACK_REGION": REGION,
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
    }


def _wait_until_it_listens(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_WAIT
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.05)
            pytest.fail(f"The AWS emulator ended at its start:\n{log.read_text()[-2000:]}")
    pytest.fail(f"The AWS emulator did not listen within {START_WAIT} seconds:\n{log.read_text()[-2000:]}")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(5)
