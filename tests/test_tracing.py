"""Spans arrive where an owner sends them, one trace from the message to the answer; without that nothing is loaded."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot import tracing
from bot.clock import SystemClock
from bot.intake import accept
from handlers.settings import Settings
from handlers.watching import begin_tracing
from scripts.imports import ROOT, reach
from simulator.script import call, overloaded, reply, text
from simulator.serving import serve
from tests.bots import bot_on
from tests.emulator import Account
from tests.say import inbound
from tests.test_way import way_of

SAID = "a very private plan"
ANSWERED = "an answer for you alone"


class Collector:
    """A real OTLP/HTTP receiver. ``url`` is what OTEL_EXPORTER_OTLP_ENDPOINT names."""

    def __init__(self) -> None:
        self.url = ""
        self.headers: dict[str, str] = {}
        self.spans: list[Span] = []
        self.service = ""
        self.answers = asyncio.Event()
        self.answers.set()
        self.app = Starlette(routes=[Route("/v1/traces", self._take, methods=["POST"])])

    async def _take(self, request: Request) -> Response:
        await self.answers.wait()
        sent = ExportTraceServiceRequest.FromString(await request.body())
        self.headers = dict(request.headers)
        for resource in sent.resource_spans:
            self.service = attributes_of(resource.resource)["service.name"]
            self.spans += [span for scope in resource.scope_spans for span in scope.spans]
        return Response(ExportTraceServiceResponse().SerializeToString(), media_type="application/x-protobuf")

    async def named(self, name: str) -> list[Span]:
        """All spans so called, oldest first, once what has ended is sent."""
        await asyncio.to_thread(tracing.flush, 20)
        return sorted((each for each in self.spans if each.name == name), key=lambda span: span.start_time_unix_nano)


@asynccontextmanager
async def collecting() -> AsyncIterator[Collector]:
    collector = Collector()
    async with serve(collector.app) as collector.url:
        try:
            yield collector
        finally:
            await asyncio.to_thread(tracing.install(tracing.NOTHING_TRACED).close)


def attributes_of(holder: Any) -> dict[str, Any]:
    return {each.key: value_of(each.value) for each in holder.attributes}


def value_of(value: Any) -> Any:
    kind = value.WhichOneof("value")
    return [value_of(each) for each in value.array_value.values] if kind == "array_value" else getattr(value, kind)


async def test_a_turn_is_one_trace_from_the_webhook_on_and_says_nobodys_words(
    aws: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        script = (reply(text(SAID), call("calculator", {"expression": "6*7"})), text(ANSWERED))
        async with way_of(aws, monkeypatch, *script) as way:
            await way.simulator.slack.say("D0ANN", "ann", SAID)
            await way.slack_says(ANSWERED)
            await way.settled()
        spans = list(collector.spans)  # nothing is flushed here: both functions did it after their events

    def named(name: str) -> list[Span]:
        return sorted((each for each in spans if each.name == name), key=lambda span: span.start_time_unix_nano)

    received, (turn,), (tool,) = named("receive slack"), named("invoke_agent kabar"), named("execute_tool calculator")
    first, second = named("chat claude-sonnet-5-5")
    assert {each.trace_id for each in (turn, first, tool, second)} == {received[0].trace_id}
    assert turn.parent_span_id == received[0].span_id
    assert {each.parent_span_id for each in (first, tool, second)} == {turn.span_id}
    assert attributes_of(received[0])["kabar.turn"] == attributes_of(turn)["kabar.turn"]
    assert any(each.name.startswith("slack chat.") and each.parent_span_id == turn.span_id for each in spans)
    assert collector.service == "kabar"
    asked = attributes_of(first)
    assert (asked["gen_ai.operation.name"], asked["gen_ai.provider.name"]) == ("chat", "anthropic")
    assert asked["gen_ai.response.finish_reasons"] == ["tool_use"]
    assert asked["gen_ai.usage.input_tokens"] >= asked["gen_ai.usage.cache_creation.input_tokens"] > 0
    assert attributes_of(tool)["gen_ai.tool.name"] == "calculator"
    everything = str(spans)
    assert SAID not in everything
    assert ANSWERED not in everything
    assert "6*7" not in everything


async def test_a_turn_that_goes_on_in_another_invocation_stays_in_its_trace(tmp_path: Path) -> None:
    async with collecting() as collector:
        begin_tracing(Settings(otel_exporter_otlp_traces_endpoint=f"{collector.url}/v1/traces"))
        async with bot_on(tmp_path / "kabar.sqlite3", overloaded("0"), text(ANSWERED)) as bot:
            await accept(inbound(SAID), bot.store, bot.wake, SystemClock())
            await bot.wakes(seconds=5)  # too few for a model call
            await bot.wakes()
        (received,), turns = await collector.named("receive telegram"), await collector.named("invoke_agent kabar")
        failed, answered = await collector.named("chat claude-sonnet-5-5")

    assert [attributes_of(each)["kabar.invocation"] for each in turns] == [1, 2]
    assert {each.parent_span_id for each in turns} == {received.span_id}
    assert {each.trace_id for each in (*turns, failed, answered)} == {received.trace_id}
    assert (failed.status.code, attributes_of(failed)["error.type"]) == (Status.STATUS_CODE_ERROR, "ModelUnavailable")
    assert [each.status.code for each in (*turns, answered)] == [Status.STATUS_CODE_UNSET] * 3
    assert not any(each.events for each in (*turns, failed, answered))


async def test_words_go_along_where_an_owner_switched_that_on(tmp_path: Path) -> None:
    async with collecting() as collector:
        begin_tracing(
            Settings(
                otel_exporter_otlp_endpoint=f"{collector.url}/",
                otel_exporter_otlp_headers="x-key=one, x-team=two",
                otel_instrumentation_genai_capture_message_content="true",
            )
        )
        script = (call("calculator", {"expression": "6*7"}), text(ANSWERED))
        async with bot_on(tmp_path / "kabar.sqlite3", *script) as bot:
            await bot.hears(inbound(SAID))
            await bot.wakes()
        _, last = await collector.named("chat claude-sonnet-5-5")
        (tool,) = await collector.named("execute_tool calculator")

    assert SAID in attributes_of(last)["gen_ai.input.messages"]
    assert json.loads(attributes_of(last)["gen_ai.output.messages"]) == [{"type": "text", "text": ANSWERED}]
    assert json.loads(attributes_of(tool)["gen_ai.tool.call.arguments"]) == {"expression": "6*7"}
    assert (collector.headers["x-key"], collector.headers["x-team"]) == ("one", "two")


async def test_a_collector_that_does_not_answer_holds_nobody_up(tmp_path: Path) -> None:
    async with collecting() as collector:
        collector.answers.clear()
        begin_tracing(Settings(otel_exporter_otlp_endpoint=collector.url))
        async with bot_on(tmp_path / "kabar.sqlite3", text(ANSWERED)) as bot:
            await bot.hears(inbound(SAID))
            await bot.wakes()
            assert bot.channel.shown == [ANSWERED]
        await asyncio.to_thread(tracing.flush, 0.01)
        assert collector.spans == []
        collector.answers.set()
        assert await collector.named("invoke_agent kabar")


def test_nothing_of_it_is_loaded_where_nobody_wants_it() -> None:
    program = (
        "import sys, handlers.webhook\n"
        "from handlers.settings import read_settings\n"
        "from handlers.watching import begin_watching\n"
        "begin_watching(read_settings({}))\n"
        "print([name for name in sys.modules if name.startswith(('opentelemetry.sdk', 'opentelemetry.exporter'))])\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert ran.stdout == "[]\n"
    loaded = {name for name in reach(["handlers.webhook"]).own if "opentelemetry" in str(reach([name]).outside)}
    assert loaded <= {"handlers.webhook", "handlers.watching", "bot.adapters.otel_tracing", "handlers"}


async def test_a_span_costs_nothing_and_says_nothing_where_nothing_is_traced() -> None:
    with tracing.span("one", {}) as one, tracing.span("two", {}, parent="x") as two:
        one.note({"a": 1})
        one.note_words({"b": SAID})
    assert one is two
    assert one.traceparent == ""
