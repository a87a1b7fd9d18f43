"""Telegram: the token, what the bot may hear in groups, and how updates come.

Source: core.telegram.org/bots/api#getme, #getwebhookinfo, #setwebhook.
"""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from telegram import Bot, User, WebhookInfo
from telegram.error import InvalidToken, NetworkError, TelegramError

from bot.channels.telegram.parse import KINDS
from bot.channels.telegram.send import FloodControl, telegram_bot
from bot.examining import Check, green, red, yellow
from handlers.doctor.kinds import TELEGRAM, another
from handlers.doctor.situation import Situation
from handlers.settings import Settings

PATH = "/telegram"
RECENT = 3600.0
"""Seconds: Telegram tells of the last failed delivery for ever."""
MANY = 20
"""Updates that wait: more than a chatty minute brings."""
TOKEN_NEXT = "Copy the token from @BotFather into TELEGRAM_BOT_TOKEN again."  # noqa: S105  # a sentence
ANEW = "anew"
"""Stands for what tells Telegram the address, the secret and the kinds of updates once more: ``_anew``."""

# What Telegram says of a delivery that failed -> what to do.
FAILURES = (
    ("401", ANEW),
    ("404", ANEW),
    ("403", "Let the public in: the function URL's AuthType must be NONE."),
    ("429", "Raise WebhookConcurrency: the function is throttled."),
    ("certificate", "Give the address a certificate that browsers accept, the whole chain included."),
    ("ssl", "Give the address a certificate that browsers accept, the whole chain included."),
    ("resolve", "Correct the host name of the webhook's address."),
    ("50", "Look into the webhook function's log for why messages can not be stored."),
)


async def examine(settings: Settings, situation: Situation) -> Sequence[Check]:
    if not settings.telegram_bot_token:
        return []
    if is_what := another(settings.telegram_bot_token, TELEGRAM):
        return [red("telegram token", f"TELEGRAM_BOT_TOKEN is {is_what}.", TOKEN_NEXT)]
    try:
        bot = telegram_bot(settings.telegram_bot_token, settings.telegram_api_base_url)
    except InvalidToken:
        return [red("telegram token", "TELEGRAM_BOT_TOKEN is no token.", TOKEN_NEXT)]
    try:
        return await _asked(bot, settings, situation)
    except InvalidToken:
        return [red("telegram token", "Telegram does not know TELEGRAM_BOT_TOKEN.", TOKEN_NEXT)]
    except FloodControl as error:
        says = f"Telegram wants to be asked less often ({error.retry_after:.0f} seconds)."
        return [yellow("telegram token", says, "Run kabar doctor again in a minute.")]
    except NetworkError as error:
        says = f"Telegram can not be reached ({type(error).__name__})."
        return [red("telegram token", says, "Look at TELEGRAM_API_BASE_URL and at the network.")]
    except TelegramError as error:
        return [red("telegram token", f"Telegram refuses: {error.message}.", TOKEN_NEXT)]
    finally:
        await bot.request.shutdown()


async def _asked(bot: Bot, settings: Settings, situation: Situation) -> list[Check]:
    me, info = await bot.get_me(), await bot.get_webhook_info()
    checks = [_name(me, settings), _groups(me)]
    anew = _anew(settings, situation)
    if not situation.by_webhook:
        return [*checks, _polling(info)]
    return [
        *checks,
        _secret(settings, anew),
        _address(info, situation, anew),
        _delivery(info, situation.now, anew),
        _kinds(info, anew),
    ]


def _anew(settings: Settings, situation: Situation) -> str:
    """What the owner does so that Telegram is told the address, the secret and the kinds of updates once more."""
    if situation.deployed:
        return "Have the stack tell Telegram again: aws lambda invoke /dev/stdout --function-name <RegistrarName>"
    if settings.kabar_bot:  # kabar setup is for the bot without a name
        kinds = str([*KINDS]).replace("'", '"')
        wanted = f"{situation.url or f'<address>{situation.path}'}{PATH}"
        return f"Call setWebhook with url={wanted}, this bot's TELEGRAM_WEBHOOK_SECRET and allowed_updates={kinds}."
    return f"Tell Telegram where to deliver: kabar setup --url {situation.url or '<address>'}"


def _name(me: User, settings: Settings) -> Check:
    given = settings.telegram_bot_username.removeprefix("@")
    if given and given != me.username:
        says = f"TELEGRAM_BOT_USERNAME is {given}, but the bot is @{me.username}: mentions in groups are not heard."
        return red("telegram token", says, f"Set TELEGRAM_BOT_USERNAME to {me.username}, or leave it out.")
    return green("telegram token", f"The bot is @{me.username}.")


def _groups(me: User) -> Check:
    if not me.can_join_groups:
        says = "Nobody can add the bot to a group."
        return yellow("telegram groups", says, "In @BotFather, send /setjoingroups and choose Enable.")
    if me.can_read_all_group_messages:
        return green("telegram groups", "Privacy mode is off: the bot hears everything said in its groups.")
    return green("telegram groups", "Privacy mode is on: in groups the bot hears mentions, replies and commands.")


def _polling(info: WebhookInfo) -> Check:
    if info.url:
        says = "A webhook is set, so long polling gets nothing."
        return red("telegram webhook", says, "Remove it with: kabar run --take-over")
    return green("telegram webhook", "None is set, as long polling wants it.")


def _secret(settings: Settings, anew: str) -> Check:
    secret = settings.telegram_webhook_secret
    if not secret:
        says = "TELEGRAM_WEBHOOK_SECRET is missing, so every update is refused."
        return red("telegram secret", says, f"Set TELEGRAM_WEBHOOK_SECRET (kabar setup makes one). {anew}")
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,256}", secret):
        says = "TELEGRAM_WEBHOOK_SECRET holds characters that Telegram does not take."
        return red("telegram secret", says, f"Choose one of 1 to 256 of A-Z a-z 0-9 _ -. {anew}")
    return green("telegram secret", "It is there and of the right form.")


def _address(info: WebhookInfo, situation: Situation, anew: str) -> Check:
    wanted, path = f"{situation.url}{PATH}" if situation.url else "", f"{situation.path}{PATH}"
    if not info.url:
        by_address = wanted or situation.deployed
        ask = anew if by_address else f"For kabar run leave TELEGRAM_WEBHOOK_SECRET out. For kabar serve: {anew}"
        return red("telegram webhook", "None is set, so Telegram delivers nothing.", ask)
    if wanted and info.url != wanted:
        return red("telegram webhook", f"Telegram delivers to {_shown(info.url)}, which is not this bot's.", anew)
    if not wanted and urlsplit(info.url).path != path:
        return red("telegram webhook", f"It is {_shown(info.url)}, whose path is not {path}.", anew)
    return green("telegram webhook", f"Telegram delivers to {_shown(info.url)}.")


def _shown(url: str) -> str:
    """Without what may be a secret: a query, or a user and password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"


def _delivery(info: WebhookInfo, now: float, anew: str) -> Check:
    waiting = info.pending_update_count
    failed_at = info.last_error_date.timestamp() if info.last_error_date else 0.0
    if info.last_error_message and (waiting or now - failed_at < RECENT):
        said = info.last_error_message.lower()
        fitting = (anew if do == ANEW else do for words, do in FAILURES if words in said)
        do = next(fitting, "See whether the address answers from outside: kabar doctor --url <address>")
        says = f"Telegram's last delivery failed: {info.last_error_message} ({waiting} updates wait)."
        return red("telegram delivery", says, do) if waiting else yellow("telegram delivery", says, do)
    if waiting > MANY:
        says = f"{waiting} updates wait although none failed."
        return yellow("telegram delivery", says, "Wait a minute; if they stay, look into the bot's log.")
    return green("telegram delivery", f"No delivery failed lately; {waiting} updates wait.")


def _kinds(info: WebhookInfo, anew: str) -> Check:
    """None named is Telegram's default, which has all that are read here."""
    missing = [kind for kind in KINDS if info.allowed_updates and kind not in info.allowed_updates]
    if missing:
        says = f"Telegram keeps updates back: {', '.join(missing)}."
        return red("telegram updates", says, anew)
    return green("telegram updates", "Every kind that the bot reads is delivered.")
