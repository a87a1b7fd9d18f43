"""A whole Kabar that other agents can call over HTTP: real parts, and a model with a script."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx
from a2a.client import Client, ClientConfig, create_client
from a2a.types import a2a_pb2 as wire
from google.protobuf.json_format import MessageToDict
from msgspec import Struct
from msgspec.structs import replace
from starlette.types import ASGIApp

from bot.channels.a2a.handler import Desk
from bot.channels.a2a.server import application
from bot.cli.wiring import Local, local
from bot.messages import Json
from bot.ports import Channel
from bot.toolkit import Tool
from handlers.a2a import SetKeys, make_desk
from handlers.settings import read_settings
from simulator.script import Line, ScriptedModel, scripted
from simulator.serving import serve

KEYS = {"weather": "a-key-of-the-weather", "boss": "a-key-of-the-boss-1"}
WAIT = 20.0


class Agent(Struct, frozen=True):
    url: str
    local: Local
    model: ScriptedModel
    desk: Desk


@asynccontextmanager
async def agent(
    folder: Path,
    *script: Line,
    tools: Sequence[Tool] = (),
    channels: Mapping[str, Channel] = MappingProxyType({}),
    **settings: str,
) -> AsyncIterator[Agent]:
    """``settings`` are names as in the environment."""
    folder.mkdir(parents=True, exist_ok=True)  # noqa: ASYNC240 - before anything runs
    given = {
        "KABAR_A2A_KEYS": ",".join(f"{name}:{key}" for name, key in KEYS.items()),
        "KABAR_ALLOWED_USERS": "*",
        "KABAR_DATA": str(folder / "kabar.sqlite3"),
        "KABAR_FILES": str(folder / "files"),
        "KABAR_AGENT_DIR": str(folder / "agent"),
        "ANTHROPIC_API_KEY": "k",
        **settings,
    }
    async with scripted(*script) as model:
        read = read_settings({**given, "ANTHROPIC_BASE_URL": model.url})
        async with local(read, channels, tools, grace=1) as bot:
            desk = make_desk(read, bot.store, bot.wake, bot.clock, bot.blobs, streams=True)
            async with serve(application(desk, SetKeys(read))) as url:
                yield Agent(url, bot, model, desk)


@asynccontextmanager
async def another_door(
    agent: Agent, wrap: Callable[[ASGIApp], ASGIApp] = lambda app: app, **desk: Any
) -> AsyncIterator[Agent]:
    """The same agent at another address, where its desk differs in these fields."""
    keys = SetKeys(read_settings({"KABAR_A2A_KEYS": ",".join(f"{name}:{key}" for name, key in KEYS.items())}))
    async with serve(wrap(application(replace(agent.desk, **desk), keys))) as url:
        yield replace(agent, url=url)


def http(name: str = "weather") -> httpx.AsyncClient:
    return httpx.AsyncClient(headers={"Authorization": f"Bearer {KEYS.get(name, name)}"}, timeout=WAIT)


@asynccontextmanager
async def calling(agent: Agent, name: str = "weather", **config: Any) -> AsyncIterator[Client]:
    """The official client with this caller's key."""
    async with (
        http(name) as client,
        await create_client(agent.url, ClientConfig(httpx_client=client, **config)) as caller,
    ):
        yield caller


def message(text: str, id: str = "m1", *, context: str = "", task: str = "", **more: Any) -> wire.SendMessageRequest:
    parts = more.pop("parts", [wire.Part(text=text)])
    said = wire.Message(message_id=id, role=wire.ROLE_USER, parts=parts, context_id=context, task_id=task)
    return wire.SendMessageRequest(message=said, **more)


async def sent(client: Client, request: wire.SendMessageRequest) -> Json:
    """The task that came back, whole, as JSON."""
    answers = [event async for event in client.send_message(request)]
    return as_json(answers[-1].task)


async def got(client: Client, task: str, **more: Any) -> Json:
    return as_json(await client.get_task(wire.GetTaskRequest(id=task, **more)))


async def raw(agent: Agent, method: str, params: Json, *, name: str = "weather", version: str = "1.0") -> Json:
    """One call of JSON-RPC as it is on the wire."""
    async with http(name) as client:
        answer = await client.post(
            f"{agent.url}/a2a",
            json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params},
            headers={"A2A-Version": version} if version else {},
        )
    found: Json = answer.json()
    return found


def as_json(task: Any) -> Json:
    found: Json = MessageToDict(task)
    return found


def state(task: Json) -> str:
    return str(task["status"]["state"]).removeprefix("TASK_STATE_").lower()


def words(task: Json) -> list[str]:
    return [part["text"] for artifact in task.get("artifacts", ()) for part in artifact["parts"] if "text" in part]


def note(task: Json) -> str:
    return str(task["status"]["message"]["parts"][0]["text"])
