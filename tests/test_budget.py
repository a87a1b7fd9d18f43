"""What is counted where, what is reserved, and what somebody over a limit hears."""

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from bot.budget import FIRST, Budget, bill_for, bill_of, chat_of, lately, minute_of, notice, refusal
from bot.messages import Answered, Bill, ChatSettings, Counter, Ended, Reply, Spend, Spent, Summary, Turn, Usage
from bot.models import MODELS, SEARCH, cost
from tests.say import ANN, GROUP, HERE, inbound

EVENING = int(datetime(2026, 11, 30, 23, 59, 30, tzinfo=UTC).timestamp())
TURN = Turn(id="t", place=HERE, asker=ANN, began=EVENING, first=1)
SONNET = "claude-sonnet-5-5"
CALL = Bill(calls=1, cost=400, output=40)


def turn(**changes: Any) -> Turn:
    return replace(TURN, **changes)


# Prices.


def test_every_kind_of_token_has_its_price() -> None:
    usage = Usage(fresh=1_000, cache_write=1_000, cache_write_long=1_000, cache_read=1_000, output=1_000)
    assert cost(SONNET, usage) == 2_000 + 2_500 + 4_000 + 100 + 10_000


def test_a_long_prompt_of_a_tiered_model_costs_more_as_a_whole() -> None:
    short, long = Usage(fresh=100_000), Usage(fresh=50_000, cache_read=50_001)
    assert cost("claude-haiku-5-5", short) == 10_000
    assert cost("claude-haiku-5-5", long) == 27_501


def test_a_search_is_billed_by_itself() -> None:
    assert cost(SONNET, Usage(output=1, searches=3)) == 10 + 3 * SEARCH


@pytest.mark.parametrize("name", MODELS)
def test_every_listed_model_has_a_price(name: str) -> None:
    assert bill_for(name, Usage(fresh=1)).unpriced == 0


def test_a_model_of_ones_own_costs_nothing_and_is_counted_as_that() -> None:
    assert bill_for("my-model", Usage(fresh=9)) == Bill(calls=1, unpriced=1, fresh=9)


def test_an_entry_costs_what_the_call_that_wrote_it_did() -> None:
    usage = Usage(output=3)
    assert bill_of(Answered("t", Reply([], "end_turn", SONNET, usage))).cost == 30
    assert bill_of(Summary("x", 3, model="claude-haiku-5-5", usage=usage)).calls == 1
    assert bill_of(Summary("x", 3)) == bill_of(Ended("t", "told")) == Bill()


# Where it is counted.


@pytest.mark.parametrize(
    ("conversation", "chat"),
    [
        ("telegram:-5", "telegram:-5"),
        ("telegram:-5:77", "telegram:-5"),
        ("slack:T1:C1", "slack:T1:C1"),
        ("slack:T1:C1:1700.5", "slack:T1:C1"),
        ("terminal:me", "terminal:me"),
    ],
)
def test_a_new_thread_is_no_new_chat(conversation: str, chat: str) -> None:
    assert chat_of(conversation) == chat


def test_a_turn_is_settled_on_the_day_it_began_whatever_the_clock_says() -> None:
    budget = Budget(person_day=1, month=2)
    assert budget.counters(ANN, HERE.conversation, EVENING) == {
        Counter("person:telegram:1", "2026-11-30"): 1,
        Counter("chat:telegram:1", "2026-11-30"): None,
        Counter("all", "2026-11-30"): None,
        Counter("all", "2026-11"): 2,
    }


def test_pace_is_counted_for_the_person_and_in_a_group_for_the_group() -> None:
    budget = Budget(turns_a_minute=3)
    alone, together = budget.pace(inbound(), EVENING), budget.pace(inbound(place=GROUP), EVENING)
    assert [each.counter.scope for each in alone] == ["minute:person:telegram:1"]
    assert [each.counter.scope for each in together] == ["minute:person:telegram:1", "minute:chat:telegram:-5"]
    assert {(each.amount, each.limit, each.counter.period) for each in together} == {(1, 3, minute_of(EVENING))}
    assert Budget().pace(inbound(), EVENING) == ()


# What is reserved.


def test_nothing_is_reserved_where_nothing_is_limited() -> None:
    assert Budget(turns_a_minute=1).estimate(ChatSettings(turn_cost=7)) == 0


def test_a_chat_is_taken_to_cost_what_its_dearer_turns_cost_lately() -> None:
    budget = Budget(day=10**9)
    assert budget.estimate(ChatSettings()) == FIRST
    assert budget.estimate(ChatSettings(turn_cost=700)) == 700
    assert [lately(0, 700), lately(700, 100), lately(700, 900), lately(700, 0)] == [700, 525, 900, 700]


def test_never_more_than_a_whole_budget_is_reserved() -> None:
    assert Budget(day=10**9, person_day=300).estimate(ChatSettings()) == 300


def test_a_reservation_is_held_in_every_counter_under_its_limit() -> None:
    budget = Budget(day=1_000)
    after, spends = budget.reserve(turn(), HERE.conversation, 250)
    assert after.reserved == 250
    assert {(each.amount, each.limit) for each in spends} == {(250, None), (250, 1_000)}
    assert len(spends) == 4


def test_what_went_beyond_the_reservation_is_counted_whatever_the_limit() -> None:
    after, spends = Budget(day=1_000).reserve(turn(reserved=250, bill=CALL), HERE.conversation)
    assert after.reserved == 400
    assert {(each.amount, each.limit) for each in spends} == {(150, None)}
    assert Budget(day=1_000).reserve(after, HERE.conversation) == (after, ())


def test_what_a_turn_costs_a_little_above_its_reservation_is_counted_when_it_ends() -> None:
    budget, little = Budget(day=1_000), turn(reserved=CALL.cost * 4 // 5, bill=CALL)
    assert budget.reserve(little, HERE.conversation) == (little, ())
    assert {each.amount for each in budget.settle(little, HERE.conversation, cut=False)} == {CALL.cost // 5}
    more, spends = budget.reserve(little, HERE.conversation, 1)
    assert more.reserved == CALL.cost
    assert {each.amount for each in spends} == {CALL.cost // 5}


def test_a_further_call_is_taken_to_cost_as_much_as_those_before() -> None:
    budget = Budget(day=1_000)
    assert budget.missing(turn(reserved=500, bill=CALL)) == 300
    assert budget.missing(turn(reserved=900, bill=CALL)) == 0
    assert budget.missing(turn(reserved=500)) == 0
    assert Budget().missing(turn(bill=CALL)) == 0


def test_the_end_settles_the_difference_and_leaves_the_bill() -> None:
    spends = Budget().settle(turn(reserved=500, bill=CALL), HERE.conversation, cut=False)
    assert {(each.amount, each.limit, each.bill) for each in spends} == {(-100, None, replace(CALL, turns=1))}
    assert len(spends) == 4


def test_a_turn_whose_call_was_cut_pays_what_was_reserved() -> None:
    spends = Budget().settle(turn(reserved=500, bill=CALL), HERE.conversation, cut=True)
    assert {each.amount for each in spends} == {0}


def test_what_we_answer_ourselves_is_no_turn_of_the_model() -> None:
    assert Budget(day=1).settle(turn(), HERE.conversation, cut=False) == ()


def test_a_budget_is_nearly_spent_above_four_fifths() -> None:
    budget = Budget(day=1_000)
    counters = budget.counters(ANN, HERE.conversation, EVENING)
    day = Counter("all", "2026-11-30")
    assert not budget.is_nearly_spent(counters, {day: Spent(800)})
    assert budget.is_nearly_spent(counters, {day: Spent(801)})
    assert not budget.is_nearly_spent(counters, {Counter("all", "2026-11"): Spent(10**9)})


# What somebody over a limit hears.


def at(*moment: int) -> float:
    return datetime(*moment, tzinfo=UTC).timestamp()  # type: ignore[arg-type, misc]  # year to second


@pytest.mark.parametrize(
    ("now", "when"),
    [
        (at(2026, 11, 30, 18, 10), "in 6 hours, at 00:00 UTC"),
        (at(2026, 11, 30, 22, 50), "in 2 hours, at 00:00 UTC"),
        (at(2026, 11, 30, 23, 59, 30), "in 1 minute, at 00:00 UTC"),
        (at(2026, 11, 30, 0, 0), "in 24 hours, at 00:00 UTC"),
    ],
)
def test_a_day_begins_anew_at_midnight(now: float, when: str) -> None:
    spend = Spend(Counter("person:telegram:1", "2026-11-30"), 1, 1)
    assert when in refusal(spend, "en", now)


@pytest.mark.parametrize(
    ("now", "when"),
    [
        (at(2026, 11, 3, 12, 0), "in 28 days, on 2026-12-01 at 00:00 UTC"),
        (at(2026, 12, 31, 12, 0), "in 12 hours, at 00:00 UTC"),
        (at(2026, 12, 1, 12, 0), "in 31 days, on 2027-01-01 at 00:00 UTC"),
        (at(2027, 1, 31, 0, 0), "in 24 hours, at 00:00 UTC"),
        (at(2027, 1, 29, 12, 0), "in 3 days, on 2027-02-01 at 00:00 UTC"),
    ],
)
def test_a_month_begins_anew_on_its_first_day(now: float, when: str) -> None:
    assert when in refusal(Spend(Counter("all", f"{now}"[:7]), 1, 1), "en", now)


def test_a_minute_is_over_in_seconds_and_said_in_the_persons_language() -> None:
    (spend,) = Budget(turns_a_minute=1).pace(inbound(), EVENING)
    assert refusal(spend, "id", EVENING).endswith("coba lagi dalam 30 detik.")
    assert refusal(spend, "en", EVENING + 29).endswith("try again in 2 seconds.")


def test_no_is_said_once_a_minute_to_each_person_in_each_conversation() -> None:
    (first,), (later,), (elsewhere,) = (
        notice(inbound(), EVENING),
        notice(inbound(), EVENING + 30),
        notice(inbound(place=GROUP), EVENING),
    )
    assert (first.amount, first.limit) == (1, 1)
    assert len({first.counter, later.counter, elsewhere.counter}) == 3
