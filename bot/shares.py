"""One limit that several counters keep together, so that no single counter is met by everybody at once. Pure.

    limit 20    share  5     5     5     5
                spent  4     1     6     5     the third was settled for more than it had reserved

Each counter takes what fits into its own share, and asks no other. What does not fit is taken from where most is left,
as long as all of them together stay within the limit: 3 more fit into the second, 5 into none, as 16 of 20 are spent.
"""

from collections.abc import Sequence

MOST_PARTS = 8
"""Counters that take a part of one amount: each is an item more in its transaction."""


def share(limit: int, shards: int, shard: int) -> int:
    """Of one of so many; all of them are the whole limit."""
    return limit * (shard + 1) // shards - limit * shard // shards


def spread(amount: int, limit: int, spent: Sequence[int]) -> list[tuple[int, int]]:
    """Which counters take how much of an amount, by what each has spent; [] where it does not fit below the limit,
    or only in more parts than a write has room for."""
    if amount > limit - sum(spent):
        return []
    left = [share(limit, len(spent), shard) - each for shard, each in enumerate(spent)]
    taken = []
    for shard in sorted(range(len(spent)), key=lambda shard: -left[shard])[:MOST_PARTS]:
        if part := min(max(left[shard], 0), amount):
            taken.append((shard, part))
            amount -= part
    return [] if amount else taken
