"""A stand-in for the Messages API, over HTTP: the real wire format, the real refusals, any brain behind it.

Mount ``ModelServer(brain).app`` under any prefix. Brains: the offline demo (``demo_app``) and a script for tests
(``script.py``). What it does not imitate: rate limits, billing, batches, and searching: a script says what code that
runs on the server prints and leaves behind.
"""

import asyncio
import inspect
import itertools
from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace

from msgspec import DecodeError, ValidationError, json
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from simulator.model_cache import SMALLEST_PREFIX, PromptCache, count
from simulator.model_demo import DemoBrain
from simulator.model_diagnosis import Diagnoses
from simulator.model_lacks import lacking
from simulator.model_reply import Answer, Refusal, Step, error_body, events, message
from simulator.model_rules import Json, all_blocks, faults
from simulator.model_stream import EventStream
from simulator.model_thinking import forged, signed
from simulator.model_workspace import Workspace

Brain = Callable[[Json], Step | Awaitable[Step]]
"""Given a request that passed every check. Called for many requests at once."""

DEMO_MODEL = "kabar-demo"
DEMO_FEATURES = "tools,tool_choice,caching,images"
"""What it takes, as KABAR_MODEL_FEATURES says it: no tools of a provider's, so that the bot searches the web itself."""
CONTEXT_WINDOW = 1_000_000
MAX_OUTPUT = 128_000
COMPACTION = "compact-2026-09-04"
MAX_BODY = 32 * 1024 * 1024


def demo_app(*, word_delay: float = 0.03) -> Starlette:
    """The offline demo model: answers any model name, needs any key. ``word_delay`` is in seconds."""
    return ModelServer(DemoBrain(word_delay)).app


class ModelServer:
    """``keys``: those accepted, any where empty. ``models``: those served, any where empty. ``context_window``: tokens.

    ``smallest_prefix`` is the number of tokens below which nothing is cached; 0 shows cache hits in small tests.
    ``lacks`` makes it another maker's server: it refuses these things (``model_lacks.CHECKS``), its errors have the
    shape of llama.cpp's, and its answers no request id.
    """

    def __init__(
        self,
        brain: Brain,
        *,
        keys: Collection[str] = (),
        models: Collection[str] = (),
        context_window: int = CONTEXT_WINDOW,
        smallest_prefix: int = SMALLEST_PREFIX,
        lacks: Collection[str] = (),
    ) -> None:
        self._brain = brain
        self._keys = keys
        self._models = models
        self._context_window = context_window
        self._lacks = lacks
        self._cache = PromptCache(smallest_prefix)
        self._diagnoses = Diagnoses()
        self._numbers = itertools.count(1)
        self.refused: list[str] = []
        """The first fault of each request that broke a rule."""
        self.hangups = 0
        """Answers the client did not wait for."""
        self.hung_up = asyncio.Event()
        self.workspace = Workspace()
        self.app = Starlette(
            routes=[
                Route("/v1/messages", self._messages, methods=["POST"]),
                Route("/v1/messages/count_tokens", self._count_tokens, methods=["POST"]),
                Route("/v1/models", self._list_models),
                Route("/v1/models/{model}", self._show_model),
                Route("/v1/files", self._upload, methods=["POST"]),
                Route("/v1/files/{id}", self._file, methods=["GET", "DELETE"]),
                Route("/v1/files/{id}/content", self._file_content),
            ]
        )

    # The paths

    async def _messages(self, http: Request) -> Response:
        number = next(self._numbers)
        request = await self._accepted(http)
        if isinstance(request, Refusal):
            return self._refusal(request, number)
        if refusal := self.workspace.refusal_of(request):
            return self._refusal(refusal, number)
        step = self._brain(request)
        if inspect.isawaitable(step):
            step = await step
        if isinstance(step, Refusal):
            return self._refusal(step, number)
        answer = _completed(self.workspace.completed(step, request, number), request, number)
        usage = self._cache.usage(request)
        name, model = f"msg_{number:024}", request["model"]
        diagnosis = self._diagnoses.of(name, request)
        if request.get("stream"):
            return EventStream(
                answer, events(answer, name, model, usage, diagnosis), self._headers(number), self._note_hangup
            )
        return JSONResponse(message(answer, name, model, usage, diagnosis), headers=self._headers(number))

    async def _count_tokens(self, http: Request) -> Response:
        number = next(self._numbers)
        request = await self._accepted(http, {"max_tokens": 1})
        if isinstance(request, Refusal):
            return self._refusal(request, number)
        return JSONResponse({"input_tokens": count(request)}, headers=self._headers(number))

    async def _list_models(self, http: Request) -> Response:
        number = next(self._numbers)
        if refusal := self._unauthorized(http):
            return self._refusal(refusal, number)
        models = [self._model(model) for model in self._models or [DEMO_MODEL]]
        page = {"data": models, "has_more": False, "first_id": models[0]["id"], "last_id": models[-1]["id"]}
        return JSONResponse(page, headers=self._headers(number))

    async def _show_model(self, http: Request) -> Response:
        number = next(self._numbers)
        model = http.path_params["model"]
        if refusal := self._unauthorized(http) or self._unknown(model):
            return self._refusal(refusal, number)
        return JSONResponse(self._model(model), headers=self._headers(number))

    async def _upload(self, http: Request) -> Response:
        return self._of_files(self._unauthorized(http) or await self.workspace.upload(http))

    async def _file(self, http: Request) -> Response:
        act = self.workspace.delete if http.method == "DELETE" else self.workspace.show
        return self._of_files(self._unauthorized(http) or act(http.path_params["id"]))

    async def _file_content(self, http: Request) -> Response:
        return self._of_files(self._unauthorized(http) or self.workspace.download(http.path_params["id"]))

    def _of_files(self, answer: Response | Refusal) -> Response:
        return self._refusal(answer, next(self._numbers)) if isinstance(answer, Refusal) else answer

    def _note_hangup(self) -> None:
        self.hangups += 1
        self.hung_up.set()

    # What is refused, in the order the API looks

    async def _accepted(self, http: Request, defaults: Json | None = None) -> Json | Refusal:
        if refusal := self._unauthorized(http):
            return refusal
        if "anthropic-version" not in http.headers:
            return self._invalid("anthropic-version: header is required")
        body = await http.body()
        if len(body) > MAX_BODY:
            return Refusal(413, "request_too_large", "Request exceeds the maximum size")
        try:
            request = json.decode(body, type=Json)
        except (DecodeError, ValidationError) as fault:
            return self._invalid(f"The request body is not valid JSON: {fault}")
        request = (defaults or {}) | request
        if broken := self._fault(request):
            return self._invalid(broken)
        if _compacts(request) and COMPACTION not in http.headers.get("anthropic-beta", ""):
            return self._invalid(f"compaction: needs the beta header {COMPACTION}")
        return self._unknown(request["model"]) or request

    def _invalid(self, fault: str) -> Refusal:
        self.refused.append(fault)
        return Refusal(400, "invalid_request_error", fault)

    def _unauthorized(self, http: Request) -> Refusal | None:
        bearer = http.headers.get("authorization", "").removeprefix("Bearer ")
        key = (http.headers.get("x-api-key") or bearer).strip()
        if not key:
            return Refusal(401, "authentication_error", "x-api-key header is required")
        if self._keys and key not in self._keys:
            return Refusal(401, "authentication_error", "invalid x-api-key")
        return None

    def _unknown(self, model: str) -> Refusal | None:
        known = not self._models or model in self._models
        return None if known else Refusal(404, "not_found_error", f"model: {model}")

    def _fault(self, request: Json) -> str:
        """The first fault, or "". Only a request in good form is measured and its signatures checked."""
        if found := faults(request):
            return found[0]
        if (size := count(request)) > self._context_window:
            return f"prompt is too long: {size} tokens > {self._context_window} maximum"
        return next(forged(request), "") or next(lacking(request, self._lacks), "")

    def _refusal(self, refusal: Refusal, number: int) -> Response:
        if self._lacks:
            body = {"error": {"code": refusal.status, "message": refusal.message, "type": refusal.kind}}
        else:
            body = error_body(refusal.kind, refusal.message, _id(number), refusal.code)
        return JSONResponse(body, refusal.status, headers=self._headers(number) | refusal.headers)

    def _headers(self, number: int) -> dict[str, str]:
        return {} if self._lacks else {"request-id": _id(number)}

    def _model(self, model: str) -> Json:
        return {
            "type": "model",
            "id": model,
            "display_name": model,
            "created_at": "2026-11-01T00:00:00Z",
            "max_input_tokens": self._context_window,
            "max_tokens": MAX_OUTPUT,
        }


def _compacts(request: Json) -> bool:
    """Whether it asks for a compaction, or begins with one."""
    return "compaction" in request or any(block.get("type") == "compaction" for block in all_blocks(request))


def _completed(answer: Answer, request: Json, number: int) -> Answer:
    """The answer with the ids and signatures only a server can give."""
    content = [
        {"type": block["type"], "id": f"toolu_{number:04}_{index}", **block} if block["type"] == "tool_use" else block
        for index, block in enumerate(answer.content)
    ]
    return replace(answer, content=signed(request, content))


def _id(number: int) -> str:
    return f"req_{number:024}"
