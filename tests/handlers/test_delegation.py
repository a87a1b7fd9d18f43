"""The agents of the owner's folder, as a deployment wires them."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.adapters.local_wake import LocalWake
from bot.channels.terminal import TerminalChannel, typed
from bot.cli.wiring import local
from bot.intake import accept
from bot.messages import Person
from handlers.settings import Settings
from simulator.model_rules import Json
from simulator.script import Line, call, scripted, text
from tests.bots import words

ANN = Person(id="terminal:ann", name="Ann", language="en")
SCOUT = "---\nname: scout\ndescription: Looks ahead.\n{more}---\nScout ahead.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "agent" / "agents").mkdir(parents=True)
    return tmp_path


async def asked(folder: Path, *script: Line, **settings: str) -> list[Json]:
    """The requests that the model got."""
    async with scripted(*script) as model:
        changed = Settings(
            anthropic_base_url=model.url,
            kabar_provider="anthropic",
            anthropic_api_key="key",
            kabar_owner=ANN.id,
            kabar_data=str(folder / "kabar.sqlite3"),
            kabar_files=str(folder / "files"),
            kabar_agent_dir=str(folder / "agent"),
        )
        changed = replace(changed, **settings)
        async with local(changed, {"terminal": TerminalChannel(lambda _: None)}) as bot:
            inbound = typed("main", ANN, "go", bot.clock.now())
            await accept(inbound, bot.store, bot.wake, bot.clock)
            assert isinstance(bot.wake, LocalWake)
            await bot.wake.drain()
        return model.requests


def names(request: Json) -> list[str]:
    return [tool["name"] for tool in request["tools"]]


DELEGATE = call("delegate", {"agent": "scout", "task": "Look north."})


async def test_an_agent_has_its_own_instructions_and_all_tools_that_only_read(folder: Path) -> None:
    (folder / "agent" / "agents" / "scout.md").write_text(SCOUT.format(more=""))
    bot, scout, _ = await asked(folder, DELEGATE, text("Ice."), text("Seen."))
    [offered] = [tool for tool in bot["tools"] if tool["name"] == "delegate"]
    assert offered["description"].endswith("There are:\n- scout: Looks ahead.")
    assert offered["input_schema"]["properties"]["agent"]["enum"] == ["scout"]
    assert scout["system"][0]["text"].endswith("Scout ahead.")
    assert words(scout)[1:] == ["Look north."]
    assert {"read_file", "web_search", "web_fetch", "calculator", "reopen"} <= set(names(scout))
    assert set(names(scout)) & {"write_file", "remember", "remind", "run_python", "delegate"} == set()


async def test_a_cheap_model_does_the_tasks_unless_the_file_names_one(folder: Path) -> None:
    file, script = folder / "agent" / "agents" / "scout.md", (DELEGATE, text("Ice."), text("Seen."))
    file.write_text(SCOUT.format(more=""))
    models = [each["model"] for each in await asked(folder, *script)]
    assert models == ["claude-sonnet-5-5", "claude-haiku-5-5", "claude-sonnet-5-5"]
    models = [each["model"] for each in await asked(folder, *script, kabar_cheaper_model="claude-fable-5-1")]
    assert models[1] == "claude-fable-5-1"
    file.write_text(SCOUT.format(more="model: claude-opus-5-5\n"))
    assert [each["model"] for each in await asked(folder, *script)][1] == "claude-opus-5-5"


async def test_an_agent_has_no_more_tools_than_its_file_names(folder: Path) -> None:
    (folder / "agent" / "agents" / "scout.md").write_text(SCOUT.format(more="tools: [calculator, write_file]\n"))
    _, scout, _ = await asked(folder, DELEGATE, text("Ice."), text("Seen."))
    assert names(scout) == ["calculator", "write_file"]


async def test_a_faulty_agent_is_logged_with_its_line_and_no_agent_is_no_tool(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "agent" / "agents" / "scout.md").write_text(SCOUT.format(more="tools: [telescope]\n"))
    [bot] = await asked(folder, text("Alone."))
    assert "delegate" not in names(bot)
    assert "file=<agents/scout.md>, line=<4> | There is no tool 'telescope'." in caplog.text
