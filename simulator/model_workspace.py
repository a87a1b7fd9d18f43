"""What the Messages API keeps between requests for code that it runs: files by id, and containers.

Nothing is run here: a script says what code prints and leaves behind. What is refused is refused as the real one does,
where a public report shows how (an id that never was: 404; a container that expired: a bare 500).
"""

import itertools
import mimetypes
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from simulator.model_reply import Answer, Refusal
from simulator.model_rules import Json, all_blocks, is_of_code

SHORTEST, LONGEST = 3_600, 7_776_000
"""Seconds until an upload may expire."""
OVERLOADED = Refusal(529, "overloaded_error", "Overloaded")
ROLLING = 3_600
"""Seconds ahead that a reply says its container expires: a rolling value, not the end of it."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file. Only what code made can be downloaded."""

    name: str
    media_type: str
    data: bytes
    made: bool = False
    expires_at: datetime | None = None


class Workspace:
    """``files`` by their ids, also for tests to look at; while it ``is_down`` nobody gets at them. ``refused`` counts
    the requests whose container was not there."""

    def __init__(self) -> None:
        self.files: dict[str, StoredFile] = {}
        self.is_down = False
        self.refused = 0
        self._containers: dict[str, bool] = {}
        self._numbers = itertools.count(1)

    def open_container(self) -> str:
        id = f"container_{next(self._numbers):024}"
        self._containers[id] = True
        return id

    def expire_containers(self) -> None:
        """From now on none that was used so far can be used again."""
        self._containers = dict.fromkeys(self._containers, False)

    def keep(self, file: StoredFile) -> str:
        id = f"file_{next(self._numbers):024}"
        self.files[id] = file
        return id

    # The Files API

    async def upload(self, http: Request) -> Response | Refusal:
        if self.is_down:
            return OVERLOADED
        async with http.form() as form:
            file, said = form.get("file"), form.get("expires_in_seconds")
            if not isinstance(file, UploadFile):
                return Refusal(400, "invalid_request_error", "file: Field required")
            seconds = int(said) if isinstance(said, str) and said.isdecimal() else 0
            if said is not None and not SHORTEST <= seconds <= LONGEST:
                return Refusal(400, "invalid_request_error", f"expires_in_seconds: from {SHORTEST} to {LONGEST}")
            expires = datetime.now(UTC) + timedelta(seconds=seconds) if seconds else None
            name, media_type = file.filename or "unnamed", file.content_type or "application/octet-stream"
            stored = StoredFile(name.rpartition("/")[2], media_type, await file.read(), expires_at=expires)
        return JSONResponse(self._metadata(self.keep(stored)))

    def show(self, id: str) -> Response | Refusal:
        return self._missing(id) or JSONResponse(self._metadata(id))

    def download(self, id: str) -> Response | Refusal:
        if missing := self._missing(id):
            return missing
        file = self.files[id]
        if not file.made:
            message = f"File is not downloadable: {id}"
            return Refusal(400, "invalid_request_error", message, code="file_not_downloadable")
        return Response(file.data, media_type="application/binary")

    def delete(self, id: str) -> Response | Refusal:
        if missing := self._missing(id):
            return missing
        del self.files[id]
        return JSONResponse({"id": id, "type": "file_deleted"})

    def _missing(self, id: str) -> Refusal | None:
        if self.is_down:
            return OVERLOADED
        return None if id in self.files else Refusal(404, "not_found_error", f"File not found: {id}")

    def _metadata(self, id: str) -> Json:
        file = self.files[id]
        return {
            "type": "file",
            "id": id,
            "filename": file.name,
            "mime_type": file.media_type,
            "size_bytes": len(file.data),
            "created_at": datetime.now(UTC).isoformat(),
            "downloadable": file.made,
            "expires_at": file.expires_at.isoformat() if file.expires_at else None,
        }

    # Messages

    def refusal_of(self, request: Json) -> Refusal | None:
        """Of a request that names what is not there."""
        if (container := _container(request)) and not self._containers.get(container):
            self.refused += 1
            if container in self._containers:
                return Refusal(500, "api_error", "Internal server error")
            return Refusal(404, "not_found_error", f"Container not found: {container}")
        uploads = (block["file_id"] for block in all_blocks(request) if block["type"] == "container_upload")
        return next(filter(None, map(self._missing, uploads)), None)

    def completed(self, answer: Answer, request: Json, number: int) -> Answer:
        """The answer with the ids of what its code ran in and left behind. Where a script gives none, a call and the
        result behind it get one together."""
        if not any(map(is_of_code, answer.content)):
            return answer
        content = list(self._blocks(answer.content, number))
        container = _container(request) or self.open_container()
        expires = (datetime.now(UTC) + timedelta(seconds=ROLLING)).isoformat()
        runs = sum(block["type"] == "server_tool_use" and is_of_code(block) for block in content)
        usage = {"server_tool_use": {"web_search_requests": 0, "code_execution_requests": runs}} | answer.usage
        return replace(answer, content=content, container={"id": container, "expires_at": expires}, usage=usage)

    def _blocks(self, content: list[Json], number: int) -> Iterator[Json]:
        id = ""
        for index, block in enumerate(content):
            if block["type"] == "server_tool_use":
                id = block.get("id") or f"srvtoolu_{number:04}_{index}"
                yield {"type": block["type"], "id": id, **block}
            elif is_of_code(block):
                inner = block["content"]
                left = [self._left(each) for each in inner["content"]] if isinstance(inner.get("content"), list) else []
                named = {"type": block["type"], "tool_use_id": id, **block}
                yield {**named, "content": {**inner, "content": left}} if "return_code" in inner else named
            else:
                yield block

    def _left(self, output: Json) -> Json:
        if "file_id" in output:
            return output
        name = output["name"]
        media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
        return {"type": output["type"], "file_id": self.keep(StoredFile(name, media_type, output["data"], made=True))}


def _container(request: Json) -> str:
    container = request.get("container")
    return str((container.get("id") if isinstance(container, dict) else container) or "")
