"""Files: those that came with a message, and those we send.

Source: docs.slack.dev/messaging/working-with-files. Not slack_sdk's ``files_upload_v2``, which is the same three steps:
its errors do not tell an upload that failed, and may be made again, from a message that may be there.
"""

import asyncio
import html
import logging
from collections.abc import Sequence

import aiohttp
from aiohttp import ClientTimeout
from slack_sdk.web.async_client import AsyncWebClient

from bot.channels.fields import number_at, object_at, objects_at, text_at
from bot.channels.slack.calls import UNREACHED_RETRY, Connection, called, flood_wait
from bot.errors import FileRefused, SendError, SendLater, SendRefused, SendUncertain
from bot.messages import Attachment, Json, Place
from bot.ports import Upload

LIMIT = 50 * 1024 * 1024
"""Bytes of a file that is fetched: what one function can hold beside its work."""
PIECE = 256 * 1024
TRANSFER = ClientTimeout(total=120, connect=3, sock_read=20)
SHOWN_AFTER = (0.0, 0.5, 1.0)
"""Seconds before each look for the message that an upload became: Slack makes it some time after it said yes."""
NOT_ALLOWED = (
    "Slack does not hand files over to this app: it lacks the right files:read, or was not reinstalled in the "
    "workspace since it got it."
)

logger = logging.getLogger(__name__)


async def fetched(connection: Connection, place: Place, attachment: Attachment) -> bytes:
    """Raises FileRefused, SendLater or SendUncertain."""
    file = await _described(connection, place.team, attachment.id)
    if text_at(file, "mode") in ("tombstone", "hidden_by_limit") or file.get("deleted") is True:
        raise FileRefused("The file was deleted in Slack, or is hidden by the limits of the workspace's plan.")
    if file.get("is_external") is True or text_at(file, "mode") == "external":
        raise FileRefused("Slack holds only a link to this file, which is kept elsewhere.")
    if number_at(file, "size") > LIMIT:
        raise FileRefused(f"The file is larger than {LIMIT // 1024**2} MB.")
    url = text_at(file, "url_private_download") or text_at(file, "url_private")
    headers = await connection.headers_for(url, place.team)
    if headers is None:
        raise FileRefused("Slack names an address for this file that is not Slack's own.")
    return await _downloaded(connection, url, headers, page="html" in text_at(file, "mimetype"))


async def _described(connection: Connection, team: str, file_id: str) -> Json:
    """What Slack says of the file now: in channels shared with others an event holds only its id."""
    if not file_id:
        raise FileRefused("Slack gave no id for this file.")
    try:
        client = await connection.client(team)
        return object_at(await called(client.files_info(file=file_id)), "file")
    except (SendLater, SendUncertain):
        raise
    except SendError as error:
        match str(error):
            case "missing_scope" | "not_allowed_token_type":
                raise FileRefused(NOT_ALLOWED) from error
            case "file_not_found" | "file_deleted":
                raise FileRefused("The file was deleted in Slack.") from error
            case code:
                raise FileRefused(f"Slack does not hand the file over ({code}).") from error


async def _downloaded(connection: Connection, url: str, headers: dict[str, str], *, page: bool) -> bytes:
    """``page``: it is known to be HTML. A redirect leads to the sign-in page, and would take our token along."""
    try:
        async with connection.session.get(url, headers=headers, allow_redirects=False, timeout=TRANSFER) as response:
            _check(response, page=page)
            return await _read(response)
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise SendLater(f"the file was cut: {type(error).__name__}", UNREACHED_RETRY) from error


def _check(response: aiohttp.ClientResponse, *, page: bool) -> None:
    if response.status == 429:
        raise SendLater("ratelimited", flood_wait(dict(response.headers)))
    if response.status >= 500:
        raise SendLater(f"HTTP {response.status}", UNREACHED_RETRY)
    if response.status in (404, 410):
        raise FileRefused("The file was deleted in Slack.")
    if response.status != 200 or (response.content_type == "text/html" and not page):
        raise FileRefused(NOT_ALLOWED)


async def _read(response: aiohttp.ClientResponse) -> bytes:
    data = bytearray()
    async for piece in response.content.iter_chunked(PIECE):
        data += piece
        if len(data) > LIMIT:
            raise FileRefused(f"The file is larger than {LIMIT // 1024**2} MB.")
    return bytes(data)


async def shared(connection: Connection, place: Place, files: Sequence[Upload]) -> str:
    """Upload the files and share them as one message; returns its id, "" where Slack does not tell it in time.

    Raises SendErrors. Until the last call nobody sees anything: what fails before it may be tried again.
    """
    client = await connection.client(place.team)
    uploaded = [await _uploaded(connection, client, file) for file in files]
    caption = "\n".join(filter(None, (file.caption for file in files)))
    await called(
        client.files_completeUploadExternal(
            files=[{"id": file_id, "title": file.name} for file_id, file in zip(uploaded, files, strict=True)],
            channel_id=place.chat,
            thread_ts=place.thread or None,
            initial_comment=escaped(caption) or None,
        )
    )
    return await _message_of(client, place, uploaded[0])


async def _uploaded(connection: Connection, client: AsyncWebClient, file: Upload) -> str:
    try:
        ticket = await called(client.files_getUploadURLExternal(filename=file.name, length=len(file.data)))
    except SendUncertain as error:
        raise SendLater(str(error), UNREACHED_RETRY) from error
    try:
        async with connection.session.post(text_at(ticket, "upload_url"), data=file.data, timeout=TRANSFER) as response:
            status = response.status
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise SendLater(f"the upload was cut: {type(error).__name__}", UNREACHED_RETRY) from error
    if status == 429 or status >= 500:
        raise SendLater(f"the upload was answered {status}", UNREACHED_RETRY)
    if status != 200:
        raise SendRefused(f"the upload was answered {status}")
    return text_at(ticket, "file_id")


async def _message_of(client: AsyncWebClient, place: Place, file_id: str) -> str:
    for pause in SHOWN_AFTER:
        await asyncio.sleep(pause)
        try:
            answer = await called(client.files_info(file=file_id))
        except SendError as error:
            logger.info("conversation=<%s> error=<%s> | where the file went is not told", place.conversation, error)
            return ""
        shares = object_at(object_at(answer, "file"), "shares")
        for kind in ("public", "private"):
            for share in objects_at(object_at(shares, kind), place.chat):
                return text_at(share, "ts")
    return ""


def escaped(text: str) -> str:
    """Plain text as Slack's mrkdwn: nothing in it calls anybody or is a link with another face."""
    return html.escape(text, quote=False)
