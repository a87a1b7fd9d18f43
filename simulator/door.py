"""The page's door: what it shows, what happens, and what its people do. README.md gives the shapes."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from simulator.slack import BOT_USER
from simulator.world import Fault, Json, Mistake

if TYPE_CHECKING:
    from simulator.app import Simulator

_PAGE = Path(__file__).parent / "page"


class Say(msgspec.Struct):
    platform: str
    chat: str
    user: str
    text: str
    thread: str = ""
    reply_to: str = ""
    edit: str = ""


class Tap(msgspec.Struct):
    platform: str
    chat: str
    user: str
    message: str
    button: str


class Stop(msgspec.Struct):
    chat: str
    user: str
    thread: str


Action = Callable[["Simulator", bytes], Awaitable[Any]]


def door_routes(simulator: "Simulator") -> list[BaseRoute]:
    def post(path: str, action: Action) -> Route:
        async def endpoint(request: Request) -> Response:
            return await _acted(request, simulator, action)

        return Route(path, endpoint, methods=["POST"])

    async def index(request: Request) -> Response:
        return FileResponse(_PAGE / "index.html")

    async def state(request: Request) -> Response:
        return JSONResponse(page_state(simulator))

    async def calls(request: Request) -> Response:
        return JSONResponse(msgspec.to_builtins(simulator.world.calls))

    async def events(request: Request) -> Response:
        headers = {"Cache-Control": "no-store"}
        return StreamingResponse(_event_stream(simulator), media_type="text/event-stream", headers=headers)

    async def file(request: Request) -> Response:
        """A file in Slack, for people, who need no token."""
        found = simulator.slack.files.get(request.path_params["id"])
        return Response(found.data, media_type=found.media_type) if found else Response("Not found", 404)

    return [
        Route("/", index),
        Mount("/static", StaticFiles(directory=_PAGE)),
        Route("/sim/state", state),
        Route("/sim/calls", calls),
        Route("/sim/events", events),
        Route("/sim/files/{id}", file),
        post("/sim/say", say),
        post("/sim/tap", tap),
        post("/sim/stop", stop),
        post("/sim/faults", order_fault),
        post("/sim/reset", reset),
    ]


async def _acted(request: Request, simulator: "Simulator", action: Action) -> Response:
    """Only JSON is taken: another site's form can not send that here without asking first."""
    try:
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            raise Mistake("Send JSON.")
        result = await action(simulator, await request.body())
    except (Mistake, msgspec.DecodeError) as fault:
        return JSONResponse({"error": str(fault)}, 400)
    return JSONResponse(msgspec.to_builtins(result))


def page_state(simulator: "Simulator") -> Json:
    """Everything the page shows."""
    world = simulator.world
    names = {person.slack_id: person.name for person in world.people}
    names |= {chat.id: chat.title for chat in world.chats if chat.kind == "channel"}
    mention = {"telegram": f"@{simulator.telegram.username}", "slack": f"<@{BOT_USER}>"}
    return {**world.state(), "mention": mention, "names": {**names, BOT_USER: "Kabar"}}


async def _event_stream(simulator: "Simulator") -> AsyncIterator[str]:
    async for event in simulator.world.watch():
        yield f"id: {event.version}\nevent: {event.type}\ndata: {json.dumps(event.data)}\n\n"


async def say(simulator: "Simulator", body: bytes) -> object:
    said = msgspec.json.decode(body, type=Say)
    if said.platform == "slack":
        if said.edit:
            return await simulator.slack.edit(said.chat, said.user, said.edit, said.text)
        thread = said.thread or said.reply_to
        return await simulator.slack.say(said.chat, said.user, said.text, thread)
    if said.edit:
        return await simulator.telegram.edit(said.chat, said.user, said.edit, said.text)
    return await simulator.telegram.say(said.chat, said.user, said.text, thread=said.thread, reply_to=said.reply_to)


async def tap(simulator: "Simulator", body: bytes) -> object:
    tapped = msgspec.json.decode(body, type=Tap)
    platform = simulator.slack if tapped.platform == "slack" else simulator.telegram
    await platform.tap(tapped.chat, tapped.user, tapped.message, tapped.button)
    return {"ok": True}


async def stop(simulator: "Simulator", body: bytes) -> object:
    stopped = msgspec.json.decode(body, type=Stop)
    await simulator.slack.stop(stopped.chat, stopped.user, stopped.thread)
    return {"ok": True}


async def order_fault(simulator: "Simulator", body: bytes) -> object:
    wanted = msgspec.json.decode(body)
    if isinstance(wanted, dict) and wanted.get("clear"):
        simulator.world.clear_faults()
    else:
        simulator.world.add_fault(msgspec.convert(wanted, Fault))
    return simulator.world.faults


async def reset(simulator: "Simulator", body: bytes) -> object:
    simulator.reset()
    return {"ok": True}
