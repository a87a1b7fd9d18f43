"""Slack: the bot's token and its scopes, Socket Mode, the signing secret, and the app itself.

What an app is (its events, addresses, Socket Mode) Slack tells nobody but the bearer of an app configuration token,
which a person makes at api.slack.com/apps for twelve hours: it is read from SLACK_CONFIG_TOKEN, and without one that
part is left out. Source: docs.slack.dev/reference/methods/auth.test, apps.connections.open, apps.manifest.export.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.channels.slack.calls import Connection, OneToken
from bot.channels.slack.manifest import EVENTS, PATH
from bot.examining import Check, green, red, yellow
from handlers.doctor.kinds import APP, BOT, another
from handlers.doctor.situation import Situation
from handlers.doctor.slack_tokens import GONE, Refused, answer, app_behind, app_of, missing_scopes
from handlers.door import NO_SEAL, install_faults
from handlers.settings import Settings, many_workspaces

SIGNING_NEXT = "Copy the Signing Secret from the app's Basic Information."
EITHER_NEXT = f"{SIGNING_NEXT} For kabar run it is SLACK_APP_TOKEN that is missing: run kabar setup."
TOKEN_NEXT = "Copy the Bot User OAuth Token (xoxb-) from OAuth & Permissions into SLACK_BOT_TOKEN."  # noqa: S105
APP_NEXT = (
    "Switch Socket Mode on, make an app-level token (xapp-) with the scope connections:write under Basic Information, "
    "and set SLACK_APP_TOKEN to it."
)


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
        is_what = another(settings.slack_bot_token, BOT) or ("no bot token" if settings.slack_bot_token else "missing")
        return [red("slack token", f"SLACK_BOT_TOKEN is {is_what}: the bot can not answer.", TOKEN_NEXT)]
    connection = Connection(OneToken(settings.slack_bot_token), settings.slack_api_base_url)
    try:
        about = await answer((await connection.client("")).auth_test())
        name = f"The bot is {about.get('user')} in {about.get('team')}."
        checks = [green("slack token", name), _scopes(about)]
        bot = str(about.get("bot_id"))
        if named := app_of(settings.slack_app_token):
            checks += await _one_app(connection, bot, named)
        if config_token:
            checks.append(await _app(connection, bot, config_token, settings, situation))
        return checks
    except Refused as refusal:
        return [_not_asked("slack token", "SLACK_BOT_TOKEN", str(refusal), TOKEN_NEXT)]
    finally:
        await connection.close()


async def _one_app(connection: Connection, bot: str, named: str) -> list[Check]:
    """The socket brings the events of the app that its token is of, ``named``. Nothing where Slack does not tell: what
    is missing for that is among the scopes."""
    try:
        app = await app_behind(await connection.client(""), bot)
    except Refused:
        return []
    if app != named:
        says = f"SLACK_APP_TOKEN is of the app {named}, SLACK_BOT_TOKEN of {app}: what people write is not heard."
        return [red("slack apps", says, f"Make the app-level token (xapp-) under Basic Information of {app}.")]
    return [green("slack apps", f"Both tokens are of the app {app}.")]


async def _app(connection: Connection, bot: str, config_token: str, settings: Settings, situation: Situation) -> Check:
    try:
        client = await connection.client("")
        asked = client.apps_manifest_export(app_id=await app_behind(client, bot), token=config_token)
        app = (await answer(asked))["manifest"]
    except Refused as refusal:
        do = "Make another app configuration token at api.slack.com/apps for SLACK_CONFIG_TOKEN, or leave it out."
        return yellow("slack app", f"Slack does not tell what the app is ({refusal or 'it can not be reached'}).", do)
    by_socket = bool(settings.slack_app_token) and not situation.deployed
    missing = sorted(set(EVENTS) - _events(app))
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
        do = "Switch Socket Mode on for the app." if by_socket else "Switch Socket Mode off for the app."
        return red("slack app", says, do)
    wanted = f"{situation.url}{PATH}" if situation.url and not by_socket else ""
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


def _scopes(about: AsyncSlackResponse) -> Check:
    if missing := missing_scopes(about):
        do = f"Add {', '.join(missing)} under OAuth & Permissions of the app, then install the app again."
        return red("slack scopes", f"The token lacks {', '.join(missing)}.", do)
    return green("slack scopes", "The token has every scope that the bot's manifest names.")


async def _way_in(settings: Settings, situation: Situation) -> list[Check]:
    """Events come by Socket Mode where there is an app token, else signed to an address."""
    checks = []
    if settings.slack_app_token:
        checks.append(await _socket(settings))
    if settings.slack_signing_secret:
        checks.append(_signing(settings))
    elif situation.deployed or not settings.slack_app_token:
        says = "SLACK_SIGNING_SECRET is missing, so every event is refused."
        checks.append(red("slack signing secret", says, SIGNING_NEXT if situation.by_webhook else EITHER_NEXT))
    return checks


def _signing(settings: Settings) -> Check:
    if settings.slack_signing_secret.startswith("xox") or settings.slack_signing_secret.startswith("xapp-"):
        says = "SLACK_SIGNING_SECRET is a token, so every event is refused."
        return red("slack signing secret", says, SIGNING_NEXT)
    return green("slack signing secret", "It is there; kabar doctor --url <address> tries it.")


async def _socket(settings: Settings) -> Check:
    if not settings.slack_app_token.startswith("xapp-"):
        is_what = another(settings.slack_app_token, APP) or "no app-level token"
        return red("slack socket mode", f"SLACK_APP_TOKEN is {is_what}.", APP_NEXT)
    connection = Connection(OneToken(settings.slack_app_token), settings.slack_api_base_url)
    try:
        client = await connection.client("")
        await answer(client.apps_connections_open(app_token=settings.slack_app_token))
    except Refused as refusal:
        return _not_asked("slack socket mode", "SLACK_APP_TOKEN", str(refusal), APP_NEXT)
    finally:
        await connection.close()
    return green("slack socket mode", "Slack hands out a socket for SLACK_APP_TOKEN.")


def _not_asked(name: str, token: str, refusal: str, next: str) -> Check:
    match refusal:
        case "":
            return red(name, "Slack can not be reached.", "Look at SLACK_API_BASE_URL and at the network.")
        case "ratelimited":
            return yellow(name, "Slack wants to be asked less often.", "Run kabar doctor again in a minute.")
        case "missing_scope":
            return red(name, f"{token} lacks the scope for it.", next)
        case _ if refusal in GONE:
            return red(name, f"{token} is no longer good ({refusal}).", f"Install the app again. {next}")
    return red(name, f"Slack refuses {token} ({refusal}).", next)
