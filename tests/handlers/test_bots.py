"""Several bots in one deployment: what each of them sees of the settings."""

from pathlib import Path

import pytest

from bot.errors import ConfigError
from handlers.bots import bot_names, bot_settings, current_settings, environment_of, every_bot, secrets_of

COMMON = {
    "KABAR_BOTS": "lola, news-desk",
    "TELEGRAM_BOT_TOKEN": "1:a",
    "ANTHROPIC_API_KEY": "key",
    "KABAR_MODEL": "claude-sonnet-5-5",
    "KABAR_OWNER": "telegram:42",
    "KABAR_ALLOWED_USERS": "*",
    "LOLA__TELEGRAM_BOT_TOKEN": "2:b",
    "LOLA__KABAR_MODEL": "claude-haiku-5-5",
    "NEWS_DESK__SLACK_BOT_TOKEN": "xoxb-news",
    "PATH": "/bin",
}


def test_a_bot_has_its_own_account_and_its_own_people_and_the_rest_of_all() -> None:
    bots = every_bot(COMMON)
    assert list(bots) == ["", "lola", "news-desk"]
    lola, news = bots["lola"], bots["news-desk"]
    assert (lola.telegram_bot_token, lola.kabar_model, lola.kabar_bot) == ("2:b", "claude-haiku-5-5", "lola")
    assert (news.telegram_bot_token, news.slack_bot_token, news.kabar_model) == ("", "xoxb-news", "claude-sonnet-5-5")
    for named in (lola, news):
        assert (named.anthropic_api_key, named.kabar_owner) == ("key", "telegram:42")
        assert named.kabar_allowed_users == ""
    assert (bots[""].telegram_bot_token, bots[""].slack_bot_token, bots[""].kabar_bot) == ("1:a", "", "")


def test_a_bot_sees_nothing_of_what_is_another_s() -> None:
    for bot, others in (("", ("2:b", "xoxb-news")), ("lola", ("1:a", "xoxb-news")), ("news-desk", ("1:a", "2:b"))):
        seen = environment_of(COMMON, bot)
        assert not set(others) & set(seen.values())
        assert not any("__" in name for name in seen)
        assert seen["PATH"] == "/bin"


def test_without_names_nothing_changes() -> None:
    alone = {name: value for name, value in COMMON.items() if "__" not in name and name != "KABAR_BOTS"}
    assert environment_of(alone, "") == alone
    assert list(every_bot(alone)) == [""]


def test_what_a_bot_keeps_here_is_in_places_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "agent-lola").mkdir()
    environment = {**COMMON, "KABAR_AGENT_DIR": str(tmp_path / "agent"), "KABAR_AGENT_PREFIX": "agent/"}
    lola, news = bot_settings(environment, "lola"), bot_settings(environment, "news-desk")
    assert (lola.kabar_data, lola.kabar_files) == (".data/lola/kabar.sqlite3", ".data/lola/files")
    assert (lola.kabar_agent_dir, lola.kabar_agent_prefix) == (str(tmp_path / "agent-lola"), "agent-lola/")
    assert news.kabar_agent_dir == str(tmp_path / "agent")
    assert bot_settings({**environment, "LOLA__KABAR_DATA": "x.sqlite3"}, "lola").kabar_data == "x.sqlite3"


SECRETS = {
    "TELEGRAM_BOT_TOKEN": "1:a",
    "ANTHROPIC_API_KEY": "key",
    "lola/TELEGRAM_BOT_TOKEN": "2:b",
    "lola/KABAR_ALLOWED_USERS": "telegram:7",
    "lola/KABAR_BUDGET_DAY": "1.5",
    "lola/KABAR_TABLE": "somewhere-else",
    "news-desk/SLACK_BOT_TOKEN": "xoxb-news",
}


def test_what_lies_in_ssm_for_a_bot_is_its_own_and_may_be_any_setting_that_is_read_later() -> None:
    environment = {"KABAR_BOTS": "lola,news-desk", "KABAR_TABLE": "table"}
    lola = current_settings(bot_settings(environment, "lola"), SECRETS)
    assert (lola.telegram_bot_token, lola.anthropic_api_key, lola.kabar_allowed_users) == ("2:b", "key", "telegram:7")
    assert (lola.kabar_budget_day, lola.kabar_table) == (1.5, "table")
    news = current_settings(bot_settings(environment, "news-desk"), SECRETS)
    assert (news.telegram_bot_token, news.slack_bot_token) == ("", "xoxb-news")
    unnamed = current_settings(bot_settings(environment), SECRETS)
    assert (unnamed.telegram_bot_token, unnamed.kabar_budget_day) == ("1:a", 20.0)
    assert set(secrets_of(SECRETS, "news-desk").values()) == {"key", "xoxb-news"}


def test_a_value_in_ssm_that_can_not_be_used_is_named() -> None:
    lola = bot_settings({"KABAR_BOTS": "lola"}, "lola")
    with pytest.raises(ConfigError, match="KABAR_BUDGET_DAY"):
        current_settings(lola, {"lola/KABAR_BUDGET_DAY": "much"})


@pytest.mark.parametrize("names", ["Lola", "lo la", "1st", "telegram", "slack", "a" * 21, "a/b", "a,a", "a_b"])
def test_a_name_that_can_not_be_used_is_told(names: str) -> None:
    with pytest.raises(ConfigError, match="KABAR_BOTS"):
        bot_names(names)


def test_a_bot_that_is_not_there_is_told() -> None:
    with pytest.raises(ConfigError, match="no bot called nobody"):
        bot_settings(COMMON, "nobody")
