"""Spans: what each step took, told to a tracing system where an owner has one (bot/adapters/otel_tracing.py).

Like logging this is the process's own matter: whoever starts it installs a tracer, and the code that is traced takes
none as a parameter. Where none is installed nothing is loaded, and a span is one object that does nothing.

A message's span is stored with it as a W3C traceparent, so that the turn it begins is part of the same trace in
whatever process and however often it goes on.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Literal, Protocol

Value = str | int | float | bool | Sequence[str]
Attributes = Mapping[str, Value]
Kind = Literal["internal", "client", "producer"]


class Span(Protocol):
    @property
    def traceparent(self) -> str:
        """Names it to another process; "" where nothing is traced."""

    def note(self, attributes: Attributes) -> None: ...

    def note_words(self, attributes: Mapping[str, object]) -> None:
        """What people, the model or tools said: kept only where an owner switched that on."""


class Tracer(Protocol):
    def span(self, name: str, attributes: Attributes, kind: Kind, parent: str) -> AbstractContextManager[Span]:
        """A step from now to the end of the block, which has failed where an exception leaves it. ``parent`` is a
        traceparent, "" for the span around it. Attributes have the names of OpenTelemetry's semantic conventions."""

    def flush(self, seconds: float) -> None:
        """Have what ended until now sent away, waiting at most so long. Raises nothing."""

    def close(self) -> None:
        """Send what there is, and nothing any more."""


class _NoSpan:
    traceparent = ""

    def note(self, attributes: Attributes) -> None: ...

    def note_words(self, attributes: Mapping[str, object]) -> None: ...


class _NoTracer:
    _span: AbstractContextManager[Span] = nullcontext(_NoSpan())

    def span(self, name: str, attributes: Attributes, kind: Kind, parent: str) -> AbstractContextManager[Span]:
        return self._span

    def flush(self, seconds: float) -> None: ...

    def close(self) -> None: ...


NOTHING_TRACED: Tracer = _NoTracer()
_tracer: list[Tracer] = [NOTHING_TRACED]


def install(tracer: Tracer) -> Tracer:
    """For all that this process does from now on. Returns the one before."""
    before, _tracer[0] = _tracer[0], tracer
    return before


def is_installed() -> bool:
    return _tracer[0] is not NOTHING_TRACED


def span(
    name: str, attributes: Attributes, *, kind: Kind = "internal", parent: str = ""
) -> AbstractContextManager[Span]:
    return _tracer[0].span(name, attributes, kind, parent)


def flush(seconds: float) -> None:
    _tracer[0].flush(seconds)
