"""``kabar logs``: one turn, found by the reference that a person was shown."""

import asyncio
import json
import re
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from bot.adapters.sqlite_store import SQLiteStore
from bot.cli.turnlog.lines import DAY_MS, Line, in_files, on_aws
from bot.cli.turnlog.page import Found, as_json, told, without_words
from bot.errors import ConfigError, Retry, StoreUnavailable
from bot.inspecting import TurnView, turns
from bot.messages import Asked, Entry, Inbound, Returned, Summary
from bot.nested import records_in
from bot.ports import Clock, Store
from handlers.settings import Settings, read_settings

REFERENCE = re.compile(r"(?<![0-9a-f])[0-9a-f]{12}(?![0-9a-f])")
SOON = 2
"""Days that are looked into first: most complaints are new, and older logs take long to be searched."""


class Wanted(Struct, frozen=True):
    """``reference`` as somebody copied it. ``stack``: on AWS, else on this machine, with what ``files`` hold of its
    log. ``content``: people's words too."""

    reference: str
    stack: str = ""
    files: tuple[Path, ...] = ()
    days: int = 30
    json: bool = False
    content: bool = False


async def show(settings: Settings, wanted: Wanted, clock: Clock) -> None:
    """Print it. Raises ConfigError where nothing is known of it."""
    match = REFERENCE.search(wanted.reference.lower())
    if match is None:
        raise ConfigError("A reference is twelve characters, 0-9 and a-f, such as 3f09c1d27a4b: copy it whole.")
    reference = match.group()
    found = await (_on_aws if wanted.stack else _here)(settings, wanted, reference, clock)
    shown = found if wanted.content else without_words(found)
    print(json.dumps(as_json(shown), ensure_ascii=False, indent=1) if wanted.json else "\n".join(told(shown)))


async def _here(settings: Settings, wanted: Wanted, reference: str, clock: Clock) -> Found:
    lines = in_files(wanted.files, [reference])
    if settings.kabar_table:
        raise ConfigError("What KABAR_TABLE holds is found by the log: name the stack, with --stack.")
    turn = await _anywhere(settings.kabar_data, reference, clock)
    if turn is None and not lines:
        logs = "" if wanted.files else " Name the file that its log went to with --file, if there is one."
        raise ConfigError(f"No turn in {settings.kabar_data} has the reference {reference}.{logs} On AWS: --stack.")
    id = turn.id if turn else _answering(lines, reference)
    if id != reference:
        lines = in_files(wanted.files, [reference, id])
    return Found(reference, id, turn.conversation if turn else _conversation(lines), turn, tuple(lines))


async def _anywhere(data: str, reference: str, clock: Clock) -> TurnView | None:
    try:
        store = SQLiteStore(data, clock, read_only=True)
    except (ConfigError, StoreUnavailable):  # there is no such file, or it is another one's
        return None
    with closing(store):
        for conversation in await store.conversations():
            if turn := await _turn_in(store, conversation, reference):
                return turn
    return None


async def _on_aws(settings: Settings, wanted: Wanted, reference: str, clock: Clock) -> Found:
    now = int(clock.now() * 1000)

    async def said_of(references: Sequence[str], first: int, last: int) -> list[Line]:
        since, until = now - first * DAY_MS, now - last * DAY_MS
        where = settings.aws_endpoint_url, wanted.stack, references
        return await asyncio.to_thread(on_aws, *where, since_ms=since, until_ms=until)

    days = min(SOON, wanted.days)
    lines = await said_of([reference], days, 0)
    if not lines and days < wanted.days:
        print(f"Not in the last {days} days; looking through {wanted.days}.", file=sys.stderr)
        lines = await said_of([reference], wanted.days, days)
        days = wanted.days
    if not lines:
        raise ConfigError(f"No line of {wanted.stack}'s log in the last {wanted.days} days names {reference}.")
    id = _answering(lines, reference)
    others = {other for line in lines for other in str(line.keys.get("others", "")).split()}
    if more := ({id} | others) - {reference}:
        lines = _in_order([*lines, *await said_of(sorted(more), days, 0)])
    conversation = _conversation(lines)
    bot = next((str(line.keys["bot"]) for line in lines if "bot" in line.keys), "")
    turn, note = await _recorded(settings, wanted.stack, bot, conversation, id, clock)
    return Found(reference, id, conversation, turn, tuple(lines), note)


async def _recorded(
    settings: Settings, stack: str, bot: str, conversation: str, id: str, clock: Clock
) -> tuple[TurnView | None, str]:
    """What the stack's table has of it; a sentence where that can not be had."""
    from botocore.exceptions import BotoCoreError, ClientError

    from bot.adapters.dynamodb_store import DynamoDBStore
    from bot.cli.doctor.stack import read_stack
    from handlers.aws import Aws

    try:
        environment, _ = await asyncio.to_thread(read_stack, settings.aws_endpoint_url, stack)
        table = read_settings(environment).kabar_table
        with closing(Aws(settings.aws_endpoint_url)) as aws:
            store = DynamoDBStore(aws.client("dynamodb"), table, clock, bot)
            turn = await _turn_in(store, conversation, id)
    except (BotoCoreError, ClientError, ConfigError, Retry) as error:
        return None, f"Its record can not be read: {error}"
    return turn, "" if turn else "The record has nothing of it: it was not begun, or is forgotten."


async def _turn_in(store: Store, conversation: str, reference: str) -> TurnView | None:
    """The turn with this reference, or that answered the message with it; None where there is none here."""
    head = await store.head(conversation)
    if head is None:
        return None
    record = await store.record(conversation, 1)
    ids = {_turn_of(each.entry, reference) for each in record} - {""}
    if not ids:
        return None
    nested = await records_in(store, conversation, record)
    return next((turn for turn in turns(conversation, record, nested, head.turn) if turn.id in ids), None)


def _turn_of(entry: Entry, reference: str) -> str:
    if isinstance(entry, Summary):
        return ""
    said: tuple[Inbound, ...] = entry.said if isinstance(entry, Asked | Returned) else ()
    named = entry.turn == reference or any(each.reference == reference for each in said)
    return entry.turn if named else ""


def _answering(lines: Sequence[Line], reference: str) -> str:
    """The turn that these lines are about, where the reference is of a message that joined it."""
    joined = [line.turn for line in lines if line.turn and line.turn != reference]
    return joined[0] if joined else reference


def _conversation(lines: Sequence[Line]) -> str:
    return next((line.conversation for line in lines if line.conversation), "")


def _in_order(lines: Sequence[Line]) -> list[Line]:
    unique = {(line.at, line.where, line.said, str(line.keys)): line for line in lines}
    return sorted(unique.values(), key=lambda line: line.at)
