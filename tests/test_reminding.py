"""Reminders: told once, at their time, however often and late they are fired."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.adapters.sqlite_store import SQLiteStore
from bot.errors import StoreUnavailable
from bot.messages import Asked, Button, Ended, Entry, Inbound, Reminder, Voted
from bot.moments import Unfit
from bot.ports import Change, Receipt
from bot.reminding import LATE, MOST, MOST_IDLE, Reminders, fire, is_page, page
from tests.bots import NoWake
from tests.clock import FakeClock
from tests.say import ANN, BUDI, GROUP, HERE, asked, inbound

JAKARTA = replace(ANN, zone="Asia/Jakarta")
CHAT = HERE.conversation
DAY = 24 * 3600


class Alarms:
    """A Scheduler that remembers what it is to fire, and fails as often as it is told to."""

    def __init__(self) -> None:
        self.times: dict[str, int] = {}
        self.fails = 0

    async def schedule(self, reminder: Reminder) -> None:
        self._may_fail()
        self.times[reminder.id] = reminder.at

    async def cancel(self, conversation: str, id: str) -> None:
        self._may_fail()
        self.times.pop(id, None)

    def _may_fail(self) -> None:
        if self.fails:
            self.fails -= 1
            raise StoreUnavailable("overloaded")


class World:
    def __init__(self, path: Path, clock: FakeClock) -> None:
        self.clock = clock
        self.store = SQLiteStore(path, clock)
        self.wake = NoWake()
        self.alarms = Alarms()
        self.reminders = Reminders(self.store, self.alarms)

    async def add(
        self, text: str = "Pay", when: str = "in 2 hours", repeat: str = "", *, asks: bool = False
    ) -> Reminder:
        return await self.reminders.add(HERE, JAKARTA, text, when, repeat, asks=asks, now=self.clock.now())

    async def fires(self, reminder: Reminder, at: int | None = None) -> Receipt | None:
        conversation, at = reminder.place.conversation, reminder.at if at is None else at
        return await fire(conversation, reminder.id, at, self.store, self.alarms, self.wake, self.clock)

    async def inbox(self) -> list[Inbound]:
        return await self.store.inbox(CHAT)

    async def answered(self) -> None:
        """Everything that waits is done."""
        head = await self.store.claim(CHAT, "test", int(self.clock.now() * 1000) + 60_000)
        assert head is not None
        done = tuple(each.key for each in await self.inbox())
        await self.store.commit(head, Change(done=done, release=True))

    async def page(self, text: str = "", command: str = "remind") -> tuple[str, tuple[Button, ...]]:
        return await page(inbound(text, command=command, sender=JAKARTA), self.reminders, self.clock.now())


@pytest.fixture
async def world(tmp_path: Path, clock: FakeClock) -> AsyncIterator[World]:
    world = World(tmp_path / "kabar.sqlite3", clock)
    yield world
    world.store.close()


# Being due


async def test_what_is_due_is_in_the_inbox_with_all_it_takes_and_the_chat_is_woken(world: World) -> None:
    reminder = await world.add("Pay the rent", "in 2 hours")
    assert world.alarms.times == {reminder.id: reminder.at}
    world.clock.advance(7_203)

    assert await world.fires(reminder) is Receipt.NEW

    (due,) = await world.inbox()
    assert (due.kind, due.data, due.text, due.command) == ("due", reminder.id, "Pay the rent", "")
    assert (due.sender, due.place, due.sent_at, due.addressed) == (JAKARTA, HERE, int(world.clock.now()), True)
    assert world.wake.woken == [CHAT]


async def test_fired_twice_it_is_told_once_whether_answered_meanwhile_or_not(world: World) -> None:
    reminder = await world.add(repeat="daily")
    world.clock.advance(7_200)
    assert await world.fires(reminder) is Receipt.NEW
    assert await world.fires(reminder) is Receipt.WAITING
    await world.answered()
    assert await world.fires(reminder) is Receipt.DONE
    assert await world.inbox() == []


async def test_a_message_comes_before_what_is_due_on_every_platform(world: World) -> None:
    reminder = await world.add()
    world.clock.advance(7_200)
    await world.fires(reminder)
    orders = {"telegram": f"{10**15:016}", "slack": "2000007199.000100", "terminal": f"{2 * 10**18:020d}"}
    for platform, order in orders.items():
        await world.store.receive(replace(inbound(platform), id=platform, order=order))
    assert [each.id for each in await world.inbox()][-1].startswith("due.")


async def test_a_recurring_one_is_set_for_its_next_time_before_it_is_told(world: World) -> None:
    reminder = await world.add(repeat="daily")
    world.clock.advance(7_200)
    await world.fires(reminder)
    (left,) = await world.reminders.all(CHAT)
    assert left == replace(reminder, at=reminder.at + DAY)
    assert world.alarms.times == {reminder.id: reminder.at + DAY}


async def test_one_shot_that_was_fired_is_no_longer_listed_and_goes_with_its_turn(world: World) -> None:
    reminder = await world.add()
    world.clock.advance(7_200)
    await world.fires(reminder)
    assert await world.reminders.all(CHAT) == []
    assert await world.fires(reminder) is None  # a sweep may still find it
    (due,) = await world.inbox()
    await world.reminders.begun(due, (), world.clock.now())
    assert await world.store.reminders(CHAT) == []


async def test_the_last_time_of_a_recurrence_is_told_and_ends_it(world: World) -> None:
    reminder = await world.add(repeat="FREQ=DAILY;COUNT=2")
    for expected in (1, 0):
        world.clock.advance(max(reminder.at - world.clock.now(), 0))
        assert await world.fires(reminder) is Receipt.NEW
        left = await world.reminders.all(CHAT)
        assert len(left) == expected
        reminder = left[0] if left else reminder
    assert len(await world.inbox()) == 2


async def test_after_days_of_silence_it_is_told_once_late_and_goes_on_in_its_rhythm(world: World) -> None:
    reminder = await world.add(repeat="daily")
    world.clock.advance(10 * DAY)
    assert await world.fires(reminder) is Receipt.NEW
    assert len(await world.inbox()) == 1
    (left,) = await world.reminders.all(CHAT)
    assert left.at == reminder.at + 10 * DAY > world.clock.now()


@pytest.mark.parametrize("fails", [1, 2])
async def test_a_firing_that_was_cut_is_put_right_by_the_next_try(world: World, fails: int) -> None:
    reminder = await world.add(repeat="daily")
    world.clock.advance(7_200)
    world.alarms.fails = fails
    for _ in range(fails):
        with pytest.raises(StoreUnavailable):
            await world.fires(reminder)
    assert await world.fires(reminder) is Receipt.NEW
    assert world.alarms.times == {reminder.id: reminder.at + DAY}


async def test_a_next_time_that_was_stored_but_not_told_before_is_told_by_the_repeat(world: World) -> None:
    reminder = await world.add(repeat="daily")
    world.clock.advance(7_200)
    await world.store.put_reminder(replace(reminder, at=reminder.at + DAY))  # as far as a cut firing came
    world.alarms.times.clear()
    assert await world.fires(reminder) is Receipt.NEW
    assert world.alarms.times == {reminder.id: reminder.at + DAY}
    (left,) = await world.reminders.all(CHAT)
    assert left.at == reminder.at + DAY


async def test_a_next_time_that_was_scheduled_but_not_stored_is_told_and_goes_on(world: World) -> None:
    reminder = await world.add(repeat="daily")
    world.clock.advance(7_200 + DAY)
    assert await world.fires(reminder, reminder.at + DAY) is Receipt.NEW
    (left,) = await world.reminders.all(CHAT)
    assert left.at == reminder.at + 2 * DAY


async def test_what_was_cancelled_or_never_was_says_nothing(world: World) -> None:
    reminder = await world.add(repeat="daily")
    assert await world.reminders.cancel(CHAT, reminder.id) == reminder
    assert world.alarms.times == {}
    assert await world.fires(reminder) is None
    assert await world.fires(replace(reminder, id="nobodyset")) is None
    assert await world.inbox() == []
    assert await world.reminders.cancel(CHAT, reminder.id) is None


async def test_a_schedule_that_can_not_be_cancelled_now_does_not_keep_the_reminder(world: World) -> None:
    reminder = await world.add()
    world.alarms.fails = 1
    assert await world.reminders.cancel(CHAT, "1") == reminder
    assert await world.reminders.all(CHAT) == []


# What its turn says


async def due(world: World, reminder: Reminder) -> Inbound:
    world.clock.advance(max(reminder.at - world.clock.now(), 0))
    await world.fires(reminder)
    found = [each for each in await world.inbox() if each.data == reminder.id][-1]
    await world.answered()
    return found


def told(said: Inbound) -> tuple[Entry, ...]:
    turn = f"t{said.id}"
    return Asked(turn, (said,)), Ended(turn, "reminded", said.text)


async def test_a_reminder_is_told_in_its_own_words_without_the_model(world: World) -> None:
    said, answer = await world.reminders.begun(await due(world, await world.add("Pay {rent}")), (), world.clock.now())
    assert said.kind == "due"
    assert answer == ("⏰ Pay {rent}", ())


async def test_in_a_group_it_says_whose_it_is(world: World) -> None:
    here = replace(await due(world, await world.add("Pay")), place=GROUP)
    _, answer = await world.reminders.begun(here, (), world.clock.now())
    assert answer == ("⏰ Ann: Pay", ())


async def test_a_late_one_says_when_it_was_for(world: World) -> None:
    reminder = await world.add("Pay", repeat="daily")
    said = await due(world, reminder)
    _, answer = await world.reminders.begun(said, (), reminder.at + LATE + 1)
    late = "⏰ Pay\n\n(This was for Wed 2033-05-18 12:33 (Asia/Jakarta); I could not tell you earlier.)"
    assert answer == (late, ())


@pytest.mark.parametrize("repeat", ["", "daily"])
async def test_a_scheduled_prompt_is_a_question_that_says_so_even_when_it_is_gone_by_then(
    world: World, repeat: str
) -> None:
    reminder = await world.add("What is new?", repeat=repeat, asks=True)
    waits = await due(world, reminder)
    for _ in range(2):  # a beginning that was cut is done again
        said, answer = await world.reminders.begun(waits, (), world.clock.now())
        assert answer is None
        assert (said.kind, said.command, said.data, said.id) == ("message", "", "", waits.id)
        label, _, text = said.text.partition("\n")
        assert text == "What is new?"
        assert label.startswith("(Scheduled by me earlier for Wed")
    assert len(await world.reminders.all(CHAT)) == len(repeat and [1])


async def run(world: World, reminder: Reminder, times: int, entries: Sequence[Entry] = ()) -> list[str | None]:
    """What is told of a recurring reminder, time after time; None where the model is asked. Ends when it is paused."""
    record, answers = list(entries), list[str | None]()
    for _ in range(times):
        (reminder,) = [each for each in await world.store.reminders(CHAT) if each.id == reminder.id]
        if reminder.id not in world.alarms.times:
            break
        said, answer = await world.reminders.begun(await due(world, reminder), record, world.clock.now())
        record += told(said)
        answers.append(answer[0] if answer else None)
    return answers


async def test_with_nobody_writing_it_is_paused_and_says_so_once(world: World) -> None:
    reminder = await world.add("Drink", repeat="daily")
    answers = await run(world, reminder, MOST_IDLE + 3, [asked("hi")])
    assert answers[:-1] == ["⏰ Drink"] * (MOST_IDLE - 1)
    assert answers[-1] == "⏰ Drink\n\nNobody has written here for the last 5 of these, so I pause it."
    assert world.alarms.times == {}
    (paused,) = await world.reminders.all(CHAT)
    assert await world.fires(paused) is None


async def test_a_prompt_that_nobody_reads_is_paused_without_asking_the_model_once_more(world: World) -> None:
    reminder = await world.add("News?", repeat="daily", asks=True)
    answers = await run(world, reminder, MOST_IDLE + 3)
    assert answers[:-1] == [None] * (MOST_IDLE - 1)
    assert "so I pause it: News?" in str(answers[-1])


@pytest.mark.parametrize("sign", [asked("thanks", turn="x"), Voted("x", ANN.id, good=True)])
async def test_whoever_writes_or_votes_keeps_it_going(world: World, sign: Entry) -> None:
    reminder = await world.add("Drink", repeat="daily")
    mark = Inbound(HERE, f"due.{reminder.id}.1", "9", ANN, 1, kind="due", text="Drink", data=reminder.id)
    record = [*told(mark) * (MOST_IDLE - 1), sign]
    assert await run(world, reminder, 1, record) == ["⏰ Drink"]
    assert (await world.reminders.all(CHAT))[0].idle == 1


async def test_another_reminder_in_between_is_nobody_writing(world: World) -> None:
    reminder, other = await world.add("Drink", repeat="daily"), Inbound(HERE, "due.other.1", "9", ANN, 1, kind="due")
    mark = Inbound(HERE, f"due.{reminder.id}.1", "9", ANN, 1, kind="due", text="Drink", data=reminder.id)
    record = [*(*told(mark), *told(other)) * (MOST_IDLE - 1)]
    assert "pause" in str((await run(world, reminder, 1, record))[0])


async def test_a_paused_one_goes_on_from_its_next_time_when_somebody_says_so(world: World) -> None:
    reminder = await world.add("Drink", repeat="daily")
    await run(world, reminder, MOST_IDLE)
    world.clock.advance(30 * DAY)
    text, buttons = await world.page()
    assert "every day, paused: Drink" in text
    assert buttons[0] == Button("Resume 1", f"do:remind resume {reminder.id}")
    text, _ = await world.page(f"resume {reminder.id}")
    assert text.startswith("It goes on, next on ")
    (resumed,) = await world.reminders.all(CHAT)
    assert resumed.idle == 0
    assert 0 < resumed.at - world.clock.now() <= DAY
    assert world.alarms.times == {reminder.id: resumed.at}


# Setting


async def test_the_same_thing_set_twice_is_one(world: World) -> None:
    first, second = await world.add("Pay"), await world.add("Pay")
    assert first == second
    assert await world.reminders.all(CHAT) == [first]


async def test_a_chat_has_fifty_at_most(world: World) -> None:
    for number in range(MOST):
        await world.add(f"Pay {number}")
    with pytest.raises(Unfit, match="Cancel one first"):
        await world.add("Pay more")
    await world.add("Pay 7")
    await world.reminders.cancel(CHAT, "1")
    await world.add("Pay more")


async def test_what_could_not_be_scheduled_is_not_set(world: World) -> None:
    world.alarms.fails = 1
    with pytest.raises(StoreUnavailable):
        await world.add("Pay")
    assert await world.reminders.all(CHAT) == []


async def test_a_kept_time_zone_counts_more_than_the_platform_s_and_a_strange_one_for_nothing(world: World) -> None:
    assert await world.reminders.zone(JAKARTA) == "Asia/Jakarta"
    assert await world.reminders.zone(replace(ANN, zone="Mars/Olympus")) == ""
    assert await world.reminders.set_zone(JAKARTA, " Asia/Tokyo ") == "Asia/Tokyo"
    assert await world.reminders.zone(JAKARTA) == "Asia/Tokyo"
    assert (await world.add("Pay", "2033-05-19T09:00")).zone == "Asia/Tokyo"
    with pytest.raises(Unfit):
        await world.reminders.set_zone(JAKARTA, "Tokyo")


async def test_one_person_s_accounts_share_a_time_zone(world: World) -> None:
    linked = replace(ANN, id="slack:T1:U1", account=ANN.id)
    await world.reminders.set_zone(linked, "Asia/Tokyo")
    assert await world.reminders.zone(ANN) == "Asia/Tokyo"


async def test_what_somebody_may_do_is_not_kept_with_what_they_set(world: World) -> None:
    owner = replace(JAKARTA, role="owner")
    await world.reminders.add(HERE, owner, "Pay", "in 2 hours", "", asks=True, now=world.clock.now())
    (reminder,) = await world.reminders.all(CHAT)
    assert reminder.person == JAKARTA


async def test_reminders_move_with_their_group_and_are_dropped_with_their_conversation(world: World) -> None:
    reminder = await world.add("Pay", repeat="daily")
    for _ in range(2):  # as if cut and done again
        await world.reminders.move(CHAT, "-1001")
    assert await world.store.reminders(CHAT) == []
    (moved,) = await world.reminders.all("telegram:-1001")
    assert (moved.id, moved.at, moved.place.chat) == (reminder.id, reminder.at, "-1001")
    await world.reminders.cancel_all("telegram:-1001")
    assert await world.store.reminders("telegram:-1001") == []


# The page


async def test_an_empty_page_says_how_to_ask_for_one(world: World) -> None:
    text, buttons = await world.page()
    assert "remind me tomorrow" in text
    assert buttons == ()


async def test_the_page_lists_all_by_absolute_time_with_a_button_each_that_fits(world: World) -> None:
    later = await world.add("Later " * 50, "2033-05-20T09:00", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR")
    sooner = await world.add("Soon", "in 2 hours", asks=True)
    text, buttons = await world.page()
    assert "1. **Wed 2033-05-18 12:33 (Asia/Jakarta)** – I answer it then: Soon\n" in text
    assert "2. **Fri 2033-05-20 09:00 (Asia/Jakarta)** – every 2 weeks (Mon, Fri): Later Later" in text
    assert buttons == (
        Button("Cancel 1", f"do:unremind {sooner.id}"),
        Button("Cancel 2", f"do:unremind {later.id}"),
    )
    assert all(len(button.data.encode()) <= 64 for button in buttons)


async def test_the_page_speaks_indonesian(world: World) -> None:
    await world.reminders.add(HERE, BUDI, "Bayar", "in 2 hours", "daily", asks=False, now=world.clock.now())
    text, buttons = await page(inbound(command="remind", sender=BUDI), world.reminders, world.clock.now())
    assert "**Rab 2033-05-18 05:33 (UTC)** – setiap hari: Bayar" in text
    assert "zona waktu" in text
    assert buttons[0].label == "Batalkan 1"


@pytest.mark.parametrize("way", ["number", "id", "button", "indonesian"])
async def test_one_is_cancelled_by_number_id_or_button(world: World, way: str) -> None:
    gone, stays = await world.add("Pay"), await world.add("Stay", "in 3 hours")
    words = {"number": "cancel 1", "id": f"cancel {gone.id}", "button": gone.id, "indonesian": "batal 1"}
    text, _ = await world.page(words[way], "unremind" if way == "button" else "remind")
    assert text.startswith("Cancelled: Pay")
    assert await world.reminders.all(CHAT) == [stays]
    text, _ = await world.page(gone.id, "unremind")
    assert text.startswith("There is no such reminder any more.")
    assert await world.reminders.all(CHAT) == [stays]


@pytest.mark.parametrize("way", ["cancel 9", "cancel", "resume 0", "cancel all"])
async def test_a_number_that_is_not_there_cancels_nothing(world: World, way: str) -> None:
    reminder = await world.add("Pay")
    assert (await world.page(way))[0].startswith("There is no such reminder any more.")
    assert await world.reminders.all(CHAT) == [reminder]


async def test_the_page_keeps_a_time_zone(world: World) -> None:
    await world.add("Pay")
    text, _ = await world.page("zone Asia/Tokyo")
    assert text.startswith("Your time zone is kept. It is now Wed 2033-05-18 12:33 (Asia/Tokyo).")
    text, _ = await world.page("zona Tokyo")
    assert text.startswith("I do not know the time zone Tokyo.")


async def test_many_reminders_have_few_buttons(world: World) -> None:
    for number in range(30):
        await world.add(f"Pay {number}")
    text, buttons = await world.page()
    assert "\n30. " in text
    assert (len(buttons), max(button.row for button in buttons)) == (20, 4)


@pytest.mark.parametrize(
    ("text", "expected"), [("", True), ("cancel 2", True), ("Batal 2", True), ("me tomorrow to pay", False)]
)
def test_a_wish_after_the_command_is_for_the_model(text: str, expected: bool) -> None:
    assert is_page(inbound(text, command="remind")) is expected
    assert is_page(inbound(text, command="unremind"))
