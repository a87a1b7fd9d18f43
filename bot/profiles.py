"""What is known of people and chats: read once, and changed whoever else does so at the same time."""

from collections.abc import Callable

from bot.budget import chat_of
from bot.errors import StoreUnavailable
from bot.messages import Profile
from bot.ports import Store

TRIES = 5


def chat_key(conversation: str) -> str:
    """Of the profile of a whole group or channel, or of whom somebody writes with alone."""
    return f"chat:{chat_of(conversation)}"


class Profiles:
    """Each is read once, for whoever looks at the same ones several times in a row."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read: dict[str, Profile] = {}

    async def of(self, *ids: str) -> list[Profile]:
        """Those that were not read yet in one request."""
        if new := [id for id in ids if id not in self._read]:
            self._read |= await self._store.profiles(new)
        return [self._read[id] for id in ids]


async def change(store: Store, id: str, change: Callable[[Profile], Profile]) -> Profile:
    """The profile after ``change``, stored; ``change`` may be asked several times. Raises what it raises, and
    StoreUnavailable where others change it all the time."""
    for _ in range(TRIES):
        before = await store.profile(id)
        after = change(before)
        if after == before or await store.keep_profile(id, after):
            return after
    raise StoreUnavailable(f"What is known of {id} is changed by somebody else all the time.")
