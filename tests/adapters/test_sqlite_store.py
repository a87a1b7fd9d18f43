"""What only the SQLite store has to promise: its file, through kills and between processes."""

import asyncio
import multiprocessing
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.adapters.sqlite_store import _LAYOUTS, SQLiteStore
from bot.errors import ConfigError, StoreUnavailable
from bot.messages import Counter, Inbound, Numbered, Person, Place, Profile, Reminder, Spend, Summary, ToolRun
from bot.ports import Change, Receipt
from bot.schema import pack
from tests.clock import FakeClock

ROOT = Path(__file__).parent.parent.parent
CHAT = "telegram:1"
FOREVER = 3_000_000_000_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new folder" / "kabar.sqlite3"


@pytest.fixture
def store(path: Path, clock: FakeClock) -> Iterator[SQLiteStore]:
    with closing(SQLiteStore(path, clock)) as store:
        yield store


def said(number: int, conversation: str = CHAT) -> Inbound:
    place = Place(conversation, "1")
    return Inbound(place=place, id=str(number), order=f"{number:012d}", sender=Person("telegram:7"), sent_at=1)


async def test_what_is_stored_is_there_after_a_restart(path: Path, clock: FakeClock) -> None:
    with closing(SQLiteStore(path, clock)) as store:
        await store.receive(said(1))
        head = await store.claim(CHAT, "a", FOREVER)
        assert head is not None
        await store.commit(head, Change((Summary("x"),), release=True))
    with closing(SQLiteStore(path, clock)) as store:
        assert await store.inbox(CHAT) == [said(1)]
        assert await store.record(CHAT, 1) == [Numbered(1, Summary("x"))]


# Several processes


async def test_who_only_reads_sees_what_another_writes_and_can_change_nothing(
    path: Path, store: SQLiteStore, clock: FakeClock
) -> None:
    with closing(SQLiteStore(path, clock, read_only=True)) as reader:
        assert await reader.knows(CHAT) is False
        await store.receive(said(1))
        assert await reader.inbox(CHAT) == [said(1)]
        with pytest.raises(StoreUnavailable, match="readonly"):
            await reader.receive(said(2))


def test_who_only_reads_makes_no_file_and_takes_none_of_another_version(path: Path, clock: FakeClock) -> None:
    with pytest.raises(ConfigError, match="KABAR_DATA"):
        SQLiteStore(path, clock, read_only=True)
    assert not path.parent.exists()
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(ConfigError, match="another version"):
        SQLiteStore(path, clock, read_only=True)


WRITER = """
import asyncio, sys
from bot.adapters.sqlite_store import SQLiteStore
from bot.messages import Summary
from bot.ports import Change
from tests.adapters.test_sqlite_store import CHAT, FOREVER, said
from tests.clock import FakeClock

async def write():
    store = SQLiteStore(sys.argv[1], FakeClock())
    head = await store.claim(CHAT, "writer", FOREVER)
    while True:
        number = head.last + 1
        await store.receive(said(number))
        head = await store.commit(head, Change((Summary(str(number)),), take=(said(number).key,)))
        print(number, flush=True)

asyncio.run(write())
"""


def write_and_be_killed(path: Path) -> list[int]:
    """The steps that a process of its own acknowledged before it was killed in the middle of its work."""
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], cwd=ROOT, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        acknowledged = [int(writer.stdout.readline()) for _ in range(40)]
        writer.kill()
        return acknowledged + [int(line) for line in writer.stdout.read().splitlines()]


async def test_killing_the_writer_loses_nothing_it_acknowledged(path: Path, clock: FakeClock) -> None:
    for _ in range(3):
        acknowledged = write_and_be_killed(path)
        with closing(SQLiteStore(path, clock)) as store:
            record = await store.record(CHAT, 1)
            assert record[: acknowledged[-1]] == [Numbered(n, Summary(str(n))) for n in range(1, acknowledged[-1] + 1)]
            assert len(record) <= acknowledged[-1] + 1  # one more step may have been stored, and not yet told
            for number in acknowledged:
                assert await store.receive(said(number)) is Receipt.WAITING


def compete(path: Path, name: str) -> tuple[int, bool]:
    """In a process of its own: offer 50 messages, then try for the lease. How many were new, and whether we got it."""

    async def work() -> tuple[int, bool]:
        with closing(SQLiteStore(path, FakeClock())) as store:
            receipts = [await store.receive(said(number)) for number in range(50)]
            return receipts.count(Receipt.NEW), await store.claim(CHAT, name, FOREVER) is not None

    return asyncio.run(work())


def test_processes_that_open_one_file_at_once_agree_who_was_first(path: Path) -> None:
    with ProcessPoolExecutor(4, multiprocessing.get_context("spawn")) as processes:
        results = list(processes.map(compete, [path] * 8, [f"process-{n}" for n in range(8)]))
    assert sum(new for new, _ in results) == 50
    assert [got_it for _, got_it in results].count(True) == 1


# The file


def test_the_file_and_its_log_can_be_read_by_nobody_else(store: SQLiteStore, path: Path) -> None:
    files = sorted(path.parent.iterdir())
    assert [file.name for file in files] == ["kabar.sqlite3", "kabar.sqlite3-shm", "kabar.sqlite3-wal"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_path_that_can_not_be_opened_is_the_owners_business(tmp_path: Path, clock: FakeClock) -> None:
    rights = tmp_path.stat().st_mode
    with pytest.raises(ConfigError, match="can not be opened"):
        SQLiteStore(tmp_path, clock)
    assert tmp_path.stat().st_mode == rights
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="can not be opened"):
        SQLiteStore(tmp_path / "file" / "kabar.sqlite3", clock)


def test_a_file_that_is_something_else_is_left_alone(tmp_path: Path, clock: FakeClock) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear Sari, " * 100)
    with pytest.raises(ConfigError, match="not a database"):
        SQLiteStore(letter, clock)
    assert letter.read_text() == "Dear Sari, " * 100


def test_a_file_of_a_newer_version_is_left_alone(path: Path, clock: FakeClock) -> None:
    SQLiteStore(path, clock).close()
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(ConfigError, match="newer Kabar"):
        SQLiteStore(path, clock)


USES = 6
"""The layout from which on a head notes its use."""


@pytest.mark.parametrize("version", range(1, len(_LAYOUTS)))
async def test_a_file_of_an_older_version_gains_what_is_new_and_keeps_what_it_has(
    path: Path, clock: FakeClock, version: int
) -> None:
    path.parent.mkdir(exist_ok=True)
    with closing(sqlite3.connect(path)) as database:
        for layout in _LAYOUTS[:version]:
            database.executescript(layout)
        received = "INSERT INTO inbox (conversation, key, inbound, pending, received) VALUES (?, ?, ?, 1, 1)"
        database.execute(received, (CHAT, said(1).key, pack(said(1))))
        new = "INSERT INTO head (conversation, owner, until_ms, last, since) VALUES (?, '', 0, 0, 1)"
        database.execute(new, (CHAT,))
        database.execute(f"PRAGMA user_version = {version}")
        database.commit()
    store = SQLiteStore(path, clock)
    assert await store.spent([Counter("all", "2033-05")]) == {}
    assert await store.profile("telegram:7") == Profile()
    assert await store.reminders(CHAT) == []
    assert await store.kept("mcp:time:1") is None
    assert await store.inbox(CHAT) == [said(1)]
    head = await store.head(CHAT)
    assert head is not None and await store.claim(CHAT, "a", 1) is not None
    if version < USES:  # it was used now, at the latest
        assert head.used > 1_700_000_000 and await store.unused(2**40) == [CHAT]
    store.close()


async def test_what_is_due_is_found_over_all_conversations_by_time(store: SQLiteStore) -> None:
    person = Person("telegram:7")
    chats = [Place(f"telegram:{number}", str(number)) for number in range(3)]
    reminders = [Reminder("aaaaaaaa", chat, person, "x", 300 - 100 * number) for number, chat in enumerate(chats)]
    for each in reminders:
        await store.put_reminder(each)
    assert await store.reminders_until(300) == [reminders[2], reminders[1]]
    await store.delete_reminder("telegram:2", "aaaaaaaa")
    assert await store.reminders_until(301) == [reminders[1], reminders[0]]


async def test_counters_are_forgotten_when_their_time_is_over(store: SQLiteStore, clock: FakeClock) -> None:
    minute = Counter("minute:person:telegram:7", "2033-05-18T03:33")
    head = await store.claim(CHAT, "me", int(clock.now() * 1000) + 1)
    assert head is not None
    head = await store.commit(head, Change(spend=(Spend(minute, 1, keep=60),)))
    assert minute in await store.spent([minute])
    clock.advance(60)
    await store.commit(head, Change())
    assert await store.spent([minute]) == {}


async def test_words_that_are_forgotten_are_nowhere_in_the_file_or_its_log(
    store: SQLiteStore, path: Path, clock: FakeClock
) -> None:
    words = [f"a secret of number {number} " + "and so on " * 500 for number in range(20)]
    head = await store.claim(CHAT, "me", FOREVER)
    assert head is not None
    for text in words:
        head = await store.commit(head, Change((Summary(text),)))
        await store.put_tool_run(CHAT, ToolRun(text[:30], {"content": text}))

    def files() -> bytes:
        return b"".join(file.read_bytes() for file in path.parent.iterdir())

    assert b"a secret" in files()
    await store.forget(head)
    assert b"a secret" not in files()


async def test_a_turn_that_took_what_was_not_to_the_bot_is_woken_after_a_restart(path: Path, clock: FakeClock) -> None:
    with closing(SQLiteStore(path, clock)) as store:
        await store.receive(replace(said(1), addressed=False))
        head = await store.claim(CHAT, "a", FOREVER)
        assert head is not None
        await store.commit(head, Change(take=(said(1).key,)))
    clock.advance(1)
    with closing(SQLiteStore(path, clock)) as store:
        assert await store.overdue(int(clock.now())) == [CHAT]


async def test_what_was_not_to_the_bot_can_still_be_taken_by_who_saw_it_just_before_it_passed(
    store: SQLiteStore, clock: FakeClock
) -> None:
    await store.receive(replace(said(1), addressed=False))
    mine, other = await store.claim(CHAT, "a", FOREVER), await store.claim("telegram:2", "a", FOREVER)
    assert mine is not None
    assert other is not None
    clock.advance(15 * 60)
    other = await store.commit(other, Change())
    mine = await store.commit(mine, Change(take=(said(1).key,)))
    clock.advance(2 * 3600)
    await store.receive(replace(said(2), addressed=False))
    clock.advance(2 * 3600)
    await store.commit(other, Change())  # whoever writes sweeps what has passed
    with pytest.raises(LookupError):
        await store.commit(mine, Change(take=(said(2).key,)))


async def test_a_database_that_can_not_be_written_is_an_outage(store: SQLiteStore, path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("DROP TABLE inbox")
    with pytest.raises(StoreUnavailable, match="inbox"):
        await store.receive(said(1))


def test_closing_twice_is_harmless(path: Path, clock: FakeClock) -> None:
    store = SQLiteStore(path, clock)
    store.close()
    store.close()


async def test_more_names_than_are_read_at_once_are_all_given_once(store: SQLiteStore, path: Path) -> None:
    names = [f"telegram:{number}" for number in range(2_500)]
    with closing(sqlite3.connect(path)) as database:
        heads = "INSERT INTO head (conversation, owner, until_ms, last, since) VALUES (?, '', 0, 0, 1)"
        database.executemany(heads, [(name,) for name in names])
        database.commit()
    assert [name async for name in store.every_conversation()] == sorted(names)
