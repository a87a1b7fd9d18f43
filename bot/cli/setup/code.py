"""The one-time code by which the owner is told from everybody else who may write meanwhile."""

import hmac
import secrets

from bot.messages import Inbound

ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
"""Without what is read as something else."""
LENGTH = 12
"""59 bits: nobody guesses it while setup waits."""


def new_code() -> str:
    """May stand in a link to Telegram (core.telegram.org/bots/features#deep-linking)."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def is_code(inbound: Inbound, code: str) -> bool:
    """Whether this is the code, sent by a person in a private chat: nothing but the code, or a command before it."""
    said = inbound.text.strip().lower().encode()
    is_private = inbound.kind == "message" and not inbound.place.group
    return is_private and hmac.compare_digest(said, code.encode())
