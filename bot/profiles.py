"""Changing what is known of a person or a chat, whoever else does so at the same time."""

from collections.abc import Callable

from bot.errors import StoreUnavailable
from bot.messages import Profile
from bot.ports import Store

TRIES = 5


async def change(store: Store, id: str, change: Callable[[Profile], Profile]) -> Profile:
    """The profile after ``change``, stored; ``change`` may be asked several times. Raises what it raises, and
    StoreUnavailable where others change it all the time."""
    for _ in range(TRIES):
        before = await store.profile(id)
        after = change(before)
        if after == before or await store.keep_profile(id, after):
            return after
    raise StoreUnavailable(f"What is known of {id} is changed by somebody else all the time.")
