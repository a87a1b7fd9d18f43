"""The Tracer on OpenTelemetry: spans over OTLP/HTTP to whatever the standard OTEL_* variables name.

What is called how: https://github.com/open-telemetry/semantic-conventions-genai.
"""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span as OtelSpan
from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from bot.deadline import Pause
from bot.tracing import Attributes, Kind, Span
from bot.version import VERSION

KINDS = {"internal": SpanKind.INTERNAL, "client": SpanKind.CLIENT, "producer": SpanKind.PRODUCER}
W3C = TraceContextTextMapPropagator()


class OtelTracer:
    def __init__(self, endpoint: str, headers: Mapping[str, str], *, content: bool) -> None:
        """``endpoint`` is the whole address for spans. ``content``: what people say goes there too. Sampling, limits
        and the resource's attributes are as OTEL_* says."""
        self._content = content
        ours = Resource.create({"service.name": "kabar", "service.version": VERSION})
        self._provider = TracerProvider(resource=ours.merge(OTELResourceDetector().detect()))
        exporter = OTLPSpanExporter(endpoint=endpoint, headers=dict(headers))
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("kabar", VERSION)

    @contextmanager
    def span(self, name: str, attributes: Attributes, kind: Kind, parent: str) -> Iterator[Span]:
        above = W3C.extract({"traceparent": parent}, Context()) if parent else None
        with self._tracer.start_as_current_span(
            name,
            above,
            KINDS[kind],
            dict(attributes),
            record_exception=False,  # its text may be somebody's words
            set_status_on_exception=False,
        ) as span:
            try:
                yield _Span(span, content=self._content)
            except Pause:  # another invocation goes on: nothing failed
                raise
            except Exception as error:
                span.set_attribute("error.type", type(error).__qualname__)
                span.set_status(Status(StatusCode.ERROR))
                raise

    def flush(self, seconds: float) -> None:
        """The SDK's own has no limit but the exporter's, which counts tries."""
        sending = threading.Thread(target=self._provider.force_flush, daemon=True)
        sending.start()
        sending.join(seconds)

    def close(self) -> None:
        self._provider.shutdown()


class _Span:
    def __init__(self, span: OtelSpan, *, content: bool) -> None:
        self._span = span
        self._content = content

    @property
    def traceparent(self) -> str:
        carrier: dict[str, str] = {}
        W3C.inject(carrier, set_span_in_context(self._span))
        return carrier.get("traceparent", "")

    def note(self, attributes: Attributes) -> None:
        self._span.set_attributes(dict(attributes))

    def note_words(self, attributes: Mapping[str, object]) -> None:
        if self._content:
            told = {name: json.dumps(value, ensure_ascii=False, default=str) for name, value in attributes.items()}
            self._span.set_attributes(told)
