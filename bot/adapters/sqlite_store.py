"""Conversations in one SQLite file, for a laptop or a small server.

The write-ahead log with full synchronisation keeps every acknowledged write through a killed process or a power cut.
Each write is one transaction that takes the file's write lock before it reads (BEGIN IMMEDIATE), so conditions hold
between several processes on one file as well. SQLite blocks, so it lives on a thread of its own.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from msgspec.structs import replace

from bot.errors import BudgetExceeded, ConfigError, LeaseLost, StoreUnavailable
from bot.messages import (
    Bill,
    ChatSettings,
    Counter,
    Head,
    Inbound,
    Numbered,
    Spend,
    Spent,
    ToolRun,
    decode_entry,
    decode_inbound,
    decode_settings,
    decode_tool_run,
    decode_turn,
    encode,
)
from bot.ports import Change, Clock, Receipt

REMEMBERED = 14 * 24 * 3600
"""Seconds for which an answered message is recognised."""

MOST_PENDING = 50
"""Messages handed out at once."""

MOST_OVERDUE = 500
"""Conversations handed out at once."""

LOCK_WAIT = 10.0
"""Seconds to wait for another process that is writing."""

_TALLY = Bill.__struct_fields__

_CONVERSATIONS = """
CREATE TABLE head (
    conversation TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    until_ms INTEGER NOT NULL,
    last INTEGER NOT NULL,
    since INTEGER NOT NULL,
    turn BLOB,
    settings BLOB
);
-- pending: not taken by a turn yet. expires_at: answered, and until when that is remembered (Unix seconds).
CREATE TABLE inbox (
    conversation TEXT NOT NULL,
    key TEXT NOT NULL,
    inbound BLOB,
    pending INTEGER NOT NULL,
    received INTEGER NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (conversation, key)
);
CREATE INDEX inbox_pending ON inbox (conversation, key) WHERE pending;
CREATE INDEX inbox_unanswered ON inbox (received) WHERE expires_at IS NULL;
CREATE INDEX inbox_answered ON inbox (expires_at) WHERE expires_at IS NOT NULL;
CREATE TABLE record (
    conversation TEXT NOT NULL,
    seq INTEGER NOT NULL,
    entry BLOB NOT NULL,
    PRIMARY KEY (conversation, seq)
);
CREATE TABLE tool_run (
    conversation TEXT NOT NULL,
    call TEXT NOT NULL,
    run BLOB NOT NULL,
    PRIMARY KEY (conversation, call)
);
"""

_COUNTERS = f"""
CREATE TABLE counter (
    scope TEXT NOT NULL,
    period TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    amount INTEGER NOT NULL,
    {", ".join(f"{name} INTEGER NOT NULL" for name in _TALLY)},
    PRIMARY KEY (scope, period)
);
CREATE INDEX counter_expired ON counter (expires_at);
"""

_LAYOUTS = (_CONVERSATIONS, _COUNTERS)
"""Each adds to the one before it. A file's ``user_version`` says how many of them it has."""

P = ParamSpec("P")
T = TypeVar("T")


class SQLiteStore:
    """The Store port on a file that is made, with its folder, where it does not exist."""

    def __init__(self, path: str | Path, clock: Clock) -> None:
        """Raises ConfigError where the file can not be opened, is something else, or a newer Kabar wrote it."""
        self.path = Path(path)
        self._clock = clock
        self._database = _open(self.path)
        self._thread = ThreadPoolExecutor(1, "sqlite")

    async def receive(self, inbound: Inbound) -> Receipt:
        return await self._write(_receive, inbound, int(self._clock.now()))

    async def claim(self, conversation: str, owner: str, until_ms: int) -> Head | None:
        return await self._write(_claim, conversation, owner, until_ms, int(self._clock.now() * 1000))

    async def renew(self, head: Head, until_ms: int) -> None:
        await self._write(_renew, head, until_ms)

    async def commit(self, head: Head, change: Change) -> Head:
        """Raises LookupError, and stores nothing, where a key to take or to finish was never received."""
        return await self._write(_commit, head, change, int(self._clock.now()))

    async def inbox(self, conversation: str) -> list[Inbound]:
        return await self._read(_inbox, conversation)

    async def record(self, conversation: str, since: int) -> list[Numbered]:
        return await self._read(_record, conversation, since)

    async def put_tool_run(self, conversation: str, run: ToolRun) -> bool:
        return await self._write(_put_tool_run, conversation, run)

    async def tool_runs(self, conversation: str, calls: Sequence[str]) -> dict[str, ToolRun]:
        return await self._read(_tool_runs, conversation, calls)

    async def spent(self, counters: Sequence[Counter]) -> dict[Counter, Spent]:
        return await self._read(_spent, counters)

    async def overdue(self, before: int) -> list[str]:
        return await self._read(_overdue, before)

    def close(self) -> None:
        """Finish what was asked for, then close the file. May be called twice."""
        self._thread.shutdown()
        self._database.close()

    async def _read(self, work: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kw: P.kwargs) -> T:
        def on_thread() -> T:
            with _outages_named():
                return work(self._database, *args, **kw)

        return await asyncio.get_running_loop().run_in_executor(self._thread, on_thread)

    async def _write(self, work: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kw: P.kwargs) -> T:
        def on_thread() -> T:
            with _outages_named(), _transaction(self._database):
                return work(self._database, *args, **kw)

        return await asyncio.get_running_loop().run_in_executor(self._thread, on_thread)


def _receive(database: sqlite3.Connection, inbound: Inbound, now: int) -> Receipt:
    key = (inbound.conversation, inbound.key)
    row = database.execute("SELECT expires_at FROM inbox WHERE conversation = ? AND key = ?", key).fetchone()
    if row is not None and row[0] is None:
        return Receipt.WAITING
    if row is not None and row[0] > now:
        return Receipt.DONE
    database.execute("INSERT OR REPLACE INTO inbox VALUES (?, ?, ?, 1, ?, NULL)", (*key, encode(inbound), now))
    return Receipt.NEW


def _claim(database: sqlite3.Connection, conversation: str, owner: str, until_ms: int, now_ms: int) -> Head | None:
    database.execute("INSERT OR IGNORE INTO head VALUES (?, '', 0, 0, 1, NULL, NULL)", (conversation,))
    taken = database.execute(
        "UPDATE head SET owner = ?, until_ms = ? WHERE conversation = ? AND (until_ms <= ? OR owner = ?)",
        (owner, until_ms, conversation, now_ms, owner),
    )
    if taken.rowcount == 0:
        return None
    last, since, turn, settings = database.execute(
        "SELECT last, since, turn, settings FROM head WHERE conversation = ?", (conversation,)
    ).fetchone()
    return Head(
        conversation,
        owner,
        until_ms,
        last,
        since,
        decode_turn(turn) if turn is not None else None,
        decode_settings(settings) if settings is not None else ChatSettings(),
    )


def _renew(database: sqlite3.Connection, head: Head, until_ms: int) -> None:
    renewed = database.execute(
        "UPDATE head SET until_ms = ? WHERE conversation = ? AND owner = ? AND until_ms > 0",
        (until_ms, head.conversation, head.owner),
    )
    if renewed.rowcount == 0:
        raise _lost(head)


def _commit(database: sqlite3.Connection, head: Head, change: Change, now: int) -> Head:
    after = replace(
        head,
        owner="" if change.release else head.owner,
        until_ms=0 if change.release else head.until_ms,
        last=head.last + len(change.entries),
        since=head.since if change.since is None else change.since,
        turn=change.turn,
        settings=change.settings or head.settings,
    )
    _advance(database, head, after, change.release)
    database.executemany(
        "INSERT INTO record VALUES (?, ?, ?)",
        [(head.conversation, seq, encode(entry)) for seq, entry in enumerate(change.entries, head.last + 1)],
    )
    for key in change.take:
        _settle(database, _TAKE, {"conversation": head.conversation, "key": key})
    for key in change.done:
        _settle(database, _FINISH, {"conversation": head.conversation, "key": key, "expires": now + REMEMBERED})
    for spend in change.spend:
        _add(database, spend, now)
    database.execute("DELETE FROM inbox WHERE expires_at <= ?", (now,))
    database.execute("DELETE FROM counter WHERE expires_at <= ?", (now,))
    return after


def _advance(database: sqlite3.Connection, head: Head, after: Head, release: bool) -> None:
    """Every step goes through here: it holds only for the lease's owner, from the state it knows.

    A released lease keeps its owner's name and ends at 0; releasing it again is harmless.
    """
    advanced = database.execute(
        "UPDATE head SET last = :last, since = :since, turn = :turn, settings = :settings,"
        " until_ms = iif(:release, 0, until_ms)"
        " WHERE conversation = :conversation AND owner = :owner AND last = :before AND (until_ms > 0 OR :release)",
        {
            "last": after.last,
            "since": after.since,
            "turn": encode(after.turn) if after.turn is not None else None,
            "settings": encode(after.settings),
            "release": release,
            "conversation": head.conversation,
            "owner": head.owner,
            "before": head.last,
        },
    )
    if advanced.rowcount == 0:
        raise _lost(head)


_TAKE = "UPDATE inbox SET pending = 0 WHERE conversation = :conversation AND key = :key"
_FINISH = (
    "UPDATE inbox SET pending = 0, inbound = NULL, expires_at = :expires"
    " WHERE conversation = :conversation AND key = :key"
)


def _settle(database: sqlite3.Connection, statement: str, values: dict[str, str | int]) -> None:
    if database.execute(statement, values).rowcount == 0:
        raise LookupError(f"A message to settle was never received in {values['conversation']!r}.")


_ADD = (
    f"INSERT INTO counter VALUES (?, ?, ?, ?, {', '.join('?' for _ in _TALLY)})"  # noqa: S608 - names of our own
    " ON CONFLICT DO UPDATE SET amount = amount + excluded.amount, "
    f"{', '.join(f'{name} = {name} + excluded.{name}' for name in _TALLY)}"
)


def _add(database: sqlite3.Connection, spend: Spend, now: int) -> None:
    scope, period = spend.counter.scope, spend.counter.period
    if spend.limit is not None:
        row = database.execute("SELECT amount FROM counter WHERE scope = ? AND period = ?", (scope, period)).fetchone()
        if (row[0] if row else 0) + spend.amount > spend.limit:
            raise BudgetExceeded(spend)
    tally = (getattr(spend.bill, name) for name in _TALLY)
    database.execute(_ADD, (scope, period, now + spend.keep, spend.amount, *tally))


def _spent(database: sqlite3.Connection, counters: Sequence[Counter]) -> dict[Counter, Spent]:
    spent = {}
    for counter in counters:
        row = database.execute(
            f"SELECT amount, {', '.join(_TALLY)} FROM counter WHERE scope = ? AND period = ?",  # noqa: S608 - as above
            (counter.scope, counter.period),
        ).fetchone()
        if row is not None:
            spent[counter] = Spent(row[0], Bill(*row[1:]))
    return spent


def _inbox(database: sqlite3.Connection, conversation: str) -> list[Inbound]:
    rows = database.execute(
        "SELECT inbound FROM inbox WHERE conversation = ? AND pending ORDER BY key LIMIT ?",
        (conversation, MOST_PENDING),
    )
    return [decode_inbound(inbound) for (inbound,) in rows]


def _record(database: sqlite3.Connection, conversation: str, since: int) -> list[Numbered]:
    rows = database.execute(
        "SELECT seq, entry FROM record WHERE conversation = ? AND seq >= ? ORDER BY seq", (conversation, since)
    )
    return [Numbered(seq, decode_entry(entry)) for seq, entry in rows]


def _put_tool_run(database: sqlite3.Connection, conversation: str, run: ToolRun) -> bool:
    verb = "INSERT OR IGNORE" if run.result is None else "INSERT OR REPLACE"
    put = database.execute(f"{verb} INTO tool_run VALUES (?, ?, ?)", (conversation, run.call, encode(run)))
    return put.rowcount > 0


def _tool_runs(database: sqlite3.Connection, conversation: str, calls: Sequence[str]) -> dict[str, ToolRun]:
    runs = {}
    for call in calls:
        row = database.execute(
            "SELECT run FROM tool_run WHERE conversation = ? AND call = ?", (conversation, call)
        ).fetchone()
        if row is not None:
            runs[call] = decode_tool_run(row[0])
    return runs


def _overdue(database: sqlite3.Connection, before: int) -> list[str]:
    rows = database.execute(
        "SELECT DISTINCT conversation FROM inbox WHERE expires_at IS NULL AND received < ? LIMIT ?",
        (before, MOST_OVERDUE),
    )
    return [conversation for (conversation,) in rows]


def _lost(head: Head) -> LeaseLost:
    return LeaseLost(f"{head.owner!r} no longer holds {head.conversation!r}, or does not know its newest entry.")


@contextmanager
def _transaction(database: sqlite3.Connection) -> Iterator[None]:
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:  # a full disk has rolled it back already
            database.execute("ROLLBACK")
        raise


@contextmanager
def _outages_named() -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        raise StoreUnavailable(f"SQLite: {error}") from error


def _open(path: Path) -> sqlite3.Connection:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)  # where it is new; the log beside it gets the same rights
        database = sqlite3.connect(path, LOCK_WAIT, isolation_level=None, check_same_thread=False)
    except (OSError, sqlite3.Error) as error:
        raise ConfigError(f"KABAR_DATA: {path} can not be opened: {error}") from error
    try:
        _prepare(database, path)
    except BaseException:
        database.close()
        raise
    return database


def _prepare(database: sqlite3.Connection, path: Path) -> None:
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        with _transaction(database):
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version > len(_LAYOUTS):
                raise ConfigError(f"KABAR_DATA: {path} was written by a newer Kabar (layout {version}): update Kabar.")
            for layout in _LAYOUTS[version:]:
                for statement in layout.split(";"):
                    database.execute(statement)
            if version < len(_LAYOUTS):
                database.execute(f"PRAGMA user_version = {len(_LAYOUTS)}")
    except sqlite3.Error as error:
        raise ConfigError(f"KABAR_DATA: {path} can not be used: {error}") from error
