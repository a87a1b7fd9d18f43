"""A bot that only listens, and what the tests need that look at the page."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Protocol

import pytest
from playwright.async_api import Browser, Page, ViewportSize, expect

from simulator.app import Simulator
from tests.browser import launched
from tests.simulator.recorder import Recorder
from tests.simulator.staged import DESKTOP, Open, Scheme, Stage, staged


class Simulated(Protocol):
    """Every file's own stage."""

    simulator: Simulator


@pytest.fixture
async def listener(stage: Simulated) -> AsyncIterator[Recorder]:
    """The bot that this stage's simulator talks to."""
    recorder = Recorder()
    async with recorder.served() as url:
        stage.simulator.connect(url)
        yield recorder


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with launched() as browser:
        yield browser


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with staged() as stage:
        yield stage


@pytest.fixture
async def open_page(browser: Browser, stage: Stage) -> AsyncIterator[Open]:
    """Opens the page, by default on a desktop. A test fails where a script on the page fails, or where the page asks
    anybody but the simulator for anything."""
    faults: list[str] = []
    async with AsyncExitStack() as stack:

        async def open_page(
            *, viewport: ViewportSize = DESKTOP, scheme: Scheme = "light", touch: bool = False, who: str = ""
        ) -> Page:
            context = await browser.new_context(viewport=viewport, color_scheme=scheme, has_touch=touch)
            stack.push_async_callback(context.close)
            page = await context.new_page()
            page.on("pageerror", lambda error: faults.append(str(error)))
            page.on("request", lambda asked: faults.extend(_foreign(asked.url, stage.url)))
            await page.goto(f"{stage.url}/#{who}")
            await expect(page.get_by_role("status").first).not_to_contain_text("Connecting")
            return page

        yield open_page
    assert faults == []


def _foreign(address: str, ours: str) -> list[str]:
    return [] if address.startswith((f"{ours}/", f"blob:{ours}/", "data:")) else [address]
