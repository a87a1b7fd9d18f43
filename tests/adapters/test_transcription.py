"""The real HTTP client against the stand-in for OpenAI's endpoint, over HTTP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bot.adapters.file_reader import FileReader
from bot.adapters.transcription import LONGEST_WAIT, WAIT, Transcription
from bot.errors import ConfigError, FileRefused, SendLater
from simulator.serving import serve
from simulator.transcription import Hear, Recording, Refused, Transcriptions, demo

KEY = "sk-transcription-0001"
MODEL = "whisper-large-v3"
VOICE = b"OggS\0\2" + bytes(range(256)) * 20 + b"\r\n--\r\n"


@asynccontextmanager
async def service(
    hear: Hear = demo, key: str = KEY, model: str = MODEL
) -> AsyncIterator[tuple[Transcriptions, Transcription]]:
    server = Transcriptions(hear, keys=[KEY], models=[MODEL])
    async with serve(server.app) as url:
        transcription = Transcription(f"{url}/v1/", key, model)
        yield server, transcription
        await transcription.close()


async def refusal(refused: Refused) -> Exception:
    async with service(lambda recording: refused) as (_, transcription):
        with pytest.raises((FileRefused, SendLater)) as caught:
            await transcription.transcribe(VOICE, "audio/ogg")
    return caught.value


async def test_what_is_said_comes_back_and_the_recording_arrives_unchanged() -> None:
    async with service(lambda recording: "Halo, apa kabar?") as (server, transcription):
        assert await transcription.transcribe(VOICE, "audio/ogg") == "Halo, apa kabar?"

    assert server.heard == [Recording("recording.ogg", VOICE, MODEL)]


async def test_its_ending_names_the_format() -> None:
    async with service() as (server, transcription):
        await transcription.transcribe(VOICE, "audio/mpeg")

    assert [heard.name for heard in server.heard] == ["recording.mp3"]


async def test_a_voice_message_is_read_with_it() -> None:
    async with service(lambda recording: "Besok jam tujuh.") as (_, transcription):
        voice = await FileReader(transcription).read(VOICE)

    assert (voice.media_type, voice.text, voice.data) == ("audio/ogg", "Besok jam tujuh.", VOICE)


@pytest.mark.parametrize(
    ("refused", "wait"),
    [
        (Refused(429, "slow down", "rate_limit_exceeded", headers={"retry-after": "12"}), 12),
        (Refused(503, "overloaded", headers={"retry-after": "86400"}), LONGEST_WAIT),
        (Refused(500, "oops", headers={"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}), WAIT),
        (Refused(408, "timeout"), WAIT),
    ],
)
async def test_what_passes_is_worth_another_try_later(refused: Refused, wait: float) -> None:
    fault = await refusal(refused)

    assert isinstance(fault, SendLater)
    assert fault.retry_after == wait


@pytest.mark.parametrize(
    ("refused", "said"),
    [
        (Refused(400, "Invalid file format."), "can not make anything of it"),
        (Refused(413, "too large"), "too long"),
        (Refused(429, "You exceeded your current quota", "insufficient_quota"), "its owner"),
        (Refused(403, "country not supported"), "its owner"),
    ],
)
async def test_what_does_not_pass_is_refused_in_plain_words(refused: Refused, said: str) -> None:
    fault = await refusal(refused)

    assert isinstance(fault, FileRefused)
    assert said in str(fault)
    assert refused.message not in str(fault)


async def test_a_wrong_key_or_model_is_the_owner_s_to_mend_and_no_key_is_told(caplog: pytest.LogCaptureFixture) -> None:
    for key, model in (("sk-wrong-key-000001", MODEL), ("", MODEL), (KEY, "whisper-9")):
        async with service(key=key, model=model) as (server, transcription):
            with pytest.raises(FileRefused, match="its owner has to look into it"):
                await transcription.transcribe(VOICE, "audio/ogg")
        assert server.heard == []
    assert "sk-wrong" not in caplog.text
    assert "code=<invalid_api_key>" in caplog.text


async def test_a_format_that_the_service_does_not_know_is_refused() -> None:
    async with service() as (_, transcription):
        with pytest.raises(FileRefused, match="can not make anything of it"):
            await transcription.transcribe(VOICE, "audio/amr")


@pytest.mark.parametrize("body", ["<!doctype html>", '{"text": null}', "\xff"])
async def test_an_answer_that_is_no_transcription_is_the_owner_s_to_mend(body: str) -> None:
    def page(request: Request) -> Response:
        return PlainTextResponse(body.encode("latin-1"))

    async with serve(Starlette(routes=[Route("/v1/audio/transcriptions", page, methods=["POST"])])) as url:
        transcription = Transcription(f"{url}/v1", KEY, MODEL)
        with pytest.raises(FileRefused, match="its owner has to look into it"):
            await transcription.transcribe(VOICE, "audio/ogg")
        await transcription.close()


async def test_a_service_that_is_not_there_is_worth_another_try() -> None:
    async with serve(Starlette()) as url:
        pass
    transcription = Transcription(f"{url}/v1", KEY, MODEL)

    with pytest.raises(SendLater, match="ConnectError"):
        await transcription.transcribe(VOICE, "audio/ogg")
    await transcription.close()


async def test_a_connection_that_was_dropped_meanwhile_is_made_again() -> None:
    """A server that hangs up on the first, as after an hour of silence, and answers on the second."""
    connections: list[int] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(len(connections))
        if len(connections) > 1:
            await reader.readuntil(VOICE)
            writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{"text":"ya"}')
            await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        transcription = Transcription(f"http://127.0.0.1:{port}/v1", KEY, MODEL)
        assert await transcription.transcribe(VOICE, "audio/ogg") == "ya"
        await transcription.close()
    assert len(connections) == 2


async def test_a_voice_message_that_can_not_be_heard_at_the_moment_is_refused_with_what_to_do() -> None:
    async with service(lambda recording: Refused(503, "overloaded")) as (_, transcription):
        with pytest.raises(FileRefused, match="sent again in a few minutes"):
            await FileReader(transcription).read(VOICE)


async def test_a_service_that_never_answers_is_not_waited_for() -> None:
    never = asyncio.Event()

    async def hear(recording: Recording) -> str:
        await never.wait()
        return ""

    async with serve(Transcriptions(hear).app) as url:
        transcription = Transcription(f"{url}/v1", KEY, MODEL, timeout=httpx2.Timeout(0.2))
        with pytest.raises(SendLater, match="Timeout"):
            await transcription.transcribe(VOICE, "audio/ogg")
        await transcription.close()
        never.set()


async def test_a_server_of_one_s_own_may_want_no_key() -> None:
    async with serve(Transcriptions(lambda recording: "ya").app) as url:
        transcription = Transcription(f"{url}/v1", "", MODEL)
        assert await transcription.transcribe(VOICE, "audio/ogg") == "ya"
        await transcription.close()


@pytest.mark.parametrize(("url", "key"), [("localhost", KEY), ("", KEY), ("http://localhost/v1", "two words")])
def test_an_address_or_key_that_can_not_be_used_is_said_without_telling_the_key(url: str, key: str) -> None:
    with pytest.raises(ConfigError, match=r"KABAR_TRANSCRIPTION_(URL|KEY)") as caught:
        Transcription(url, key, MODEL)
    assert key not in str(caught.value)
