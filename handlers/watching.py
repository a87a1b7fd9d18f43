"""How a process is watched: its log, the metrics in it, and spans where an owner has somewhere to send them."""

import functools
import logging
from collections.abc import Callable
from typing import Any

from bot import logs, tracing
from handlers.settings import Settings, pairs

log = logging.getLogger(__name__)

FLUSH = 1.0
"""Seconds that an answer may be late for its spans' sake. What is not sent by then goes with the next event."""

Handler = Callable[[Any, Any], Any]


def begin_watching(settings: Settings) -> None:
    """Of a function on AWS, at its first event."""
    content = settings.kabar_log_content == "on"
    logs.set_up(
        settings.kabar_log_level,
        as_json=True,
        stack=settings.kabar_metrics,
        all_metrics=settings.kabar_metrics_all == "on",
        content=content,
    )
    begin_tracing(settings)


def begin_tracing(settings: Settings) -> None:
    """Nothing is loaded where no address is set. Traces that can not be had stop no bot."""
    endpoint = settings.otel_exporter_otlp_traces_endpoint
    if not endpoint and settings.otel_exporter_otlp_endpoint:
        endpoint = f"{settings.otel_exporter_otlp_endpoint.rstrip('/')}/v1/traces"
    if not endpoint or settings.otel_sdk_disabled.lower() == "true" or tracing.is_installed():
        return
    try:
        from bot.adapters.otel_tracing import OtelTracer
    except ModuleNotFoundError as error:
        install = "pip install --editable '.[otel]', or on AWS the layer of docs/watching.md"
        log.warning("library=<%s> | there are no traces without the extra: %s", error.name, install)
        return
    words = settings.kabar_log_content, settings.otel_instrumentation_genai_capture_message_content.lower()
    content = words[0] == "on" or words[1] in ("true", "span_only", "span_and_event")
    tracing.install(OtelTracer(endpoint, pairs(settings.otel_exporter_otlp_headers), content=content))


def watched(handler: Handler) -> Handler:
    """A function's entry point, after which its spans are sent: between two events nothing runs on Lambda."""

    @functools.wraps(handler)
    def wrapped(event: Any, context: Any) -> Any:
        try:
            return handler(event, context)
        finally:
            tracing.flush(FLUSH)

    return wrapped
