"""The real SDK's Files API against the stand-in, over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from bot.adapters.anthropic_files import EXPIRES, AnthropicFiles
from bot.adapters.anthropic_model import client
from bot.errors import FileRefused, ModelUnavailable
from bot.ports import ProviderFile
from simulator.model_workspace import StoredFile, Workspace
from simulator.script import scripted

GONE = f"file_{99:024}"


@asynccontextmanager
async def kept_there(key: str = "key", **options: object) -> AsyncIterator[tuple[AnthropicFiles, Workspace]]:
    async with scripted(**options) as model, client(key, model.url) as connection:
        yield AnthropicFiles(connection), model.workspace


async def test_a_file_is_sent_with_its_name_and_kind_and_is_gone_after_a_month() -> None:
    async with kept_there() as (files, workspace):
        id = await files.upload("über.csv", b"a;b", "text/csv")
        kept = workspace.files[id]
        assert (kept.name, kept.media_type, kept.data) == ("über.csv", "text/csv", b"a;b")
        assert kept.expires_at is not None
        assert await files.about(id) == ProviderFile("über.csv", "text/csv", 3)
    assert EXPIRES == 30 * 24 * 3600


async def test_what_code_made_is_had_byte_for_byte() -> None:
    data = bytes(range(256)) * 400
    async with kept_there() as (files, workspace):
        id = workspace.keep(StoredFile("a.bin", "application/octet-stream", data, made=True))
        assert await files.download(id) == data


async def test_what_is_not_there_or_was_ours_is_refused_in_words_for_the_model() -> None:
    async with kept_there() as (files, _):
        ours = await files.upload("a.txt", b"a", "text/plain")
        with pytest.raises(FileRefused, match="400 invalid_request_error"):
            await files.download(ours)
        for call in (files.about, files.download):
            with pytest.raises(FileRefused, match="404 not_found_error"):
                await call(GONE)


async def test_a_file_is_deleted_however_often_it_is_asked() -> None:
    async with kept_there() as (files, workspace):
        id = await files.upload("a.txt", b"a", "text/plain")
        await files.delete(id)
        await files.delete(id)
        assert workspace.files == {}


async def test_an_outage_is_told_apart_from_a_refusal() -> None:
    async with kept_there() as (files, workspace):
        workspace.is_down = True
        with pytest.raises(ModelUnavailable, match="529"):
            await files.upload("a.txt", b"a", "text/plain")
        with pytest.raises(ModelUnavailable, match="529"):
            await files.delete(GONE)
    with pytest.raises(ModelUnavailable, match="no connection"):
        await files.about(GONE)


async def test_a_wrong_key_is_not_told_in_what_is_said_of_it() -> None:
    async with kept_there("sk-wrong", keys=["sk-right"]) as (files, _):
        with pytest.raises(ModelUnavailable, match="401 authentication_error") as failed:
            await files.about(GONE)
    assert "sk-wrong" not in str(failed.value)
