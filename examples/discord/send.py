"""Discord's way out: its REST API, its refusals in our words.

Source: discord.com/developers/docs/resources/message, /topics/rate-limits, /topics/opcodes-and-status-codes.
"""

from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import groupby
from typing import Any

import httpx
import msgspec

from bot.channels.plain import PlainChannel
from bot.errors import ChatClosed, FileRefused, MessageGone, SendError, SendLater, SendRefused, SendUncertain, TokenGone
from bot.messages import Attachment, Json, Place
from bot.ports import Manner, Pace, Rendered, Upload
from examples.discord.parse import NO_PREVIEWS, NOBODY
from examples.discord.render import render

API = "https://discord.com/api/v10"
SILENT = 1 << 12
LARGEST = 20_000_000  # bytes
GONE, CLOSED = frozenset({10008}), frozenset({10003, 50001, 50007, 50013})


class DiscordChannel(PlainChannel):
    stop_button = True
    typing_interval = 8.0  # Discord ends the sign after ten seconds
    pace = group_pace = Pace(interval=1.0, burst=5)

    def __init__(self, token: str, base_url: str = API) -> None:
        headers = {"Authorization": f"Bot {token}", "User-Agent": "DiscordBot (kabar, 1)"}
        self._http = httpx.AsyncClient(base_url=base_url, headers=headers, timeout=10)

    def render(self, markdown: str, *, growing: bool = False) -> list[Rendered]:
        return render(markdown, growing=growing)

    async def offer(self, commands: Sequence[Json]) -> str:
        """Tell Discord these commands, in place of those it knows; returns the key that proves its interactions."""
        application = await self._call("GET", "/applications/@me")
        await self._call("PUT", f"/applications/{application['id']}/commands", json=commands)
        return str(application["verify_key"])

    async def typing(self, place: Place, active: bool = True) -> None:
        with suppress(SendUncertain, SendRefused, ChatClosed, TokenGone):
            if active:
                await self._call("POST", f"/channels/{place.chat}/typing")

    async def send(self, place: Place, part: Rendered, manner: Manner) -> str:
        return await self._post(place, manner, {"content": part.text, "components": _buttons(part)})

    async def send_files(self, place: Place, files: Sequence[Upload], manner: Manner) -> str:
        attached = {f"files[{at}]": (file.name, file.data, file.media_type) for at, file in enumerate(files)}
        caption = "\n".join(file.caption for file in files if file.caption)
        return await self._post(place, manner, {"content": caption[:2_000]}, files=attached)

    async def edit(self, place: Place, message_id: str, part: Rendered, *, growing: bool = False) -> None:
        if message_id:
            content = {"content": part.text, "components": _buttons(part), "allowed_mentions": NOBODY}
            await self._call("PATCH", f"/channels/{place.chat}/messages/{message_id}", json=content)

    async def delete(self, place: Place, message_id: str) -> None:
        with suppress(MessageGone):
            if message_id:
                await self._call("DELETE", f"/channels/{place.chat}/messages/{message_id}")

    async def fetch(self, place: Place, attachment: Attachment) -> bytes:
        if attachment.size > LARGEST:
            raise FileRefused(f"The file is larger than {LARGEST // 1_000_000} MB.")
        try:
            async with httpx.AsyncClient(timeout=30) as outside:  # a signed address: the token goes nowhere else
                answer = await outside.get(attachment.id)
        except httpx.HTTPError as error:
            raise SendUncertain(f"the file did not arrive: {type(error).__name__}") from error
        if not answer.is_success:
            raise FileRefused("Discord does not hand this file out any more.")
        return answer.content

    async def close(self) -> None:
        await self._http.aclose()

    async def _post(self, place: Place, manner: Manner, message: Json, **more: Any) -> str:
        """What only one person may see goes into direct messages, and is never edited."""
        apart, chat = manner.quiet and place.group, place.chat
        if apart:
            user = manner.to.id.partition(":")[2]
            chat = (await self._call("POST", "/users/@me/channels", json={"recipient_id": user}))["id"]
        # For some minutes a message with the same nonce is the same message to Discord, however often it is sent.
        nonce = sha256(manner.mark.encode()).hexdigest()[:25]
        flags = NO_PREVIEWS | (SILENT if manner.silent else 0)
        message |= {"nonce": nonce, "enforce_nonce": True, "flags": flags, "allowed_mentions": NOBODY}
        if manner.reply_to and not apart:
            message["message_reference"] = {"message_id": manner.reply_to, "fail_if_not_exists": False}
        form = {"data": {"payload_json": msgspec.json.encode(message).decode()}} if more else {"json": message}
        sent = await self._call("POST", f"/channels/{chat}/messages", **form, **more)
        return "" if apart else str(sent["id"])

    async def _call(self, method: str, path: str, **content: Any) -> Json:
        try:
            answer = await self._http.request(method, path, **content)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise SendLater(f"not reached: {type(error).__name__}", retry_after=2) from error
        except httpx.HTTPError as error:
            raise SendUncertain(f"cut: {type(error).__name__}") from error
        try:
            said: Json = answer.json() if answer.content else {}
        except ValueError as error:  # something in between spoke
            raise SendUncertain(f"HTTP {answer.status_code}, and no JSON") from error
        if not answer.is_success:
            raise _refusal(answer.status_code, said)
        return said


def _buttons(part: Rendered) -> list[Json]:
    """In rows of at most five; [] takes away those that are there."""
    rows = []
    for _, row in groupby(sorted(part.buttons, key=lambda button: button.row), lambda button: button.row):
        shown = [{"type": 2, "style": 2, "label": each.label[:80], "custom_id": each.data} for each in row]
        rows += [{"type": 1, "components": shown[at : at + 5]} for at in range(0, len(shown), 5)]
    return rows


def _refusal(status: int, said: Json) -> SendError:
    code, message = said.get("code", 0), f"{status} {said.get('code', '')} {said.get('message', '')}"
    if status == 429:
        return SendLater(message, float(said.get("retry_after", 1)))
    if status >= 500:
        return SendUncertain(message)
    if code in GONE:
        return MessageGone(message)
    return (TokenGone if status == 401 else ChatClosed if code in CLOSED else SendRefused)(message)
