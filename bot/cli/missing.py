"""What is missing in the settings for a command, all at once: one sentence each that says what to do. Pure."""

import re
from collections.abc import Callable, Iterator, Mapping

from handlers.door import install_faults
from handlers.settings import Settings, lacks_key, many_workspaces

SOME_PLATFORM = (
    "Nothing to listen to. Run kabar setup. By hand: for Telegram set TELEGRAM_BOT_TOKEN (from @BotFather); for Slack "
    "set SLACK_BOT_TOKEN (xoxb-) and {slack}. Without any account: make run."
)


_SHORT = re.compile(r"slack:[^:]*")


def missing_for_all(every: Mapping[str, Settings], missing: Callable[[Settings], list[str]]) -> list[str]:
    """For several bots, by their names; the one without a name need not be there beside others."""
    idle = len(every) > 1 and not _has_account(every[""])
    told = ((name, text) for name, each in every.items() if name or not idle for text in missing(each))
    return [f"{name}: {text}" if name else text for name, text in told]


def _has_account(settings: Settings) -> bool:
    telegram, slack = settings.telegram_bot_token, settings.slack_bot_token or settings.slack_app_token
    return bool(telegram or slack or settings.slack_client_id or settings.kabar_secrets_path)


def missing_for_run(settings: Settings) -> list[str]:
    """For long polling and Socket Mode."""
    return [*_to_poll(settings), *_for_anybody(settings), *_to_think(settings)]


def missing_for_serve(settings: Settings, *, a2a: bool = False) -> list[str]:
    """For webhooks, and other agents' calls. Where secrets lie in SSM, they are read with the first request and not
    known yet."""
    if settings.kabar_secrets_path:
        return list(_for_anybody(settings))
    by_whom = _by_agents(settings) if a2a else _to_be_called(settings)
    installs = install_faults(settings) if many_workspaces(settings) else []
    return [*by_whom, *installs, *_for_anybody(settings), *_to_think(settings)]


def _to_poll(settings: Settings) -> Iterator[str]:
    if not settings.telegram_bot_token and not settings.slack_app_token:
        yield SOME_PLATFORM.format(slack="SLACK_APP_TOKEN (xapp-)")
    elif settings.slack_app_token and not settings.slack_bot_token and not many_workspaces(settings):
        yield "SLACK_APP_TOKEN is set but SLACK_BOT_TOKEN (xoxb-) is missing: the bot could not answer."


def _to_be_called(settings: Settings) -> Iterator[str]:
    slack = settings.slack_bot_token or settings.slack_client_id
    if not settings.telegram_bot_token and not slack:
        yield SOME_PLATFORM.format(slack="SLACK_SIGNING_SECRET")
    if settings.telegram_bot_token and not settings.telegram_webhook_secret:
        yield "Set TELEGRAM_WEBHOOK_SECRET, the secret_token given to setWebhook: without it every update is refused."
    if slack and not settings.slack_signing_secret:
        yield "Set SLACK_SIGNING_SECRET, from the app's Basic Information: without it every event is refused."


def _by_agents(settings: Settings) -> Iterator[str]:
    """Beside them platforms may call, and need not."""
    if not settings.kabar_a2a_keys:
        yield "Set KABAR_A2A_KEYS to name:key for each agent that may call: without it every call is refused."
    if settings.telegram_bot_token or settings.slack_bot_token:
        yield from _to_be_called(settings)


def _for_anybody(settings: Settings) -> Iterator[str]:
    if not settings.kabar_owner and not settings.kabar_allowed_users:
        yield (
            "Nobody may talk to this bot yet. Run kabar setup, which finds out who you are. By hand: set KABAR_OWNER "
            "to your id, such as telegram:42 or slack:U1; set to nobody, the bot tells you when you write to it."
        )
    elif many_workspaces(settings) and _SHORT.fullmatch(settings.kabar_owner):
        yield "Set KABAR_OWNER to slack:<workspace>:<user>, such as slack:T1:U1: the app may be in many workspaces."


def _to_think(settings: Settings) -> Iterator[str]:
    if lacks_key(settings):
        yield (
            "No model answers yet. Run kabar setup. By hand: set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL to a server "
            "of your own that speaks the Messages API."
        )
