"""What was checked, how it came out, and how long each part took."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import Struct


class Check(Struct, frozen=True):
    check: str
    ok: bool
    seen: str = ""
    """What was there instead, where it is not well."""


class Report:
    def __init__(self) -> None:
        self.checks: list[Check] = []
        self.seconds: dict[str, float] = {}
        self._started = time.monotonic()

    def add(self, check: str, ok: bool, seen: object = "") -> None:
        self.checks.append(Check(check, ok, "" if ok else str(seen)))

    def same(self, check: str, found: object, wanted: object) -> None:
        self.add(check, found == wanted, f"{found!r} instead of {wanted!r}")

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Its time, also where it fails."""
        started = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = round(time.monotonic() - started, 1)

    @property
    def ok(self) -> bool:
        return bool(self.checks) and all(each.ok for each in self.checks)

    def values(self) -> dict[str, Any]:
        checks = [
            {"check": each.check, "ok": each.ok} | ({"seen": each.seen} if each.seen else {}) for each in self.checks
        ]
        return {
            "ok": self.ok,
            "checks": checks,
            "seconds": {**self.seconds, "total": round(time.monotonic() - self._started, 1)},
        }
