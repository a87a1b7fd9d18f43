"""Telegram's channel without its SDK, which takes a tenth of a second to load: longer than all else that a turn does
until the model is asked. It is loaded by the first call to Telegram, in a thread, while the model thinks.
"""

import asyncio
from collections.abc import Callable, Sequence

from bot.channels.telegram.manners import TelegramManners
from bot.messages import Attachment, File, Person, Place
from bot.ports import Channel, Manner, Rendered, Upload


class LateTelegram(TelegramManners):
    """The port ``Channel``. ``load`` imports the SDK and gives what makes the channel itself, inside the event loop."""

    def __init__(self, load: Callable[[], Callable[[], Channel]], *, drafts: bool = False) -> None:
        super().__init__(drafts=drafts)
        self._load = load
        self._made: Channel | None = None

    async def _channel(self) -> Channel:
        if self._made is None:
            make = await asyncio.to_thread(self._load)
            self._made = self._made or make()  # another call may have been as early
        return self._made

    def _at_once(self) -> Channel:
        """For what is pure and can not wait; by then a call to Telegram has loaded it, as a rule."""
        if self._made is None:
            self._made = self._load()()
        return self._made

    def render(self, markdown: str, *, growing: bool = False) -> list[Rendered]:
        return self._at_once().render(markdown, growing=growing)

    def batches(self, files: Sequence[File]) -> list[tuple[File, ...]]:
        return self._at_once().batches(files)

    async def draft(self, place: Place, part: Rendered, mark: str) -> None:
        await (await self._channel()).draft(place, part, mark)

    async def administers(self, place: Place, person: Person) -> bool:
        return await (await self._channel()).administers(place, person)

    async def fetch(self, place: Place, attachment: Attachment) -> bytes:
        return await (await self._channel()).fetch(place, attachment)

    async def typing(self, place: Place, active: bool = True) -> None:
        if active or self._made:
            await (await self._channel()).typing(place, active)

    async def send(self, place: Place, part: Rendered, manner: Manner) -> str:
        return await (await self._channel()).send(place, part, manner)

    async def send_files(self, place: Place, files: Sequence[Upload], manner: Manner) -> str:
        return await (await self._channel()).send_files(place, files, manner)

    async def edit(self, place: Place, message_id: str, part: Rendered, *, growing: bool = False) -> None:
        await (await self._channel()).edit(place, message_id, part, growing=growing)

    async def delete(self, place: Place, message_id: str) -> None:
        await (await self._channel()).delete(place, message_id)

    async def close(self) -> None:
        if self._made is not None:
            await self._made.close()
