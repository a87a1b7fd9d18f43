"""Slack: the tokens tried, the person who is to own the bot heard or looked up, and the bot's first words.

Source: docs.slack.dev/reference/methods/auth.test, apps.connections.open, users.info, chat.postMessage.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec import Struct
from slack_sdk.web.async_client import AsyncWebClient

from bot.channels.slack.calls import Connection, OneToken
from bot.channels.slack.parse import Departed
from bot.channels.slack.socket import listen
from bot.cli.setup.code import is_code
from bot.cli.setup.wrong import Unfit, Wrong, expect
from bot.errors import ConfigError, StoreUnavailable
from bot.messages import Inbound, Person
from handlers.doctor.kinds import APP, BOT
from handlers.doctor.slack_tokens import GONE, Refused, answer, app_behind, app_of, missing_scopes

SHORTEST_SECRET = 16
"""Characters; Slack's have 32."""


class Account(Struct, frozen=True):
    """``team`` is the workspace's id, ``app`` the id of the app that the bot is of."""

    user: str
    team: str
    team_name: str
    app: str

    @property
    def title(self) -> str:
        return f"Slack: {self.user}, {self.team_name}"


class Known(Struct, frozen=True):
    title: str


@asynccontextmanager
async def speaking(token: str, base_url: str) -> AsyncIterator[AsyncWebClient]:
    """Raises Wrong for what Slack refuses of what is done inside."""
    connection = Connection(OneToken(token), base_url)
    try:
        yield await connection.client("")
    except Refused as refusal:
        raise _wrong(str(refusal)) from refusal
    finally:
        await connection.close()


async def account(token: str, base_url: str) -> Account:
    """Whose token it is. Raises Wrong, also where it lacks a scope."""
    expect(token, BOT)
    if not token.startswith("xoxb-"):
        raise Unfit("slack_bot_form")
    async with speaking(token, base_url) as client:
        about = await answer(client.auth_test())
        if missing := missing_scopes(about):
            raise Wrong("slack_scopes", scopes=", ".join(missing))
        app = await app_behind(client, str(about.get("bot_id")))
    return Account(str(about.get("user")), str(about.get("team_id")), str(about.get("team")), app)


async def socket(token: str, base_url: str, bot: Account) -> Known:
    """Whether Slack hands out a socket for this app-level token, of the app that the bot is of. Raises Wrong."""
    expect(token, APP)
    if not token.startswith("xapp-"):
        raise Unfit("slack_app_form")
    if (app := app_of(token)) and app != bot.app:
        raise Unfit("slack_two_apps", app=app, bot=bot.app)
    try:
        async with speaking(token, base_url) as client:
            await answer(client.apps_connections_open(app_token=token))
    except Wrong as wrong:
        raise Wrong("slack_no_socket") if wrong.values.get("why") == "missing_scope" else wrong from wrong
    return Known("Slack: Socket Mode")


async def signing_secret(secret: str) -> Known:
    """Told by its form alone: Slack tells nobody whether it is right. Raises Wrong."""
    expect(secret, "")
    if len(secret) < SHORTEST_SECRET:
        raise Unfit("slack_secret_form")
    return Known("Slack: Signing Secret")


async def sender_of(code: str, app_token: str, base_url: str) -> Person:
    """Whoever sends the bot this code in a direct message. Nothing else is acknowledged, so Slack sends it again, to
    the bot. Raises Wrong where Slack hands nothing out."""
    heard: asyncio.Future[Person] = asyncio.get_running_loop().create_future()

    async def take(inbound: Inbound) -> None:
        if not is_code(inbound, code):
            raise StoreUnavailable("not for a set-up")
        if not heard.done():
            heard.set_result(inbound.sender)

    async def leave(gone: Departed) -> None:
        """Nothing is kept of an installation before there is a bot."""

    def ended(listening: asyncio.Task[None]) -> None:
        if not heard.done():
            heard.set_exception(listening.exception() or ConfigError("the socket is closed"))

    listening = asyncio.create_task(listen(app_token, base_url, take, leave))
    listening.add_done_callback(ended)
    try:
        return await heard
    except ConfigError as error:
        raise Wrong("slack_deaf") from error
    finally:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)


async def person(user: str, token: str, base_url: str, bot: Account) -> Person:
    """Somebody of the workspace, by the member id. Raises Wrong."""
    async with speaking(token, base_url) as client:
        try:
            about = (await answer(client.users_info(user=user)))["user"]
        except Refused as refusal:
            if str(refusal) in ("user_not_found", "user_not_visible"):
                raise Wrong("slack_nobody", user=user) from refusal
            raise
    return Person(f"slack:{bot.team}:{user}", str(about.get("real_name") or about.get("name") or ""))


async def greet(person: str, words: str, token: str, base_url: str) -> None:
    """Write to this person, ``slack:T1:U1``, in direct messages. Raises Wrong."""
    async with speaking(token, base_url) as client:
        await answer(client.chat_postMessage(channel=person.rpartition(":")[2], text=words))


def _wrong(refusal: str) -> Wrong:
    if not refusal:
        return Wrong("slack_away")
    if refusal in GONE:
        return Wrong("slack_gone", why=refusal)
    if refusal in ("invalid_auth", "not_authed"):
        return Unfit("slack_unknown")
    if refusal == "ratelimited":
        return Wrong("slack_flood")
    return Wrong("slack_refuses", why=refusal)
