"""Fixtures that more than one room needs."""

import gc
import io
import logging
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from botocore.loaders import JSONFileLoader

from bot import logs
from tests.clock import FakeClock
from tests.emulator import Account, Emulator, running_emulator


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collecting only adds what stays to the end: nothing of it is garbage, neither now nor in any test."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def files_of_botocore_read_once() -> Iterator[None]:
    """What botocore knows of a service is megabytes of JSON, and each session reads them anew: here every execution
    environment has one."""
    read: dict[str, Any] = {}
    load = JSONFileLoader.load_file

    def load_once(loader: JSONFileLoader, path: str) -> Any:
        if path not in read:
            read[path] = load(loader, path)
        return read[path]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JSONFileLoader, "load_file", load_once)
        yield


@pytest.fixture(scope="session")
def emulator() -> Iterator[Emulator]:
    """One local AWS for the whole run."""
    with running_emulator() as emulator:
        yield emulator


@pytest.fixture
def aws(emulator: Emulator) -> Iterator[Account]:
    """A fresh account: an empty AWS of this test's own."""
    with emulator.account() as account:
        yield account


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """What a function or a command sets up of this process's logging ends with its test."""
    root = logging.getLogger()
    loggers = (root, *map(logging.getLogger, ("bot.words", "bot.metrics", *logs.QUIET, *logs.SILENT)))
    handlers, dressed = root.handlers[:], [(each, each.formatter) for each in root.handlers]
    levels = [(each, each.level) for each in loggers]
    yield
    root.handlers[:] = handlers
    for handler, formatter in dressed:
        handler.setFormatter(formatter)
    for logger, level in levels:
        logger.setLevel(level)


@pytest.fixture
def written(logging_as_before: None) -> io.StringIO:
    """What the root logger writes from now on, once it is set up as the bot does it."""
    stream = io.StringIO()
    logging.getLogger().handlers[:] = [logging.StreamHandler(stream)]
    return stream


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()
