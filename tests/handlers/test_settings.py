"""Every value that can not be used is named, all of them at once."""

import pytest

from bot.errors import ConfigError
from handlers.settings import SECRETS, Settings, read_settings, with_secrets


def test_nothing_set_is_the_defaults() -> None:
    assert read_settings({}) == Settings()
    assert read_settings({"KABAR_MAX_TOKENS": "  ", "KABAR_LOG_LEVEL": ""}) == Settings()


def test_values_are_read_by_their_names_in_capitals_without_spaces_around_them() -> None:
    settings = read_settings({"KABAR_OWNER": " telegram:42\n", "KABAR_MAX_TOKENS": "100", "PATH": "/bin"})
    assert (settings.kabar_owner, settings.kabar_max_tokens) == ("telegram:42", 100)


def test_all_faults_are_named_together() -> None:
    with pytest.raises(ConfigError) as failed:
        read_settings({"KABAR_MAX_TOKENS": "many", "KABAR_MAX_MODEL_CALLS": "0", "KABAR_LOG_LEVEL": "loud"})
    assert all(name in str(failed.value) for name in ("KABAR_MAX_TOKENS", "KABAR_MAX_MODEL_CALLS", "KABAR_LOG_LEVEL"))


@pytest.mark.parametrize("number", ["-1", "1.5", "1e3", "0", "x"])
def test_a_number_is_whole_and_above_zero(number: str) -> None:
    with pytest.raises(ConfigError, match="whole number above 0"):
        read_settings({"KABAR_MAX_TOKENS": number})


def test_budgets_are_dollars_and_zero_is_no_limit() -> None:
    settings = read_settings({"KABAR_BUDGET_DAY": "0", "KABAR_BUDGET_MONTH": "12.50", "KABAR_MESSAGES_PER_MINUTE": "0"})
    assert (settings.kabar_budget_day, settings.kabar_budget_month) == (0.0, 12.5)
    assert settings.kabar_messages_per_minute == 0


@pytest.mark.parametrize("amount", ["-1", "1e3", "nan", "inf", "$2", "2,50", "0.0000001"])
def test_what_is_no_amount_of_dollars_is_refused(amount: str) -> None:
    with pytest.raises(ConfigError, match="KABAR_BUDGET_DAY must be dollars"):
        read_settings({"KABAR_BUDGET_DAY": amount})


@pytest.mark.parametrize("level", ["debug", "INFO", "Warning"])
def test_a_log_level_may_be_written_in_any_case(level: str) -> None:
    assert read_settings({"KABAR_LOG_LEVEL": level}).kabar_log_level == level


def test_secrets_of_a_store_win_and_others_stay() -> None:
    before = read_settings({"TELEGRAM_BOT_TOKEN": "old", "SLACK_BOT_TOKEN": "kept"})
    after = with_secrets(before, {"TELEGRAM_BOT_TOKEN": " new\n", "SLACK_BOT_TOKEN": "", "KABAR_OWNER": "telegram:6"})
    assert (after.telegram_bot_token, after.slack_bot_token, after.kabar_owner) == ("new", "kept", "")


def test_every_secret_is_a_setting() -> None:
    assert {name.lower() for name in SECRETS} <= set(Settings.__struct_fields__)
