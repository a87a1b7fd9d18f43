"""How a workspace gets the app: our page sends a browser to Slack, and Slack sends it back with a code.

    /slack/install ──state, and a cookie──> Slack asks the person ──code, state──> /slack/oauth_redirect ──code──> Slack

Whoever comes back must be the browser that left (the cookie), soon (the time in the state), and once (the store): else
somebody could have another person finish an installation that is not theirs. Which address Slack sends it back to is
the one in the app's settings: it is named nowhere here, so no request can name another.
Source: docs.slack.dev/authentication/installing-with-oauth.
"""

import hmac
import logging
import secrets
from collections.abc import Mapping
from urllib.parse import urlencode

from msgspec import Struct

from bot.channels.slack.manifest import SCOPES
from bot.channels.slack.oauth import App, access, installation_of
from bot.errors import SendError, SendRefused
from bot.messages import Inbound, Installation, Person, Place
from bot.ports import Clock, Installations, Seal

LASTS = 600
"""Seconds in which Slack's own page must be answered."""

logger = logging.getLogger(__name__)


class Begun(Struct, frozen=True):
    """Where to send the browser, and the cookie that it is known by then."""

    address: str
    cookie: str


class NotInstalled(Exception):
    """Its text is one of the reasons of ``install_page``: cancelled, state, unreachable or refused."""


class Installing:
    """``secret`` signs the state."""

    def __init__(self, app: App, secret: str, kept: Installations, seal: Seal, clock: Clock) -> None:
        self._app = app
        self._secret = secret.encode()
        self._kept = kept
        self._seal = seal
        self._clock = clock

    def begin(self) -> Begun:
        cookie = secrets.token_urlsafe(32)
        until = int(self._clock.now()) + LASTS
        query = {"client_id": self._app.client_id, "scope": ",".join(SCOPES), "state": self._state(until, cookie)}
        slack = self._app.base_url.rstrip("/").removesuffix("/api")
        return Begun(f"{slack}/oauth/v2/authorize?{urlencode(query)}", cookie)

    async def finish(self, query: Mapping[str, str], cookie: str) -> Installation:
        """What was installed, kept. Raises NotInstalled, and Retry errors of the store and the seal."""
        now = int(self._clock.now())
        state = query.get("state", "")
        until = state.partition(".")[0]
        known = until.isdecimal() and len(until) <= 12 and now <= int(until) <= now + LASTS
        if not known or not cookie or not hmac.compare_digest(state.encode(), self._state(int(until), cookie).encode()):
            raise NotInstalled("state")
        if query.get("error"):
            raise NotInstalled("cancelled")
        if not await self._kept.first(f"install.{state}", int(until) + 1):
            raise NotInstalled("state")
        try:
            answer = await access(self._app, code=query.get("code", ""))
            installation = await installation_of(answer, now, self._seal)
        except SendRefused as error:
            logger.error("error=<%s> | Slack gave no tokens for an installation", error)
            raise NotInstalled("refused") from error
        except SendError as error:
            logger.warning("error=<%s> | Slack did not answer an installation", error)
            raise NotInstalled("unreachable") from error
        await self._kept.install(installation)
        logger.info("team=<%s> | installed", installation.team)
        return installation

    def _state(self, until: int, cookie: str) -> str:
        return f"{until}.{hmac.digest(self._secret, f'install {until} {cookie}'.encode(), 'sha256').hex()}"


def news_of(installation: Installation) -> Inbound:
    """What tells the bot's owner of it: nobody there is let in by it."""
    team = f"slack:{installation.team}"
    return Inbound(
        Place(team, "", team=installation.team, group=True),
        f"installed.{installation.stamp}",
        f"{installation.at:016d}",
        Person(f"{team}:{installation.installer}"),
        installation.at,
        "note",
        "installed",
        data=installation.name,
    )
