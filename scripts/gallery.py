"""Pictures of the answers in tests/gallery as both platforms show them, on a phone and on a desk: ``make gallery``.

Drawn by the simulator's page in this machine's Chromium and its fonts, from what the renderers make of the Markdown.
"""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from PIL import Image
from playwright.async_api import Browser, Page

from bot.channels.slack.render import render as slack
from bot.channels.telegram.render import render as telegram
from scripts.pictures import keep
from simulator.app import Simulator, serve
from tests.browser import launched
from tests.gallery import answers

Json = dict[str, Any]

FOLDER = Path(__file__).parents[1] / "docs" / "gallery"


class View(Struct, frozen=True):
    """A sheet's columns are as wide as the screen they stand for, in pixels; ``tallest`` is where an answer is cut."""

    name: str
    width: int
    columns: int
    tallest: int
    answers: int
    """On one sheet."""


VIEWS = (View("phone", 390, 5, 760, 20), View("desktop", 680, 3, 620, 20))

PAGE = """<!doctype html><meta charset="utf-8">
<link rel="stylesheet" href="/static/colours.css"><link rel="stylesheet" href="/static/style.css">
<link rel="stylesheet" href="/static/messages.css">
<style>
  html, body { height: auto; margin: 0; overflow: visible; background: var(--ground); }
  #sheet { display: flex; align-items: flex-start; gap: 14px; padding: 14px; width: max-content; }
  .column { display: flex; flex-direction: column; gap: 14px; }
  .screen { position: relative; border-radius: 12px; background: var(--wall); box-shadow: var(--shadow); }
  .screen > h2 { margin: 0; padding: 8px 14px; color: var(--wall-ink); font: 600 12px var(--font); }
  .screen > .messages { overflow: hidden; padding: 0 12px 14px; }
  .screen.cut::after { content: "…"; position: absolute; inset: auto 0 0; padding: 50px 14px 4px;
    border-radius: 0 0 12px 12px; background: linear-gradient(transparent, var(--wall) 70%); text-align: center; }
</style><main id="sheet"></main>"""

DRAW = """async ([platform, shown, width, columns, tallest]) => {
  const { h } = await import('/static/dom.js');
  const { telegramText } = await import('/static/telegram_text.js');
  const { markdown } = await import('/static/markdown.js');
  const text = ({ text, entities }) =>
    platform === 'telegram' ? telegramText(text, entities) : markdown(text, (id) => id);
  const message = (part) => h('article', { class: 'message' },
    h('span', { class: 'avatar', 'data-author': 'bot' }, 'K'),
    h('div', { class: 'bubble' }, h('div', { class: 'text' }, text(part))));
  const sheet = document.getElementById('sheet');
  sheet.className = platform;
  const all = Array.from({ length: columns }, () => h('div', { class: 'column' }));
  sheet.append(...all);
  for (const [name, parts] of shown) {
    const messages = h('div', { class: 'messages', style: `max-height: ${tallest}px` }, parts.map(message));
    const screen = h('section', { class: 'screen', style: `width: ${width}px` }, h('h2', {}, name), messages);
    all.reduce((a, b) => (b.offsetHeight < a.offsetHeight ? b : a)).append(screen);
    screen.classList.toggle('cut', messages.scrollHeight > tallest);
  }
}"""


def drawn(platform: str, markdown: str) -> list[Json]:
    """The messages as the page wants them. Of a long answer the first are enough."""
    parts = (telegram if platform == "telegram" else slack)(markdown)[:3]
    return [{"text": part.text.rstrip("\n "), "entities": part.markup} for part in parts]


async def picture(browser: Browser, url: str, platform: str, names: Sequence[str], view: View) -> bytes:
    context = await browser.new_context(viewport={"width": 800, "height": 600}, color_scheme="light")
    page: Page = await context.new_page()
    await page.route(f"{url}/gallery", lambda route: route.fulfill(body=PAGE, content_type="text/html"))
    await page.goto(f"{url}/gallery")
    shown = [[name, drawn(platform, answers()[name])] for name in names]
    await page.evaluate(DRAW, [platform, json.loads(json.dumps(shown)), view.width, view.columns, view.tallest])
    data = await page.locator("#sheet").screenshot()
    await context.close()
    return data


async def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    names = list(answers())
    async with serve(Simulator()) as url, launched() as browser:
        for platform in ("telegram", "slack"):
            for view in VIEWS:
                for first in range(0, len(names), view.answers):
                    data = await picture(browser, url, platform, names[first : first + view.answers], view)
                    file = FOLDER / f"{platform}-{view.name}-{first // view.answers + 1}.png"
                    keep(file, data, Image.Quantize.MAXCOVERAGE)


if __name__ == "__main__":
    asyncio.run(main())
