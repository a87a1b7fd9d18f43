"""A limit that several counters keep together is kept to the last cent, and used to the last one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.shares import MOST_PARTS, share, spread


@given(st.integers(0, 10**9), st.integers(1, 64))
def test_the_shares_are_the_whole_limit_and_as_good_as_equal(limit: int, shards: int) -> None:
    shares = [share(limit, shards, shard) for shard in range(shards)]
    assert sum(shares) == limit
    assert max(shares) - min(shares) <= 1


@pytest.mark.parametrize(
    ("amount", "spent", "taken"),
    [
        (3, [4, 1, 5, 5], [(1, 3)]),
        (5, [4, 1, 5, 5], [(1, 4), (0, 1)]),
        (6, [4, 1, 5, 5], []),
        (5, [4, 1, 6, 5], []),
        (20, [0, 0, 0, 0], [(0, 5), (1, 5), (2, 5), (3, 5)]),
        (7, [5, -2, 5, 5], [(1, 7)]),
        (21, [0, 0, 0, 0], []),
    ],
)
def test_what_does_not_fit_at_home_is_taken_from_where_most_is_left(
    amount: int, spent: list[int], taken: list[tuple[int, int]]
) -> None:
    assert spread(amount, 20, spent) == taken


@given(st.integers(1, 200), st.integers(0, 200), st.lists(st.integers(-20, 60), min_size=1, max_size=8))
def test_an_amount_is_taken_whole_where_all_together_have_room_for_it_and_not_at_all_where_not(
    amount: int, limit: int, spent: list[int]
) -> None:
    taken = spread(amount, limit, spent)
    assert sum(part for _, part in taken) == (amount if amount <= limit - sum(spent) else 0)
    assert all(0 < part <= share(limit, len(spent), shard) - spent[shard] for shard, part in taken)


def test_room_that_lies_in_too_many_places_is_no_room() -> None:
    almost_full = [9] * (MOST_PARTS + 1)
    assert len(spread(MOST_PARTS, 10 * len(almost_full), almost_full)) == MOST_PARTS
    assert spread(MOST_PARTS + 1, 10 * len(almost_full), almost_full) == []
