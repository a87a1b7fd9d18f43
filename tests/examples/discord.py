"""Discord as far as the example needs it: its REST API, as strict as the real one, and interactions that it signs.

Source: discord.com/developers/docs, API version 10.
"""

import asyncio
import itertools
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.channels.characters import is_blank, units
from bot.messages import Json
from simulator.serving import serve

TOKEN = "MTAwMQ.synthetic.token"
APPLICATION = "900"
WAIT = 20.0
_COMMAND = re.compile(r"[-_a-z0-9]{1,32}")


class Discord:
    """``messages`` are those of the bot as they are now, by id, oldest first; ``gone`` those that were deleted.
    ``refusals`` are given to the next calls that would change messages."""

    def __init__(self) -> None:
        self._key = Ed25519PrivateKey.generate()
        self.public_key = self._key.public_key().public_bytes_raw().hex()
        self.url = self.endpoint = ""
        self.messages: dict[str, Json] = {}
        self.gone: set[str] = set()
        self.typing: set[str] = set()
        self.commands: list[Json] = []
        self.files: dict[str, bytes] = {}
        self.refusals: list[Response] = []
        self._nonces: dict[str, str] = {}
        self._ids = itertools.count(1)
        self._changed = asyncio.Event()

    # What people do.

    def command(self, name: str, text: str = "", *, user: str = "7", channel: str = "55", guild: str = "") -> Json:
        options = [{"type": 3, "name": "text", "value": text}] if text else []
        return self._interaction(user, channel, guild) | {"type": 2, "data": {"name": name, "options": options}}

    def file(self, text: str, name: str, data: bytes, media_type: str) -> Json:
        """``/ask`` with a file."""
        id = self._id()
        self.files[id] = data
        about = {"id": id, "filename": name, "content_type": media_type, "size": len(data)}
        asked = self.command("ask", text)
        asked["data"]["options"].append({"type": 11, "name": "file", "value": id})
        asked["data"]["resolved"] = {"attachments": {id: {**about, "url": f"{self.url}/files/{id}"}}}
        return asked

    def tap(self, message: Json, label: str, user: str = "7") -> Json:
        (button,) = (each for each in buttons(message) if each["label"] == label)
        data = {"component_type": 2, "custom_id": button["custom_id"]}
        interaction = self._interaction(user, message["channel_id"], "")
        return interaction | {"type": 3, "data": data, "message": {"id": message["id"]}}

    async def deliver(self, interaction: Json, *, at: float | None = None, forged: bool = False) -> httpx.Response:
        body = msgspec.json.encode(interaction)
        timestamp = str(int(time.time() if at is None else at))
        signature = self._key.sign(timestamp.encode() + body).hex()
        headers = {
            "x-signature-ed25519": "0" * 128 if forged else signature,
            "x-signature-timestamp": timestamp,
            "content-type": "application/json",
        }
        async with httpx.AsyncClient(timeout=WAIT) as client:
            return await client.post(self.endpoint, content=body, headers=headers)

    async def shows(self, wanted: Callable[[Json], bool]) -> Json:
        """Until a message of the bot's is as wanted; fails with those that are there."""
        try:
            async with asyncio.timeout(WAIT):
                while True:
                    self._changed.clear()
                    if found := [message for message in self.messages.values() if wanted(message)]:
                        return found[0]
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError([*self.messages.values()]) from None

    def _interaction(self, user: str, channel: str, guild: str) -> Json:
        account = {"id": user, "username": f"user{user}", "global_name": "Ann" if user == "7" else None}
        who: Json = {"guild_id": guild, "member": {"user": account}} if guild else {"user": account}
        return {"id": self._id(), "channel_id": channel, "channel": {"id": channel}, "locale": "en-US", **who}

    def _id(self) -> str:
        return str((int(time.time() * 1_000) - 1_420_070_400_000 << 22) + next(self._ids))

    # What the bot calls.

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/applications/@me", self._bot(self._me)),
                Route("/applications/{application}/commands", self._bot(self._put_commands), methods=["PUT"]),
                Route("/channels/{channel}/messages", self._bot(self._post), methods=["POST"]),
                Route("/channels/{channel}/messages/{message}", self._bot(self._change), methods=["PATCH", "DELETE"]),
                Route("/channels/{channel}/typing", self._bot(self._type), methods=["POST"]),
                Route("/users/@me/channels", self._bot(self._open), methods=["POST"]),
                Route("/files/{file}", self._file),
            ]
        )

    def _bot(self, endpoint: Any) -> Any:
        async def proved(request: Request) -> Response:
            if request.headers.get("authorization") != f"Bot {TOKEN}":
                return refusal(401, 0, "401: Unauthorized")
            answer: Response = await endpoint(request)
            self._changed.set()
            return answer

        return proved

    async def _me(self, request: Request) -> Response:
        return JSONResponse({"id": APPLICATION, "verify_key": self.public_key})

    async def _put_commands(self, request: Request) -> Response:
        commands = await request.json()
        named = [*commands, *(option for command in commands for option in command.get("options", []))]
        fits = all(_COMMAND.fullmatch(each["name"]) and 0 < len(each["description"]) <= 100 for each in named)
        if request.path_params["application"] != APPLICATION or not fits or len(commands) > 100:
            return refusal(400, 50035, "Invalid Form Body")
        self.commands = commands
        return JSONResponse(commands)

    async def _post(self, request: Request) -> Response:
        sent, files = await _read(request)
        if refused := self._refused(sent, empty=bool(files)):
            return refused
        nonce = sent.get("nonce", "")
        if sent.get("enforce_nonce") and self._nonces.get(nonce) in self.messages:
            return JSONResponse(self.messages[self._nonces[nonce]])
        id = self._id()
        kept = {name: sent[name] for name in ("content", "components", "flags", "message_reference") if name in sent}
        self.messages[id] = {"id": id, "channel_id": request.path_params["channel"], "components": []} | kept
        self._nonces[nonce] = id
        self.files |= files
        return JSONResponse(self.messages[id])

    async def _change(self, request: Request) -> Response:
        id = request.path_params["message"]
        if id not in self.messages or self.messages[id]["channel_id"] != request.path_params["channel"]:
            return refusal(404, 10008, "Unknown Message")
        if request.method == "DELETE":
            self.gone.add(id)
            del self.messages[id]
            return Response(status_code=204)
        changes = await request.json()
        if refused := self._refused(changes):
            return refused
        self.messages[id] |= {name: changes[name] for name in ("content", "components") if name in changes}
        return JSONResponse(self.messages[id])

    async def _type(self, request: Request) -> Response:
        self.typing.add(request.path_params["channel"])
        return Response(status_code=204)

    async def _open(self, request: Request) -> Response:
        return JSONResponse({"id": f"9{(await request.json())['recipient_id']}"})

    async def _file(self, request: Request) -> Response:
        if "authorization" in request.headers:
            return refusal(400, 0, "the token belongs to the API alone")
        data = self.files.get(request.path_params["file"])
        return Response(status_code=404) if data is None else Response(data)

    def _refused(self, sent: Json, *, empty: bool = False) -> Response | None:
        if self.refusals:
            return self.refusals.pop(0)
        rows = sent.get("components", [])
        pressed = [button for row in rows for button in row["components"]]
        fits = [
            units(sent["content"]) <= 2_000,
            len(rows) <= 5 and all(row["type"] == 1 and 0 < len(row["components"]) <= 5 for row in rows),
            all(0 < len(each["label"]) <= 80 and 0 < len(each["custom_id"]) <= 100 for each in pressed),
            len({each["custom_id"] for each in pressed}) == len(pressed),
            len(sent.get("nonce", "")) <= 25,
            sent["allowed_mentions"] == {"parse": []},  # Discord takes others too: nobody is to be called
        ]
        if not all(fits):
            return refusal(400, 50035, f"Invalid Form Body {fits}")
        return refusal(400, 50006, "Cannot send an empty message") if is_blank(sent["content"]) and not empty else None


async def _read(request: Request) -> tuple[Json, dict[str, bytes]]:
    """A message's fields, and the files that come with it, by name."""
    if not request.headers["content-type"].startswith("multipart/form-data"):
        return await request.json(), {}
    async with request.form() as form:
        files = [field for field in form.values() if not isinstance(field, str)]
        sent = msgspec.json.decode(str(form["payload_json"]), type=Json)
        return sent, {str(file.filename): await file.read() for file in files}


def refusal(status: int, code: int, message: str, **more: Any) -> Response:
    return JSONResponse({"code": code, "message": message, **more}, status)


def buttons(message: Json) -> list[Json]:
    return [button for row in message["components"] for button in row["components"]]


@asynccontextmanager
async def discord() -> AsyncIterator[Discord]:
    here = Discord()
    async with serve(here.app()) as here.url:
        yield here
