"""The webhook and the menu of commands, over plain HTTP: where only these are set, no SDK is loaded.

Source: core.telegram.org/bots/api#setwebhook, #getwebhookinfo, #deletewebhook, #setmycommands.
"""

import json
import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from bot.channels.fields import number_at, object_at, text_at
from bot.channels.telegram.parse import KINDS
from bot.errors import ConfigError
from bot.messages import Json

TIMEOUT = 5.0
PAUSES = (1.0, 2.0, 4.0, 8.0)
"""Seconds before each repeat. A function URL that was just made takes some of them until its name is known."""
LONGEST_PAUSE = 10.0
MOST_CONNECTIONS = 100
"""Telegram's own limit."""
UNKNOWN_TOKEN = "Telegram does not know TELEGRAM_BOT_TOKEN. Copy it from @BotFather again."  # noqa: S105  # a sentence

logger = logging.getLogger(__name__)


class Webhook:
    """One bot's webhook. Each method is one or more calls; all raise ConfigError, whose sentence is for the owner, and
    never names the token."""

    def __init__(self, token: str, base_url: str, pauses: Sequence[float] = PAUSES) -> None:
        self._url = f"{base_url.rstrip('/')}/bot{token}/"
        self._pauses = pauses

    def username(self) -> str:
        return text_at(self._call("getMe"), "username")

    def address(self) -> str:
        """Where Telegram delivers to now; "" for nowhere."""
        return text_at(self._call("getWebhookInfo"), "url")

    def set(self, address: str, secret: str, connections: int) -> None:
        """What waits stays. ``connections`` is how many requests may come at once; 0 for Telegram's default."""
        most = {"max_connections": min(connections, MOST_CONNECTIONS)} if connections else {}
        self._call("setWebhook", url=address, secret_token=secret, allowed_updates=KINDS, **most)

    def remove(self) -> None:
        self._call("deleteWebhook")

    def offer(self, menus: Mapping[str, Sequence[tuple[str, str]]]) -> None:
        """These commands, each a name and what it does, by the language they are described in; "" for all others."""
        for language, commands in menus.items():
            listed = [{"command": name, "description": description} for name, description in commands]
            self._call("setMyCommands", commands=listed, **({"language_code": language} if language else {}))

    def _call(self, method: str, **parameters: Any) -> Json:
        for pause in (*self._pauses, None):
            try:
                return self._once(method, parameters)
            except _Later as later:
                if pause is None:
                    raise ConfigError(str(later)) from later
                logger.warning("method=<%s> | %s", method, later)
                time.sleep(min(max(later.seconds, pause), LONGEST_PAUSE))
        raise AssertionError  # the last pause is None

    def _once(self, method: str, parameters: Json) -> Json:
        body, kind = json.dumps(parameters).encode(), {"Content-Type": "application/json"}
        request = Request(self._url + method, body, kind)  # noqa: S310  # the owner's own setting
        try:
            with urlopen(request, timeout=TIMEOUT) as response:  # noqa: S310
                result = json.load(response).get("result")
                return result if isinstance(result, dict) else {}
        except HTTPError as error:
            with error:
                raise _refusal(method, error.code, _object(error.read())) from None
        except (OSError, ValueError) as error:
            raise _Later(f"Telegram can not be reached ({type(error).__name__}).") from None


class _Later(Exception):
    def __init__(self, message: str, seconds: float = 0.0) -> None:
        super().__init__(message)
        self.seconds = seconds


def _refusal(method: str, status: int, answer: Json) -> Exception:
    said = text_at(answer, "description") or f"status {status}"
    if status in (401, 404):
        return ConfigError(UNKNOWN_TOKEN)
    message = f"Telegram refuses {method}: {said}."
    if status == 429 or status >= 500 or "resolve host" in said:
        return _Later(message, number_at(object_at(answer, "parameters"), "retry_after") or 0.0)
    return ConfigError(message)


def _object(body: bytes) -> Json:
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
