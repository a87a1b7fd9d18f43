"""A bot that only listens, and what the tests need that look at the page."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from functools import partial
from typing import Protocol

import pytest
from playwright.async_api import Browser, Error, Page, Request, ViewportSize, expect

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


@pytest.fixture(scope="session")
def idle() -> list[Page]:
    """Tabs that tests have left empty: to open a new one costs a browser four times what the page itself does."""
    return []


@pytest.fixture
async def open_page(browser: Browser, stage: Stage, idle: list[Page]) -> AsyncIterator[Open]:
    """Opens the page, by default on a desktop. A test fails where a script on the page fails, or where the page asks
    anybody but the simulator for anything. ``own`` is for a tab that can not be left as it was found."""
    faults: list[str] = []

    def note_error(error: Error) -> None:
        faults.append(str(error))

    def note_request(asked: Request) -> None:
        faults.extend(_foreign(asked.url, stage.url))

    async def leave(page: Page) -> None:
        page.remove_listener("pageerror", note_error)
        page.remove_listener("request", note_request)
        if page.is_closed() or page.context.pages != [page]:
            await page.context.close()
            return
        await page.mouse.move(0, 0)
        await page.goto("about:blank")
        idle.append(page)

    async with AsyncExitStack() as stack:

        async def open_page(
            *,
            viewport: ViewportSize = DESKTOP,
            scheme: Scheme = "light",
            touch: bool = False,
            who: str = "",
            own: bool = False,
        ) -> Page:
            if idle and not touch and not own:
                page = idle.pop()
                await page.set_viewport_size(viewport)
                await page.emulate_media(color_scheme=scheme)
            else:
                context = await browser.new_context(viewport=viewport, color_scheme=scheme, has_touch=touch)
                page = await context.new_page()
            stack.push_async_callback(page.context.close if touch or own else partial(leave, page))
            page.on("pageerror", note_error)
            page.on("request", note_request)
            await page.goto(f"{stage.url}/#{who}")
            await expect(page.get_by_role("status").first).not_to_contain_text("Connecting")
            return page

        yield open_page
    assert faults == []


def _foreign(address: str, ours: str) -> list[str]:
    return [] if address.startswith((f"{ours}/", f"blob:{ours}/", "data:")) else [address]
