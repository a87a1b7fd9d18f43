"""Slack's way out: the Web API through slack_sdk, its errors in our words.

Source: docs.slack.dev/reference/methods; slack_sdk 3.48.
"""

import logging
from collections.abc import Awaitable

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.channels.slack.render import render
from bot.errors import ChatClosed, MessageGone, SendError, SendLater, SendRefused, SendUncertain
from bot.messages import Json, Place
from bot.ports import Rendered

MARK_EVENT = "kabar_part"
"""Names our marks among the metadata that other apps put on messages."""

TIMEOUT = aiohttp.ClientTimeout(total=10, connect=3)
UNREACHED_RETRY = 2.0
"""Seconds until the next try where Slack could not be reached at all."""
UNNAMED_FLOOD_WAIT = 5.0
"""Seconds to wait where Slack says "rate limited" but not for how long."""
FALLBACK = 3_000
"""Characters of a message's text where only notifications show it."""
PAGE, MOST_PAGES = 200, 5
"""How far ``find`` looks: a thread comes oldest first, so its last messages may be some pages away."""

FLOOD = frozenset({"ratelimited", "rate_limited"})
GONE = frozenset({"message_not_found", "cant_update_message", "cant_delete_message", "edit_window_closed"})
CLOSED = frozenset(
    {
        "channel_not_found",
        "not_in_channel",
        "is_archived",
        "is_inactive",
        "account_inactive",
        "token_revoked",
        "token_expired",
        "invalid_auth",
        "not_authed",
        "team_access_not_granted",
        "restricted_action",
        "restricted_action_read_only_channel",
        "restricted_action_thread_locked",
        "messages_tab_disabled",
    }
)
UNCERTAIN = frozenset({"fatal_error", "internal_error", "request_timeout", "service_unavailable"})

logger = logging.getLogger(__name__)


class SlackChannel:
    """The port ``Channel`` over one connection pool, which is made inside the loop that uses it first."""

    stop_button = False  # a message that had buttons keeps them when markdown_text replaces its text
    typing_interval = 60.0
    edit_interval = 1.2  # chat.update: about 50 a minute
    group_edit_interval = 2.0

    def __init__(self, token: str, base_url: str) -> None:
        self._token = token
        self._base_url = base_url
        self._session: aiohttp.ClientSession | None = None

    def render(self, markdown: str) -> list[Rendered]:
        return render(markdown)

    async def typing(self, place: Place, active: bool = True) -> None:
        """Slack shows the sign in threads only, and ends it by itself after two minutes or when a message arrives.

        An agent's session has a Stop button beside it; an app that is not declared an agent has the older sign.
        """
        if not place.thread:
            return
        where: Json = {"channel_id": place.chat, "thread_ts": place.thread}
        client = self._client()
        try:
            try:
                await _called(client.agents_sessions_setStatus(**where, status="processing" if active else "active"))
            except SendRefused:
                await _called(client.assistant_threads_setStatus(**where, status="is thinking…" if active else ""))
        except SendError as error:
            logger.info("conversation=<%s> error=<%s> | typing was not shown", place.conversation, error)

    async def send(self, place: Place, part: Rendered, *, reply_to: str, mark: str) -> str:
        """``reply_to`` is not used: in Slack an answer belongs to a thread, not to a message."""
        response = await _called(
            self._client().chat_postMessage(
                channel=place.chat,
                thread_ts=place.thread or None,
                **_content(part),
                metadata={"event_type": MARK_EVENT, "event_payload": {"mark": mark}},
                # A preview is fetched without anybody's click: a link written by an injected page would carry data out.
                unfurl_links=False,
                unfurl_media=False,
            )
        )
        return str(response.get("ts"))

    async def edit(self, place: Place, message_id: str, part: Rendered) -> None:
        await _called(
            self._client().chat_update(
                channel=place.chat,
                ts=message_id,
                **_content(part),
                unfurl_links=False,
                unfurl_media=False,
            )
        )

    async def delete(self, place: Place, message_id: str) -> None:
        try:
            await _called(self._client().chat_delete(channel=place.chat, ts=message_id))
        except MessageGone as error:
            if str(error) != "message_not_found":
                raise

    async def find(self, place: Place, mark: str) -> str | None:
        """Looks through the thread, or in a direct message without threads through the newest messages."""
        cursor = ""
        for _ in range(MOST_PAGES):
            try:
                page = await _called(self._page(place, cursor))
            except SendUncertain as error:  # to look changes nothing: simply later
                raise SendLater(str(error), UNREACHED_RETRY) from error
            except SendRefused:
                return None
            for message in page.get("messages") or []:
                if _mark(message) == mark:
                    return str(message["ts"])
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                break
        return None

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    def _page(self, place: Place, cursor: str) -> Awaitable[AsyncSlackResponse]:
        client = self._client()
        options: Json = {"cursor": cursor or None, "limit": PAGE, "include_all_metadata": True}
        if place.thread:
            return client.conversations_replies(channel=place.chat, ts=place.thread, **options)
        return client.conversations_history(channel=place.chat, **options)

    def _client(self) -> AsyncWebClient:
        """The SDK on our own connections: by itself it opens one per call. It repeats nothing: it may have arrived."""
        if self._session is None or self._session.closed:
            self._session = aiohttp.ClientSession(timeout=TIMEOUT)
        return AsyncWebClient(
            self._token, self._base_url, session=self._session, retry_handlers=[], logger=_sdk_logger()
        )


def _content(part: Rendered) -> Json:
    """``markdown_text`` can not stand beside blocks, so a message with buttons is two blocks of the same Markdown."""
    if not part.buttons:
        return {"markdown_text": part.text}
    buttons = [
        {
            "type": "button",
            "text": {"type": "plain_text", "text": button.label},
            "value": button.data,
            "action_id": button.data.partition(":")[0],
        }
        for button in part.buttons
    ]
    blocks = [{"type": "markdown", "text": part.text}, {"type": "actions", "elements": buttons}]
    return {"blocks": blocks, "text": part.text[:FALLBACK]}


def _sdk_logger() -> logging.Logger:
    """The SDK's debug lines hold whole messages, and are made even where nobody reads them."""
    sdk_logger = logger.getChild("sdk")
    sdk_logger.setLevel(logging.WARNING)
    return sdk_logger


def _mark(message: Json) -> str | None:
    """The mark on a message of a bot; people can not set metadata."""
    metadata = message.get("metadata") or {}
    if not message.get("bot_id") or metadata.get("event_type") != MARK_EVENT:
        return None
    mark = (metadata.get("event_payload") or {}).get("mark")
    return mark if isinstance(mark, str) else None


async def _called(call: Awaitable[AsyncSlackResponse]) -> AsyncSlackResponse:
    """The call's answer, or a SendError that says what Slack did with it."""
    try:
        return await call
    except SlackApiError as error:
        raise _refusal(error.response) from error
    except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
        raise SendLater(f"not reached: {type(error).__name__}", UNREACHED_RETRY) from error
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise SendUncertain(f"cut: {type(error).__name__}") from error
    except AttributeError as error:  # the SDK's way to say that an answer was plain text
        raise SendUncertain("the answer was not Slack's") from error


def _refusal(response: object) -> SendError:
    """Slack refuses with HTTP 200 and ``ok: false``, or with 429; anything else came from something in between."""
    if not isinstance(response, AsyncSlackResponse):
        return SendUncertain("the answer was not JSON")
    code = str(response.data.get("error", "")) if isinstance(response.data, dict) else ""
    if response.status_code == 429 or code in FLOOD:
        return SendLater(code or "ratelimited", _flood_wait(response.headers))
    if not code or code in UNCERTAIN:
        return SendUncertain(code or f"HTTP {response.status_code}")
    if code in GONE:
        return MessageGone(code)
    if code in CLOSED:
        return ChatClosed(code)
    return SendRefused(code)


def _flood_wait(headers: Json) -> float:
    try:
        return float(headers["Retry-After"])
    except (KeyError, ValueError):
        return UNNAMED_FLOOD_WAIT
