"""What is missing in the settings for a command, all at once: one sentence each that says what to do. Pure."""

from collections.abc import Iterator

from handlers.settings import Settings, lacks_key

SOME_PLATFORM = (
    "Nothing to listen to. Run kabar setup. By hand: for Telegram set TELEGRAM_BOT_TOKEN (from @BotFather); for Slack "
    "set SLACK_BOT_TOKEN (xoxb-) and {slack}. Without any account: make run."
)


def missing_for_run(settings: Settings) -> list[str]:
    """For long polling and Socket Mode."""
    return [*_to_poll(settings), *_for_anybody(settings), *_to_think(settings)]


def missing_for_serve(settings: Settings, *, a2a: bool = False) -> list[str]:
    """For webhooks, and other agents' calls. Where secrets lie in SSM, they are read with the first request and not
    known yet."""
    if settings.kabar_secrets_path:
        return list(_for_anybody(settings))
    by_whom = _by_agents(settings) if a2a else _to_be_called(settings)
    return [*by_whom, *_for_anybody(settings), *_to_think(settings)]


def _to_poll(settings: Settings) -> Iterator[str]:
    if not settings.telegram_bot_token and not settings.slack_app_token:
        yield SOME_PLATFORM.format(slack="SLACK_APP_TOKEN (xapp-)")
    elif settings.slack_app_token and not settings.slack_bot_token:
        yield "SLACK_APP_TOKEN is set but SLACK_BOT_TOKEN (xoxb-) is missing: the bot could not answer."


def _to_be_called(settings: Settings) -> Iterator[str]:
    if not settings.telegram_bot_token and not settings.slack_bot_token:
        yield SOME_PLATFORM.format(slack="SLACK_SIGNING_SECRET")
    if settings.telegram_bot_token and not settings.telegram_webhook_secret:
        yield "Set TELEGRAM_WEBHOOK_SECRET, the secret_token given to setWebhook: without it every update is refused."
    if settings.slack_bot_token and not settings.slack_signing_secret:
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


def _to_think(settings: Settings) -> Iterator[str]:
    if lacks_key(settings):
        yield (
            "No model answers yet. Run kabar setup. By hand: set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL to a server "
            "of your own that speaks the Messages API."
        )
