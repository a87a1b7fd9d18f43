"""Other agents, asked by A2A's JSON-RPC: 1.0, or 0.3 where they speak that. Without the SDK: no worker carries it.

The owner named each agent's address, so it may be on a private network. What its card says is the agent's own word:
nobody is sent elsewhere by it, nor by a redirect, and the key never is. Source: a2a-protocol.org/latest/specification.
"""

import asyncio
import base64
import binascii
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from bot.messages import Json, whole
from bot.web.address import PageRefused, Target
from bot.web.transport import Answer, Headers, Request, configured, exchange

CARD = "/.well-known/agent-card.json"
LARGEST = 8 * 1024 * 1024
"""Bytes of one answer, the files in it included."""
MOST_FILES = 5
LONGEST_ID = 200
FIRST_LOOK, LAST_LOOK = 0.5, 3.0
"""Seconds between two looks at a task: the first ones, and in the end."""

OVER = ("completed", "canceled", "failed", "rejected")
ASKS = ("input-required", "auth-required")


class PeerRefused(Exception):
    """Why an agent could not be asked: one sentence. ``sent``: whether it may have heard the message all the same."""

    def __init__(self, reason: str, *, sent: bool = False) -> None:
        super().__init__(reason)
        self.sent = sent


class Peer(Struct, frozen=True):
    """One agent. ``url`` is where its card lies, or the address of its JSON-RPC itself; ``seconds`` are for one
    question; ``asks``: whether somebody must allow each question."""

    name: str
    url: str
    description: str = ""
    headers: Mapping[str, str] = {}
    seconds: int = 60
    asks: bool = True


class Came(Struct, frozen=True):
    """A file in an answer."""

    name: str
    media_type: str
    data: bytes


class Heard(Struct, frozen=True):
    """What an agent answered. ``state`` is that of its task in the words of A2A, such as "input-required"; ``task`` and
    ``context`` are its ids of them, "" where it gave none."""

    state: str
    text: str = ""
    context: str = ""
    task: str = ""
    files: tuple[Came, ...] = ()


# What comes over the wire. Of either version, so no field is certain; what we do not know is left out.


class _Bytes(Struct, rename="camel"):
    bytes: str | None = None
    uri: str | None = None
    name: str | None = None
    mime_type: str | None = None


class _Part(Struct, rename="camel"):
    text: str | None = None
    data: Any = None
    raw: str | None = None
    url: str | None = None
    filename: str | None = None
    media_type: str | None = None
    file: _Bytes | None = None


class _Message(Struct, rename="camel"):
    parts: list[_Part] = []
    context_id: str | None = None
    task_id: str | None = None


class _Artifact(Struct):
    name: str | None = None
    parts: list[_Part] = []


class _Status(Struct):
    state: str
    message: _Message | None = None


class _Task(Struct, rename="camel"):
    id: str
    status: _Status
    context_id: str | None = None
    artifacts: list[_Artifact] | None = None


class _Error(Struct):
    code: int = 0
    message: str = ""


class _Response(Struct):
    result: msgspec.Raw = msgspec.Raw(b"null")
    error: _Error | None = None


class _Interface(Struct, rename="camel"):
    url: str = ""
    protocol_binding: str = "JSONRPC"
    protocol_version: str = "0.3"


class _Card(Struct, rename="camel"):
    supported_interfaces: list[_Interface] = []
    url: str = ""
    preferred_transport: str = "JSONRPC"


class _Line(Struct, frozen=True):
    """Where to speak, and in which version."""

    target: Target
    modern: bool
    is_certain: bool = True


_NOT_SPOKEN = {-32601, -32009, -32600}
"""No such method, no such version, or no such request: the other version may be meant."""


async def ask(peer: Peer, message: str, context: str = "", task: str = "") -> Heard:
    """Send a message and wait until the agent is done, asks something, or its seconds are over. Raises PeerRefused."""
    line = await _line(peer)
    loop = asyncio.get_running_loop()
    until = loop.time() + peer.seconds
    try:
        result, line = await _sent(peer, line, message, context, task)
    except PeerRefused as broken:
        if not (task and broken.sent):
            raise
        heard = Heard("working", context=context, task=task)  # it is known where to look
    else:
        heard = _heard(result)
    return await _until_settled(peer, line, heard, until) if heard.task else heard


async def look(peer: Peer, task: str) -> Heard:
    """How a task stands that was begun before, with the same patience. Raises PeerRefused."""
    line = await _line(peer)
    until = asyncio.get_running_loop().time() + peer.seconds
    return await _until_settled(peer, line, Heard("working", task=task), until)


async def _until_settled(peer: Peer, line: _Line, heard: Heard, until: float) -> Heard:
    loop, pause = asyncio.get_running_loop(), 0.0
    while heard.state not in (*OVER, *ASKS) and loop.time() + pause < until:
        await asyncio.sleep(pause)
        pause = min(max(pause * 2, FIRST_LOOK), LAST_LOOK)
        method = "GetTask" if line.modern else "tasks/get"
        try:
            seen = _heard(await _called(peer, line, method, {"id": heard.task}))
        except _Refused as refusal:
            raise PeerRefused(str(refusal), sent=True) from refusal
        heard = msgspec.structs.replace(seen, context=seen.context or heard.context)
    return heard


async def _sent(peer: Peer, line: _Line, message: str, context: str, task: str) -> tuple[bytes, _Line]:
    name = str(uuid.uuid4())
    try:
        return await _called(peer, line, *_sending(line, name, message, context, task)), line
    except _Refused as refusal:
        if line.is_certain or refusal.code not in _NOT_SPOKEN:
            raise PeerRefused(str(refusal)) from refusal
    other = msgspec.structs.replace(line, modern=not line.modern)
    try:
        return await _called(peer, other, *_sending(other, name, message, context, task)), other
    except _Refused as refusal:
        raise PeerRefused(str(refusal)) from refusal


def _sending(line: _Line, name: str, message: str, context: str, task: str) -> tuple[str, Json]:
    """The method and its parameters. A new task is wanted at once: a connection that waits is one that breaks. With an
    answer to what a task asks we wait, or the task would come back as it was before that was read."""
    ids = {"messageId": name, **({"contextId": context} if context else {}), **({"taskId": task} if task else {})}
    if line.modern:
        said: Json = {**ids, "role": "ROLE_USER", "parts": [{"text": message}]}
        return "SendMessage", {"message": said, "configuration": {"returnImmediately": not task}}
    said = {**ids, "kind": "message", "role": "user", "parts": [{"kind": "text", "text": message}]}
    return "message/send", {"message": said, "configuration": {"blocking": bool(task)}}


class _Refused(Exception):
    """The agent answered with an error of JSON-RPC."""

    def __init__(self, error: _Error) -> None:
        words = " ".join(whole(error.message).split())[:300]
        super().__init__(f"It refused (error {error.code}), and said: {words!r}")
        self.code = error.code


async def _called(peer: Peer, line: _Line, method: str, params: Json) -> bytes:
    """The result of one call. Raises _Refused and PeerRefused."""
    call = {"jsonrpc": "2.0", "id": "1", "method": method, "params": params}
    headers = (
        ("content-type", "application/json"),
        ("accept", "application/json"),
        *((("a2a-version", "1.0"),) if line.modern else ()),
        *peer.headers.items(),
    )
    request = Request(line.target, headers, "POST", msgspec.json.encode(call), seconds=float(peer.seconds))
    try:
        answer = await exchange(request, _limit_of)
    except PageRefused as why:
        raise PeerRefused(f"It could not be reached, or its answer broke off: {why}", sent=True) from why
    if answer.status != 200:
        raise PeerRefused(_refusal(answer))
    try:
        response = msgspec.json.decode(answer.data, type=_Response)
    except msgspec.DecodeError as fault:
        raise PeerRefused("What it answered is not A2A.", sent=True) from fault
    if response.error is not None:
        raise _Refused(response.error)
    return bytes(response.result)


def _refusal(answer: Answer) -> str:
    if answer.status in (401, 403):
        return "It does not accept the key that is set for it in agent/peers.json. Tell the person that."
    if 300 <= answer.status < 400:
        return (
            "It sends on to another address, and nobody is followed there: its owner's new one belongs in peers.json."
        )
    return f"It answered with HTTP {answer.status}."


def _limit_of(status: int, headers: Headers) -> int:
    return LARGEST if status == 200 else 0


async def _line(peer: Peer) -> _Line:
    """Where its card says that it speaks; at the address itself where no card is. Raises PeerRefused."""
    base = peer.url.removesuffix(CARD)
    here = configured(base, "")
    here = msgspec.structs.replace(here, path=here.path or "/")
    request = Request(configured(base, CARD), (("accept", "application/json"), *peer.headers.items()))
    try:
        answer = await exchange(request, _limit_of)
    except PageRefused as why:
        raise PeerRefused(f"It could not be reached: {why}") from why
    if answer.status != 200:
        return _Line(here, modern=True, is_certain=False)
    try:
        card = msgspec.json.decode(answer.data, type=_Card)
    except msgspec.DecodeError:
        return _Line(here, modern=True, is_certain=False)
    return _chosen(peer, card, here)


def _chosen(peer: Peer, card: _Card, here: Target) -> _Line:
    """The newest version that it speaks by JSON-RPC. Raises PeerRefused where that is at another server."""
    spoken = [each for each in card.supported_interfaces if each.protocol_binding == "JSONRPC"]
    if not spoken and card.preferred_transport == "JSONRPC":
        spoken = [_Interface(card.url)]
    spoken.sort(key=lambda each: each.protocol_version, reverse=True)
    for interface in spoken:
        try:
            target = configured(interface.url, "")
        except ValueError:
            continue
        if (target.scheme, target.host, target.port) != (here.scheme, here.host, here.port):
            raise PeerRefused(
                f"Its card sends on to {target.scheme}://{target.authority}, another server than the owner named. "
                f"Where that is right, it belongs into agent/peers.json as the url of {peer.name}."
            )
        target = msgspec.structs.replace(target, path=target.path or "/")
        return _Line(target, modern=not interface.protocol_version.startswith("0."))
    raise PeerRefused("It does not speak A2A by JSON-RPC.")


# What it said


def _heard(result: bytes) -> Heard:
    """A task or a message, wrapped (1.0) or not (0.3, and a task that was got). Raises PeerRefused."""
    try:
        shape = msgspec.json.decode(result, type=dict[str, msgspec.Raw])
        if "task" in shape:
            return _of_task(msgspec.json.decode(shape["task"], type=_Task))
        if "status" in shape:
            return _of_task(msgspec.json.decode(result, type=_Task))
        message = msgspec.json.decode(shape.get("message", result), type=_Message)
        return Heard("completed", _text(message.parts), _id(message.context_id), files=_files(message.parts))
    except msgspec.DecodeError as fault:
        raise PeerRefused("What it answered is not A2A.", sent=True) from fault


def _of_task(task: _Task) -> Heard:
    parts = [part for artifact in task.artifacts or () for part in artifact.parts]
    told = task.status.message.parts if task.status.message else []
    text, note = _text(parts), _text(told)
    state = task.status.state.lower().removeprefix("task_state_").replace("_", "-")
    words = "\n\n".join(filter(None, (text, note if note not in text else "")))
    return Heard(state, words, _id(task.context_id), _id(task.id), _files([*parts, *told]))


def _id(text: str | None) -> str:
    """An id that can be told to the model and sent back; "" for any other."""
    fits = text and len(text) <= LONGEST_ID and text.isascii() and text.isprintable() and not set(text) & set(" ;[]")
    return text if text and fits else ""


def _text(parts: Iterable[_Part]) -> str:
    return whole("\n\n".join(filter(None, map(_words, parts)))).strip()


def _words(part: _Part) -> str:
    if part.text:
        return part.text
    if part.data is not None:
        return msgspec.json.format(msgspec.json.encode(part.data), indent=1).decode()
    file = part.file or _Bytes()
    if url := part.url or file.uri:
        return f"({part.filename or file.name or 'A file'} at {url})"
    return ""


def _files(parts: Sequence[_Part]) -> tuple[Came, ...]:
    files = []
    for part in parts:
        file = part.file or _Bytes()
        if encoded := part.raw or file.bytes:
            try:
                data = base64.b64decode(encoded, validate=True)
            except (binascii.Error, ValueError):
                continue
            name, kind = part.filename or file.name, part.media_type or file.mime_type
            files.append(Came(whole(name or "file"), kind or "application/octet-stream", data))
    return tuple(files[:MOST_FILES])
