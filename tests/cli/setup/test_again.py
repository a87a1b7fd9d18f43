"""It may be run again, be cut anywhere, and only look: nothing that was answered is lost."""

import os
from io import StringIO
from pathlib import Path
from typing import TextIO

import pytest

from bot.cli.setup.command import Wanted, setup
from bot.cli.setup.terminal import Terminal
from bot.errors import ConfigError
from simulator import slack, telegram
from simulator.world import Fault
from tests.cli.process import WAIT
from tests.cli.setup.first_answer import set_up
from tests.cli.setup.stage import KEY, SECRETS, Stage


async def test_ctrl_c_at_a_hidden_question_ends_politely_and_keeps_what_was_answered(stage: Stage) -> None:
    async with stage.process() as person:
        await person.answers_to("Number", "3")
        await person.answers_to("Telegram token", telegram.TOKEN)
        await person.sees("Slack bot token")
        assert not person.shows_typing()
        person.presses("\x03")
        await person.sees("Stopped")
        assert person.shows_typing()
        assert await person.ends() == 130
        assert "Stopped. What you answered is kept" in person.output
        assert "Traceback" not in person.output
    assert stage.kept() == {"TELEGRAM_BOT_TOKEN": telegram.TOKEN}


async def test_only_what_a_question_waits_for_is_shown_so_a_token_pasted_early_is_not(stage: Stage) -> None:
    stage.simulator.world.add_fault(Fault("telegram", "getMe", "hang"))
    async with stage.sitting() as person:
        await person.sees("Number")
        assert person.shows_typing()
        person.types("1")
        await person.answers_to("Telegram token", telegram.TOKEN)
        await stage.simulator.world.wait_until(lambda: stage.simulator.world.calls, WAIT)
        assert not person.shows_typing()


async def test_the_end_of_input_is_as_good_as_ctrl_c(stage: Stage) -> None:
    async with stage.sitting(Wanted(language="id")) as person:
        await person.sees("Nomor")
        person.presses("\x04")
        assert await person.ends() == 130
        assert "Dihentikan." in person.output
    assert not stage.file.exists()


async def test_what_is_good_is_kept_with_enter_and_the_file_stays_the_same(stage: Stage) -> None:
    async with stage.sitting() as person:
        await set_up(person, stage)
    before = stage.file.read_bytes()
    async with stage.sitting() as person:
        await person.answers_to(r"Number \[3\]")
        for _ in range(5):
            await person.answers_to(r"Keep it\?")
        assert await person.ends() == 0
    assert stage.file.read_bytes() == before


async def test_what_is_good_no_more_is_asked_for_anew_and_what_is_not_wanted_too(stage: Stage) -> None:
    stage.file.write_text(f"TELEGRAM_BOT_TOKEN=1000001:{'x' * 35}\nSLACK_BOT_TOKEN={slack.BOT_TOKEN}\n")
    async with stage.sitting() as person:
        await person.answers_to(r"Number \[3\]")
        await person.sees("Telegram does not know this token")
        await person.answers_to("Telegram token")  # there is nothing that Enter could try again
        await person.answers_to("Telegram token", telegram.TOKEN)
        assert "try the same one" not in person.output
        await person.answers_to(r"Keep it\?", "maybe")
        await person.answers_to(r"Keep it\?", "n")
        await person.sees("This link makes the Slack app")
    assert stage.kept()["TELEGRAM_BOT_TOKEN"] == telegram.TOKEN


async def test_what_could_not_be_tried_is_tried_again_with_enter(stage: Stage) -> None:
    stage.file.write_text(f"TELEGRAM_BOT_TOKEN={telegram.TOKEN}\n")
    stage.simulator.world.add_fault(Fault("telegram", "getMe", "error", status=502, error="Bad Gateway"))
    async with stage.sitting() as person:
        await person.answers_to("Number")
        await person.sees("press Enter to try the same one")
        await person.answers_to("Telegram token")
        await person.sees("✓ Telegram: @kabar_simulator_bot")


async def test_an_owner_whom_the_bot_can_not_write_to_any_more_is_not_offered(stage: Stage) -> None:
    stage.file.write_text(f"SLACK_BOT_TOKEN={slack.BOT_TOKEN}\nANTHROPIC_API_KEY={KEY}\nKABAR_OWNER=42\n")
    async with stage.sitting() as person:
        await person.answers_to(r"Number \[2\]")
        await person.answers_to(r"Keep it\?")
        await person.answers_to("app-level token, xapp", slack.APP_TOKEN)
        await person.answers_to(r"Keep it\?")
        code = (await person.sees(r"send (\w+) to kabar"))[1]
        await stage.simulator.world.wait_until(lambda: stage.simulator.events.sockets, WAIT)
        await stage.simulator.slack.say("D0ANN", "ann", code)
        assert await person.ends() == 0
    assert stage.kept()["KABAR_OWNER"] == "slack:T0KABAR:U0ANN"


async def test_a_platform_that_is_not_chosen_again_stays_and_that_is_said(stage: Stage) -> None:
    stage.file.write_text(f"TELEGRAM_BOT_TOKEN={telegram.TOKEN}\n")
    async with stage.sitting() as person:
        await person.answers_to(r"Number \[1\]", "2")
        await person.sees("Telegram was set up before and stays so")


async def test_a_value_of_the_shell_that_wins_over_the_file_is_named(stage: Stage) -> None:
    stage.settings["TELEGRAM_BOT_TOKEN"] = "1000001:" + "x" * 35
    async with stage.sitting() as person:
        await person.answers_to("Number")
        await person.answers_to("Telegram token", telegram.TOKEN)
        await person.sees("unset TELEGRAM_BOT_TOKEN")


async def test_from_webhooks_back_to_polling_our_own_secret_goes_with_them(stage: Stage) -> None:
    stage.file.write_text(f"TELEGRAM_BOT_TOKEN={telegram.TOKEN}\nTELEGRAM_WEBHOOK_SECRET=old\n")
    async with stage.sitting() as person:
        await person.answers_to("Number")
        await person.answers_to(r"Keep it\?")
        await person.sees("Anthropic key")
    assert stage.kept() == {"TELEGRAM_BOT_TOKEN": telegram.TOKEN}


async def test_a_check_names_all_that_is_missing_changes_nothing_and_needs_no_terminal(stage: Stage) -> None:
    stage.file.write_text(f"SLACK_BOT_TOKEN={slack.BOT_TOKEN}\n")
    before = stage.file.read_bytes()
    output = StringIO()
    assert await without_a_terminal(stage, Wanted(check=True), output) == 1
    lines = ["SLACK_APP_TOKEN is missing", "ANTHROPIC_API_KEY is missing", "KABAR_OWNER is missing", "kabar setup"]
    assert [line for line in lines if line not in output.getvalue()] == []
    assert stage.file.read_bytes() == before
    assert {call.method for call in stage.simulator.world.calls} == {"auth.test", "bots.info"}


async def without_a_terminal(stage: Stage, wanted: Wanted, output: StringIO) -> int:
    with nothing_typed() as nothing:
        return await setup(wanted, stage.settings, Terminal(nothing, output))


def nothing_typed() -> TextIO:
    return Path(os.devnull).open()


async def test_a_check_of_what_is_whole_finds_nothing(stage: Stage) -> None:
    async with stage.sitting() as person:
        await set_up(person, stage)
    async with stage.sitting(Wanted(check=True)) as person:
        assert await person.ends() == 0
        assert "Nothing is missing." in person.output
    assert not any(secret in person.output for secret in SECRETS)


async def test_a_check_names_what_is_no_good(stage: Stage) -> None:
    stage.file.write_text(f"TELEGRAM_BOT_TOKEN={telegram.TOKEN}\nANTHROPIC_API_KEY=sk-ant-no\nKABAR_OWNER=nobody\n")
    stage.simulator.connect("http://127.0.0.1:9")
    async with stage.sitting(Wanted(check=True, language="id")) as person:
        assert await person.ends() == 1
    for words in ("Telegram mengirim pesan bot ini", "Penyedia menolak kunci ini", "KABAR_OWNER belum ada"):
        assert words in " ".join(person.output.split())


@pytest.mark.parametrize(("language", "said"), [("", "it needs a terminal"), ("id", "jadi perlu terminal")])
async def test_without_a_terminal_it_says_so_and_what_to_do(stage: Stage, language: str, said: str) -> None:
    for aws in (False, True):
        with pytest.raises(ConfigError, match=said):
            await without_a_terminal(stage, Wanted(language=language, aws=aws), StringIO())
    assert not stage.file.exists()


@pytest.mark.parametrize("locale", ["fr_FR.UTF-8", "C.UTF-8", ""])
async def test_who_speaks_neither_language_is_asked_in_both(stage: Stage, locale: str) -> None:
    stage.settings["LANG"] = locale
    async with stage.sitting() as person:
        await person.answers_to("Language / Bahasa", "indonesia")
        await person.answers_to("Language / Bahasa", "2")
        await person.sees("Di mana orang berbicara")


@pytest.mark.parametrize("url", ["bot.example", "ftp://bot.example", "https://bot.example/telegram"])
async def test_an_address_that_nobody_can_deliver_to_is_told(stage: Stage, url: str) -> None:
    with pytest.raises(ConfigError, match="no address that Telegram and Slack"):
        async with stage.sitting(Wanted(url=url)) as person:
            await person.ends()
