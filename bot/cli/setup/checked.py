"""``kabar setup --check``: what is there is tried, what is missing is named, nothing is asked and nothing changed."""

from collections.abc import AsyncIterator, Awaitable

from bot.cli.setup import slack, telegram
from bot.cli.setup.model import thinker
from bot.cli.setup.steps import Way
from bot.cli.setup.talk import Found, Talk
from bot.cli.setup.wrong import Wrong
from handlers.settings import lacks_key


async def checked(talk: Talk, way: Way) -> int:
    """The exit code: 1 where something is missing or wrong."""
    faults = [fault for step in (_telegram, _slack, _model, _owner) async for fault in step(talk, way)]
    if not talk.value("TELEGRAM_BOT_TOKEN") and not talk.value("SLACK_BOT_TOKEN"):
        faults.insert(0, Wrong("lacks_platform"))
    for fault in faults:
        talk.wrong(fault)
    talk.say("check_bad" if faults else "check_good")
    return 1 if faults else 0


# Each shows what is good and yields what is not.


async def _telegram(talk: Talk, way: Way) -> AsyncIterator[Wrong]:
    settings = talk.settings()
    if not settings.telegram_bot_token:
        return
    tried = telegram.account(settings.telegram_bot_token, settings.telegram_api_base_url)
    account, fault = await _tried(talk, tried)
    if fault:
        yield fault
    if account and account.webhook and not way.by_webhook:
        yield Wrong("webhook_there", url=account.webhook)
    if way.by_webhook and not settings.telegram_webhook_secret:
        yield Wrong("lacks", name="TELEGRAM_WEBHOOK_SECRET")


async def _slack(talk: Talk, way: Way) -> AsyncIterator[Wrong]:
    settings = talk.settings()
    if not settings.slack_bot_token:
        return
    account, fault = await _tried(talk, slack.account(settings.slack_bot_token, settings.slack_api_base_url))
    if fault:
        yield fault
    name = "SLACK_SIGNING_SECRET" if way.by_webhook else "SLACK_APP_TOKEN"
    if not talk.value(name):
        yield Wrong("lacks", name=name)
        return
    if way.by_webhook:
        _, fault = await _tried(talk, slack.signing_secret(settings.slack_signing_secret))
    elif account:
        _, fault = await _tried(talk, slack.socket(settings.slack_app_token, settings.slack_api_base_url, account))
    if fault and account:
        yield fault


async def _model(talk: Talk, way: Way) -> AsyncIterator[Wrong]:
    if lacks_key(talk.settings()):
        yield Wrong("lacks", name="ANTHROPIC_API_KEY")
        return
    _, fault = await _tried(talk, thinker(talk.settings()))
    if fault:
        yield fault


async def _owner(talk: Talk, way: Way) -> AsyncIterator[Wrong]:
    owner = talk.settings().kabar_owner
    if owner in ("", "nobody"):
        yield Wrong("lacks", name="KABAR_OWNER")
        return
    talk.good(talk.text("owner", id=owner))


async def _tried(talk: Talk, check: Awaitable[Found]) -> tuple[Found | None, Wrong | None]:
    try:
        found = await check
    except Wrong as wrong:
        return None, wrong
    talk.good(found.title)
    return found, None
