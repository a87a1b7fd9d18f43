"""What gets past the checks of web_fetch: every attack of ``tests/web/attacks.py`` is tried; none may pass.

An attack has passed where anything was read, or where a connection was made to what is not the public web: a refusal
that comes from the network came too late.
"""

import asyncio
import itertools
from collections.abc import Sequence
from typing import Any

from bot.web.address import PageRefused
from bot.web.fetch import Web
from bot.web.transport import SPOILED, UNREACHED, UNTRUSTED
from simulator.web import HERE, Answer, Page, redirect
from tests.web.attacks import ADDRESSES, BOMBS, LOCATIONS, NAMES, endless
from tests.web.sites import SITE, site

CONNECTED = {UNREACHED, SPOILED, UNTRUSTED}
SECRET = "secret"
REBINDINGS: tuple[Sequence[Sequence[str]], ...] = (
    ([HERE], ["169.254.169.254"]),
    ([HERE], ["127.0.0.2"]),
    ([HERE], [HERE, "10.0.0.1"]),
    ([HERE], ["::1"]),
    ([HERE], ["::ffff:127.0.0.1"]),
    ([HERE], []),
)
"""What a name leads to at each look-up: first for the page that redirects to itself, then for where it leads."""


def figures() -> dict[str, Any]:
    """``tried`` and ``passed`` for each kind of attack."""
    return asyncio.run(_figures())


async def _figures() -> dict[str, Any]:
    kinds = {
        "fetch_addresses": await _addresses(),
        "fetch_names": await _names(),
        "fetch_redirects": await _redirects(),
        "fetch_rebinding": await _rebindings(),
        "fetch_bodies": await _bodies(),
    }
    return {kind: {"tried": len(passed), "passed": sum(passed)} for kind, passed in kinds.items()}


async def _addresses() -> list[bool]:
    web = Web(_nowhere)
    return [await _reaches(web, address) for address in ADDRESSES]


async def _names() -> list[bool]:
    known = dict(NAMES)

    async def resolve(name: str) -> Sequence[str]:
        return known.get(name, ())

    return [await _reaches(Web(resolve), f"{scheme}://{name}/") for name, _ in NAMES for scheme in ("http", "https")]


async def _redirects() -> list[bool]:
    """From a site that may be opened, to what may not, at once and after two more hops."""
    pages: dict[str, Answer] = {"/secret": Page(SECRET)}
    for number, location in enumerate(LOCATIONS):
        pages[f"/{number}"] = redirect(location)
        pages[f"/{number}/a"] = redirect(f"/{number}/b")
        pages[f"/{number}/b"] = redirect(f"/{number}")
    known = {SITE: [HERE], "loopback.example": [HERE], "mixed.example": [HERE, "10.0.0.1"]}

    async def resolve(name: str) -> Sequence[str]:
        return known.get(name, ())

    async with site(pages) as stand_in:
        web = Web(resolve, stand_in.reach)
        starts = [f"/{number}{hops}" for number in range(len(LOCATIONS)) for hops in ("", "/a")]
        return [await _reaches(web, stand_in.address(SITE, start)) for start in starts]


async def _rebindings() -> list[bool]:
    passed = []
    for answers in REBINDINGS:
        waiting = iter(itertools.chain(answers, itertools.repeat([])))

        async def resolve(name: str, waiting: Any = waiting) -> Sequence[str]:
            found: Sequence[str] = next(waiting)
            return found

        async with site({"/": redirect("/secret"), "/secret": Page(SECRET)}) as stand_in:
            passed.append(await _reaches(Web(resolve, stand_in.reach), stand_in.address(SITE)))
    return passed


async def _bodies() -> list[bool]:
    """Bombs and other answers that are too much; here passing is being read."""
    pages: dict[str, Answer] = {path: _made(path) for path in BOMBS}
    async with site(pages | {"/endless": endless}) as stand_in:
        web = stand_in.web()
        return [not await _is_refused(web, stand_in.address(SITE, path)) for path in (*BOMBS, "/endless")]


async def _reaches(web: Web, address: str) -> bool:
    try:
        await web.fetch(address)
    except PageRefused as why:
        return str(why) in CONNECTED or "within" in str(why)
    return True


async def _is_refused(web: Web, address: str) -> bool:
    try:
        await web.fetch(address)
    except PageRefused:
        return True
    return False


async def _nowhere(name: str) -> Sequence[str]:
    return ()


def _made(path: str) -> Answer:
    return lambda http: BOMBS[path]()
