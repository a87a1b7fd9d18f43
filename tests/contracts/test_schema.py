"""What any version stored is read by this one, and what a newer one stored is left as it is: in both stores, whole."""

import sqlite3
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec import DecodeError, json
from msgspec.structs import replace

from bot.adapters.dynamodb_store import CHUNK, DynamoDBStore
from bot.adapters.sqlite_store import SQLiteStore
from bot.errors import NewerSchema
from bot.messages import (
    Answered,
    Asked,
    ChatSettings,
    Ended,
    Head,
    Inbound,
    Numbered,
    Person,
    Place,
    Profile,
    Reminder,
    Reply,
    Summary,
    ToolRun,
    Turn,
    encode,
)
from bot.ports import Archive, Change, Receipt, Upgraded
from bot.schema import (
    ENTRY,
    INBOUND,
    MIGRATIONS,
    PROFILE,
    REMINDER,
    SCHEMA,
    SETTINGS,
    TOOL_RUN,
    TURN,
    Kind,
    pack,
    schema_of,
)
from scripts.schema import KINDS, SCHEMAS, shape
from tests.clock import FakeClock
from tests.contracts.test_store import CHAT, claimed, random_text, said, store, turn, until

__all__ = ["store"]

STORED = Path(__file__).parent / "stored"
ALL: dict[str, Kind[Any]] = {kind.name: kind for kind in (ENTRY, INBOUND, TURN, SETTINGS, PROFILE, REMINDER, TOOL_RUN)}
NEWER = b',"v":%d}' % (SCHEMA + 1)
MARK = b',"v":%d}' % SCHEMA


# One value


def golden() -> Iterator[Any]:
    """Every field filled, as the commit in the file's name wrote it; ``read`` is what it is today, where it differs."""
    for file in sorted(STORED.glob("*.json")):
        for row in json.decode(file.read_bytes()):
            kind = row["kind"] + (f" {row['stored']['type']}" if row["kind"] == "entry" else "")
            yield pytest.param(row, id=f"{file.stem} {kind}")


@pytest.mark.parametrize("row", list(golden()))
def test_what_earlier_versions_stored_is_read_whole(row: dict[str, Any]) -> None:
    read = json.decode(encode(ALL[row["kind"]].read(json.encode(row["stored"]))))

    assert read == row.get("read", {name: value for name, value in row["stored"].items() if name != "v"})


@pytest.mark.parametrize("row", list(golden()))
def test_what_is_read_is_stored_in_today_s_schema_and_read_the_same(row: dict[str, Any]) -> None:
    kind = ALL[row["kind"]]
    old = json.encode(row["stored"])
    new = kind.renewed(old)
    if new is None:
        assert schema_of(old) == SCHEMA
        return

    assert (schema_of(new), kind.read(new), kind.renewed(new)) == (SCHEMA, kind.read(old), None)


def test_every_kind_and_every_entry_has_a_sample_of_today_s_schema() -> None:
    [file] = STORED.glob(f"*-schema-{SCHEMA}.json")
    newest = json.decode(file.read_bytes())
    entries = {row["stored"]["type"] for row in newest if row["kind"] == "entry"}

    assert {row["kind"] for row in newest} == set(ALL)
    assert entries == set(shape(KINDS)["kinds"]["entry"]["discriminator"]["mapping"])


def test_an_empty_value_says_its_schema_too() -> None:
    assert pack(Profile()) == b'{"v":%d}' % SCHEMA
    assert PROFILE.read(pack(Profile())) == Profile()


def test_what_only_looks_like_a_schema_s_number_is_none() -> None:
    assert schema_of(encode(ToolRun("c", {"v": 99}))) == 1
    assert schema_of(encode(Summary('"v":99}'))) == 1


@pytest.mark.parametrize("kind", ALL.values(), ids=ALL)
def test_what_a_newer_version_stored_is_refused_and_says_what_to_do(kind: Kind[Any]) -> None:
    with pytest.raises(NewerSchema, match=rf"newer Kabar \(schema 99\) wrote this {kind.name}: update this one"):
        kind.read(b'{"text":"hi","v":99}')


def test_what_is_not_as_its_schema_has_it_is_damaged_not_a_fault_of_ours() -> None:
    for damaged in (b"[]", b'{"allowed":[]}', b'{"allowed":{"web_fetch":"x"}}{'):
        with pytest.raises(DecodeError):
            SETTINGS.read(damaged)


# Both stores


Rewrite = Callable[[bytes], bytes]


async def rewrite(store: Archive, change: Rewrite, written_by: int | None = None) -> None:
    """Every stored value so changed, as another version would have left it."""
    if isinstance(store, SQLiteStore):
        _rewrite_file(store.path, change, written_by)
    elif isinstance(store, DynamoDBStore):
        _rewrite_table(store._client, change, written_by)


def _rewrite_file(path: Path, change: Rewrite, written_by: int | None) -> None:
    tables = {"head": "turn", "inbox": "inbound", "record": "entry", "tool_run": "run"}
    more = {"profile": "profile", "reminder": "reminder"}
    database = sqlite3.connect(path)
    database.create_function("change", 1, change)
    for table, column in [*tables.items(), *more.items(), ("head", "settings")]:
        database.execute(f"UPDATE {table} SET {column} = change({column}) WHERE {column} IS NOT NULL")
    if written_by is not None:
        database.execute("UPDATE head SET written_by = ?", (written_by,))
    database.commit()
    database.close()


def _rewrite_table(client: Any, change: Rewrite, written_by: int | None) -> None:
    items = {(item["pk"]["S"], item["sk"]["S"]): item for item in client.scan(TableName="kabar")["Items"]}
    for (pk, sk), item in items.items():
        for name in ("turn", "settings", "profile", "reminder"):
            if name in item:
                item[name] = {"B": change(item[name]["B"])}
        if "inbound" in item:
            item["inbound"] = {"B": zlib.compress(change(zlib.decompress(item["inbound"]["B"])))}
        if "chunks" in item:
            parts = [item, *(items[pk, f"{sk}#{number:03d}"] for number in range(1, int(item["chunks"]["N"])))]
            zipped = zlib.compress(change(zlib.decompress(b"".join(part["zipped"]["B"] for part in parts))))
            for number, part in enumerate(parts):
                last = number == len(parts) - 1
                part["zipped"] = {"B": zipped[number * CHUNK : None if last else (number + 1) * CHUNK]}
        if sk == "HEAD":  # as before uses were noted
            item.pop("received_at", None)
            item.pop("due_shard", None)
            item["written_by"] = {"N": str(written_by or 1)}
    for item in items.values():
        client.put_item(TableName="kabar", Item=item)


def as_first(data: bytes) -> bytes:
    return data.removesuffix(MARK) + b"}" if data.endswith(MARK) else b"{}"


def as_newer(data: bytes) -> bytes:
    return data.removesuffix(MARK) + NEWER


PILL = Reminder("pppppppp", said(1).place, said(1).sender, "Take the pill.", 9)
ENTRIES = (Ended("t0", "failed", "Sorry."), Answered("t1", Reply([{"type": "text", "text": "1.0"}], "end_turn")))


async def lived_in(store: Archive, clock: FakeClock) -> Head:
    """One of everything; the head as it is after a turn was cut."""
    await store.receive(said(1))
    settings = ChatSettings("queue", allowed={"telegram:7 web_fetch": 9})
    change = Change(ENTRIES, turn=turn(said(1).key), settings=settings, release=True)
    head = await store.commit(await claimed(store, clock), change)
    await store.put_tool_run(CHAT, ToolRun("toolu_1", {"content": random_text(50)}))
    await store.keep_profile("telegram:7", Profile("Sari", facts=("Eats no peanuts.",)))
    await store.put_reminder(PILL)
    return head


async def contents(store: Archive) -> tuple[Any, ...]:
    return (
        await store.inbox(CHAT),
        await store.record(CHAT, 1),
        await store.tool_runs(CHAT, ["toolu_1"]),
        await store.profile("telegram:7"),
        await store.reminders(CHAT),
    )


async def total(pages: AsyncIterator[Upgraded]) -> Upgraded:
    done = Upgraded()
    async for page in pages:
        done += page
    return done


async def test_what_the_first_schema_stored_is_read_and_changed_as_ever(store: Archive, clock: FakeClock) -> None:
    head = await lived_in(store, clock)
    before = await contents(store)
    await rewrite(store, as_first)

    assert await contents(store) == before
    again = await claimed(store, clock, "b")
    assert (again.turn, again.settings) == (head.turn, head.settings)
    await store.commit(again, Change((Summary("more"),), turn=again.turn, release=True))


async def test_a_migration_rewrites_all_that_is_old_once_and_changes_nothing_of_it(
    store: Archive, clock: FakeClock
) -> None:
    head = await lived_in(store, clock)
    large = Summary(random_text(1_000_000))
    await store.commit(
        await claimed(store, clock), Change((large,), turn=head.turn, settings=head.settings, release=True)
    )
    before = await contents(store)
    await rewrite(store, as_first)

    checked = await total(store.upgraded(writes=False))
    assert checked == await total(store.upgraded(writes=True))
    assert checked.old >= 8 and not checked.unreadable
    assert await total(store.upgraded(writes=True)) == replace(checked, old=0)
    assert await contents(store) == before
    again = await claimed(store, clock, "b")
    assert (again.turn, again.settings) == (head.turn, head.settings)


async def test_a_migration_names_what_it_can_not_read_and_goes_on(store: Archive, clock: FakeClock) -> None:
    await lived_in(store, clock)
    await store.keep_profile("telegram:8", Profile("Budi"))
    await rewrite(store, lambda data: b"{" if b"Budi" in data else as_first(data))

    done = await total(store.upgraded(writes=True))

    assert len(done.unreadable) == 1 and ("telegram:8" in done.unreadable[0] or "profile row" in done.unreadable[0])
    assert await total(store.upgraded(writes=True)) == Upgraded(done.seen, 0, done.unreadable)


async def test_what_is_damaged_ends_no_conversation(
    store: Archive, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    head = await claimed(store, clock)
    entries = (Summary("first"), Summary("spoiled"), Summary("last"))
    await store.commit(head, Change(entries, release=True))
    await store.receive(said(1, text="spoiled"))
    await store.receive(said(2, text="whole"))
    await rewrite(store, lambda data: b'{"odd":1}' if b"spoiled" in data else data)

    assert await store.record(CHAT, 1) == [Numbered(1, entries[0]), Numbered(3, entries[2])]
    assert [inbound.text for inbound in await store.inbox(CHAT)] == ["whole"]
    assert {"a damaged entry is left out", "a damaged inbound is left out"} <= {
        record.getMessage().partition(" | ")[2].partition(":")[0] for record in caplog.records
    }
    with pytest.raises(DecodeError):
        await store.entries(CHAT, 1, 3)


async def test_an_older_kabar_takes_no_conversation_that_a_newer_one_wrote_to(store: Archive, clock: FakeClock) -> None:
    await lived_in(store, clock)
    await rewrite(store, bytes, written_by=SCHEMA + 1)

    for owner in ("b", "c"):
        with pytest.raises(NewerSchema, match="newer Kabar"):
            await store.claim(CHAT, owner, until(clock))

    await rewrite(store, bytes, written_by=SCHEMA)  # nobody holds it: the newer one, back again, can take it at once
    assert await store.claim(CHAT, "d", until(clock)) is not None


async def test_what_a_newer_kabar_stored_is_read_by_nobody_older_and_stays_as_it_is(
    store: Archive, clock: FakeClock
) -> None:
    await lived_in(store, clock)
    await rewrite(store, as_newer, written_by=SCHEMA)

    for read in (
        store.inbox(CHAT),
        store.record(CHAT, 1),
        store.tool_runs(CHAT, ["toolu_1"]),
        store.profile("telegram:7"),
        store.reminders(CHAT),
        store.head(CHAT),
    ):
        with pytest.raises(NewerSchema):
            await read
    assert await store.receive(said(1)) is Receipt.WAITING
    assert (await total(store.upgraded(writes=True))).old == 0
    await rewrite(store, lambda data: data.replace(NEWER, MARK), written_by=SCHEMA)
    assert await store.inbox(CHAT) == [said(1)]


async def test_a_file_that_an_early_version_made_is_opened_and_its_turn_goes_on(
    tmp_path: Path, clock: FakeClock
) -> None:
    """As the commit in its name wrote it, a turn cut in the middle."""
    with closing(sqlite3.connect(tmp_path / "old.sqlite3")) as database:
        database.executescript((STORED / "sqlite-8ceb4fb.sql").read_text())
    early = SQLiteStore(tmp_path / "old.sqlite3", clock)
    ann, place = Person("telegram:1", "Ann", "en"), Place("telegram:1", "1")
    hi = Inbound(place, "m", "1", ann, 1, text="hi")
    record = [Numbered(1, Asked("t", (hi,))), Numbered(2, Ended("t", "failed"))]
    assert await early.record("telegram:1", 1) == record

    head = await claimed(early, clock, "b", "telegram:1")
    assert head.turn == Turn(id="t", place=place, asker=ann, began=1, first=1, inbox=("1#m",))
    assert (await total(early.upgraded(writes=True))) == Upgraded(seen=5, old=5)
    await early.commit(head, Change(done=head.turn.inbox, release=True))
    assert await early.record("telegram:1", 1) == record
    early.close()


# Changing what is stored


def test_whoever_changes_a_stored_struct_raises_the_schema_and_writes_its_shape_down() -> None:
    assert shape(KINDS) == json.decode((SCHEMAS / f"{SCHEMA}.json").read_bytes()), (
        "A stored struct changed. Give new fields a default; raise SCHEMA in bot/schema.py and add a step to "
        "MIGRATIONS, for what older values lack, or {}; then run: python -m scripts.schema"
    )


def test_there_is_a_shape_for_every_schema_and_a_step_between_each_two() -> None:
    assert sorted(int(file.stem) for file in SCHEMAS.glob("*.json")) == list(range(1, SCHEMA + 1))
    assert len(MIGRATIONS) == SCHEMA - 1
    assert {name for step in MIGRATIONS for name in step} <= set(ALL)


@pytest.mark.parametrize("number", range(1, SCHEMA))
def test_what_a_schema_does_not_read_of_the_one_before_is_migrated(number: int) -> None:
    before, after = (json.decode((SCHEMAS / f"{each}.json").read_bytes()) for each in (number, number + 1))
    unread = {kind: why for kind, why in breaks(before, after).items() if kind not in MIGRATIONS[number - 1]}

    assert unread == {}


def breaks(before: Any, after: Any) -> dict[str, list[str]]:
    """By kind, what a value as the one shape has it may hold that the other can not read, or would lose."""
    found = {}
    for kind, root in before["kinds"].items():
        names = reached(root, before["structs"])
        if why := [each for name in sorted(names) for each in _breaks(name, before["structs"], after["structs"])]:
            found[kind] = why
    return found


def _breaks(name: str, before: Any, after: Any) -> Iterator[str]:
    if name not in after:
        yield f"{name} is gone"
        return
    old, new = before[name], after[name]
    for field, was in old["properties"].items():
        if field not in new["properties"]:
            yield f"{name}.{field} is gone"
        elif not takes(new["properties"][field], was):
            yield f"{name}.{field} is another type"
    yield from (f"{name}.{field} is required" for field in {*new["required"]} - {*old["required"]})


def takes(now: Any, was: Any) -> bool:
    """Whether every value of the one schema is one of the other; the default may be another."""
    now, was = ({name: each for name, each in it.items() if name != "default"} for it in (now, was))
    if "enum" in now and "enum" in was:
        return {*was["enum"]} <= {*now["enum"]}
    choices = now.get("anyOf", [now])
    return all(any(choice == each for choice in choices) for each in was.get("anyOf", [was]))


def reached(root: Any, structs: Any) -> set[str]:
    found: set[str] = set()
    todo = [root]
    while todo:
        each = todo.pop()
        if isinstance(each, dict):
            name = each.get("$ref")
            if isinstance(name, str) and name not in found:
                found.add(name)
                todo.append(structs[name])
            todo += each.values()
        elif isinstance(each, list):
            todo += each
    return found


def test_the_comparison_sees_what_breaks_and_lets_pass_what_does_not() -> None:
    name = {"type": "string"}
    mood = {"enum": ["fine"]}
    before = {
        "kinds": {"settings": {"$ref": "A"}, "turn": {"$ref": "B"}},
        "structs": {"A": {"properties": {"b": {"$ref": "B"}}, "required": []}, "B": _struct(name=name, mood=mood)},
    }

    def after(**fields: Any) -> Any:
        required = fields.pop("required", [])
        structs = {**before["structs"], "B": {**_struct(**fields), "required": required}}
        return {**before, "structs": structs}

    def seen(**fields: Any) -> list[str]:
        found = breaks(before, after(**fields))
        assert found.get("settings") == found.get("turn")
        return found.get("turn", [])

    assert seen(name=name, mood=mood) == []
    assert seen(name={**name, "default": "x"}, mood={"enum": ["fine", "sad"]}, more=name) == []
    assert seen(name={"anyOf": [name, {"type": "null"}]}, mood=mood) == []
    assert seen(mood=mood) == ["B.name is gone"]
    assert seen(name={"type": "integer"}, mood=mood) == ["B.name is another type"]
    assert seen(name=name, mood={"enum": ["sad"]}) == ["B.mood is another type"]
    assert seen(name=name, mood=mood, more=name, required=["more"]) == ["B.more is required"]


def _struct(**fields: Any) -> Any:
    return {"properties": fields, "required": []}
