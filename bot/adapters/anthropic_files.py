"""The files that the provider keeps for the code it runs: Anthropic's Files API, behind its SDK."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anthropic
import httpx2
from anthropic import AsyncAnthropic

from bot.errors import FileRefused, ModelUnavailable
from bot.ports import ProviderFile

EXPIRES = 30 * 24 * 3600
"""Seconds after which an upload is gone there: as long as a container lives, longer than a turn waits for a person."""
REFUSED = frozenset({400, 403, 404, 410, 413, 422})
DELETED = 404


class AnthropicFiles:
    """Port ``ProviderFiles``. Use it in the event loop of its client."""

    def __init__(self, client: AsyncAnthropic) -> None:
        self._client = client

    async def upload(self, name: str, data: bytes, media_type: str) -> str:
        async with _translated():
            kept = await self._client.files.upload(file=(name, data, media_type), expires_in_seconds=EXPIRES)
        return kept.id

    async def about(self, id: str) -> ProviderFile:
        async with _translated():
            kept = await self._client.files.retrieve_metadata(id)
        return ProviderFile(kept.filename, kept.mime_type, kept.size_bytes)

    async def download(self, id: str) -> bytes:
        async with _translated():
            response = await self._client.files.download(id)
            return await response.read()

    async def delete(self, id: str) -> None:
        try:
            async with _translated():
                await self._client.files.delete(id)
        except FileRefused as refused:
            if not (isinstance(fault := refused.__cause__, anthropic.APIStatusError) and fault.status_code == DELETED):
                raise


@asynccontextmanager
async def _translated() -> AsyncIterator[None]:
    """What the SDK raises, in our words. Its texts may quote headers, so only the provider's own word is told."""
    try:
        yield
    except anthropic.APIStatusError as fault:
        message = f"{fault.status_code} {fault.type or 'error'}"
        if fault.status_code in REFUSED:
            raise FileRefused(f"The model's provider refuses it: {message}.") from fault
        raise ModelUnavailable(f"the provider's files: {message}") from fault
    except (anthropic.AnthropicError, httpx2.HTTPError, httpx2.StreamError) as fault:
        raise ModelUnavailable(f"no connection to the provider's files: {type(fault).__name__}") from fault
