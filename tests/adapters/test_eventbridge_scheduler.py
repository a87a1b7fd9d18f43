"""Schedules on the emulator's EventBridge Scheduler, and its failures over the wire."""

import json
import socket
from typing import Any

import pytest
from msgspec.structs import replace

from bot.adapters.eventbridge_scheduler import SOON, EventBridgeScheduler, names
from bot.errors import ConfigError, KabarError, StoreUnavailable
from bot.messages import Person, Place, Reminder
from tests.adapters.test_s3_blobs import Told, answering
from tests.clock import FakeClock
from tests.emulator import Account

CHAT = "telegram:-100200:55"
TARGET = "arn:aws:lambda:eu-central-1:123456789012:function:webhook"
ROLE = "arn:aws:iam::123456789012:role/schedules"
REMINDER = Reminder("k3x9ab2q", Place(CHAT, "-100200"), Person("telegram:7"), "Pay", 2_000_007_200)


class Group:
    def __init__(self, aws: Account) -> None:
        self.client = aws.client("scheduler")
        self.client.create_schedule_group(Name="kabar")

    def schedules(self) -> list[dict[str, Any]]:
        found = self.client.list_schedules(GroupName="kabar")["Schedules"]
        return [self.client.get_schedule(GroupName="kabar", Name=each["Name"]) for each in found]

    def times(self) -> list[str]:
        return [each["ScheduleExpression"] for each in self.schedules()]


@pytest.fixture
def group(aws: Account) -> Group:
    return Group(aws)


@pytest.fixture
def scheduler(group: Group, clock: FakeClock) -> EventBridgeScheduler:
    return EventBridgeScheduler(lambda: group.client, "kabar", ROLE, TARGET, clock)


async def test_a_reminder_is_a_schedule_that_calls_the_webhook_once_and_is_gone(
    group: Group, scheduler: EventBridgeScheduler
) -> None:
    await scheduler.schedule(REMINDER)
    (schedule,) = group.schedules()
    assert schedule["ScheduleExpression"] == "at(2033-05-18T05:33:20)"
    assert schedule["ScheduleExpressionTimezone"] == "UTC"
    assert schedule["FlexibleTimeWindow"] == {"Mode": "OFF"}
    assert schedule["ActionAfterCompletion"] == "DELETE"
    assert (schedule["Target"]["Arn"], schedule["Target"]["RoleArn"]) == (TARGET, ROLE)
    assert json.loads(schedule["Target"]["Input"]) == {
        "due": {"conversation": CHAT, "id": "k3x9ab2q", "at": 2_000_007_200}
    }


async def test_the_next_time_outlives_the_schedule_that_fired_and_deletes_itself_meanwhile(
    group: Group, scheduler: EventBridgeScheduler
) -> None:
    await scheduler.schedule(REMINDER)
    await scheduler.schedule(replace(REMINDER, at=REMINDER.at + 86_400))
    group.client.delete_schedule(GroupName="kabar", Name=names(CHAT, REMINDER.id)[0])
    assert group.times() == ["at(2033-05-19T05:33:20)"]
    await scheduler.schedule(replace(REMINDER, at=REMINDER.at + 2 * 86_400))
    group.client.delete_schedule(GroupName="kabar", Name=names(CHAT, REMINDER.id)[1])
    assert group.times() == ["at(2033-05-20T05:33:20)"]


async def test_another_time_for_the_same_reminder_leaves_nothing_at_the_old_one(
    group: Group, scheduler: EventBridgeScheduler
) -> None:
    for at in (2_000_009_000, 2_000_012_600, 2_000_007_200):
        await scheduler.schedule(replace(REMINDER, at=at))
    assert set(group.times()) == {"at(2033-05-18T05:33:20)"}


async def test_cancelled_it_is_gone_and_may_be_cancelled_again(group: Group, scheduler: EventBridgeScheduler) -> None:
    other = replace(REMINDER, place=Place("telegram:1", "1"))
    for reminder in (REMINDER, REMINDER, other):
        await scheduler.schedule(reminder)
    for _ in range(2):
        await scheduler.cancel(CHAT, REMINDER.id)
    assert len(group.schedules()) == 1
    await scheduler.cancel("telegram:1", REMINDER.id)
    assert group.schedules() == []


async def test_a_time_that_has_passed_is_scheduled_for_soon_and_says_what_it_was_for(
    group: Group, scheduler: EventBridgeScheduler, clock: FakeClock
) -> None:
    await scheduler.schedule(replace(REMINDER, at=int(clock.now()) - 500))
    (schedule,) = group.schedules()
    assert schedule["ScheduleExpression"] == f"at(2033-05-18T03:33:{20 + SOON})"
    assert json.loads(schedule["Target"]["Input"])["due"]["at"] == clock.now() - 500


@pytest.mark.parametrize("conversation", ["telegram:1", "terminal:Zoë a/b \U0001f35c", "slack:" + "x" * 900])
def test_any_conversation_has_names_that_a_schedule_can_have(conversation: str) -> None:
    for name in names(conversation, "k3x9ab2q"):
        assert len(name) <= 64
        assert name.isascii()
        assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert set(names("telegram:1", "a")).isdisjoint(names("telegram:10", "a"))


# When Scheduler fails


def error(status: int, code: str) -> Told:
    return Told(status, json.dumps({"Message": "scripted", "__type": code}))


@pytest.mark.parametrize(
    ("status", "code"), [(500, "InternalServerException"), (429, "ThrottlingException"), (503, "ServiceUnavailable")]
)
async def test_an_outage_is_named_so_that_it_is_done_again(
    aws: Account, clock: FakeClock, status: int, code: str
) -> None:
    with answering(error(status, code)) as endpoint, pytest.raises(StoreUnavailable, match=code):
        client = aws.client("scheduler", endpoint=endpoint)
        await EventBridgeScheduler(lambda: client, "kabar", ROLE, TARGET, clock).schedule(REMINDER)


async def test_no_connection_is_an_outage(aws: Account, clock: FakeClock) -> None:
    with socket.socket() as unheard:  # bound, so that nobody else takes the port, but not listening
        unheard.bind(("127.0.0.1", 0))
        client = aws.client("scheduler", endpoint=f"http://127.0.0.1:{unheard.getsockname()[1]}")
        scheduler = EventBridgeScheduler(lambda: client, "kabar", ROLE, TARGET, clock)
        for call in (scheduler.schedule(REMINDER), scheduler.cancel(CHAT, REMINDER.id)):
            with pytest.raises(StoreUnavailable):
                await call


async def test_a_group_that_can_not_be_used_is_the_owners_business(aws: Account, clock: FakeClock) -> None:
    client = aws.client("scheduler")
    with pytest.raises(ConfigError, match="KABAR_SCHEDULE_GROUP"):
        await EventBridgeScheduler(lambda: client, "nobodys", ROLE, TARGET, clock).schedule(REMINDER)
    with answering(error(403, "AccessDeniedException")) as endpoint, pytest.raises(ConfigError, match="AccessDenied"):
        refused = aws.client("scheduler", endpoint=endpoint)
        await EventBridgeScheduler(lambda: refused, "kabar", ROLE, TARGET, clock).schedule(REMINDER)


async def test_a_request_that_can_never_succeed_is_not_dressed_up_as_an_outage(aws: Account, clock: FakeClock) -> None:
    with (
        answering(error(400, "ValidationException")) as endpoint,
        pytest.raises(Exception, match="ValidationException") as raised,
    ):
        client = aws.client("scheduler", endpoint=endpoint)
        await EventBridgeScheduler(lambda: client, "kabar", ROLE, TARGET, clock).schedule(REMINDER)
    assert not isinstance(raised.value, KabarError)
