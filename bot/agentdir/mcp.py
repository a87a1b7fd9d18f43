"""``agent/mcp.json``: the servers whose tools the bot may use, in the form that other agents read too.

    {"mcpServers": {
        "time": {"command": "mcp-server-time", "args": ["--local-timezone", "UTC"], "ask": []},
        "tickets": {"type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}
    }}

``${NAME}`` is filled in (bot/agentdir/values.py).
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from bot.agentdir.documents import Document, Fault, as_json, fitted, text_of
from bot.agentdir.values import filled
from bot.mcp.configured import Address, Auth, Command, Server

FILE = "mcp.json"
LONGEST_NAME = 64
MOST_SECONDS = 600


class _Written(Struct, frozen=True, forbid_unknown_fields=True):
    """One server as it stands in the file."""

    type: Literal["", "stdio", "http", "streamable-http", "streamableHttp", "sse"] = ""
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str = ""
    url: str = ""
    headers: dict[str, str] = {}
    auth: Auth | None = None
    disabled: bool = False
    allow: tuple[str, ...] = ("*",)
    deny: tuple[str, ...] = ()
    ask: tuple[str, ...] | None = None
    seconds: float = 60
    result_chars: int = 20_000


def read_servers(folder: Path, values: Mapping[str, str] | None = None) -> tuple[tuple[Server, ...], list[Fault]]:
    """The servers in their order, without those that are switched off or faulty. ``values`` are the environment's and
    the secrets'; None leaves ``${NAME}`` as it stands. None of them is ever in a fault."""
    if not (folder / FILE).exists():
        return (), []
    text = text_of(folder, FILE)
    document = text if isinstance(text, Fault) else as_json(text, FILE)
    if isinstance(document, Fault):
        return (), [document]
    written = document.value.get("mcpServers")
    if not isinstance(written, dict):
        return (), [document.fault('It must hold "mcpServers": an object with a server under each name.')]
    read = [_read(name, raw, document, values) for name, raw in written.items()]
    servers = tuple(each for each in read if isinstance(each, Server))
    return servers, [fault for each in read if isinstance(each, list) for fault in each]


def _read(name: str, raw: Any, document: Document, values: Mapping[str, str] | None) -> Server | list[Fault] | None:
    """None where it is switched off."""
    path = f".mcpServers.{name}"
    if not 0 < len(name) <= LONGEST_NAME:
        return [document.fault(f"A server's name has 1 to {LONGEST_NAME} characters.", path)]
    as_it_stands = fitted(document, _Written, path, raw)
    if isinstance(as_it_stands, Fault):
        return [as_it_stands]
    if as_it_stands.disabled:
        return None
    if faults := [document.fault(f"{name}: {message}", f"{path}{field}") for field, message in _wrong(as_it_stands)]:
        return faults
    if values is not None:
        missing: dict[str, str] = {}
        raw = filled(raw, path, values, missing)
        if missing:
            return [document.fault(f"{name}: {each} is not set.", missing[each]) for each in missing]
        written = fitted(document, _Written, path, raw)
        if isinstance(written, Fault):
            return [written]
        return _server(name, as_it_stands, written)
    return _server(name, as_it_stands, as_it_stands)


def _wrong(written: _Written) -> Iterator[tuple[str, str]]:
    """Of each fault the field, and what to do."""
    if bool(written.command) == bool(written.url):
        yield "", "It needs either a command or a url."
        return
    if written.type == "sse":
        yield ".type", "Servers with the older transport sse can not be used: give its streamable HTTP address."
    elif written.type and (written.type == "stdio") != bool(written.command):
        yield ".type", "A server with a command is of type stdio, one with a url of type http."
    foreign = ("headers", "auth") if written.command else ("args", "env", "cwd")
    for field in foreign:
        if getattr(written, field):
            yield f".{field}", f"A server with a {'command' if written.command else 'url'} has no {field}."
    if written.url and not written.url.startswith(("http://", "https://", "${")):
        yield ".url", "Its url must begin with https:// or http://."
    if not 0 < written.seconds <= MOST_SECONDS:
        yield ".seconds", f"seconds must be above 0 and at most {MOST_SECONDS}."
    if written.result_chars < 1:
        yield ".result_chars", "result_chars must be above 0."


def _server(name: str, as_it_stands: _Written, filled: _Written) -> Server:
    at: Command | Address = Address(filled.url, filled.headers, filled.auth)
    if filled.command:
        at = Command(filled.command, filled.args, filled.env, filled.cwd)
    return Server(
        name=name,
        key=f"mcp:{name}:{_digest(as_it_stands)}",
        at=at,
        allow=filled.allow,
        deny=filled.deny,
        ask=filled.ask,
        seconds=filled.seconds,
        result_chars=filled.result_chars,
    )


def _digest(written: _Written) -> str:
    """Of what decides with whom we speak, names in place of secrets."""
    who = (written.command, written.args, sorted(written.env.items()), written.cwd, written.url)
    auth = written.auth and (written.auth.client_id, written.auth.token_url, written.auth.scope)
    told = json.dumps([*who, sorted(written.headers.items()), auth])
    return hashlib.sha256(told.encode()).hexdigest()[:16]
