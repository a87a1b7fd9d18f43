"""Telegram's way out: the Bot API through python-telegram-bot, its errors in our words.

The Bot is used without ``initialize()``, which would ask getMe first, and without ``telegram.ext``.
Source: core.telegram.org/bots/api; python-telegram-bot 22.8.
"""

import asyncio
import logging
import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any
from zlib import crc32

import httpx
import msgspec
from telegram import (
    Bot,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputMediaDocument,
    InputMediaPhoto,
    InputMediaVideo,
    LinkPreviewOptions,
    Message,
    MessageEntity,
    ReplyParameters,
)
from telegram.constants import ChatAction
from telegram.error import BadRequest, ChatMigrated, Forbidden, InvalidToken, TelegramError
from telegram.request import HTTPXRequest

from bot.channels.characters import units
from bot.channels.splitting import reach
from bot.channels.telegram.manners import TelegramManners
from bot.channels.telegram.parse import in_topic
from bot.channels.telegram.render import render
from bot.errors import (
    ChatClosed,
    ChatMoved,
    FileRefused,
    MessageGone,
    SendError,
    SendLater,
    SendRefused,
    SendUncertain,
    TokenGone,
)
from bot.messages import Attachment, File, Person, Place
from bot.ports import Manner, Rendered, Upload
from bot.tracing import span

UNREACHED_RETRY = 2.0
"""Seconds until the next try where Telegram could not be reached at all."""
UNNAMED_FLOOD_WAIT = 5.0
"""Seconds to wait where Telegram says "too many requests" but not for how long."""

MEGABYTE = 1024 * 1024
DOWNLOAD_LIMIT = 20 * MEGABYTE
PHOTO_LIMIT = 10 * MEGABYTE
BATCH_LIMIT = 45 * MEGABYTE
"""Bytes in one request: Telegram takes 50 MB, with what stands around the files."""
ALBUM = 10
CAPTION_LIMIT = 1_024
"""UTF-16 units."""
FETCH_TIME = 60.0
"""Seconds in which a file must have come."""
PHOTO_TYPES = frozenset({"image/jpeg", "image/png", "image/webp"})
VIDEO_TYPES = frozenset({"video/mp4"})
NO_PHOTO = ("photo_invalid_dimensions", "image_process_failed", "photo_save_file_invalid", "too big for a photo")
"""Telegram's reasons not to show a picture as one, in lower case: as a file it can be sent."""

GONE = ("message to edit not found", "message can't be edited", "message can't be deleted", "message_id_invalid")
CLOSED = (
    "chat not found",
    "user not found",
    "deactivated",
    "peer_id_invalid",
    "not enough rights",
    "have no rights",
    "chat_write_forbidden",
    "message thread not found",
    "topic_closed",
    "topic_deleted",
)

FLOOD = re.compile(r"too many requests: retry after (\d{1,9})", re.IGNORECASE)
"""How a 400 tells that one file of an album came too soon: each counts as a message."""

logger = logging.getLogger(__name__)


class FloodControl(TelegramError):
    """Telegram's 429. In place of the SDK's RetryAfter, which warns of its own deprecation whenever it is made."""

    __slots__ = ("retry_after",)

    def __init__(self, retry_after: float) -> None:
        super().__init__(f"flood control for {retry_after:g} s")
        self.retry_after = retry_after


class _Parameters(msgspec.Struct):
    retry_after: float = UNNAMED_FLOOD_WAIT


class _Refusal(msgspec.Struct):
    parameters: _Parameters = msgspec.field(default_factory=_Parameters)


class _Request(HTTPXRequest):
    async def do_request(self, url: str, *args: Any, **kwargs: Any) -> tuple[int, bytes]:
        """All calls pass here; of their addresses, which hold the token, only the method's name is told."""
        method = "file" if "/file/bot" in url else url.partition("?")[0].rpartition("/")[2]
        if method == "getUpdates":  # waits most of the time, and belongs to no message
            status, body = await super().do_request(url, *args, **kwargs)
        else:
            with span(f"telegram {method}", {"rpc.method": method}, kind="client") as calling:
                status, body = await super().do_request(url, *args, **kwargs)
                calling.note({"http.response.status_code": status})
        if status == httpx.codes.TOO_MANY_REQUESTS:
            raise FloodControl(_flood_wait(body))
        return status, body


def _flood_wait(body: bytes) -> float:
    try:
        return msgspec.json.decode(body, type=_Refusal).parameters.retry_after
    except msgspec.DecodeError:
        return UNNAMED_FLOOD_WAIT


def telegram_bot(token: str, base_url: str) -> Bot:
    """A Bot whose calls end within seconds. ``base_url`` is the server without "/bot", as in Settings."""
    # Both loggers write the URL of every call, and Telegram's URLs hold the token.
    for name in ("httpx", "telegram.Bot"):
        logging.getLogger(name).setLevel(logging.WARNING)
    request = _Request(connect_timeout=3, read_timeout=8, write_timeout=5, pool_timeout=1)
    server = base_url.rstrip("/")
    return Bot(
        token,
        base_url=f"{server}/bot",
        base_file_url=f"{server}/file/bot",
        request=request,
        get_updates_request=request,  # or the SDK builds a second client, TLS context and all
    )


async def set_menu(bot: Bot, menus: Mapping[str, Sequence[tuple[str, str]]]) -> None:
    """Offer these commands, each a name and what it does, in everybody's menu. The key is the language they are
    described in, "" for all that have none of their own. Raises SendErrors."""
    for language, commands in menus.items():
        try:
            await bot.set_my_commands(list(commands), language_code=language or None)
        except TelegramError as error:
            raise _translated(error) from error


class TelegramChannel(TelegramManners):
    """The port ``Channel`` over one Bot."""

    def __init__(self, bot: Bot, *, drafts: bool = False) -> None:
        super().__init__(drafts=drafts)
        self._bot = bot

    def render(self, markdown: str, *, growing: bool = False) -> list[Rendered]:
        return render(markdown, growing=growing)

    async def draft(self, place: Place, part: Rendered, mark: str) -> None:
        """It is gone after 30 s, or when a message arrives in its place. The SDK does not know ``can_stop`` yet."""
        try:
            await self._bot.send_message_draft(
                int(place.chat),
                _draft_id(mark),
                part.text,
                message_thread_id=_thread(place),
                entities=_entities(part),
                api_kwargs={"can_stop": True},
            )
        except TelegramError as error:
            raise _translated(error) from error

    def batches(self, files: Sequence[File]) -> list[tuple[File, ...]]:
        """Pictures and videos in albums, other files in albums of their own."""
        return [batch for _, run in groupby(files, _is_media) for batch in _albums(tuple(run))]

    async def administers(self, place: Place, person: Person) -> bool:
        """Bots of other people, and admins who write as the group itself, are not told apart and do not count."""
        try:
            admins = await self._bot.get_chat_administrators(int(place.chat))
        except TelegramError as error:
            logger.info("conversation=<%s> error=<%s> | the admins were not told", place.conversation, error)
            return False
        return any(person.id == f"telegram:{admin.user.id}" for admin in admins)

    async def fetch(self, place: Place, attachment: Attachment) -> bytes:
        if not attachment.id:
            raise FileRefused(f"Telegram has no file of this {attachment.kind}.")
        if attachment.size > DOWNLOAD_LIMIT:
            raise _too_large()
        try:
            async with asyncio.timeout(FETCH_TIME):
                file = await self._bot.get_file(attachment.id)
                return bytes(await file.download_as_bytearray(read_timeout=READ_TIMEOUT))
        except TimeoutError as error:
            raise SendUncertain("the file did not come in time") from error
        except TelegramError as error:
            raise _unfetched(error) from None  # what the SDK says of a download may hold its link, and that the token

    async def typing(self, place: Place, active: bool = True) -> None:
        """Telegram ends the sign by itself after five seconds, or when a message arrives."""
        if not active:
            return
        try:
            await self._bot.send_chat_action(int(place.chat), ChatAction.TYPING, message_thread_id=_thread(place))
        except FloodControl as error:  # holds for everything that is sent to this chat
            raise _translated(error) from error
        except TelegramError as error:
            logger.info("conversation=<%s> error=<%s> | typing was not shown", place.conversation, error)

    async def send(self, place: Place, part: Rendered, manner: Manner) -> str:
        try:
            message = await self._bot.send_message(
                int(place.chat),
                part.text,
                entities=_entities(part),
                link_preview_options=_NO_PREVIEW,
                reply_markup=_keyboard(place, part),
                **_where(place, manner),
            )
        except TelegramError as error:
            raise _translated(error) from error
        return str(message.message_id)

    async def send_files(self, place: Place, files: Sequence[Upload], manner: Manner) -> str:
        """One of ``batches``. The captions stand together under the first file. A picture that Telegram does not take
        as one goes as a file, and so does all of its album: the two can not be mixed."""
        as_media = all(map(_is_media, files))
        try:
            return await self._upload(place, files, manner, as_media=as_media)
        except SendRefused as refusal:
            if not as_media or not any(reason in str(refusal).lower() for reason in NO_PHOTO):
                raise
        return await self._upload(place, files, manner, as_media=False)

    async def _upload(self, place: Place, files: Sequence[Upload], manner: Manner, *, as_media: bool) -> str:
        chat, first = int(place.chat), files[0]
        options: dict[str, Any] = {**_where(place, manner), **_UPLOADING, "caption": _caption(files) or None}
        sent: Sequence[Message]
        try:
            if len(files) > 1:
                sent = await self._bot.send_media_group(
                    chat, list(map(_medium if as_media else _document, files)), **options
                )
            elif not as_media:
                sent = [await self._bot.send_document(chat, first.data, filename=first.name, **options)]
            elif first.media_type in VIDEO_TYPES:
                sent = [await self._bot.send_video(chat, first.data, filename=first.name, **options)]
            else:
                sent = [await self._bot.send_photo(chat, first.data, filename=first.name, **options)]
        except TelegramError as error:
            raise _translated(error) from error
        return str(sent[0].message_id)

    async def edit(self, place: Place, message_id: str, part: Rendered, *, growing: bool = False) -> None:
        try:
            await self._bot.edit_message_text(
                part.text,
                int(place.chat),
                int(message_id),
                entities=_entities(part),
                link_preview_options=_NO_PREVIEW,
                reply_markup=_keyboard(place, part),
            )
        except TelegramError as error:
            if "message is not modified" not in error.message.lower():
                raise _translated(error) from error

    async def delete(self, place: Place, message_id: str) -> None:
        try:
            await self._bot.delete_message(int(place.chat), int(message_id))
        except TelegramError as error:
            if "message to delete not found" not in error.message.lower():
                raise _translated(error) from error

    async def close(self) -> None:
        """Close the connections."""
        await self._bot.request.shutdown()


# A preview is fetched without anybody's click: a link written by an injected page would carry data out.
_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)


def _thread(place: Place) -> int | None:
    return int(place.thread) if place.thread else None


def _reply(reply_to: str) -> ReplyParameters | None:
    return ReplyParameters(int(reply_to), allow_sending_without_reply=True) if reply_to else None


def _draft_id(mark: str) -> int:
    """The same for the same mark, and never 0, which Telegram refuses."""
    return crc32(mark.encode()) & 0x7FFFFFFF or 1


def _where(place: Place, manner: Manner) -> dict[str, Any]:
    return {
        "message_thread_id": _thread(place),
        "reply_parameters": _reply(manner.reply_to),
        "disable_notification": manner.silent or None,
    }


def _keyboard(place: Place, part: Rendered) -> InlineKeyboardMarkup | None:
    """An edit without any takes the buttons away."""
    rows = groupby(sorted(part.buttons, key=lambda button: button.row), lambda button: button.row)
    keyboard = [
        [InlineKeyboardButton(button.label, callback_data=in_topic(button.data, place.thread)) for button in row]
        for _, row in rows
    ]
    return InlineKeyboardMarkup(keyboard) if keyboard else None


def _entities(part: Rendered) -> list[MessageEntity]:
    return [MessageEntity(**entity) for entity in part.markup]


# Files.

READ_TIMEOUT = 30.0
_UPLOADING = {"read_timeout": READ_TIMEOUT, "write_timeout": 60.0}
"""Seconds: Telegram answers an upload only when it has looked at the whole of it."""


def _is_media(file: File | Upload) -> bool:
    """Whether Telegram can show it in the chat and not only hand it over."""
    size = file.size if isinstance(file, File) else len(file.data)
    return file.media_type in VIDEO_TYPES or (file.media_type in PHOTO_TYPES and size <= PHOTO_LIMIT)


def _albums(files: Sequence[File]) -> list[tuple[File, ...]]:
    """Cut where an album is full, or the request would be too large."""
    albums: list[tuple[File, ...]] = []
    for file in files:
        last = albums[-1] if albums else ()
        fits = last and len(last) < ALBUM and sum(each.size for each in (*last, file)) <= BATCH_LIMIT
        if fits:
            albums[-1] = (*last, file)
        else:
            albums.append((file,))
    return albums


def _caption(files: Sequence[Upload]) -> str:
    caption = "\n".join(filter(None, (file.caption for file in files)))
    if units(caption) <= CAPTION_LIMIT:
        return caption
    return caption[: reach(caption, 0, CAPTION_LIMIT - 1, units)] + "…"


def _medium(file: Upload) -> InputMediaPhoto | InputMediaVideo:
    if file.media_type in VIDEO_TYPES:
        return InputMediaVideo(file.data, filename=file.name)
    return InputMediaPhoto(file.data, filename=file.name)


def _document(file: Upload) -> InputMediaDocument:
    return InputMediaDocument(file.data, filename=file.name, disable_content_type_detection=True)


def _too_large() -> FileRefused:
    return FileRefused(f"The file is larger than the {DOWNLOAD_LIMIT // MEGABYTE} MB that Telegram hands to bots.")


def _unfetched(error: TelegramError) -> SendError | FileRefused:
    """Why a file did not come, without the SDK's words."""
    if isinstance(error, BadRequest) and "file is too big" in error.message.lower():
        return _too_large()
    failure = _translated(error)
    match failure:
        case SendLater():
            return failure
        case SendUncertain():
            return SendUncertain("the file did not arrive whole")
    return FileRefused("Telegram does not hand this file out any more.")


# What went wrong.


def _translated(error: TelegramError) -> SendError:
    """What the platform did with the call. The order matters: for the SDK a BadRequest is a NetworkError."""
    message = error.message
    if isinstance(error.__cause__, TelegramError):  # an error page that could not be read: something in between spoke
        return SendUncertain(message)
    match error:
        case FloodControl():
            return SendLater(message, error.retry_after)
        case ChatMigrated():
            return ChatMoved(message, str(error.new_chat_id))
        case InvalidToken():
            return TokenGone(message)
        case Forbidden():
            return ChatClosed(message)
        case BadRequest():
            return _refusal(message)
    if message == "Request Entity Too Large":
        return SendRefused(message)
    if isinstance(error.__cause__, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout):
        return SendLater(message, UNREACHED_RETRY)
    return SendUncertain(message)


def _refusal(message: str) -> SendError:
    if flood := FLOOD.search(message):
        return SendLater(message, float(flood[1]))
    lowered = message.lower()
    if any(words in lowered for words in GONE):
        return MessageGone(message)
    if any(words in lowered for words in CLOSED):
        return ChatClosed(message)
    return SendRefused(message)
