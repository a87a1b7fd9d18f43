"""A folder of one's own, and both platforms, before there is a bot."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.cli.setup.stage import Stage, before_anything


@pytest.fixture
async def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    monkeypatch.chdir(tmp_path)
    async with before_anything(tmp_path) as stage:
        yield stage
