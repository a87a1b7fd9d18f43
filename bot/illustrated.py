"""A model that is shown the pictures and documents which the record names only by their keys."""

import asyncio

from msgspec.structs import replace

from bot.errors import ModelUnavailable, StoreUnavailable
from bot.media import filled, keys_in
from bot.messages import Reply
from bot.ports import Blobs, Model, OnText, Prompt


class Illustrated:
    """The port ``Model`` around another one. A call that needs no picture costs nothing more."""

    def __init__(self, model: Model, blobs: Blobs) -> None:
        self._model = model
        self._blobs = blobs

    async def reply(self, prompt: Prompt, on_text: OnText) -> Reply:
        keys = keys_in(prompt.messages)
        if not keys:
            return await self._model.reply(prompt, on_text)
        try:
            found = await asyncio.gather(*map(self._blobs.get, keys))
        except StoreUnavailable as error:
            raise ModelUnavailable(f"The pictures could not be read: {error}") from error
        kept = {key: data for key, data in zip(keys, found, strict=True) if data is not None}
        return await self._model.reply(replace(prompt, messages=filled(prompt.messages, kept)), on_text)
