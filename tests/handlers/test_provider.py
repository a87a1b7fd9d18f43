"""Which provider the settings mean, and what is known of its models."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from bot.errors import ConfigError
from bot.models import FEATURES
from bot.ports import Prompt
from handlers.provider import Provider
from handlers.settings import Settings, lacks_key, provider, read_settings
from simulator.script import scripted, text

OWN = "http://localhost:8080"


@asynccontextmanager
async def made(**environment: str) -> AsyncIterator[Provider]:
    provider = Provider(read_settings(environment))
    try:
        yield provider
    finally:
        await provider.close()


@pytest.mark.parametrize(
    ("environment", "meant"),
    [
        ({}, "anthropic"),
        ({"ANTHROPIC_BASE_URL": "https://api.anthropic.com/"}, "anthropic"),
        ({"ANTHROPIC_BASE_URL": OWN}, "messages"),
        ({"ANTHROPIC_BASE_URL": OWN, "KABAR_PROVIDER": "anthropic"}, "anthropic"),
        ({"KABAR_PROVIDER": "bedrock"}, "bedrock"),
    ],
)
def test_the_address_says_whose_server_it_is_unless_the_owner_does(environment: dict[str, str], meant: str) -> None:
    assert provider(read_settings(environment)) == meant


def test_only_anthropic_wants_a_key() -> None:
    assert lacks_key(Settings())
    assert not lacks_key(Settings(anthropic_api_key="k"))
    assert not lacks_key(Settings(anthropic_base_url=OWN))
    assert not lacks_key(Settings(kabar_provider="bedrock"))


async def test_without_a_key_the_owner_hears_what_to_set() -> None:
    with pytest.raises(ConfigError, match="ANTHROPIC_API_KEY"):
        Provider(Settings())


async def test_a_server_of_one_s_own_is_reached_without_a_key() -> None:
    async with scripted(text("Hi.")) as script, made(ANTHROPIC_BASE_URL=script.url, KABAR_MODEL="my-own") as own:
        reply = await own.model("my-own").reply(Prompt([], [], [{"role": "user", "content": [text("hi")]}], 10), print)
    assert reply.content == [text("Hi.")]


async def test_a_server_of_one_s_own_runs_no_tools_unless_the_owner_says_so() -> None:
    async with made(ANTHROPIC_BASE_URL=OWN) as own:
        assert not own.facts("claude-sonnet-5-5").server_tools
    async with made(ANTHROPIC_BASE_URL=OWN, KABAR_MODEL_FEATURES="tools,server_tools") as own:
        assert own.facts("claude-sonnet-5-5").server_tools


async def test_bedrock_needs_a_region_and_no_key() -> None:
    async with made(KABAR_PROVIDER="bedrock", AWS_REGION="eu-central-1") as bedrock:
        facts = bedrock.facts("eu.anthropic.claude-sonnet-5-5")
    assert facts.caching and not facts.server_tools


async def test_what_the_settings_say_of_a_model_is_said_of_the_main_one_alone() -> None:
    said = {"KABAR_MODEL": "my-own", "KABAR_MODEL_CONTEXT": "8192", "KABAR_MODEL_FEATURES": "images, tools"}
    async with made(ANTHROPIC_BASE_URL=OWN, **said) as own:
        main, other = own.facts("my-own"), own.facts("glm-5.3")
    assert (main.context, main.images, main.tools, main.caching) == (8192, True, True, False)
    assert (other.context, other.images) == (1_000_000, False)


async def test_a_model_may_be_said_to_have_no_features_at_all() -> None:
    async with made(ANTHROPIC_BASE_URL=OWN, KABAR_MODEL="my-own", KABAR_MODEL_FEATURES="none") as own:
        assert [name for name in FEATURES if getattr(own.facts("my-own"), name)] == []


@pytest.mark.parametrize(
    ("said", "theirs"),
    [({}, True), ({"KABAR_PYTHON": "provider"}, True)] + [({"KABAR_PYTHON": word}, False) for word in ("own", "off")],
)
async def test_the_provider_runs_code_unless_the_owner_says_otherwise(said: dict[str, str], theirs: bool) -> None:
    async with made(ANTHROPIC_API_KEY="k", **said) as ours:
        assert (ours.facts("claude-sonnet-5-5").runs_code, ours.files() is not None) == (theirs, theirs)
        assert ours.facts("claude-sonnet-5-5").server_tools


async def test_where_no_code_is_run_there_are_no_files_for_it() -> None:
    async with made(KABAR_PROVIDER="bedrock", AWS_REGION="eu-central-1") as bedrock:
        assert bedrock.files() is None
    async with made(ANTHROPIC_BASE_URL=OWN, KABAR_MODEL="my-own") as own:
        assert own.files() is None


def test_unknown_providers_features_and_ways_to_run_python_are_named() -> None:
    with pytest.raises(ConfigError) as failed:
        read_settings({"KABAR_PROVIDER": "openai", "KABAR_MODEL_FEATURES": "images,telepathy", "KABAR_PYTHON": "snake"})
    assert "KABAR_PYTHON" in str(failed.value)
    assert "KABAR_PROVIDER" in str(failed.value)
    assert "telepathy" in str(failed.value)
