"""One HTTP request and its answer, with every byte of it counted: no redirects followed, no cookies, no proxy.

httpcore2 is the layer below Anthropic's HTTP client. It does nothing by itself: it connects where ``Pinned`` says, and
reads nothing from the environment but which certificates the system trusts.
"""

import ssl
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence

import httpcore2
from msgspec import Struct

from bot.web.address import PORTS, Ip, PageRefused, Target

CONNECT_SECONDS = 5.0
"""For one of a host's addresses."""
MOST_ADDRESSES = 3
READ_SECONDS = 15.0
"""Without a byte."""
ENCODINGS = "gzip, deflate"

UNREACHED = "The site can not be reached at the moment. Try another source, or say that it could not be opened."
UNTRUSTED = "The site's certificate is not valid for its name, so it was not opened."
SPOILED = "The site's answer broke off or can not be read. Try once more, or another source."
STRANGE_ENCODING = "The site sends its pages compressed in a way that was not asked for, so they can not be read."

Headers = Mapping[str, str]
"""By name in lower case; of several, the last."""
LimitOf = Callable[[int, Headers], int]
"""How many bytes of an answer with this status and these headers are wanted; 0 for none. May raise PageRefused."""


class Answer(Struct, frozen=True):
    status: int
    headers: Headers
    data: bytes = b""


class Request(Struct, frozen=True):
    target: Target
    headers: Sequence[tuple[str, str]] = ()
    method: str = "GET"
    body: bytes | None = None
    seconds: float = READ_SECONDS
    """Without a byte."""


class Pinned(httpcore2.AsyncNetworkBackend):
    """Connects to these addresses, whatever the name they belong to means by now: nothing is looked up again."""

    def __init__(self, ips: Sequence[Ip]) -> None:
        self._ips = ips
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        *others, last = self._ips[:MOST_ADDRESSES]
        for ip in others:
            try:
                return await self._network.connect_tcp(str(ip), port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return await self._network.connect_tcp(str(last), port, timeout, local_address, socket_options)


async def exchange(
    request: Request, limit_of: LimitOf, tls: ssl.SSLContext | None = None, ips: Sequence[Ip] = ()
) -> Answer:
    """Send a request on a connection of its own and read its answer, unpacked, up to the limit.

    ``ips`` are the addresses to connect to; where there are none the name is looked up, which is for addresses that an
    owner configured. Raises PageRefused; no other exception of the network's leaves it.
    """
    at = request.target
    connection = httpcore2.AsyncHTTPConnection(
        httpcore2.Origin(at.scheme.encode(), at.host.encode(), at.port),
        ssl_context=tls,
        network_backend=Pinned(ips) if ips else httpcore2.AnyIOBackend(),
    )
    url = httpcore2.URL(scheme=at.scheme, host=at.host, port=at.port, target=at.path)
    headers = [("host", at.authority), ("accept-encoding", ENCODINGS), ("connection", "close"), *request.headers]
    timeouts = {"connect": CONNECT_SECONDS, "read": request.seconds, "write": READ_SECONDS}
    try:
        async with (
            connection,
            connection.stream(
                request.method, url, headers=headers, content=request.body, extensions={"timeout": timeouts}
            ) as response,
        ):
            return await _read(response, limit_of)
    except httpcore2.ConnectError as fault:
        raise PageRefused(UNTRUSTED if _is_certificate(fault) else UNREACHED) from fault
    except (httpcore2.ConnectTimeout, httpcore2.UnsupportedProtocol) as fault:
        raise PageRefused(UNREACHED) from fault
    except (httpcore2.NetworkError, httpcore2.TimeoutException, httpcore2.ProtocolError) as fault:
        raise PageRefused(SPOILED) from fault


async def _read(response: httpcore2.Response, limit_of: LimitOf) -> Answer:
    headers = {name.decode("latin-1").lower(): value.decode("latin-1").strip() for name, value in response.headers}
    limit = limit_of(response.status, headers)
    if not limit:
        return Answer(response.status, headers)
    announced = headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limit:
        raise PageRefused(_too_large(limit))
    body = _Body(headers.get("content-encoding", ""), limit)
    async for chunk in response.aiter_stream():
        body.add(chunk)
    return Answer(response.status, headers, body.whole())


class _Body:
    """The bytes of an answer, unpacked while they arrive: a bomb is noticed at its first byte too many."""

    def __init__(self, encoding: str, limit: int) -> None:
        kind = encoding.strip().lower()
        if kind not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise PageRefused(STRANGE_ENCODING)
        self._packed = kind not in ("", "identity")
        self._limit = limit
        self._received = 0
        self._data = bytearray()
        self._unpacking: zlib._Decompress | None = None

    def add(self, chunk: bytes) -> None:
        self._received += len(chunk)
        if self._received > self._limit:
            raise PageRefused(_too_large(self._limit))
        if self._packed:
            self._unpack(chunk)
        else:
            self._data += chunk

    def whole(self) -> bytes:
        if self._unpacking is not None and not self._unpacking.eof:
            raise PageRefused(SPOILED)
        return bytes(self._data)

    def _unpack(self, chunk: bytes) -> None:
        while chunk:
            if self._unpacking is None:
                self._unpacking = zlib.decompressobj(_window(chunk))
            elif self._unpacking.eof:
                if not chunk.startswith(b"\x1f\x8b"):  # some servers leave zeros after the end
                    return
                self._unpacking = zlib.decompressobj(_window(chunk))
            try:
                self._data += self._unpacking.decompress(chunk, self._limit - len(self._data) + 1)
            except zlib.error as fault:
                raise PageRefused(SPOILED) from fault
            if len(self._data) > self._limit:
                raise PageRefused(_too_large(self._limit))
            chunk = self._unpacking.unconsumed_tail or self._unpacking.unused_data


def _window(data: bytes) -> int:
    """zlib's own word for gzip, zlib and bare deflate, told by the first two bytes: servers mix up the last two."""
    if data.startswith(b"\x1f\x8b"):
        return 31
    return 15 if data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0 else -15


def _too_large(limit: int) -> str:
    return f"What is there is larger than {limit // 1024**2} MB, more than is opened. Look for a smaller page about it."


def _is_certificate(fault: BaseException) -> bool:
    cause: BaseException | None = fault
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def configured(base_url: str, path: str) -> Target:
    """The target of a service that an owner configured, wherever it is. Raises ValueError where it is no address."""
    scheme, _, rest = base_url.rstrip("/").partition("://")
    authority, slash, prefix = rest.partition("/")
    host, colon, port = authority.rpartition(":")
    if scheme not in PORTS or not authority or (colon and not port.isdecimal()):
        raise ValueError(f"{base_url!r} is not an address such as https://api.example.com .")
    return Target(scheme, host if colon else authority, int(port) if colon else PORTS[scheme], slash + prefix + path)
