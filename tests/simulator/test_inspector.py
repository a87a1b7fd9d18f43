"""The turns that the page shows: read from the file of a bot that runs, over the page's door, and in a Chromium."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from msgspec.structs import replace
from playwright.async_api import Browser, Locator, Page, expect

from bot.adapters.sqlite_store import SQLiteStore
from bot.clock import SystemClock
from bot.inspecting import ModelStep
from bot.messages import Asked, Entry, Head, Place, Turn, Usage
from bot.nested import names_in
from bot.ports import Change
from simulator.app import Simulator, serve
from simulator.inspector import MOST_TURNS, Inspector
from tests.say import ANN, GROUP, HERE, NOW, answered, asked, call, inbound, numbered, returned
from tests.simulator.staged import DESKTOP, PHONE
from tests.simulator.test_page import weak_contrasts

FOREVER = 3_000_000_000_000
PAID = Usage(fresh=120, cache_write=900, cache_read=5_200, output=80)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kabar.sqlite3"


@pytest.fixture
def store(path: Path) -> Iterator[SQLiteStore]:
    """The file as the bot's own process holds it."""
    with closing(SQLiteStore(path, SystemClock())) as store:
        yield store


async def keeps(store: SQLiteStore, *entries: Entry, place: Place = HERE, running: Turn | None = None) -> Head:
    head = await store.claim(place.conversation, "bot", FOREVER)
    assert head
    return await store.commit(head, Change(entries, turn=running, release=True))


def question(text: str, turn: str, seconds: int, place: Place = HERE) -> Asked:
    return Asked(turn, (replace(inbound(text, place=place), sent_at=NOW + seconds),))


async def newest(path: Path) -> list[tuple[str, str]]:
    return [(turn.text, turn.state) for turn in await Inspector(path).turns()]


async def test_there_are_none_before_the_bot_began_its_file(path: Path) -> None:
    assert await newest(path) == []
    with closing(SQLiteStore(path, SystemClock())) as store:
        await keeps(store, asked("hello"), answered("Hi."))
        assert await newest(path) == [("hello", "answered")]
    assert await newest(path) == [("hello", "answered")]  # also when the bot has ended


async def test_what_is_no_file_of_the_bots_has_none(path: Path) -> None:
    await asyncio.to_thread(path.write_text, "something else entirely, longer than the head of a database")
    assert await newest(path) == []


async def test_the_newest_of_all_conversations_come_first(path: Path, store: SQLiteStore) -> None:
    await keeps(store, question("one", "a", 1), answered("1", turn="a"), question("three", "b", 3))
    await keeps(store, question("two", "a", 2, GROUP), answered("2", turn="a"), place=GROUP)
    assert await newest(path) == [("three", "unfinished"), ("two", "answered"), ("one", "answered")]


async def test_a_long_conversation_shows_its_newest_turns_only(path: Path, store: SQLiteStore) -> None:
    for number in range(120):
        await keeps(store, question(f"q{number}", f"t{number}", number), answered("Yes.", turn=f"t{number}"))
    found = [text for text, _ in await newest(path)]
    assert (len(found), found[0], found[-1]) == (MOST_TURNS, "q119", f"q{120 - MOST_TURNS}")


async def test_a_turn_that_runs_is_seen_with_what_its_subagent_did_so_far(path: Path, store: SQLiteStore) -> None:
    own = asked("go"), answered(call("delegate", agent="scout", task="north"))
    await keeps(store, *own, running=Turn("t", HERE, ANN, began=NOW, first=1))
    [name] = names_in(HERE.conversation, numbered(*own))
    await keeps(store, asked("north", "n"), answered("Ice.", turn="n"), place=Place(name, "1"))
    [turn] = await Inspector(path).turns()
    assert turn.state == "running"
    [step] = [each for each in turn.steps if isinstance(each, ModelStep)]
    [inside] = [each.inside for each in step.calls]
    assert inside
    assert (inside.text, inside.state) == ("north", "answered")


async def test_a_turn_that_runs_is_seen_however_long_it_is(path: Path, store: SQLiteStore) -> None:
    rounds = [each for _ in range(150) for each in (answered(call()), returned("A"))]
    await keeps(store, asked("go"), *rounds, running=Turn("t", HERE, ANN, began=NOW, first=1))
    assert await newest(path) == [("go", "running")]


async def test_a_chat_whose_name_looks_nested_is_one_all_the_same(path: Path, store: SQLiteStore) -> None:
    await keeps(store, asked("hello"), answered("Hi."), place=Place("a2a:crew:plan/1", "plan/1"))
    assert await newest(path) == [("hello", "answered")]


@asynccontextmanager
async def served(path: Path) -> AsyncIterator[str]:
    async with serve(Simulator(inspector=Inspector(path))) as url:
        yield url


async def turns_at(url: str) -> Any:
    async with aiohttp.ClientSession() as session, session.get(f"{url}/sim/turns") as response:
        return await response.json()


async def test_the_door_tells_turns_as_json(path: Path, store: SQLiteStore) -> None:
    await keeps(store, asked("2+2?"), answered(call(), usage=PAID, took_ms=5), returned("A"), answered("Four."))
    async with served(path) as url:
        [turn] = await turns_at(url)
    assert (turn["who"], turn["text"], turn["state"]) == ("Ann", "2+2?", "answered")
    assert [step["kind"] for step in turn["steps"]] == ["model", "model"]
    assert turn["steps"][0]["calls"][0]["result"] == "ok"
    assert turn["totals"]["tokens"] == {"fresh": 120, "written": 900, "read": 5_200, "output": 80, "cached": 83}


async def test_a_simulator_without_a_bot_of_its_own_has_no_turns() -> None:
    async with serve(Simulator()) as url:
        assert await turns_at(url) == []


# On the page


@asynccontextmanager
async def opened(browser: Browser, path: Path, **more: Any) -> AsyncIterator[tuple[Page, Locator]]:
    """The page with what is behind its scenes."""
    async with served(path) as url:
        context = await browser.new_context(**{"viewport": DESKTOP, **more})
        faults: list[str] = []
        try:
            page = await context.new_page()
            page.on("pageerror", lambda error: faults.append(str(error)))
            await page.goto(url)
            await page.get_by_role("button", name="Behind the scenes").click()
            yield page, page.get_by_role("complementary", name="Behind the scenes")
        finally:
            await context.close()
        assert faults == []


@pytest.mark.browser
async def test_a_turn_is_opened_with_the_keyboard_and_stays_open_while_it_goes_on(
    browser: Browser, path: Path, store: SQLiteStore
) -> None:
    running = Turn("t", HERE, ANN, began=NOW, first=1)
    look = answered(call(expression="2+2"), usage=PAID, model="claude-sonnet-5-5", took_ms=1_240)
    async with opened(browser, path) as (page, scenes):
        await expect(scenes).to_contain_text("No turns yet")
        await keeps(store, asked("what is 2+2?"), look, running=running)
        turn = scenes.get_by_role("list", name="Turns, newest first").locator("summary").first
        await expect(turn).to_contain_text("what is 2+2?")
        await expect(turn).to_contain_text("at work")
        await turn.focus()
        await page.keyboard.press("Enter")
        await expect(scenes).to_contain_text("5\u202f200 from the cache")
        await expect(scenes).to_contain_text("tool_use · 1.2 s")
        await expect(scenes).to_contain_text("83% cached · $0.0038")
        tool = scenes.locator("summary").filter(has_text="calculator")
        await tool.focus()
        await page.keyboard.press("Enter")
        await expect(scenes.get_by_role("group", name="Arguments")).to_contain_text('"expression": "2+2"')

        await keeps(store, returned("A", content="4", took_ms={"A": 30}), answered("Four."))
        await expect(turn).to_contain_text("answered")
        await expect(scenes.get_by_role("group", name="Result")).to_have_text("4")
        await expect(tool).to_be_focused()


@pytest.mark.browser
async def test_the_arrow_keys_move_between_turns_and_platforms(browser: Browser, path: Path) -> None:
    async with opened(browser, path) as (page, scenes):
        await scenes.get_by_role("tab", name="Turns").focus()
        await page.keyboard.press("ArrowRight")
        await expect(scenes.get_by_role("tab", name="Platforms")).to_be_focused()
        await expect(scenes.get_by_label("What happens")).to_be_visible()
        await page.keyboard.press("ArrowLeft")
        await expect(scenes).to_contain_text("No turns yet")


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_an_open_turn_is_readable_and_fits_on_a_phone(
    browser: Browser, path: Path, store: SQLiteStore, scheme: str
) -> None:
    long = "https://example.org/" + "very-long-" * 30
    failed = {"type": "tool_result", "tool_use_id": "A", "content": long, "is_error": True}
    await keeps(
        store,
        asked(long),
        answered(call("web_fetch", url=long), usage=PAID, missed="expired", took_ms=900),
        replace(returned(), results=(failed,), note="No more tools."),
        answered(long),
    )
    async with opened(browser, path, viewport=PHONE, color_scheme=scheme) as (page, scenes):
        await scenes.locator("summary").first.click()
        await scenes.locator("summary").filter(has_text="web_fetch").click()
        await expect(scenes.get_by_role("group", name="Error")).to_be_visible()
        assert await weak_contrasts(page) == []
        sticks_out = "each => each.scrollWidth > each.clientWidth"
        assert not await scenes.evaluate(sticks_out)
