"""A stand-in for OpenAI's /v1/audio/transcriptions, over HTTP: the real wire format, the real refusals.

Mount ``Transcriptions(hear).app`` under any prefix. It has no ears: ``hear`` says what is said in a recording.
"""

import inspect
import re
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from simulator.wire import Unreadable, read_params

LARGEST = 25 * 1024 * 1024
ENDINGS = ("flac", "mp3", "mp4", "mpeg", "mpga", "m4a", "ogg", "wav", "webm")


@dataclass(frozen=True)
class Recording:
    """One request that broke no rule. ``language`` and ``prompt`` are "" where it gave none."""

    name: str
    data: bytes
    model: str
    language: str = ""
    prompt: str = ""
    form: str = "json"


@dataclass(frozen=True)
class Refused:
    """An HTTP error in the shape of OpenAI's. ``message`` must not be empty."""

    status: int
    message: str
    code: str | None = None
    kind: str = "invalid_request_error"
    param: str | None = None
    headers: dict[str, str] = field(default_factory=dict)


Hear = Callable[[Recording], str | Refused | Awaitable[str | Refused]]


def demo(recording: Recording) -> str:
    """What the offline simulator hears."""
    return f"This is a voice message of {len(recording.data):,} bytes; the demo can not hear what is said in it."


class Transcriptions:
    """``keys``: those accepted, any where empty. ``models``: those served, any where empty."""

    def __init__(self, hear: Hear = demo, *, keys: Collection[str] = (), models: Collection[str] = ()) -> None:
        self._hear = hear
        self._keys = keys
        self._models = models
        self.heard: list[Recording] = []
        """Every recording that broke no rule, in order."""
        self.app = Starlette(routes=[Route("/v1/audio/transcriptions", self._transcribe, methods=["POST"])])

    async def _transcribe(self, http: Request) -> Response:
        recording = await self._accepted(http)
        if isinstance(recording, Refused):
            return _refusal(recording)
        self.heard.append(recording)
        heard = self._hear(recording)
        if inspect.isawaitable(heard):
            heard = await heard
        if isinstance(heard, Refused):
            return _refusal(heard)
        if recording.form == "text":
            return PlainTextResponse(f"{heard}\n")
        return JSONResponse({"text": heard, "usage": {"type": "duration", "seconds": 1}})

    async def _accepted(self, http: Request) -> Recording | Refused:
        key = http.headers.get("authorization", "").removeprefix("Bearer ")
        if self._keys and key not in self._keys:
            return Refused(401, f"Incorrect API key provided: {key}.", "invalid_api_key")
        if not http.headers.get("content-type", "").startswith("multipart/form-data"):
            return Refused(400, "Could not parse multipart form")
        try:
            values, files = await read_params(http)
        except Unreadable as fault:
            return Refused(400, f"Could not parse multipart form: {fault}")
        model = values.get("model", "")
        if not model:
            return Refused(400, "you must provide a model parameter", param="model")
        if self._models and model not in self._models:
            return Refused(
                404, f"The model '{model}' does not exist or you do not have access to it.", "model_not_found"
            )
        if (file := files.get("file")) is None:
            return Refused(400, "Missing required parameter: 'file'.", "missing_required_parameter", param="file")
        if len(file.data) > LARGEST:
            return Refused(413, f"Maximum content size limit ({LARGEST}) exceeded ({len(file.data)} bytes read)")
        if file.name.rpartition(".")[2].lower() not in ENDINGS:
            known = f"Supported formats: {list(ENDINGS)}"
            return Refused(400, f"Unrecognized file format. {known}", param="file")
        if not file.data:
            return Refused(400, "Audio file is too short. Minimum audio length is 0.1 seconds.", "audio_too_short")
        language = values.get("language", "")
        if language and not re.fullmatch("[a-z]{2}", language):
            return Refused(400, f"Language '{language}' is not in ISO-639-1 format.", "invalid_language_format")
        form = values.get("response_format", "json")
        if form not in ("json", "text"):
            return Refused(
                400, f"response_format '{form}' is not compatible with model '{model}'.", param="response_format"
            )
        return Recording(file.name, file.data, model, language, values.get("prompt", ""), form)


def _refusal(refused: Refused) -> JSONResponse:
    error = {"message": refused.message, "type": refused.kind, "param": refused.param, "code": refused.code}
    return JSONResponse({"error": error}, refused.status, refused.headers)
