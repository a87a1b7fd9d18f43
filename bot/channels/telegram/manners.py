"""How Telegram is, as a channel: what can be said of it without its SDK."""

from collections.abc import Sequence

from bot.messages import Button, Person, Place, Quote
from bot.ports import Pace


class TelegramManners:
    """Telegram has no idempotency key and no way to look for a sent message, shows every message to all in the chat (so
    ``quiet`` is not heeded), and tells bots nothing of what was said before."""

    stop_button = True
    shows_tasks = False
    feedback = False  # buttons under every answer would be in the way of the next
    typing_interval = 4.0  # the sign lasts five seconds
    pace = Pace(interval=1.2, burst=4)  # one message a second in a chat, and short bursts
    group_pace = Pace(interval=1.2, burst=4, minute=20, growth=2.98)  # 20 a minute, whatever the bot sends and edits

    def __init__(self, *, drafts: bool = False) -> None:
        """``drafts``: show unfinished text in private chats as Telegram's own drafts, with its own Stop button."""
        self._drafts = drafts

    def drafts(self, place: Place) -> bool:
        return self._drafts and not place.group

    async def introduce(self, place: Place, person: Person) -> Person:
        """Every message tells name and language already; nothing tells the time zone."""
        return person

    async def earlier(self, place: Place, before: str) -> tuple[Quote, ...]:
        return ()

    async def named(self, place: Place, words: str) -> str:
        """Whom a message mentions stands there by name."""
        return words

    async def find(self, place: Place, mark: str) -> str | None:
        return None

    async def greet(self, place: Place, person: Person, choices: Sequence[Button] = ()) -> None:
        """Who opens an empty chat in Telegram sees its own Start button."""
