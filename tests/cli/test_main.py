"""What ``kabar`` says of itself, and of words that it does not understand."""

from pathlib import Path

import pytest

from bot.cli.main import main
from tests.cli.process import kabar


def test_kabar_alone_shows_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    shown = capsys.readouterr().out
    assert all(f"    {name} " in shown for name in ("setup", "doctor", "run", "logs"))


@pytest.mark.parametrize("command", ["setup", "doctor", "run", "serve", "logs", "import", "manifest"])
def test_a_command_s_help_says_what_it_is_for(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    purpose = capsys.readouterr().out.split("\n\n")[1]
    assert purpose[0].isupper()
    assert purpose.endswith(".")


async def test_a_manifest_for_what_is_no_address_is_refused(tmp_path: Path) -> None:
    async with kabar(tmp_path, "manifest", "--url", "bot.example") as refused:
        assert await refused.ends() == 1
    assert refused.output.startswith("kabar: bot.example is no address")


async def test_a_set_up_is_never_of_another_bot_than_was_named(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("KABAR_BOTS=lola\n")
    async with kabar(tmp_path, "--bot", "lola", "setup", "--check") as refused:
        assert await refused.ends() == 1
    assert "kabar setup is for the bot without a name" in refused.output
    async with kabar(tmp_path, "--bot", "lola", "setup", "--check", "--language", "id") as refused:
        assert await refused.ends() == 1
    assert refused.output.startswith("kabar: kabar setup hanya untuk bot tanpa nama")
