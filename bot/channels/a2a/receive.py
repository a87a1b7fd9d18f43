"""Prove which agent sends a request: each has a key of its own, sent as ``Authorization: Bearer <key>``."""

import hmac
import re
from collections.abc import Mapping

from bot.errors import ConfigError

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
SHORTEST = 16
"""Characters of a key: what can be guessed is none."""


def read_keys(text: str) -> dict[str, str]:
    """Keys by the names of those who have them, from pairs ``name:key`` separated by commas. Raises ConfigError, in
    which no key stands."""
    keys: dict[str, str] = {}
    for number, pair in enumerate(filter(None, map(str.strip, text.split(","))), 1):
        name, _, key = (part.strip() for part in pair.partition(":"))
        if not NAME.fullmatch(name) or len(key) < SHORTEST or not key.isascii() or name in keys:
            raise ConfigError(
                f"KABAR_A2A_KEYS: pair {number} must be name:key. The name is one of its own, of a-z, 0-9 and hyphens; "
                f"the key has at least {SHORTEST} characters."
            )
        keys[name] = key
    return keys


def caller(keys: Mapping[str, str], authorization: str) -> str:
    """Who has the key in this header, or "". No keys mean nobody. Takes the same time for whatever key is sent."""
    scheme, _, sent = authorization.partition(" ")
    found = ""
    for name, key in keys.items():
        if hmac.compare_digest(key.encode(), sent.strip().encode("utf-8", "replace")):
            found = name
    return found if scheme.lower() == "bearer" else ""
