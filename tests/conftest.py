"""Fixtures that more than one room needs."""

from collections.abc import Iterator

import pytest

from tests.clock import FakeClock
from tests.emulator import Account, Emulator, running_emulator


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


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()
