"""What is missing is said all at once."""

import pytest

from bot.cli.missing import missing_for_all, missing_for_run, missing_for_serve
from handlers.settings import Settings, read_settings

WHOLE = {
    "TELEGRAM_BOT_TOKEN": "1:a",
    "TELEGRAM_WEBHOOK_SECRET": "s",
    "SLACK_BOT_TOKEN": "b",
    "SLACK_APP_TOKEN": "a",
    "SLACK_SIGNING_SECRET": "s",
    "ANTHROPIC_API_KEY": "k",
    "KABAR_OWNER": "telegram:42",
}


def without(*names: str) -> Settings:
    return read_settings({name: value for name, value in WHOLE.items() if name not in names})


def test_a_whole_set_up_lacks_nothing() -> None:
    assert (missing_for_run(without()), missing_for_serve(without())) == ([], [])


INSTALLS = {"SLACK_CLIENT_ID": "1.2", "SLACK_CLIENT_SECRET": "c", "SLACK_STATE_SECRET": "s" * 32, "SLACK_BOT_TOKEN": ""}


def installs(**changed: str) -> Settings:
    return read_settings({**WHOLE, **INSTALLS, **changed})


def test_an_app_for_many_workspaces_needs_no_token_but_what_installs_it() -> None:
    assert (missing_for_run(installs()), missing_for_serve(installs())) == ([], [])
    for changed, named in (
        ({"SLACK_CLIENT_SECRET": ""}, "SLACK_CLIENT_SECRET"),
        ({"SLACK_STATE_SECRET": "x"}, "SLACK_STATE_SECRET"),
        ({"SLACK_BOT_TOKEN": "xoxb-1"}, "not both"),
        ({"SLACK_SIGNING_SECRET": ""}, "SLACK_SIGNING_SECRET"),
        ({"KABAR_OWNER": "slack:U1"}, "slack:T1:U1"),
    ):
        [missing] = missing_for_serve(installs(**changed))
        assert named in missing


def test_of_several_bots_each_is_named_and_the_one_without_a_name_need_not_be_there() -> None:
    nobody, whole = read_settings({"KABAR_OWNER": "telegram:42", "ANTHROPIC_API_KEY": "k"}), without()
    assert missing_for_all({"": nobody, "lola": whole}, missing_for_serve) == []
    assert missing_for_all({"": nobody}, missing_for_serve) == missing_for_serve(nobody) != []
    [told] = missing_for_all({"": whole, "lola": without("TELEGRAM_WEBHOOK_SECRET")}, missing_for_serve)
    assert told.startswith("lola: Set TELEGRAM_WEBHOOK_SECRET")


def test_nothing_set_is_three_things_missing_in_one_message() -> None:
    for missing in (missing_for_run(Settings()), missing_for_serve(Settings())):
        text = "\n".join(missing)
        assert len(missing) == 3
        assert all(name in text for name in ("TELEGRAM_BOT_TOKEN", "SLACK_BOT_TOKEN", "KABAR_OWNER", "ANTHROPIC"))


@pytest.mark.parametrize(
    ("unset", "named"),
    [
        ({"SLACK_BOT_TOKEN"}, "SLACK_BOT_TOKEN"),
        ({"KABAR_OWNER"}, "KABAR_OWNER"),
        ({"ANTHROPIC_API_KEY"}, "ANTHROPIC_API_KEY"),
        ({"TELEGRAM_BOT_TOKEN", "SLACK_APP_TOKEN"}, "SLACK_APP_TOKEN"),
    ],
)
def test_run_names_the_one_thing_that_is_missing(unset: set[str], named: str) -> None:
    (sentence,) = missing_for_run(without(*unset))
    assert named in sentence


@pytest.mark.parametrize("platform", [{"TELEGRAM_BOT_TOKEN"}, {"SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"}])
def test_one_platform_is_enough(platform: set[str]) -> None:
    assert (missing_for_run(without(*platform)), missing_for_serve(without(*platform))) == ([], [])


@pytest.mark.parametrize("secret", ["TELEGRAM_WEBHOOK_SECRET", "SLACK_SIGNING_SECRET"])
def test_a_webhook_without_its_secret_does_not_start(secret: str) -> None:
    (sentence,) = missing_for_serve(without(secret))
    assert secret in sentence


def test_secrets_that_lie_in_a_store_are_not_asked_for_in_the_environment() -> None:
    assert missing_for_serve(read_settings({"KABAR_SECRETS_PATH": "/kabar", "KABAR_OWNER": "telegram:42"})) == []


def test_a_model_of_one_s_own_needs_no_key() -> None:
    assert missing_for_run(read_settings({**WHOLE, "ANTHROPIC_API_KEY": "", "ANTHROPIC_BASE_URL": "http://x"})) == []


def test_other_agents_need_keys_and_no_platform_but_a_platform_that_is_set_up_needs_all_of_its_own() -> None:
    alone = read_settings({"KABAR_A2A_KEYS": "a:b", "KABAR_OWNER": "a2a:a", "ANTHROPIC_API_KEY": "k"})
    assert missing_for_serve(alone, a2a=True) == []
    assert len(missing_for_serve(alone)) == 1
    [no_keys] = missing_for_serve(without(), a2a=True)
    assert "KABAR_A2A_KEYS" in no_keys
    both = missing_for_serve(without("TELEGRAM_WEBHOOK_SECRET"), a2a=True)
    assert len(both) == 2 and "TELEGRAM_WEBHOOK_SECRET" in both[1]
