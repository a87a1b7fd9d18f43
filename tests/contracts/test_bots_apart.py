"""Bots on one table, one bucket and one queue: whatever one keeps, no other has any of it, under the same names."""

import inspect
import json
from typing import Any

import pytest
from botocore.awsrequest import AWSPreparedRequest
from msgspec.structs import replace

from bot.adapters.dynamodb_store import DynamoDBStore, create_table
from bot.adapters.eventbridge_scheduler import EventBridgeScheduler, names
from bot.adapters.lambda_sandbox import LambdaSandbox, tenant
from bot.adapters.s3_blobs import S3Blobs
from bot.adapters.sqs_wake import SQSWake, message_group
from bot.errors import BudgetExceeded
from bot.keeping import DAY
from bot.messages import Bill, Counter, Installation, Person, Profile, Reminder, Spend, Summary, ToolRun
from bot.ports import Archive, Change, Installations, Receipt
from bot.sandbox.port import CanNotRun, Job
from tests.clock import FakeClock
from tests.cloud import QUEUE
from tests.emulator import Account
from tests.say import HERE, inbound

CHAT = HERE.conversation
BUDGET = Counter("all", "2033-05-18")
REMINDER = Reminder("r1", HERE, Person("telegram:7"), "Drink", at=2_000_000_100)
INSTALLATION = Installation("T1", "Acme", "UBOT", "U7", 1_000, b"sealed", "s1")


async def lived(store: DynamoDBStore, clock: FakeClock) -> None:
    """Everything that a store can be given, as one bot's."""
    until = int(clock.now() * 1000) + 60_000
    assert await store.receive(inbound("hi", 1)) is Receipt.NEW
    assert await store.receive(replace(inbound("waits", 2), id="2")) is Receipt.NEW
    head = await store.claim(CHAT, "a", until)
    assert head is not None
    await store.renew(head, until + 1)
    spend = Spend(BUDGET, 60, limit=100, keep=1_000, bill=Bill(output=7))
    change = Change(entries=(Summary("before"),), done=(inbound("hi", 1).key,), spend=(spend,), release=True)
    await store.commit(head, change)
    assert await store.put_tool_run(CHAT, ToolRun("call"))
    assert await store.keep_profile("telegram:7", Profile(name="Ann", role="member"))
    await store.put_reminder(REMINDER)
    await store.keep("servers", b"x")
    await store.install(INSTALLATION)
    assert await store.first("state", int(clock.now()) + 600)


async def looked(store: DynamoDBStore, clock: FakeClock) -> dict[str, Any]:
    """Everything that a store can be asked, by what is asked."""
    now = int(clock.now())
    return {
        "head": await store.head(CHAT),
        "inbox": [each.text for each in await store.inbox(CHAT)],
        "record": await store.record(CHAT, 1),
        "entries": await store.entries(CHAT, 1, 9),
        "tool_runs": await store.tool_runs(CHAT, ["call"]),
        "spent": await store.spent([BUDGET]),
        "knows": await store.knows(CHAT),
        "profile": (await store.profile("telegram:7")).name,
        "profiles": [each.name for each in (await store.profiles(["telegram:7", "telegram:8"])).values()],
        "role": await store.role("telegram:7"),
        "reminders": await store.reminders(CHAT),
        "kept": await store.kept("servers"),
        "installation": await store.installation("T1"),
        "overdue": await store.overdue(now + 1),
        "unused": await store.unused(now + 10 * DAY),
        "upgraded": sum([page.seen async for page in store.upgraded(writes=False)]),
        "overdue_reminders": await store.overdue_reminders(now, now + 200),
        "every_conversation": [name async for name in store.every_conversation()],
        "every_profile": [name async for name in store.every_profile()],
    }


WRITES = {
    *(
        "receive",
        "claim",
        "renew",
        "commit",
        "put_tool_run",
        "keep_profile",
        "put_reminder",
        "keep",
        "install",
        "first",
    ),
    *("forget", "delete_reminder", "uninstall", "change_installation"),
}


@pytest.fixture
def stores(aws: Account, clock: FakeClock) -> list[DynamoDBStore]:
    client = aws.client("dynamodb")
    create_table(client, "kabar")
    return [DynamoDBStore(client, "kabar", clock, bot) for bot in ("", "lola", "lol")]


async def test_a_store_shows_nothing_of_another_bot_s_and_lives_the_same_life_beside_it(
    stores: list[DynamoDBStore], clock: FakeClock
) -> None:
    untouched = await looked(stores[0], clock)
    for number, store in enumerate(stores):
        await lived(store, clock)
        for other in stores[number + 1 :]:
            assert await looked(other, clock) == untouched
    full = await looked(stores[0], clock)
    assert all(full[name] for name in full), full
    assert [await looked(store, clock) for store in stores] == [full] * 3


async def test_what_one_bot_ends_stays_the_other_s(stores: list[DynamoDBStore], clock: FakeClock) -> None:
    for store in stores:
        await lived(store, clock)
    full = await looked(stores[1], clock)
    for store in (stores[0], stores[2]):
        head = await store.claim(CHAT, "b", int(clock.now() * 1000) + 60_000)
        assert head is not None
        await store.forget(head)
        await store.uninstall("T1", 1_000)
        assert await store.put_tool_run(CHAT, ToolRun("call"))
    assert await looked(stores[1], clock) == full
    assert await stores[1].change_installation("s1", replace(INSTALLATION, stamp="s2"))
    assert not await stores[0].change_installation("s1", INSTALLATION)
    await stores[0].put_reminder(REMINDER)
    assert await stores[1].delete_reminder(CHAT, "r1")
    assert await stores[0].reminders(CHAT) == [REMINDER]


async def test_a_budget_that_one_has_spent_is_the_other_s_to_spend(
    stores: list[DynamoDBStore], clock: FakeClock
) -> None:
    async def spends(store: DynamoDBStore) -> None:
        head = await store.claim(CHAT, "a", int(clock.now() * 1000) + 60_000)
        assert head is not None
        await store.commit(head, Change(spend=(Spend(BUDGET, 60, limit=100, keep=1_000),), release=True))

    await spends(stores[0])
    await spends(stores[1])
    with pytest.raises(BudgetExceeded):
        await spends(stores[1])


def test_everything_that_a_store_can_do_is_looked_at_here() -> None:
    can = {
        name
        for port in (Archive, Installations)
        for name, _ in inspect.getmembers(port, inspect.isfunction)
        if not name.startswith("_")
    }
    source = inspect.getsource(looked)
    assert can - WRITES == {name for name in can if f"store.{name}(" in source}


async def test_the_files_of_one_are_not_the_other_s(aws: Account) -> None:
    client, bucket = aws.client("s3"), aws.bucket()
    one, lola, other = (S3Blobs(lambda: client, bucket, bot) for bot in ("", "lola", "lol"))
    key = await one.put(CHAT, b"secret", "text/plain")
    assert await lola.get(key) is None
    assert await lola.put(CHAT, b"secret", "text/plain") == key
    assert await other.get(key) is None
    await one.forget(CHAT)
    assert (await one.get(key), await lola.get(key)) == (None, b"secret")
    listed = client.list_objects_v2(Bucket=bucket)["Contents"]
    assert [each["Key"] for each in listed] == [f"bots/lola/{key}"]


async def test_a_wake_says_whose_it_is_and_waits_for_no_other_bot_s(aws: Account) -> None:
    sqs = aws.client("sqs")
    queue = sqs.create_queue(QueueName="wakes.fifo", Attributes=QUEUE)["QueueUrl"]
    for bot in ("", "lola"):
        await SQSWake(sqs, queue, bot).wake(CHAT, "1")
    received: list[dict[str, Any]] = []
    while len(received) < 2:
        received += sqs.receive_message(QueueUrl=queue, AttributeNames=["All"], MaxNumberOfMessages=10)["Messages"]
    bodies = {each["Attributes"]["MessageGroupId"]: json.loads(each["Body"]) for each in received}
    common = {"conversation": CHAT, "reason": "1"}
    assert bodies == {CHAT: common, f"lola/{CHAT}": {**common, "bot": "lola"}}


def test_no_two_bots_share_a_group_a_schedule_or_an_environment_of_the_sandbox() -> None:
    conversation = "x" * 200
    for named in (message_group, tenant, lambda text: names(text, "r1")[0]):
        assert len({named(conversation), named(f"lola/{conversation}"), named(f"lol/{conversation}")}) == 3


async def test_a_schedule_says_whose_it_is_and_replaces_no_other_bot_s(aws: Account, clock: FakeClock) -> None:
    client = aws.client("scheduler")
    client.create_schedule_group(Name="reminders")
    target, role = "arn:aws:lambda:eu-central-1:000000000000:function:f", "arn:aws:iam::000000000000:role/r"
    for bot in ("", "lola"):
        await EventBridgeScheduler(lambda: client, "reminders", role, target, clock, bot).schedule(REMINDER)
    due = {}
    for whose in (CHAT, f"lola/{CHAT}"):
        schedule = client.get_schedule(GroupName="reminders", Name=names(whose, "r1")[0])
        due[whose] = json.loads(schedule["Target"]["Input"])["due"]
    common = {"conversation": CHAT, "id": "r1", "at": REMINDER.at}
    assert due == {CHAT: common, f"lola/{CHAT}": {**common, "bot": "lola"}}


async def test_no_environment_of_the_sandbox_serves_two_bots(aws: Account) -> None:
    client, tenants = aws.client("lambda"), []

    def seen(request: AWSPreparedRequest, **_: Any) -> None:
        tenants.append(request.headers["X-Amz-Tenant-Id"].decode())

    client.meta.events.register("before-send.lambda.Invoke", seen)
    for bot in ("", "lola"):
        with pytest.raises(CanNotRun):  # there is no such function
            await LambdaSandbox(lambda: client, "nobody-s", bot).run(CHAT, Job("print(1)"))
    assert tenants == [tenant(CHAT), tenant(f"lola/{CHAT}")]
