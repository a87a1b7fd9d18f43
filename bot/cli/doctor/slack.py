"""Slack: the bot's token and its scopes, Socket Mode, the signing secret.

Source: docs.slack.dev/reference/methods/auth.test, apps.connections.open; every answer names the token's scopes in the
header x-oauth-scopes.
"""

import asyncio
import json
from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.channels.slack.calls import Connection
from bot.cli.doctor.check import Check, green, red, yellow
from bot.cli.doctor.situation import Situation
from handlers.settings import Settings

MANIFEST = Path(__file__).parents[3] / "docs/slack-manifest.json"
INSTALL = "under OAuth & Permissions of the app, then install the app again."
TOKEN_NEXT = "Copy the Bot User OAuth Token (xoxb-) from OAuth & Permissions into SLACK_BOT_TOKEN."  # noqa: S105
APP_NEXT = (
    "Switch Socket Mode on, make an app-level token (xapp-) with the scope connections:write under Basic Information, "
    "and set SLACK_APP_TOKEN to it."
)


class Refused(Exception):
    """Slack's word for why, or what kept us from Slack."""


async def examine(settings: Settings, situation: Situation) -> Sequence[Check]:
    if not settings.slack_bot_token and not settings.slack_app_token and not settings.slack_signing_secret:
        return []
    bot, way = await asyncio.gather(_bot(settings), _way_in(settings, situation))
    return [*bot, *way]


async def _bot(settings: Settings) -> list[Check]:
    if not settings.slack_bot_token.startswith("xoxb-"):
        says = "SLACK_BOT_TOKEN is no bot token." if settings.slack_bot_token else "SLACK_BOT_TOKEN is missing."
        return [red("slack token", f"{says[:-1]}, so the bot can not answer.", TOKEN_NEXT)]
    connection = Connection(settings.slack_bot_token, settings.slack_api_base_url)
    try:
        answer = await _answer(connection.client.auth_test())
    except Refused as refusal:
        return [_not_asked("slack token", "SLACK_BOT_TOKEN", str(refusal), TOKEN_NEXT)]
    finally:
        await connection.close()
    who = f"The bot is {answer.get('user')} in {answer.get('team')}."
    return [green("slack token", who), _scopes(answer)]


def _scopes(answer: AsyncSlackResponse) -> Check:
    headers = {name.lower(): value for name, value in answer.headers.items()}
    granted = {scope.strip() for scope in headers.get("x-oauth-scopes", "").split(",")}
    try:
        manifest: Any = json.loads(MANIFEST.read_bytes())
    except OSError:
        return yellow(
            "slack scopes", "docs/slack-manifest.json is not here to compare with.", "Run kabar from its folder."
        )
    missing = sorted(set(manifest["oauth_config"]["scopes"]["bot"]) - granted)
    if missing:
        return red("slack scopes", f"The token lacks {', '.join(missing)}.", f"Add {', '.join(missing)} {INSTALL}")
    return green("slack scopes", "The token has every scope of docs/slack-manifest.json.")


async def _way_in(settings: Settings, situation: Situation) -> list[Check]:
    """Events come by Socket Mode where there is an app token, else signed to an address."""
    checks = []
    if settings.slack_app_token:
        checks.append(await _socket(settings))
    if settings.slack_signing_secret:
        checks.append(_signing(settings))
    elif situation.deployed or not settings.slack_app_token:
        says = "SLACK_SIGNING_SECRET is missing, so every event is refused."
        checks.append(red("slack signing secret", says, "Copy the Signing Secret from the app's Basic Information."))
    return checks


def _signing(settings: Settings) -> Check:
    if settings.slack_signing_secret.startswith("xox") or settings.slack_signing_secret.startswith("xapp-"):
        says = "SLACK_SIGNING_SECRET is a token, so every event is refused."
        return red("slack signing secret", says, "Copy the Signing Secret from the app's Basic Information.")
    return green("slack signing secret", "It is there; kabar doctor --url <address> tries it.")


async def _socket(settings: Settings) -> Check:
    if not settings.slack_app_token.startswith("xapp-"):
        return red("slack socket mode", "SLACK_APP_TOKEN is no app-level token.", APP_NEXT)
    connection = Connection(settings.slack_app_token, settings.slack_api_base_url)
    try:
        await _answer(connection.client.apps_connections_open(app_token=settings.slack_app_token))
    except Refused as refusal:
        return _not_asked("slack socket mode", "SLACK_APP_TOKEN", str(refusal), APP_NEXT)
    finally:
        await connection.close()
    return green("slack socket mode", "Slack hands out a socket for SLACK_APP_TOKEN.")


async def _answer(call: Awaitable[AsyncSlackResponse]) -> AsyncSlackResponse:
    try:
        return await call
    except SlackApiError as error:
        answer = error.response
        raise Refused(str(answer.get("error")) if isinstance(answer, AsyncSlackResponse) else "") from error
    except (aiohttp.ClientError, TimeoutError, OSError, AttributeError) as error:  # the last: an answer of plain text
        raise Refused from error


def _not_asked(name: str, token: str, refusal: str, next: str) -> Check:
    match refusal:
        case "":
            return red(name, "Slack can not be reached.", "Look at SLACK_API_BASE_URL and at the network.")
        case "ratelimited":
            return yellow(name, "Slack wants to be asked less often.", "Run kabar doctor again in a minute.")
        case "missing_scope":
            return red(name, f"{token} lacks the scope for it.", next)
        case "token_revoked" | "account_inactive" | "token_expired":
            return red(name, f"{token} is no longer good ({refusal}).", f"Install the app again. {next}")
    return red(name, f"Slack refuses {token} ({refusal}).", next)
