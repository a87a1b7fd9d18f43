"""Prove that an interaction comes from Discord.

Source: discord.com/developers/docs/interactions/overview, "Setting Up an Endpoint".
"""

from collections.abc import Mapping

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

FRESH = 300  # seconds; what is older was not sent by Discord just now


def proved(public_key: str, body: bytes, headers: Mapping[str, str], now: float) -> bool:
    """Whether Discord signed exactly these bytes a moment ago. ``public_key`` is hexadecimal, header names in lower
    case; ``now`` is in Unix seconds. Raises nothing."""
    signature, timestamp = headers.get("x-signature-ed25519", ""), headers.get("x-signature-timestamp", "")
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(signature), timestamp.encode() + body)
        return abs(now - int(timestamp)) <= FRESH
    except (ValueError, InvalidSignature):
        return False
