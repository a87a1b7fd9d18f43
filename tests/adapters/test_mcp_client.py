"""Servers over their real protocol: in this process by streamable HTTP, and as programs of their own."""

import asyncio
import logging
import os
import shutil
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.types import Receive, Scope, Send

from bot.adapters.mcp_client import McpClients, unfit
from bot.mcp.configured import Address, Auth, Command, Server
from bot.mcp.port import Answer, Answered, Refused, Unreachable
from simulator.serving import free_port, serve
from tests.mcp.server import make_server
from tests.pictures import PNG

WAIT = 30.0  # seconds; a bound, not a pause
PROGRAM = Server("odds", "odds", Command(sys.executable, ("-m", "tests.mcp.server"), {"OWN": "mine"}))


@asynccontextmanager
async def clients(idle: float = 0, inherited: dict[str, str] | None = None) -> AsyncIterator[McpClients]:
    made = McpClients(inherited or {}, idle, lambda key: None)
    try:
        async with asyncio.timeout(WAIT):
            yield made
    finally:
        await made.close()


@asynccontextmanager
async def by_http(**options: Any) -> AsyncIterator[Server]:
    async with serve(make_server().streamable_http_app(**options)) as url:
        yield Server("odds", "odds", Address(f"{url}/mcp"))


async def call(to: McpClients, server: Server, tool: str, **arguments: Any) -> Answered:
    return await to.call(server, tool, arguments, repeatable=True)


def texts(answered: Answered) -> list[str]:
    return [piece.text for piece in answered.pieces if piece.kind == "text"]


@pytest.fixture(params=["program", "http", "http with state"])
async def server(request: pytest.FixtureRequest) -> AsyncIterator[Server]:
    if request.param == "program":
        yield PROGRAM
    else:
        async with by_http(stateless_http=request.param == "http") as server:
            yield server


async def test_a_server_says_what_it_offers_and_answers_calls(server: Server) -> None:
    async with clients() as to:
        offered = await to.offered(server)
        tools = {offer.name: offer for offer in offered.tools}
        assert tools["echo"].description == "Say it again."
        assert tools["echo"].schema["required"] == ["text"]
        assert (tools["echo"].reads, tools["echo"].repeatable) == (True, True)
        assert (tools["book"].reads, tools["book"].repeatable) == (False, False)
        assert [(each.name, [p.required for p in each.parameters]) for each in offered.prompts] == [
            ("review", [True, False]),
            ("ponder", []),
        ]
        assert [each.uri for each in offered.resources] == ["note://today", "note://{name}"]

        assert texts(await call(to, server, "echo", text="héllo")) == ["héllo"]
        assert (await call(to, server, "add", a=1, b=2)).structured == {"sum": 3}
        failed = await call(to, server, "fail", words="no luck")
        assert failed.failed and "no luck" in texts(failed)[0]
        assert texts(Answered(await to.read(server, "note://rain"))) == ["[note://rain]\nA note on rain."]
        assert "Review plan.txt, deep." in await to.prompt(server, "review", {"file": "plan.txt", "depth": "deep"})


async def test_what_is_not_text_comes_as_bytes_and_says_for_whom_it_is() -> None:
    async with by_http() as server, clients() as to:
        pieces = (await call(to, server, "draw")).pieces
        assert [(piece.kind, piece.media_type, piece.sent) for piece in pieces] == [
            ("text", "", True),
            ("picture", "image/png", False),
            ("picture", "image/png", True),
            ("file", "audio/wav", True),
            ("text", "", True),
        ]
        assert pieces[1].data == PNG
        report = await call(to, server, "report")
        assert (report.pieces[0].name, report.pieces[0].data) == ("report.csv", b"a,b\n")
        assert texts(report) == ["[Resource: notes (what was said), note://today]"]


async def test_many_calls_at_once_go_through_one_connection() -> None:
    async with by_http(stateless_http=False) as server, clients() as to:
        answers = await asyncio.gather(*(call(to, server, "echo", text=str(number)) for number in range(20)))
        assert [texts(each) for each in answers] == [[str(number)] for number in range(20)]


async def test_a_question_ends_the_call_unanswered_and_an_answer_is_for_that_question_only(server: Server) -> None:
    async with clients() as to:
        asked = await call(to, server, "delete_all", place="attic")
        assert [each.message for each in asked.questions] == ["Really delete everything in attic?"]
        assert list(asked.questions[0].schema["properties"]) == ["sure"]

        async def answered(question: str) -> Answered:
            answers = [Answer(question, {"sure": True})]
            return await to.call(server, "delete_all", {"place": "attic"}, repeatable=False, answers=answers)

        assert texts(await answered("Really delete  everything in attic?")) == ["deleted attic"]
        assert [each.message for each in (await answered("Something else?")).questions] == [
            "Really delete everything in attic?"
        ]


async def test_a_program_gets_its_own_environment_and_none_of_our_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a secret")
    async with clients(inherited={"LANG": "C.UTF-8"}) as to:
        names = set((await call(to, PROGRAM, "surroundings")).structured["result"])
    assert {"OWN", "LANG", "PATH"} <= names
    assert names - {"OWN", "LANG", "PATH", "HOME", "LOGNAME", "SHELL", "TERM", "USER", "LC_CTYPE"} == set()


async def test_a_program_that_dies_in_a_call_is_a_clear_error_and_the_next_call_starts_it_anew() -> None:
    async with clients(idle=60) as to:
        with pytest.raises(Unreachable, match="ended before it had answered") as died:
            await to.call(PROGRAM, "die", {}, repeatable=False)
        assert died.value.sent
        assert texts(await call(to, PROGRAM, "echo", text="back")) == ["back"]


async def test_a_program_that_is_not_there_or_does_not_start_is_told_apart_from_its_words(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with clients() as to:
        with pytest.raises(Unreachable, match="gone can not be reached \\(FileNotFoundError\\)"):
            await to.offered(Server("gone", "gone", Command("/no/such/program")))
        says = "import os; raise SystemExit('no such key: ' + os.environ['KEY'])"
        silent = Server("silent", "silent", Command(sys.executable, ("-c", says), {"KEY": "xyzzy-4711"}))
        with pytest.raises(Unreachable, match="silent can not be reached"):
            await to.offered(silent)
    assert "no such key: [KEY]" in caplog.text
    assert "xyzzy" not in caplog.text


async def test_a_server_that_is_down_is_a_clear_error_and_answers_when_it_is_back() -> None:
    port = free_port()
    server = Server("odds", "odds", Address(f"http://127.0.0.1:{port}/mcp"))
    async with clients(idle=60) as to:
        for _ in range(2):
            with pytest.raises(Unreachable, match="can not be reached"):
                await call(to, server, "echo", text="hi")
            async with serve(make_server().streamable_http_app(), port=port):
                assert texts(await call(to, server, "echo", text="hi")) == ["hi"]


async def test_a_restarted_server_that_forgot_the_connection_is_asked_anew() -> None:
    port = free_port()
    server = Server("odds", "odds", Address(f"http://127.0.0.1:{port}/mcp"))
    async with clients(idle=60) as to:
        for number in range(3):
            async with serve(make_server().streamable_http_app(stateless_http=False), port=port):
                assert texts(await call(to, server, "echo", text=str(number))) == [str(number)]


async def test_a_cancelled_call_leaves_the_others_and_ends_the_connection_with_them() -> None:
    async with by_http(stateless_http=False) as server, clients(idle=60) as to:
        waiting = asyncio.create_task(call(to, server, "wait", steps=3))
        assert texts(await call(to, server, "echo", text="beside")) == ["beside"]
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert texts(await call(to, server, "echo", text="after")) == ["after"]


async def test_progress_is_logged_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "bot")
    heard = Heard("progress=<2")
    caplog.handler.addFilter(heard)
    async with by_http() as server, clients() as to:
        waiting = asyncio.create_task(call(to, server, "wait", steps=2))
        await heard.it.wait()
        waiting.cancel()
        await asyncio.wait([waiting])
    caplog.handler.removeFilter(heard)
    assert "secret word" not in "".join(r.getMessage() for r in caplog.records if r.name.startswith("bot"))


class Heard(logging.Filter):
    """Tells when something was logged."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.it = asyncio.Event()
        self._words = words

    def filter(self, record: logging.LogRecord) -> bool:
        if self._words in record.getMessage():
            self.it.set()
        return True


async def test_programs_end_with_the_turn_where_nothing_may_stay_open() -> None:
    async with clients(idle=0) as to:
        await call(to, PROGRAM, "echo", text="hi")
        assert len(programs()) == 1
        await to.rest()
        assert programs() == []


async def test_an_unused_connection_ends_by_itself() -> None:
    async with clients(idle=0.05) as to:
        await call(to, PROGRAM, "echo", text="hi")
        while programs():
            await asyncio.sleep(0.01)


def programs() -> Sequence[str]:
    """The servers that this process started and that still run, by their ids."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    if not children.exists():
        pytest.skip("The processes of this one can not be listed here.")
    commands = {pid: Path(f"/proc/{pid}/cmdline").read_text() for pid in children.read_text().split()}
    return [pid for pid, command in commands.items() if "tests.mcp.server" in command]


@pytest.mark.parametrize("way", ["stdio", "streamableHttp"])
async def test_the_reference_server_of_another_sdk_is_understood(way: str) -> None:
    """Where it is installed: npm install --global @modelcontextprotocol/server-everything."""
    program = shutil.which("mcp-server-everything")
    if program is None:
        pytest.skip("mcp-server-everything is not installed.")
    port = free_port()
    server = Server("every", "every", Command(program, ("stdio",)))
    async with clients() as to, AsyncExitStack() as stack:
        if way == "streamableHttp":
            server = Server("every", "every", Address(f"http://127.0.0.1:{port}/mcp"))
            environment = {**os.environ, "PORT": str(port)}
            running = await asyncio.create_subprocess_exec(
                program, way, env=environment, stdout=DEVNULL, stderr=DEVNULL
            )
            stack.callback(running.kill)
            while not await is_up(to, server):
                await asyncio.sleep(0.05)
        offered = await to.offered(server)
        assert {"echo", "get-tiny-image", "trigger-elicitation-request"} <= {offer.name for offer in offered.tools}
        assert texts(await call(to, server, "echo", message="hi")) == ["Echo: hi"]
        assert [piece.kind for piece in (await call(to, server, "get-tiny-image")).pieces] == [
            "text",
            "picture",
            "text",
        ]
        long = await call(to, server, "trigger-long-running-operation", duration=0.2, steps=2)
        assert texts(long)[0].startswith("Long running operation completed.")
        assert (await call(to, server, "trigger-elicitation-request")).questions
        assert (await call(to, server, "no-such-tool")).failed


async def is_up(to: McpClients, server: Server) -> bool:
    try:
        return bool(await to.offered(server))
    except Unreachable:
        return False


# Who may


class Doorkeeper:
    """An authorization server, and a server that lets in who has its token."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.lasts = 3600
        self.token = "t0"
        self._inner = make_server().streamable_http_app(stateless_http=True)

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        async with self._inner.router.lifespan_context(self._inner):
            yield

    def app(self, base: str) -> Starlette:
        inner = self._inner

        async def give(request: Request) -> Response:
            form = (await request.body()).decode()
            self.asked.append((request.headers.get("authorization", ""), form))
            self.token = f"t{len(self.asked)}"
            return JSONResponse({"access_token": self.token, "token_type": "Bearer", "expires_in": self.lasts})

        async def meta(request: Request) -> Response:
            found = {
                "issuer": base,
                "authorization_endpoint": f"{base}/authorize",
                "token_endpoint": f"{base}/token",
                "response_types_supported": ["code"],
            }
            return JSONResponse(found)

        async def resource(request: Request) -> Response:
            return JSONResponse({"resource": f"{base}/mcp", "authorization_servers": [base]})

        class Guarded:
            def __init__(self, keeper: Doorkeeper) -> None:
                self._keeper = keeper

            async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
                given = dict(scope["headers"]).get(b"authorization", b"").decode()
                if given == f"Bearer {self._keeper.token}":
                    await inner(scope, receive, send)
                else:
                    await Response(status_code=401)(scope, receive, send)

        return Starlette(
            routes=[
                Route("/token", give, methods=["POST"]),
                Route("/.well-known/oauth-authorization-server", meta),
                Route("/.well-known/oauth-protected-resource/mcp", resource),
                Mount("/", Guarded(self)),
            ],
            lifespan=self._lifespan,
        )


@asynccontextmanager
async def guarded(keeper: Doorkeeper, **auth: str) -> AsyncIterator[Server]:
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    async with serve(keeper.app(base), port=port):
        known = {name: value.replace("BASE", base) for name, value in auth.items()}
        yield Server("odds", "odds", Address(f"{base}/mcp", auth=Auth("us", "s:ecret", **known)))


async def test_client_credentials_are_given_to_the_named_address_once_while_the_token_lasts() -> None:
    keeper = Doorkeeper()
    async with guarded(keeper, token_url="BASE/token", scope="all") as server, clients() as to:
        for _ in range(2):
            assert texts(await call(to, server, "echo", text="in")) == ["in"]
            await to.rest()
        assert keeper.asked == [("Basic dXM6cyUzQWVjcmV0", "grant_type=client_credentials&scope=all")]
        keeper.token = "revoked"
        with pytest.raises((Unreachable, Refused)):
            await call(to, server, "echo", text="in")
        assert texts(await call(to, server, "echo", text="again")) == ["again"]


async def test_without_an_address_they_are_given_to_the_server_s_own_authorization_server_only() -> None:
    keeper = Doorkeeper()
    async with guarded(keeper) as server, clients() as to:
        assert texts(await call(to, server, "echo", text="in")) == ["in"]
        await to.rest()
        assert texts(await call(to, server, "echo", text="in")) == ["in"]
        assert len(keeper.asked) == 1
    elsewhere = Doorkeeper()
    async with guarded(elsewhere, issuer="https://id.example") as server, clients() as to:
        with pytest.raises(Unreachable):
            await call(to, server, "echo", text="in")
        assert elsewhere.asked == []


async def test_a_token_that_is_not_given_is_told_without_a_secret() -> None:
    keeper = Doorkeeper()
    async with guarded(keeper, token_url="BASE/nowhere") as server, clients() as to:
        with pytest.raises(Unreachable) as refused:
            await call(to, server, "echo", text="in")
    assert str(refused.value) == "The server odds can not be used: no token was given for it."


# What can not stand in a prompt


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "object", "properties": {"a.b-c_1": {}}}, ""),
        ({"type": "string"}, "no plain object"),
        ({"type": "object", "anyOf": []}, "no plain object"),
        ({"type": "object", "properties": {"a b": {}}}, "a name that"),
        ({"type": "object", "properties": {"a": {"type": "whatever"}}}, "no JSON Schema"),
        ({"type": "object", "description": "x" * 20_000}, "too great length"),
    ],
)
def test_a_tool_that_the_messages_api_would_refuse_is_left_out(schema: dict[str, Any], why: str) -> None:
    assert (unfit(schema) == "") if not why else (why in unfit(schema))
