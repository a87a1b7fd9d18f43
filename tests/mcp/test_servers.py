"""What servers offer is known before a turn, the same until its end, and outlives the process."""

import json
import zlib
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.sqlite_store import SQLiteStore
from bot.clock import SystemClock
from bot.mcp.servers import AGAIN, FRESH, LATER, Servers
from bot.toolkit import Toolbox, ToolContext
from tests.mcp.serving import knowing, somewhere
from tests.say import ANN, HERE, call


class Watch(SystemClock):
    """The real clock, put forward by hand."""

    ahead = 0.0

    def now(self) -> float:
        return super().now() + self.ahead


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kabar.sqlite3"


def prompt_of(servers: Servers) -> bytes:
    """What begins every prompt, as it is sent."""
    return json.dumps(Toolbox(servers.tools(())).definitions()).encode()


async def calls(servers: Servers, name: str, **arguments: Any) -> Any:
    context = ToolContext(HERE, ANN, 1_764_500_000)
    return (await Toolbox(servers.tools(())).call(call(name, **arguments), context, 30)).result


async def test_a_server_that_is_down_at_the_start_is_known_from_before_to_the_byte(path: Path) -> None:
    server, up = somewhere()
    async with up(), knowing(path, server) as servers:
        before = prompt_of(servers)
    async with knowing(path, server) as servers:
        assert prompt_of(servers) == before
        result = await calls(servers, "odds_echo", text="hi")
        assert result["is_error"] and result["content"] == "The server odds can not be reached (ConnectError)."
        async with up():
            assert (await calls(servers, "odds_echo", text="hi"))["content"] == "hi"


async def test_one_that_nobody_knows_is_left_out_and_comes_later(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    server, up = somewhere()
    clock = Watch()
    async with knowing(path, server, clock=clock) as servers:
        assert (servers.tools(()), servers.version) == ([], 0)
        assert "server=<odds> | does not say what it offers, it goes on without its tools" in caplog.text
        async with up():
            await servers.load()
            assert servers.version == 0  # not at every message
            clock.ahead = AGAIN
            await servers.load()
            assert servers.version == 1 and "odds_echo" in prompt_of(servers).decode()


async def test_an_hour_later_it_is_asked_again_after_a_turn_and_nothing_changes_where_it_offers_the_same(
    path: Path,
) -> None:
    server, up = somewhere()
    clock = Watch()
    async with up(), knowing(path, server, clock=clock) as servers:
        assert servers.version == 1
        clock.ahead = FRESH
        await servers.rest()
        assert servers.version == 1
    async with knowing(path, server, clock=clock) as servers:
        clock.ahead = 2 * FRESH
        await servers.rest()
        assert servers.version == 1 and servers.tools(())


async def test_what_it_says_to_have_changed_is_in_force_from_the_next_turn_on(path: Path) -> None:
    server, up = somewhere()
    async with up(), knowing(path, server) as servers:
        before = prompt_of(servers)
        while servers.version == 1:  # its word may come a moment after its answer
            assert (await calls(servers, "odds_grow"))["content"] == "grown"
            assert prompt_of(servers) == before
            await servers.rest()
        assert '"odds_more"' in prompt_of(servers).decode()


async def test_a_known_server_that_is_down_holds_up_few_turns(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    server, up = somewhere()
    clock = Watch()
    async with up(), knowing(path, server, clock=clock, idle=0) as servers:
        await servers.rest()
    clock.ahead = FRESH
    async with knowing(path, server, clock=clock) as servers:
        for more, tries in ((0.0, 1), (AGAIN, 1), (LATER, 2)):
            clock.ahead = FRESH + more
            await servers.rest()
            assert caplog.text.count("it goes on as before") == tries
        assert servers.tools(())


async def test_a_server_that_says_so_and_has_not_changed_is_not_asked_at_every_turn(path: Path) -> None:
    server, up = somewhere()
    clock = Watch()
    async with up(), knowing(path, server, clock=clock) as servers:
        while servers.version == 1:
            await calls(servers, "odds_grow")
            await servers.rest()
        at = clock.now()
        for minutes in range(1, 5):  # it grows by what it has: it says that it changed, and has not
            clock.ahead = 60.0 * minutes
            await calls(servers, "odds_grow")
            await servers.rest()
        assert servers.version == 2 and await kept_at(path) - at < 200


async def kept_at(path: Path) -> float:
    """When it was asked last."""
    store = SQLiteStore(path, SystemClock())
    data = await store.kept("mcp:odds:1")
    store.close()
    assert data
    return float(json.loads(zlib.decompress(data))["at"])


async def test_another_process_s_answer_is_taken_over_without_asking(path: Path) -> None:
    server, up = somewhere()
    clock = Watch()
    async with up(), knowing(path, server, clock=clock) as one, knowing(path, server, clock=clock) as other:
        clock.ahead = FRESH
        await calls(one, "odds_grow")
        await one.rest()
        await other.rest()
        assert prompt_of(one) == prompt_of(other)
    async with knowing(path, server, clock=clock) as late:
        assert prompt_of(late) == prompt_of(one)
