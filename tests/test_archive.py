"""Everything kept, as a file, and back: the model is told the same as before, whatever was cut, damaged or there."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.adapters.dynamodb_store import DynamoDBStore, create_table
from bot.adapters.file_blobs import FileBlobs
from bot.adapters.sqlite_store import SQLiteStore
from bot.archive import ConversationLine, Line, damages, decode_line, header_of
from bot.doorstep import CODE_LASTS
from bot.errors import StoreUnavailable
from bot.exporting import Export, Exported
from bot.importing import LEASE, Import, Imported
from bot.messages import Attachment, ChatSettings, Place, Profile, Reminder, Rules, Summary, Turn
from bot.ports import Archive, Blobs, Change, Receipt
from bot.reminding import is_waiting
from bot.schema import SCHEMA
from bot.toolkit import Toolbox
from bot.tools.calculator import calculator
from bot.tools.memory import remember
from bot.tools.reopen import reopen
from simulator.script import call, text
from tests.bots import Scout, bot_on
from tests.clock import FakeClock
from tests.emulator import Account
from tests.pictures import picture
from tests.say import ANN, BUDI, GROUP, HERE, NOW, answered, asked, inbound
from tests.say import call as call_block

PNG = picture()
THERE = Place("telegram:2", "2")
"""A chat in which nobody was answered yet."""
FILE = "kabar.sqlite3"
PILL = Reminder("pppppppp", HERE, ANN, "Take the pill.", NOW + 90_000, rule="FREQ=DAILY", zone="Asia/Jakarta")


class World:
    """What one Kabar keeps in a folder."""

    def __init__(self, folder: Path, clock: FakeClock | None = None) -> None:
        self.folder = folder
        self.clock = clock or FakeClock()
        self.store = SQLiteStore(folder / FILE, self.clock)
        self.blobs = FileBlobs(folder / "files")
        self.scheduled: list[Reminder] = []

    async def schedule(self, reminder: Reminder) -> None:
        self.scheduled.append(reminder)

    async def cancel(self, conversation: str, id: str) -> None:
        self.scheduled = [each for each in self.scheduled if each.id != id]

    async def exported(self, chat: str = "") -> tuple[list[bytes], Exported]:
        return await exported(self.store, self.blobs, chat)

    async def imported(self, lines: Sequence[bytes], *, replaces: bool = False) -> Imported:
        work = Import(self.store, self.blobs, self, self.clock, replaces=replaces)
        await work.run(read(lines))
        return work.done

    def files(self) -> list[Path]:
        return sorted(path.relative_to(self.folder) for path in (self.folder / "files").rglob("*") if path.is_file())


async def exported(store: Archive, blobs: Blobs, chat: str = "") -> tuple[list[bytes], Exported]:
    work = Export(store, blobs, NOW)
    return [line async for line in work.lines(chat)], work.done


def read(lines: Sequence[bytes]) -> Iterator[Line]:
    """As the command does: nothing is imported of a file in which anything is damaged."""
    assert list(damages(lines)) == []
    schema = header_of(lines[0]).schema
    return (decode_line(line, schema) for line in lines[1:])


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("life")
    asyncio.run(live(folder))
    return folder


async def live(folder: Path) -> None:
    """A fact, a picture, a subagent, a group, a reminder."""
    script = (
        *(call("remember", {"fact": "Ann eats no peanuts."}), text("Noted.")),
        *(call("delegate", {"agent": "scout", "task": "sea"}), text("It is calm."), text("The sea is calm.")),
        text("Hai."),
    )
    async with bot_on(folder / FILE, *script, scout=SCOUT, tools=TOOLS) as bot:
        bot.channel.files["a"] = PNG
        for said in (
            inbound("no peanuts", 1),
            inbound("how is the sea?", 2, attachments=(Attachment("photo", "a", "a.png"),)),
            inbound("halo", 3, sender=BUDI, place=GROUP),
        ):
            await bot.hears(said)
            await bot.wakes(said.conversation)
        await bot.store.put_reminder(PILL)


@pytest.fixture
def lived(life: Path, tmp_path: Path) -> Path:
    """A folder of this test's own in which a bot was talked to."""
    return shutil.copytree(life, tmp_path / "lived")


TOOLS = Toolbox([calculator, reopen, remember])
SCOUT = Scout(tools=Toolbox([calculator]))


@pytest.fixture
async def world(lived: Path) -> AsyncIterator[World]:
    world = World(lived)
    yield world
    world.store.close()


@pytest.fixture
async def other(tmp_path: Path) -> AsyncIterator[World]:
    world = World(tmp_path / "other")
    yield world
    world.store.close()


async def next_request(folder: Path) -> bytes:
    """What the model is sent when Ann asks once more."""
    async with bot_on(folder / FILE, text("You are Ann."), scout=SCOUT, tools=TOOLS) as bot:
        await bot.hears(inbound("who am I?", 9))
        await bot.wakes()
        return json.dumps(bot.model.requests[0]).encode()


async def test_after_export_wipe_and_import_the_model_is_sent_the_same_bytes(lived: Path, world: World) -> None:
    lines, _ = await world.exported()
    world.store.close()
    shutil.copytree(lived, lived.parent / "control")
    shutil.rmtree(lived)
    again = World(lived)
    done = await again.imported(lines)
    again.store.close()
    assert (done.new, done.entries, done.files, done.reminders, done.differ, done.busy) == (3, 12, 1, 1, [], [])
    request = await next_request(lived)
    assert request == await next_request(lived.parent / "control")
    assert all(told in request for told in (b"Ann eats no peanuts.", b"The sea is calm.", b'"type": "image"'))


async def test_rules_a_summary_a_linked_account_and_the_chat_s_settings_come_along(lived: Path, world: World) -> None:
    await world.store.keep_profile("chat:telegram:1", Profile(rules=Rules("Rhyme.", BUDI.id, "Budi", NOW)))
    await world.store.keep_profile(ANN.id, replace(await world.store.profile(ANN.id), account="slack:T1:U1"))
    await world.store.keep_profile("slack:T1:U1", Profile("Ann", facts=("She sails.",)))
    head = await world.store.claim(HERE.conversation, "a", LEASE)
    assert head is not None
    settings = replace(head.settings, language="id", follow=True, allowed={f"{ANN.id} remember": NOW + 9_000_000})
    change = Change((Summary("They spoke of the sea.", head.last),), since=head.last + 1, settings=settings)
    await world.store.commit(head, replace(change, release=True))
    lines, _ = await world.exported()
    world.store.close()
    again = World(lived.parent / "again")
    await again.imported(lines)
    again.store.close()

    request = await next_request(lived.parent / "again")
    assert request == await next_request(lived)
    assert [told for told in (b"Rhyme.", b"They spoke of the sea.", b"She sails.") if told not in request] == []


async def test_what_is_imported_is_exported_again_line_by_line(world: World, other: World) -> None:
    lines, done = await world.exported()
    assert (done.conversations, done.files, done.reminders, done.running, done.missing) == (3, 1, 1, [], [])
    await other.imported(lines)
    assert (await other.exported())[0] == lines
    assert other.scheduled == await other.store.reminders(HERE.conversation) == [PILL]


async def test_a_second_import_changes_nothing(world: World, other: World) -> None:
    lines, _ = await world.exported()
    await other.imported(lines)
    await other.store.delete_reminder(HERE.conversation, PILL.id)  # as it was told meanwhile
    done = await other.imported(lines)
    assert done == Imported(unchanged=3)
    assert await other.store.reminders(HERE.conversation) == []


async def test_an_import_cut_at_any_line_is_whole_when_it_is_done_again(world: World, tmp_path: Path) -> None:
    lines, _ = await world.exported()

    def until(cut: int) -> Iterator[Line]:
        yield from list(read(lines))[:cut]
        raise StoreUnavailable("cut")

    for cut in range(len(lines)):
        half = World(tmp_path / f"cut at {cut}")
        with pytest.raises(StoreUnavailable):
            await Import(half.store, half.blobs, half, half.clock).run(until(cut))
        done = await half.imported(lines)
        assert (done.differ, done.busy) == ([], [])
        assert (await half.exported())[0] == lines
        half.store.close()


async def test_dynamodb_takes_an_import_that_was_cut_again_and_one_that_replaces(
    world: World, tmp_path: Path, aws: Account
) -> None:
    client = aws.client("dynamodb")
    create_table(client, "kabar")
    store, blobs = DynamoDBStore(client, "kabar", world.clock), FileBlobs(tmp_path / "cloud")
    lines, _ = await world.exported()

    def cut() -> Iterator[Line]:
        yield from list(read(lines))[:8]
        raise StoreUnavailable("cut")

    with pytest.raises(StoreUnavailable):
        await Import(store, blobs, None, world.clock).run(cut())
    for replaces, new in ((False, 2), (False, 0), (True, 3)):  # the cut came behind the group
        again = Import(store, blobs, None, world.clock, replaces=replaces)
        await again.run(read(lines))
        assert (again.done.new, again.done.differ, again.done.busy) == (new, [], [])
        assert (await exported(store, blobs))[0] == lines


async def test_a_long_record_is_stored_in_pieces_and_goes_on_where_it_ended(other: World, tmp_path: Path) -> None:
    head = await other.store.claim(HERE.conversation, "a", LEASE)
    assert head is not None
    for number in range(90):
        head = await other.store.commit(head, Change((asked(f"{number} {'x' * 200_000}", turn=str(number)),)))
    await other.store.commit(head, Change(since=70, settings=ChatSettings("queue"), release=True))
    lines, _ = await other.exported()
    third = World(tmp_path / "third")

    def until_it_fails() -> Iterator[Line]:
        yield from list(read(lines))[:77]
        raise StoreUnavailable("cut")

    with pytest.raises(StoreUnavailable):
        await Import(third.store, third.blobs, None, third.clock).run(until_it_fails())
    stored = await third.store.head(HERE.conversation)
    assert stored is not None and 0 < stored.last < 90
    done = await third.imported(lines)
    assert done.entries == 90 - stored.last
    whole = await third.store.head(HERE.conversation)
    assert whole is not None and (whole.last, whole.since, whole.settings) == (90, 70, ChatSettings("queue"))
    third.store.close()


async def test_what_went_on_after_the_import_is_left_as_it_is(lived: Path, world: World, other: World) -> None:
    lines, _ = await world.exported()
    await other.imported(lines)
    await next_request(other.folder)
    record = await other.store.record(HERE.conversation, 1)
    done = await other.imported(lines)
    assert (done.unchanged, done.differ) == (3, [])
    assert await other.store.record(HERE.conversation, 1) == record


async def test_an_older_copy_goes_on_as_the_file_does(lived: Path, world: World, other: World) -> None:
    await other.imported((await world.exported())[0])
    await next_request(lived)
    lines, _ = await world.exported()
    done = await other.imported(lines)
    assert (done.new, done.unchanged, done.entries) == (1, 2, 2)
    assert (await other.exported(HERE.conversation))[0] == (await world.exported(HERE.conversation))[0]


async def another_life(world: World) -> None:
    """The same chat, talked in another way, with a file and a subagent of its own."""
    script = (call("delegate", {"agent": "scout", "task": "hills"}), text("They are green."), text("Green."))
    async with bot_on(world.folder / FILE, *script, scout=SCOUT, tools=TOOLS) as bot:
        bot.channel.files["b"] = picture(colour="red")
        await bot.hears(inbound("how are the hills?", 1, attachments=(Attachment("photo", "b", "b.png"),)))
        await bot.wakes()


async def test_a_conversation_with_another_record_is_named_and_not_touched(world: World, other: World) -> None:
    await another_life(other)
    record, files = await other.store.record(HERE.conversation, 1), other.files()
    done = await other.imported((await world.exported())[0])
    assert done.differ == [HERE.conversation]
    assert done.new == 1  # the group; without what subagents did here in that other life
    assert await other.store.record(HERE.conversation, 1) == record
    assert await other.store.reminders(HERE.conversation) == []
    head = await other.store.claim(HERE.conversation, "free again", LEASE)
    assert head is not None
    assert set(files) <= set(other.files())


async def test_replacing_deletes_what_was_there_with_its_files_and_subagents(world: World, other: World) -> None:
    await another_life(other)
    lines, _ = await world.exported()
    done = await other.imported(lines, replaces=True)
    assert (done.new, done.differ) == (3, [])
    assert (await other.exported())[0] == lines
    assert other.files() == world.files()


async def test_a_conversation_that_is_worked_on_is_left_and_free_after_a_minute(world: World, other: World) -> None:
    lines, _ = await world.exported()
    now = int(other.clock.now() * 1000)
    assert await other.store.claim(HERE.conversation, "a killed import", now + LEASE)
    done = await other.imported(lines)
    assert (done.busy, done.new) == ([HERE.conversation], 1)
    other.clock.advance(LEASE / 1000)
    done = await other.imported(lines)
    assert (done.busy, done.new, done.unchanged) == ([], 2, 1)
    assert (await other.exported())[0] == lines


async def test_a_turn_that_waits_there_is_not_taken_from_whoever_asked(world: World, other: World) -> None:
    head = await other.store.claim(HERE.conversation, "a", LEASE)
    assert head is not None
    turn = Turn("t", HERE, ANN, NOW, 1)
    await other.store.commit(head, Change((asked(),), turn=turn, release=True))
    done = await other.imported((await world.exported())[0])
    assert done.busy == [HERE.conversation]
    left = await other.store.head(HERE.conversation)
    assert left is not None and (left.turn, left.until_ms) == (turn, 0)


async def test_replacing_a_chat_with_a_turn_that_waits_answers_its_message_never(world: World, other: World) -> None:
    await other.store.receive(inbound("pay", 1))
    head = await other.store.claim(HERE.conversation, "a", LEASE)
    assert head is not None
    key = inbound("pay", 1).key
    turn = Turn("t", HERE, ANN, NOW, 1, inbox=(key,))
    await other.store.commit(head, Change((asked("pay"),), turn=turn, take=(key,), release=True))
    lines, _ = await world.exported()
    done = await other.imported(lines, replaces=True)
    assert (done.new, done.busy) == (3, [])
    assert await other.store.receive(inbound("pay", 1)) is Receipt.DONE
    assert (await other.exported())[0] == lines


async def test_a_running_turn_ends_in_the_export_and_the_chat_goes_on_from_there(other: World, tmp_path: Path) -> None:
    head = await other.store.claim(HERE.conversation, "a", LEASE)
    assert head is not None
    turn = Turn("t", HERE, ANN, NOW, 1)
    change = Change((asked("add"), answered(call_block("calculator", expression="1+1"))), turn=turn, release=True)
    await other.store.commit(head, change)
    lines, done = await other.exported()
    assert done.running == [HERE.conversation]
    third = World(tmp_path / "third")
    await third.imported(lines)
    third.store.close()
    request = json.loads(await next_request(third.folder))
    assert [message["role"] for message in request["messages"]] == ["user", "assistant", "user", "assistant", "user"]
    assert "Stopped here" in str(request["messages"][3])


async def test_a_message_that_waits_for_its_answer_is_left_out_and_said_so(world: World) -> None:
    now = int(world.clock.now())
    for said in (inbound("and now?", 8), inbound("hello", 1, sender=BUDI, place=THERE)):
        await world.store.receive(said)
    for chat, waiting in (("", [HERE.conversation, THERE.conversation]), (GROUP.conversation, [])):
        work = Export(world.store, world.blobs, now)
        lines = [line async for line in work.lines(chat)]
        assert (work.done.waiting, b"and now?" in b"".join(lines)) == (waiting, False)


async def test_an_answer_on_its_way_out_is_whole_in_the_export(other: World) -> None:
    head = await other.store.claim(HERE.conversation, "a", LEASE)
    assert head is not None
    await other.store.commit(head, Change((asked(), answered("Hi.")), turn=Turn("t", HERE, ANN, NOW, 1), release=True))
    _, done = await other.exported()
    assert done.running == []
    assert done.entries == 2


async def test_one_chat_is_exported_with_its_people_and_its_subagents_and_nobody_else(world: World) -> None:
    await world.store.keep_profile("telegram:99", Profile("Somebody else"))
    await world.store.keep_profile("telegram:2", Profile("Budi", account="slack:T1:U2"))
    await world.store.keep_profile("slack:T1:U2", Profile("Budi at work", facts=("Budi likes tea.",)))
    mine, done = await world.exported(HERE.conversation)
    assert done.conversations == 2
    assert b"Ann eats no peanuts." in b"".join(mine)
    assert b"Budi" not in b"".join(mine)
    group, _ = await world.exported(GROUP.conversation)
    assert b"Budi likes tea." in b"".join(group)
    assert b"peanuts" not in b"".join(group) and b"Somebody else" not in b"".join(group)


async def test_a_chat_is_exported_with_all_its_threads_but_not_with_one_that_is_called_alike(other: World) -> None:
    keys = ("slack:T1:C1", "slack:T1:C1:1.1", "slack:T1:C1:2.2", "slack:T1:C12")
    for key in keys:
        head = await other.store.claim(key, "a", LEASE)
        assert head is not None
        await other.store.commit(head, Change((asked(),), release=True))
    lines, done = await other.exported("slack:T1:C1")
    found = [decode_line(line) for line in lines[1:]]
    assert [line.key for line in found if isinstance(line, ConversationLine)] == list(keys[:3])
    assert done.conversations == 3


async def test_a_chat_whose_name_looks_nested_in_another_is_exported_once_on_its_own(other: World) -> None:
    for key in ("terminal:a/b", "terminal:a", "terminal:a/b/c"):
        head = await other.store.claim(key, "a", LEASE)
        assert head is not None
        await other.store.commit(head, Change((asked(),), release=True))
    lines, _ = await other.exported()
    found = [decode_line(line) for line in lines[1:]]
    keys = [(line.key, line.above) for line in found if isinstance(line, ConversationLine)]
    assert keys == [("terminal:a", ""), ("terminal:a/b", ""), ("terminal:a/b/c", "")]


async def test_files_of_before_a_group_moved_come_with_it(other: World, tmp_path: Path) -> None:
    key = await other.blobs.put("telegram:-5", PNG, "image/png")
    picture = Attachment("photo", name="a.png", blob=key, media_type="image/png", width=40, height=30)
    head = await other.store.claim("telegram:-1005", "a", LEASE)
    assert head is not None
    settings = ChatSettings(moved_from="telegram:-5")
    change = Change((asked(attachments=(picture,)),), settings=settings, release=True)
    await other.store.commit(head, change)
    lines, done = await other.exported()
    assert (done.files, done.missing) == (1, [])
    third = World(tmp_path / "third")
    await third.imported(lines)
    assert await third.blobs.get(key) == PNG
    third.store.close()


async def test_a_file_that_is_kept_no_more_is_counted_and_the_rest_is_exported(world: World, other: World) -> None:
    await world.blobs.forget(HERE.conversation)
    lines, done = await world.exported()
    assert len(done.missing) == 1
    await other.imported(lines)
    assert (await other.exported())[0] == lines


async def test_who_is_known_already_stays_as_known_unless_replaced(world: World, other: World) -> None:
    lines, _ = await world.exported()
    await other.store.keep_profile(ANN.id, Profile("Ann Lee", role="guest"))
    assert (await other.imported(lines)).known == 1
    assert (await other.store.profile(ANN.id)).role == "guest"
    assert (await other.imported(lines, replaces=True)).profiles == 1
    assert (await other.store.profile(ANN.id)).facts == ("Ann eats no peanuts.",)


async def test_a_code_for_linking_accounts_never_leaves(world: World) -> None:
    await world.store.keep_profile("code:ABCD2345", Profile(account=ANN.id, seen=NOW + CODE_LASTS))
    await world.store.keep("mcp", b"what a server offers")
    text = b"".join((await world.exported())[0])
    assert b"ABCD2345" not in text and b"what a server offers" not in text


async def test_a_reminder_that_was_told_or_is_paused_is_kept_and_not_scheduled(other: World, tmp_path: Path) -> None:
    head = await other.store.claim(HERE.conversation, "a", LEASE)
    assert head is not None
    await other.store.commit(head, Change((asked(),), release=True))
    paused = replace(PILL, idle=5)
    assert not is_waiting(paused)
    await other.store.put_reminder(paused)
    third = World(tmp_path / "third")
    await third.imported((await other.exported())[0])
    assert (third.scheduled, await third.store.reminders(HERE.conversation)) == ([], [paused])
    third.store.close()


FIRST = (
    b'{"kabar":"0.1.0","schema":1,"at":1700000000}\n',
    b'{"type":"conversation","key":"telegram:1","last":2,"since":2,"settings":{"meanwhile":"queue"}}\n',
    b'{"type":"reminder","reminder":{"id":"aaaaaaaa","place":{"conversation":"telegram:1","chat":"1"},'
    b'"person":{"id":"telegram:1"},"text":"Pay.","at":2000000000}}\n',
    b'{"type":"file","key":"telegram_3a1/5891b5b522d5df086d0ff0b110fbd9d2","of":"telegram:1",'
    b'"media_type":"text/plain","data":"aGVsbG8K"}\n',
    b'{"type":"entry","seq":1,"entry":{"type":"asked","turn":"t","said":[{"place":{"conversation":"telegram:1",'
    b'"chat":"1"},"id":"m","order":"1","sender":{"id":"telegram:1"},"sent_at":1,"text":"hi","attachments":'
    b'[{"kind":"document","name":"a.txt","blob":"telegram_3a1/5891b5b522d5df086d0ff0b110fbd9d2"}]}]}}\n',
    b'{"type":"entry","seq":2,"entry":{"type":"answered","turn":"t","reply":{"content":[{"type":"text","text":"hi"}],'
    b'"stop_reason":"end_turn"}}}\n',
    b'{"type":"profile","of":"telegram:1","profile":{"name":"Ann","facts":["Eats no peanuts."]}}\n',
    b'{"type":"end","lines":7}\n',
)
"""As the first version wrote it."""


async def test_what_the_first_version_exported_is_imported_as_it_was(other: World) -> None:
    done = await other.imported(FIRST)
    assert (done.new, done.entries, done.files, done.reminders, done.profiles) == (1, 2, 1, 1, 1)
    head = await other.store.head("telegram:1")
    assert head is not None and (head.since, head.settings) == (2, ChatSettings("queue"))
    assert await other.blobs.get("telegram_3a1/5891b5b522d5df086d0ff0b110fbd9d2") == b"hello\n"
    assert (await other.store.profile("telegram:1")).facts == ("Eats no peanuts.",)


async def test_what_an_earlier_schema_meant_is_imported_as_it_is_meant_today(other: World) -> None:
    everybody_s = changed(2, b'{"meanwhile":"queue"}', b'{"allowed":{"web_fetch":9,"telegram:1 web_search":9}}')
    assert list(damages(everybody_s)) == []
    await other.imported(everybody_s)
    head = await other.store.head("telegram:1")
    assert head is not None and head.settings == ChatSettings(allowed={"telegram:1 web_search": 9})


def changed(number: int, old: bytes, new: bytes) -> list[bytes]:
    assert old in FIRST[number - 1]
    return [line.replace(old, new) if at == number else line for at, line in enumerate(FIRST, 1)]


def without(number: int) -> list[bytes]:
    return [line for at, line in enumerate(FIRST, 1) if at != number]


@pytest.mark.parametrize(
    ("lines", "line", "words"),
    [
        ([], 1, "not an export"),
        ([b"PK\x03\x04\n"], 1, "not an export"),
        (changed(1, b'"schema":1', b'"schema":%d' % (SCHEMA + 1)), 1, "update Kabar"),
        (changed(1, b'"schema":1', b'"schema":0'), 1, "no schema 0"),
        (changed(2, b'{"meanwhile":"queue"}', b'{"allowed":[]}'), 2, "not as Kabar writes it"),
        (changed(5, b'"said"', b"said"), 5, "no whole JSON"),
        (changed(6, b'"stop_reason":"end_turn"', b'"stop_reason":7'), 6, "not as Kabar writes it"),
        (changed(6, b'"seq":2', b'"seq":3'), 6, "Entry 2 should stand here, not 3"),
        (changed(2, b'"last":2', b'"last":3'), 7, "telegram:1 should have 3 entries before this, not 2"),
        (changed(3, b'"conversation":"telegram:1"', b'"conversation":"telegram:2"'), 3, "another conversation"),
        (changed(4, b"aGVsbG8K", b"aGVsbG9K"), 4, "not the one that was exported"),
        (changed(4, b'"of":"telegram:1"', b'"of":"telegram:2"'), 4, "not the one that was exported"),
        (without(2), 2, "none was begun before it"),
        (without(7), 7, "7 lines should stand before the end, not 6"),
        (list(FIRST[:-1]), 7, "ends in the middle"),
        ([*FIRST[:-1], FIRST[-1][:9]], 8, "no whole JSON"),
        ([*FIRST, *FIRST], 9, "damaged"),
    ],
    ids=str,
)
def test_a_damaged_line_is_named_with_its_number(lines: list[bytes], line: int, words: str) -> None:
    first = next(damages(lines))
    assert first.line == line
    assert words in first.problem


def test_one_damaged_line_is_one_complaint() -> None:
    for number in range(2, len(FIRST)):
        lines = [b"{broken\n" if at == number else line for at, line in enumerate(FIRST, 1)]
        assert [each.line for each in damages(lines)] == [number]
