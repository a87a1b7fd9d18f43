"""Files by what is in them: each is read in a process of its own (bot/reading/process.py), voices by a transcriber.

That process gets the file and nothing else: no environment, no connection. Its end is the file's end, never ours.
"""

import asyncio
import logging
from typing import Protocol

from msgspec import DecodeError, ValidationError, msgpack

from bot.apart import ended
from bot.errors import FileRefused, SendLater
from bot.ports import Read
from bot.reading import process as reading
from bot.reading.kinds import Kind, told
from bot.reading.limits import LARGEST, SECONDS

AT_ONCE = 2
"""Files read at the same time: each may take limits.MEMORY."""

EMPTY = "The file is empty."
TOO_LARGE = f"The file is larger than {LARGEST // 1024**2} MB."
NOT_NOW = "The file can not be read at the moment."
NOT_HEARD = "Voice messages can not be heard here: no transcription is set up."
NOT_HEARD_NOW = "The recording can not be heard at the moment; sent again in a few minutes it may be."
NOT_WATCHED = "Videos can not be watched here: only pictures taken from them."
NOTHING_SAID = "No words can be heard in the recording."

log = logging.getLogger(__name__)


class Transcriber(Protocol):
    async def transcribe(self, data: bytes, media_type: str) -> str:
        """What is said in a recording, "" where nothing is. ``media_type`` is what its bytes are. It is given no
        language: an app's is often not its owner's, and forces the transcriber. Raises FileRefused, or SendLater where
        it is worth another try."""


class FileReader:
    """Port ``Reader``. ``transcriber`` None: voices are refused. ``seconds`` is what one file may take."""

    def __init__(self, transcriber: Transcriber | None, seconds: float = SECONDS) -> None:
        self._transcriber = transcriber
        self._seconds = seconds
        self._room = asyncio.Semaphore(AT_ONCE)

    async def read(self, data: bytes) -> Read:
        if not data:
            raise FileRefused(EMPTY)
        if len(data) > LARGEST:
            raise FileRefused(TOO_LARGE)
        kind, true_type = told(data)
        if kind in (Kind.SOUND, Kind.FILM):
            return Read(data=data, media_type=true_type, text=await self._said(data, kind, true_type))
        async with self._room:
            return await _read_apart(data, self._seconds)

    async def _said(self, data: bytes, kind: Kind, media_type: str) -> str:
        if self._transcriber is None:
            raise FileRefused(NOT_HEARD if kind is Kind.SOUND else NOT_WATCHED)
        try:
            text = (await self._transcriber.transcribe(data, media_type)).strip()
        except SendLater as fault:
            log.warning("error=<%s> | a recording was not heard", fault)
            raise FileRefused(NOT_HEARD_NOW) from fault
        if not text:
            raise FileRefused(NOTHING_SAID if kind is Kind.SOUND else NOT_WATCHED)
        return text


async def _read_apart(data: bytes, seconds: float) -> Read:
    """Raises FileRefused."""
    try:
        answer, returncode = await ended(reading.__name__, data, seconds)
    except TimeoutError:
        raise FileRefused(f"Reading the file takes longer than {seconds:.0f} seconds.") from None
    except OSError as fault:  # no memory or no process left
        log.warning("error=<%s> | no process could be started to read a file", type(fault).__name__)
        raise FileRefused(NOT_NOW) from fault
    try:
        outcome = msgpack.decode(answer, type=reading.Outcome)
    except (DecodeError, ValidationError) as fault:
        log.warning("returncode=<%s> | the process that read a file ended without an answer", returncode)
        raise FileRefused(reading.BROKEN) from fault
    if outcome.read is None:
        raise FileRefused(outcome.refused)
    return outcome.read
