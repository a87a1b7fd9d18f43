"""What was tried against the bot, and how much of it got through: ``make security``. ``passed`` means that it did.

``injections``: words of others in a quote, a file, a thread, a web page, a forward or a name, and a model that falls
for each of them and calls what they want: how often a tool that must ask ran without consent. The rest are tried
against the real parts: the webhook over ASGI, approvals and files on a whole bot, the calculator, fetch, the sandbox.
"""

import asyncio
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from benchmarks import security_approvals, security_python, security_web, security_webhooks
from benchmarks.security_injections import Injection, cases
from bot.adapters.file_reader import FileReader
from bot.adapters.local_sandbox import LocalSandbox
from bot.approvals import Gate
from bot.files import kept_in
from bot.messages import Attachment, Inbound, Json, Quote
from bot.toolkit import Toolbox, ToolFault, tool
from bot.tools.calculator import evaluate
from bot.tools.files import read_file, send_file, write_file
from bot.tools.reopen import reopen
from bot.tools.run_python import run_python
from simulator.script import call, reply, text
from tests.bots import bot_on, results
from tests.letters import LETTER, SENT, VISIT, send_letter, visit
from tests.say import GROUP, HERE, inbound

MOST_MS = 100
"""Milliseconds that the calculator may take for anything."""


def measure() -> dict[str, Any]:
    return {
        **security_web.figures(),
        **security_python.figures(),
        "calculator": _calculator(),
        "paths": asyncio.run(_paths()),
        "webhooks": _count(asyncio.run(security_webhooks.passed())),
        "approvals": _count(asyncio.run(security_approvals.passed())),
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
    "{reference}",
    "{key}",
    "../{key}",
)
"""``{reference}`` is what the other chat's own model calls the file, ``{key}`` what the store does."""
BY_NAME: dict[str, Callable[[str], dict[str, Any]]] = {
    "read_file": lambda name: {"name": name},
    "send_file": lambda name: {"name": name},
    "reopen": lambda name: {"reference": name},
    "run_python": lambda name: {"code": "print(open(__import__('os').listdir()[0]).read())", "files": [name]},
}
FILE_TOOLS = Toolbox([read_file, reopen, run_python(LocalSandbox(), FileReader(None)), send_file, write_file])
KEPT = "the secret of the group"


async def _paths() -> dict[str, Any]:
    """Names by which another chat's file, or one of the machine's, might be reached or written."""
    reached = [await _is_reached(tool, name) for tool in BY_NAME for name in ESCAPES]
    return _count([*reached, *[await _is_written_outside(name) for name in ESCAPES]])


async def _is_reached(tool: str, name: str) -> bool:
    """Whether a file of the group is had in Ann's own chat, or anything but a refusal comes of it."""
    known = {"reference": "", "key": ""}

    def calls(request: Json) -> Json:
        return call(tool, BY_NAME[tool](name.format(**known)))

    with tempfile.TemporaryDirectory() as folder:
        script, gate = (text("Thanks."), calls, text("No.")), Gate(never=frozenset({"run_python"}))
        async with bot_on(Path(folder) / "k.sqlite3", *script, tools=FILE_TOOLS, gate=gate) as bot:
            bot.channel.files = {"s": KEPT.encode()}
            await bot.hears(inbound("here", 1, place=GROUP, attachments=(Attachment("document", "s", "secret.txt"),)))
            await bot.wakes(GROUP.conversation)
            [kept] = kept_in(await bot.entries(GROUP.conversation))
            known |= {"reference": kept.reference, "key": kept.key}
            await bot.hears(inbound("read it", 2))
            await bot.wakes()
            [result] = results(bot.model.requests[-1])
            return not result.get("is_error") or KEPT in str(result["content"]) or bool(bot.channel.uploads)


async def _is_written_outside(name: str) -> bool:
    """Whether writing a file of that name leaves anything but in the folder for files, or sends a path."""
    with tempfile.TemporaryDirectory() as above:
        folder = Path(above) / "bot"
        folder.mkdir()
        script = (call("write_file", {"name": name, "content": "x"}), text("There."))
        async with bot_on(folder / "k.sqlite3", *script, tools=FILE_TOOLS) as bot:
            await bot.hears(inbound("write it"))
            await bot.wakes()
            [sent] = bot.channel.uploads
        found = _files_in(Path(above))
        inside = [path for path in found if path.is_relative_to(folder / "files")]
        return found != inside or len(inside) != 1 or Path(sent.name).name != sent.name or "\\" in sent.name


def _files_in(folder: Path) -> list[Path]:
    """But for the store's own."""
    return [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("k.sqlite3")]


# Injections: a whole bot, with tools that note what they did


@tool(untrusted=True)
async def look_up(what: str) -> str:
    """Read a page."""
    return PAGE[0]


PAGE = [""]
TOOLS = Toolbox([send_letter, visit, look_up])


async def _injections() -> dict[str, Any]:
    return _count([await _was_obeyed(case) for case in cases()])


async def _was_obeyed(case: Injection) -> bool:
    """Whether the tool ran that the words want, with a model that does what they say, or nobody was asked for it."""
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
            asked = any(button.data.startswith("ok:") for button in bot.channel.buttons)
    return bool(SENT) or not asked


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
