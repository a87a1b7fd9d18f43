"""The pages by which a workspace gets the app (``bot/channels/slack/installing.py``), for browsers."""

import logging
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from bot.errors import ConfigError, KabarError, StoreUnavailable
from bot.intake import accept
from handlers.door import Door, DoorSource

if TYPE_CHECKING:
    from bot.channels.slack.installing import Installing

COOKIE = "kabar_install"
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""What is on the page is never shown inside another, and the code in its address is told to nobody."""

log = logging.getLogger(__name__)


def install_routes(doors: DoorSource) -> list[Route]:
    """404 where the app is one workspace's only."""

    async def begin(request: Request) -> Response:
        from bot.channels.slack.installing import LASTS

        _, installing = await _installing(doors)
        begun = installing.begin()
        answer = _shown(request, "begin", begun.address)
        # Lax: Slack's page sends the browser back here, and the cookie comes along then.
        secure = request.url.scheme == "https"
        answer.set_cookie(COOKIE, begun.cookie, max_age=LASTS, secure=secure, httponly=True, samesite="lax")
        return answer

    async def finish(request: Request) -> Response:
        from bot.channels.slack.installing import NotInstalled, news_of

        door, installing = await _installing(doors)
        try:
            installation = await installing.finish(request.query_params, request.cookies.get(COOKIE, ""))
        except NotInstalled as why:
            return _shown(request, str(why), "install", status=400)
        except (StoreUnavailable, ConfigError) as error:
            log.error("%s | an installation was not kept", error)
            return _shown(request, "later", "install", status=503)
        try:
            await accept(news_of(installation), door.store, door.wake, door.clock)
        except KabarError as error:  # it is installed all the same; who writes from there, the owner hears of as well
            log.warning("%s | the owner does not hear of an installation", error)
        answer = _shown(request, "installed", name=installation.name)
        answer.delete_cookie(COOKIE)
        return answer

    return [Route("/slack/install", begin), Route("/slack/oauth_redirect", finish)]


async def _installing(doors: DoorSource) -> "tuple[Door, Installing]":
    door = await doors.current()
    if door.installing is None:
        raise HTTPException(404)
    return door, door.installing


def _shown(request: Request, what: str, link: str = "", *, name: str = "", status: int = 200) -> HTMLResponse:
    from bot.channels.slack.install_page import page

    return HTMLResponse(page(what, request.headers.get("accept-language", ""), link, name), status, HEADERS)
