"""``agent/peers.json``: the other agents that the bot may ask.

    {"peers": {"weather": {"url": "https://weather.example.com", "description": "Forecasts for all of Indonesia",
                           "key": "${WEATHER_KEY}", "seconds": 60, "ask": true}}}

``url`` is where its card lies or the address of its JSON-RPC; it may be a private one, as the owner names it. ``key``
is sent as a bearer key, ``headers`` as they are. ``${NAME}`` is filled in (bot/agentdir/values.py). ``ask`` false: its
questions need nobody's word.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct

from bot.agentdir.documents import Document, Fault, as_json, fitted, text_of
from bot.agentdir.values import filled
from bot.peers import Peer
from bot.web.transport import configured

FILE = "peers.json"
MOST = 20
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")

_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_RESERVED = frozenset({"host", "content-length", "content-type", "transfer-encoding", "connection", "accept-encoding"})


class _Written(Struct, frozen=True, forbid_unknown_fields=True):
    """One agent as it stands in the file."""

    url: str
    description: Annotated[str, Meta(max_length=500)] = ""
    headers: dict[str, str] = {}
    key: str = ""
    seconds: Annotated[int, Meta(ge=5, le=240)] = 60
    ask: bool = True


def read_peers(folder: Path, values: Mapping[str, str] | None = None) -> tuple[tuple[Peer, ...], list[Fault]]:
    """The agents by their names, without those that are faulty. ``values`` are the environment's and the secrets'; None
    leaves ``${NAME}`` as it stands. None of them is ever in a fault."""
    if not (folder / FILE).is_file():
        return (), []
    text = text_of(folder, FILE)
    document = as_json(text, FILE) if isinstance(text, str) else text
    if isinstance(document, Fault):
        return (), [document]
    written = document.value.get("peers")
    if not isinstance(written, dict):
        return (), [document.fault('It must hold "peers": an object with an agent under each name.')]
    faults = [
        document.fault(f"There is no field {name!r} here.", f".{name}") for name in document.value if name != "peers"
    ]
    if len(written) > MOST:
        faults.append(document.fault(f"More than {MOST} agents: the rest is left out.", ".peers"))
    peers = []
    for name, raw in sorted(written.items())[:MOST]:
        read = _read(name, raw, document, values)
        if isinstance(read, Peer):
            peers.append(read)
        else:
            faults += read
    return tuple(peers), faults


def _read(name: str, raw: Any, document: Document, values: Mapping[str, str] | None) -> Peer | list[Fault]:
    path = f".peers.{name}"
    if not NAME.fullmatch(name):
        return [document.fault(f"{name!r} is no name: 1 to 32 of a-z, 0-9, _ and -, a letter or digit first.", path)]
    written = fitted(document, _Written, path, raw)
    if isinstance(written, Fault):
        return [written]
    missing: dict[str, str] = {}
    if values is not None:
        written = fitted(document, _Written, path, filled(raw, path, values, missing))
        if isinstance(written, Fault):
            return [written]
    faults = [document.fault(f"{name}: {each} is not set.", missing[each]) for each in missing]
    if faults := faults or [document.fault(f"{name}: {said}", f"{path}{at}") for at, said in _wrong(written)]:
        return faults
    key = {"authorization": f"Bearer {written.key}"} if written.key else {}
    headers = {**key, **{each.lower(): value for each, value in written.headers.items()}}
    return Peer(name, written.url, written.description, headers, written.seconds, written.ask)


def _wrong(written: _Written) -> Iterator[tuple[str, str]]:
    """Of each fault the field, and what to do."""
    if not written.url.startswith("${"):
        try:
            configured(written.url, "")
        except ValueError:
            yield ".url", "Its url must look like https://agent.example.com ."
    if written.key and "authorization" in map(str.lower, written.headers):
        yield ".key", "It has a key and a header Authorization: one of them is enough."
    for header, value in written.headers.items():
        if not _HEADER.fullmatch(header) or header.lower() in _RESERVED:
            yield f".headers.{header}", f"{header!r} can not be set as a header."
        elif not _is_sendable(value):
            yield f".headers.{header}", f"The value of the header {header} holds what a header can not carry."
    if not _is_sendable(written.key):
        yield ".key", "The key holds what a header can not carry."


def _is_sendable(value: str) -> bool:
    return value.isascii() and value.isprintable() if value else True
