"""What is stored, sealed with a key made of the owner's secret (AES-256-GCM): for a process with the whole package."""

import hashlib
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from bot.errors import ConfigError

NONCE = 12
"""Bytes, at random: of 2^32 things sealed with one key hardly two are sealed with the same."""


class KeySeal:
    """The Seal port. ``secret`` is at least 32 random characters: nothing makes a guessable one strong."""

    def __init__(self, secret: str) -> None:
        self._cipher = AESGCM(hashlib.blake2b(secret.encode(), digest_size=32, person=b"kabar seal").digest())

    async def close(self, about: str, data: bytes) -> bytes:
        nonce = os.urandom(NONCE)
        return nonce + self._cipher.encrypt(nonce, data, about.encode())

    async def open(self, about: str, sealed: bytes) -> bytes:
        try:
            return self._cipher.decrypt(sealed[:NONCE], sealed[NONCE:], about.encode())
        except (InvalidTag, ValueError) as error:
            raise ConfigError(
                "SLACK_STATE_SECRET is not the one that Slack's tokens were sealed with: set it to what it was, or "
                "have the app installed again in each workspace."
            ) from error
