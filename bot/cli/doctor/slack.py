"""Slack: the bot's token and its scopes, Socket Mode, the signing secret, and the app itself.

What an app is (its events, addresses, Socket Mode) Slack tells nobody but the bearer of an app configuration token,
which a person makes at api.slack.com/apps for twelve hours: it is read from SLACK_CONFIG_TOKEN, and without one that
part is left out. Source: docs.slack.dev/reference/methods/auth.test, apps.connections.open, apps.manifest.export; every
answer names the token's scopes in the header x-oauth-scopes.
"""

import asyncio
import json
from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.channels.slack.calls import Connection, OneToken
from bot.cli.doctor.check import Check, green, red, yellow
from bot.cli.doctor.situation import Situation
from handlers.door import NO_SEAL, install_faults
from handlers.settings import Settings, many_workspaces

MANIFEST = Path(__file__).parents[3] / "docs/slack-manifest.json"
INSTALL = "under OAuth & Permissions of the app, then install the app again."
TOKEN_NEXT = "Copy the Bot User OAuth Token (xoxb-) from OAuth & Permissions into SLACK_BOT_TOKEN."  # noqa: S105
APP_NEXT = (
    "Switch Socket Mode on, make an app-level token (xapp-) with the scope connections:write under Basic Information, "
    "and set SLACK_APP_TOKEN to it."
)


class Refused(Exception):
    """Slack's word for why, or what kept us from Slack."""


async def examine(settings: Settings, situation: Situation, config_token: str = "") -> Sequence[Check]:
    """``config_token`` is an app configuration token, "" where there is none."""
    ways = (settings.slack_bot_token, settings.slack_client_id, settings.slack_app_token, settings.slack_signing_secret)
    if not any(ways):
        return []
    if many_workspaces(settings):
        return [*_installs(settings, situation), *await _way_in(settings, situation)]
    bot, way = await asyncio.gather(_bot(settings, situation, config_token), _way_in(settings, situation))
    return [*bot, *way]


def _installs(settings: Settings, situation: Situation) -> list[Check]:
    """The app is installed by a page: which tokens there are, the store alone knows."""
    name = "slack installs"
    if faults := install_faults(settings):
        return [red(name, "No workspace can install the app.", fault) for fault in faults]
    if situation.deployed and not settings.kabar_seal_key:
        return [red(name, "No workspace can install the app.", NO_SEAL)]
    if settings.kabar_allowed_users.strip() == "*":
        says = "Whoever installs the app may use it, with all of their workspace, at your cost."
        return [yellow(name, says, "Take * out of KABAR_ALLOWED_USERS: you are asked about each who writes.")]
    page = f"{situation.url}/slack/install" if situation.url else "/slack/install"
    return [green(name, f"Workspaces install the app at {page}.")]


async def _bot(settings: Settings, situation: Situation, config_token: str) -> list[Check]:
    if not settings.slack_bot_token.startswith("xoxb-"):
        says = "SLACK_BOT_TOKEN is no bot token." if settings.slack_bot_token else "SLACK_BOT_TOKEN is missing."
        return [red("slack token", f"{says[:-1]}, so the bot can not answer.", TOKEN_NEXT)]
    connection = Connection(OneToken(settings.slack_bot_token), settings.slack_api_base_url)
    try:
        answer = await _answer((await connection.client("")).auth_test())
        name = f"The bot is {answer.get('user')} in {answer.get('team')}."
        checks = [green("slack token", name), _scopes(answer)]
        if config_token:
            checks.append(await _app(connection, str(answer.get("bot_id")), config_token, settings, situation))
        return checks
    except Refused as refusal:
        return [_not_asked("slack token", "SLACK_BOT_TOKEN", str(refusal), TOKEN_NEXT)]
    finally:
        await connection.close()


async def _app(connection: Connection, bot: str, config_token: str, settings: Settings, situation: Situation) -> Check:
    try:
        client = await connection.client("")
        about = await _answer(client.bots_info(bot=bot))
        asked = client.apps_manifest_export(app_id=about["bot"]["app_id"], token=config_token)
        app = (await _answer(asked))["manifest"]
    except Refused as refusal:
        do = "Make another app configuration token at api.slack.com/apps for SLACK_CONFIG_TOKEN, or leave it out."
        return yellow("slack app", f"Slack does not tell what the app is ({refusal or 'it can not be reached'}).", do)
    by_socket = bool(settings.slack_app_token) and not situation.deployed
    missing = sorted(_events(_manifest()) - _events(app))
    if missing:
        says = f"The app is not told of {', '.join(missing)}."
        return red(
            "slack app", says, f"Add {', '.join(missing)} under Event Subscriptions, then install the app again."
        )
    if not app.get("settings", {}).get("interactivity", {}).get("is_enabled"):
        return red("slack app", "Its buttons do nothing.", "Switch Interactivity on, under Interactivity & Shortcuts.")
    if bool(app["settings"].get("socket_mode_enabled")) != by_socket:
        says = (
            "Socket Mode is off, but the bot waits at a socket."
            if by_socket
            else "Socket Mode is on, so the address gets nothing."
        )
        return red("slack app", says, f"Switch Socket Mode {'on' if by_socket else 'off'} for the app.")
    wanted = f"{situation.url}/slack/events" if situation.url and not by_socket else ""
    if wanted and (elsewhere := [url for url in _addresses(app) if url != wanted]):
        says = f"Slack sends to {elsewhere[0] or 'no address'}, which is not this bot's."
        return red("slack app", says, f"Set {wanted} for events, for interactivity and for the slash command.")
    return green("slack app", "Its events, interactivity and way in are those that the bot needs.")


def _events(manifest: Any) -> set[str]:
    return set(manifest.get("settings", {}).get("event_subscriptions", {}).get("bot_events", ()))


def _addresses(manifest: Any) -> list[str]:
    """For events, for interactivity and for each slash command; "" where none is set."""
    settings, commands = manifest["settings"], manifest.get("features", {}).get("slash_commands", ())
    own = [settings.get(name, {}).get("request_url", "") for name in ("event_subscriptions", "interactivity")]
    return [*own, *(command.get("url", "") for command in commands)]


def _manifest() -> Any:
    return json.loads(MANIFEST.read_bytes())


def _scopes(answer: AsyncSlackResponse) -> Check:
    headers = {name.lower(): value for name, value in answer.headers.items()}
    granted = {scope.strip() for scope in headers.get("x-oauth-scopes", "").split(",")}
    try:
        manifest = _manifest()
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
    connection = Connection(OneToken(settings.slack_app_token), settings.slack_api_base_url)
    try:
        client = await connection.client("")
        await _answer(client.apps_connections_open(app_token=settings.slack_app_token))
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
