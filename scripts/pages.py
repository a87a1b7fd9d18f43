"""Pictures of the page as people use it, on a phone and on a desk: ``python -m scripts.pages``.

Every play of tests/simulator/plays.py, played with what `make run` starts, and pictured where it ends.
"""

import asyncio
import tempfile
from pathlib import Path

from PIL import Image
from playwright.async_api import Browser, ViewportSize

from scripts.pictures import keep
from tests.browser import launched
from tests.simulator.plays import PLAYS, Play, both_apps_at_once
from tests.simulator.running import running
from tests.simulator.staged import DESKTOP, PHONE

FOLDER = Path(__file__).parents[1] / "docs" / "pages"
VIEWPORTS: dict[str, ViewportSize] = {"phone": PHONE, "desktop": DESKTOP}


async def picture(browser: Browser, address: str, play: Play, viewport: ViewportSize) -> bytes:
    context = await browser.new_context(viewport=viewport, base_url=address)
    page = await context.new_page()
    await page.request.post("/sim/reset", data={})
    await page.goto("/")
    await play(page)
    data = await page.screenshot()
    await context.close()
    return data


async def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        async with running(Path(folder)) as address, launched() as browser:
            data = await picture(browser, address, both_apps_at_once, DESKTOP)
            keep(FOLDER.parent / "page.png", data, Image.Quantize.FASTOCTREE)
            for play in PLAYS:
                for name, viewport in VIEWPORTS.items():
                    file = FOLDER / f"{play.__name__.replace('_', '-')}-{name}.png"
                    keep(file, await picture(browser, address, play, viewport), Image.Quantize.FASTOCTREE)


if __name__ == "__main__":
    asyncio.run(main())
