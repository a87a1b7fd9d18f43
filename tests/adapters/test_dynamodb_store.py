"""What only the DynamoDB store has to promise: its price, and its word when AWS fails."""

import asyncio
import base64
import random
import socket
from collections import Counter as Counts
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from bot.adapters.dynamodb_store import DynamoDBStore, create_table
from bot.errors import BudgetExceeded, ConfigError, KabarError, LeaseLost, StoreUnavailable
from bot.messages import (
    EVERYBODY,
    Bill,
    Counter,
    Head,
    Inbound,
    Numbered,
    Person,
    Place,
    Profile,
    Reminder,
    Spend,
    Spent,
    Summary,
    ToolRun,
    Turn,
)
from bot.ports import Change, Receipt
from tests.adapters.wire import LOST, Answer, Lost, Wire, failure, wire_to
from tests.clock import FakeClock
from tests.emulator import Account

CHAT = "telegram:1"
PLACE = Place(CHAT, "1")
SARI = Person("telegram:7")


@pytest.fixture
def wire(aws: Account) -> Iterator[Wire]:
    create_table(aws.client("dynamodb"), "kabar")
    with wire_to(aws.endpoint) as wire:
        yield wire


@pytest.fixture
def store(aws: Account, wire: Wire, clock: FakeClock) -> DynamoDBStore:
    """One try per request: what is broken stays broken."""
    return DynamoDBStore(aws.client("dynamodb", endpoint=wire.endpoint), "kabar", clock)


@pytest.fixture
def patient(aws: Account, wire: Wire, clock: FakeClock) -> DynamoDBStore:
    """The client itself repeats a request whose answer was lost."""
    return DynamoDBStore(aws.client("dynamodb", endpoint=wire.endpoint, attempts=2), "kabar", clock)


def said(number: int) -> Inbound:
    return Inbound(place=PLACE, id=str(number), order=f"{number:012d}", sender=SARI, sent_at=number, text="hello")


async def claimed(store: DynamoDBStore) -> Head:
    head = await store.claim(CHAT, "a", 3_000_000_000_000)
    assert head is not None
    return head


async def one_message(store: DynamoDBStore, number: int) -> None:
    """Every call one plain answer needs: receive, claim, read, ask, answer, deliver."""
    key = said(number).key
    turn = Turn("t", PLACE, SARI, 1, 1, inbox=(key,))
    await store.receive(said(number))
    head = await claimed(store)
    assert await store.inbox(CHAT) == [said(number)]
    await store.record(CHAT, head.since)
    head = await store.commit(head, Change((Summary("asked"),), turn=turn, since=head.last + 1, take=(key,)))
    head = await store.commit(head, Change((Summary("answered"),), turn=turn))
    head = await store.commit(head, Change(turn=turn))
    await store.commit(head, Change(done=(key,), release=True))


# The price


async def test_each_call_is_one_request_at_a_known_price(store: DynamoDBStore, wire: Wire) -> None:
    await one_message(store, 1)
    assert wire.passed[4].units == 8  # once a day the head's place in the index of uses is written with the step
    wire.passed.clear()
    await one_message(store, 2)
    assert [(passed.operation, passed.units) for passed in wire.passed] == [
        ("PutItem", 3),  # the message, and its places in both indexes
        ("UpdateItem", 1),
        ("Query", 1),
        ("Query", 1),
        ("TransactWriteItems", 7),  # head, entry and message, twice for the transaction, and out of the index
        ("TransactWriteItems", 4),
        ("UpdateItem", 1),
        ("TransactWriteItems", 5),  # head and message, twice, and out of the index of what is due
    ]


async def test_a_message_costs_the_same_however_long_the_conversation_is(store: DynamoDBStore, wire: Wire) -> None:
    await one_message(store, 1)
    wire.passed.clear()
    await one_message(store, 2)
    first = [(passed.operation, passed.units) for passed in wire.passed]
    for number in range(3, 40):
        await one_message(store, number)
    wire.passed.clear()
    await one_message(store, 40)
    assert [(passed.operation, passed.units) for passed in wire.passed] == first
    assert [passed.answer["ScannedCount"] for passed in wire.passed if passed.operation == "Query"] == [1, 2]


async def test_a_repeat_is_recognised_by_one_request(store: DynamoDBStore, wire: Wire) -> None:
    await one_message(store, 1)
    wire.passed.clear()
    assert await store.receive(said(1)) is Receipt.DONE
    assert [passed.operation for passed in wire.passed] == ["PutItem"]


async def test_what_is_not_to_the_bot_costs_less_and_hides_nothing_for_good(store: DynamoDBStore, wire: Wire) -> None:
    """However many have passed, and wait for the sweep by time to live, none of them is read."""
    clock = FakeClock()
    busy = DynamoDBStore(store._client, "kabar", clock)
    for number in range(60):
        await busy.receive(replace(said(number), addressed=False))
    assert {(passed.operation, passed.units) for passed in wire.passed} == {("PutItem", 2)}
    clock.advance(15 * 60)
    await busy.receive(said(99))
    wire.passed.clear()
    assert await busy.inbox(CHAT) == [said(99)]
    assert [(passed.units, passed.answer["ScannedCount"]) for passed in wire.passed] == [(1, 1)]


async def test_whether_a_conversation_is_known_and_who_a_person_is_are_one_small_read_each(
    store: DynamoDBStore, wire: Wire
) -> None:
    await one_message(store, 1)
    await store.keep_profile(SARI.id, Profile("Sari"))
    wire.passed.clear()
    assert await store.knows(CHAT)
    assert await store.profile(SARI.id) == Profile("Sari", version=1)
    assert [(passed.operation, passed.units) for passed in wire.passed] == [("GetItem", 1), ("GetItem", 1)]
    assert wire.passed[0].answer["Item"] == {"last_seq": {"N": "2"}}


async def test_any_number_of_tool_calls_is_read_by_the_hundred(store: DynamoDBStore, wire: Wire) -> None:
    await store.tool_runs(CHAT, [f"toolu_{n}" for n in range(250)])
    assert [passed.operation for passed in wire.passed] == ["BatchGetItem"] * 3


async def test_every_read_is_consistent(store: DynamoDBStore, wire: Wire) -> None:
    await one_message(store, 1)
    await store.put_tool_run(CHAT, ToolRun("toolu_1"))
    await store.tool_runs(CHAT, ["toolu_1"])
    await store.knows(CHAT)
    await store.profile(SARI.id)
    await store.forget(await claimed(store))
    reads = [passed.request for passed in wire.passed if passed.operation in {"Query", "GetItem", "BatchGetItem"}]
    keyed = [read["RequestItems"]["kabar"] if "RequestItems" in read else read for read in reads]
    assert {read["ConsistentRead"] for read in keyed} == {True}


async def test_only_what_is_answered_may_be_swept(aws: Account, store: DynamoDBStore) -> None:
    await one_message(store, 1)
    await store.receive(said(2))
    await store.receive(said(3))
    await store.commit(await claimed(store), Change(take=(said(3).key,)))
    await store.put_tool_run(CHAT, ToolRun("toolu_1", {"content": ""}))
    client = aws.client("dynamodb")
    ttl = client.describe_time_to_live(TableName="kabar")["TimeToLiveDescription"]
    assert ttl == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires_at"}
    items = client.scan(TableName="kabar")["Items"]
    assert [item["sk"]["S"] for item in items if "expires_at" in item] == [f"IN#{said(1).key}"]


async def test_what_is_not_to_the_bot_is_swept_unless_a_turn_took_it(aws: Account, store: DynamoDBStore) -> None:
    for number in (1, 2):
        await store.receive(replace(said(number), addressed=False))
    await store.commit(await claimed(store), Change(take=(said(2).key,)))
    items = {item["sk"]["S"]: item for item in aws.client("dynamodb").scan(TableName="kabar")["Items"]}
    assert int(items[f"IN#{said(1).key}"]["expires_at"]["N"]) == 2_000_000_000 + 15 * 60
    assert set(items[f"IN#{said(2).key}"]) == {"pk", "sk", "inbound"}


# Forgetting


async def a_long_conversation(store: DynamoDBStore) -> Head:
    """More than two transactions' worth of it, in a turn that is to forget it."""
    await one_message(store, 1)
    head = await claimed(store)
    for first in range(0, 150, 50):
        head = await store.commit(head, Change(tuple(Summary(str(number)) for number in range(first, first + 50))))
    await asyncio.gather(*(store.put_tool_run(CHAT, ToolRun(f"toolu_{number}")) for number in range(120)))
    day = Counter(f"chat:{CHAT}", "2033-05-01")
    key = said(2).key
    await store.receive(said(2))
    turn = Turn("t", PLACE, SARI, 1, head.last + 1, inbox=(key,))
    change = Change((Summary("forget"), Summary("told")), turn=turn, take=(key,), spend=(Spend(day, 5),))
    return await store.commit(head, change)


def left(aws: Account) -> set[str]:
    return {item["sk"]["S"] for item in aws.client("dynamodb").scan(TableName="kabar")["Items"]}


TOMBSTONES = {f"IN#{said(number).key}" for number in (1, 2)}


REQUESTS = {"UpdateItem": 1, "BatchGetItem": 2, "TransactWriteItems": 6, "Query": 4}
"""What forgetting the long conversation takes."""


@pytest.mark.parametrize(("operation", "before"), [(name, at) for name, many in REQUESTS.items() for at in range(many)])
async def test_forgetting_that_is_cut_anywhere_leaves_a_whole_turn_that_does_it_again(
    aws: Account, store: DynamoDBStore, wire: Wire, operation: str, before: int
) -> None:
    head = await a_long_conversation(store)
    wire.breaks[operation].extend([*[None] * before, failure(500, "InternalServerError")])
    with pytest.raises(StoreUnavailable):
        await store.forget(head)

    again = await claimed(store)
    assert again.turn == head.turn
    told = [each.entry for each in await store.record(CHAT, again.since)][-2:]
    assert told == [Summary("forget"), Summary("told")]
    assert await store.receive(said(2)) is Receipt.WAITING
    await store.forget(again)
    assert left(aws) == TOMBSTONES


async def test_a_worker_that_was_stalled_deletes_nothing_of_what_came_after(
    aws: Account, store: DynamoDBStore, wire: Wire, clock: FakeClock
) -> None:
    head = await a_long_conversation(store)
    wire.breaks["TransactWriteItems"].extend([None, cancelled("TransactionConflict", "None")])
    stalled = asyncio.create_task(store.forget(head))
    pause = await clock.next_sleep()

    other = DynamoDBStore(aws.client("dynamodb"), "kabar", FakeClock(4_000_000_000))
    again = await other.claim(CHAT, "b", 5_000_000_000_000)
    assert again is not None
    await other.forget(again)
    fresh = await other.claim(CHAT, "b", 5_000_000_000_000)
    assert fresh is not None
    await other.commit(fresh, Change(tuple(Summary(str(number)) for number in range(90))))
    await other.put_tool_run(CHAT, ToolRun("toolu_1"))

    clock.advance(pause)
    with pytest.raises(LeaseLost):
        await stalled
    assert len(await other.record(CHAT, 1)) == 90
    assert await other.tool_runs(CHAT, ["toolu_1"]) == {"toolu_1": ToolRun("toolu_1")}


async def test_reminders_whose_time_has_passed_are_found_over_all_conversations(
    store: DynamoDBStore, wire: Wire
) -> None:
    chats = [Place(f"telegram:{number}", str(number)) for number in range(12)]
    for number, chat in enumerate(chats):
        await store.put_reminder(Reminder("aaaaaaaa", chat, SARI, "x", 1_000 + 100 * number))
    await store.receive(said(1))
    found = await store.overdue_reminders(1_200, 1_500)
    assert sorted(found) == [(f"telegram:{number}", "aaaaaaaa", 1_000 + 100 * number) for number in range(2, 6)]
    await store.delete_reminder("telegram:2", "aaaaaaaa")
    assert ("telegram:2", "aaaaaaaa", 1_200) not in await store.overdue_reminders(1_200, 1_500)


async def test_a_reminder_costs_one_request_each_way(store: DynamoDBStore, wire: Wire) -> None:
    reminder = Reminder("aaaaaaaa", PLACE, SARI, "x", 1_000)
    await store.put_reminder(reminder)
    assert await store.reminders(CHAT) == [reminder]
    await store.delete_reminder(CHAT, "aaaaaaaa")
    assert [(passed.operation, passed.units) for passed in wire.passed] == [
        ("PutItem", 2),  # the reminder, and its place in the index of what is due
        ("Query", 1),
        ("DeleteItem", 2),
    ]


async def test_forgetting_takes_few_requests(aws: Account, store: DynamoDBStore, wire: Wire) -> None:
    head = await a_long_conversation(store)
    wire.passed.clear()
    await store.forget(head)
    assert Counts(passed.operation for passed in wire.passed) == REQUESTS
    assert left(aws) == TOMBSTONES


async def test_forgetting_whose_last_answer_is_lost_succeeds(aws: Account, patient: DynamoDBStore, wire: Wire) -> None:
    head = await a_long_conversation(patient)
    wire.breaks["TransactWriteItems"].extend([*[None] * 5, LOST])
    await patient.forget(head)
    assert left(aws) == TOMBSTONES


# When AWS fails


@pytest.mark.parametrize(
    "fault",
    [
        failure(400, "ProvisionedThroughputExceededException"),
        failure(400, "ThrottlingException"),
        failure(500, "InternalServerError"),
        failure(503, "ServiceUnavailable"),
        LOST,
    ],
)
async def test_an_outage_is_named_so_that_the_queue_repeats(
    store: DynamoDBStore, wire: Wire, fault: Answer | Lost
) -> None:
    for operation in ("PutItem", "UpdateItem", "Query", "BatchGetItem"):
        wire.breaks[operation].append(fault)
    with pytest.raises(StoreUnavailable):
        await store.receive(said(1))
    with pytest.raises(StoreUnavailable):
        await store.claim(CHAT, "a", 1)
    with pytest.raises(StoreUnavailable):
        await store.inbox(CHAT)
    with pytest.raises(StoreUnavailable):
        await store.tool_runs(CHAT, ["toolu_1"])


async def test_no_connection_is_an_outage(aws: Account, clock: FakeClock) -> None:
    with socket.socket() as unheard:  # bound, so that nobody else takes the port, but not listening
        unheard.bind(("127.0.0.1", 0))
        client = aws.client("dynamodb", endpoint=f"http://127.0.0.1:{unheard.getsockname()[1]}")
        with pytest.raises(StoreUnavailable):
            await DynamoDBStore(client, "kabar", clock).receive(said(1))


@pytest.mark.parametrize("code", ["ResourceNotFoundException", "AccessDeniedException"])
async def test_a_table_that_can_not_be_used_is_the_owners_business(store: DynamoDBStore, wire: Wire, code: str) -> None:
    wire.breaks["PutItem"].append(failure(400, code))
    with pytest.raises(ConfigError, match=code):
        await store.receive(said(1))


async def test_a_request_that_can_never_succeed_is_not_dressed_up_as_an_outage(
    store: DynamoDBStore, wire: Wire
) -> None:
    wire.breaks["PutItem"].append(failure(400, "ValidationException"))
    with pytest.raises(Exception, match="ValidationException") as raised:
        await store.receive(said(1))
    assert not isinstance(raised.value, KabarError)


def cancelled(*codes: str) -> Answer:
    return failure(400, "TransactionCanceledException", CancellationReasons=[{"Code": code} for code in codes])


@pytest.mark.parametrize(
    ("codes", "error"),
    [
        (["None", "ThrottlingError"], StoreUnavailable),
        (["TransactionConflict", "ProvisionedThroughputExceeded"], StoreUnavailable),
        (["ConditionalCheckFailed", "TransactionConflict"], LeaseLost),
        (["TransactionConflict", "ConditionalCheckFailed"], LookupError),
    ],
)
async def test_a_cancelled_transaction_says_why(
    store: DynamoDBStore, wire: Wire, codes: list[str], error: type[Exception]
) -> None:
    head = await claimed(store)
    wire.breaks["TransactWriteItems"].append(cancelled(*codes))
    with pytest.raises(error):
        await store.commit(head, Change((Summary("x"),)))


async def test_a_write_that_met_another_one_is_tried_again_shortly(
    store: DynamoDBStore, wire: Wire, clock: FakeClock
) -> None:
    head = await claimed(store)
    wire.breaks["TransactWriteItems"].extend([cancelled("TransactionConflict", "None")] * 2)
    commit = asyncio.create_task(store.commit(head, Change((Summary("x"),))))
    for _ in range(2):
        pause = await clock.next_sleep()
        assert 0 < pause < 1
        clock.advance(pause)
    assert (await commit).last == 1

    wire.breaks["UpdateItem"].append(failure(400, "TransactionConflictException"))
    renew = asyncio.create_task(store.renew(head, 3_000_000_000_000))
    clock.advance(await clock.next_sleep())
    await renew


async def test_a_write_that_keeps_meeting_others_is_left_to_the_queue(
    store: DynamoDBStore, wire: Wire, clock: FakeClock
) -> None:
    wire.breaks["PutItem"].extend([failure(400, "TransactionConflictException")] * 5)
    receive = asyncio.create_task(store.receive(said(1)))
    for _ in range(4):
        clock.advance(await clock.next_sleep())
    with pytest.raises(StoreUnavailable):
        await receive


# When an answer is lost and the client repeats the request


async def test_a_repeated_put_does_not_store_a_message_twice(patient: DynamoDBStore, wire: Wire) -> None:
    wire.breaks["PutItem"].append(LOST)
    assert await patient.receive(said(1)) is Receipt.WAITING  # and so it is woken for
    assert await patient.inbox(CHAT) == [said(1)]


async def test_a_repeated_step_is_stored_once_and_succeeds(patient: DynamoDBStore, wire: Wire) -> None:
    wire.breaks["TransactWriteItems"].append(LOST)
    head = await patient.commit(await claimed(patient), Change((Summary("x"),), release=True))
    assert head.last == 1
    assert [passed.operation for passed in wire.passed].count("TransactWriteItems") == 2
    assert await patient.record(CHAT, 1) == [Numbered(1, Summary("x"))]


async def test_a_repeated_claim_renewal_and_release_succeed(patient: DynamoDBStore, wire: Wire) -> None:
    wire.breaks["UpdateItem"].append(LOST)
    head = await claimed(patient)
    wire.breaks["UpdateItem"].append(LOST)
    await patient.renew(head, 3_000_000_000_001)
    wire.breaks["UpdateItem"].append(LOST)
    assert await patient.commit(head, Change(release=True)) == Head(CHAT, used=2_000_000_000)


# Sizes


async def test_a_step_too_large_for_one_transaction_is_refused_before_it_is_sent(
    store: DynamoDBStore, wire: Wire
) -> None:
    head = await claimed(store)
    wire.passed.clear()
    with pytest.raises(ValueError, match="blobs"):
        await store.commit(head, Change((Summary(incompressible(6_000_000)),)))
    with pytest.raises(ValueError, match="99 fit"):
        await store.commit(head, Change(tuple(Summary("x") for _ in range(100))))
    assert wire.passed == []


async def test_an_entry_is_shown_when_it_is_whole_and_everything_before_it_is_there(
    aws: Account, store: DynamoDBStore
) -> None:
    await store.commit(
        await claimed(store), Change((Summary("a"), Summary(incompressible(600_000)), Summary("c"), Summary("d")))
    )
    client = aws.client("dynamodb")

    async def without(sk: str) -> list[int]:
        key = {"pk": {"S": f"C#{CHAT}"}, "sk": {"S": sk}}
        item = client.delete_item(TableName="kabar", Key=key, ReturnValues="ALL_OLD")["Attributes"]
        seen = [numbered.seq for numbered in await store.record(CHAT, 1)]
        client.put_item(TableName="kabar", Item=item)
        return seen

    assert await without("H#000000000002#001") == [1]
    assert await without("H#000000000002") == [1]
    assert await without("H#000000000003") == [1, 2]
    assert [numbered.seq for numbered in await store.record(CHAT, 1)] == [1, 2, 3, 4]


async def test_what_a_batch_left_unread_is_asked_for_again(store: DynamoDBStore, wire: Wire) -> None:
    for call in ("one", "two"):
        await store.put_tool_run(CHAT, ToolRun(call))

    def key(call: str) -> dict[str, Any]:
        return {"pk": {"S": f"C#{CHAT}"}, "sk": {"S": f"T#{call}"}}

    left = {"kabar": {"Keys": [key("two")], "ConsistentRead": True}}
    one = {**key("one"), "started": {"BOOL": True}}
    wire.breaks["BatchGetItem"].append(Answer(200, {"Responses": {"kabar": [one]}, "UnprocessedKeys": left}))
    assert await store.tool_runs(CHAT, ["one", "two"]) == {"one": ToolRun("one"), "two": ToolRun("two")}

    wire.breaks["BatchGetItem"].append(Answer(200, {"Responses": {"kabar": []}, "UnprocessedKeys": left}))
    with pytest.raises(StoreUnavailable):
        await store.tool_runs(CHAT, ["two"])


def incompressible(length: int) -> str:
    """Text of which compression takes only about a quarter."""
    return base64.b85encode(random.Random(7).randbytes(length * 4 // 5)).decode()


# Everybody's counters in shards


EVERYBODYS_DAY = Counter(EVERYBODY, "2033-05-18")


def sharded(aws: Account, clock: FakeClock, shards: int) -> DynamoDBStore:
    return DynamoDBStore(aws.client("dynamodb"), "kabar", clock, shards=shards)


async def commit_to(store: DynamoDBStore, conversation: str, *spend: Spend) -> None:
    head = await store.claim(conversation, "a", 3_000_000_000_000)
    assert head is not None
    await store.commit(head, Change(spend=spend, release=True))


def counters_in(aws: Account) -> dict[str, int]:
    items = aws.client("dynamodb").scan(TableName="kabar")["Items"]
    return {
        item["pk"]["S"]: int(item["amount"]["N"])
        for item in sorted(items, key=lambda item: item["pk"]["S"])
        if "amount" in item
    }


async def test_what_everybody_spends_is_spread_over_items_and_what_one_person_spends_is_not(
    aws: Account, wire: Wire, clock: FakeClock
) -> None:
    store = sharded(aws, clock, 4)
    for number in range(12):
        await commit_to(
            store, f"telegram:{number}", Spend(EVERYBODYS_DAY, 2, 100), Spend(Counter("person:p", "2033-05-18"), 2)
        )
    counters = counters_in(aws)
    assert list(counters) == [
        "B#all#2033-05-18",
        "B#all#2033-05-18#1",
        "B#all#2033-05-18#2",
        "B#all#2033-05-18#3",
        "B#person:p#2033-05-18",
    ]
    assert sum(amount for pk, amount in counters.items() if pk.startswith("B#all#")) == 24
    assert await store.spent([EVERYBODYS_DAY]) == {EVERYBODYS_DAY: Spent(24)}


async def test_one_chat_may_spend_all_that_everybody_may_and_not_a_cent_more(
    aws: Account, wire: Wire, clock: FakeClock
) -> None:
    store = sharded(aws, clock, 4)
    for _ in range(3):
        await commit_to(store, CHAT, Spend(EVERYBODYS_DAY, 30, 100, Bill(turns=1)))
    with pytest.raises(BudgetExceeded) as refused:
        await commit_to(store, CHAT, Spend(EVERYBODYS_DAY, 11, 100))
    assert refused.value.spend == Spend(EVERYBODYS_DAY, 11, 100)
    await commit_to(store, CHAT, Spend(EVERYBODYS_DAY, 10, 100))
    assert await store.spent([EVERYBODYS_DAY]) == {EVERYBODYS_DAY: Spent(100, Bill(turns=3))}
    assert set(counters_in(aws).values()) == {25}


async def test_what_was_counted_before_there_were_shards_counts_still(
    aws: Account, wire: Wire, clock: FakeClock
) -> None:
    await commit_to(sharded(aws, clock, 1), CHAT, Spend(EVERYBODYS_DAY, 90, 100))
    store = sharded(aws, clock, 4)
    assert await store.spent([EVERYBODYS_DAY]) == {EVERYBODYS_DAY: Spent(90)}
    with pytest.raises(BudgetExceeded):
        await commit_to(store, CHAT, Spend(EVERYBODYS_DAY, 26, 100))


async def test_room_that_others_took_meanwhile_is_looked_for_again(aws: Account, wire: Wire, clock: FakeClock) -> None:
    stores = [sharded(aws, clock, 4) for _ in range(4)]
    spends = [
        commit_to(stores[number % 4], f"telegram:{number}", Spend(EVERYBODYS_DAY, 9, 100)) for number in range(20)
    ]
    outcomes = await asyncio.gather(*spends, return_exceptions=True)
    assert {type(each) for each in outcomes} == {type(None), BudgetExceeded}
    total = (await stores[0].spent([EVERYBODYS_DAY]))[EVERYBODYS_DAY].amount
    assert total == 9 * outcomes.count(None) <= 100
    assert total > 100 - 2 * 9
