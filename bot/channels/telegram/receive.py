"""Prove that an update comes from Telegram, and know who the bot itself is.

Runs where a webhook starts, so it loads the standard library only: no Telegram SDK.
Source: core.telegram.org/bots/api#setwebhook, #getme.
"""

import asyncio
import hmac
import json
import logging
import time

from bot.channels.telegram.parse import Me
from bot.errors import ConfigError

SECRET_HEADER = "x-telegram-bot-api-secret-token"  # noqa: S105  # the header's name
ASK_TIMEOUT = 3.0
ASK_AGAIN_AFTER = 60.0

logger = logging.getLogger(__name__)


def proved(secret: str, header: str | None) -> bool:
    """Whether the request carries the secret that was given to setWebhook. No secret configured means no.

    Takes the same time wherever the first difference is.
    """
    return bool(secret) and hmac.compare_digest(secret.encode(), (header or "").encode("utf-8", "replace"))


class Identity:
    """Who the bot is: its id stands in its token, its user name is given or asked from Telegram once.

    While Telegram can not be asked, the name is "": in groups the bot then hears replies and commands without a name.
    """

    def __init__(self, token: str, username: str = "", base_url: str = "https://api.telegram.org") -> None:
        number = token.partition(":")[0]
        if not (number.isascii() and number.isdecimal()):
            raise ConfigError("TELEGRAM_BOT_TOKEN must look like 123456:ABC..., as BotFather gave it.")
        self._me = Me(int(number), username.removeprefix("@"))
        self._url = f"{base_url.rstrip('/')}/bot{token}/getMe"
        self._asking = asyncio.Lock()
        self._ask_at = 0.0

    async def me(self) -> Me:
        """Raises nothing. Takes up to three seconds, once a minute at most, while the name is unknown."""
        if self._me.username:
            return self._me
        async with self._asking:
            if not self._me.username and time.monotonic() >= self._ask_at:
                self._ask_at = time.monotonic() + ASK_AGAIN_AFTER
                self._me = Me(self._me.id, await asyncio.to_thread(_ask_username, self._url))
        return self._me


def _ask_username(url: str) -> str:
    """The user name by getMe, or "". The URL holds the token: it is never logged."""
    from urllib.request import urlopen  # only the first start without a configured name pays for this

    try:
        with urlopen(url, timeout=ASK_TIMEOUT) as response:  # noqa: S310  # the owner's own setting
            username = json.load(response)["result"]["username"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        logger.warning("error=<%s> | the bot's user name could not be asked", type(error).__name__)
        return ""
    return username if isinstance(username, str) else ""
