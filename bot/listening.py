"""What people say, made whole before it enters the record: who they are, and what the files are that they sent."""

from collections.abc import Sequence

from bot.attachments import Attachments
from bot.messages import ChatSettings, Inbound
from bot.people import People


class Listening:
    def __init__(self, people: People, attachments: Attachments) -> None:
        self.people = people
        self.attachments = attachments

    async def understood(self, said: Sequence[Inbound], settings: ChatSettings) -> tuple[Inbound, ...]:
        """Raises StoreUnavailable; doing it again changes nothing."""
        return await self.whole(await self.people.known(said, settings))

    async def whole(self, said: Sequence[Inbound]) -> tuple[Inbound, ...]:
        """The same for people who are known already."""
        return await self.attachments.read(await self.people.named(said))
