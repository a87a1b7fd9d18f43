"""Telegram's way out: the Bot API through python-telegram-bot, its errors in our words.

The Bot is used without ``initialize()``, which would ask getMe first, and without ``telegram.ext``.
Source: core.telegram.org/bots/api; python-telegram-bot 22.8.
"""

import logging
from typing import Any

import httpx
import msgspec
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup, LinkPreviewOptions, MessageEntity, ReplyParameters
from telegram.constants import ChatAction
from telegram.error import BadRequest, ChatMigrated, Forbidden, InvalidToken, TelegramError
from telegram.request import HTTPXRequest

from bot.channels.telegram.render import render
from bot.errors import ChatClosed, ChatMoved, MessageGone, SendError, SendLater, SendRefused, SendUncertain
from bot.messages import Place
from bot.ports import Rendered

UNREACHED_RETRY = 2.0
"""Seconds until the next try where Telegram could not be reached at all."""
UNNAMED_FLOOD_WAIT = 5.0
"""Seconds to wait where Telegram says "too many requests" but not for how long."""

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
    async def do_request(self, *args: Any, **kwargs: Any) -> tuple[int, bytes]:
        status, body = await super().do_request(*args, **kwargs)
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


class TelegramChannel:
    """The port ``Channel`` over one Bot. Telegram has no idempotency key and no way to look for a sent message."""

    stop_button = True
    typing_interval = 4.0  # the sign lasts five seconds
    edit_interval = 1.5
    group_edit_interval = 4.0  # 20 messages and edits a minute, for everything the bot does in a group

    def __init__(self, bot: Bot) -> None:
        self._bot = bot

    def render(self, markdown: str) -> list[Rendered]:
        return render(markdown)

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

    async def send(self, place: Place, part: Rendered, *, reply_to: str, mark: str) -> str:
        try:
            message = await self._bot.send_message(
                int(place.chat),
                part.text,
                entities=_entities(part),
                link_preview_options=_NO_PREVIEW,
                message_thread_id=_thread(place),
                reply_parameters=_reply(reply_to),
                reply_markup=_keyboard(part),
            )
        except TelegramError as error:
            raise _translated(error) from error
        return str(message.message_id)

    async def edit(self, place: Place, message_id: str, part: Rendered) -> None:
        try:
            await self._bot.edit_message_text(
                part.text,
                int(place.chat),
                int(message_id),
                entities=_entities(part),
                link_preview_options=_NO_PREVIEW,
                reply_markup=_keyboard(part),
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

    async def find(self, place: Place, mark: str) -> str | None:
        return None

    async def close(self) -> None:
        """Close the connections."""
        await self._bot.request.shutdown()


# A preview is fetched without anybody's click: a link written by an injected page would carry data out.
_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)


def _thread(place: Place) -> int | None:
    return int(place.thread) if place.thread else None


def _reply(reply_to: str) -> ReplyParameters | None:
    return ReplyParameters(int(reply_to), allow_sending_without_reply=True) if reply_to else None


def _keyboard(part: Rendered) -> InlineKeyboardMarkup | None:
    """One row; an edit without any takes the buttons away."""
    row = [InlineKeyboardButton(button.label, callback_data=button.data) for button in part.buttons]
    return InlineKeyboardMarkup([row]) if row else None


def _entities(part: Rendered) -> list[MessageEntity]:
    return [MessageEntity(**entity) for entity in part.markup]


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
        case Forbidden() | InvalidToken():
            return ChatClosed(message)
        case BadRequest():
            return _refusal(message)
    if isinstance(error.__cause__, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout):
        return SendLater(message, UNREACHED_RETRY)
    return SendUncertain(message)


def _refusal(message: str) -> SendError:
    lowered = message.lower()
    if any(words in lowered for words in GONE):
        return MessageGone(message)
    if any(words in lowered for words in CLOSED):
        return ChatClosed(message)
    return SendRefused(message)
