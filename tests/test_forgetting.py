"""What nobody uses for as long as it is kept is deleted wholly; what is used, waited for or worked on is not."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.adapters.anthropic_model import AnthropicModel, client
from bot.adapters.dynamodb_store import DynamoDBStore, create_table
from bot.adapters.sqlite_store import SQLiteStore
from bot.approvals import Gate
from bot.cli.wiring import local
from bot.clock import SystemClock
from bot.deadline import Deadline
from bot.intake import UNUSED_AT_ONCE, sweep_unused
from bot.keeping import DAY
from bot.messages import Attachment, Inbound, Profile, Reminder, Rules
from bot.ports import Archive, Change
from bot.turn import Outcome, Turns
from handlers.settings import read_settings
from simulator.script import ScriptedModel, call, scripted, text
from tests.bots import MODEL, Deeds, NoWake, Scout, turns_of
from tests.emulator import Account
from tests.pictures import picture
from tests.recorder import WAIT, RecordingChannel
from tests.say import ANN, GROUP, HERE, asked, inbound

KEPT = 30
MONTH = KEPT * DAY
PILL = Reminder("pppppppp", HERE, ANN, "Take the pill.", 4_000_000_000, zone="Asia/Jakarta")


class Calendar(SystemClock):
    """The real clock, some days ahead."""

    days = 0.0

    def now(self) -> float:
        return super().now() + self.days * DAY


@dataclass
class World:
    store: Archive
    files: Path
    model: ScriptedModel
    turns: Turns
    clock: Calendar
    channel: RecordingChannel
    wake: NoWake
    deeds: Deeds
    numbers: list[int] = field(default_factory=list)

    def says(self, words: str, **more: object) -> Inbound:
        self.numbers.append(1)
        said = inbound(words, len(self.numbers), **more)  # type: ignore[arg-type]
        return replace(said, sent_at=int(self.clock.now()))

    async def hears(self, words: str, **more: object) -> Outcome:
        said = self.says(words, **more)
        await self.store.receive(said)
        return await self.wakes(said.conversation)

    async def wakes(self, conversation: str = HERE.conversation) -> Outcome:
        return await asyncio.wait_for(self.turns.handle(conversation, Deadline(60)), WAIT)

    async def sweeps(self) -> list[str]:
        """Who was woken, each of whom is then looked at."""
        self.wake.woken.clear()
        assert await sweep_unused(MONTH, self.store, self.wake, self.clock) == len(self.wake.woken)
        for conversation in self.wake.woken:
            assert await self.wakes(conversation) == Outcome()
        return list(self.wake.woken)

    async def left(self) -> list[str]:
        return sorted([key async for key in self.store.every_conversation()])

    def kept_files(self) -> list[Path]:
        return [each for each in self.files.rglob("*") if each.is_file()]


@pytest.fixture(params=["dynamodb", "sqlite"])
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    clock, channel, wake, deeds = Calendar(), RecordingChannel(), NoWake(), Deeds()
    lines = request.node.get_closest_marker("script")
    async with scripted(*(lines.args if lines else ())) as model, client("key", model.url) as anthropic:
        store: SQLiteStore | DynamoDBStore
        if request.param == "dynamodb":
            aws: Account = request.getfixturevalue("aws")
            create_table(aws.client("dynamodb"), "kabar")
            store = DynamoDBStore(aws.client("dynamodb"), "kabar", clock)
        else:
            store = SQLiteStore(tmp_path / "kabar.sqlite3", clock)
        turns, _ = turns_of(
            store,
            {"telegram": channel},
            AnthropicModel(anthropic, MODEL),
            deeds.tools(),
            clock,
            wake,
            files=tmp_path / "files",
            scout=Scout(),
            gate=Gate(asks=frozenset({"book"})),
            keep=MONTH,
        )
        yield World(store, tmp_path / "files", model, turns, clock, channel, wake, deeds)
        if isinstance(store, SQLiteStore):
            store.close()


def script(*lines: object) -> pytest.MarkDecorator:
    return pytest.mark.script(*lines)


@script(
    text("A dog."),
    call("delegate", {"agent": "scout", "task": "Look."}),
    text("I looked."),
    text("The scout looked."),
)
async def test_a_conversation_that_nobody_used_for_so_long_is_deleted_wholly(world: World) -> None:
    world.channel.files["a"] = picture()
    await world.hears("What is it?", attachments=(Attachment("photo", "a", "a.png"),))
    await world.hears("Look there")
    assert len(await world.left()) == 2 and world.kept_files()
    world.clock.days = KEPT + 1.1

    assert await world.sweeps() == [HERE.conversation]

    assert await world.left() == []
    assert await world.store.record(HERE.conversation, 1) == []
    assert not await world.store.knows(HERE.conversation)
    assert world.kept_files() == []
    assert await world.sweeps() == []


@script(text("1"), text("2"), text("3"))
async def test_what_was_used_since_is_kept_and_goes_when_its_time_has_come(world: World) -> None:
    await world.hears("one")
    await world.hears("one", place=GROUP)
    world.clock.days = KEPT - 1
    await world.hears("two")
    world.clock.days = KEPT + 1.1
    assert await world.sweeps() == [GROUP.conversation]
    assert await world.left() == [HERE.conversation]
    world.clock.days = 2 * KEPT - 0.1
    assert await world.sweeps() == []
    world.clock.days = 2 * KEPT + 0.1
    assert await world.sweeps() == [HERE.conversation]
    assert await world.left() == []


@script(text("1"))
async def test_a_reminder_to_come_is_use_and_holds_nothing_else_up(world: World) -> None:
    await world.hears("one")
    await world.store.put_reminder(PILL)
    world.clock.days = KEPT + 1.1
    assert await world.sweeps() == [HERE.conversation]
    assert (await world.left(), await world.sweeps()) == ([HERE.conversation], [])

    await world.store.put_reminder(replace(PILL, idle=1))  # told, and by nobody answered
    world.clock.days = 2 * KEPT + 2.3
    assert await world.sweeps() == [HERE.conversation]
    assert (await world.left(), await world.store.reminders(HERE.conversation)) == ([], [])


@script(text("1"), text("Here again."))
async def test_a_message_that_came_before_the_sweep_s_wake_is_answered_with_all_that_was_said(world: World) -> None:
    await world.hears("My dog is called Bello.")
    world.clock.days = KEPT + 1.1
    assert await sweep_unused(MONTH, world.store, world.wake, world.clock) == 1
    await world.hears("What is my dog called?")
    assert await world.wakes() == Outcome()

    assert "Bello" in str(world.model.requests[-1]["messages"])
    assert len(await world.store.record(HERE.conversation, 1)) == 4


@script(text("1"), call("look", {"at": "long"}), text("I looked."))
async def test_a_turn_that_runs_at_that_moment_is_not_cut(world: World) -> None:
    await world.hears("one")
    world.clock.days = KEPT + 1.1
    running = asyncio.create_task(world.hears("Look there"))
    await asyncio.wait_for(world.deeds.reached.wait(), WAIT)
    swept = await world.wakes()  # a wake that was queued when nobody used it yet
    assert swept.again_in is not None
    world.deeds.gate.set()

    assert await running == Outcome()
    assert world.channel.shown[-1] == "I looked."
    assert await world.wakes() == Outcome()
    assert len(await world.store.record(HERE.conversation, 1)) == 6


@script(call("book", {"what": "a boat"}))
async def test_a_question_that_nobody_answered_all_that_time_goes_with_the_rest(world: World) -> None:
    await world.hears("Book a boat")
    assert len(world.model.requests) == 1 and world.deeds.done == []
    world.clock.days = KEPT + 1.1

    assert await world.sweeps() == [HERE.conversation]
    assert await world.left() == []
    assert len(world.model.requests) == 1  # nobody is written to out of nowhere
    assert await world.store.overdue(2**40) == []


@script(text("1"))
async def test_what_a_group_remembered_goes_with_it_and_who_may_talk_there_stays(world: World) -> None:
    await world.hears("one", place=GROUP)
    rules = Rules("Be brief.", ANN.id)
    await world.store.keep_profile(
        "chat:telegram:-5", Profile(facts=("We meet on Mondays.",), rules=rules, role="guest")
    )
    await world.store.keep_profile(ANN.id, Profile(facts=("Eats no peanuts.",)))
    world.clock.days = KEPT + 1.1
    await world.sweeps()

    assert await world.store.profile("chat:telegram:-5") == Profile(role="guest", version=2)
    assert (await world.store.profile(ANN.id)).facts == ("Eats no peanuts.",)  # is a person's, in all their chats


async def test_no_sweep_wakes_so_many_that_others_wait_for_them(tmp_path: Path) -> None:
    clock, wake = Calendar(), NoWake()
    store = SQLiteStore(tmp_path / "kabar.sqlite3", clock)
    for number in range(UNUSED_AT_ONCE + 1):
        head = await store.claim(f"telegram:{number}", "a", 1)
        assert head is not None
        await store.commit(head, Change(release=True))
    clock.days = KEPT + 1.1
    assert await sweep_unused(MONTH, store, wake, clock) == UNUSED_AT_ONCE
    assert await sweep_unused(MONTH, store, wake, clock, lambda name: name == "telegram:100") == 1
    assert len(set(wake.woken)) == UNUSED_AT_ONCE + 1
    store.close()


async def test_a_bot_of_its_own_machine_looks_by_itself(tmp_path: Path) -> None:
    kept = {"KABAR_DATA": str(tmp_path / "kabar.sqlite3"), "KABAR_FILES": str(tmp_path / "files")}
    settings = read_settings({**kept, "KABAR_KEEP_DAYS": "30", "ANTHROPIC_API_KEY": "key"})
    clock = Calendar()
    before = SQLiteStore(settings.kabar_data, clock)
    for conversation in (HERE.conversation, "slack:T1:D9"):
        head = await before.claim(conversation, "a", 1)
        assert head is not None
        await before.commit(head, Change((asked(),), release=True))
    before.close()
    clock.days = KEPT + 1.1
    async with local(settings, {"telegram": RecordingChannel()}, clock=clock) as bot, asyncio.timeout(WAIT):
        while await bot.store.knows(HERE.conversation):
            await asyncio.sleep(0.02)
        assert await bot.store.knows("slack:T1:D9")  # is looked after by the process that has that channel
