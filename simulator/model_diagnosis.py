"""Why a prompt could not go on where the one before ended: ``diagnostics`` of the Messages API.

Source: anthropic 2.14, ``types/diagnostics.py`` and ``types/cache_miss_*.py``.
"""

import hashlib
import json

from simulator.model_cache import tokens
from simulator.model_rules import Json, blocks, without_marks

KEPT = 1_000
"""Answers that can be compared with."""


class Diagnoses:
    """What was asked before each answer, as fingerprints by the answer's id."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, list[str]]] = {}

    def of(self, name: str, request: Json) -> Json | None:
        """The diagnosis of this request, kept as ``name``; None where none was asked for or nothing differs."""
        now = _prints(request)
        self._known[name] = now
        while len(self._known) > KEPT:
            del self._known[next(iter(self._known))]
        before = (request.get("diagnostics") or {}).get("previous_message_id")
        if before is None:
            return None
        reason = _reason(self._known.get(before), now)
        if reason is None:
            return None
        missed = {} if reason == "previous_message_not_found" else {"cache_missed_input_tokens": tokens(str(request))}
        return {"cache_miss_reason": {"type": reason} | missed}


def _reason(before: dict[str, list[str]] | None, now: dict[str, list[str]]) -> str | None:
    if before is None:
        return "previous_message_not_found"
    for part in ("model", "system", "tools"):
        if before[part] != now[part]:
            return f"{part}_changed"
    known = before["messages"]
    return None if now["messages"][: len(known)] == known else "messages_changed"


def _prints(request: Json) -> dict[str, list[str]]:
    messages = [[each["role"], block] for each in request["messages"] for block in blocks(each["content"])]
    parts = {
        "model": [request["model"]],
        "system": blocks(request.get("system") or []),
        "tools": request.get("tools") or [],
        "messages": messages,
    }
    return {part: [_print(each) for each in values] for part, values in parts.items()}


def _print(value: object) -> str:
    return hashlib.sha256(json.dumps(without_marks(value), ensure_ascii=False).encode()).hexdigest()
