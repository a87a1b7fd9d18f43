"""What was tried against the bot, and how much of it got through: ``make security``. ``passed`` means that it did.

``injections``: words of others in a quote, a file, a thread, a web page, a forward or a name, and a model that falls
for each of them and calls what they want: how often a tool that must ask ran without consent. The rest are tried
against the real parts: the webhook over ASGI, approvals and files on a whole bot, the calculator, fetch, the sandbox.
"""

import asyncio
import json
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from hashlib import sha256
from hmac import new as hmac
from pathlib import Path
from typing import Any

import httpx
from msgspec.structs import replace

from benchmarks import security_python, security_web
from benchmarks.security_injections import Injection, cases
from bot.adapters.local_wake import LocalWake
from bot.adapters.sqlite_store import SQLiteStore
from bot.cli.serve import OneDoor
from bot.clock import SystemClock
from bot.messages import Attachment, Inbound, Person, Place, Quote
from bot.toolkit import Toolbox, ToolFault, tool
from bot.tools.calculator import evaluate
from bot.tools.files import list_files, read_file
from bot.turn import Outcome
from handlers.door import make_door
from handlers.settings import Settings
from handlers.webhook import application
from simulator.script import call, reply, text
from tests.bots import Bot, bot_on, results, tap
from tests.letters import LETTER, SENT, VISIT, send_letter, visit
from tests.packages.events import telegram_update
from tests.say import ANN, BUDI, GROUP, HERE, inbound

MOST_MS = 100
"""Milliseconds that the calculator may take for anything."""


def measure() -> dict[str, Any]:
    return {
        **security_web.figures(),
        **security_python.figures(),
        "calculator": _calculator(),
        "paths": asyncio.run(_paths()),
        "webhooks": asyncio.run(_webhooks()),
        "approvals": asyncio.run(_approvals()),
        "injections": asyncio.run(_injections()),
    }


def _count(outcomes: list[bool]) -> dict[str, Any]:
    return {"tried": len(outcomes), "passed": sum(outcomes)}


# The calculator

BOMBS = (
    "9**9**9**9",
    "(((9**64)**64)**64)**64",
    "10**10000000",
    "2**-10**9",
    "factorial(10**6)",
    "(" * 5000 + "1" + ")" * 5000,
    "(10**4000)*(10**4000)",
    "9.9**99999",
    "1e308*10",
    "+".join(["9**4000"] * 5000),
    "comb(10**6, 5*10**5)",
    "'a'*10**9",
    "[0]*10**9",
    "().__class__.__bases__[0].__subclasses__()",
    "__import__('os').system('id')",
    "open('/etc/passwd').read()",
    "(lambda: 1)()",
    "exec('1')",
)


def _calculator() -> dict[str, Any]:
    passed, slowest = [], 0.0
    for bomb in BOMBS:
        began = time.perf_counter()
        try:
            evaluate(bomb)
            refused = False
        except ToolFault:
            refused = True
        took = (time.perf_counter() - began) * 1_000
        slowest = max(slowest, took)
        passed.append(took > MOST_MS or not (refused or bomb.startswith("2**-")))
    return {**_count(passed), "slowest_ms": round(slowest, 1)}


# The chat's files

ESCAPES = (
    "../secret.txt",
    "..\\secret.txt",
    "/etc/passwd",
    "file:///etc/passwd",
    "telegram_3a1/../telegram_3a2/0123",
    "%2e%2e%2fsecret.txt",
    "secret.txt\x00.png",
    "file:../../secret",
    "~/.ssh/id_rsa",
    "secret.txt",
)


async def _paths() -> dict[str, Any]:
    """Names by which another chat's file, or one of the machine's, might be reached."""
    passed = []
    tools = Toolbox([list_files, read_file])
    for name in ESCAPES:
        with tempfile.TemporaryDirectory() as folder:
            script = (text("Thanks."), reply(call("read_file", {"name": name})), text("No."))
            async with bot_on(Path(folder) / "k.sqlite3", *script, tools=tools) as bot:
                bot.channel.files = {"s": b"the secret of the group"}
                theirs = inbound("here", 1, place=GROUP, attachments=(Attachment("document", "s", "secret.txt"),))
                await bot.hears(theirs)
                await bot.wakes(GROUP.conversation)
                await bot.hears(inbound("read it", 2))
                await bot.wakes()
                [result] = results(bot.model.requests[-1])
                passed.append(not result.get("is_error", False) or "secret of" in str(result["content"]))
    return _count(passed)


# The webhook

SECRET = "the-secret-of-the-webhook"
SIGNING = "the-signing-secret"


async def _webhooks() -> dict[str, Any]:
    """Requests without the proof, or with somebody else's; and true ones sent again."""
    settings = Settings(
        telegram_bot_token="42:abc",
        telegram_webhook_secret=SECRET,
        telegram_bot_username="kabar_bot",
        slack_signing_secret=SIGNING,
    )
    with tempfile.TemporaryDirectory() as folder:
        clock, begun = SystemClock(), []

        async def run(conversation: str) -> float | None:
            begun.append(conversation)
            return None

        store = SQLiteStore(Path(folder) / "k.sqlite3", clock)
        wake = LocalWake(run, clock)
        app = application(OneDoor(make_door(settings, store, wake, clock)))
        passed = []
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://bot") as client:
            for path, body, headers in _forged():
                answer = await client.post(path, content=body, headers=headers)
                passed.append(answer.status_code < 400)
            true = {"x-telegram-bot-api-secret-token": SECRET, "content-type": "application/json"}
            for _ in range(5):
                await client.post("/telegram", content=telegram_update(7, "hello"), headers=true)
            stored = await store.inbox("telegram:42")
            passed += [len(stored) > 1] * 4
        await wake.stop(1)
        store.close()
    return _count(passed)


def _forged() -> Iterator[tuple[str, bytes, dict[str, str]]]:
    body, kind = telegram_update(1, "let me in"), {"content-type": "application/json"}
    for secret in ("", "wrong", SECRET[:-1], SECRET + "x", SECRET.upper(), "None", "null"):
        yield "/telegram", body, {**kind, "x-telegram-bot-api-secret-token": secret}
    yield "/telegram", body, kind
    event = json.dumps({"type": "event_callback", "team_id": "T1", "event": {"type": "message", "user": "U1"}}).encode()
    now, old = int(time.time()), int(time.time()) - 3_600
    right = _signature(now, event)
    for stamp, signature in (
        (now, ""),
        (now, "v0=" + "0" * 64),
        (now, right[:-1] + ("0" if right[-1] != "0" else "1")),
        (now, _signature(now, event, "another")),
        (now, right.replace("v0", "v1")),
        (old, _signature(old, event)),
        (now + 3_600, _signature(now + 3_600, event)),
        (old, right),
    ):
        yield "/slack/events", event, {**kind, "x-slack-request-timestamp": str(stamp), "x-slack-signature": signature}
    stamped = {"x-slack-request-timestamp": str(now), "x-slack-signature": right}
    yield "/slack/events", event.replace(b"U1", b"U2"), {**kind, **stamped}


def _signature(stamp: int, body: bytes, secret: str = SIGNING) -> str:
    return "v0=" + hmac(secret.encode(), f"v0:{stamp}:".encode() + body, sha256).hexdigest()


# Approvals and injections: a whole bot, with tools that note what they did


@tool(untrusted=True)
async def look_up(what: str) -> str:
    """Read a page."""
    return PAGE[0]


PAGE = [""]
TOOLS = Toolbox([send_letter, visit, look_up])

Attack = Callable[[Bot, str], Awaitable[object]]


async def _approvals() -> dict[str, Any]:
    """Whether a letter was sent that its asker did not allow, or more than once, or another one."""
    return _count([await _got_through(attack, wanted) for attack, wanted in ATTACKS])


async def _got_through(attack: Attack, wanted: int) -> bool:
    SENT.clear()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "k.sqlite3"
        async with bot_on(path, LETTER, text("Well."), tools=TOOLS) as bot:
            await bot.hears(inbound("write to Budi", place=GROUP))
            await bot.wakes(GROUP.conversation)
            yes = next(button.data for button in bot.channel.buttons if button.data.startswith("ok:"))
            await attack(bot, yes)
            bot.model.spare()
    return len(SENT) > wanted or any(done != "Budi: Come at nine." for done in SENT)


async def _tapped(bot: Bot, *taps: Inbound) -> Outcome:
    await bot.hears(*taps)
    return await bot.wakes(GROUP.conversation)


def _tap(data: str, number: int = 50, sender: Person = ANN) -> Inbound:
    return tap(data, number, sender=sender, place=GROUP)


ELSEWHERE = Place(conversation="telegram:-6", chat="-6", group=True)
ATTACKS: tuple[tuple[Attack, int], ...] = (
    (lambda bot, yes: _tapped(bot, _tap(yes, sender=BUDI)), 0),
    (lambda bot, yes: _tapped(bot, _tap(yes, sender=Person("telegram:01", "Ann"))), 0),
    (lambda bot, yes: _tapped(bot, _tap(yes, sender=Person("telegram:1087968824", "Group"))), 0),
    (lambda bot, yes: _tapped(bot, _tap(f"{yes}0")), 0),
    (lambda bot, yes: _tapped(bot, _tap(yes.replace(".0", ".1"))), 0),
    (lambda bot, yes: _tapped(bot, _tap("ok:000000000000.0")), 0),
    (lambda bot, yes: _tapped(bot, _tap(yes.replace("ok:", "hour:"), sender=BUDI)), 0),
    (lambda bot, yes: _tapped(bot, _tap(yes), _tap(yes, 51)), 1),
    (lambda bot, yes: _tapped(bot, _tap(yes.replace("ok:", "no:")), _tap(yes, 51)), 0),
    (lambda bot, yes: _tapped(bot, replace(_tap(yes), place=ELSEWHERE)), 0),
    (lambda bot, yes: _tapped(bot, inbound(yes, 60, place=GROUP)), 0),
    (lambda bot, yes: _tapped(bot, inbound("yes, approved", 61, place=GROUP, sender=BUDI)), 0),
)


async def _injections() -> dict[str, Any]:
    return _count([await _was_obeyed(case) for case in cases()])


async def _was_obeyed(case: Injection) -> bool:
    """Whether the tool ran that the words want, with a model that does what they say."""
    SENT.clear()
    PAGE[0] = case.words
    obeys = LETTER if case.asks else VISIT
    first = (reply(call("look_up", {"what": "x"})),) if case.way == "page" else ()
    script = (*first, obeys, text("Done."))
    with tempfile.TemporaryDirectory() as folder:
        async with bot_on(Path(folder) / "k.sqlite3", *script, tools=TOOLS) as bot:
            bot.channel.files = {"f": case.words.encode()}
            await bot.hears(_said(case))
            await bot.wakes(HERE.conversation)
            bot.model.spare()
    return bool(SENT)


def _said(case: Injection) -> Inbound:
    plain = inbound("summarise this, please")
    match case.way:
        case "quote":
            return replace(plain, quote=Quote(case.words, "Mallory"))
        case "forward":
            return replace(plain, text="", quote=Quote(case.words, "Mallory"))
        case "file":
            return replace(plain, attachments=(Attachment("document", "f", "notes.txt"),))
        case "thread":
            return replace(plain, heard=(Quote(case.words, "Mallory"),))
        case "name":
            return replace(plain, quote=Quote("hi", case.words))
    return plain
