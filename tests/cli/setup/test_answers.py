"""Each answer is tried as it is typed: what is wrong with it is said in a sentence, and it is asked again."""

import pytest

from bot.cli.setup import slack as slack_side
from bot.cli.setup import telegram as telegram_side
from bot.cli.setup.command import Wanted
from bot.cli.setup.model import thinker
from bot.cli.setup.texts import say
from bot.cli.setup.wrong import Wrong
from handlers.settings import read_settings
from simulator import slack, telegram
from simulator.model_reply import Refusal
from simulator.script import overloaded
from simulator.slack import SCOPES
from simulator.world import Fault
from tests.cli.setup.first_answer import set_up
from tests.cli.setup.stage import ANN, KEY, MODEL, SECRETS, SIGNING_SECRET, Stage

ADMIN_KEY, OPENAI_KEY = "sk-ant-admin01-abcdefgh", "sk-proj-abcdefgh"
AWAY = "http://127.0.0.1:9"


def server(stage: Stage, name: str) -> str:
    return stage.settings[f"{name}_BASE_URL"]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("123456", "telegram_form"),
        (f"{telegram.TOKEN[:20]} {telegram.TOKEN[20:]}", "spaces"),
        ("1000001:ключ", "characters"),
        (slack.BOT_TOKEN, "is_slack_bot"),
        (KEY, "is_anthropic"),
        ("AKIAABCDEFGHIJKLMNOP", "is_aws"),
        ("1000001:" + "x" * 35, "telegram_unknown"),
    ],
)
async def test_what_is_no_good_telegram_token_is_told_from_one(typed: str, said: str, stage: Stage) -> None:
    with pytest.raises(Wrong) as wrong:
        await telegram_side.account(typed, server(stage, "TELEGRAM_API"))
    assert wrong.value.text == said


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault("telegram", "getMe", "error", status=429, retry_after=7), "telegram_flood"),
        (Fault("telegram", "getMe", "error", status=502, error="Bad Gateway"), "telegram_away"),
        (Fault("telegram", "getWebhookInfo", "error", status=400, error="Bad Request: no"), "telegram_refuses"),
    ],
)
async def test_what_keeps_telegram_from_answering_is_not_taken_for_a_wrong_token(
    fault: Fault, said: str, stage: Stage
) -> None:
    stage.simulator.world.add_fault(fault)
    with pytest.raises(Wrong) as wrong:
        await telegram_side.account(telegram.TOKEN, server(stage, "TELEGRAM_API"))
    assert wrong.value.text == said


@pytest.mark.parametrize(
    ("typed", "error", "said"),
    [
        ("token", "", "slack_bot_form"),
        (slack.APP_TOKEN, "", "is_slack_app"),
        ("xoxp-1-2", "", "is_slack_user"),
        (slack.CONFIG_TOKEN, "", "is_slack_user"),
        ("xoxb-unknown", "", "slack_unknown"),
        (slack.BOT_TOKEN, "token_revoked", "slack_gone"),
        (slack.BOT_TOKEN, "ratelimited", "slack_flood"),
        (slack.BOT_TOKEN, "team_access_not_granted", "slack_refuses"),
    ],
)
async def test_what_is_no_good_bot_token_is_told_from_one(typed: str, error: str, said: str, stage: Stage) -> None:
    if error:
        stage.simulator.world.add_fault(Fault("slack", "auth.test", "error", status=200, error=error))
    with pytest.raises(Wrong) as wrong:
        await slack_side.account(typed, server(stage, "SLACK_API"))
    assert wrong.value.text == said


async def test_missing_scopes_are_named(stage: Stage) -> None:
    stage.simulator.slack.scopes = SCOPES - {"im:history", "files:read"}
    with pytest.raises(Wrong) as wrong:
        await slack_side.account(slack.BOT_TOKEN, server(stage, "SLACK_API"))
    assert "lacks files:read, im:history. Add them" in say(wrong.value.text, "en", **wrong.value.values)


@pytest.mark.parametrize(
    ("typed", "error", "said"),
    [
        ("token", "", "slack_app_form"),
        (slack.BOT_TOKEN, "", "is_slack_bot"),
        ("xapp-1-A0OTHER-1-x", "", "slack_two_apps"),
        ("xapp-1-A0KABAR-1-x", "", "slack_unknown"),
        (slack.APP_TOKEN, "missing_scope", "slack_no_socket"),
    ],
)
async def test_what_is_no_good_app_level_token_is_told_from_one(
    typed: str, error: str, said: str, stage: Stage
) -> None:
    bot = await slack_side.account(slack.BOT_TOKEN, server(stage, "SLACK_API"))
    if error:
        stage.simulator.world.add_fault(Fault("slack", "apps.connections.open", "error", status=200, error=error))
    with pytest.raises(Wrong) as wrong:
        await slack_side.socket(typed, server(stage, "SLACK_API"), bot)
    assert wrong.value.text == said


@pytest.mark.parametrize(
    ("typed", "said"), [("short", "slack_secret_form"), (slack.BOT_TOKEN, "is_slack_bot"), ("a b", "spaces")]
)
async def test_what_is_no_signing_secret_is_told_from_one(typed: str, said: str) -> None:
    with pytest.raises(Wrong) as wrong:
        await slack_side.signing_secret(typed)
    assert wrong.value.text == said


@pytest.mark.parametrize(
    ("answer", "settings", "said"),
    [
        (None, {"ANTHROPIC_API_KEY": "sk-ant-other"}, "model_key"),
        (None, {"ANTHROPIC_API_KEY": ""}, "model_no_key"),
        (None, {"KABAR_MODEL": "claude-none"}, "model_name"),
        (None, {"ANTHROPIC_BASE_URL": AWAY}, "model_away"),
        (Refusal(400, "invalid_request_error", "Your credit balance is too low"), {}, "model_money"),
        (Refusal(403, "permission_error", "no"), {}, "model_access"),
        (Refusal(400, "invalid_request_error", f"What is {KEY}?"), {}, "model_refused"),
        (overloaded(), {}, "model_busy"),
    ],
)
async def test_why_a_model_does_not_answer_is_told(
    answer: Refusal | None, settings: dict[str, str], said: str, stage: Stage
) -> None:
    stage.answer = answer or stage.answer
    with pytest.raises(Wrong) as wrong:
        await thinker(read_settings({**stage.settings, "ANTHROPIC_API_KEY": KEY, **settings}))
    assert wrong.value.text == said
    assert KEY not in say(wrong.value.text, "en", **wrong.value.values)


@pytest.mark.parametrize("language", ["en", "id"])
async def test_a_wrong_answer_is_asked_for_again_and_enter_tries_the_same_one(language: str, stage: Stage) -> None:
    async with stage.sitting(Wanted(language=language)) as person:
        await person.answers_to(say("number", language), "4")
        await person.sees(say("say_number", language, last="3"))
        await person.answers_to(say("number", language))
        await person.answers_to("Token|token", slack.BOT_TOKEN)
        await person.sees(say("is_slack_bot", language).replace("(", r"\(").replace(")", r"\)"))
        assert say("again", language) not in person.output
        stage.simulator.world.add_fault(Fault("telegram", "getMe", "error", status=502, error="Bad Gateway"))
        await person.answers_to(say("telegram_token", language).partition("(")[0], telegram.TOKEN)
        await person.sees("BadGateway|NetworkError")
        await person.answers_to(say("telegram_token", language).partition("(")[0])
        await person.sees("@kabar_simulator_bot")
        assert stage.kept() == {"TELEGRAM_BOT_TOKEN": telegram.TOKEN}
        for typed, words in ((ADMIN_KEY, "anthropic_admin"), (OPENAI_KEY, "openai"), ("sk-ant-no", "key")):
            await person.answers_to(say("anthropic_key", language).partition("(")[0], typed)
            await person.sees(say(f"model_{words}" if words == "key" else f"is_{words}", language).partition(":")[0])
        assert not any(secret in person.output for secret in (*SECRETS, ADMIN_KEY, OPENAI_KEY))


async def test_a_model_that_the_key_may_not_use_can_be_another_of_the_provider_s(stage: Stage) -> None:
    stage.file.write_text("KABAR_MODEL=claude-none\n")
    async with stage.sitting() as person:
        await person.answers_to("Number")
        await person.answers_to("Telegram token", telegram.TOKEN)
        await person.answers_to("Anthropic key", KEY)
        await person.sees("no model claude-none")
        await person.answers_to("Number", "1")
        await person.sees(f"✓ {MODEL}")
    assert stage.kept()["KABAR_MODEL"] == MODEL


async def test_both_languages_end_with_the_bot_s_own_words(stage: Stage) -> None:
    async with stage.sitting() as person:
        await set_up(person, stage)
    ready = [seen for seen in stage.simulator.telegram.messages(ANN) if seen.is_bot]
    assert [seen.text for seen in ready] == [say("ready", "en", slash="/")]
    async with stage.sitting(Wanted(language="id")) as person:
        for _ in range(6):
            await person.answers_to(r"\?.*:")
        await person.sees("kabar doctor --language id")
        assert await person.ends() == 0
    assert stage.simulator.telegram.messages(ANN)[-1].text == say("ready", "id", slash="/")


async def test_at_an_address_slack_s_secret_is_asked_for_and_telegram_is_told_where_to_deliver(stage: Stage) -> None:
    async with stage.sitting(Wanted(url="https://bot.example/")) as person:
        await person.answers_to("Number", "3")
        await person.answers_to("Telegram token", telegram.TOKEN)
        await person.sees("bot.example%2Fslack%2Fevents")
        await person.answers_to("Slack bot token", slack.BOT_TOKEN)
        await person.answers_to("signing secret", SIGNING_SECRET)
        await person.answers_to("Anthropic key", KEY)
        await person.answers_to("I wait for it", "slack:U0ANN")
        await person.sees("Telegram delivers to https://bot.example/telegram")
        await person.sees("kabar serve")
        await person.sees("kabar doctor --url https://bot.example")
        assert await person.ends() == 0
        assert "--language" not in person.output
    kept = stage.kept()
    assert (kept["SLACK_SIGNING_SECRET"], kept["KABAR_OWNER"]) == (SIGNING_SECRET, "slack:T0KABAR:U0ANN")
    assert stage.simulator.webhook.url == "https://bot.example/telegram"
    assert stage.simulator.webhook.secret == kept["TELEGRAM_WEBHOOK_SECRET"]
    assert stage.simulator.slack.messages("D0ANN")[-1].text == say("ready", "en", slash="/kabar ")
