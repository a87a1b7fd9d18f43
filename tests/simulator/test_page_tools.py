"""Every tool through the page of `make run`, approvals included: one bot, a phone for each platform, both at once."""

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import Browser

from tests.simulator.running import running
from tests.simulator.staged import PHONE
from tests.simulator.tools_tour import IN_A_HURRY, TOURS, Tour

pytestmark = pytest.mark.browser


@pytest.mark.timeout(300)  # some fifty answers, as fast as the platforms let a bot speak in one chat
async def test_a_person_uses_every_tool_on_both_platforms(browser: Browser, tmp_path: Path) -> None:
    async with running(tmp_path, **IN_A_HURRY) as address:
        faults = await asyncio.gather(*(faults_of(tour, browser, address) for tour in TOURS.values()))
    assert faults == [[], []]


async def faults_of(tour: Tour, browser: Browser, address: str) -> list[str]:
    """What failed in the scripts of the page."""
    context = await browser.new_context(viewport=PHONE, base_url=address)
    faults: list[str] = []
    try:
        page = await context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        await page.goto("/")
        await tour(page, nothing_to_see)
    finally:
        await context.close()
    return faults


async def nothing_to_see() -> None:
    """Pictures are for ``scripts/pages.py``."""
