"""What the model can do about reminders, and what it is told to do differently."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bot.messages import Person, Place
from bot.toolkit import Toolbox, ToolContext
from bot.tools.remind import ZONE_UNKNOWN, reminder_tools
from tests.clock import FakeClock
from tests.say import ANN, GROUP, HERE, call
from tests.test_reminding import World

JAKARTA = replace(ANN, zone="Asia/Jakarta")
NOW = "Wednesday 2033-05-18 10:33:20 Asia/Jakarta (UTC+0700)"


@pytest.fixture
def world(tmp_path: Path, clock: FakeClock) -> Iterator[World]:
    world = World(tmp_path / "kabar.sqlite3", clock)
    yield world
    world.store.close()


class Model:
    """Calls the tools as a model does."""

    def __init__(self, world: World) -> None:
        self._box = Toolbox(reminder_tools(world.reminders))
        self._clock = world.clock

    async def call(self, name: str, asker: Person = JAKARTA, place: Place = HERE, **arguments: Any) -> str:
        context = ToolContext(place, asker, self._clock.now())
        result = (await self._box.call(call(name, **arguments), context, 5)).result
        return f"{'! ' if result.get('is_error') else ''}{result['content']}"


@pytest.fixture
async def model(world: World) -> AsyncIterator[Model]:
    yield Model(world)


async def test_a_reminder_is_set_and_its_absolute_time_comes_back_in_the_zone_and_in_utc(
    world: World, model: Model
) -> None:
    said = await model.call("remind", text="Pay the rent", when="2033-05-20T09:00", repeat="monthly")
    (reminder,) = await world.reminders.all(HERE.conversation)
    assert said == (
        f"Set. {reminder.id}: told on Friday 2033-05-20 09:00 Asia/Jakarta (UTC+0700), "
        "which is Friday 2033-05-20 02:00 UTC, "
        "then again by FREQ=MONTHLY;BYMONTHDAY=20;BYHOUR=9;BYMINUTE=0;BYSECOND=0: Pay the rent"
    )
    assert world.alarms.times == {reminder.id: reminder.at}


async def test_without_a_known_zone_times_are_utc_and_the_person_is_to_be_asked(model: Model) -> None:
    said = await model.call("remind", ANN, text="Pay", when="2033-05-20T09:00")
    assert said.endswith(f"told on Friday 2033-05-20 09:00 UTC, once: Pay\n{ZONE_UNKNOWN}")


async def test_a_scheduled_prompt_is_kept_as_one(world: World, model: Model) -> None:
    said = await model.call("remind", text="What is new?", when="in 1 hour", asks_model=True)
    assert "asked of you on" in said
    assert (await world.reminders.all(HERE.conversation))[0].asks


@pytest.mark.parametrize(
    ("arguments", "lesson"),
    [
        ({"text": "x", "when": "tomorrow"}, "! Not set. 'tomorrow' can not be read. Give a date and a time such as"),
        ({"text": "x", "when": "2020-01-01T09:00"}, "is in the past: it is now Wednesday 2033-05-18 10:33"),
        ({"text": "x", "when": "2036-01-01T09:00"}, "! Not set. Tuesday 2036-01-01 09:00"),
        ({"text": "x", "when": "in 1 hour", "repeat": "FREQ=MINUTELY"}, "! Not set. FREQ can not be 'MINUTELY' here."),
        ({"text": "x", "when": "in 1 hour", "repeat": "now and then"}, "can not be part of a recurrence. Write daily"),
        ({"text": "  ", "when": "in 1 hour"}, "! Not set. The text is empty"),
        ({"text": "", "when": "in 1 hour"}, "! Not run: the arguments do not fit. text:"),
        ({"text": "x" * 1001, "when": "in 1 hour"}, "! Not run: the arguments do not fit. text:"),
    ],
)
async def test_what_can_not_be_set_teaches_how(
    world: World, model: Model, arguments: dict[str, Any], lesson: str
) -> None:
    assert lesson in await model.call("remind", **arguments)
    assert await world.reminders.all(HERE.conversation) == []


async def test_a_rule_with_one_time_only_is_set_for_once(world: World, model: Model) -> None:
    assert ", once: x" in await model.call("remind", text="x", when="in 1 hour", repeat="FREQ=DAILY;COUNT=1")
    assert (await world.reminders.all(HERE.conversation))[0].rule == ""


async def test_those_of_this_chat_are_listed_and_cancelled_and_no_others(world: World, model: Model) -> None:
    assert await model.call("list_reminders") == "There are no reminders in this chat."
    await model.call("remind", text="Pay", when="in 2 hours")
    await model.call("remind", place=GROUP, text="Meet", when="in 1 hour")
    (here,), (there,) = [await world.reminders.all(place.conversation) for place in (HERE, GROUP)]
    listed = await model.call("list_reminders")
    assert listed.startswith(f"{here.id}: told on Wednesday 2033-05-18 12:33:20")
    assert "Meet" not in listed
    assert (await model.call("cancel_reminder", id=there.id)).startswith("! There is no reminder")
    assert (await model.call("cancel_reminder", id=here.id)).startswith("Cancelled. ")
    assert (await model.call("cancel_reminder", id=here.id)).startswith("! There is no reminder")
    assert await world.reminders.all(GROUP.conversation) == [there]


async def test_a_time_zone_is_kept_and_holds_from_the_next_reminder_on(model: Model) -> None:
    assert await model.call("set_time_zone", ANN, zone="Asia/Jakarta") == f"Kept. There it is {NOW}."
    assert "09:00 Asia/Jakarta (UTC+0700)" in await model.call("remind", ANN, text="Pay", when="2033-05-20T09:00")
    assert (await model.call("set_time_zone", ANN, zone="WIB")).startswith("! There is no time zone 'WIB'.")


def test_what_the_model_reads_is_the_same_every_time(world: World) -> None:
    first, second = (Toolbox(reminder_tools(world.reminders)).definitions() for _ in range(2))
    assert first == second
    names = ["cancel_reminder", "list_reminders", "remind", "set_time_zone"]
    assert [definition["name"] for definition in first] == names
