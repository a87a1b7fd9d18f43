"""Every setting, read in one place, checked at once.

A field's comment is its documentation; README shows the same list. On Lambda the fields marked secret come from SSM
(``KABAR_SECRETS_PATH``), everywhere else from the environment or the file ``.env``.
"""

from collections.abc import Mapping

from msgspec import Struct

from bot.errors import ConfigError

SECRETS = (
    "TELEGRAM_BOT_TOKEN",
    "TELEGRAM_WEBHOOK_SECRET",
    "SLACK_BOT_TOKEN",
    "SLACK_SIGNING_SECRET",
    "SLACK_APP_TOKEN",
    "ANTHROPIC_API_KEY",
)


LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


class Settings(Struct, frozen=True):
    # Telegram. The token is BotFather's; the secret is ours, 1-256 of A-Z a-z 0-9 _ -, sent back with each update.
    telegram_bot_token: str = ""  # secret
    telegram_webhook_secret: str = ""  # secret; without it /telegram refuses everything
    telegram_bot_username: str = ""  # asked from Telegram (getMe) where it is not given
    telegram_api_base_url: str = "https://api.telegram.org"

    # Slack. Bot token xoxb-, app-level token xapp- (Socket Mode only).
    slack_bot_token: str = ""  # secret
    slack_signing_secret: str = ""  # secret; without it /slack/events refuses everything
    slack_app_token: str = ""  # secret
    slack_api_base_url: str = "https://slack.com/api/"

    # Model: Anthropic, or any server that speaks its Messages API.
    anthropic_api_key: str = ""  # secret
    anthropic_base_url: str = "https://api.anthropic.com"
    kabar_model: str = "claude-sonnet-5-5"
    kabar_max_tokens: int = 8192  # of one reply
    kabar_max_model_calls: int = 20  # in one turn

    # Who may talk to the bot: ids like telegram:42 or slack:T1:U1, separated by commas; * for everyone.
    # Nobody gets in where both are empty.
    kabar_owner: str = ""
    kabar_allowed_users: str = ""

    # Where things are kept: DynamoDB and SQS where both names are set, else one SQLite file.
    kabar_table: str = ""
    kabar_queue_url: str = ""
    kabar_data: str = ".data/kabar.sqlite3"
    aws_endpoint_url: str = ""  # a local emulator; empty means AWS
    kabar_secrets_path: str = ""  # SSM path of the secrets, such as /kabar/prod

    # What the owner writes: AGENTS.md in this folder is the bot's instructions.
    kabar_agent_dir: str = "agent"

    kabar_log_level: str = "INFO"  # or DEBUG, WARNING, ERROR


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Settings from names in capitals. Raises ConfigError naming every value that can not be used."""
    values: dict[str, str | int] = {}
    faults = []
    for name, default in zip(Settings.__struct_fields__, Settings.__struct_defaults__, strict=True):
        text = environment.get(name.upper(), "").strip()
        if not text:
            continue
        if isinstance(default, int):
            if not text.isdecimal() or int(text) == 0:
                faults.append(f"{name.upper()} must be a whole number above 0, not {text!r}.")
                continue
            values[name] = int(text)
        else:
            values[name] = text
    if str(values.get("kabar_log_level", "INFO")).upper() not in LOG_LEVELS:
        faults.append(f"KABAR_LOG_LEVEL must be one of {', '.join(LOG_LEVELS)}, not {values['kabar_log_level']!r}.")
    if faults:
        raise ConfigError(" ".join(faults))
    return Settings(**values)  # type: ignore[arg-type]  # each field is str or int, checked above


def with_secrets(settings: Settings, secrets: Mapping[str, str]) -> Settings:
    """The same settings with secrets from a store, by their names in capitals; unknown names are ignored."""
    known = {name.lower(): secrets[name].strip() for name in SECRETS if secrets.get(name)}
    values = {name: getattr(settings, name) for name in Settings.__struct_fields__}
    return Settings(**{**values, **known})
