"""An agent of somebody else's: the official SDK's own server and task store. What it does stands in the message."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from a2a.helpers import new_task_from_user_message, new_text_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import a2a_pb2 as wire
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from simulator.serving import serve


class Official(AgentExecutor):
    """``heard`` is what it was asked, with the context and the task named; ``gate`` lets "slow" go on."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.gate = asyncio.Event()
        self.url = ""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        words = context.get_user_input()
        self.heard.append((words, context.context_id or "", context.task_id or ""))
        if words == "hello":
            await event_queue.enqueue_event(new_text_message("Hello to you.", context_id=context.context_id))
            return
        assert context.message is not None
        task = context.current_task
        if task is None:
            task = new_task_from_user_message(context.message)
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await self._answer(words, updater)

    async def _answer(self, words: str, updater: TaskUpdater) -> None:
        match words:
            case "slow":
                await updater.start_work()
                await self.gate.wait()
                await updater.add_artifact([wire.Part(text="At last.")])
                await updater.complete()
            case "ask":
                await updater.requires_input(updater.new_agent_message([wire.Part(text="Which city?")]))
            case "fail":
                await updater.failed(updater.new_agent_message([wire.Part(text="No such city.")]))
            case "sign in":
                await updater.requires_auth(updater.new_agent_message([wire.Part(text="https://example.com/in")]))
            case "file":
                parts = [wire.Part(text="Here:"), wire.Part(raw=b"a,b\n", filename="../t.csv", media_type="text/csv")]
                await updater.add_artifact(parts)
                await updater.complete()
            case _:
                await updater.add_artifact([wire.Part(text=f"You said: {words}")])
                await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


@asynccontextmanager
async def official(*versions: str, card: str = "", moved: bool = False) -> AsyncIterator[Official]:
    """Serving these versions; none means that it has no card and speaks 0.3 only. ``card`` is the address that its card
    names; ``moved``: it sends every call elsewhere."""
    executor = Official()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await made[0](scope, receive, send)

    made: list[ASGIApp] = []
    async with serve(app) as executor.url:
        interfaces = [
            wire.AgentInterface(url=card or executor.url, protocol_binding="JSONRPC", protocol_version=version)
            for version in versions
        ]
        described = wire.AgentCard(
            name="Official",
            description="An agent",
            version="1",
            supported_interfaces=interfaces,
            capabilities=wire.AgentCapabilities(streaming=True),
            default_input_modes=["text/plain"],
            default_output_modes=["text/plain"],
            skills=[wire.AgentSkill(id="a", name="a", description="a", tags=["a"])],
        )
        handler = DefaultRequestHandler(executor, InMemoryTaskStore(), described)
        routes = create_jsonrpc_routes(handler, "/", enable_v0_3_compat="1.0" not in versions)
        made.append(
            _Noting(
                Starlette(routes=[*(create_agent_card_routes(described) if versions else ()), *routes]), executor, moved
            )
        )
        try:
            yield executor
        finally:
            executor.gate.set()
            await handler.aclose()


class _Noting:
    def __init__(self, app: ASGIApp, official: Official, moved: bool) -> None:
        self._app = app
        self._official = official
        self._moved = moved

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self._official.headers.append(dict(Request(scope).headers))
            if self._moved:
                await Response(status_code=307, headers={"location": "http://127.0.0.1:9/"})(scope, receive, send)
                return
        await self._app(scope, receive, send)
