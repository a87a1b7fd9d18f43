"""Tokens, and the prompt cache: what of a request was seen before, byte for byte.

A token is four bytes here: wrong for any one text, right in size, and the same each time. An image counts as a flat
number. An entry lives as long as its mark says, from when it was last written or read.
"""

import hashlib
import json
import math
import time
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import NamedTuple

from simulator.model_rules import Json, blocks, nested, without_marks

BYTES_PER_TOKEN = 4
IMAGE_TOKENS = 1600
SMALLEST_PREFIX = 512
"""Tokens below which the current models cache nothing."""
LOOK_BACK = 20
"""Blocks before a mark in which an older entry is still found."""


LIFETIMES = {"5m": 300, "1h": 3_600}
"""Seconds."""


class _Piece(NamedTuple):
    """One block of the prompt in the order it is cached, and how long a mark on it keeps it ("" without a mark)."""

    data: bytes
    tokens: int
    keep: str


class PromptCache:
    """``now`` is in seconds."""

    def __init__(self, smallest: int = SMALLEST_PREFIX, now: Callable[[], float] = time.monotonic) -> None:
        self._smallest = smallest
        self._now = now
        self._ends: dict[bytes, float] = {}
        self._lifetimes: dict[bytes, int] = {}

    def usage(self, request: Json) -> Json:
        """The request's ``usage`` fields, output aside; and remember its marked prefixes."""
        pieces = list(_pieces(request))
        totals = list(accumulate(piece.tokens for piece in pieces))
        digests = list(_digests(request["model"], pieces))
        marks = [at for at, piece in enumerate(pieces) if piece.keep and totals[at] >= self._smallest]
        found = {at for mark in marks for at in _near(mark) if self._ends.get(digests[at], 0) > self._now()}
        read = max((totals[at] for at in found), default=0)
        written = {"5m": 0, "1h": 0}
        covered = read
        for mark in marks:
            written[pieces[mark].keep] += max(totals[mark] - covered, 0)
            covered = max(covered, totals[mark])
        for mark in marks:
            self._lifetimes.setdefault(digests[mark], LIFETIMES[pieces[mark].keep])
        for at in found.union(marks):
            self._ends[digests[at]] = self._now() + self._lifetimes[digests[at]]
        return {
            "input_tokens": totals[-1] - covered,
            "cache_creation_input_tokens": covered - read,
            "cache_read_input_tokens": read,
            "cache_creation": {f"ephemeral_{keep}_input_tokens": tokens for keep, tokens in written.items()},
        }


def count(request: Json) -> int:
    """Tokens of the whole prompt."""
    return sum(piece.tokens for piece in _pieces(request))


def tokens(text: str) -> int:
    return math.ceil(len(text.encode()) / BYTES_PER_TOKEN)


def _near(mark: int) -> range:
    return range(max(mark - LOOK_BACK, 0), mark + 1)


def _digests(model: str, pieces: list[_Piece]) -> Iterator[bytes]:
    """For each block the digest of the prompt up to and with it. Every model has its own cache."""
    digest = hashlib.sha256(model.encode())
    for piece in pieces:
        digest.update(piece.data + b"\n")
        yield digest.digest()


def _pieces(request: Json) -> Iterator[_Piece]:
    """Tools, system, messages. Keys stay in the order they came in: another order is another prefix."""
    prompt = [("tools", tool) for tool in request.get("tools") or []]
    prompt += [("system", block) for block in blocks(request.get("system") or [])]
    prompt += [(message["role"], block) for message in request["messages"] for block in blocks(message["content"])]
    for at, (role, block) in enumerate(prompt, 1):
        data = json.dumps([role, without_marks(block)], ensure_ascii=False).encode()
        marks = [inner["cache_control"] for inner in nested(block) if inner.get("cache_control")]
        if at == len(prompt) and request.get("cache_control"):
            marks.append(request["cache_control"])
        yield _Piece(data, _weight(block, data), marks[-1].get("ttl", "5m") if marks else "")


def _weight(block: Json, data: bytes) -> int:
    pictures = [str(inner["source"].get("data", "")) for inner in nested(block) if inner.get("type") == "image"]
    text = len(data) - sum(map(len, pictures))
    return math.ceil(text / BYTES_PER_TOKEN) + IMAGE_TOKENS * len(pictures)
