"""An app in many workspaces: each one's token out of the store, renewed before it ends.

A token that renews is good once, so of all processes one alone may use it. Who does says so in the store first, in a
conditional write; the others go on with the old token, which Slack takes to its end:

    expires - EARLY                                             expires
        │   a writes busy ─> asks Slack ─> writes the new tokens   │
        │   b is refused: the old token                            │ b: in a moment
"""

import logging
import uuid
from collections import OrderedDict
from collections.abc import Callable

from msgspec.structs import replace

from bot.channels.slack.oauth import App, access, ends, opened, sealed
from bot.channels.slack.people import keep_newest
from bot.errors import ChatClosed, ConfigError, SendError, SendLater, SendRefused, StoreUnavailable
from bot.messages import Installation
from bot.ports import Installations, Seal

EARLY = 2 * 3600
"""Seconds before its end that a token, which lives for twelve hours, is renewed."""
BUSY = 60
"""Seconds after which whoever renews is taken for dead."""
KEPT = 60.0
"""Seconds that a token is used without a look into the store."""
PAUSE = 2.0
MOST_WRITES = 3
"""Tries to store new tokens: what they were bought with is gone."""

logger = logging.getLogger(__name__)


class Installed:
    """The port ``Tokens``. ``now`` gives Unix seconds."""

    def __init__(self, kept: Installations, seal: Seal, app: App, now: Callable[[], float]) -> None:
        self._kept = kept
        self._seal = seal
        self._app = app
        self._now = now
        self._opened: OrderedDict[str, tuple[float, str]] = OrderedDict()

    async def token(self, team: str) -> str:
        known = self._opened.get(team)
        if known and self._now() < known[0]:
            return known[1]
        try:
            installation = await self._current(team)
            token = (await opened(installation, self._seal)).access
        except StoreUnavailable as error:
            raise SendLater(f"the token of {team} can not be read: {error}", PAUSE) from error
        except ConfigError as error:
            logger.error("team=<%s> | %s", team, error)
            raise ChatClosed("the token can not be opened") from error
        until = self._now() + KEPT
        keep_newest(self._opened, team, (min(until, installation.expires or until), token))
        return token

    async def _current(self, team: str) -> Installation:
        installation = await self._kept.installation(team)
        if installation is None:
            raise ChatClosed(f"the app is not installed in {team}")
        if not installation.expires or self._now() < installation.expires - EARLY:
            return installation
        return await self._renewed(installation)

    async def _renewed(self, installation: Installation) -> Installation:
        """With tokens that are good for longer, or with the old ones where those are still good and somebody else is at
        it, or Slack is not to be had."""
        claimed = replace(installation, busy=int(self._now()) + BUSY, stamp=uuid.uuid4().hex)
        if installation.busy > self._now() or not await self._kept.change_installation(installation.stamp, claimed):
            return self._still(installation, SendLater("the token is being renewed", PAUSE))
        try:
            renewal = (await opened(installation, self._seal)).renewal
            answer = await access(self._app, grant_type="refresh_token", refresh_token=renewal)
        except SendRefused as error:
            text = "team=<%s> error=<%s> | Slack does not renew the token: have the app installed there again"
            logger.error(text, installation.team, error)
            return self._still(installation, ChatClosed(str(error)))
        except SendError as error:
            logger.warning("team=<%s> error=<%s> | the token was not renewed", installation.team, error)
            return self._still(installation, SendLater(str(error), PAUSE))
        now = int(self._now())
        tokens = await sealed(answer, installation.team, self._seal)
        fresh = replace(claimed, tokens=tokens, expires=ends(answer, now), busy=0, stamp=uuid.uuid4().hex)
        return await self._stored(claimed, fresh)

    async def _stored(self, claimed: Installation, fresh: Installation) -> Installation:
        """The new tokens, kept; or what was installed there meanwhile. A write whose answer was lost may be done."""
        for left in reversed(range(MOST_WRITES)):
            try:
                if await self._kept.change_installation(claimed.stamp, fresh):
                    return fresh
                break
            except StoreUnavailable:
                if not left:
                    raise
        found = await self._kept.installation(fresh.team)
        if found is None:
            raise ChatClosed(f"the app is not installed in {fresh.team}")
        return found

    def _still(self, installation: Installation, otherwise: SendError) -> Installation:
        if self._now() < installation.expires:
            return installation
        raise otherwise
