"""Signed thinking: the model signs each thought over everything before it, and knows its own again.

As on the current models, a signature is bound to the tools, the system prompt and every earlier block. Appending,
moving cache marks and leaving thinking out keep it good; any other change before a thought spoils it.
"""

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterator

from simulator.model_rules import THINKING, Json, blocks, without_marks


def signed(request: Json, content: list[Json]) -> list[Json]:
    """The reply's content with a signature on each thinking block that has none."""
    digest = _digest(request)
    for message in request["messages"]:
        for block in blocks(message["content"]):
            _add(digest, message["role"], block)
    reply = []
    for block in content:
        if block["type"] == "thinking":
            block = {"signature": _signature(digest, block["thinking"]), **block}
        _add(digest, "assistant", block)
        reply.append(block)
    return reply


def forged(request: Json) -> Iterator[str]:
    """A fault for each thinking block that was not issued for this conversation, in the API's words."""
    digest = _digest(request)
    for index, message in enumerate(request["messages"]):
        for place, block in enumerate(blocks(message["content"])):
            if block["type"] == "thinking" and block["signature"] != _signature(digest, block["thinking"]):
                yield (
                    f"messages.{index}.content.{place}: Invalid `signature` in `thinking` block. "
                    "The block is bound to a different conversation"
                )
            _add(digest, message["role"], block)


def _digest(request: Json) -> "hashlib._Hash":
    return hashlib.sha256(_plain([request.get("tools") or [], blocks(request.get("system") or [])]))


def _add(digest: "hashlib._Hash", role: str, block: Json) -> None:
    if block["type"] not in THINKING:
        digest.update(role.encode() + _plain(block))


def _signature(digest: "hashlib._Hash", thinking: str) -> str:
    return b64encode(hashlib.sha256(digest.digest() + thinking.encode()).digest()).decode()


def _plain(value: object) -> bytes:
    """JSON without cache marks, keys in one order."""
    return json.dumps(without_marks(value), sort_keys=True).encode()
