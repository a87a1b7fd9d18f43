"""The steps of a set-up, each of which may be taken again: what is good already is shown and kept with Enter."""

import secrets

from msgspec import Struct

from bot.channels.slack.manifest import creation_link, manifest
from bot.cli.setup import slack, telegram
from bot.cli.setup.talk import Talk
from bot.cli.setup.wrong import Wrong
from handlers.doctor.telegram import PATH


class Way(Struct, frozen=True):
    """How messages come: ``url`` is the bot's public address, "" where it polls or where AWS gives it one later."""

    aws: bool = False
    url: str = ""

    @property
    def by_webhook(self) -> bool:
        return self.aws or bool(self.url)


class Platforms(Struct, frozen=True):
    """Those that people talk to the bot in; None for one that is not used. ``is_free``: Telegram's messages can be had
    by asking for them."""

    telegram: telegram.Account | None
    slack: slack.Account | None
    is_free: bool = False


async def platforms(talk: Talk, way: Way) -> Platforms:
    has_telegram, has_slack = bool(talk.value("TELEGRAM_BOT_TOKEN")), bool(talk.value("SLACK_BOT_TOKEN"))
    usual = (has_slack and 1) + (has_slack and has_telegram and 1)
    names = [talk.text(name) for name in ("telegram", "slack", "both")]
    chosen = await talk.choose(talk.text("platforms"), names, usual)
    for is_there, other, name in ((has_telegram, 1, "Telegram"), (has_slack, 0, "Slack")):
        if is_there and chosen == other:
            talk.say("stays", platform=name, where=talk.keeper.where)
    ours, is_free = await _telegram(talk, way) if chosen != 1 else (None, False)
    theirs = await _slack(talk, way) if chosen else None
    return Platforms(ours, theirs, is_free)


async def _telegram(talk: Talk, way: Way) -> tuple[telegram.Account, bool]:
    base_url = talk.settings().telegram_api_base_url

    async def check(token: str) -> telegram.Account:
        return await telegram.account(token, base_url)

    talk.pause()
    account = await talk.settled("TELEGRAM_BOT_TOKEN", "telegram_token", check, lambda: talk.say("telegram_how"))
    if way.by_webhook != bool(talk.value("TELEGRAM_WEBHOOK_SECRET")):  # whoever has one waits for webhooks
        await talk.keep({"TELEGRAM_WEBHOOK_SECRET": secrets.token_urlsafe(32) if way.by_webhook else ""})
    return account, await _is_free(talk, way, account, base_url)


async def _is_free(talk: Talk, way: Way, account: telegram.Account, base_url: str) -> bool:
    """Whether Telegram hands messages out to whoever asks; a webhook that is in the way may be ended. One of a bot of
    webhooks is most likely that bot's own, and stays."""
    if not account.webhook or way.by_webhook:
        return not account.webhook
    talk.say("webhook_there", url=account.webhook)
    if not await talk.confirm(talk.text("webhook_end", url=account.webhook), default=False):
        talk.say("webhook_left")
        return False
    await telegram.free_from_webhook(talk.value("TELEGRAM_BOT_TOKEN"), base_url)
    return True


async def _slack(talk: Talk, way: Way) -> slack.Account:
    base_url = talk.settings().slack_api_base_url

    async def check_bot(token: str) -> slack.Account:
        return await slack.account(token, base_url)

    async def check_app(token: str) -> slack.Known:
        return await slack.socket(token, base_url, account)

    def explain() -> None:
        talk.say("slack_how")
        talk.terminal.show(creation_link(manifest(way.url)))
        talk.say("slack_bot_how")

    talk.pause()
    account = await talk.settled("SLACK_BOT_TOKEN", "slack_bot_token", check_bot, explain)
    if way.by_webhook:
        secret = slack.signing_secret
        await talk.settled("SLACK_SIGNING_SECRET", "slack_secret", secret, lambda: talk.say("slack_secret_how"))
    else:
        await talk.settled("SLACK_APP_TOKEN", "slack_app_token", check_app, lambda: talk.say("slack_app_how"))
    return account


async def deliver(talk: Talk, way: Way, found: Platforms) -> None:
    """Have Telegram deliver to the bot's own address."""
    if not way.url or found.telegram is None:
        return
    account, address = found.telegram, f"{way.url}{PATH}"
    if account.webhook not in ("", address):
        talk.say("webhook_there", url=account.webhook)
        if not await talk.confirm(talk.text("webhook_end", url=account.webhook), default=True):
            return
    token, base_url = talk.value("TELEGRAM_BOT_TOKEN"), talk.settings().telegram_api_base_url
    try:
        await telegram.deliver_to(way.url, talk.value("TELEGRAM_WEBHOOK_SECRET"), token, base_url)
    except Wrong as wrong:
        talk.wrong(wrong)
    else:
        talk.good(talk.text("webhook_set", url=address))
