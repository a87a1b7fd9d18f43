"""Fetching one address of the web: every hop is looked up once, checked, and connected to at the address checked."""

import asyncio
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from urllib.parse import urljoin

import httpcore2
from msgspec import Struct

from bot.version import VERSION
from bot.web.address import PageRefused, Reach, Target, checked, target
from bot.web.transport import Answer, Headers, Request, exchange

SECONDS = 20.0
"""For all hops together: a person waits."""
MOST_REDIRECTS = 5
LARGEST_TEXT = 8 * 1024 * 1024
"""Bytes of a page, unpacked: the longest articles have two million, and reading takes 0.4 s for each of them."""
LARGEST = 20 * 1024 * 1024
"""Bytes of another file: as much as is read of one that comes by chat."""

USER_AGENT = f"Kabar/{VERSION} (a chat assistant; opens single pages when a person asks)"
ACCEPT = "text/html, application/xhtml+xml, text/markdown, text/plain, application/pdf, image/*;q=0.8, */*;q=0.5"

HTML = ("text/html", "application/xhtml+xml")
UNTOLD = ("", "application/octet-stream", "binary/octet-stream", "application/download", "application/x-download")
_MEDIA_TYPE = re.compile(r"[\w.+-]{1,40}/[\w.+-]{1,80}", re.ASCII)
_UNREAD = ("audio/", "video/", "font/", "model/")
_UNREAD_TYPES = frozenset(
    {
        "application/zip",
        "application/gzip",
        "application/x-tar",
        "application/x-7z-compressed",
        "application/x-rar-compressed",
        "application/vnd.rar",
        "application/java-archive",
        "application/wasm",
    }
)

WHY = {
    401: "it wants a sign-in. Look for the same elsewhere",
    403: "it lets no programs in. Look for the same elsewhere",
    404: "there is no such page. Check the address, or look for it with web_search",
    406: "it has nothing that can be read here. Look for the same elsewhere",
    410: "the page is gone. Look for the same elsewhere",
    429: "it was asked too often. Do not ask again now; look for the same elsewhere",
    451: "the law forbids it. Look for the same elsewhere",
}
REDIRECTS = (301, 302, 303, 307, 308)

Resolve = Callable[[str], Awaitable[Sequence[str]]]
"""The IP addresses of a name, as text; none where there is no such name. Raises nothing."""


class Fetched(Struct, frozen=True):
    """``address`` is where it was in the end, ``media_type`` what the server calls it, "" where it says nothing, and
    ``charset`` the encoding that it names, or ""."""

    address: str
    media_type: str
    charset: str
    data: bytes


async def system(name: str) -> Sequence[str]:
    """The addresses that the system finds for a name."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):  # not found, no network, a label too long
        return ()
    return [str(each[4][0]) for each in found]


class Web:
    """The public web. ``reach`` is what else is open, which is nothing but in tests and the simulator."""

    def __init__(
        self,
        resolve: Resolve = system,
        reach: Reach | None = None,
        seconds: float = SECONDS,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._resolve = resolve
        self._reach = reach or Reach()
        self._seconds = seconds
        self._tls = tls

    async def fetch(self, address: str) -> Fetched:
        """What is at an address, redirects followed. Raises PageRefused."""
        try:
            async with asyncio.timeout(self._seconds):
                return await self._follow(address)
        except TimeoutError:
            raise PageRefused(f"The site did not send the page within {self._seconds:.0f} seconds.") from None

    async def _follow(self, address: str) -> Fetched:
        for _ in range(MOST_REDIRECTS + 1):
            at = target(address, self._reach)
            answer = await self._open(at)
            if answer.status not in REDIRECTS or not answer.headers.get("location"):
                return _fetched(at, answer)
            address = _next(at, answer.headers["location"])
        raise PageRefused(f"The address leads on and on, through more than {MOST_REDIRECTS} others.")

    async def _open(self, at: Target) -> Answer:
        found = [at.host] if at.literal else await self._resolve(at.host)
        ips = checked(found, at, self._reach)
        headers = (("user-agent", USER_AGENT), ("accept", ACCEPT))
        return await exchange(Request(at, headers), _limit_of, self._trusted(at), ips)

    def _trusted(self, at: Target) -> ssl.SSLContext | None:
        """The certificates that the system trusts, read once: it takes some 50 ms."""
        if at.scheme == "https" and self._tls is None:
            self._tls = httpcore2.default_ssl_context()
        return self._tls


def _next(at: Target, location: str) -> str:
    """Where a redirect leads. Servers send UTF-8 and spaces where neither is allowed; headers are read as Latin-1."""
    with suppress(UnicodeDecodeError):
        location = location.encode("latin-1").decode()
    try:
        return urljoin(at.address, location.replace(" ", "%20"))
    except ValueError:
        raise PageRefused(f"{at.address} leads on to something that is no address.") from None


def _limit_of(status: int, headers: Headers) -> int:
    if status != 200:
        return 0
    media_type = _media_type(headers)
    if media_type.startswith(_UNREAD) or media_type in _UNREAD_TYPES:
        raise PageRefused(f"This is a file of the type {media_type}, which can not be read. Give its address instead.")
    return LARGEST_TEXT if media_type.startswith("text/") or media_type in HTML else LARGEST


def _fetched(at: Target, answer: Answer) -> Fetched:
    if answer.status != 200:
        why = WHY.get(answer.status, "the site has a fault. Try another source" if answer.status >= 500 else "no page")
        raise PageRefused(f"{at.address} was answered with HTTP {answer.status}: {why}.")
    return Fetched(at.address, _media_type(answer.headers), _charset(answer.headers), answer.data)


def _media_type(headers: Headers) -> str:
    """What the server calls it, or "" where that is no media type: a stranger's words that the model may read."""
    said = headers.get("content-type", "").partition(";")[0].strip().lower()
    return said if _MEDIA_TYPE.fullmatch(said) else ""


def _charset(headers: Headers) -> str:
    for parameter in headers.get("content-type", "").split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("\"'")
    return ""
