"""Several bots of one owner in one deployment: KABAR_BOTS names those beside the one without a name.

What a bot is (its tokens, who may talk to it) it has of its own: as ``LOLA__TELEGRAM_BOT_TOKEN`` in the environment, or
as ``<KABAR_SECRETS_PATH>/lola/TELEGRAM_BOT_TOKEN`` in SSM. Any other setting it may have of its own in the same way, or
else it has the one that is set for all. Everything that a bot keeps is kept apart by its name.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from bot.errors import ConfigError
from handlers.settings import SECRETS, Settings, read_settings, with_secrets

NAME = re.compile(r"[a-z][a-z0-9-]{0,19}")
"""It stands in addresses, keys and the names of folders."""
TAKEN = frozenset({"a2a", "healthz", "slack", "telegram", "terminal"})

OWN = frozenset(
    {
        "TELEGRAM_BOT_TOKEN",
        "TELEGRAM_WEBHOOK_SECRET",
        "TELEGRAM_BOT_USERNAME",
        "SLACK_BOT_TOKEN",
        "SLACK_SIGNING_SECRET",
        "SLACK_APP_TOKEN",
        "SLACK_CLIENT_ID",
        "SLACK_CLIENT_SECRET",
        "SLACK_STATE_SECRET",
        "KABAR_ALLOWED_USERS",
        "KABAR_APPROVERS",
        "KABAR_A2A_KEYS",
        "KABAR_A2A_URL",
    }
)
"""What no bot has from another: which account it is, and who is let in."""

OF_ALL = frozenset(
    {
        "AWS_ENDPOINT_URL",
        "KABAR_AGENT_DIR",
        "KABAR_AGENT_PREFIX",
        "KABAR_BOT",
        "KABAR_BOTS",
        "KABAR_BUCKET",
        "KABAR_DATA",
        "KABAR_FILES",
        "KABAR_LOG_CONTENT",
        "KABAR_LOG_LEVEL",
        "KABAR_METRICS",
        "KABAR_METRICS_ALL",
        "KABAR_QUEUE_URL",
        "KABAR_SANDBOX_FUNCTION",
        "KABAR_SCHEDULE_GROUP",
        "KABAR_SCHEDULE_ROLE",
        "KABAR_SCHEDULE_TARGET",
        "KABAR_SEAL_KEY",
        "KABAR_SECRETS_PATH",
        "KABAR_TABLE",
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "OTEL_EXPORTER_OTLP_HEADERS",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT",
        "OTEL_SDK_DISABLED",
    }
)
"""What is needed before SSM is read, and so can not come from there."""


def bot_names(text: str) -> tuple[str, ...]:
    """Of KABAR_BOTS. Raises ConfigError naming those that can not be used."""
    given = [name for name in map(str.strip, text.split(",")) if name]
    wrong = [name for name in given if not NAME.fullmatch(name) or name in TAKEN or given.count(name) > 1]
    if wrong:
        raise ConfigError(
            f"KABAR_BOTS: {', '.join(dict.fromkeys(wrong))} can not be the name of a bot. Each name is there once, has "
            f"small letters, digits and hyphens, at most 20, begins with a letter, and is none of "
            f"{', '.join(sorted(TAKEN))}."
        )
    return tuple(given)


def environment_of(environment: Mapping[str, str], bot: str) -> dict[str, str]:
    """What a bot sees of the environment: of other bots nothing. "" is the bot without a name. Raises ConfigError."""
    names = bot_names(environment.get("KABAR_BOTS", ""))
    if bot and bot not in names:
        raise ConfigError(f"There is no bot called {bot}: KABAR_BOTS names {', '.join(names) or 'none'}.")
    others = tuple(map(_prefix, names))
    common = {name: value for name, value in environment.items() if not name.startswith(others) and name != "KABAR_BOT"}
    if not bot:
        return common
    own = {name.removeprefix(_prefix(bot)): environment[name] for name in environment if name.startswith(_prefix(bot))}
    return {**{name: value for name, value in common.items() if name not in OWN}, **own, "KABAR_BOT": bot}


def secrets_of(secrets: Mapping[str, str], bot: str) -> dict[str, str]:
    """The same of SSM's parameters, by their names below the path."""
    common = {name: value for name, value in secrets.items() if "/" not in name}
    if not bot:
        return common
    own = {name.removeprefix(f"{bot}/"): value for name, value in secrets.items() if name.startswith(f"{bot}/")}
    return {**{name: value for name, value in common.items() if name not in OWN}, **own}


def bot_settings(environment: Mapping[str, str], bot: str = "") -> Settings:
    """One bot's. What it keeps on this machine, and what its owner writes, lies in places of its own; where there is no
    folder of its own, the common instructions are its too. Raises ConfigError."""
    seen = environment_of(environment, bot)
    settings = read_settings(seen)
    if not bot:
        return settings
    own = {name.removeprefix(_prefix(bot)) for name in environment if name.startswith(_prefix(bot))}
    places = {
        "kabar_data": str(_inside(settings.kabar_data, bot)),
        "kabar_files": str(_inside(settings.kabar_files, bot)),
        "kabar_agent_prefix": f"{settings.kabar_agent_prefix.rstrip('/')}-{bot}/"
        if settings.kabar_agent_prefix
        else "",
    }
    if Path(f"{settings.kabar_agent_dir}-{bot}").is_dir():
        places["kabar_agent_dir"] = f"{settings.kabar_agent_dir}-{bot}"
    return replace(settings, **{name: place for name, place in places.items() if name.upper() not in own})


def every_bot(environment: Mapping[str, str]) -> dict[str, Settings]:
    """All of them by name, the one without a name first. Raises ConfigError."""
    names = ("", *bot_names(environment.get("KABAR_BOTS", "")))
    return {name: bot_settings(environment, name) for name in names}


def current_settings(settings: Settings, secrets: Mapping[str, str]) -> Settings:
    """A bot's settings with all that lies in SSM for it. Raises ConfigError where something of it can not be used."""
    bot = settings.kabar_bot
    settings = with_secrets(settings, secrets_of(secrets, bot))
    own = {name.removeprefix(f"{bot}/"): value for name, value in secrets.items() if bot and name.startswith(f"{bot}/")}
    given = {name: value for name, value in own.items() if name not in {*SECRETS, *OF_ALL} and value.strip()}
    read = read_settings(given)
    known = [name.lower() for name in given if name.lower() in Settings.__struct_fields__]
    return replace(settings, **{name: getattr(read, name) for name in known})


def _prefix(bot: str) -> str:
    return f"{bot.replace('-', '_').upper()}__"


def _inside(path: str, bot: str) -> Path:
    return Path(path).parent / bot / Path(path).name
