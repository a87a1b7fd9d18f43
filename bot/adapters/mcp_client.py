"""Servers of the Model Context Protocol, by its official SDK: programs on this machine, or addresses (streamable HTTP).

Importing this loads the SDK, which takes more than half a second: whoever wires it does so when a server is spoken to.

A connection is held by a task of its own, since the SDK wants it opened and closed in one. Calls of any number go
through it at once. Whatever goes wrong in one of them, the connection takes no new ones and ends with its last: the
next call connects anew.
"""

import asyncio
import logging
import re
import tempfile
import time
from base64 import b64decode
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, TextIO, TypeVar, cast
from urllib.parse import quote, urlsplit

import mcp_types as types
from jsonschema import Draft202012Validator, SchemaError
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.session import ClientRequestContext, IncomingMessage
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from bot.mcp.configured import Address, Auth, Command, Server
from bot.mcp.port import (
    Answer,
    Answered,
    Offer,
    Offered,
    Parameter,
    Piece,
    PromptOffer,
    Question,
    Refused,
    ResourceOffer,
    Unreachable,
)
from bot.messages import Json
from bot.version import VERSION

CONNECT = 15.0
"""Seconds until a server must have answered our greeting."""
GOODBYE = 8.0
"""Seconds for a connection to end; then it is cut. The SDK needs up to seven for a program that does not want to."""
MOST_PAGES = 20
MOST_TOOLS = 128
MOST_OTHERS = 200
"""Prompts, and resources, of one server."""
LONGEST_DESCRIPTION = 4_000
LARGEST_SCHEMA = 20_000
LARGEST_LIST = 200_000
"""Characters: of a tool's description, of its arguments, and of all tools of a server together, which are 50,000 tokens
of every prompt."""
LARGEST_MESSAGE = 30_000_000
"""Bytes of one server-sent event; pictures come in them."""
LAST_WORDS = 500
"""Characters of what a program that did not start wrote to its standard error."""
SHORTEST_SECRET = 6
"""Characters: shorter values of a program's environment are told, or nothing that it wrote could be read."""
EARLY = 60.0
"""Seconds before its end in which a token is not used any more."""

UNUSABLE = frozenset({"anyOf", "oneOf", "allOf"})
"""What the Messages API does not take at the top of a tool's arguments."""

ARGUMENT = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
"""What it takes as an argument's name."""

Transport = AbstractAsyncContextManager[Any]
"""The SDK's: entered, it gives the two streams of a connection."""
Open = Callable[[Server, TextIO], AbstractAsyncContextManager[Transport]]

log = logging.getLogger(__name__)

T = TypeVar("T")


class McpClients:
    """Port ``Remote``. ``inherited`` is the environment that every program gets besides the SDK's own few names
    (PATH, HOME and the like). ``idle``: seconds that an unused connection stays open; with 0 it ends with the turn.
    ``changed`` is called with the key of a server that says that it offers something else now."""

    def __init__(self, inherited: Mapping[str, str], idle: float, changed: Callable[[str], None]) -> None:
        self._inherited = inherited
        self._idle = idle
        self._changed = changed
        self._lines: dict[str, _Line] = {}
        self._tokens: dict[str, tuple[str, float]] = {}
        self._kept_tokens: dict[str, _Tokens] = {}
        self._ending: set[asyncio.Task[None]] = set()

    async def offered(self, server: Server) -> Offered:
        return await self._do(server, _offered, again=True)

    async def call(
        self, server: Server, tool: str, arguments: Json, *, repeatable: bool, answers: Sequence[Answer] = ()
    ) -> Answered:
        """Where answers are given, by a connection of its own: the server's questions belong to this call then. Else a
        question is told to every call under way, as the protocol does not always say whose it is."""

        async def progressed(progress: float, total: float | None, message: str | None) -> None:
            log.debug("server=<%s>, tool=<%s>, progress=<%s>, total=<%s>", server.name, tool, progress, total)

        async def call(line: _Line) -> Answered:
            before = len(line.questions)
            result = await line.client.call_tool(tool, arguments, progress_callback=progressed)
            pieces = tuple(map(_piece, result.content))
            asked = tuple(line.questions[before:])
            return Answered(pieces, result.structured_content, result.is_error, asked)

        return await self._do(server, call, again=repeatable, answers=answers)

    async def read(self, server: Server, uri: str) -> tuple[Piece, ...]:
        async def read(line: _Line) -> tuple[Piece, ...]:
            result = await line.client.read_resource(uri)
            return tuple(_content(each) for each in result.contents)

        return await self._do(server, read, again=True)

    async def prompt(self, server: Server, name: str, arguments: dict[str, str]) -> str:
        async def ask(line: _Line) -> str:
            result = await line.client.get_prompt(name, arguments)
            return "\n\n".join(filter(None, map(_said, result.messages)))

        return await self._do(server, ask, again=True)

    async def rest(self) -> None:
        if not self._idle:
            await self.close()

    async def close(self) -> None:
        for name in list(self._lines):
            self._retire(name, self._lines[name])
        await asyncio.gather(*self._ending)

    async def _do(
        self,
        server: Server,
        work: "Callable[[_Line], Awaitable[T]]",
        *,
        again: bool,
        answers: Sequence[Answer] = (),
    ) -> T:
        """Raises Unreachable and Refused. Where an old connection turns out to be dead it is done once more by a new
        one, if the call did not reach the server or may be made ``again``."""
        line, is_new = self._line(server, answers)
        try:
            return await self._by(line, server, work)
        except Unreachable as why:
            if is_new or (why.sent and not again):
                raise
        line, _ = self._line(server, answers)
        return await self._by(line, server, work)

    async def _by(self, line: "_Line", server: Server, work: "Callable[[_Line], Awaitable[T]]") -> T:
        async with self._using(server, line):
            await line.opened()
            return await _translated(server, work(line))

    def _line(self, server: Server, answers: Sequence[Answer]) -> "tuple[_Line, bool]":
        """An open connection, and whether it is new."""
        known = self._lines.get(server.key)
        if known and not known.is_over and not answers:
            return known, False
        line = _Line(server, self._opened, answers, self._changed, listens=bool(self._idle))
        if not answers:
            self._lines[server.key] = line
        return line, True

    @asynccontextmanager
    async def _using(self, server: Server, line: "_Line") -> AsyncIterator[None]:
        line.users += 1
        line.uses += 1
        try:
            yield
        except BaseException:
            self._retire(server.key, line)
            self._tokens.pop(server.key, None)  # it may be what was wrong
            raise
        finally:
            line.users -= 1
            if not line.users:
                self._is_idle(server.key, line)

    def _is_idle(self, key: str, line: "_Line") -> None:
        if self._lines.get(key) is not line:
            self._end(line)
        elif self._idle:
            asyncio.get_running_loop().call_later(self._idle, self._look, key, line, line.uses)

    def _look(self, key: str, line: "_Line", uses: int) -> None:
        """Whether nobody has used it since."""
        if line.uses == uses:
            self._retire(key, line)

    def _retire(self, key: str, line: "_Line") -> None:
        """No new call goes through it; it ends with its last."""
        if self._lines.get(key) is line:
            del self._lines[key]
        if not line.users:
            self._end(line)

    def _end(self, line: "_Line") -> None:
        ending = asyncio.get_running_loop().create_task(line.end())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    # Opening

    @asynccontextmanager
    async def _opened(self, server: Server, errors: TextIO) -> AsyncIterator[Transport]:
        """The SDK's transport to a server. ``errors`` gets what a program writes to its standard error."""
        match server.at:
            case Command(command, args, env, cwd):
                environment = {**self._inherited, **env}
                program = StdioServerParameters(command=command, args=list(args), env=environment, cwd=cwd or None)
                yield stdio_client(program, errlog=errors)
            case Address(url, headers, auth):
                provider = None
                if auth and auth.token_url:
                    headers = {**headers, "Authorization": f"Bearer {await self._token(server, auth)}"}
                elif auth:
                    provider = self._provider(server, url, auth)
                async with create_mcp_http_client(headers, auth=provider) as http:
                    yield streamable_http_client(url, http_client=http, max_sse_event_size=LARGEST_MESSAGE)

    async def _token(self, server: Server, auth: Auth) -> str:
        """By client credentials (RFC 6749, 4.4), from the one address that the owner named."""
        token, until = self._tokens.get(server.key, ("", 0.0))
        if time.monotonic() < until:
            return token
        form = {"grant_type": "client_credentials"} | ({"scope": auth.scope} if auth.scope else {})
        who = (quote(auth.client_id, safe=""), quote(auth.client_secret, safe=""))
        async with create_mcp_http_client() as http:
            answer = await http.post(auth.token_url, data=form, auth=who)
        try:
            told = answer.json() if answer.is_success else {}
        except ValueError:
            told = {}
        if not isinstance(told, dict) or not isinstance(told.get("access_token"), str):
            raise Unreachable(f"The server {server.name} can not be used: no token was given for it.")
        seconds = told.get("expires_in")
        lasts = float(seconds) if isinstance(seconds, int | float) else 0.0
        self._tokens[server.key] = (told["access_token"], time.monotonic() + lasts - EARLY)
        return cast(str, told["access_token"])

    def _provider(self, server: Server, url: str, auth: Auth) -> ClientCredentialsOAuthProvider:
        parts = urlsplit(url)
        return ClientCredentialsOAuthProvider(
            url,
            self._kept_tokens.setdefault(server.key, _Tokens()),
            auth.client_id,
            auth.client_secret,
            scope=auth.scope or None,
            issuer=auth.issuer or f"{parts.scheme}://{parts.netloc}",
        )


class _Line:
    """One connection, and the task that holds it. ``questions`` are what the server asked and nobody answered.
    ``listens``: what the server has to say between two calls is heard as well."""

    def __init__(
        self, server: Server, open_: Open, answers: Sequence[Answer], changed: Callable[[str], None], *, listens: bool
    ) -> None:
        self.name = server.name
        self._server = server
        self._answers = {_plain(each.question): each.fields for each in answers}
        self._changed = changed
        self._listens = listens
        self._ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._over = asyncio.Event()
        self._task = asyncio.create_task(self._hold(open_))
        self.questions: list[Question] = []
        self.users = 0
        self.uses = 0

    @property
    def client(self) -> Client:
        return self._ready.result()

    @property
    def is_over(self) -> bool:
        return self._task.done()

    async def opened(self) -> None:
        """Raises Unreachable."""
        try:
            async with asyncio.timeout(CONNECT):
                await asyncio.shield(self._ready)
        except TimeoutError:
            raise Unreachable(f"The server {self._server.name} did not answer within {CONNECT:.0f} seconds.") from None

    async def end(self) -> None:
        """Close it, or cut it where that takes too long. What comes of that is nobody's."""
        self._over.set()
        if self._ready.done():
            await asyncio.wait([self._task], timeout=GOODBYE)
        self._task.cancel()
        await asyncio.wait([self._task], timeout=GOODBYE)
        if not self._ready.done():
            self._ready.cancel()

    async def _hold(self, open_: Open) -> None:
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
            try:
                async with open_(self._server, errors) as transport, self._new_client(transport) as client:
                    self._ready.set_result(client)
                    hearing = asyncio.create_task(self._listen(client))
                    try:
                        await self._over.wait()
                    finally:
                        hearing.cancel()
                        await asyncio.wait([hearing])
            except Exception as error:  # where a connection begins and ends: whatever became of it, its users are told
                if self._ready.done():
                    log.info("server=<%s>, error=<%s> | a connection broke", self.name, _cause(error))
                    return
                self._ready.set_exception(_unreachable(self._server, error))
                self._ready.exception()  # maybe nobody waits any more
                errors.seek(0)  # nobody has said anything to it yet, so it is nobody's words
                if words := _unnamed(errors.read(), self._server)[-LAST_WORDS:].strip():
                    log.warning("server=<%s> | it did not start: %s", self.name, words)

    def _new_client(self, transport: Transport) -> Client:
        return Client(
            transport,
            client_info=types.Implementation(name="kabar", version=VERSION),
            elicitation_callback=self._answer,
            message_handler=self._heard,
            cache=None,
        )

    async def _answer(self, context: ClientRequestContext, params: types.ElicitRequestParams) -> types.ElicitResult:
        """The person's answer where there is one. Nobody is waited for: else the question is remembered."""
        fields = self._answers.get(_plain(params.message))
        if isinstance(params, types.ElicitRequestURLParams):
            self.questions.append(Question(params.message, url=params.url))
        elif fields is not None:
            return types.ElicitResult(action="accept", content=fields)
        else:
            self.questions.append(Question(params.message, params.requested_schema))
        return types.ElicitResult(action="cancel")

    async def _listen(self, client: Client) -> None:
        """Since 2026-07-28 a server tells what changed only to who asked to hear it; before, to everybody."""
        if self._listens and client.protocol_version in MODERN_PROTOCOL_VERSIONS:
            # What ends it is no loss: it is asked again within the hour.
            with suppress(MCPError, RuntimeError, TimeoutError):
                async with client.listen(
                    tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
                ) as subscription:
                    async for _ in subscription:
                        self._changed(self._server.key)

    async def _heard(self, message: IncomingMessage) -> None:
        if isinstance(
            message,
            types.ToolListChangedNotification
            | types.PromptListChangedNotification
            | types.ResourceListChangedNotification,
        ):
            self._changed(self._server.key)


class _Tokens:
    """What the SDK got for a server, for as long as this process lives."""

    def __init__(self) -> None:
        self._token: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self._token

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._token = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        pass


def _unnamed(words: str, server: Server) -> str:
    """What a program wrote, with names in place of the values that its owner gave it: they may be secrets."""
    given = server.at.env if isinstance(server.at, Command) else {}
    for name, value in sorted(given.items(), key=lambda pair: len(pair[1]), reverse=True):
        words = words.replace(value, f"[{name}]") if len(value) >= SHORTEST_SECRET else words
    return words


def _plain(text: str) -> str:
    return " ".join(text.split())


# What goes wrong


async def _translated(server: Server, work: Awaitable[T]) -> T:
    try:
        return await work
    except MCPError as error:
        if error.code == types.CONNECTION_CLOSED:
            message = f"The connection to the server {server.name} ended before it had answered."
            raise Unreachable(message, sent=True) from error
        if error.message == "Session terminated":  # the SDK's words for one that a restarted server does not know
            raise Unreachable(f"The server {server.name} was started anew meanwhile: try again.") from error
        raise Refused(error.message) from error
    except RuntimeError as error:  # the SDK's word for a result that breaks the tool's own schema, and the like
        raise Refused(str(error)[:1000]) from error
    except Exception as error:
        raise Unreachable(f"The server {server.name} does not answer ({_cause(error)}).", sent=True) from error


def _unreachable(server: Server, error: Exception) -> Unreachable:
    if isinstance(error, Unreachable):
        return error
    return Unreachable(f"The server {server.name} can not be reached ({_cause(error)}).")


def _cause(error: BaseException) -> str:
    """The kind of what lies at the bottom of it; its text might hold an address with a secret."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return type(error).__name__


# What it offers


async def _offered(line: _Line) -> Offered:
    client, capabilities = line.client, line.client.server_capabilities
    tools = await _all(client.list_tools, lambda page: page.tools) if capabilities.tools else []
    prompts = await _all(client.list_prompts, lambda page: page.prompts) if capabilities.prompts else []
    resources: list[ResourceOffer] = []
    if capabilities.resources:
        found = await _all(client.list_resources, lambda page: page.resources)
        resources += [ResourceOffer(str(each.uri), _about(each)) for each in found]
        templates = await _all(client.list_resource_templates, lambda page: page.resource_templates)
        resources += [ResourceOffer(each.uri_template, _about(each)) for each in templates]
    return Offered(
        tools=tuple(_fitting([_offer(each) for each in tools], line)),
        prompts=tuple(map(_prompt_offer, prompts[:MOST_OTHERS])),
        resources=tuple(resources[:MOST_OTHERS]),
    )


async def _all(ask: Callable[..., Awaitable[Any]], of: Callable[[Any], list[Any]]) -> list[Any]:
    """Of all pages. A list that the server turns out not to have is empty."""
    found: list[Any] = []
    cursor = None
    for _ in range(MOST_PAGES):
        try:
            page = await ask(cursor=cursor)
        except MCPError as error:
            if error.code == types.METHOD_NOT_FOUND:
                break
            raise
        found += of(page)
        cursor = page.next_cursor
        if cursor is None:
            break
    return found


def _offer(tool: types.Tool) -> Offer:
    hints = tool.annotations or types.ToolAnnotations()
    reads = hints.read_only_hint is True
    return Offer(
        name=tool.name,
        description=(tool.description or tool.title or tool.name)[:LONGEST_DESCRIPTION],
        schema=tool.input_schema,
        reads=reads,
        repeatable=reads or hints.idempotent_hint is True,
    )


def _fitting(offers: Sequence[Offer], line: _Line) -> list[Offer]:
    """Those that can stand in a prompt: one that the Messages API refuses would cost the bot all its answers."""
    fitting: list[Offer] = []
    size = 0
    for offer in sorted(offers, key=lambda each: each.name):
        size_here = len(offer.description) + len(str(offer.schema))
        if why := unfit(offer.schema):
            log.warning("server=<%s>, tool=<%s> | left out: %s", line.name, offer.name, why)
        elif len(fitting) >= MOST_TOOLS or size + size_here > LARGEST_LIST:
            log.warning("server=<%s>, tool=<%s> | left out: there are too many", line.name, offer.name)
        else:
            fitting.append(offer)
            size += size_here
    return fitting


def unfit(schema: Json) -> str:
    """Why arguments with this schema can not be asked of a model; "" where they can."""
    if schema.get("type") != "object" or UNUSABLE & schema.keys():
        return "its arguments are no plain object"
    if len(str(schema)) > LARGEST_SCHEMA:
        return "its arguments are described at too great length"
    names = schema.get("properties")
    if isinstance(names, dict) and not all(ARGUMENT.fullmatch(name) for name in names):
        return "an argument has a name that the Messages API does not take"
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError:
        return "its arguments are described by what is no JSON Schema"
    return ""


def _prompt_offer(prompt: types.Prompt) -> PromptOffer:
    parameters = tuple(Parameter(each.name, bool(each.required)) for each in prompt.arguments or ())
    return PromptOffer(prompt.name, (prompt.description or prompt.title or "")[:LONGEST_DESCRIPTION], parameters)


def _about(each: types.Resource | types.ResourceTemplate) -> str:
    about = f"({each.title or each.name}) {each.description or ''}".strip()
    return about[:LONGEST_DESCRIPTION]


# What it answers


def _piece(block: types.ContentBlock) -> Piece:
    match block:
        case types.TextContent():
            return Piece("text", block.text)
        case types.ImageContent():
            return _binary("picture", block.data, block.mime_type, sent=_is_for_the_person(block.annotations))
        case types.AudioContent():
            return _binary("file", block.data, block.mime_type, "audio", sent=_is_for_the_person(block.annotations))
        case types.ResourceLink():
            about = f" ({block.description})" if block.description else ""
            return Piece("text", f"[Resource: {block.title or block.name}{about}, {block.uri}]")
        case types.EmbeddedResource():
            return _content(block.resource)


def _content(resource: types.TextResourceContents | types.BlobResourceContents) -> Piece:
    if isinstance(resource, types.TextResourceContents):
        return Piece("text", f"[{resource.uri}]\n{resource.text}")
    media_type = resource.mime_type or "application/octet-stream"
    name = str(resource.uri).rstrip("/").rpartition("/")[2]
    return _binary("picture" if media_type.startswith("image/") else "file", resource.blob, media_type, name)


def _binary(kind: Any, data: str, media_type: str, name: str = "", *, sent: bool = True) -> Piece:
    with suppress(ValueError):
        return Piece(
            kind, data=b64decode("".join(data.split()), validate=True), media_type=media_type, name=name, sent=sent
        )
    return Piece("text", f"(A {kind} that can not be read.)")


def _is_for_the_person(annotations: types.Annotations | None) -> bool:
    return annotations is None or not annotations.audience or "user" in annotations.audience


def _said(message: types.PromptMessage) -> str:
    piece = _piece(message.content)
    words = piece.text or f"(A {piece.kind}.)"
    return f"(The assistant's part:) {words}" if message.role == "assistant" else words
