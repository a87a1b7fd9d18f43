"""Which addresses may be opened: the public web's, and nothing that lies behind it. Pure.

An address is what a model wrote or a page redirected to: it may name this machine, its network or the cloud's own
services in a hundred ways. So nothing is told by how it is written: what a name or a number turns out to be as an IP
address is what counts, and the connection goes to that address (``bot/web/transport.py``).
"""

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import quote, urlsplit

from msgspec import Struct

from bot.errors import KabarError

Ip = IPv4Address | IPv6Address

PORTS = {"http": 80, "https": 443}
LONGEST = 2_000
"""Characters of an address. Browsers and servers take some thousands; who needs more carries something in it."""

# Source: the IANA registries of special-purpose addresses (RFC 6890 and after), read in November 2026. Written out,
# because what Python counts as global changes with its version, and is not about who answers there.
_NOT_PUBLIC_4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # this machine
            "10.0.0.0/8",
            "100.64.0.0/10",  # carriers' own, and Alibaba's metadata
            "127.0.0.0/8",
            "168.63.129.16/32",  # Azure's own services, on a public number
            "169.254.0.0/16",  # link-local: the metadata of AWS, Google and Azure
            "172.16.0.0/12",
            "192.0.0.0/24",  # protocols', and Oracle's metadata
            "192.0.2.0/24",  # documentation
            "192.88.99.0/24",  # 6to4 relays
            "192.168.0.0/16",
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, and broadcast
        ),
    )
)
_PUBLIC_6 = IPv6Network("2000::/3")
"""All of IPv6 that is given out to anybody; the rest is local, mapped from IPv4 or not in use."""
_NOT_PUBLIC_6 = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocols': Teredo carries an IPv4 address
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4 carries an IPv4 address
            "3fff::/20",  # documentation
        ),
    )
)
_NAT64 = IPv6Network("64:ff9b::/96")
"""How networks without IPv4 reach all of it (RFC 6052): the last four bytes are the address that counts."""

_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)+")
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*")
_UNWRITABLE = re.compile(r"[\x00-\x20\x7f\\]")
_KEPT = "/%:=&?~#+!$,;'@()*[]|-._"

NOT_PUBLIC = "This address leads to a private network or to this machine itself, which is not opened for anybody."
NOT_FOUND = "There is no host of this name. Check the spelling, or look for the page with web_search."


class PageRefused(KabarError):
    """A page is not opened, or can not be had or read: one sentence for the model that says why and what to do."""


class Reach(Struct, frozen=True):
    """What may be opened beside the public web: ``stand_ins`` are (address, port) of servers on this machine that stand
    in for it, in tests and in the simulator. Only code can name them: no setting and no environment leads here."""

    stand_ins: frozenset[tuple[str, int]] = frozenset()

    def __post_init__(self) -> None:
        if not all(ip_address(address).is_loopback for address, _ in self.stand_ins):
            raise ValueError("Only servers on this machine can stand in for the web.")

    def allows(self, ip: Ip, port: int) -> bool:
        return (is_public(ip) and port in PORTS.values()) or (str(ip), port) in self.stand_ins

    def has_port(self, port: int) -> bool:
        return port in PORTS.values() or any(port == known for _, known in self.stand_ins)


class Target(Struct, frozen=True):
    """An address taken apart. ``host`` is ASCII: a name in lower case, or an IP address without brackets; ``path`` has
    its query with it."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def literal(self) -> Ip | None:
        """The host where it is an IP address itself."""
        return _as_ip(self.host)

    @property
    def authority(self) -> str:
        """What the Host header says."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def address(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"


def target(address: str, reach: Reach) -> Target:
    """What an address names, before anything is looked up. Raises PageRefused."""
    address = address.strip()
    if len(address) > LONGEST:
        raise PageRefused(f"An address of more than {LONGEST} characters is not opened.")
    if _UNWRITABLE.search(address):
        raise PageRefused("The address holds a space, a backslash or a control character: write them as %20 and so on.")
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        raise PageRefused("This is not an address. It has to look like https://example.com/page .") from None
    if parts.scheme not in PORTS:
        raise PageRefused("Only addresses that begin with https:// or http:// can be opened.")
    if "@" in parts.netloc:
        raise PageRefused("An address with a user name or a password in it is not opened: leave out what is before @.")
    port = PORTS[parts.scheme] if port is None else port
    if not reach.has_port(port):
        raise PageRefused("Only the web's usual ports, 80 and 443, are opened: leave the port out of the address.")
    path = quote(parts.path or "/", safe=_KEPT) + (f"?{quote(parts.query, safe=_KEPT)}" if parts.query else "")
    return Target(parts.scheme, _host(parts.hostname or ""), port, path)


def checked(found: Iterable[str], at: Target, reach: Reach) -> tuple[Ip, ...]:
    """The addresses that a host was found to have, each of which may be connected to. Raises PageRefused where one may
    not: a name that leads to a public and a private address is there to deceive."""
    ips = tuple(dict.fromkeys(_found(each) for each in found))
    if not ips:
        raise PageRefused(NOT_FOUND)
    if not all(reach.allows(ip, at.port) for ip in ips):
        raise PageRefused(NOT_PUBLIC)
    return ips


def is_public(ip: Ip) -> bool:
    """Whether an address is one that anybody on the internet could be answered from."""
    if isinstance(ip, IPv4Address):
        return not any(ip in network for network in _NOT_PUBLIC_4)
    if ip in _NAT64:
        return is_public(IPv4Address(ip.packed[-4:]))
    return ip.scope_id is None and ip in _PUBLIC_6 and not any(ip in network for network in _NOT_PUBLIC_6)


def _host(written: str) -> str:
    host = _ascii(written).lower()
    if ":" in host:
        ip = _as_ip(host)
        if not isinstance(ip, IPv6Address) or ip.scope_id is not None:
            raise PageRefused(NOT_PUBLIC)
        return str(ip)
    host = host.removesuffix(".")
    # The rule of the WHATWG's URL standard: a host whose last part is a number is an IPv4 address, or nothing. System
    # resolvers read 2130706433, 0x7f.1 and 0177.0.0.1 as addresses too; we take only the one usual way to write one.
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        if _as_ip(host) is None:
            raise PageRefused("This is not a usual way to write an IP address: use the site's name.")
        return host
    if not _NAME.fullmatch(host):
        raise PageRefused("This is no site's name. It has to look like example.com .")
    return host


def _ascii(host: str) -> str:
    """The name as it is looked up: digits and letters of other shapes become the usual ones (UTS 46)."""
    if host.isascii():
        return host
    import idna

    try:
        return idna.encode(host, uts46=True).decode()
    except idna.IDNAError:
        raise PageRefused("This site's name holds characters that no site's name has.") from None


def _as_ip(text: str) -> Ip | None:
    try:
        return ip_address(text)
    except ValueError:
        return None


def _found(text: str) -> Ip:
    try:
        return ip_address(text)
    except ValueError:
        raise PageRefused(NOT_FOUND) from None
