"""Pictures of the page as people use it, on a phone and on a desk: ``python -m scripts.pages``.

Every play of tests/simulator/plays.py, played with what `make run` starts, and pictured where it ends; and the tours of
tests/simulator/tools_tour.py, on a phone, pictured on their way.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.async_api import Browser, ViewportSize

from scripts.pictures import keep
from tests.browser import launched
from tests.simulator.plays import PLAYS, Play, both_apps_at_once
from tests.simulator.running import running
from tests.simulator.staged import DESKTOP, PHONE
from tests.simulator.tools_tour import IN_A_HURRY, TOURS, Tour

FOLDER = Path(__file__).parents[1] / "docs" / "pages"
IN_A_ROW = 3
GAP = 24  # pixels
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


async def on_tour(browser: Browser, address: str, tour: Tour) -> list[bytes]:
    context = await browser.new_context(viewport=PHONE, base_url=address)
    page = await context.new_page()
    await page.request.post("/sim/reset", data={})
    await page.goto("/")
    pictures: list[bytes] = []

    async def look() -> None:
        await page.mouse.move(0, 0)  # nothing is pointed at on a phone
        pictures.append(await page.screenshot())

    await tour(page, look)
    await context.close()
    return pictures


def side_by_side(pictures: Sequence[bytes]) -> bytes:
    """Of one size, in one picture."""
    images = [Image.open(BytesIO(each)).convert("RGB") for each in pictures]
    width, height = images[0].width + GAP, images[0].height
    sheet = Image.new("RGB", (width * len(images) - GAP, height), "white")
    for number, image in enumerate(images):
        sheet.paste(image, (number * width, 0))
    data = BytesIO()
    sheet.save(data, "PNG")
    return data.getvalue()


@asynccontextmanager
async def played_anew() -> AsyncIterator[str]:
    """The address of what `make run` starts, with nothing kept from before."""
    with tempfile.TemporaryDirectory() as folder:
        async with running(Path(folder), **IN_A_HURRY) as address:
            yield address


async def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    async with launched() as browser:
        async with played_anew() as address:
            data = await picture(browser, address, both_apps_at_once, DESKTOP)
            keep(FOLDER.parent / "page.png", data, Image.Quantize.FASTOCTREE)
            for play in PLAYS:
                for name, viewport in VIEWPORTS.items():
                    file = FOLDER / f"{play.__name__.replace('_', '-')}-{name}.png"
                    keep(file, await picture(browser, address, play, viewport), Image.Quantize.FASTOCTREE)
        async with played_anew() as address:  # a play has changed the language of a chat for good
            for name, tour in TOURS.items():
                pictures = await on_tour(browser, address, tour)
                for number, start in enumerate(range(0, len(pictures), IN_A_ROW), 1):
                    sheet = side_by_side(pictures[start : start + IN_A_ROW])
                    keep(FOLDER / f"tools-{name}-{number}.png", sheet, Image.Quantize.MAXCOVERAGE)


if __name__ == "__main__":
    asyncio.run(main())
