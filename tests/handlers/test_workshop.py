"""The bot as it is wired for a laptop: who runs its Python."""

from pathlib import Path

import pytest

from bot.cli.wiring import local
from handlers.settings import read_settings
from simulator.script import ran, reply, scripted, text
from tests.pictures import PNG
from tests.recorder import RecordingChannel
from tests.say import HERE, inbound


@pytest.mark.parametrize(
    ("said", "offered"),
    [
        ({}, {"code_execution", "upload_files"}),
        ({"KABAR_PYTHON": "provider"}, {"code_execution", "upload_files"}),
        ({"KABAR_PYTHON": "own"}, {"run_python"}),
        ({"KABAR_PYTHON": "off"}, set()),
        ({"KABAR_MODEL": "my-own"}, {"run_python"}),
        ({"KABAR_MODEL": "my-own", "KABAR_PYTHON": "provider"}, set()),
    ],
)
async def test_the_setting_says_who_runs_python(tmp_path: Path, said: dict[str, str], offered: set[str]) -> None:
    channel = RecordingChannel()
    async with scripted(reply(*ran("plot", made={"plot.png": PNG}), text("Here."))) as model:
        environment = {
            "KABAR_PROVIDER": "anthropic",
            "ANTHROPIC_API_KEY": "key",
            "ANTHROPIC_BASE_URL": model.url,
            "KABAR_ALLOWED_USERS": "*",
            **said,
        }
        kept = {"KABAR_DATA": str(tmp_path / "kabar.sqlite3"), "KABAR_FILES": str(tmp_path / "files")}
        async with local(read_settings({**environment, **kept}), {"telegram": channel}) as bot:
            await bot.store.receive(inbound("plot it"))
            await bot.wake.wake(HERE.conversation, "1")
            await channel.until(lambda channel: "Here." in channel.shown)
            if "code_execution" in offered:
                await channel.until(lambda channel: "[plot.png]" in channel.shown)
        names = {tool["name"] for tool in model.requests[0].get("tools", [])}
        assert names & {"code_execution", "run_python", "upload_files"} == offered
