"""What every Store guarantees. Each test runs over DynamoDB (a local emulator, real boto3) and over SQLite."""

import asyncio
import random
import string
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from msgspec.structs import replace

from bot.adapters import dynamodb_store, sqlite_store
from bot.errors import BudgetExceeded, LeaseLost
from bot.messages import (
    Answered,
    Asked,
    Attachment,
    Bill,
    Button,
    ChatSettings,
    Counter,
    Ended,
    Entry,
    Head,
    Inbound,
    Numbered,
    Part,
    Person,
    Place,
    Profile,
    Quote,
    Reminder,
    Reply,
    Returned,
    Spend,
    Spent,
    Summary,
    ToolRun,
    Turn,
    Usage,
)
from bot.ports import Archive, Change, Receipt, Store
from tests.clock import FakeClock
from tests.emulator import Account

CHAT = "telegram:-100200:55"
LEASE = 60_000  # milliseconds
DAYS = 24 * 3600
FORTNIGHT = 14 * DAYS
QUARTER = 15 * 60


@pytest.fixture(params=["dynamodb", "sqlite"])
def store(request: pytest.FixtureRequest, clock: FakeClock, tmp_path: Path) -> Iterator[Store]:
    if request.param in ("dynamodb", "shards"):
        aws: Account = request.getfixturevalue("aws")
        client = aws.client("dynamodb")
        dynamodb_store.create_table(client, "kabar")
        yield dynamodb_store.DynamoDBStore(client, "kabar", clock, shards=1 if request.param == "dynamodb" else 5)
    else:
        sqlite = sqlite_store.SQLiteStore(tmp_path / "kabar.sqlite3", clock)
        yield sqlite
        sqlite.close()


spending = pytest.mark.parametrize("store", ["dynamodb", "shards", "sqlite"], indirect=True)
"""What everybody spends may be counted in several places."""


def said(number: int, conversation: str = CHAT, text: str = "Apa kabar?") -> Inbound:
    place = Place(conversation=conversation, chat="-100200", thread="55", group=True, title="Warung")
    return Inbound(
        place=place,
        id=str(number),
        order=f"{number:012d}",
        sender=Person("telegram:7", "Sari", "id"),
        sent_at=number,
        text=text,
    )


def aside(number: int, conversation: str = CHAT) -> Inbound:
    """Said there, but not to the bot."""
    return replace(said(number, conversation), addressed=False)


def summaries(*texts: str) -> tuple[Entry, ...]:
    return tuple(Summary(text) for text in texts)


def turn(*inbox: str) -> Turn:
    return Turn(id="t1", place=said(1).place, asker=said(1).sender, began=1, first=1, inbox=inbox)


async def claimed(store: Store, clock: FakeClock, owner: str = "a", conversation: str = CHAT) -> Head:
    head = await store.claim(conversation, owner, until(clock))
    assert head is not None
    return head


def until(clock: FakeClock) -> int:
    return int(clock.now() * 1000) + LEASE


def random_text(length: int) -> str:
    return "".join(random.Random(7).choices(string.ascii_letters + string.digits + string.punctuation, k=length))


# Receiving


async def test_of_many_deliveries_at_once_exactly_one_is_new(store: Store) -> None:
    receipts = await asyncio.gather(*(store.receive(said(1)) for _ in range(20)))
    assert sorted(receipt.value for receipt in receipts) == ["new", *["waiting"] * 19]
    assert await store.inbox(CHAT) == [said(1)]


async def test_a_message_is_waiting_until_it_is_answered_and_then_done(store: Store, clock: FakeClock) -> None:
    key = said(1).key
    assert await store.receive(said(1)) is Receipt.NEW
    assert await store.receive(said(1)) is Receipt.WAITING
    head = await claimed(store, clock)
    head = await store.commit(head, Change(take=(key,)))
    assert await store.inbox(CHAT) == []
    assert await store.receive(said(1)) is Receipt.WAITING
    await store.commit(head, Change(done=(key,)))
    assert await store.inbox(CHAT) == []
    assert await store.receive(said(1)) is Receipt.DONE
    assert await store.inbox(CHAT) == []


async def test_a_message_may_be_answered_without_being_taken_first(store: Store, clock: FakeClock) -> None:
    await store.receive(said(1))
    await store.commit(await claimed(store, clock), Change(done=(said(1).key,)))
    assert await store.inbox(CHAT) == []
    assert await store.receive(said(1)) is Receipt.DONE


async def test_a_key_both_taken_and_answered_is_answered(store: Store, clock: FakeClock) -> None:
    await store.receive(said(1))
    await store.commit(await claimed(store, clock), Change(take=(said(1).key,), done=(said(1).key,)))
    assert await store.receive(said(1)) is Receipt.DONE


async def test_taking_an_answered_message_does_not_make_it_unanswered(store: Store, clock: FakeClock) -> None:
    await store.receive(said(1))
    head = await store.commit(await claimed(store, clock), Change(done=(said(1).key,)))
    await store.commit(head, Change(take=(said(1).key,)))
    assert await store.receive(said(1)) is Receipt.DONE


async def test_an_answered_message_is_recognised_for_a_fortnight(store: Store, clock: FakeClock) -> None:
    await store.receive(said(1))
    await store.commit(await claimed(store, clock), Change(done=(said(1).key,)))
    clock.advance(FORTNIGHT - 1)
    assert await store.receive(said(1)) is Receipt.DONE
    clock.advance(1)
    assert await store.receive(said(1)) is Receipt.NEW
    assert await store.inbox(CHAT) == [said(1)]


async def test_an_unanswered_message_is_never_forgotten(store: Store, clock: FakeClock) -> None:
    await store.receive(said(1))
    await store.receive(said(2))
    head = await store.commit(await claimed(store, clock), Change(take=(said(2).key,)))
    clock.advance(100 * FORTNIGHT)
    await store.commit(head, Change())
    assert await store.receive(said(1)) is Receipt.WAITING
    assert await store.receive(said(2)) is Receipt.WAITING
    assert await store.inbox(CHAT) == [said(1)]


async def test_settling_a_message_that_never_came_stores_nothing(store: Store, clock: FakeClock) -> None:
    head = await claimed(store, clock)
    for change in (Change(summaries("x"), take=("0#9",)), Change(summaries("x"), done=("0#9",))):
        with pytest.raises(LookupError, match="never received"):
            await store.commit(head, change)
    assert await store.record(CHAT, 1) == []
    await store.commit(head, Change(summaries("y")))


# What is not to the bot


async def test_a_message_not_to_the_bot_waits_a_quarter_of_an_hour_and_is_gone(store: Store, clock: FakeClock) -> None:
    assert await store.receive(aside(1)) is Receipt.NEW
    clock.advance(QUARTER - 1)
    assert await store.receive(aside(1)) is Receipt.WAITING
    assert await store.inbox(CHAT) == [aside(1)]
    clock.advance(1)
    assert await store.inbox(CHAT) == []
    assert await store.receive(aside(1)) is Receipt.NEW
    assert await store.inbox(CHAT) == [aside(1)]


async def test_of_many_deliveries_of_what_is_not_to_the_bot_exactly_one_is_new(store: Store) -> None:
    receipts = await asyncio.gather(*(store.receive(aside(1)) for _ in range(20)))
    assert sorted(receipt.value for receipt in receipts) == ["new", *["waiting"] * 19]


async def test_what_waits_stands_in_the_platforms_order_whoever_it_is_to(store: Store, clock: FakeClock) -> None:
    for inbound in (aside(4), said(3), said(5), aside(1)):
        await store.receive(inbound)
        clock.advance(10)
    assert await store.inbox(CHAT) == [aside(1), said(3), aside(4), said(5)]


async def test_no_crowd_hides_a_message_to_the_bot_neither_before_nor_after_it_passed(
    store: Store, clock: FakeClock
) -> None:
    for before in range(2):
        await asyncio.gather(*(store.receive(aside(before * 200 + number)) for number in range(120)))
        await store.receive(said(900 + before))
        waiting = await store.inbox(CHAT)
        assert [inbound for inbound in waiting if inbound.addressed] == [said(900), said(901)][: before + 1]
        assert 10 < len(waiting) <= 100
        clock.advance(QUARTER)
    assert await store.inbox(CHAT) == [said(900), said(901)]


async def test_what_a_turn_took_is_kept_until_it_is_answered_whoever_it_was_to(store: Store, clock: FakeClock) -> None:
    await store.receive(aside(1))
    head = await store.commit(await claimed(store, clock), Change(turn=turn(aside(1).key), take=(aside(1).key,)))
    assert await store.inbox(CHAT) == []
    clock.advance(100 * FORTNIGHT)
    assert await store.receive(aside(1)) is Receipt.WAITING
    head = await store.commit(head, Change(turn=head.turn))
    await store.commit(head, Change(done=(aside(1).key,)))
    clock.advance(FORTNIGHT - 1)
    assert await store.receive(aside(1)) is Receipt.DONE
    assert await store.inbox(CHAT) == []


async def test_what_is_not_to_the_bot_may_be_answered_without_being_taken(store: Store, clock: FakeClock) -> None:
    await store.receive(aside(1))
    await store.commit(await claimed(store, clock), Change(done=(aside(1).key,)))
    clock.advance(FORTNIGHT - 1)
    assert await store.receive(aside(1)) is Receipt.DONE


async def test_a_message_not_to_the_bot_is_never_overdue(store: Store, clock: FakeClock) -> None:
    await store.receive(aside(1))
    clock.advance(60)
    assert await store.overdue(int(clock.now())) == []
    await store.receive(said(2))
    clock.advance(60)
    assert await store.overdue(int(clock.now())) == [CHAT]


# The inbox


async def test_the_inbox_is_in_the_platforms_order(store: Store) -> None:
    for number in (3, 1, 10, 2):
        await store.receive(said(number))
    assert [inbound.id for inbound in await store.inbox(CHAT)] == ["1", "2", "3", "10"]


async def test_a_late_message_older_than_the_answered_ones_is_still_found(store: Store, clock: FakeClock) -> None:
    for number in (5, 6):
        await store.receive(said(number))
    await store.commit(await claimed(store, clock), Change(done=(said(5).key, said(6).key)))
    await store.receive(said(4))
    await store.receive(said(7))
    assert [inbound.id for inbound in await store.inbox(CHAT)] == ["4", "7"]


async def test_a_flood_is_handed_out_in_bounded_portions_and_nothing_is_left_behind(
    store: Store, clock: FakeClock
) -> None:
    await asyncio.gather(*(store.receive(said(number)) for number in range(120)))
    head = await claimed(store, clock)
    seen: list[str] = []
    while portion := await store.inbox(CHAT):
        assert len(portion) <= 100
        seen += [inbound.id for inbound in portion]
        head = await store.commit(head, Change(summaries("x"), take=tuple(inbound.key for inbound in portion)))
    assert seen == [str(number) for number in range(120)]


async def test_a_turn_can_end_that_answers_more_messages_than_one_transaction_holds(
    store: Store, clock: FakeClock
) -> None:
    everything = [said(number) for number in range(250)]
    await asyncio.gather(*(store.receive(inbound) for inbound in everything))
    head = await claimed(store, clock)
    change = Change(summaries("x"), done=tuple(inbound.key for inbound in everything), release=True)
    with pytest.raises(LeaseLost):
        await store.commit(replace(head, owner="b"), change)
    assert await store.receive(everything[-1]) is Receipt.WAITING
    await store.commit(head, change)
    assert set(await asyncio.gather(*(store.receive(inbound) for inbound in everything))) == {Receipt.DONE}
    assert await store.record(CHAT, 1) == [Numbered(1, Summary("x"))]


async def test_an_inbound_comes_back_exactly_as_it_was(store: Store) -> None:
    inbound = Inbound(
        place=Place("slack:T1:C1:1712.0001", "C1", "1712.0001", "T1", True, "général \U0001f35c"),
        id="Ev1",
        order="1712.000100",
        sender=Person("slack:T1:U1", "Zoë", "en-GB"),
        sent_at=1712,
        kind="edit",
        text="a\x00b\u2028\u200d\U0001f468\u200d\U0001f469",
        command="help",
        native_id="1712.0001",
        quote=Quote("said before", "Adi", True),
        attachments=(Attachment("photo", "F1", "x.png", "image/png", 2**40, "a dog"),),
        album="g1",
        data="token",
    )
    await store.receive(inbound)
    assert await store.inbox(inbound.conversation) == [inbound]


# The lease


async def test_a_first_claim_makes_an_empty_head(store: Store, clock: FakeClock) -> None:
    assert await store.claim(CHAT, "a", until(clock)) == Head(CHAT, owner="a", until_ms=until(clock))


async def test_whoever_only_watches_sees_where_it_stands_and_changes_nothing(store: Store, clock: FakeClock) -> None:
    assert await store.head(CHAT) is None
    head = await claimed(store, clock)
    assert await store.head(CHAT) == head
    head = await store.commit(head, Change(summaries("x"), turn=turn(), settings=ChatSettings(language="id")))
    assert await store.head(CHAT) == head

    released = await store.commit(head, Change(release=True))

    seen = await store.head(CHAT)
    assert seen is not None and (seen.last, seen.turn, seen.until_ms) == (released.last, None, 0)
    assert await store.claim(CHAT, "b", until(clock)) is not None


async def test_of_many_claims_at_once_exactly_one_succeeds(store: Store, clock: FakeClock) -> None:
    heads = await asyncio.gather(*(store.claim(CHAT, f"worker-{n}", until(clock)) for n in range(20)))
    assert len([head for head in heads if head is not None]) == 1


async def test_a_lease_can_be_taken_over_only_when_its_time_is_over(store: Store, clock: FakeClock) -> None:
    await claimed(store, clock, "a")
    clock.advance(LEASE / 1000 - 0.001)
    assert await store.claim(CHAT, "b", until(clock)) is None
    clock.advance(0.001)
    assert await claimed(store, clock, "b") == Head(CHAT, owner="b", until_ms=until(clock))


async def test_a_renewed_lease_lasts_longer(store: Store, clock: FakeClock) -> None:
    head = await claimed(store, clock, "a")
    clock.advance(LEASE / 2000)
    await store.renew(head, until(clock))
    clock.advance(LEASE / 2000)
    assert await store.claim(CHAT, "b", until(clock)) is None


async def test_the_holder_may_claim_again_and_reads_the_head_as_it_is(store: Store, clock: FakeClock) -> None:
    head = await store.commit(await claimed(store, clock), Change(summaries("x"), turn=turn()))
    assert await claimed(store, clock) == head


async def test_a_released_conversation_can_be_claimed_at_once(store: Store, clock: FakeClock) -> None:
    head = await store.commit(await claimed(store, clock, "a"), Change(summaries("x"), turn=turn(), release=True))
    assert head == Head(CHAT, last=1, turn=turn(), used=int(clock.now()))
    assert await claimed(store, clock, "b") == replace(head, owner="b", until_ms=until(clock))


async def test_after_a_release_its_owner_can_neither_write_nor_renew(store: Store, clock: FakeClock) -> None:
    head = await claimed(store, clock)
    released = await store.commit(head, Change(release=True))
    for stale in (head, released):
        with pytest.raises(LeaseLost):
            await store.renew(stale, until(clock))
        with pytest.raises(LeaseLost):
            await store.commit(stale, Change(summaries("x")))
        with pytest.raises(LeaseLost):
            await store.commit(stale, Change(turn=turn()))
    assert await claimed(store, clock, "b") == Head(CHAT, owner="b", until_ms=until(clock), used=int(clock.now()))


async def test_after_a_takeover_the_old_owner_leaves_nothing_behind(store: Store, clock: FakeClock) -> None:
    await store.receive(said(1))
    old = await claimed(store, clock, "a")
    clock.advance(LEASE / 1000)
    new = await claimed(store, clock, "b")
    everything = Change(summaries("x"), turn=turn(), since=1, take=(said(1).key,), release=True)
    for change in (everything, Change(done=(said(1).key,)), Change(turn=turn()), Change(release=True)):
        with pytest.raises(LeaseLost):
            await store.commit(old, change)
    with pytest.raises(LeaseLost):
        await store.renew(old, until(clock))
    assert await store.record(CHAT, 1) == []
    assert await store.inbox(CHAT) == [said(1)]
    assert await claimed(store, clock, "b") == new


async def test_an_owner_whose_time_is_over_may_write_while_nobody_took_over(store: Store, clock: FakeClock) -> None:
    head = await claimed(store, clock, "a")
    clock.advance(10 * LEASE)
    head = await store.commit(head, Change(summaries("x")))
    await store.renew(head, until(clock))
    assert await store.claim(CHAT, "b", until(clock)) is None


async def test_a_lease_nobody_claimed_can_not_be_renewed_or_written_under(store: Store, clock: FakeClock) -> None:
    with pytest.raises(LeaseLost):
        await store.renew(Head(CHAT, owner="a"), until(clock))
    with pytest.raises(LeaseLost):
        await store.commit(Head(CHAT, owner="a"), Change(summaries("x")))
    assert await store.record(CHAT, 1) == []


# Steps


async def test_entries_are_numbered_from_1_without_gaps(store: Store, clock: FakeClock) -> None:
    head = await claimed(store, clock)
    head = await store.commit(head, Change(summaries("a", "b")))
    head = await store.commit(head, Change())
    head = await store.commit(head, Change(summaries("c")))
    assert head.last == 3
    assert await store.record(CHAT, 1) == [Numbered(n, Summary(text)) for n, text in enumerate("abc", 1)]


async def test_a_step_repeated_from_an_old_head_is_refused_not_stored_twice(store: Store, clock: FakeClock) -> None:
    head = await claimed(store, clock)
    await store.commit(head, Change(summaries("a")))
    with pytest.raises(LeaseLost):
        await store.commit(head, Change(summaries("a")))
    assert await store.record(CHAT, 1) == [Numbered(1, Summary("a"))]


async def test_a_release_repeated_after_a_lost_answer_succeeds(store: Store, clock: FakeClock) -> None:
    head = await claimed(store, clock)
    released = await store.commit(head, Change(turn=turn(), release=True))
    assert await store.commit(head, Change(turn=turn(), release=True)) == released


async def test_the_window_begins_at_since_and_what_is_before_it_is_kept(store: Store, clock: FakeClock) -> None:
    head = await store.commit(await claimed(store, clock), Change(summaries("a", "b", "c")))
    head = await store.commit(head, Change(since=3))
    head = await store.commit(head, Change())
    assert (await claimed(store, clock)).since == 3
    assert await store.record(CHAT, head.since) == [Numbered(3, Summary("c"))]
    assert [numbered.seq for numbered in await store.record(CHAT, 2)] == [2, 3]
    assert [numbered.seq for numbered in await store.record(CHAT, 0)] == [1, 2, 3]
    assert await store.record(CHAT, 4) == []


async def test_a_step_replaces_the_turn_or_clears_it(store: Store, clock: FakeClock) -> None:
    first = turn("1#1", "2#2")
    second = replace(first, parts=(Part("sent", "17"), Part("sending")), invocations=2, failures=1, reply_to="9")
    head = await store.commit(await claimed(store, clock), Change(turn=first))
    assert (await claimed(store, clock)).turn == first
    head = await store.commit(head, Change(summaries("x"), turn=second))
    assert (await claimed(store, clock)).turn == second
    head = await store.commit(head, Change())
    assert (await claimed(store, clock)).turn is None


async def test_every_kind_of_entry_comes_back_exactly_as_it_was(store: Store, clock: FakeClock) -> None:
    block: dict[str, Any] = {
        "zeta": 1.0,
        "alpha": -0.0,
        "big": 12345678901234567890123456789012345678901234567890,
        "negative": -(2**64),
        "tiny": 5e-324,
        "text": 'quote " slash \\ nul \x00 line \u2028 family \U0001f468\u200d\U0001f469\u200d\U0001f467 ﷽ é e\u0301',
        "": [None, True, False, [], {}, [[{"deep": [1, 1.0]}]]],
        "3": 10**400,
    }
    entries: tuple[Entry, ...] = (
        Asked("t1", (said(1), said(2))),
        Answered("t1", Reply([block, {"type": "text", "text": ""}], "tool_use", "m", Usage(1, 2, 3, 4), {"x": '{"a'})),
        Returned("t1", (block,), (said(3),), "limit"),
        Ended("t1", "failed", "shown", buttons=(Button("Retry", "again:t1"),)),
        Summary("s" * 10_000),
    )
    await store.commit(await claimed(store, clock), Change(entries))
    stored = await store.record(CHAT, 1)
    assert stored == [Numbered(seq, entry) for seq, entry in enumerate(entries, 1)]
    # Equality holds between 1 and 1.0, and for dictionaries in any order; the prompt's bytes do not forgive that.
    assert [repr(numbered.entry) for numbered in stored] == [repr(entry) for entry in entries]


@pytest.mark.parametrize("length", [340_000, 1_000_000, 3_000_000])
async def test_a_large_entry_comes_back_whole_between_small_ones(store: Store, clock: FakeClock, length: int) -> None:
    entries = summaries("before", random_text(length), "after")
    await store.commit(await claimed(store, clock), Change(entries))
    assert await store.record(CHAT, 1) == [Numbered(seq, entry) for seq, entry in enumerate(entries, 1)]
    assert await store.record(CHAT, 3) == [Numbered(3, Summary("after"))]


async def test_a_thousand_entries_are_read_at_once(store: Store, clock: FakeClock) -> None:
    head = await claimed(store, clock)
    texts = [random_text(2_000) + str(number) for number in range(1_000)]
    for first in range(0, 1_000, 50):
        head = await store.commit(head, Change(summaries(*texts[first : first + 50])))
    assert await store.record(CHAT, 1) == [Numbered(seq, Summary(text)) for seq, text in enumerate(texts, 1)]


# Counters


DAY = Counter("person:telegram:7", "2033-05-18")
MONTH = Counter("all", "2033-05")


@spending
async def test_what_is_spent_adds_up_over_conversations_and_can_be_read(store: Store, clock: FakeClock) -> None:
    bill = Bill(turns=1, calls=2, unpriced=1, cost=70, fresh=5, cache_write=4, cache_read=3, output=2, searches=1)
    head = await store.commit(await claimed(store, clock), Change(spend=(Spend(DAY, 100), Spend(MONTH, 40, 40))))
    await store.commit(head, Change(spend=(Spend(DAY, -30, bill=bill),)))
    other = await claimed(store, clock, conversation="telegram:8")
    await store.commit(other, Change(spend=(Spend(DAY, 1, bill=replace(bill, cache_write_long=9)),)))

    assert await store.spent([DAY, MONTH, Counter("all", "2033-06")]) == {
        DAY: Spent(71, bill + replace(bill, cache_write_long=9)),
        MONTH: Spent(40),
    }
    assert await store.spent([]) == {}


@spending
@pytest.mark.parametrize("amount", [31, 101])
async def test_a_step_that_would_go_above_a_limit_is_not_stored_at_all(
    store: Store, clock: FakeClock, amount: int
) -> None:
    await store.receive(said(1))
    spent = (Spend(MONTH, 5), Spend(DAY, 70, 100))
    head = await store.commit(await claimed(store, clock), Change(spend=spent))
    too_much = Spend(DAY, amount, 100)
    with pytest.raises(BudgetExceeded) as refused:
        await store.commit(head, Change(summaries("x"), turn(), take=(said(1).key,), spend=(Spend(MONTH, 5), too_much)))
    assert refused.value.spend == too_much
    assert await store.record(CHAT, 1) == []
    assert await store.inbox(CHAT) == [said(1)]
    assert (await claimed(store, clock)).turn is None
    assert await store.spent([DAY, MONTH]) == {DAY: Spent(70), MONTH: Spent(5)}
    await store.commit(head, Change(spend=(Spend(DAY, 30, 100),)))


@spending
async def test_more_than_a_whole_limit_never_fits(store: Store, clock: FakeClock) -> None:
    with pytest.raises(BudgetExceeded):
        await store.commit(await claimed(store, clock), Change(spend=(Spend(DAY, 101, 100),)))
    assert await store.spent([DAY]) == {}


@spending
async def test_who_lost_the_lease_spends_nothing_whatever_the_limit(store: Store, clock: FakeClock) -> None:
    old = await claimed(store, clock, "a")
    clock.advance(LEASE)
    await claimed(store, clock, "b")
    with pytest.raises(LeaseLost):
        await store.commit(old, Change(spend=(Spend(DAY, 1, 100),)))
    assert await store.spent([DAY]) == {}


@spending
async def test_commits_at_once_never_pass_a_limit_together(store: Store, clock: FakeClock) -> None:
    heads = [await claimed(store, clock, conversation=f"telegram:{number}") for number in range(20)]
    commits = (store.commit(head, Change(spend=(Spend(MONTH, 3, 50),))) for head in heads)
    outcomes = await asyncio.gather(*commits, return_exceptions=True)
    assert [type(each) for each in outcomes if not isinstance(each, Head)] == [BudgetExceeded] * 4
    assert await store.spent([MONTH]) == {MONTH: Spent(48)}


async def test_a_hundred_counters_are_read_at_once(store: Store, clock: FakeClock) -> None:
    counters = [Counter(f"person:{number}", "2033-05-18") for number in range(100)]
    head = await claimed(store, clock)
    for first in range(0, 100, 50):
        head = await store.commit(head, Change(spend=tuple(Spend(each, 1) for each in counters[first : first + 50])))
    assert await store.spent(counters) == {each: Spent(1) for each in counters}


# Tool calls


async def test_a_tool_call_is_unknown_then_started_then_finished(store: Store) -> None:
    started = ToolRun("toolu_1")
    finished = ToolRun("toolu_1", {"type": "tool_result", "tool_use_id": "toolu_1", "content": "1.0", "n": 2**70})
    assert await store.tool_runs(CHAT, ["toolu_1"]) == {}
    await store.put_tool_run(CHAT, started)
    assert await store.tool_runs(CHAT, ["toolu_1"]) == {"toolu_1": started}
    await store.put_tool_run(CHAT, finished)
    assert await store.tool_runs(CHAT, ["toolu_1"]) == {"toolu_1": finished}


async def test_a_stored_result_is_never_replaced_by_a_start(store: Store) -> None:
    finished = ToolRun("toolu_1", {"content": "done"})
    await store.put_tool_run(CHAT, finished)
    await store.put_tool_run(CHAT, ToolRun("toolu_1"))
    assert await store.tool_runs(CHAT, ["toolu_1"]) == {"toolu_1": finished}


async def test_of_any_number_of_starts_of_one_call_exactly_one_is_the_first(store: Store) -> None:
    at_once = await asyncio.gather(*(store.put_tool_run(CHAT, ToolRun("toolu_1")) for _ in range(5)))
    assert sorted(at_once) == [False] * 4 + [True]
    assert await store.put_tool_run(CHAT, ToolRun("toolu_1", {"content": "done"}))
    assert not await store.put_tool_run(CHAT, ToolRun("toolu_1"))


async def test_only_the_calls_asked_for_are_answered_and_any_number_of_them(store: Store) -> None:
    runs = {f"toolu_{n}": ToolRun(f"toolu_{n}", {"n": n}) for n in range(230)}
    await asyncio.gather(*(store.put_tool_run(CHAT, run) for run in runs.values()))
    await store.put_tool_run("telegram:1", ToolRun("elsewhere"))
    assert await store.tool_runs(CHAT, []) == {}
    assert await store.tool_runs(CHAT, ["toolu_5", "toolu_5", "nobody", "elsewhere"]) == {"toolu_5": runs["toolu_5"]}
    assert await store.tool_runs(CHAT, list(runs)) == runs


async def test_a_large_tool_result_comes_back_whole_and_can_be_replaced(store: Store) -> None:
    large = ToolRun("toolu_1", {"content": random_text(2_000_000)})
    await store.put_tool_run(CHAT, large)
    await store.put_tool_run(CHAT, ToolRun("toolu_1"))
    assert await store.tool_runs(CHAT, ["toolu_1", "toolu_2"]) == {"toolu_1": large}
    small = ToolRun("toolu_1", {"content": "short"})
    await store.put_tool_run(CHAT, small)
    assert await store.tool_runs(CHAT, ["toolu_1"]) == {"toolu_1": small}


# People


async def test_nothing_is_known_of_a_person_until_it_is_told(store: Store) -> None:
    assert await store.profile("telegram:7") == Profile()
    told = Profile("Sari \U0001f35c", "id", "Asia/Jakarta", 1_999_999_999, ("Eats no peanuts.", "a\x00b\u2028"))
    assert await store.keep_profile("telegram:7", told)
    assert await store.profile("telegram:7") == replace(told, version=1)
    assert await store.profiles(["telegram:70", "telegram:7"]) == {
        "telegram:70": Profile(),
        "telegram:7": replace(told, version=1),
    }
    assert await store.profiles(["telegram:7"]) == {"telegram:7": replace(told, version=1)}
    assert await store.profiles([]) == {}
    assert await store.profile("telegram:70") == await store.profile("TELEGRAM:7") == Profile()


async def test_what_is_kept_is_there_as_it_was_until_something_else_is(store: Store) -> None:
    assert await store.kept("mcp:time:1") is None
    large = bytes(range(256)) * 1_171  # nearly 300,000
    for data in (b"\x00\xff", b"", large):
        await store.keep("mcp:time:1", data)
        assert await store.kept("mcp:time:1") == data
    assert await store.kept("mcp:time:2") is None


async def test_the_role_that_somebody_was_given_is_told_without_the_rest(store: Store) -> None:
    assert await store.role("telegram:7") == ""
    assert await store.keep_profile("telegram:7", Profile("Sari"))
    assert await store.role("telegram:7") == ""
    assert await store.keep_profile("telegram:7", Profile("Sari", role="member", version=1))
    assert await store.role("telegram:7") == "member"
    assert await store.keep_profile("telegram:7", Profile("Sari", version=2))
    assert await store.role("telegram:7") == ""


async def test_a_profile_is_changed_only_by_who_knows_how_it_is(store: Store) -> None:
    assert not await store.keep_profile("telegram:7", Profile("Sari", version=1))
    assert await store.keep_profile("telegram:7", Profile("Sari"))
    assert not await store.keep_profile("telegram:7", Profile("Adi"))
    first = await store.profile("telegram:7")
    assert await store.keep_profile("telegram:7", replace(first, facts=("Eats no peanuts.",)))
    assert not await store.keep_profile("telegram:7", replace(first, facts=()))
    assert await store.profile("telegram:7") == Profile("Sari", facts=("Eats no peanuts.",), version=2)


async def test_of_changes_at_once_exactly_one_is_kept(store: Store) -> None:
    changes = [Profile(f"name {number}") for number in range(10)]
    kept = await asyncio.gather(*(store.keep_profile("telegram:7", change) for change in changes))
    assert kept.count(True) == 1
    assert await store.profile("telegram:7") == replace(changes[kept.index(True)], version=1)


# Being known, and being forgotten


# Copied whole


async def test_a_piece_of_a_record_is_its_entries_between_two_numbers(store: Archive, clock: FakeClock) -> None:
    large = random_text(900_000)
    head = await store.commit(await claimed(store, clock), Change(summaries("1", large, "3")))
    await store.commit(head, Change(summaries("4", large)))
    whole = await store.record(CHAT, 1)
    for first, last in ((1, 5), (2, 2), (2, 4), (5, 9), (0, 1)):
        assert await store.entries(CHAT, first, last) == [each for each in whole if first <= each.seq <= last]
    assert await store.entries(CHAT, 6, 9) == await store.entries(CHAT, 3, 2) == []
    assert await store.entries(f"{CHAT}5", 1, 9) == []


async def test_every_conversation_and_everybody_known_is_named_once(store: Archive, clock: FakeClock) -> None:
    assert [key async for key in store.every_conversation()] == [id async for id in store.every_profile()] == []
    chats = {f"telegram:{number}" for number in range(30)} | {"terminal:a/b", "telegram:1/t.2.call"}
    for chat in chats:
        await store.commit(await claimed(store, clock, conversation=chat), Change(summaries(random_text(100_000))))
    await store.receive(said(1, "telegram:only-waits"))
    people = {"telegram:7", "slack:T1:U1", "chat:telegram:-1"}
    for person in people:
        await store.keep_profile(person, Profile("Sari"))
    assert sorted([key async for key in store.every_conversation()]) == sorted(chats)
    assert sorted([id async for id in store.every_profile()]) == sorted(people)
    await store.forget(await claimed(store, clock, conversation="telegram:3"))
    assert sorted([key async for key in store.every_conversation()]) == sorted(chats - {"telegram:3"})


# Reminders


def reminder(id: str, at: int = 2_000_000_500, conversation: str = CHAT, **more: Any) -> Reminder:
    return Reminder(id, said(1, conversation).place, said(1).sender, f"Pay {id} \U0001f35c\x00", at, **more)


async def test_reminders_come_back_as_they_were_by_time(store: Store) -> None:
    later = reminder("aaaaaaaa", 2_000_000_900, rule="FREQ=DAILY", zone="Asia/Jakarta", asks=True, idle=3)
    sooner = reminder("bbbbbbbb", 2_000_000_100)
    assert await store.reminders(CHAT) == []
    for each in (later, sooner):
        await store.put_reminder(each)
    assert await store.reminders(CHAT) == [sooner, later]
    assert await store.reminders(f"{CHAT}5") == []


async def test_a_reminder_takes_the_place_of_the_one_with_its_id_there_and_nowhere_else(store: Store) -> None:
    elsewhere = reminder("aaaaaaaa", conversation="telegram:1")
    for each in (elsewhere, reminder("aaaaaaaa"), reminder("aaaaaaaa", 2_000_009_000, idle=1)):
        await store.put_reminder(each)
    assert await store.reminders(CHAT) == [reminder("aaaaaaaa", 2_000_009_000, idle=1)]
    assert await store.reminders("telegram:1") == [elsewhere]


async def test_a_reminder_is_deleted_once(store: Store) -> None:
    for id in ("aaaaaaaa", "bbbbbbbb"):
        await store.put_reminder(reminder(id))
    assert await store.delete_reminder(CHAT, "aaaaaaaa")
    assert not await store.delete_reminder(CHAT, "aaaaaaaa")
    assert not await store.delete_reminder("telegram:1", "bbbbbbbb")
    assert await store.reminders(CHAT) == [reminder("bbbbbbbb")]


async def test_many_reminders_are_handed_out_a_hundred_at_a_time(store: Store) -> None:
    for number in range(120):
        await store.put_reminder(reminder(f"{number:08}", 2_000_000_000 + number))
    assert [each.id for each in await store.reminders(CHAT)] == [f"{number:08}" for number in range(100)]


async def test_a_reminder_wakes_nobody_by_being_stored(store: Store, clock: FakeClock) -> None:
    await store.put_reminder(reminder("aaaaaaaa", int(clock.now()) - 500))
    assert await store.overdue(int(clock.now())) == []
    assert await store.inbox(CHAT) == []
    assert not await store.knows(CHAT)


async def test_reminders_are_forgotten_with_their_conversation(store: Store, clock: FakeClock) -> None:
    for number in range(60):
        await store.put_reminder(reminder(f"{number:08}"))
    await store.put_reminder(reminder("aaaaaaaa", conversation="telegram:1"))
    await store.forget(await claimed(store, clock))
    assert await store.reminders(CHAT) == []
    assert await store.reminders("telegram:1") == [reminder("aaaaaaaa", conversation="telegram:1")]


async def test_a_conversation_is_known_once_the_bot_had_a_turn_in_it(store: Store, clock: FakeClock) -> None:
    assert not await store.knows(CHAT)
    await store.receive(said(1))
    head = await claimed(store, clock)
    assert not await store.knows(CHAT)
    await store.commit(head, Change(summaries("x"), turn=turn()))
    assert await store.knows(CHAT)
    assert not await store.knows(f"{CHAT}5")


async def test_nothing_that_was_said_or_done_is_left_of_a_forgotten_conversation(
    store: Store, clock: FakeClock
) -> None:
    head = await claimed(store, clock)
    head = await store.commit(head, Change(summaries(random_text(1_000_000)), settings=ChatSettings("queue")))
    for first in range(0, 250, 50):
        head = await store.commit(head, Change(summaries(*map(str, range(first, first + 50)))))
    calls = [f"toolu_{number}" for number in range(120)]
    await asyncio.gather(*(store.put_tool_run(CHAT, ToolRun(call, {"content": "x"})) for call in calls))
    await store.put_tool_run(CHAT, ToolRun("large", {"content": random_text(1_000_000)}))
    running = replace(turn(), first=head.last + 1)
    head = await store.commit(head, Change(summaries("forget"), turn=running, since=200))

    await store.forget(head)

    assert not await store.knows(CHAT)
    assert await store.record(CHAT, 1) == []
    assert await store.tool_runs(CHAT, [*calls, "large"]) == {}
    assert await claimed(store, clock, "b") == Head(CHAT, owner="b", until_ms=until(clock))


async def test_forgetting_answers_what_the_turn_took_and_leaves_what_waits(store: Store, clock: FakeClock) -> None:
    keys = [said(number).key for number in range(150)]
    await asyncio.gather(*(store.receive(said(number)) for number in range(150)))
    head = await store.commit(await claimed(store, clock), Change(summaries("x"), turn=turn(), take=tuple(keys[:75])))
    head = await store.commit(head, Change(summaries("y"), turn=turn(*keys), take=tuple(keys[75:])))
    await store.receive(said(200))
    await store.receive(aside(201))
    clock.advance(100)

    await store.forget(head)

    assert {await store.receive(said(number)) for number in range(150)} == {Receipt.DONE}
    assert await store.inbox(CHAT) == [said(200), aside(201)]
    assert await store.receive(said(200)) is Receipt.WAITING
    assert await store.overdue(int(clock.now())) == [CHAT]


async def test_forgetting_makes_nobody_be_answered_twice(store: Store, clock: FakeClock) -> None:
    await store.receive(said(1))
    head = await store.commit(await claimed(store, clock), Change(done=(said(1).key,)))
    clock.advance(3 * DAYS)
    await store.receive(said(2))
    head = await store.commit(head, Change(done=(said(2).key,)))
    clock.advance(1 * DAYS)
    await store.forget(head)
    assert await store.receive(said(2)) is Receipt.DONE  # the platform may still repeat it
    assert await store.receive(said(1)) is Receipt.NEW  # and this one no more: nothing is left of it


async def test_only_who_holds_the_conversation_as_it_is_can_forget_it(store: Store, clock: FakeClock) -> None:
    old = await claimed(store, clock, "a")
    new = await store.commit(old, Change(summaries("x"), turn=turn()))
    for stale in (old, replace(new, owner="b"), Head("telegram:nobody", owner="a")):
        with pytest.raises(LeaseLost):
            await store.forget(stale)
    released = await store.commit(new, Change(turn=turn(), release=True))
    for stale in (new, released):
        with pytest.raises(LeaseLost):
            await store.forget(stale)
    assert await store.record(CHAT, 1) == [Numbered(1, Summary("x"))]
    await store.forget(await claimed(store, clock, "b"))


async def test_after_forgetting_nobody_who_held_it_before_can_write(store: Store, clock: FakeClock) -> None:
    head = await store.commit(await claimed(store, clock), Change(summaries("x"), turn=turn()))
    await store.forget(head)
    for stale in (head, replace(head, last=0)):
        with pytest.raises(LeaseLost):
            await store.commit(stale, Change(summaries("x")))
        with pytest.raises(LeaseLost):
            await store.renew(stale, until(clock))
        with pytest.raises(LeaseLost):
            await store.forget(stale)
    assert await store.record(CHAT, 1) == []
    assert not await store.knows(CHAT)


async def test_forgetting_is_of_one_conversation_and_of_no_person(store: Store, clock: FakeClock) -> None:
    alike = ["telegram:1", "telegram:10", "telegram:1:1", "TELEGRAM:1", "telegram:1#H"]
    heads = {}
    for conversation in alike:
        head = await claimed(store, clock, conversation, conversation)
        heads[conversation] = await store.commit(head, Change(summaries(conversation), turn=turn()))
        await store.put_tool_run(conversation, ToolRun("toolu_1"))
    await store.keep_profile("telegram:1", Profile("Sari"))
    await store.forget(heads.pop("telegram:1"))
    for conversation, head in heads.items():
        assert await store.record(conversation, 1) == [Numbered(1, Summary(conversation))]
        assert await store.tool_runs(conversation, ["toolu_1"]) == {"toolu_1": ToolRun("toolu_1")}
        await store.commit(head, Change(summaries("more")))
    assert (await store.profile("telegram:1")).name == "Sari"


async def test_what_a_chat_spent_is_forgotten_with_it_but_not_what_a_limit_still_holds_against(
    store: Store, clock: FakeClock
) -> None:
    days = [f"{datetime.fromtimestamp(clock.now() - back * DAYS, UTC):%Y-%m-%d}" for back in (0, 1, 99, 100)]
    chat = [Counter("chat:telegram:1", day) for day in days]
    others = [Counter(scope, days[1]) for scope in ("chat:telegram:10", "chat:telegram", "person:telegram:1", "all")]
    for counter in (*chat, *others):
        head = await claimed(store, clock, conversation="telegram:1")
        await store.commit(head, Change(spend=(Spend(counter, 5),)))

    for conversation in ("telegram:1:77", "telegram:1"):  # a topic has no counters of its own
        assert set(await store.spent([*chat, *others])) == {*chat, *others}
        await store.forget(await claimed(store, clock, conversation=conversation))

    assert set(await store.spent([*chat, *others])) == {chat[0], *others}


# Conversations


@pytest.mark.parametrize(
    "conversation",
    [
        "terminal:",
        "slack:T1:C1:1712.0001",
        "telegram:1#IN#2",
        "terminal:a b/\\%_'\";--",
        "terminal:Zoë\U0001f35c" + "x" * 300,
    ],
)
async def test_any_name_may_name_a_conversation(store: Store, clock: FakeClock, conversation: str) -> None:
    inbound = said(1, conversation)
    assert await store.receive(inbound) is Receipt.NEW
    assert await store.inbox(conversation) == [inbound]
    head = await claimed(store, clock, conversation=conversation)
    await store.commit(head, Change(summaries("x"), done=(inbound.key,)))
    assert await store.record(conversation, 1) == [Numbered(1, Summary("x"))]
    assert await store.receive(inbound) is Receipt.DONE


async def test_conversations_know_nothing_of_each_other(store: Store, clock: FakeClock) -> None:
    alike = ["telegram:1", "telegram:10", "telegram:1:1", "TELEGRAM:1", "telegram:1#H"]
    for conversation in alike:
        assert await store.receive(said(1, conversation)) is Receipt.NEW
        head = await claimed(store, clock, conversation, conversation)
        await store.commit(head, Change(summaries(conversation)))
        await store.put_tool_run(conversation, ToolRun("toolu_1", {"content": conversation}))
    for conversation in alike:
        assert await store.inbox(conversation) == [said(1, conversation)]
        assert await store.record(conversation, 1) == [Numbered(1, Summary(conversation))]
        runs = await store.tool_runs(conversation, ["toolu_1"])
        assert runs == {"toolu_1": ToolRun("toolu_1", {"content": conversation})}


# Any sequence of calls, against a model that is easy to believe


class Model:
    """The Store port for one conversation, in memory and by the letter of its docstrings."""

    def __init__(self, conversation: str) -> None:
        self.head = Head(conversation)
        self.owner = ""
        self.until_ms = 0
        self.entries: list[Entry] = []
        self.inbox: dict[str, tuple[Inbound, str]] = {}
        self.came: dict[str, float] = {}

    def receive(self, inbound: Inbound, now: float) -> Receipt:
        if inbound.key not in self.inbox or self.has_passed(inbound, now):
            self.inbox[inbound.key] = (inbound, "pending")
            self.came[inbound.key] = now
            return Receipt.NEW
        return Receipt.DONE if self.inbox[inbound.key][1] == "done" else Receipt.WAITING

    def claim(self, owner: str, now_ms: int, until_ms: int) -> Head | None:
        if self.until_ms > now_ms and self.owner != owner:
            return None
        self.owner, self.until_ms = owner, until_ms
        self.head = replace(self.head, owner=owner, until_ms=until_ms)
        return self.head

    def holds(self, head: Head) -> bool:
        return self.until_ms > 0 and self.owner == head.owner

    def commit(self, head: Head, change: Change, now: int) -> Head | None:
        if not self.holds(head) or head.last != len(self.entries):
            return None
        self.entries += change.entries
        for key in change.take:
            inbound, state = self.inbox[key]
            self.inbox[key] = (inbound, "done" if state == "done" else "taken")
        for key in change.done:
            self.inbox[key] = (self.inbox[key][0], "done")
        self.head = replace(head, last=len(self.entries), turn=change.turn)
        if now >= head.used + DAYS:
            self.head = replace(self.head, used=now)
        if change.since is not None:
            self.head = replace(self.head, since=change.since)
        if change.release:
            self.until_ms = 0
            self.head = replace(self.head, owner="", until_ms=0)
        return self.head

    def forget(self, head: Head) -> bool:
        if not self.holds(head) or head.last != len(self.entries):
            return False
        for key in self.head.turn.inbox if self.head.turn else ():
            self.inbox[key] = (self.inbox[key][0], "done")
        self.head, self.owner, self.until_ms, self.entries = Head(head.conversation), "", 0, []
        return True

    def has_passed(self, inbound: Inbound, now: float) -> bool:
        is_pending = self.inbox[inbound.key][1] == "pending"
        return is_pending and not inbound.addressed and now >= self.came[inbound.key] + QUARTER

    def taken(self) -> tuple[str, ...]:
        return tuple(key for key, (_, state) in sorted(self.inbox.items()) if state == "taken")

    def pending(self, now: float) -> list[Inbound]:
        waiting = [inbound for _, (inbound, state) in sorted(self.inbox.items()) if state == "pending"]
        return [inbound for inbound in waiting if not self.has_passed(inbound, now)]


OWNERS = st.sampled_from(["a", "b", "c"])
NUMBERS = st.integers(1, 8)


class Sequences(RuleBasedStateMachine):
    """Two worlds told the same: a store and the model. Heads are kept by owner, also long after they became stale."""

    conversations = 0

    def __init__(self, store: Store, clock: FakeClock) -> None:
        super().__init__()
        Sequences.conversations += 1
        self.conversation = f"telegram:{Sequences.conversations}"
        self.store = store
        self.clock = clock
        self.model = Model(self.conversation)
        self.heads: dict[str, Head] = {}
        self.runner = asyncio.Runner()

    def teardown(self) -> None:
        self.runner.close()

    @rule(number=NUMBERS)
    def receive(self, number: int) -> None:
        inbound = aside(number, self.conversation) if number % 3 == 0 else said(number, self.conversation)
        assert self.runner.run(self.store.receive(inbound)) is self.model.receive(inbound, self.clock.now())

    @rule(owner=OWNERS)
    def claim(self, owner: str) -> None:
        now_ms, until_ms = self.now_ms(), self.now_ms() + LEASE
        head = self.runner.run(self.store.claim(self.conversation, owner, until_ms))
        assert head == self.model.claim(owner, now_ms, until_ms)
        if head is not None:
            self.heads[owner] = head

    @rule(owner=OWNERS)
    def renew(self, owner: str) -> None:
        head = self.heads.get(owner, Head(self.conversation, owner))
        until_ms = self.now_ms() + LEASE
        if self.model.holds(head):
            self.runner.run(self.store.renew(head, until_ms))
            self.model.until_ms = until_ms
        else:
            with pytest.raises(LeaseLost):
                self.runner.run(self.store.renew(head, until_ms))

    @rule(
        owner=OWNERS,
        texts=st.lists(st.text(max_size=3), max_size=3),
        take=st.sets(NUMBERS),
        done=st.sets(NUMBERS),
        since=st.none() | st.integers(1, 5),
        with_turn=st.booleans(),
        release=st.booleans(),
    )
    def commit(
        self,
        owner: str,
        texts: list[str],
        take: set[int],
        done: set[int],
        since: int | None,
        with_turn: bool,
        release: bool,
    ) -> None:
        head = self.heads.get(owner, Head(self.conversation, owner))
        change = Change(
            entries=summaries(*texts),
            turn=turn(*self.model.taken(), *self.known(take - done)) if with_turn else None,
            since=since,
            take=self.known(take),
            done=self.known(done),
            release=release,
        )
        if not self.model.holds(head) and release:
            return  # a repeated release may succeed: its own test says so
        expected = self.model.commit(head, change, int(self.clock.now()))
        if expected is None:
            with pytest.raises(LeaseLost):
                self.runner.run(self.store.commit(head, change))
            return
        stored = self.runner.run(self.store.commit(head, change))
        assert stored == expected
        self.heads[owner] = head if release else stored

    @rule(owner=OWNERS)
    def forget(self, owner: str) -> None:
        head = self.heads.get(owner, Head(self.conversation, owner))
        if self.model.forget(head):
            self.runner.run(self.store.forget(head))
            self.heads.pop(owner, None)
        else:
            with pytest.raises(LeaseLost):
                self.runner.run(self.store.forget(head))

    @rule(seconds=st.sampled_from([1, 30, 60, 300, DAYS]))
    def time_passes(self, seconds: int) -> None:
        self.clock.advance(seconds)

    @invariant()
    def the_inbox_agrees(self) -> None:
        assert self.runner.run(self.store.inbox(self.conversation)) == self.model.pending(self.clock.now())

    @invariant()
    def the_record_agrees(self) -> None:
        expected = [Numbered(seq, entry) for seq, entry in enumerate(self.model.entries, 1)]
        assert self.runner.run(self.store.record(self.conversation, 1)) == expected

    @invariant()
    def who_knows_it_agrees(self) -> None:
        assert self.runner.run(self.store.knows(self.conversation)) is bool(self.model.entries)

    def known(self, numbers: set[int]) -> tuple[str, ...]:
        keys = (said(number).key for number in sorted(numbers))
        return tuple(key for key in keys if key in self.model.inbox)

    def now_ms(self) -> int:
        return int(self.clock.now() * 1000)


def test_any_sequence_of_calls_does_what_the_model_does(store: Store, clock: FakeClock) -> None:
    class Here(Sequences):
        def __init__(self) -> None:
            super().__init__(store, clock)

    run_state_machine_as_test(
        Here,
        settings=settings(max_examples=40, stateful_step_count=25, deadline=None, derandomize=True, database=None),
    )


# What is left behind


async def test_what_nobody_used_for_long_is_named_the_longest_first(store: Store, clock: FakeClock) -> None:
    begun = int(clock.now())
    for chat in ("telegram:1", "telegram:2", "telegram:3", "telegram:1/t.2.A"):
        await store.commit(await claimed(store, clock, chat, chat), Change(summaries("x"), turn=turn(), release=True))
        clock.advance(2 * DAYS)
    await store.commit(await claimed(store, clock, "again", "telegram:1"), Change(summaries("y"), release=True))

    assert await store.unused(begun) == []
    assert await store.unused(begun + 2 * DAYS + 1) == ["telegram:2"]
    assert await store.unused(begun + 30 * DAYS) == ["telegram:2", "telegram:3", "telegram:1"]


async def test_a_use_is_noted_once_a_day_and_only_by_what_is_stored(store: Store, clock: FakeClock) -> None:
    begun = int(clock.now())
    assert (await claimed(store, clock)).used == 0
    assert await store.unused(begun + DAYS) == []
    head = await store.commit(await claimed(store, clock), Change(summaries("x"), turn=turn()))
    for hours, used in ((1, begun), (22, begun), (1, begun + DAYS)):
        clock.advance(hours * 3600)
        head = await store.commit(head, Change(summaries("x"), turn=turn()))
        assert head.used == used
        assert await store.head(CHAT) == head
    clock.advance(3 * DAYS)
    assert (await claimed(store, clock, "b")).used == begun + DAYS


async def test_a_message_is_overdue_until_it_is_done_taken_or_not(store: Store, clock: FakeClock) -> None:
    begun = int(clock.now())
    for conversation in ("telegram:waiting", "telegram:working", "telegram:done"):
        await store.receive(said(1, conversation))
    assert await store.overdue(begun) == []
    for conversation in ("telegram:working", "telegram:done"):
        head = await store.commit(await claimed(store, clock, conversation=conversation), Change(take=(said(1).key,)))
        if conversation == "telegram:done":
            await store.commit(head, Change(done=(said(1).key,), release=True))
    clock.advance(60)
    await store.receive(said(1, "telegram:new"))
    assert sorted(await store.overdue(begun + 1)) == ["telegram:waiting", "telegram:working"]


async def test_settings_stay_until_they_are_changed(store: Store, clock: FakeClock) -> None:
    head = await claimed(store, clock)
    assert head.settings == ChatSettings()
    head = await store.commit(head, Change(settings=ChatSettings(meanwhile="queue", closed=True)))
    head = await store.commit(head, Change(entries=summaries("one")))
    await store.commit(head, Change(release=True))
    assert (await claimed(store, clock, "b")).settings == ChatSettings(meanwhile="queue", closed=True)
