"""Calls of the Web API: one connection pool, and Slack's refusals in our words.

Source: docs.slack.dev/reference/methods; slack_sdk 3.48.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Protocol
from urllib.parse import urlsplit

import aiohttp
from msgspec import Struct
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.channels.fields import object_at, objects_at, text_at
from bot.errors import ChatClosed, MessageGone, SendError, SendLater, SendRefused, SendUncertain, TokenGone
from bot.messages import Json
from bot.tracing import span

TIMEOUT = aiohttp.ClientTimeout(total=10, connect=3)
UNREACHED_RETRY = 2.0
"""Seconds until the next try where Slack could not be reached at all."""
UNNAMED_FLOOD_WAIT = 5.0
"""Seconds to wait where Slack says "rate limited" but not for how long."""
PAGE, MOST_PAGES = 200, 5
"""How far a thread is read: it comes oldest first, so its last messages may be some pages away."""

FLOOD = frozenset({"ratelimited", "rate_limited"})
GONE = frozenset({"message_not_found", "cant_update_message", "cant_delete_message", "edit_window_closed"})
CLOSED = frozenset(
    {
        "channel_not_found",
        "not_in_channel",
        "is_archived",
        "is_inactive",
        "team_access_not_granted",
        "restricted_action",
        "restricted_action_read_only_channel",
        "restricted_action_thread_locked",
        "messages_tab_disabled",
    }
)
UNKNOWN_TOKEN = frozenset({"account_inactive", "token_revoked", "token_expired", "invalid_auth", "not_authed"})
UNCERTAIN = frozenset({"fatal_error", "internal_error", "request_timeout", "service_unavailable"})

logger = logging.getLogger(__name__)


class _Client(AsyncWebClient):
    async def api_call(self, api_method: str, **arguments: Any) -> AsyncSlackResponse:
        with span(f"slack {api_method}", {"rpc.method": api_method}, kind="client"):
            return await super().api_call(api_method, **arguments)


class Tokens(Protocol):
    """With which token to speak in a workspace."""

    async def token(self, team: str) -> str:
        """Raises ChatClosed where the app is not, or no more, installed there; TokenGone where what is kept of it is
        good for nothing; SendLater where that can not be told now."""


class OneToken(Struct, frozen=True):
    """An app in one workspace, whichever that is."""

    value: str

    async def token(self, team: str) -> str:
        return self.value


class Connection:
    """The app's tokens and its connections, which are made inside the loop that uses them first."""

    def __init__(self, tokens: Tokens, base_url: str) -> None:
        self._tokens = tokens
        self._base_url = base_url
        self._session: aiohttp.ClientSession | None = None

    @property
    def session(self) -> aiohttp.ClientSession:
        if self._session is None or self._session.closed:
            self._session = aiohttp.ClientSession(timeout=TIMEOUT)
        return self._session

    async def client(self, team: str) -> AsyncWebClient:
        """The SDK on our own connections: by itself it opens one per call. It repeats nothing: it may have arrived.
        Raises SendErrors."""
        token = await self._tokens.token(team)
        return _Client(token, self._base_url, session=self.session, retry_handlers=[], logger=_sdk_logger())

    async def headers_for(self, url: str, team: str) -> dict[str, str] | None:
        """What proves us to Slack's own file servers, or the one we were told to use; None for any other address: the
        token goes nowhere else. Raises SendErrors."""
        where, ours = urlsplit(url), urlsplit(self._base_url)
        slack = where.scheme == "https" and (where.hostname or "").endswith(".slack.com")
        same = (where.scheme, where.netloc) == (ours.scheme, ours.netloc)
        if not slack and not same:
            return None
        return {"Authorization": f"Bearer {await self._tokens.token(team)}"}

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()


def _sdk_logger() -> logging.Logger:
    """The SDK's debug lines hold whole messages, and are made even where nobody reads them."""
    sdk_logger = logger.getChild("sdk")
    sdk_logger.setLevel(logging.WARNING)
    return sdk_logger


async def called(call: Awaitable[AsyncSlackResponse]) -> Json:
    """The call's answer, or a SendError that says what Slack did with it."""
    try:
        response = await call
    except SlackApiError as error:
        raise _refusal(error.response) from error
    except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
        raise SendLater(f"not reached: {type(error).__name__}", UNREACHED_RETRY) from error
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise SendUncertain(f"cut: {type(error).__name__}") from error
    except AttributeError as error:  # the SDK's way to say that an answer was plain text
        raise SendUncertain("the answer was not Slack's") from error
    return response.data if isinstance(response.data, dict) else {}


async def paged(ask: Callable[..., Awaitable[AsyncSlackResponse]]) -> AsyncIterator[Json]:
    """The messages that a call gives page by page, as far as they are read. Raises SendErrors."""
    cursor = ""
    for _ in range(MOST_PAGES):
        page = await called(ask(limit=PAGE, cursor=cursor or None))
        for message in objects_at(page, "messages"):
            yield message
        cursor = text_at(object_at(page, "response_metadata"), "next_cursor")
        if not cursor:
            return


def _refusal(response: object) -> SendError:
    """Slack refuses with HTTP 200 and ``ok: false``, or with 429; anything else came from something in between."""
    if not isinstance(response, AsyncSlackResponse):
        return SendUncertain("the answer was not JSON")
    code = str(response.data.get("error", "")) if isinstance(response.data, dict) else ""
    if response.status_code == 429 or code in FLOOD:
        return SendLater(code or "ratelimited", flood_wait(response.headers))
    if not code or code in UNCERTAIN:
        return SendUncertain(code or f"HTTP {response.status_code}")
    if code in GONE:
        return MessageGone(code)
    if code in CLOSED:
        return ChatClosed(code)
    if code in UNKNOWN_TOKEN:
        return TokenGone(code)
    return SendRefused(code)


def flood_wait(headers: Json) -> float:
    try:
        return float(headers["Retry-After"])
    except (KeyError, ValueError):
        return UNNAMED_FLOOD_WAIT
