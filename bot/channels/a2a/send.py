"""The way out to other agents: they read the record, so nothing is sent. What a turn shows is a task's state."""

from collections.abc import Sequence

from bot.channels.plain import PlainChannel
from bot.errors import FileRefused
from bot.messages import Attachment, Place
from bot.ports import Blobs, Manner, Pace, Rendered, Upload


class A2AChannel(PlainChannel):
    """Every message counts as shown once it is in the record: its mark is its id."""

    typing_interval = 600.0
    pace = Pace(interval=0.0, burst=1)
    group_pace = pace

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs

    def render(self, markdown: str, *, growing: bool = False) -> list[Rendered]:
        return [Rendered(markdown)]

    async def fetch(self, place: Place, attachment: Attachment) -> bytes:
        """The bytes came with the message, and were kept before it was taken in."""
        data = await self._blobs.get(attachment.id)
        if data is None:
            raise FileRefused("It is no longer there.")
        return data

    async def typing(self, place: Place, active: bool = True) -> None:
        pass

    async def send(self, place: Place, part: Rendered, manner: Manner) -> str:
        return manner.mark

    async def send_files(self, place: Place, files: Sequence[Upload], manner: Manner) -> str:
        return manner.mark

    async def edit(self, place: Place, message_id: str, part: Rendered, *, growing: bool = False) -> None:
        pass

    async def delete(self, place: Place, message_id: str) -> None:
        pass

    async def find(self, place: Place, mark: str) -> str | None:
        return mark

    async def close(self) -> None:
        pass
