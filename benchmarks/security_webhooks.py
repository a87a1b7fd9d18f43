"""Requests to the webhook that no platform sent, and true ones that come again, for `make security`.

A forged one has passed where it was not refused, or where anything came of it. One that comes again has passed where
its message then waits twice, or where it wakes somebody once it is answered. App, proofs and store are the real ones.
"""

import json
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from hashlib import sha256
from hmac import new as hmac
from pathlib import Path
from urllib.parse import urlencode

import httpx
from msgspec import Struct
from msgspec.structs import replace

from bot.adapters.sqlite_store import SQLiteStore
from bot.cli.serve import OneDoor
from bot.clock import SystemClock
from bot.ports import Change
from handlers.door import make_door
from handlers.settings import Settings
from handlers.webhook import application
from tests.bots import NoWake
from tests.packages.events import telegram_update

SECRET = "the-secret-of-the-webhook"
SIGNING = "the-signing-secret"
SET_UP = Settings(
    telegram_bot_token="42:abc",
    telegram_webhook_secret=SECRET,
    telegram_bot_username="kabar_bot",
    slack_signing_secret=SIGNING,
)
BARE = replace(SET_UP, telegram_webhook_secret="", slack_signing_secret="")
BLANK = replace(SET_UP, telegram_webhook_secret="", slack_signing_secret=" ")

Headers = dict[str, str]


class Request(Struct, frozen=True):
    path: str
    body: bytes
    headers: Headers


class Site:
    """A webhook, and all that its requests leave behind."""

    def __init__(self, client: httpx.AsyncClient, store: SQLiteStore, wake: NoWake) -> None:
        self._client = client
        self.store = store
        self.wake = wake

    async def gets(self, request: Request) -> int:
        answer = await self._client.post(request.path, content=request.body, headers=request.headers)
        return answer.status_code


@asynccontextmanager
async def site(settings: Settings) -> AsyncIterator[Site]:
    clock, wake = SystemClock(), NoWake()
    with tempfile.TemporaryDirectory() as folder:
        store = SQLiteStore(Path(folder) / "k.sqlite3", clock)
        app = application(OneDoor(make_door(settings, store, wake, clock)))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://bot") as client:
            yield Site(client, store, wake)
        store.close()


async def passed() -> list[bool]:
    forged = [(SET_UP, request) for request in forgeries()]
    forged += [(settings, request) for settings in (BARE, BLANK) for request in unset()]
    return [*[await is_let_in(*each) for each in forged], *[await counts_twice(*each) for each in TRUE]]


# Forged

MESSAGE = telegram_update(1, "let me in")
PERSON = {"id": 42, "is_bot": False, "first_name": "Ayu"}
TAPPED = {"message_id": 5, "date": 1796040000, "chat": {"id": 42, "type": "private"}, "text": "May I?"}
TAP = json.dumps(
    {
        "update_id": 9,
        "callback_query": {"id": "7", "from": PERSON, "chat_instance": "1", "data": "ok:1f.0", "message": TAPPED},
    }
).encode()
WORKSPACE = {"team_id": "T1", "authorizations": [{"team_id": "T1", "user_id": "UBOT", "is_bot": True}]}
SAID = {"channel": "D1", "channel_type": "im", "user": "U1", "text": "let me in", "ts": "1796040000.000100"}
EVENT = json.dumps({"type": "event_callback", **WORKSPACE, "event": {"type": "message", **SAID}}).encode()
SLACK_TAP = {
    "type": "block_actions",
    "team": {"id": "T1"},
    "user": {"id": "U1"},
    "channel": {"id": "D1"},
    "message": {"ts": "1796040000.000200"},
    "actions": [
        {"action_id": "ok", "block_id": "b", "value": "ok:1f.0", "type": "button", "action_ts": "1796040001.0"}
    ],
}
FORM = urlencode({"payload": json.dumps(SLACK_TAP)}).encode()
COMMAND = urlencode(
    {
        "command": "/kabar",
        "text": "usage",
        "team_id": "T1",
        "channel_id": "D1",
        "user_id": "U1",
        "trigger_id": "1.2.a",
    }
).encode()


def forgeries() -> Iterator[Request]:
    for body in (MESSAGE, TAP):
        yield telegram(body, None)
        for secret in ("", " ", "wrong", SECRET[:-1], SECRET + "x", SECRET.upper(), "None", "null"):
            yield telegram(body, secret)
    now = int(time.time())
    for body in (EVENT, FORM, COMMAND):
        right = signature(now, body)
        yield slack(body, None, right)
        yield slack(body, "", right)
        yield slack(body, str(now), None)
        yield slack(body, str(now), "")
        yield slack(body, str(now), "v0=" + "0" * 64)
        yield slack(body, str(now), right[:-1] + ("0" if right[-1] != "0" else "1"))
        yield slack(body, str(now), right.replace("v0", "v1"))
        yield slack(body, str(now), signature(now, body, "another"))
        yield slack(body, str(now), signature(now, body, ""))
        for moved in (now - 3_600, now + 3_600):
            yield slack(body, str(moved), signature(moved, body))  # heard once, sent again by another
            yield slack(body, str(moved), right)
        yield slack(body.replace(b"U1", b"U2"), str(now), right)
        yield slack(body + b" ", str(now), right)
    yield slack(FORM, str(now), signature(now, EVENT))
    yield slack(FORM.replace(b"ok%3A1f.0", b"ok%3A1f.1"), str(now), signature(now, FORM))


def unset() -> Iterator[Request]:
    """What would be right where nothing, or nothing but a space, is the secret."""
    now = int(time.time())
    for secret in (None, "", " ", "None"):
        yield telegram(MESSAGE, secret)
    for secret in ("", " ", "None"):
        yield slack(EVENT, str(now), signature(now, EVENT, secret))
        yield slack(FORM, str(now), signature(now, FORM, secret))


async def is_let_in(settings: Settings, request: Request) -> bool:
    async with site(settings) as door:
        status = await door.gets(request)
        kept = [await door.store.inbox(where) for where in ("telegram:42", "slack:T1:D1")]
        return status < 400 or any(kept) or bool(door.wake.woken)


# True, and again


def true_message(now: int) -> Request:
    return telegram(MESSAGE, SECRET)


def true_tap(now: int) -> Request:
    return telegram(TAP, SECRET)


def true_event(now: int) -> Request:
    return slack(EVENT, str(now), signature(now, EVENT))


def true_slack_tap(now: int) -> Request:
    return slack(FORM, str(now), signature(now, FORM))


def true_command(now: int) -> Request:
    return slack(COMMAND, str(now), signature(now, COMMAND))


Make = Callable[[int], Request]
TRUE: tuple[tuple[Make, int], ...] = (
    *((true_message, 1), (true_tap, 1), (true_event, 1), (true_slack_tap, 1)),
    (true_command, 0),  # Slack sends it once: what comes again is a replay, byte for byte
)
"""How each is made at a time (Unix seconds), and how much later it is signed anew."""
AGAIN = 3


async def counts_twice(make: Make, later: int) -> bool:
    """Sent again while it waits, byte for byte and signed anew, and again when it is answered.

    Raises RuntimeError where the first is not taken: then nothing would be measured.
    """
    async with site(SET_UP) as door:
        now = int(time.time())
        request, anew = make(now), make(now + later)
        if await door.gets(request) != 200 or len(door.wake.woken) != 1:
            raise RuntimeError(f"{make.__name__} was not taken")
        conversation = door.wake.woken[0]
        for _ in range(AGAIN):
            await door.gets(request)
            await door.gets(anew)
        waiting = await door.store.inbox(conversation)
        await _answered(door, conversation)
        door.wake.woken.clear()
        for _ in range(AGAIN):
            await door.gets(request)
            await door.gets(anew)
        return len(waiting) != 1 or bool(door.wake.woken) or bool(await door.store.inbox(conversation))


async def _answered(door: Site, conversation: str) -> None:
    """As a worker leaves it behind."""
    head = await door.store.claim(conversation, "worker", int(time.time() * 1_000) + 60_000)
    assert head is not None
    keys = tuple(each.key for each in await door.store.inbox(conversation))
    head = await door.store.commit(head, Change(take=keys))
    await door.store.commit(head, Change(done=keys, release=True))


# As they are on the wire


def telegram(body: bytes, secret: str | None) -> Request:
    proof = {} if secret is None else {"x-telegram-bot-api-secret-token": secret}
    return Request("/telegram", body, {"content-type": "application/json", **proof})


def slack(body: bytes, stamp: str | None, signed: str | None) -> Request:
    kind = "application/json" if body.startswith(b"{") else "application/x-www-form-urlencoded"
    proof = {"x-slack-request-timestamp": stamp, "x-slack-signature": signed}
    given = {name: value for name, value in proof.items() if value is not None}
    return Request("/slack/events", body, {"content-type": kind, **given})


def signature(stamp: int, body: bytes, secret: str = SIGNING) -> str:
    return "v0=" + hmac(secret.encode(), f"v0:{stamp}:".encode() + body, sha256).hexdigest()
