"""The simulator as one object and one ASGI application.

    simulator = Simulator(pace=QUICK)
    async with serve(simulator) as url:
        simulator.connect(bot_url)
        await simulator.telegram.say(ANN_CHAT, "ann", "hi")
        answer = await simulator.telegram.wait_for(lambda message: message.is_bot)

The bot's base addresses are ``telegram_base_url(url)`` and ``slack_base_url(url)``.
"""

import asyncio
import mimetypes
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.types import ASGIApp

from simulator import serving, slack, slack_methods, telegram, telegram_methods
from simulator.deliver import Courier, Pace, SlackEvents, Tasks, TelegramWebhook
from simulator.door import door_routes
from simulator.slack import Slack, Workspace
from simulator.slack_limits import Refused
from simulator.slack_methods import WebApi
from simulator.slack_oauth import OAuth, by_token
from simulator.slack_socket import accept_socket
from simulator.telegram import Telegram
from simulator.telegram_methods import BotApi
from simulator.wire import Unreadable, answer, read_params, reply
from simulator.world import Fault, Json, World

if TYPE_CHECKING:
    from simulator.inspector import Inspector


class Simulator:
    """Both platforms over one world.

    ``first_message`` is what Telegram's message and update ids begin after. ``model`` is an ASGI app for /model,
    ``inspector`` tells the page what the bot's turns did.
    """

    def __init__(
        self,
        *,
        pace: Pace | None = None,
        now: Callable[[], float] = time.time,
        first_message: int = 0,
        telegram_token: str = telegram.TOKEN,
        slack_bot_token: str = slack.BOT_TOKEN,
        slack_app_token: str = slack.APP_TOKEN,
        model: ASGIApp | None = None,
        inspector: "Inspector | None" = None,
    ) -> None:
        pace = pace or Pace()
        self.inspector = inspector
        self.world = World(now)
        self._tasks = Tasks()
        self._courier = Courier()
        self.webhook = TelegramWebhook(self.world, self._tasks, self._courier, pace)
        self.events = SlackEvents(self.world, self._tasks, self._courier, pace)
        self.telegram = Telegram(self.world, self.webhook, telegram_token, first_message)
        self.slack = Slack(self.world, self.events, slack_bot_token, slack_app_token)
        self.oauth = OAuth(self.world)
        self.oauth.workspaces.append(self.slack)
        self.bot_api = BotApi(self.telegram)
        self.web_apis = {self.slack.workspace.team: WebApi(self.slack)}
        self.webhook.reply = self.bot_api.obey
        self.events.reply = self.slack.answer_command
        self.app = Starlette(routes=self._routes(model), lifespan=self._lifespan)

    def connect(
        self,
        bot_url: str,
        *,
        telegram_secret: str = telegram.SECRET,
        slack_signing_secret: str = slack.SIGNING_SECRET,
    ) -> None:
        """Deliver to this bot from now on, at ``/telegram`` and ``/slack/events``; what is pending goes there first."""
        self.world.bot.url = bot_url
        self.world.set_bot("waiting")
        self.events.url, self.events.signing_secret = f"{bot_url}/slack/events", slack_signing_secret
        self.webhook.set(f"{bot_url}/telegram", telegram_secret)
        if self.events.held:
            self.events.held.set()

    def hold(self) -> None:
        """Deliver nothing until a bot is connected: what people write meanwhile waits."""
        self.events.held = asyncio.Event()

    def join(self, workspace: Workspace) -> Slack:
        """Another workspace, which has not installed the app yet."""
        joined = Slack(self.world, self.events, "", self.slack.app_token, workspace)
        self.oauth.workspaces.append(joined)
        self.web_apis[workspace.team] = WebApi(joined)
        return joined

    def reset(self) -> None:
        """Every message is gone; people, chats and the connection to the bot stay."""
        self.telegram.reset()
        for workspace in self.oauth.workspaces:
            workspace.reset()
        self.world.reset()

    async def close(self) -> None:
        """End deliveries, streams and long polls, so that the server can stop at once. Twice is as good as once."""
        self.world.close()
        await self._tasks.close()
        await self._courier.close()

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        yield
        await self.close()

    def _routes(self, model: ASGIApp | None) -> list[BaseRoute]:
        routes: list[BaseRoute] = [
            Route("/telegram/bot{token}/{method}", self._telegram_method, methods=["GET", "POST"]),
            Route("/telegram/file/bot{token}/{path:path}", self._telegram_file),
            Route("/slack/oauth/v2/authorize", self.oauth.authorize, methods=["GET", "POST"]),
            Route("/slack/api/{method}", self._slack_method, methods=["GET", "POST"]),
            Route("/slack/files/{id}/{name}", self._slack_file),
            Route("/slack/upload/{id}", self._slack_upload, methods=["POST"]),
            WebSocketRoute("/slack/socket", lambda websocket: accept_socket(self.slack, websocket)),
            *door_routes(self),
        ]
        return [*routes, Mount("/model", model)] if model else routes

    async def _telegram_method(self, request: Request) -> Response:
        method = request.path_params["method"]
        if request.path_params["token"] != self.telegram.token:
            return _telegram_reply(*telegram_methods.failure(401, "Unauthorized"))
        try:
            values, files = await read_params(request)
        except Unreadable as fault:
            return _telegram_reply(*telegram_methods.failure(400, f"Bad Request: {fault}"))

        async def do() -> tuple[Response, bool, str, object]:
            status, body = await self.bot_api.call(method, telegram_methods.Params(values, files))
            return _telegram_reply(status, body), body["ok"], body.get("description", ""), body.get("result")

        return await answer(self.world, "telegram", method, values, do, _telegram_refusal)

    async def _telegram_file(self, request: Request) -> Response:
        """Like the real server it says nothing about the type, and knows a path only for a while after getFile."""
        token, path = request.path_params["token"], request.path_params["path"]
        for stored in self.telegram.files.values() if token == self.telegram.token else ():
            if stored.path == path and self.world.now() < stored.link_until:
                return Response(stored.file.data, media_type="application/octet-stream")
        return _telegram_reply(*telegram_methods.failure(404, "Not Found"))

    async def _slack_method(self, request: Request) -> Response:
        method = request.path_params["method"]
        try:
            values, _ = await read_params(request)
        except Unreadable:
            return reply(slack_methods.failure("invalid_json"))
        token = _bearer(request) or values.get("token", "")
        values.pop("token", None)
        if method == "oauth.v2.access":
            return await self._slack_access(request, values)
        slack = by_token(self.oauth.workspaces, token) or self.slack
        web_api = self.web_apis[slack.workspace.team]

        async def do() -> tuple[Response, bool, str, object]:
            params = slack_methods.Params(values)
            if wait := web_api.wait(method, params):
                limited = slack_methods.failure("ratelimited")
                return reply(limited, 429, {"Retry-After": str(wait)}), False, "ratelimited", limited
            body = await web_api.call(method, token, params)
            return reply(body, headers=web_api.headers(token)), body["ok"], body.get("error", ""), body

        return await answer(self.world, "slack", method, values, do, _slack_refusal)

    async def _slack_access(self, request: Request, values: Json) -> Response:
        """The log shows what was asked, but neither a secret nor a token."""
        shown = {name: value for name, value in values.items() if name == "grant_type"}

        async def do() -> tuple[Response, bool, str, object]:
            try:
                body = {"ok": True, **self.oauth.access(request.headers.get("authorization", ""), values)}
            except Refused as refusal:
                body = slack_methods.failure(str(refusal))
            return reply(body), body["ok"], body.get("error", ""), {"ok": body["ok"]}

        return await answer(self.world, "slack", "oauth.v2.access", shown, do, _slack_refusal)

    async def _slack_file(self, request: Request) -> Response:
        """Without the token, or its scope, the real Slack answers 200 with its sign-in page, so this does too."""
        file = self.slack.files.get(request.path_params["id"])
        if file is None:
            return Response("Not found", 404)
        slack = by_token(self.oauth.workspaces, _bearer(request))
        if slack is None or request.path_params["id"] not in slack.file_objects or "files:read" not in slack.scopes:
            return Response("<!DOCTYPE html><html><title>Sign in | Slack</title></html>", media_type="text/html")
        return Response(file.data, media_type=file.media_type)

    async def _slack_upload(self, request: Request) -> Response:
        """The address is the secret: it needs no token."""
        data = await request.body()
        slack = next((each for each in self.oauth.workspaces if request.path_params["id"] in each.uploads), self.slack)
        kind = mimetypes.guess_type(slack.uploads.get(request.path_params["id"], {}).get("name", ""))[0]
        if slack_methods.take_upload(slack, request.path_params["id"], data, kind or "application/octet-stream"):
            return Response(f"OK - {len(data)}")
        return Response("Bad upload", 400)


def telegram_base_url(url: str) -> str:
    """TELEGRAM_API_BASE_URL. python-telegram-bot wants "/bot" and "/file/bot" after it."""
    return f"{url}/telegram"


def slack_base_url(url: str) -> str:
    """SLACK_API_BASE_URL, with the slash at the end that slack_sdk wants."""
    return f"{url}/slack/api/"


@asynccontextmanager
async def serve(simulator: Simulator, *, port: int = 0) -> AsyncIterator[str]:
    """Serve it on 127.0.0.1 in the running event loop; yields its address. Port 0 is a free one."""
    async with serving.serve(simulator.app, port=port) as url:
        simulator.world.url = url
        try:
            yield url
        finally:
            await simulator.close()


def _bearer(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token if scheme.lower() == "bearer" else ""


def _telegram_reply(status: int, body: dict[str, object]) -> Response:
    return reply(body, status)


def _telegram_refusal(fault: Fault) -> Response:
    usual = {429: f"Too Many Requests: retry after {fault.retry_after}", 500: "Internal Server Error"}
    description = fault.error or usual.get(fault.status, "Bad Request")
    return _telegram_reply(*telegram_methods.failure(fault.status, description, fault.retry_after))


def _slack_refusal(fault: Fault) -> Response:
    """A fault with an error and status 200 is Slack's usual refusal; 429 tells how long to wait."""
    usual = {429: "ratelimited", 500: "internal_error"}
    error = fault.error or usual.get(fault.status, "fatal_error")
    headers = {"Retry-After": str(fault.retry_after)} if fault.retry_after else None
    return reply(slack_methods.failure(error), fault.status, headers)
