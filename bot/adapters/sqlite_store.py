"""Conversations in one SQLite file, for a laptop or a small server.

The write-ahead log with full synchronisation keeps every acknowledged write through a killed process or a power cut.
Each write is one transaction that takes the file's write lock before it reads (BEGIN IMMEDIATE), so conditions hold
between several processes on one file as well. SQLite blocks, so it lives on a thread of its own.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from msgspec import DecodeError
from msgspec.structs import replace

from bot.errors import BudgetExceeded, ConfigError, NewerSchema, StoreUnavailable
from bot.keeping import (
    MOST_PENDING,
    MOST_REMINDERS,
    NESTED,
    REMEMBERED,
    REPEATS,
    after,
    counters_to_forget,
    lost,
    passes_at,
)
from bot.messages import (
    Bill,
    ChatSettings,
    Counter,
    Head,
    Inbound,
    Installation,
    Numbered,
    Profile,
    Reminder,
    Spend,
    Spent,
    ToolRun,
)
from bot.ports import Change, Clock, Receipt, Upgraded
from bot.schema import (
    ENTRY,
    INBOUND,
    INSTALLATION,
    PROFILE,
    REMINDER,
    SCHEMA,
    SETTINGS,
    TOOL_RUN,
    TURN,
    Kind,
    expect_known,
    pack,
)

MOST_OVERDUE = 500
"""Conversations handed out at once."""

NAMES_AT_ONCE = 1_000

VALUES_AT_ONCE = 200
"""Rewritten in one transaction: others write between two of them."""

GRACE = 3600
"""Seconds that what has expired is kept: a turn may be about to take what it saw a moment before."""

LOCK_WAIT = 10.0
"""Seconds to wait for another process that is writing."""

_LAST_ENTRY = 2**63 - 1
"""No entry has a higher number."""

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
-- pending: not taken by a turn yet. expires_at (Unix seconds): of what is pending and not to the bot, when it passes.
-- Of what is answered, until when that is remembered.
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

_PEOPLE = """
CREATE TABLE profile (
    person TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    profile BLOB NOT NULL
);
"""

_REMINDERS = """
CREATE TABLE reminder (
    conversation TEXT NOT NULL,
    id TEXT NOT NULL,
    at INTEGER NOT NULL,
    reminder BLOB NOT NULL,
    PRIMARY KEY (conversation, id)
);
CREATE INDEX reminder_at ON reminder (at);
"""

_KEPT = """
CREATE TABLE kept (
    name TEXT PRIMARY KEY,
    data BLOB NOT NULL
);
"""

# written_by: the schema (bot/schema.py) of who wrote the conversation last. What is there was used now, at the latest.
_USE = """
ALTER TABLE head ADD COLUMN written_by INTEGER NOT NULL DEFAULT 1;
ALTER TABLE head ADD COLUMN used INTEGER NOT NULL DEFAULT 0;
UPDATE head SET used = CAST(strftime('%s', 'now') AS INTEGER) WHERE conversation NOT GLOB '*/*.*.*';
CREATE INDEX head_used ON head (used) WHERE used > 0;
"""

_INSTALLATIONS = """
CREATE TABLE installation (
    team TEXT PRIMARY KEY,
    stamp TEXT NOT NULL,
    at INTEGER NOT NULL,
    installation BLOB NOT NULL
);
CREATE TABLE asked_once (
    name TEXT PRIMARY KEY,
    expires_at INTEGER NOT NULL
);
"""

_LAYOUTS = (_CONVERSATIONS, _COUNTERS, _PEOPLE, _REMINDERS, _KEPT, _USE, _INSTALLATIONS)
"""Each adds to the one before it. A file's ``user_version`` says how many of them it has."""

_VALUES: tuple[tuple[str, str, Kind[Any]], ...] = (
    ("head", "turn", TURN),
    ("head", "settings", SETTINGS),
    ("inbox", "inbound", INBOUND),
    ("record", "entry", ENTRY),
    ("tool_run", "run", TOOL_RUN),
    ("profile", "profile", PROFILE),
    ("reminder", "reminder", REMINDER),
    ("installation", "installation", INSTALLATION),
)
"""The tables and columns that hold stored values."""

P = ParamSpec("P")
T = TypeVar("T")


class SQLiteStore:
    """The Store port on a file that is made, with its folder, where it does not exist."""

    def __init__(self, path: str | Path, clock: Clock, *, read_only: bool = False) -> None:
        """Raises ConfigError where the file can not be opened, is something else, or a newer Kabar wrote it.

        ``read_only``: for whoever watches a file that another process keeps: it must be there, and writing to it raises
        StoreUnavailable.
        """
        self.path = Path(path)
        self._clock = clock
        self._database = _open_read_only(self.path) if read_only else _open(self.path)
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

    async def head(self, conversation: str) -> Head | None:
        return await self._read(_head, conversation)

    async def inbox(self, conversation: str) -> list[Inbound]:
        return await self._read(_inbox, conversation, int(self._clock.now()))

    async def record(self, conversation: str, since: int) -> list[Numbered]:
        return await self._read(_record, conversation, since)

    async def put_tool_run(self, conversation: str, run: ToolRun) -> bool:
        return await self._write(_put_tool_run, conversation, run)

    async def tool_runs(self, conversation: str, calls: Sequence[str]) -> dict[str, ToolRun]:
        return await self._read(_tool_runs, conversation, calls)

    async def spent(self, counters: Sequence[Counter]) -> dict[Counter, Spent]:
        return await self._read(_spent, counters)

    async def knows(self, conversation: str) -> bool:
        return await self._read(_knows, conversation)

    async def profile(self, person: str) -> Profile:
        return await self._read(_profile, person)

    async def profiles(self, people: Iterable[str]) -> dict[str, Profile]:
        return await self._read(_profiles, people)

    async def role(self, person: str) -> str:
        return (await self.profile(person)).role

    async def keep_profile(self, person: str, profile: Profile) -> bool:
        return await self._write(_keep_profile, person, profile)

    async def reminders(self, conversation: str) -> list[Reminder]:
        return await self._read(_reminders, conversation)

    async def put_reminder(self, reminder: Reminder) -> None:
        await self._write(_put_reminder, reminder)

    async def delete_reminder(self, conversation: str, id: str) -> bool:
        return await self._write(_delete_reminder, conversation, id)

    async def reminders_until(self, before: int) -> list[Reminder]:
        """Of all conversations, those whose time is before this Unix time, for ``LocalScheduler``."""
        return await self._read(_reminders_until, before)

    async def kept(self, name: str) -> bytes | None:
        return await self._read(_kept, name)

    async def keep(self, name: str, data: bytes) -> None:
        await self._write(_keep, name, data)

    async def installation(self, team: str) -> Installation | None:
        return await self._read(_installation, team)

    async def install(self, installation: Installation) -> None:
        await self._write(_install, installation)

    async def change_installation(self, stamp: str, installation: Installation) -> bool:
        return await self._write(_change_installation, stamp, installation)

    async def uninstall(self, team: str, at: int) -> None:
        await self._write(_uninstall, team, at)

    async def first(self, name: str, until: int) -> bool:
        return await self._write(_first, name, until, int(self._clock.now()))

    async def conversations(self, most: int = -1) -> list[str]:
        """Those that people had, at most so many (-1: all), the one that was written to last first."""
        return await self._read(_conversations, most)

    async def entries(self, conversation: str, first: int, last: int) -> list[Numbered]:
        return await self._read(_entries, conversation, first, last)

    def every_conversation(self) -> AsyncIterator[str]:
        return self._names("SELECT conversation FROM head WHERE conversation > ? ORDER BY conversation LIMIT ?")

    def every_profile(self) -> AsyncIterator[str]:
        return self._names("SELECT person FROM profile WHERE person > ? ORDER BY person LIMIT ?")

    async def upgraded(self, *, writes: bool) -> AsyncIterator[Upgraded]:
        """Only looking holds nobody up."""
        on_thread = self._write if writes else self._read
        for table, column, kind in _VALUES:
            last: int | None = 0
            while last is not None:
                page, last = await on_thread(_upgrade, table, column, kind, last, writes)
                yield page

    async def _names(self, query: str) -> AsyncIterator[str]:
        names = await self._read(_some_names, query, "")
        while names:
            for name in names:
                yield name
            names = await self._read(_some_names, query, names[-1])

    async def forget(self, head: Head) -> None:
        """All at once, so it can not be cut. What the running turn took is answered then. The tombstone of a message
        that may still be repeated stays its usual time: nobody is answered twice, and it holds no words."""
        await self._write(_forget, head, int(self._clock.now()))
        await self._read(_empty_log)

    async def overdue(self, before: int) -> list[str]:
        """One that was not to the bot, and that a turn took all the same, counts as well: after a restart nothing else
        wakes that turn."""
        return await self._read(_overdue, before)

    async def unused(self, before: int) -> list[str]:
        return await self._read(_unused, before)

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
    row = database.execute("SELECT pending, expires_at FROM inbox WHERE conversation = ? AND key = ?", key).fetchone()
    if row is not None and (row[1] is None or row[1] > now):
        return Receipt.WAITING if row[0] or row[1] is None else Receipt.DONE
    values = (*key, pack(inbound), now, passes_at(inbound, now))
    database.execute("INSERT OR REPLACE INTO inbox VALUES (?, ?, ?, 1, ?, ?)", values)
    return Receipt.NEW


def _claim(database: sqlite3.Connection, conversation: str, owner: str, until_ms: int, now_ms: int) -> Head | None:
    database.execute(
        "INSERT OR IGNORE INTO head (conversation, owner, until_ms, last, since) VALUES (?, '', 0, 0, 1)",
        (conversation,),
    )
    (written_by,) = database.execute("SELECT written_by FROM head WHERE conversation = ?", (conversation,)).fetchone()
    expect_known(conversation, written_by)
    taken = database.execute(
        "UPDATE head SET owner = ?, until_ms = ? WHERE conversation = ? AND (until_ms <= ? OR owner = ?)",
        (owner, until_ms, conversation, now_ms, owner),
    )
    return _head(database, conversation) if taken.rowcount else None


def _head(database: sqlite3.Connection, conversation: str) -> Head | None:
    row = database.execute(
        "SELECT owner, until_ms, last, since, turn, settings, used FROM head WHERE conversation = ?", (conversation,)
    ).fetchone()
    if row is None:
        return None
    owner, until_ms, last, since, turn, settings, used = row
    return Head(
        conversation,
        owner,
        until_ms,
        last,
        since,
        TURN.read(turn) if turn is not None else None,
        SETTINGS.read(settings) if settings is not None else ChatSettings(),
        used,
    )


def _renew(database: sqlite3.Connection, head: Head, until_ms: int) -> None:
    renewed = database.execute(
        "UPDATE head SET until_ms = ? WHERE conversation = ? AND owner = ? AND until_ms > 0",
        (until_ms, head.conversation, head.owner),
    )
    if renewed.rowcount == 0:
        raise lost(head)


def _commit(database: sqlite3.Connection, head: Head, change: Change, now: int) -> Head:
    stored = after(head, change, now)
    _advance(database, head, stored, change.release)
    database.executemany(
        "INSERT INTO record VALUES (?, ?, ?)",
        [(head.conversation, seq, pack(entry)) for seq, entry in enumerate(change.entries, head.last + 1)],
    )
    for key in change.take:
        _settle(database, _TAKE, {"conversation": head.conversation, "key": key})
    for key in change.done:
        _settle(database, _FINISH, {"conversation": head.conversation, "key": key, "expires": now + REMEMBERED})
    for spend in change.spend:
        _add(database, spend, now)
    database.execute("DELETE FROM inbox WHERE expires_at <= ?", (now - GRACE,))
    database.execute("DELETE FROM counter WHERE expires_at <= ?", (now,))
    return stored


def _advance(database: sqlite3.Connection, head: Head, stored: Head, release: bool) -> None:
    """Every step goes through here: it holds only for the lease's owner, from the state it knows.

    A released lease keeps its owner's name and ends at 0; releasing it again is harmless.
    """
    advanced = database.execute(
        "UPDATE head SET last = :last, since = :since, turn = :turn, settings = :settings,"
        " used = :used, written_by = :schema, until_ms = iif(:release, 0, until_ms)"
        " WHERE conversation = :conversation AND owner = :owner AND last = :before AND (until_ms > 0 OR :release)",
        {
            "last": stored.last,
            "since": stored.since,
            "turn": pack(stored.turn) if stored.turn is not None else None,
            "settings": pack(stored.settings),
            "used": stored.used,
            "schema": SCHEMA,
            "release": release,
            "conversation": head.conversation,
            "owner": head.owner,
            "before": head.last,
        },
    )
    if advanced.rowcount == 0:
        raise lost(head)


_TAKE = (  # what a turn took no longer passes by itself
    "UPDATE inbox SET expires_at = iif(pending, NULL, expires_at), pending = 0"
    " WHERE conversation = :conversation AND key = :key"
)
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


def _inbox(database: sqlite3.Connection, conversation: str, now: int) -> list[Inbound]:
    """Those to the bot come first into it, then the newest others."""
    rows = database.execute(
        "SELECT inbound FROM inbox WHERE conversation = ? AND pending AND (expires_at IS NULL OR expires_at > ?)"
        " ORDER BY expires_at IS NOT NULL, expires_at DESC, key LIMIT ?",
        (conversation, now, MOST_PENDING),
    )
    pending = (INBOUND.spared(inbound, conversation) for (inbound,) in rows)
    return sorted(filter(None, pending), key=lambda inbound: inbound.key)


def _record(database: sqlite3.Connection, conversation: str, since: int) -> list[Numbered]:
    stored = _stored(database, conversation, since, _LAST_ENTRY)
    spared = ((seq, ENTRY.spared(data, conversation)) for seq, data in stored)
    return [Numbered(seq, entry) for seq, entry in spared if entry is not None]


def _entries(database: sqlite3.Connection, conversation: str, first: int, last: int) -> list[Numbered]:
    return [Numbered(seq, ENTRY.read(data)) for seq, data in _stored(database, conversation, first, last)]


def _stored(database: sqlite3.Connection, conversation: str, first: int, last: int) -> Iterable[tuple[int, bytes]]:
    return database.execute(
        "SELECT seq, entry FROM record WHERE conversation = ? AND seq BETWEEN ? AND ? ORDER BY seq",
        (conversation, first, last),
    )


def _some_names(database: sqlite3.Connection, query: str, after: str) -> list[str]:
    return [name for (name,) in database.execute(query, (after, NAMES_AT_ONCE))]


def _conversations(database: sqlite3.Connection, most: int) -> list[str]:
    rows = database.execute(
        "SELECT conversation FROM record WHERE conversation NOT GLOB ? GROUP BY conversation "
        "ORDER BY max(rowid) DESC LIMIT ?",
        (NESTED, most),
    )
    return [conversation for (conversation,) in rows]


def _put_tool_run(database: sqlite3.Connection, conversation: str, run: ToolRun) -> bool:
    verb = "INSERT OR IGNORE" if run.result is None else "INSERT OR REPLACE"
    put = database.execute(f"{verb} INTO tool_run VALUES (?, ?, ?)", (conversation, run.call, pack(run)))
    return put.rowcount > 0


def _tool_runs(database: sqlite3.Connection, conversation: str, calls: Sequence[str]) -> dict[str, ToolRun]:
    runs = {}
    for call in calls:
        row = database.execute(
            "SELECT run FROM tool_run WHERE conversation = ? AND call = ?", (conversation, call)
        ).fetchone()
        if row is not None:
            runs[call] = TOOL_RUN.read(row[0])
    return runs


def _knows(database: sqlite3.Connection, conversation: str) -> bool:
    row = database.execute("SELECT last FROM head WHERE conversation = ?", (conversation,)).fetchone()
    return row is not None and row[0] > 0


def _profile(database: sqlite3.Connection, person: str) -> Profile:
    row = database.execute("SELECT profile FROM profile WHERE person = ?", (person,)).fetchone()
    return PROFILE.read(row[0]) if row is not None else Profile()


def _profiles(database: sqlite3.Connection, people: Iterable[str]) -> dict[str, Profile]:
    return {person: _profile(database, person) for person in people}


def _keep_profile(database: sqlite3.Connection, person: str, profile: Profile) -> bool:
    row = database.execute("SELECT version FROM profile WHERE person = ?", (person,)).fetchone()
    if profile.version != (row[0] if row is not None else 0):
        return False
    kept = replace(profile, version=profile.version + 1)
    database.execute("INSERT OR REPLACE INTO profile VALUES (?, ?, ?)", (person, kept.version, pack(kept)))
    return True


def _reminders(database: sqlite3.Connection, conversation: str) -> list[Reminder]:
    rows = database.execute(
        "SELECT reminder FROM reminder WHERE conversation = ? ORDER BY at, id LIMIT ?", (conversation, MOST_REMINDERS)
    )
    return [REMINDER.read(reminder) for (reminder,) in rows]


def _put_reminder(database: sqlite3.Connection, reminder: Reminder) -> None:
    values = (reminder.place.conversation, reminder.id, reminder.at, pack(reminder))
    database.execute("INSERT OR REPLACE INTO reminder VALUES (?, ?, ?, ?)", values)


def _delete_reminder(database: sqlite3.Connection, conversation: str, id: str) -> bool:
    gone = database.execute("DELETE FROM reminder WHERE conversation = ? AND id = ?", (conversation, id))
    return gone.rowcount > 0


def _reminders_until(database: sqlite3.Connection, before: int) -> list[Reminder]:
    rows = database.execute("SELECT reminder FROM reminder WHERE at < ? ORDER BY at", (before,))
    return [REMINDER.read(reminder) for (reminder,) in rows]


def _kept(database: sqlite3.Connection, name: str) -> bytes | None:
    row = database.execute("SELECT data FROM kept WHERE name = ?", (name,)).fetchone()
    return row[0] if row is not None else None


def _keep(database: sqlite3.Connection, name: str, data: bytes) -> None:
    database.execute("INSERT OR REPLACE INTO kept VALUES (?, ?)", (name, data))


def _installation(database: sqlite3.Connection, team: str) -> Installation | None:
    row = database.execute("SELECT installation FROM installation WHERE team = ?", (team,)).fetchone()
    return INSTALLATION.read(row[0]) if row is not None else None


def _install(database: sqlite3.Connection, installation: Installation) -> None:
    database.execute(
        "INSERT INTO installation VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET stamp = excluded.stamp,"
        " at = excluded.at, installation = excluded.installation WHERE at <= excluded.at",
        (installation.team, installation.stamp, installation.at, pack(installation)),
    )


def _change_installation(database: sqlite3.Connection, stamp: str, installation: Installation) -> bool:
    changed = database.execute(
        "UPDATE installation SET stamp = ?, at = ?, installation = ? WHERE team = ? AND stamp = ?",
        (installation.stamp, installation.at, pack(installation), installation.team, stamp),
    )
    return changed.rowcount > 0


def _uninstall(database: sqlite3.Connection, team: str, at: int) -> None:
    database.execute("DELETE FROM installation WHERE team = ? AND at <= ?", (team, at))


def _first(database: sqlite3.Connection, name: str, until: int, now: int) -> bool:
    database.execute("DELETE FROM asked_once WHERE expires_at <= ?", (now,))
    return database.execute("INSERT OR IGNORE INTO asked_once VALUES (?, ?)", (name, until)).rowcount > 0


def _forget(database: sqlite3.Connection, head: Head, now: int) -> None:
    gone = database.execute(
        "DELETE FROM head WHERE conversation = ? AND owner = ? AND last = ? AND until_ms > 0",
        (head.conversation, head.owner, head.last),
    )
    if gone.rowcount == 0:
        raise lost(head)
    for key in head.turn.inbox if head.turn is not None else ():
        _settle(database, _FINISH, {"conversation": head.conversation, "key": key, "expires": now + REMEMBERED})
    for table in ("record", "tool_run", "reminder"):
        database.execute(f"DELETE FROM {table} WHERE conversation = ?", (head.conversation,))  # noqa: S608 - as above
    database.execute(
        "DELETE FROM inbox WHERE conversation = ? AND NOT pending AND expires_at <= ?",
        (head.conversation, now + REMEMBERED - REPEATS),
    )
    counters = counters_to_forget(head.conversation, now)
    keys = [(counter.scope, counter.period) for counter in counters]
    database.executemany("DELETE FROM counter WHERE scope = ? AND period = ?", keys)


def _empty_log(database: sqlite3.Connection) -> None:
    """What was deleted is overwritten in the file, but its pages may still stand in the log. Another process that reads
    them at this moment keeps it from being emptied; then the next time does it."""
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _overdue(database: sqlite3.Connection, before: int) -> list[str]:
    rows = database.execute(
        "SELECT DISTINCT conversation FROM inbox WHERE expires_at IS NULL AND received < ? LIMIT ?",
        (before, MOST_OVERDUE),
    )
    return [conversation for (conversation,) in rows]


def _unused(database: sqlite3.Connection, before: int) -> list[str]:
    rows = database.execute(
        "SELECT conversation FROM head WHERE used > 0 AND used < ? ORDER BY used LIMIT ?", (before, MOST_OVERDUE)
    )
    return [conversation for (conversation,) in rows]


def _upgrade(
    database: sqlite3.Connection, table: str, column: str, kind: Kind[Any], after_row: int, writes: bool
) -> tuple[Upgraded, int | None]:
    """What comes behind this row; and the last row of it, None where nothing comes behind that."""
    rows = database.execute(
        f"SELECT rowid, {column} FROM {table} WHERE rowid > ? AND {column} IS NOT NULL ORDER BY rowid LIMIT ?",  # noqa: S608 - names of our own
        (after_row, VALUES_AT_ONCE),
    ).fetchall()
    renewed, unreadable = [], []
    for row, data in rows:
        try:
            new = kind.renewed(data)
        except (NewerSchema, DecodeError) as error:
            unreadable.append(f"{table} row {row}: {error}")
        else:
            renewed += [(new, row)] if new is not None else []
    if writes:
        database.executemany(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", renewed)  # noqa: S608 - as above
    last = rows[-1][0] if len(rows) == VALUES_AT_ONCE else None
    return Upgraded(len(rows), len(renewed), tuple(unreadable)), last


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


def _open_read_only(path: Path) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode=ro"
    try:
        database = sqlite3.connect(address, LOCK_WAIT, isolation_level=None, check_same_thread=False, uri=True)
    except sqlite3.Error as error:
        raise ConfigError(f"KABAR_DATA: {path} can not be opened: {error}") from error
    try:
        (version,) = database.execute("PRAGMA user_version").fetchone()
    except sqlite3.Error as error:
        database.close()
        raise ConfigError(f"KABAR_DATA: {path} is no file of Kabar's: {error}") from error
    if version != len(_LAYOUTS):
        database.close()
        raise ConfigError(f"KABAR_DATA: {path} was written by another version of Kabar.")
    return database


def _prepare(database: sqlite3.Connection, path: Path) -> None:
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.execute("PRAGMA secure_delete = ON")  # what is forgotten is not left in unused pages
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
