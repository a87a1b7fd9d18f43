"""Tokens from Slack: for the code that an installation brings, and for the token that renews them.

Slack's SDK is loaded with the first call: a webhook function starts without it.
Source: docs.slack.dev/authentication/installing-with-oauth, docs.slack.dev/authentication/using-token-rotation.
"""

import asyncio
import uuid
from http.client import HTTPException

import msgspec
from msgspec import Struct

from bot.channels.fields import number_at, object_at, text_at
from bot.errors import SendRefused, SendUncertain
from bot.messages import Installation, Json
from bot.ports import Seal

TIMEOUT = 5
"""Seconds."""
NAME_LIMIT = 100
"""Characters of a workspace's name, which its owner chose, that our own hears."""


class App(Struct, frozen=True):
    client_id: str
    client_secret: str
    base_url: str


class Pair(Struct, frozen=True):
    """``renewal`` buys the next pair, once; "" where the first never ends."""

    access: str
    renewal: str = ""


async def access(app: App, **grant: str) -> Json:
    """The answer of oauth.v2.access. Raises SendRefused with Slack's word for why, and SendUncertain where it may have
    taken what it was given, which is good once."""
    return await asyncio.to_thread(_access, app, grant)


def _access(app: App, grant: dict[str, str]) -> Json:
    from slack_sdk import WebClient
    from slack_sdk.errors import SlackApiError

    client = WebClient(base_url=app.base_url, timeout=TIMEOUT, retry_handlers=[])
    try:
        answer = client.oauth_v2_access(client_id=app.client_id, client_secret=app.client_secret, **grant)
    except SlackApiError as error:
        code = error.response.get("error") if isinstance(error.response.data, dict) else ""
        if not code or error.response.status_code >= 500:
            raise SendUncertain(f"HTTP {error.response.status_code}") from error
        raise SendRefused(str(code)) from error
    except (OSError, HTTPException, ValueError) as error:  # the last: an answer that is no JSON
        raise SendUncertain(type(error).__name__) from error
    return answer.data if isinstance(answer.data, dict) else {}


async def installation_of(answer: Json, now: int, seal: Seal) -> Installation:
    """What an installation is to be kept as. Raises SendRefused where the answer holds no bot's token, and what
    ``Seal.close`` raises."""
    whole = answer.get("is_enterprise_install") is True
    where = object_at(answer, "enterprise" if whole else "team")
    team = text_at(where, "id")
    if not team or not text_at(answer, "access_token"):
        raise SendRefused("no_bot_token")
    return Installation(
        team=team,
        name=text_at(where, "name")[:NAME_LIMIT],
        bot=text_at(answer, "bot_user_id"),
        installer=text_at(object_at(answer, "authed_user"), "id"),
        at=now,
        tokens=await sealed(answer, team, seal),
        stamp=uuid.uuid4().hex,
        expires=ends(answer, now),
    )


async def sealed(answer: Json, team: str, seal: Seal) -> bytes:
    pair = Pair(text_at(answer, "access_token"), text_at(answer, "refresh_token"))
    return await seal.close(_about(team), msgspec.json.encode(pair))


async def opened(installation: Installation, seal: Seal) -> Pair:
    return msgspec.json.decode(await seal.open(_about(installation.team), installation.tokens), type=Pair)


def ends(answer: Json, now: int) -> int:
    """When the token does, in Unix seconds; 0 for never."""
    seconds = number_at(answer, "expires_in")
    return now + seconds if seconds else 0


def _about(team: str) -> str:
    return f"slack:{team}"
