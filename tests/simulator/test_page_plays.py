"""People at the page of `make run`, on a phone and at a desk: the real bot, the demo model, a real Chromium."""

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, ViewportSize

from tests.simulator.plays import PLAYS, Play, a_tool_of_an_mcp_server
from tests.simulator.running import running
from tests.simulator.staged import DESKTOP, PHONE

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
async def address(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    folder: Path = tmp_path_factory.mktemp("run")
    async with running(folder) as address:
        yield address


BOTH = [(play, PHONE if number % 2 else DESKTOP) for number, play in enumerate(PLAYS)]
"""Each at one width, both widths in turn: ``python -m scripts.pages`` plays all of them at both."""


@pytest.mark.parametrize(("play", "viewport"), BOTH, ids=[play.__name__ for play, _ in BOTH])
async def test_the_page_plays(browser: Browser, address: str, play: Play, viewport: ViewportSize) -> None:
    await played(browser, address, play, viewport)


async def test_the_page_plays_with_a_real_mcp_server(browser: Browser, tmp_path: Path) -> None:
    agent = tmp_path / "agent"
    agent.mkdir()
    time = {"command": str(Path(sys.executable).with_name("mcp-server-time")), "args": ["--local-timezone", "UTC"]}
    (agent / "mcp.json").write_text(json.dumps({"mcpServers": {"time": {**time, "ask": []}}}))
    async with running(tmp_path, KABAR_AGENT_DIR=str(agent)) as address:
        await played(browser, address, a_tool_of_an_mcp_server, PHONE)


async def played(browser: Browser, address: str, play: Play, viewport: ViewportSize) -> None:
    context = await browser.new_context(viewport=viewport, base_url=address)
    faults: list[str] = []
    try:
        page = await context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        await page.request.post("/sim/reset", data={})
        await page.goto("/")
        await play(page)
    finally:
        await context.close()
    assert faults == []
