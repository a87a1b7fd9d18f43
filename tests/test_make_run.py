"""What `make run` starts, used as a person uses it: in a browser, with no key, no account and no network."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.browser import launched
from tests.simulator.running import running

pytestmark = pytest.mark.browser

ANSWER_WAIT = 20_000.0  # milliseconds


@asynccontextmanager
async def page_at(address: str) -> AsyncIterator[Page]:
    async with launched() as browser:
        page = await browser.new_page(viewport={"width": 1280, "height": 800})
        await page.goto(address)
        yield page


async def test_a_person_types_in_both_platforms_and_sees_streamed_answers_with_a_tool(tmp_path: Path) -> None:
    async with running(tmp_path) as address, page_at(address) as page:
        await expect(page.get_by_text("Demo model:")).to_be_visible()
        telegram = page.get_by_role("region", name="Telegram")
        await telegram.get_by_role("textbox").fill("What is 12*7+3?")
        await telegram.get_by_role("textbox").press("Enter")
        answer = telegram.get_by_role("article").last
        await expect(answer).to_contain_text("12*7+3 = 87", timeout=ANSWER_WAIT)
        await telegram.get_by_role("textbox").fill("Write a long answer")
        await telegram.get_by_role("textbox").press("Enter")
        await expect(telegram.get_by_role("log")).to_contain_text("A little code", timeout=ANSWER_WAIT)
        await expect(answer).to_contain_text("edited", timeout=ANSWER_WAIT)  # it grew

        slack = page.get_by_role("region", name="Slack")
        await slack.get_by_role("tab", name="#general").click()
        await slack.get_by_role("textbox").fill("@Kabar what is 2^10?")
        await slack.get_by_role("textbox").press("Enter")
        await expect(slack.get_by_role("log")).to_contain_text("1024", timeout=ANSWER_WAIT)

        await telegram.get_by_role("textbox").fill("my name is Rina")
        await telegram.get_by_role("textbox").press("Enter")
        await expect(telegram.get_by_role("log")).to_contain_text("your name is Rina", timeout=ANSWER_WAIT)
        await telegram.get_by_role("textbox").fill("what is my name?")
        await telegram.get_by_role("textbox").press("Enter")
        await expect(telegram.get_by_role("log")).to_contain_text("you told me", timeout=ANSWER_WAIT)
