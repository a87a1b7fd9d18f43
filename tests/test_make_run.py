"""What `make run` starts, used as a person uses it: in a browser, with no key, no account and no network."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from handlers.settings import SECRETS
from tests.browser import launched

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parent.parent
START_WAIT = 30.0
ANSWER_WAIT = 20_000.0  # milliseconds


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[str]:
    """`python -m simulator` with nothing set, its data in an empty folder; yields the address it prints."""
    environment = {name: value for name, value in os.environ.items() if name not in SECRETS and name != "DISPLAY"}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "simulator",
        cwd=folder,
        env={**environment, "PYTHONPATH": str(ROOT), "KABAR_SIMULATOR_PORT": "8520"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout
    try:
        async with asyncio.timeout(START_WAIT):
            while not (found := re.search(rb"http://127\.0\.0\.1:\d+", await process.stdout.readline())):
                assert process.returncode is None
        draining = asyncio.create_task(process.stdout.read())
        yield found[0].decode()
        process.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(process.wait(), START_WAIT) == 0
        await draining
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)  # the bot it started as well
            await process.wait()


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
        await expect(answer).to_contain_text("edited")  # it grew

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
        await page.screenshot(path=tmp_path / "page.png")
        assert (tmp_path / "page.png").stat().st_size > 10_000
