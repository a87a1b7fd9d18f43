"""Ways in which a page, or a model that believes one, tries to reach what lies behind the public web.

Used by the tests one by one, and by ``benchmarks/security_web.py``, which counts them.
"""

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator, Sequence

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

MB = 1024 * 1024

ADDRESSES = (
    # this machine
    "http://127.0.0.1/",
    "http://127.0.0.1:80/",
    "https://127.0.0.1/",
    "http://127.255.255.254/",
    "http://127.1/",
    "http://127.0.1/",
    "http://0/",
    "http://0.0.0.0/",
    "http://0.1.2.3/",
    "http://localhost/",
    "http://LOCALHOST/",
    "http://localhost./",
    "http://127.0.0.1./",
    # other ways to write its number
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0X7F.0.0.1/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://127.0.0.01/",
    "http://127.0.0.0x1/",
    "http://00000127.0.0.1/",
    "http://4294967295/",
    "http://99999999999999999999/",
    "http://1.2.3.4.5/",
    "http://127.0.0.1.1/",
    "http://256.256.256.256/",
    "http://①②⑦.⓪.⓪.①/",
    "http://１２７。０。０。１/",
    "http://127。0。0。1/",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
    "http://%31%32%37.0.0.1/",
    "http://127.0.0.1%00.example.com/",
    "http://127.0.0.1%2f@example.com/",
    # IPv6
    "http://[::1]/",
    "http://[::]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::127.0.0.1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[::ffff:169.254.169.254]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[64:ff9b:1::1]/",
    "http://[2002:7f00:1::]/",
    "http://[2002:a9fe:a9fe::1]/",
    "http://[2001:0:7f00:1::]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fe80::1%eth0]/",
    "http://[2001:db8::1]/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/latest/meta-data/",
    "http://[fec0::1]/",
    "http://[ff02::1]/",
    "http://[100::1]/",
    "http://[3fff::1]/",
    "http://[4000::1]/",
    "http://[v1.fe80::1]/",
    "http://[::1/",
    "http://::1/",
    # private networks, the clouds' own services, addresses of nobody
    "http://10.0.0.1/",
    "http://10.255.255.255/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.0.1/",
    "http://100.64.0.1/",
    "http://100.100.100.200/latest/meta-data/",
    "http://169.254.169.254/latest/meta-data/iam/security-credentials/",
    "http://169.254.170.2/v2/credentials/",
    "http://0xa9fea9fe/",
    "http://2852039166/",
    "http://0251.0376.0251.0376/",
    "http://169.16689662/",
    "http://168.63.129.16/machine?comp=goalstate",
    "http://192.0.0.192/opc/v2/instance/",
    "http://192.0.2.1/",
    "http://192.88.99.1/",
    "http://198.18.0.1/",
    "http://198.51.100.1/",
    "http://203.0.113.5/",
    "http://224.0.0.1/",
    "http://239.255.255.255/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    # other schemes, ports and ways to hide the host
    "file:///etc/passwd",
    "FILE:///etc/passwd",
    "ftp://example.com/",
    "gopher://127.0.0.1:6379/_INFO",
    "dict://127.0.0.1:11211/",
    "data:text/html,hello",
    "javascript:alert(1)",
    "unix:///var/run/docker.sock",
    "//127.0.0.1/",
    "127.0.0.1",
    "http:127.0.0.1",
    "http:///127.0.0.1/",
    "http://",
    "http://example.com:22/",
    "http://example.com:6379/",
    "http://example.com:9001/2018-06-01/runtime/invocation/next",
    "http://example.com:0/",
    "http://example.com:99999/",
    "http://example.com:80:80/",
    "http://user:password@example.com/",
    "http://example.com@127.0.0.1/",
    "http://127.0.0.1@example.com/",
    "http://example.com#@127.0.0.1:22/",
    "http://example.com\\@127.0.0.1/",
    "http://example.com\\.evil.example/",
    "http://127.0.0.1\t.example.com/",
    "http://127.0.0.1\n/",
    "http://exa\rmple.com/",
    "http://example.com/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "http://metadata/",
    "http://exa mple.com/",
    "http://example..com/",
    "http://-example.com/",
    "http://" + "a" * 64 + ".example.com/",
    "http://" + "a." * 200 + "com/",
    "http://example.com/?" + "x" * 3_000,
)
"""None of them may lead to a connection. Names other than those in NAMES lead nowhere public here."""

PUBLIC = "93.184.215.14"
"""An address of the public web, which a name may have and which is never connected to."""

NAMES: tuple[tuple[str, Sequence[str]], ...] = (
    ("loopback.example", ["127.0.0.1"]),
    ("loopback6.example", ["::1"]),
    ("private.example", ["10.1.2.3"]),
    ("metadata.google.internal", ["169.254.169.254"]),
    ("linklocal.example", ["fe80::1%eth0"]),
    ("mapped.example", ["::ffff:10.0.0.1"]),
    ("nat64.example", ["64:ff9b::10.0.0.1"]),
    ("six.example", ["2002:a00:1::"]),
    ("teredo.example", ["2001:0:a00:1::"]),
    ("unique.example", ["fd00::1"]),
    ("carrier.example", ["100.64.1.1"]),
    ("azure.example", ["168.63.129.16"]),
    ("zero.example", ["0.0.0.0"]),
    ("multicast.example", ["239.1.1.1"]),
    ("mixed.example", [PUBLIC, "127.0.0.1"]),
    ("mixed2.example", ["10.0.0.1", PUBLIC]),
    ("mixed6.example", ["2606:2800:21f:cb07::1", "::1"]),
    ("nowhere.example", []),
    ("strange.example", ["not an address"]),
    ("127.0.0.1.nip.example", ["127.0.0.1"]),
)
"""Names, and what they lead to."""

LOCATIONS = (
    "http://169.254.169.254/latest/meta-data/",
    "//169.254.169.254/latest/meta-data/",
    "file:///etc/passwd",
    "http://localhost:9001/2018-06-01/runtime/invocation/next",
    "http://127.0.0.1:9001/2018-06-01/runtime/invocation/next",
    "http://[::1]/",
    "http://10.0.0.1/",
    "http://0x7f.1/",
    "http://user:password@news.example/",
    "gopher://127.0.0.1:6379/_FLUSHALL",
    "data:text/html,hello",
    "javascript:alert(1)",
    "http://loopback.example/",
    "http://mixed.example/",
    "http://[::1",
)
"""Where a public page may not lead."""


def zeros(size: int) -> bytes:
    return bytes(size)


async def _without_end() -> AsyncIterator[bytes]:
    """Many times what is read; a server that nobody listens to any more has to end some time."""
    for _ in range(1_000):
        yield b"and on, " * 8_192
        await asyncio.sleep(0)  # the server hears only in between that nobody listens


def endless(http: Request) -> Response:
    return StreamingResponse(_without_end(), media_type="text/plain")


def packed(data: bytes, encoding: str, media_type: str = "text/html") -> Response:
    return Response(data, headers={"content-encoding": encoding}, media_type=media_type)


def members(count: int, size: int) -> bytes:
    """Gzip as it is joined from many files, each of which is small."""
    return gzip.compress(zeros(size)) * count


BOMBS = {
    "/gzip": lambda: packed(gzip.compress(zeros(100 * MB)), "gzip"),
    "/x-gzip": lambda: packed(gzip.compress(zeros(100 * MB)), "x-gzip"),
    "/deflate": lambda: packed(zlib.compress(zeros(100 * MB)), "deflate"),
    "/members": lambda: packed(members(200, MB), "gzip"),
    "/twice": lambda: packed(gzip.compress(gzip.compress(zeros(100 * MB))), "gzip, gzip"),
    "/brotli": lambda: packed(b"\x0b\x80", "br"),
    "/no-gzip": lambda: packed(b"\x1f\x8b no gzip", "gzip"),
    "/cut": lambda: packed(gzip.compress(bytes(range(256)) * 50)[:-20], "gzip"),
    "/large": lambda: Response(zeros(30 * MB), media_type="application/pdf"),
    "/large-page": lambda: Response(b" " * (9 * MB), media_type="text/html"),
    "/film": lambda: Response(b"film", media_type="video/mp4"),
    "/archive": lambda: Response(b"PK", media_type="application/zip"),
    "/heads": lambda: Response("x", headers={f"x-{number}": "y" * 1_000 for number in range(200)}),
}
"""Answers that are too much, or none."""
