"""How Telegram is, as a channel: what can be said of it without its SDK."""

from bot.channels.plain import PlainChannel
from bot.messages import Place
from bot.ports import Pace


class TelegramManners(PlainChannel):
    """Telegram has no idempotency key and no way to look for a sent message, shows every message to all in the chat (so
    ``quiet`` is not heeded), and tells bots nothing of what was said before. Every message brings the name and language
    of who wrote it and the names of whom it mentions, no time zone; an empty chat has its own Start button."""

    stop_button = True
    feedback = False  # buttons under every answer would be in the way of the next
    typing_interval = 4.0  # the sign lasts five seconds
    pace = Pace(interval=1.2, burst=4)  # one message a second in a chat, and short bursts
    group_pace = Pace(interval=1.2, burst=4, minute=20, growth=2.98)  # 20 a minute, whatever the bot sends and edits

    def __init__(self, *, drafts: bool = False) -> None:
        """``drafts``: show unfinished text in private chats as Telegram's own drafts, with its own Stop button."""
        self._drafts = drafts

    def drafts(self, place: Place) -> bool:
        return self._drafts and not place.group
