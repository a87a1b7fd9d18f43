"""What the measurement of growth promises: a ladder that is right, and a town in which what is too much waits."""

import random
from itertools import pairwise
from math import inf
from typing import Any

import pytest
import simpy

from benchmarks.costs import SHARES
from benchmarks.scale import Counters, Limit, Rate, Town, demand, figures, ladder, markdown, read_limits
from tests.test_costs import COUNTS

USED = demand(COUNTS)
_, LIMITS = read_limits()
NOWHERE = dict.fromkeys(LIMITS, inf) | {
    "worker_concurrency": 10_000.0,
    "event_source": 20_000.0,
    "account_concurrency": 10_000.0,
    "everybody": 64.0,
}


def run(a_second: float, **ends: float) -> dict[str, Any]:
    return Town({**NOWHERE, **ends}, USED, a_second).run()


def limit(value: float, uses: str, **more: Any) -> Limit:
    return Limit("", value, uses, "", "assumed", "", **more)


def test_every_limit_names_something_that_a_message_uses_and_where_it_is_from() -> None:
    for each in LIMITS.values():
        assert each.uses in USED
        assert each.moved_by
        assert each.source == "infra/template.yaml" or each.source.startswith("https://")
        assert each.value <= each.moved <= each.bought or each.bought == inf


def test_what_ends_first_comes_first_and_what_never_ends_last() -> None:
    limits = {"never": limit(inf, "a"), "late": limit(60, "a", moved_to=inf), "soon": limit(1, "b", moved_to=10)}
    rows = ladder(limits, {"a": 2.0, "b": 0.5})
    assert [(row["limit"], row["messages_an_hour"], row["then"]) for row in rows] == [
        ("soon", 2 * 3600, 20 * 3600),
        ("late", 30 * 3600, None),
        ("never", None, None),
    ]


def test_where_nothing_ends_everybody_is_answered_in_the_time_that_it_takes() -> None:
    seen = run(5)
    assert seen["saturated"] == []
    assert seen["waiting"] < 5 * 60
    assert seen["first_words"]["p50"] < 2
    assert USED["worker_seconds"] - 3 < seen["answer"]["p50"] < USED["worker_seconds"] + 3


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        ("workers", {"worker_concurrency": 10}),
        ("model_output", {"model_output": 300}),
        ("telegram_messages", {"telegram_messages": 4}),
        ("table_writes", {"table_writes": 50}),
        ("webhook", {"webhook_concurrency": 2}),
    ],
)
def test_what_is_too_small_is_named_and_people_wait_for_it(name: str, ends: dict[str, float]) -> None:
    seen = run(5, **ends)
    assert name in seen["saturated"]
    assert seen["growth"] > 0
    assert seen["waiting"] > run(5)["waiting"]


def test_one_counter_for_everybody_is_met_by_everybody_and_many_are_not() -> None:
    one, many = run(20, everybody=1), run(20)
    assert one["busy"]["everybody"] > 0.7
    assert one["wakes_again"] > many["wakes_again"] == 0
    assert one["answer"]["p99"] > many["answer"]["p99"]


def test_the_same_seed_tells_the_same() -> None:
    assert run(5) == run(5)


def test_a_rate_gives_a_second_s_worth_at_once_and_the_rest_as_time_goes_by() -> None:
    env = simpy.Environment()
    rate, given = Rate(env, 2), []

    def ask() -> Any:
        for _ in range(6):
            yield rate.take(1)
            given.append(env.now)

    env.process(ask())
    env.run(10)
    assert given == [0, 0, 0.5, 1, 1.5, 2]


def test_transactions_on_one_counter_come_one_after_another() -> None:
    env = simpy.Environment()
    counters, ended = Counters(env, 1, random.Random(1)), []

    def commit() -> Any:
        assert (yield from counters.commit(0))
        ended.append(env.now)

    for _ in range(5):
        env.process(commit())
    env.run(60)
    gaps = [later - earlier for earlier, later in pairwise(ended)]
    assert len(ended) == 5
    assert all(gap >= 0.02 for gap in gaps)


def test_the_page_says_of_each_limit_what_moves_it() -> None:
    page = markdown(figures(COUNTS, rates=[1_000]))
    assert set(SHARES) == set(COUNTS)
    for each in LIMITS.values():
        assert each.what in page
        assert each.moved_by in page
