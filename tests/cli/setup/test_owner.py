"""Only who knows the code becomes the owner. What others write meanwhile waits for the bot."""

import asyncio

import pytest

from bot.channels.telegram.parse import Me, parse
from bot.cli.setup import slack as slack_side
from bot.cli.setup import telegram as telegram_side
from bot.cli.setup.code import ALPHABET, LENGTH, is_code, new_code
from bot.cli.setup.command import Wanted
from bot.cli.setup.telegram import Account
from bot.cli.setup.wrong import Wrong
from bot.clock import SystemClock
from bot.messages import Person
from simulator import slack, telegram
from simulator.telegram import GROUP
from simulator.world import Fault
from tests.cli.process import WAIT
from tests.cli.setup.stage import ANN, BUDI, KEY, SIGNING_SECRET, Stage
from tests.cli.typist import Typist

CODE = "abcdefghjkmn"
ME = Account(1000001, telegram.USERNAME)


async def heard_in_telegram(stage: Stage) -> Person:
    server = stage.settings["TELEGRAM_API_BASE_URL"]
    return await telegram_side.sender_of(CODE, telegram.TOKEN, server, ME, SystemClock())


def waiting(stage: Stage) -> list[str]:
    """What Telegram still has for the bot."""
    return [update.body["message"]["text"] for update in stage.simulator.webhook.pending.values()]


async def test_whoever_sends_the_code_is_the_one_and_what_others_wrote_stays_for_the_bot(stage: Stage) -> None:
    for words in ("hello", "/start", "/start abcdefghjkmm", f"my code is {CODE}"):
        await stage.sends(BUDI, words)
    await stage.simulator.telegram.say(GROUP, "budi", f"/start@{telegram.USERNAME} {CODE}")
    listening = asyncio.create_task(heard_in_telegram(stage))
    await stage.simulator.world.wait_until(lambda: stage.simulator.world.calls, WAIT)
    await stage.sends(ANN, f"/start {CODE}")
    assert await listening == Person("telegram:1001", "Ann", "en")
    assert waiting(stage)[:2] == ["hello", "/start"]


async def test_a_code_that_nothing_waits_before_is_not_left_to_be_answered(stage: Stage) -> None:
    await stage.sends(ANN, CODE.upper())
    assert (await heard_in_telegram(stage)).id == "telegram:1001"
    assert waiting(stage) == []


async def test_a_code_that_is_passed_on_or_edited_in_makes_nobody_the_owner(stage: Stage) -> None:
    message = {"message_id": 5, "date": 1, "chat": {"id": 1002, "type": "private"}, "from": {"id": 1002}, "text": CODE}
    origin = {"type": "user", "date": 1, "sender_user": {"id": 1001, "first_name": "Ann"}}
    updates = [
        {"message": {**message, "forward_origin": origin}},
        {"edited_message": {**message, "edit_date": 2}},
        {"message": {**message, "from": {"id": 1002, "is_bot": True}}},
    ]
    inbounds = [parse(update, Me(ME.id, ME.username)) for update in updates]
    assert [inbound for inbound in inbounds if inbound is not None and is_code(inbound, CODE)] == []
    whole = parse({"message": message}, Me(ME.id, ME.username))
    assert whole is not None and is_code(whole, CODE)


async def test_a_telegram_that_fails_meanwhile_is_asked_again(stage: Stage) -> None:
    stage.simulator.world.add_fault(Fault("telegram", "getUpdates", "error", status=502, error="Bad Gateway"))
    await stage.sends(ANN, CODE)
    assert (await heard_in_telegram(stage)).id == "telegram:1001"


async def test_where_a_hundred_messages_wait_the_code_can_not_be_seen_and_none_is_thrown_away(stage: Stage) -> None:
    for number in range(100):
        await stage.sends(BUDI, f"message {number}")
    with pytest.raises(Wrong) as wrong:
        await heard_in_telegram(stage)
    assert (wrong.value.text, len(waiting(stage))) == ("telegram_full", 100)


async def test_in_slack_a_direct_message_with_the_code_counts_and_nothing_else_is_taken(stage: Stage) -> None:
    simulator = stage.simulator
    server = stage.settings["SLACK_API_BASE_URL"]
    listening = asyncio.create_task(slack_side.sender_of(CODE, slack.APP_TOKEN, server))
    await simulator.world.wait_until(lambda: simulator.events.sockets, WAIT)
    await simulator.slack.say("C0GENERAL", "budi", f"@Kabar {CODE}")
    await simulator.slack.say("D0BUDI", "budi", "hello")
    await simulator.slack.say("D0ANN", "ann", CODE)
    assert (await listening).id == "slack:T0KABAR:U0ANN"


async def test_a_socket_that_slack_refuses_is_told(stage: Stage) -> None:
    with pytest.raises(Wrong) as wrong:
        await slack_side.sender_of(CODE, "xapp-other", stage.settings["SLACK_API_BASE_URL"])
    assert wrong.value.text == "slack_deaf"


def test_a_code_may_stand_in_a_link_and_is_never_the_same() -> None:
    codes = {new_code() for _ in range(100)}
    assert len(codes) == 100
    assert all(len(code) == LENGTH and set(code) <= set(ALPHABET) for code in codes)


# At the terminal


async def up_to_the_owner(person: Typist, *, webhook: str = "") -> None:
    """Telegram and Claude are settled; ``webhook`` is the answer to whether it shall end."""
    await person.answers_to("Number", "1")
    await person.answers_to("Telegram token", telegram.TOKEN)
    if webhook:
        await person.answers_to("End the delivery", webhook)
    await person.answers_to("Anthropic key", KEY)


async def test_the_id_may_be_typed_while_the_code_is_waited_for_and_a_wrong_one_is_told(stage: Stage) -> None:
    async with stage.sitting() as person:
        await up_to_the_owner(person)
        for wrong in ("ann", "slack:U0ANN", "telegram:777000", "telegram:-5"):
            await person.answers_to("I wait for it", wrong)
            await person.sees("nobody's id")
        await person.answers_to("I wait for it", ANN)
        await person.sees(r"The owner is telegram:1001")
        assert await person.ends() == 0
    assert stage.kept()["KABAR_OWNER"] == "telegram:1001"


async def test_a_person_the_bot_can_not_write_to_yet_is_told_to_press_start(stage: Stage) -> None:
    async with stage.sitting() as person:
        await up_to_the_owner(person)
        await person.answers_to("I wait for it", "telegram:4242")
        await person.sees("press Start")
        await person.answers_to("once more", "n")
        await person.sees("All is set")
        assert await person.ends() == 0


async def test_another_program_that_takes_the_messages_is_named(stage: Stage) -> None:
    conflict = "Conflict: terminated by other getUpdates request"
    stage.simulator.world.add_fault(Fault("telegram", "getUpdates", "error", status=409, error=conflict))
    async with stage.sitting() as person:
        await up_to_the_owner(person)
        await person.sees("Another program takes this bot's messages")
        person.types("telegram:1001")
        await person.sees("The owner is")


async def test_a_webhook_that_is_set_is_ended_only_with_the_person_s_word(stage: Stage) -> None:
    stage.simulator.connect("http://127.0.0.1:9")
    async with stage.sitting() as person:
        await up_to_the_owner(person, webhook="n")
        await person.answers_to("Owner's id", "telegram:1001")
        assert await person.ends() == 0
        assert "kabar run --take-over" in person.output
        assert stage.simulator.webhook.url
    async with stage.sitting() as person:
        await person.answers_to("Number")
        await person.answers_to("Keep it")
        await person.answers_to("End the delivery", "y")
        await person.sees("claude-sonnet-5-5")
        assert not stage.simulator.webhook.url


async def test_a_member_id_that_nobody_in_the_workspace_has_is_told(stage: Stage) -> None:
    async with stage.sitting(Wanted(url="https://bot.example")) as person:
        await person.answers_to("Number", "2")
        await person.answers_to("Slack bot token", slack.BOT_TOKEN)
        await person.answers_to("signing secret", SIGNING_SECRET)
        await person.answers_to("Anthropic key", KEY)
        await person.answers_to("Owner's id", "U0NOBODY")
        await person.sees("Nobody in this workspace")
        await person.answers_to("Owner's id", "slack:T0OTHER:U0ANN")
        await person.sees("nobody's id")
        await person.answers_to("Owner's id", "U0ANN")
        await person.sees(r"The owner is Ann \(slack:T0KABAR:U0ANN\)")
