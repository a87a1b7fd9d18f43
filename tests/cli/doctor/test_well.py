"""Where nothing is wrong all is green, and what is printed shows no secret."""

import json
import re
from pathlib import Path

import pytest

from bot.cli.doctor.command import told
from bot.examining import Check, green, red, yellow
from tests.cli.doctor.stage import SECRETS, english_in, polling, webhooks
from tests.cli.process import kabar


def not_green(checks: list[Check]) -> list[Check]:
    return [check for check in checks if check.state != "green"]


async def test_a_bot_that_polls_and_lacks_nothing_is_green(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with polling(tmp_path) as stage:
        checks = await stage.checks()
        calls = [call.method for call in stage.simulator.world.calls]
    assert not_green(checks) == []
    assert [check for check in checks if english_in(check)] == []
    assert {"telegram token", "telegram webhook", "slack scopes", "slack socket mode", "clock"} <= {
        c.name for c in checks
    }
    slack = ["apps.connections.open", "apps.manifest.export", "auth.test", "bots.info"]
    assert sorted(calls) == [*slack, "getMe", "getWebhookInfo"]  # nothing that changes anything


async def test_a_bot_of_webhooks_is_tried_through_its_address_and_keeps_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with webhooks(tmp_path) as stage:
        checks = await stage.checks()
        assert not_green(checks) == []
        assert [check for check in checks if english_in(check)] == []
        assert {"address", "telegram through the address", "slack through the address"} <= {c.name for c in checks}
        assert stage.simulator.world.messages == {}


async def test_as_a_command_it_ends_with_1_for_any_red_and_prints_json_without_a_secret(tmp_path: Path) -> None:
    async with polling(tmp_path) as stage:
        async with kabar(tmp_path, "doctor", "--json", settings=stage.values) as well:
            assert await well.ends() == 0, well.output
        values = {**stage.values, "TELEGRAM_BOT_TOKEN": "1000001:" + "x" * 35, "KABAR_OWNER": ""}
        async with kabar(tmp_path, "doctor", settings=values) as ill:
            assert await ill.ends() == 1
        checks = json.loads(well.output)["checks"]
    assert {check["state"] for check in checks} == {"green"}
    assert "2 red" in ill.output and "@BotFather" in ill.output
    assert not any(secret in well.output + ill.output for secret in (*SECRETS, "x" * 35))


async def test_who_reads_indonesian_is_told_in_indonesian_and_programs_in_english(tmp_path: Path) -> None:
    async with polling(tmp_path) as stage:
        values = {**stage.values, "TELEGRAM_BOT_TOKEN": "", "KABAR_BUDGET_DAY": "0", "KABAR_BUDGET_MONTH": "0"}
        async with kabar(tmp_path, "doctor", settings={**values, "LANG": "id_ID.UTF-8"}) as told:
            assert await told.ends() == 0
        async with kabar(tmp_path, "doctor", "--json", "--language", "id", settings=values) as machine:
            assert await machine.ends() == 0
    lines = told.output.splitlines()
    assert any(line.startswith("hijau   token Slack ") for line in lines)
    assert any(line.startswith("kuning  uang ") for line in lines)
    assert any(line.strip() == "→ Isi KABAR_BUDGET_DAY atau KABAR_BUDGET_MONTH." for line in lines)
    assert re.fullmatch(r"\d+ hijau, 1 kuning, 0 merah", lines[-1])
    assert "Nothing limits what everybody together may spend." in machine.output


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "kabar: Stack kabar tidak bisa dibaca ("),
        ({"KABAR_METRICS_ALL": "yes"}, "kabar: KABAR_METRICS_ALL harus on atau off, bukan 'yes'."),
    ],
    ids=["stack", "setting"],
)
async def test_why_it_can_not_begin_is_told_in_the_language_that_was_named(
    tmp_path: Path, wrong: dict[str, str], words: str
) -> None:
    settings = {**KEYS, **wrong}
    async with kabar(tmp_path, "doctor", "--stack", "kabar", "--language", "id", settings=settings) as command:
        assert await command.ends() == 1
    assert command.output.startswith(words)


@pytest.mark.parametrize("wrong", [{"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, {"AWS_PROFILE": "nobody"}])
async def test_a_stack_that_can_not_be_read_is_named(tmp_path: Path, wrong: dict[str, str]) -> None:
    async with kabar(tmp_path, "doctor", "--stack", "kabar", settings={**KEYS, **wrong}) as command:
        assert await command.ends() == 1
        assert "The stack kabar can not be read" in command.output
        assert "Traceback" not in command.output


KEYS = {"AWS_DEFAULT_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "1", "AWS_SECRET_ACCESS_KEY": "none"}


def test_each_line_has_its_colour_and_what_is_wrong_has_what_to_do_below_it() -> None:
    checks = [green("a", "Well."), yellow("long", "So so.", "Look."), red("b", "Ill.", "Mend it.")]
    plain = told(checks, "en", colours=False)
    assert [line.partition("  ")[0] for line in told(checks, "id", colours=False)] == [
        *("hijau", "kuning", "", "merah", "", "", "1 hijau, 1 kuning, 1 merah")
    ]
    assert plain == [
        "green   a     Well.",
        "yellow  long  So so.",
        "              → Look.",
        "red     b     Ill.",
        "              → Mend it.",
        "",
        "1 green, 1 yellow, 1 red",
    ]
    assert told(checks, "en", colours=True)[0].startswith("\033[32mgreen")
