"""An app in many workspaces: each one's token out of the store, renewed before it ends.

A token that renews is good once, so of all processes one alone may use it. Who does says so in the store first, in a
conditional write; the others go on with the old token, which Slack takes to its end:

    expires - EARLY                                             expires
        │   a writes busy ─> asks Slack ─> writes the new tokens   │
        │   b is refused: the old token                            │ b: in a moment

What Slack gave is not to be had a second time: a process goes on until it is kept, though the turn that needed it is
stopped, the store fails for a while, or another process took this one for dead.
"""

import logging
import uuid
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from bot.channels.slack.oauth import App, access, ends, opened, sealed
from bot.channels.slack.people import keep_newest
from bot.errors import ChatClosed, ConfigError, SendError, SendLater, SendRefused, StoreUnavailable, TokenGone
from bot.messages import Installation, Json
from bot.ports import Installations, Seal
from bot.tasks import uncut

EARLY = 2 * 3600
"""Seconds before its end that a token, which lives for twelve hours, is renewed."""
BUSY = 60
"""Seconds after which whoever renews is taken for dead."""
KEPT = 60.0
"""Seconds that a token is used without a look into the store."""
PAUSE = 2.0
MOST_TRIES = 3
"""To keep new tokens, before whoever waits for them is told to come again."""

T = TypeVar("T")

logger = logging.getLogger(__name__)


class Bought(Struct, frozen=True):
    """Slack's ``answer`` at ``at`` (Unix seconds), for the refresh token of ``claimed``."""

    claimed: Installation
    answer: Json
    at: int


class Installed:
    """The port ``Tokens``. ``now`` gives Unix seconds."""

    def __init__(self, kept: Installations, seal: Seal, app: App, now: Callable[[], float]) -> None:
        self._kept = kept
        self._seal = seal
        self._app = app
        self._now = now
        self._opened: OrderedDict[str, tuple[float, str]] = OrderedDict()
        self._bought: dict[str, Bought] = {}
        """What the store has not yet."""

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
            raise TokenGone("the token can not be opened") from error
        until = self._now() + KEPT
        keep_newest(self._opened, team, (min(until, installation.expires or until), token))
        return token

    async def _current(self, team: str) -> Installation:
        if bought := self._bought.get(team):
            return await uncut(self._stored(bought))
        installation = await self._kept.installation(team)
        if installation is None:
            raise ChatClosed(f"the app is not installed in {team}")
        if not installation.expires or self._now() < installation.expires - EARLY:
            return installation
        return await uncut(self._renewed(installation))

    async def _renewed(self, installation: Installation) -> Installation:
        """With tokens that are good for longer, or with the old ones where those are still good and somebody else is at
        it, or Slack is not to be had."""
        claimed = replace(installation, busy=int(self._now()) + BUSY, stamp=uuid.uuid4().hex)
        if installation.busy > self._now() or not await self._kept.change_installation(installation.stamp, claimed):
            return self._still(installation, SendLater("the token is being renewed", PAUSE))
        return await self._exchanged(claimed)

    async def _exchanged(self, claimed: Installation) -> Installation:
        try:
            renewal = (await opened(claimed, self._seal)).renewal
            answer = await access(self._app, grant_type="refresh_token", refresh_token=renewal)
        except SendRefused as error:
            text = "team=<%s> error=<%s> | Slack does not renew the token: have the app installed there again"
            logger.error(text, claimed.team, error)
            return self._still(claimed, TokenGone(str(error)))
        except SendError as error:
            logger.warning("team=<%s> error=<%s> | the token was not renewed", claimed.team, error)
            return self._still(claimed, SendLater(str(error), PAUSE))
        bought = self._bought[claimed.team] = Bought(claimed, answer, int(self._now()))
        return await self._stored(bought)

    async def _stored(self, bought: Bought) -> Installation:
        """The new tokens, kept; or what was installed there meanwhile."""
        claimed = bought.claimed
        tokens = await _tried(lambda: sealed(bought.answer, claimed.team, self._seal))
        ends_at = ends(bought.answer, bought.at)
        fresh = replace(claimed, tokens=tokens, expires=ends_at, busy=0, stamp=uuid.uuid4().hex)
        there: Installation | None = claimed
        while there is not None and there.tokens == claimed.tokens:  # also where somebody else claimed it after us
            done = await _tried(partial(self._kept.change_installation, there.stamp, fresh))
            there = fresh if done else await _tried(lambda: self._kept.installation(claimed.team))
        self._bought.pop(claimed.team, None)
        if there is None:
            raise ChatClosed(f"the app is not installed in {claimed.team}")
        return there

    def _still(self, installation: Installation, otherwise: SendError) -> Installation:
        if self._now() < installation.expires:
            return installation
        raise otherwise


async def _tried(work: Callable[[], Awaitable[T]]) -> T:
    """Again where there is an outage, and the last time as it is."""
    for _ in range(MOST_TRIES - 1):
        with suppress(StoreUnavailable):
            return await work()
    return await work()
