"""What the bot's turns did, read from the file in which its process keeps them: only read, while both run."""

from contextlib import closing
from pathlib import Path

from bot.adapters.sqlite_store import SQLiteStore
from bot.clock import SystemClock
from bot.errors import ConfigError, StoreUnavailable
from bot.inspecting import TurnView, turns
from bot.nested import records_in

MOST_TURNS = 20
"""That are shown, the newest."""
MOST_CHATS = 20
"""That are looked into, those that were written to last."""
MOST_ENTRIES = 100
"""Of one conversation, the newest: twice as many as a turn makes with the usual limits."""


class Inspector:
    def __init__(self, path: Path) -> None:
        self._path = path

    async def turns(self) -> list[TurnView]:
        """The newest turns of all conversations, the newest first; none while there is no such file, or none that can
        be read."""
        try:
            with closing(SQLiteStore(self._path, SystemClock(), read_only=True)) as store:
                return await _newest(store)
        except (ConfigError, StoreUnavailable):
            return []


async def _newest(store: SQLiteStore) -> list[TurnView]:
    found = [turn for chat in await store.conversations(MOST_CHATS) for turn in await _turns_of(store, chat)]
    return sorted(found, key=lambda turn: turn.at)[: -MOST_TURNS - 1 : -1]


async def _turns_of(store: SQLiteStore, conversation: str) -> list[TurnView]:
    head = await store.head(conversation)
    if head is None:
        return []
    since = max(head.last - MOST_ENTRIES, 0) + 1
    record = await store.record(conversation, min(since, head.turn.first) if head.turn else since)
    return turns(conversation, record, await records_in(store, conversation, record), head.turn)
