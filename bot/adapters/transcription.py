"""What is said in a recording, by any server that speaks OpenAI's /audio/transcriptions.

OpenAI and Groq do, and whisper.cpp, speaches and vLLM on a machine of one's own. The form (multipart in, JSON out) is
that of OpenAI's API reference, November 2026.
"""

import asyncio
import logging
import math
import re

import httpx2
from msgspec import DecodeError, Struct, ValidationError, json

from bot.errors import ConfigError, FileRefused, SendLater

log = logging.getLogger(__name__)

TIMEOUT = httpx2.Timeout(60, connect=5)
"""Seconds. A minute of speech takes some two seconds to be heard; a model on somebody's own machine takes longer."""
WAIT = 5.0
"""Seconds until the next try, where the server names none."""
LONGEST_WAIT = 60.0
PASSING = frozenset({408, 409, 425, 429})

DROPPED = (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError)
"""How a connection ends that the server gave up while it was not used: the next one is new."""

ENDINGS = {
    "audio/ogg": "ogg",
    "audio/flac": "flac",
    "audio/mpeg": "mp3",
    "audio/aac": "aac",
    "audio/amr": "amr",
    "audio/x-caf": "caf",
    "audio/wav": "wav",
    "audio/aiff": "aiff",
    "audio/mp4": "m4a",
    "video/mp4": "mp4",
    "video/webm": "webm",
}
"""The servers tell a format by the ending of the file's name: Telegram's own, .oga, is refused."""

NOT_HEARD = "The recording can not be heard: the transcription service can not make anything of it."
TOO_LONG = "The recording is too long for the transcription service."
NOT_SET_UP = "The recording can not be heard: the transcription service refuses the bot, its owner has to look into it."


class _Heard(Struct, frozen=True):
    text: str


class _Detail(Struct, frozen=True):
    code: str | int | None = None


class _Failure(Struct, frozen=True):
    error: _Detail = _Detail()


class Transcription:
    """A file reader's transcriber. ``base_url`` is the part before /audio/transcriptions (such as …/v1); ``key`` "" for
    a server that wants none. Use it in one event loop. Raises ConfigError where key or address can not be used."""

    def __init__(self, base_url: str, key: str, model: str, timeout: httpx2.Timeout = TIMEOUT) -> None:
        if not re.fullmatch(r"https?://[!-~]+", base_url):
            raise ConfigError("KABAR_TRANSCRIPTION_URL must be an address such as http://localhost:8000/v1.")
        if not re.fullmatch(r"[!-~]*", key):
            raise ConfigError("KABAR_TRANSCRIPTION_KEY holds a space, a line break or another character no key has.")
        headers = {"authorization": f"Bearer {key}"} if key else {}
        self._client = httpx2.AsyncClient(headers=headers, timeout=timeout)
        self._url = f"{base_url.rstrip('/')}/audio/transcriptions"
        self._model = model

    async def transcribe(self, data: bytes, media_type: str) -> str:
        """What is said, "" where nothing is. Raises FileRefused, or SendLater where it is worth another try: hearing
        the same recording twice does no harm."""
        fields = {"model": self._model, "response_format": "json"}
        file = (f"recording.{ENDINGS.get(media_type, 'bin')}", data, media_type)
        try:
            async with asyncio.timeout(self._client.timeout.read):
                response = await self._post(fields, file)
        except (httpx2.HTTPError, TimeoutError) as fault:
            raise SendLater(f"no answer from the transcription service: {type(fault).__name__}", WAIT) from fault
        if response.status_code != 200:
            raise _translated(response)
        try:
            return json.decode(response.content, type=_Heard).text
        except (DecodeError, ValidationError, UnicodeDecodeError) as fault:
            log.warning("error=<%s> | the transcription service's answer can not be read", type(fault).__name__)
            raise FileRefused(NOT_SET_UP) from fault

    async def _post(self, fields: dict[str, str], file: tuple[str, bytes, str]) -> httpx2.Response:
        try:
            return await self._client.post(self._url, data=fields, files={"file": file})
        except DROPPED:
            return await self._client.post(self._url, data=fields, files={"file": file})

    async def close(self) -> None:
        await self._client.aclose()


def _translated(response: httpx2.Response) -> FileRefused | SendLater:
    """The server's own words are for whoever set it up, and may quote the key: only its code reaches the log."""
    status, code = response.status_code, _code(response)
    log.warning("status=<%s> code=<%s> | the transcription service refused", status, code)
    if status == 413:
        return FileRefused(TOO_LONG)
    if status in (400, 415, 422):
        return FileRefused(NOT_HEARD)
    # An account without money is answered as one that asks too fast.
    if (status in PASSING and code != "insufficient_quota") or status >= 500:
        return SendLater(f"the transcription service answered {status}", _seconds(response.headers.get("retry-after")))
    return FileRefused(NOT_SET_UP)


def _code(response: httpx2.Response) -> str:
    try:
        code = json.decode(response.content, type=_Failure).error.code
    except (DecodeError, ValidationError, UnicodeDecodeError):
        return ""
    return re.sub(r"[^\w.-]", "", str(code))[:40]


def _seconds(header: str | None) -> float:
    try:
        wait = float(header or "")
    except ValueError:
        return WAIT
    return min(wait, LONGEST_WAIT) if math.isfinite(wait) and wait >= 0 else WAIT
