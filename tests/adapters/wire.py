"""A wire between boto3 and the emulator that notes what passes, and can break."""

import contextlib
import json
import threading
import urllib.request
from collections import defaultdict, deque
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.error import HTTPError

from msgspec import Struct


class Passed(Struct, frozen=True):
    """One DynamoDB request and its answer. ``units`` is the capacity it consumed, its indexes' included."""

    operation: str
    request: dict[str, Any]
    answer: dict[str, Any]

    @property
    def units(self) -> float:
        consumed = self.answer.get("ConsumedCapacity", [])
        tables = consumed if isinstance(consumed, list) else [consumed]
        return sum(float(table["CapacityUnits"]) for table in tables)


class Answer(Struct, frozen=True):
    """Given instead of the emulator's, which never hears of the request."""

    status: int
    body: dict[str, Any]


def failure(status: int, code: str, **more: Any) -> Answer:
    return Answer(status, {"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": "scripted", **more})


class Lost(Struct, frozen=True):
    """The emulator does what it is asked for, but its answer never arrives."""


LOST = Lost()


class Wire:
    """``endpoint`` is for a client; ``passed`` what went through, in order; ``breaks`` what goes wrong next, with None
    for what does not."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.passed: list[Passed] = []
        self.breaks: defaultdict[str, deque[Answer | Lost | None]] = defaultdict(deque)


@contextlib.contextmanager
def wire_to(emulator: str) -> Iterator[Wire]:
    server = _Server(("127.0.0.1", 0), _Handler)
    server.emulator = emulator
    server.wire = Wire(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.wire
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    emulator: str
    wire: Wire


class _Handler(BaseHTTPRequestHandler):
    """HTTP/1.0: every answer ends its connection, so that a lost one is a closed socket."""

    server: _Server

    def do_POST(self) -> None:
        operation = self.headers["X-Amz-Target"].partition(".")[2]
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        breaks = self.server.wire.breaks[operation]
        fault = breaks.popleft() if breaks else None
        if isinstance(fault, Answer):
            self._answer(fault)
            return
        answer = self._forward(request)
        self.server.wire.passed.append(Passed(operation, request, answer.body))
        if fault is None:
            self._answer(answer)

    def _forward(self, request: dict[str, Any]) -> Answer:
        headers = {name: self.headers[name] for name in ("X-Amz-Target", "Authorization", "Content-Type", "X-Amz-Date")}
        body = json.dumps({**request, "ReturnConsumedCapacity": "TOTAL"}).encode()
        try:
            with urllib.request.urlopen(
                urllib.request.Request(self.server.emulator, body, headers), timeout=20
            ) as response:
                return Answer(response.status, json.load(response))
        except HTTPError as error:
            with error:
                return Answer(error.code, json.load(error))

    def _answer(self, answer: Answer) -> None:
        body = json.dumps(answer.body).encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/x-amz-json-1.0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Tests read ``passed`` instead."""
