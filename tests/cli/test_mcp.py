"""Servers of ``agent/mcp.json`` in one local process, from the file to the answer."""

import asyncio
import json
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.local_wake import LocalWake
from bot.channels.terminal import TerminalChannel, typed
from bot.cli.wiring import Local, local
from bot.intake import accept
from bot.mcp.configured import Address
from bot.messages import Person
from handlers.settings import Settings
from simulator.script import Line, ScriptedModel, call, scripted, text
from simulator.serving import serve
from tests.bots import results
from tests.cli.process import ROOT, kabar
from tests.mcp.server import make_server
from tests.mcp.serving import somewhere

WAIT = 60.0  # seconds; a bound, not a pause
ANN = Person("terminal:ann", "Ann", "en")
TIME = {"command": str(Path(sys.executable).parent / "mcp-server-time"), "args": ["--local-timezone", "UTC"], "ask": []}


@asynccontextmanager
async def a_bot(
    folder: Path, servers: dict[str, Any], *script: Line, provider: str = ""
) -> AsyncIterator[tuple[Local, ScriptedModel]]:
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    async with scripted(*script) as model:
        settings = Settings(
            anthropic_base_url=model.url,
            anthropic_api_key="key",
            kabar_provider=provider,
            kabar_owner=ANN.id,
            kabar_data=str(folder / "kabar.sqlite3"),
            kabar_files=str(folder / "files"),
            kabar_agent_dir=str(folder),
        )
        channel = TerminalChannel(lambda _: None)
        async with asyncio.timeout(WAIT), local(settings, {"terminal": channel}, grace=1) as bot:
            yield bot, model


async def hears(bot: Local, words: str) -> None:
    assert isinstance(bot.wake, LocalWake)
    await accept(typed("main", ANN, words, bot.clock.now()), bot.store, bot.wake, bot.clock)
    await bot.wake.drain()


def offered(model: ScriptedModel, request: int) -> set[str]:
    return {tool["name"] for tool in model.requests[request]["tools"]}


async def test_a_program_from_the_package_index_answers_in_a_turn(tmp_path: Path) -> None:
    asks = call("time_convert_time", {"source_timezone": "Asia/Jakarta", "time": "09:30", "target_timezone": "UTC"})
    wrong = call("time_get_current_time", {"timezone": "Mars/Base"})
    async with a_bot(tmp_path, {"time": TIME}, asks, wrong, text("02:30 UTC.")) as (bot, model):
        await hears(bot, "When is half past nine in Jakarta?")
        assert {"time_convert_time", "time_get_current_time"} <= offered(model, 0)
        assert "T02:30:00+00:00" in results(model.requests[1])[0]["content"]
        assert results(model.requests[2])[0]["is_error"]


async def test_what_a_server_offers_anew_is_there_from_the_next_turn_on(tmp_path: Path) -> None:
    server, up = somewhere()
    servers = {"odds": {"url": "${ODDS}", "ask": []}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ODDS", server.at.url)  # type: ignore[union-attr]
        script = (call("odds_grow", {}), text("Grown."), text("Next."))
        async with up(), a_bot(tmp_path, servers, *script) as (bot, model):
            await hears(bot, "grow")
            assert offered(model, 0) == offered(model, 1)
            await hears(bot, "next")
            assert offered(model, 2) - offered(model, 0) == {"odds_more"}


async def test_a_file_with_faults_and_servers_that_are_down_leave_the_bot_as_it_is(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    gone, _ = somewhere()
    servers = {
        "odd": {"command": "x", "token": "y"},
        "secret": {"url": "https://x.example", "headers": {"A": "${NO_SUCH_NAME}"}},
        "gone": {"url": gone.at.url},  # type: ignore[union-attr]
    }
    async with a_bot(tmp_path, servers, text("Hello.")) as (bot, model):
        await hears(bot, "hi")
        assert "calculator" in offered(model, 0)
        assert [name for name in offered(model, 0) if name.startswith(("odd", "secret", "gone", "mcp_"))] == []
    assert "There is no field 'token' here." in caplog.text
    assert "secret: NO_SUCH_NAME is not set." in caplog.text
    assert "server=<gone> | does not say what it offers, it goes on without its tools" in caplog.text


async def test_a_tool_that_is_called_like_the_provider_s_own_is_there_beside_it(tmp_path: Path) -> None:
    server = make_server("code")

    @server.tool()
    async def execution(what: str) -> str:
        """Run something of ours."""
        return what

    async with (
        serve(server.streamable_http_app()) as url,
        a_bot(tmp_path, {"code": {"url": f"{url}/mcp"}}, text("Hello."), provider="anthropic") as (bot, model),
    ):
        await hears(bot, "hi")
        ours = [tool for tool in model.requests[0]["tools"] if tool.get("description") == "Run something of ours."]
        assert len(ours) == 1 and "code_execution" in offered(model, 0)


async def test_everything_an_owner_may_have_makes_the_same_prompt_in_any_process(tmp_path: Path) -> None:
    """Of Python's own seeds no order may depend: the tools and the instructions begin every prompt."""
    folder = tmp_path / "agent"
    shutil.copytree(ROOT / "agent", folder)
    server, up = somewhere()
    gone = {"command": str(tmp_path / "no-such-program")}
    assert isinstance(server.at, Address)
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": {"odds": {"url": server.at.url}, "gone": gone}}))
    peers = {name: {"url": f"https://{name}.example.com", "description": f"All about {name}"} for name in "zyx"}
    (folder / "peers.json").write_text(json.dumps({"peers": peers}))
    async with scripted(text("Hello."), text("Hello.")) as model:
        settings = {
            "KABAR_PROVIDER": "anthropic",
            "ANTHROPIC_API_KEY": "key",
            "ANTHROPIC_BASE_URL": model.url,
            "KABAR_AGENT_DIR": str(folder),
        }
        async with up():
            for seed in ("1", "2"):
                async with kabar(
                    tmp_path, "chat", "--name", seed, settings={**settings, "PYTHONHASHSEED": seed}
                ) as bot:
                    await bot.hears(b"hi", end=True)
                    assert await bot.ends() == 0, bot.output
    first, second = (json.dumps([each["tools"], each["system"]]) for each in model.requests)
    assert first == second
    wanted = {
        "ask_agent",
        "code_execution",
        "delegate",
        "mcp_answer",
        "mcp_resource",
        "odds_echo",
        "skill",
        "web_search",
    }
    assert wanted <= offered(model, 0)
