"""The stand-in's files and containers: what the real ones refuse is refused."""

from typing import Any

import anthropic
import httpx2
import pytest

from simulator.model_rules import Json, faults
from simulator.script import ran, reply, scripted, text
from tests.simulator.test_model import HELLO, MODEL, sdk

CODE: Any = {"type": "code_execution_20260521", "name": "code_execution"}


def asked(*content: Json) -> list[Any]:
    return [{"role": "user", "content": [text("hi"), *content]}]


async def test_the_real_sdk_reads_what_code_did_and_where_it_ran() -> None:
    script = reply(*ran("python plot.py", "saved", made={"plot.png": b"\x89PNG"}), text("Done."))
    async with scripted(script, script) as model, sdk(model.url) as claude:
        whole = await claude.messages.create(model=MODEL, max_tokens=100, messages=asked(), tools=[CODE])
        call, result, _ = whole.content
        assert call.type == "server_tool_use" and call.name == "bash_code_execution"
        assert result.type == "bash_code_execution_tool_result" and result.tool_use_id == call.id
        assert result.content.type == "bash_code_execution_result" and result.content.stdout == "saved"
        (left,) = result.content.content
        about = await claude.files.retrieve_metadata(left.file_id)
        assert (about.filename, about.mime_type, about.downloadable) == ("plot.png", "image/png", True)
        assert whole.container is not None
        async with claude.messages.stream(
            model=MODEL, max_tokens=100, messages=asked(), tools=[CODE], container=whole.container.id
        ) as stream:
            streamed = await stream.get_final_message()
        assert [block.type for block in streamed.content] == [block.type for block in whole.content]
        assert streamed.container is not None and streamed.container.id == whole.container.id


async def test_a_reply_without_code_names_no_container() -> None:
    async with scripted(text("Hi.")) as model, sdk(model.url) as claude:
        answer = await claude.messages.create(model=MODEL, max_tokens=10, messages=asked(), tools=[CODE])
        assert answer.container is None


async def test_a_container_or_file_that_is_not_there_is_refused() -> None:
    async with scripted(reply(*ran("true"), text("Done."))) as model, sdk(model.url) as claude:
        asks: dict[str, Any] = {"model": MODEL, "max_tokens": 100, "tools": [CODE]}
        with pytest.raises(anthropic.NotFoundError, match="Container not found"):
            await claude.messages.create(**asks, messages=asked(), container="container_made_up")
        with pytest.raises(anthropic.NotFoundError, match="File not found"):
            await claude.messages.create(**asks, messages=asked({"type": "container_upload", "file_id": "file_none"}))
        answer = await claude.messages.create(**asks, messages=asked())
        assert answer.container is not None
        model.workspace.expire_containers()
        with pytest.raises(anthropic.InternalServerError):
            await claude.messages.create(**asks, messages=asked(), container=answer.container.id)
        assert model.workspace.refused == 2


@pytest.mark.parametrize("seconds", [3_599, 7_776_001])
async def test_an_upload_expires_between_an_hour_and_ninety_days(seconds: int) -> None:
    async with scripted() as model, sdk(model.url) as claude:
        with pytest.raises(anthropic.BadRequestError, match="expires_in_seconds"):
            await claude.files.upload(file=("a.txt", b"a"), expires_in_seconds=seconds)


async def test_files_want_a_key_and_a_file() -> None:
    async with scripted() as model, httpx2.AsyncClient(base_url=model.url) as plain:
        assert (await plain.get("/v1/files/file_1")).status_code == 401
        assert (await plain.post("/v1/files", headers={"x-api-key": "k"}, data={"a": "b"})).status_code == 400


def test_what_belongs_to_code_needs_the_tool_for_it() -> None:
    request: Json = {"model": "m", "max_tokens": 1, "messages": HELLO}
    upload = asked({"type": "container_upload", "file_id": "file_1"})
    assert faults(request | {"container": "c"}) != []
    assert faults(request | {"messages": upload}) != []
    assert faults(request | {"container": "c", "messages": upload, "tools": [CODE]}) == []
    assert faults(request | {"messages": asked({"type": "container_upload"}), "tools": [CODE]}) != []
    assert faults(request | {"tools": [CODE | {"name": "run"}]}) != []
