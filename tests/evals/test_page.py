"""Results as pages: nothing from elsewhere, nobody's words as markup, readable on a phone, in both themes."""

from html.parser import HTMLParser
from pathlib import Path

import pytest
from playwright.async_api import Page

from bot.cli.evals import page
from bot.cli.evals.command import Choice, about
from bot.cli.evals.results import compared, results_of
from bot.cli.evals.solutions import Solver, run_with
from bot.cli.evals.tasks import read_tasks
from handlers.settings import Settings
from tests.browser import launched
from tests.evals.written import write

TASK = """
    why: to see <script>alert(1)</script>
    tags: ["<b>bold</b>"]
    people: {ann: {name: "<i>Ann</i>"}}
    files: {"<u>.txt": "<script>alert(2)</script>"}
    memory: {ann: ["<script>alert(3)</script>"]}
    steps:
      - say: "<img src=https://evil.example/a.png onerror=alert(4)>"
        files: ["<u>.txt"]
        quote: {text: "<script>alert(5)</script>", author: "<b>Tom</b>"}
        expect: [averyverylongwordaveryverylongwordaveryverylongwordaveryverylongwordaveryverylongword]
    solution:
      - calculator: {expression: "<script>alert(6)</script>"}
        remind: {text: "<script>alert(10)</script>", when: in 2 days}
      - write_file: {name: out.md, content: "<script>alert(7)</script>"}
      - |-
        **Fine**, [here](javascript:alert(8)) and ![there](https://evil.example/b.png) <script>alert(9)</script>

        | a | b |
        |---|---|
        | 1 | 2 |
    """


async def written(folder: Path) -> Path:
    """Pages of two runs of a task in which everything tries to be markup, and of a comparison."""
    write(folder, "tuning/markup", TASK)
    trials = await run_with(Solver, read_tasks(folder), Settings(), repeat=2)
    results = results_of(trials, about(Choice(repeat=2), model="<script>model</script>", note="<b>note</b>"))
    page.write_pages(folder / "out", results, trials)
    passed = {**results, "tasks": {name: {**each, "pass_rate": 1.0} for name, each in results["tasks"].items()}}
    (folder / "out/compare.html").write_text(page.comparison(compared(passed, results)))
    return folder / "out"


OURS = frozenset(
    {"html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "a", "b", "span", "small", "strong"}
    | {"div", "dl", "dt", "dd", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "blockquote", "pre"}
    | {"details", "summary", "code"}
)
"""The tags that a page is made of."""


class Seen(HTMLParser):
    """The tags of a page, and their attributes but for what those say."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links |= {value or "" for name, value in attrs if name == "href"}


async def test_what_people_and_models_say_is_text_and_nothing_comes_from_elsewhere(tmp_path: Path) -> None:
    for file in (await written(tmp_path)).glob("*.html"):
        seen = Seen(file.read_text())

        assert seen.tags <= OURS
        assert seen.attributes <= {"lang", "charset", "name", "content", "http-equiv", "class", "href", "open"}
        assert seen.links <= {"index.html", "markup-1.html", "markup-2.html", "https://evil.example/b.png"}
        assert "content=\"default-src 'none'; style-src 'unsafe-inline'\"" in file.read_text()


async def test_a_run_shows_all_that_happened_in_order(tmp_path: Path) -> None:
    text = (await written(tmp_path) / "markup-2.html").read_text()

    order = ["alert(5)", "onerror=alert(4)", "alert(3)", "calculator: failed", "alert(6)", "write_file", "alert(7)"]
    order += ["<strong>Fine</strong>", "<table>", "What leave was asked for", "Files that the bot sent", "markup.yaml"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert "is not in" in text[: places[0]]


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
async def test_pages_fit_their_screen_and_can_be_read_in_both_themes(tmp_path: Path, theme: str, width: int) -> None:
    folder = await written(tmp_path)
    async with launched() as browser:
        context = await browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme="dark" if theme == "dark" else "light",
        )
        tab = await context.new_page()
        troubles: list[str] = []
        tab.on("console", lambda message: troubles.append(message.text))
        tab.on("request", lambda request: None if request.url.startswith("file:") else troubles.append(request.url))
        for name in ("index", "markup-1", "compare"):
            await tab.goto(f"file://{folder / name}.html")
            assert await tab.evaluate("document.documentElement.scrollWidth") <= width, name
            assert await contrast(tab) >= 4.5, name
        assert troubles == []


async def contrast(tab: Page) -> float:
    """The lowest contrast between a text and what is behind it (WCAG 2.2)."""
    lowest: float = await tab.evaluate(
        """() => {
          const rgb = (colour) => colour.match(/[\\d.]+/g).map(Number);
          const linear = (c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
          const light = ([r, g, b]) => [r, g, b].map((c) => linear(c / 255))
            .reduce((sum, c, n) => sum + c * [0.2126, 0.7152, 0.0722][n], 0);
          const behind = (node) => {
            for (; node; node = node.parentElement) {
              const colour = rgb(getComputedStyle(node).backgroundColor);
              if (colour[3] !== 0) return colour;
            }
            return [255, 255, 255];
          };
          const texts = [...document.querySelectorAll('body *')].filter((node) => [...node.childNodes].some(
            (child) => child.nodeType === 3 && child.textContent.trim()));
          return Math.min(...texts.map((node) => {
            const [a, b] = [light(rgb(getComputedStyle(node).color)), light(behind(node))].sort((x, y) => y - x);
            return (a + 0.05) / (b + 0.05);
          }));
        }"""
    )
    return lowest
