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

from simulator.files import file_routes, kept
from simulator.slack import BOT_USER
from simulator.world import Fault, Json, Mistake

if TYPE_CHECKING:
    from simulator.app import Simulator

_PAGE = Path(__file__).parent / "page"


class Attached(msgspec.Struct):
    """An uploaded file. ``kind`` is how Telegram sends it, "" for the usual way."""

    id: str
    kind: str = ""


class Location(msgspec.Struct):
    latitude: float
    longitude: float


class Venue(msgspec.Struct):
    location: Location
    title: str
    address: str


class Contact(msgspec.Struct):
    phone_number: str
    first_name: str


class Shared(msgspec.Struct, omit_defaults=True):
    """What a person sends in Telegram that is neither text nor a file: one of these. ``sticker`` is its emoji."""

    sticker: str = ""
    location: Location | None = None
    venue: Venue | None = None
    contact: Contact | None = None


class Say(msgspec.Struct):
    platform: str
    chat: str
    user: str
    text: str = ""
    thread: str = ""
    reply_to: str = ""
    quote: str = ""
    edit: str = ""
    files: list[Attached] = []
    seconds: int = 1
    share: Shared | None = None


class Tap(msgspec.Struct):
    platform: str
    chat: str
    user: str
    message: str
    button: str


class Delete(msgspec.Struct):
    platform: str
    chat: str
    user: str
    message: str


class Speak(msgspec.Struct):
    user: str
    language: str


class Stop(msgspec.Struct):
    chat: str
    user: str
    thread: str = ""
    platform: str = "slack"


class Command(msgspec.Struct):
    chat: str
    user: str
    text: str = ""
    command: str = "/kabar"


class Shortcut(msgspec.Struct):
    chat: str
    user: str
    message: str


class Home(msgspec.Struct):
    user: str
    tab: str = "home"
    button: str = ""


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

    async def turns(request: Request) -> Response:
        found = await simulator.inspector.turns() if simulator.inspector else []
        return JSONResponse(msgspec.to_builtins(found))

    async def events(request: Request) -> Response:
        headers = {"Cache-Control": "no-store"}
        return StreamingResponse(_event_stream(simulator), media_type="text/event-stream", headers=headers)

    return [
        Route("/", index),
        Mount("/static", StaticFiles(directory=_PAGE)),
        Route("/sim/state", state),
        Route("/sim/calls", calls),
        Route("/sim/turns", turns),
        Route("/sim/events", events),
        *file_routes(simulator.world),
        post("/sim/say", say),
        post("/sim/tap", tap),
        post("/sim/delete", delete),
        post("/sim/person", speak),
        post("/sim/stop", stop),
        post("/sim/command", command),
        post("/sim/shortcut", shortcut),
        post("/sim/home", home),
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
        files = [kept(simulator.world, attached.id) for attached in said.files]
        return await simulator.slack.say(said.chat, said.user, said.text, thread, files=files)
    return await _say_in_telegram(simulator, said)


async def _say_in_telegram(simulator: "Simulator", said: Say) -> object:
    """The message that was said; of several, the first."""
    where = (said.chat, said.user)
    if said.edit:
        return await simulator.telegram.edit(*where, said.edit, said.text)
    if said.share:
        content = msgspec.to_builtins(said.share)
        if len(content) != 1:
            raise Mistake("Share one thing at a time.")
        return await simulator.telegram.share(*where, content, thread=said.thread, reply_to=said.reply_to)
    if said.files:
        files = [(kept(simulator.world, attached.id), attached.kind) for attached in said.files]
        sent = await simulator.telegram.send(
            *where, files, said.text, thread=said.thread, reply_to=said.reply_to, seconds=said.seconds
        )
        return sent[0]
    return await simulator.telegram.say(*where, said.text, thread=said.thread, reply_to=said.reply_to, quote=said.quote)


async def tap(simulator: "Simulator", body: bytes) -> object:
    tapped = msgspec.json.decode(body, type=Tap)
    platform = simulator.slack if tapped.platform == "slack" else simulator.telegram
    await platform.tap(tapped.chat, tapped.user, tapped.message, tapped.button)
    return {"ok": True}


async def delete(simulator: "Simulator", body: bytes) -> object:
    chosen = msgspec.json.decode(body, type=Delete)
    platform = simulator.slack if chosen.platform == "slack" else simulator.telegram
    await platform.delete(chosen.chat, chosen.user, chosen.message)
    return {"ok": True}


async def speak(simulator: "Simulator", body: bytes) -> object:
    chosen = msgspec.json.decode(body, type=Speak)
    simulator.world.speak(chosen.user, chosen.language)
    return {"ok": True}


async def stop(simulator: "Simulator", body: bytes) -> object:
    stopped = msgspec.json.decode(body, type=Stop)
    platform = simulator.telegram if stopped.platform == "telegram" else simulator.slack
    await platform.stop(stopped.chat, stopped.user, stopped.thread)
    return {"ok": True}


async def command(simulator: "Simulator", body: bytes) -> object:
    used = msgspec.json.decode(body, type=Command)
    await simulator.slack.command(used.chat, used.user, used.text, used.command)
    return {"ok": True}


async def shortcut(simulator: "Simulator", body: bytes) -> object:
    chosen = msgspec.json.decode(body, type=Shortcut)
    await simulator.slack.shortcut(chosen.chat, chosen.user, chosen.message)
    return {"ok": True}


async def home(simulator: "Simulator", body: bytes) -> object:
    opened = msgspec.json.decode(body, type=Home)
    if opened.button:
        await simulator.slack.tap_home(opened.user, opened.button)
    else:
        await simulator.slack.open_home(opened.user, opened.tab)
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
