"""The function for other agents, called as Lambda calls it, beside the real worker on the emulator's AWS."""

import asyncio
import json
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

import httpx
import pytest
from a2a.client import ClientConfig, create_client
from a2a.types import a2a_pb2 as wire
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from handlers import a2a
from simulator.script import call, reply, scripted, text
from simulator.serving import serve
from tests.channels.a2a.agents import KEYS, WAIT, message, sent, state, words
from tests.cloud import Context, cloud_for
from tests.emulator import Account
from tests.packages.events import http_event


@asynccontextmanager
async def front() -> AsyncIterator[str]:
    """An HTTP server where the function URL is; the function has a thread of its own, its execution environment."""
    environment = ThreadPoolExecutor(1, "a2a")
    loop = asyncio.get_running_loop()

    async def request(request: Request) -> Response:
        event = http_event(request.url.path, await request.body(), dict(request.headers), method=request.method)
        answer = json.loads(json.dumps(await loop.run_in_executor(environment, a2a.handler, event, Context(35))))
        return Response(answer["body"], answer["statusCode"], answer["headers"])

    try:
        async with serve(Starlette(routes=[Route("/{path:path}", request, methods=["GET", "POST"])])) as url:
            yield url
    finally:
        await loop.run_in_executor(environment, a2a.forget)
        environment.shutdown()


async def test_another_agent_is_answered_from_the_table_while_the_worker_runs_the_turn(
    aws: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = f"weather:{KEYS['weather']}"
    aws.client("ssm").put_parameter(Name="/kabar/test/KABAR_A2A_KEYS", Value=keys, Type="SecureString")
    script = (reply(call("write_file", {"name": "plan.md", "content": "# Plan"})), text("Written."))
    async with scripted(*script) as model, cloud_for(aws, "http://127.0.0.1:9", model.url, monkeypatch), front() as url:
        monkeypatch.setenv("KABAR_A2A_URL", url)
        async with httpx.AsyncClient(timeout=2 * WAIT) as http:
            assert (await http.post(f"{url}/a2a", json={})).status_code == 401
            card = (await http.get(f"{url}/.well-known/agent-card.json")).json()
            assert (card["url"], card["capabilities"]["streaming"]) == (f"{url}/a2a", False)

            http.headers["Authorization"] = f"Bearer {KEYS['weather']}"
            client = await create_client(url, ClientConfig(httpx_client=http))
            task = await sent(client, message("A plan, please", parts=[_table()]))
            again = await sent(client, message("A plan, please", parts=[_table()]))

        assert (state(task), words(task), again) == ("completed", ["Written."], task)
        assert "rice,3" in str(model.requests[0]["messages"])
        [file] = [part for part in task["artifacts"][0]["parts"] if "raw" in part]
        assert file["filename"] == "plan.md"


async def test_without_keys_in_the_secret_store_nobody_is_let_in(aws: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = "http://127.0.0.1:9"
    key = {"Authorization": f"Bearer {KEYS['weather']}"}
    async with cloud_for(aws, nobody, nobody, monkeypatch), front() as url, httpx.AsyncClient(headers=key) as http:
        assert (await http.post(f"{url}/a2a", json={})).status_code == 401


def _table() -> wire.Part:
    return wire.Part(raw=b"rice,3\n", filename="stock.csv", media_type="text/csv")
