"""AWS's Lambda Runtime API on this machine: the real awslambdaric runs a built package against it, as on AWS.

    with Runtime(package, "handlers.webhook.handler", python) as runtime:
        response = runtime.invoke(event)

One execution environment: it starts once, handles one event at a time, and is frozen never. The protocol is the one in
AWS's "Using the Lambda runtime API for custom runtimes" (version 2018-06-01).
"""

import json
import os
import queue
import subprocess
import threading
import time
import uuid
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from msgspec import Struct

START_WAIT = 60.0
"""Seconds for a start under load; on AWS the limit is ten."""


class FunctionFailed(Exception):
    """The handler raised: ``kind`` is the class that Lambda reports, such as "ValueError" or "Runtime.ExitError"."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind


class Event(Struct, frozen=True):
    request_id: str
    body: bytes
    deadline_ms: int


class Idle(Struct, frozen=True):
    """The function asks for its next event."""

    at: float


class Frozen(Struct, frozen=True):
    """The function has begun, and waits for what comes after its snapshot."""


class Answer(Struct, frozen=True):
    body: bytes


class Failure(Struct, frozen=True):
    kind: str
    message: str


class Ended(Struct, frozen=True):
    """The function's process is gone."""


News = TypeVar("News", Idle, Frozen)


class RuntimeApi(ThreadingHTTPServer):
    """Hands out ``events`` and reports in ``news`` what the function did, in order."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Request)
        self.events: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self.restores: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self.news: queue.SimpleQueue[Idle | Frozen | Answer | Failure | Ended] = queue.SimpleQueue()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_port}"


class _Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else an event's body waits 40 ms for the acknowledgement of its headers
    server: RuntimeApi

    def do_GET(self) -> None:
        """``/runtime/invocation/next``: wait for an event, for as long as it takes; ``/runtime/restore/next``: for the
        end of the snapshot."""
        if self.path.endswith("/restore/next"):
            self.server.news.put(Frozen())
            if not self.server.restores.get():
                self.close_connection = True
                return
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.server.news.put(Idle(time.perf_counter()))
        event = self.server.events.get()
        if event is None:
            self.close_connection = True
            return
        self.send_response(200)
        self.send_header("Lambda-Runtime-Aws-Request-Id", event.request_id)
        self.send_header("Lambda-Runtime-Deadline-Ms", str(event.deadline_ms))
        self.send_header("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:eu-central-1:000000000000:function:f")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(event.body)))
        self.end_headers()
        self.wfile.write(event.body)

    def do_POST(self) -> None:
        """``.../response``, ``.../error`` and ``/runtime/init/error``."""
        body = self._body()
        self.send_response(202)
        self.send_header("Content-Length", "0")
        self.end_headers()
        if self.path.endswith("/response"):
            self.server.news.put(Answer(body))
        else:
            fault = json.loads(body)
            self.server.news.put(Failure(fault["errorType"], fault["errorMessage"]))

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers["Content-Length"]))
        chunks = []
        while size := int(self.rfile.readline(), 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing: what the function prints is the log."""


class Runtime:
    """One package under awslambdaric, from ``__enter__`` to ``__exit__``.

    ``python`` is an interpreter that has awslambdaric. ``environment`` adds to what Lambda itself sets; nothing of this
    process's own environment is passed on. ``timeout`` is the function's, in seconds: an event that takes longer ends
    the process, as on AWS. With ``snapshot`` it begins as SnapStart's functions do, and waits for ``restore``.
    """

    def __init__(
        self,
        package: Path,
        handler: str,
        python: Path,
        environment: Mapping[str, str] | None = None,
        timeout: float = 30.0,
        *,
        snapshot: bool = False,
    ) -> None:
        self._package = package
        self._snapshot = snapshot
        self._command = [str(python), "-m", "awslambdaric", handler]
        begins = {"AWS_LAMBDA_INITIALIZATION_TYPE": "snap-start" if snapshot else "on-demand"}
        self._environment = {**lambda_environment(package, handler), **begins, **(environment or {})}
        self._timeout = timeout
        self._pieces: list[bytes] = []
        self.start_seconds = 0.0
        """From the start of the process to its asking for the first event: what AWS bills as Init."""

    def __enter__(self) -> "Runtime":
        self._api = RuntimeApi()
        self._serving = threading.Thread(target=self._api.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._serving.start()
        started = time.perf_counter()
        self._process = subprocess.Popen(
            self._command,
            cwd=self._package,
            env={**self._environment, "AWS_LAMBDA_RUNTIME_API": self._api.address},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self._reading = threading.Thread(target=self._read_log, daemon=True)
        self._reading.start()
        try:
            if self._snapshot:
                self._wait_for(Frozen, START_WAIT)
            else:
                self.start_seconds = self._wait_until_idle(START_WAIT).at - started
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end()

    @property
    def log(self) -> str:
        """Everything the function has printed so far."""
        return b"".join(self._pieces).decode(errors="replace")

    @property
    def processor_seconds(self) -> float:
        """What the function has used of processors so far, in all its threads. Linux only."""
        of_process = 2  # CPUCLOCK_SCHED, as in clock_getcpuclockid(3)
        return time.clock_gettime((~self._process.pid << 3) | of_process)

    @property
    def memory(self) -> int:
        """Bytes it holds in memory now. Linux only."""
        pages = Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def address(self) -> str:
        """Of the Runtime API."""
        return self._api.address

    def restore(self) -> None:
        """The snapshot is over; returns once the function asks for its first event."""
        self._api.restores.put(True)
        self._wait_until_idle(START_WAIT)

    def invoke(self, event: Any) -> Any:
        """What the handler returned, decoded, once the function is idle again; FunctionFailed where it raised."""
        deadline_ms = int((time.time() + self._timeout) * 1000)
        self._api.events.put(Event(str(uuid.uuid4()), json.dumps(event).encode(), deadline_ms))
        news = self._next_news(self._timeout)
        if isinstance(news, Failure):
            self._wait_until_idle(START_WAIT)
            raise FunctionFailed(news.kind, news.message)
        assert isinstance(news, Answer), news
        self._wait_until_idle(START_WAIT)
        return json.loads(news.body)

    def _wait_until_idle(self, seconds: float) -> Idle:
        return self._wait_for(Idle, seconds)

    def _wait_for(self, kind: type[News], seconds: float) -> News:
        news = self._next_news(seconds)
        if isinstance(news, Failure):
            raise FunctionFailed(news.kind, news.message)
        assert isinstance(news, kind), news
        return news

    def _next_news(self, seconds: float) -> Idle | Frozen | Answer | Failure:
        try:
            news = self._api.news.get(timeout=seconds)
        except queue.Empty:
            self._process.kill()
            raise TimeoutError(f"Task timed out after {seconds:.2f} seconds\n{self.log}") from None
        if isinstance(news, Ended):
            raise FunctionFailed("Runtime.ExitError", f"exit status {self._process.wait(5)}\n{self.log}")
        return news

    def _read_log(self) -> None:
        assert self._process.stdout
        while piece := os.read(self._process.stdout.fileno(), 65536):  # not by line: a log line may lack its end
            self._pieces.append(piece)
        self._api.news.put(Ended())

    def _end(self) -> None:
        self._process.kill()
        self._process.wait(5)
        self._reading.join(5)
        assert self._process.stdout
        self._process.stdout.close()
        self._api.events.put(None)
        self._api.restores.put(False)
        self._api.shutdown()
        self._serving.join(5)
        self._api.server_close()


def lambda_environment(package: Path, handler: str) -> dict[str, str]:
    """What a function finds on AWS ("Defined runtime environment variables"), with credentials that open nothing."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "en_US.UTF-8",
        "TZ": ":UTC",
        "PYTHONPATH": str(package),
        "PYTHONDONTWRITEBYTECODE": "1",  # on AWS the package can not be written to
        "_HANDLER": handler,
        "LAMBDA_TASK_ROOT": str(package),
        "AWS_LAMBDA_FUNCTION_NAME": "f",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_LOG_GROUP_NAME": "/aws/lambda/f",
        "AWS_LAMBDA_LOG_STREAM_NAME": "1",
        "AWS_REGION": "eu-central-1",
        "AWS_DEFAULT_REGION": "eu-central-1",
        "AWS_ACCESS_KEY_ID": "none",
        "AWS_SECRET_ACCESS_KEY": "none",
    }
