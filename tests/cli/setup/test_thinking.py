"""Who has no key of Anthropic's chooses who thinks instead; each choice is tried, and taken back by another one."""

from collections.abc import AsyncIterator

import pytest
from starlette.responses import JSONResponse

from bot.cli.setup.command import Wanted
from simulator import serving, telegram
from simulator.model import ModelServer
from simulator.model_reply import Answer
from simulator.script import reply, text
from tests.adapters.test_other_providers import ROLE, Bedrock
from tests.cli.setup.stage import KEY, Stage
from tests.cli.typist import Typist

OWN_KEY = "key-of-my-own-server"


@pytest.fixture
def here(stage: Stage) -> Stage:
    """Where no stand-in for Anthropic is set up."""
    del stage.settings["ANTHROPIC_BASE_URL"], stage.settings["KABAR_PROVIDER"]
    return stage


@pytest.fixture
async def own_server() -> AsyncIterator[str]:
    server = ModelServer(lambda _: reply(text("ok")), keys=(OWN_KEY,), models=("small", "large"))
    async with serving.serve(server.app) as url:
        yield url


async def other(person: Typist, number: str) -> None:
    await person.answers_to("Number")
    await person.answers_to("Telegram token", telegram.TOKEN)
    await person.answers_to("Anthropic key")
    await person.answers_to("Number", number)


async def test_a_server_of_one_s_own_is_asked_for_its_models(here: Stage, own_server: str) -> None:
    async with here.sitting() as person:
        await other(person, "3")
        await person.answers_to("address", "localhost:8080")
        await person.sees("begins with http")
        await person.answers_to("address", f"{own_server}/v1/messages")
        await person.answers_to("Its key", OWN_KEY)
        await person.answers_to("Number", "2")
        await person.sees(r"large \(messages\)")
        await person.sees("KABAR_MODEL_FEATURES")
        assert OWN_KEY not in person.output
    kept = {name: value for name, value in here.kept().items() if name != "TELEGRAM_BOT_TOKEN"}
    assert kept == {
        "KABAR_PROVIDER": "messages",
        "ANTHROPIC_BASE_URL": own_server,
        "ANTHROPIC_API_KEY": OWN_KEY,
        "KABAR_MODEL": "large",
    }


async def test_a_server_that_refuses_leads_back_to_the_choice(here: Stage, own_server: str) -> None:
    async with here.sitting() as person:
        await other(person, "3")
        await person.answers_to("address", own_server)
        await person.answers_to("Its key", "a b")
        await person.sees("a space")
        await person.answers_to("Anthropic key")
        await person.answers_to("Number", "3")
        await person.answers_to("address", own_server)
        await person.answers_to("Its key")
        await person.answers_to("Name of the model", "small")
        await person.sees("refuses this key")
        await person.answers_to("Anthropic key")
    assert here.kept().keys() == {"TELEGRAM_BOT_TOKEN"}


@pytest.fixture
def role(monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials in the environment, and no region."""
    for name in ("AWS_BEARER_TOKEN_BEDROCK", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {**ROLE, "AWS_CONFIG_FILE": "no-such-file"}.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("role")
async def test_on_bedrock_a_region_and_a_profile_are_all_that_is_asked(here: Stage) -> None:
    async with serving.serve(Bedrock(Answer([text("ok")])).app) as url:
        here.settings["ANTHROPIC_BEDROCK_BASE_URL"] = url
        async with here.sitting() as person:
            await other(person, "2")
            await person.answers_to("AWS region", "eu-central-1")
            await person.answers_to(r"\[eu.anthropic.claude-sonnet-5-5\]")
            await person.sees(r"\(bedrock\)")
    kept = here.kept()
    assert (kept["KABAR_PROVIDER"], kept["AWS_REGION"]) == ("bedrock", "eu-central-1")
    assert kept["KABAR_MODEL"] == "eu.anthropic.claude-sonnet-5-5"


@pytest.mark.usefixtures("role")
async def test_what_bedrock_refuses_is_told_as_bedrock_s(here: Stage) -> None:
    async with serving.serve(Bedrock(Answer([]), JSONResponse({"message": "no"}, 403)).app) as url:
        here.settings |= {"ANTHROPIC_BEDROCK_BASE_URL": url, "AWS_REGION": "us-east-1"}
        async with here.sitting() as person:
            await other(person, "2")
            await person.answers_to(r"\[us.anthropic.claude-sonnet-5-5\]")
            await person.sees("bedrock:InvokeModelWithResponseStream")
    assert "KABAR_PROVIDER" not in here.kept()


async def test_the_demo_model_needs_nothing_and_is_said_to_be_one(here: Stage) -> None:
    async with here.sitting() as person:
        await other(person, "4")
        await person.sees("The demo model, for now")
        await person.answers_to("I wait for it", "telegram:1001")
        await person.sees("kabar run --demo")
        assert await person.ends() == 0
    assert here.kept().keys() == {"TELEGRAM_BOT_TOKEN", "KABAR_OWNER"}


async def test_a_bot_of_webhooks_is_not_left_with_the_demo_model(here: Stage) -> None:
    async with here.sitting(Wanted(url="https://bot.example")) as person:
        await other(person, "4")
        await person.sees("Type a number from 1 to 3")


async def test_a_key_after_all_undoes_an_earlier_choice_but_not_what_the_shell_says(stage: Stage) -> None:
    del stage.settings["KABAR_PROVIDER"]
    lines = ("KABAR_PROVIDER=messages", "ANTHROPIC_BASE_URL=http://127.0.0.1:9", f"ANTHROPIC_API_KEY={OWN_KEY}")
    stage.file.write_text("\n".join((*lines, "KABAR_MODEL=claude-haiku-5-5", f"TELEGRAM_BOT_TOKEN={telegram.TOKEN}\n")))
    async with stage.sitting() as person:
        await person.answers_to("Number")
        await person.answers_to(r"Keep it\?")
        await person.sees("refuses this key")
        await person.answers_to("Anthropic key", KEY)
        await person.sees("✓ claude-sonnet-5-5")
    assert stage.kept() == {"ANTHROPIC_API_KEY": KEY, "TELEGRAM_BOT_TOKEN": telegram.TOKEN}
