"""What Slack says of a token, for whoever sets the bot up or examines it.

Every answer names the token's scopes in the header x-oauth-scopes. An app-level token names its app, as in
xapp-1-A123-456-789. Source: docs.slack.dev/authentication/tokens, docs.slack.dev/reference/methods/auth.test.
"""

import re
from collections.abc import Awaitable

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.channels.slack.manifest import SCOPES

GONE = frozenset({"token_revoked", "account_inactive", "token_expired"})
"""Slack's words for a token that was good once."""


class Refused(Exception):
    """Slack's word for why; "" where Slack was not reached."""


async def answer(call: Awaitable[AsyncSlackResponse]) -> AsyncSlackResponse:
    """Raises Refused."""
    try:
        return await call
    except SlackApiError as error:
        response = error.response
        raise Refused(str(response.get("error")) if isinstance(response, AsyncSlackResponse) else "") from error
    except (aiohttp.ClientError, TimeoutError, OSError, AttributeError) as error:  # the last: an answer of plain text
        raise Refused from error


def missing_scopes(answer: AsyncSlackResponse) -> list[str]:
    """What the token lacks of the manifest's, as any answer to it tells."""
    headers = {name.lower(): value for name, value in answer.headers.items()}
    granted = {scope.strip() for scope in headers.get("x-oauth-scopes", "").split(",")}
    return sorted(set(SCOPES) - granted)


def app_of(app_token: str) -> str:
    """The id of the app that an app-level token is of, "" where it does not say."""
    found = re.match(r"xapp-\d+-(A[A-Z0-9]+)-", app_token)
    return found[1] if found else ""


async def app_behind(client: AsyncWebClient, bot: str) -> str:
    """The id of the app whose bot this is, ``bot`` as auth.test names it. Raises Refused."""
    about = await answer(client.bots_info(bot=bot))
    return str(about["bot"]["app_id"])
