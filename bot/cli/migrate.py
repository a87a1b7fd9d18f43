"""``kabar migrate``: everything that is kept, brought to this version's schema."""

from collections.abc import Iterator

from bot.cli.archive import kept_by, outages_named, there_is_something
from bot.ports import Upgraded
from bot.schema import SCHEMA
from handlers.settings import Settings

MOST_UNREADABLE = 20
"""Printed; whoever sees so many restores a copy."""


async def migrate(settings: Settings, *, check: bool) -> int:
    """Rewrite, or with ``check`` count, what an earlier version stored; returns the exit code, 1 where something is
    left to do. Raises ConfigError."""
    there_is_something(settings, "migrate")
    done = Upgraded()
    async with kept_by(settings) as kept:
        with outages_named("Do it again: what is rewritten already is passed over."):
            async for page in kept.store.upgraded(writes=not check):
                done += page
    print("\n".join(_told(done, check=check)))
    return 1 if done.unreadable or (check and done.old) else 0


def _told(done: Upgraded, *, check: bool) -> Iterator[str]:
    fate = "are to be rewritten" if check else "were rewritten"
    yield f"{done.seen:,} values; {done.old:,} of an earlier schema {fate} as schema {SCHEMA}."
    if done.unreadable:
        yield f"{len(done.unreadable):,} can not be read and are left as they are:"
    yield from done.unreadable[:MOST_UNREADABLE]
