"""A model that follows a script, for tests: every reply and every failure is written down beforehand.

async with scripted(call("calculator", {"expression": "2+2"}), text("It is 4.")) as model:
    ...  # talk to model.url
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any

from simulator.model import ModelServer
from simulator.model_reply import Answer, Break, Refusal, Step
from simulator.model_rules import Json
from simulator.serving import serve

Written = Answer | Refusal | Json
"""A step as a test writes it; one block alone is a whole reply."""
Line = Written | Callable[[Json], Written | Awaitable[Written]]
"""A step, or what makes it of the request."""


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def thinking(thought: str) -> Json:
    """A thought; the server signs it."""
    return {"type": "thinking", "thinking": thought}


def call(name: str, arguments: Json | str, *, id: str = "") -> Json:
    """A tool call. Arguments given as a string travel as they are, JSON or not. Without an id the server gives one."""
    block = {"type": "tool_use", "name": name, "input": arguments}
    return block | {"id": id} if id else block


def ran(
    command: str, out: str = "", *, code: int = 0, made: Mapping[str, bytes] = MappingProxyType({}), id: str = ""
) -> tuple[Json, Json]:
    """A command that the provider ran, and what came of it: ``made`` are the files it left. Without an id the server
    gives one."""
    given = {"type": "server_tool_use", "name": "bash_code_execution", "input": {"command": command}}
    left = [{"type": "bash_code_execution_output", "name": name, "data": data} for name, data in made.items()]
    outcome = {"stdout": out, "stderr": "", "return_code": code, "content": left}
    result = {
        "type": "bash_code_execution_tool_result",
        "content": {"type": "bash_code_execution_result", **outcome},
    }
    return (given | {"id": id}, result | {"tool_use_id": id}) if id else (given, result)


def reply(
    *blocks: Json, stop_reason: str = "", usage: Json | None = None, pace: float = 0.0, broken: Break | None = None
) -> Answer:
    """One reply. The stop reason follows from the blocks where none is given."""
    calls = any(block["type"] == "tool_use" for block in blocks)
    return Answer(
        content=list(blocks),
        stop_reason=stop_reason or ("tool_use" if calls else "end_turn"),
        usage=usage or {},
        pace=pace,
        broken=broken,
    )


def overloaded(retry_after: str = "") -> Refusal:
    return Refusal(529, "overloaded_error", "Overloaded", _wait(retry_after))


def rate_limited(retry_after: str = "", *, code: str = "") -> Refusal:
    return Refusal(429, "rate_limit_error", "This request would exceed your rate limit", _wait(retry_after), code)


def _wait(retry_after: str) -> dict[str, str]:
    return {"retry-after": retry_after} if retry_after else {}


class ScriptedModel(ModelServer):
    """Plays its steps in order, one for each request that breaks no rule; keywords are those of ModelServer.

    ``requests`` holds every request that got a step. Requests that run at the same time take steps in the order they
    arrive: give such conversations one callable brain, ``ModelServer(brain)``, instead.
    """

    def __init__(self, steps: Iterable[Line], **options: Any) -> None:
        super().__init__(self._play, **options)
        self._steps = list(steps)
        self.requests: list[Json] = []
        self.url = ""

    async def _play(self, request: Json) -> Step:
        self.requests.append(request)
        if len(self.requests) > len(self._steps):
            return Refusal(500, message=f"the script is over: request {len(self.requests)} of {len(self._steps)}")
        step = self._steps[len(self.requests) - 1]
        if callable(step):
            made = step(request)
            step = await made if isinstance(made, Awaitable) else made
        return reply(step) if isinstance(step, dict) else step

    def spare(self) -> None:
        """What is left of the script need not be played."""
        self._steps = self._steps[: len(self.requests)]

    def finish(self) -> None:
        """Raises AssertionError where the script and what happened differ: unused steps, too many requests, refusals.

        A test that means to send a faulty request clears ``refused`` first.
        """
        unused = len(self._steps) - len(self.requests)
        faults = [f"refused a request: {fault}" for fault in self.refused]
        if unused > 0:
            faults.append(f"{unused} of {len(self._steps)} steps were not used")
        if unused < 0:
            faults.append(f"{-unused} more requests than steps")
        if faults:
            raise AssertionError("; ".join(faults))


@asynccontextmanager
async def scripted(*steps: Line, **options: Any) -> AsyncIterator[ScriptedModel]:
    """Serve a script at ``.url``; when the block ends well, everything in it must have been used."""
    model = ScriptedModel(steps, **options)
    async with serve(model.app) as model.url:
        yield model
    model.finish()
