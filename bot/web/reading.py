"""What was fetched, made readable: pages as Markdown, all other files by the reader of the chat's files."""

import asyncio
import logging

from msgspec import Struct, msgpack

from bot.apart import apart
from bot.errors import FileRefused
from bot.ports import Read, Reader
from bot.web import page
from bot.web.address import PageRefused
from bot.web.fetch import HTML, UNTOLD, Fetched
from bot.web.page import Page, Source

log = logging.getLogger(__name__)

SECONDS = 15.0
"""For one page; the longest takes four."""
AT_ONCE = 2
"""Pages read at the same time: each may take what a file may."""

NOTHING = "The page shows no words without being run in a browser. Look for the same elsewhere."
BROKEN = "The page can not be read: it is broken, or takes too long to read. Try another source."
NOT_NOW = "The page can not be read at the moment."


class Readable(Struct, frozen=True):
    """``picture`` is there where it is one."""

    address: str
    text: str = ""
    title: str = ""
    picture: Read | None = None


class Reading:
    """``reader`` tells what all files but pages are."""

    def __init__(self, reader: Reader, seconds: float = SECONDS) -> None:
        self._reader = reader
        self._seconds = seconds
        self._room = asyncio.Semaphore(AT_ONCE)

    async def read(self, fetched: Fetched) -> Readable:
        """Raises PageRefused."""
        if fetched.media_type in HTML or (fetched.media_type in UNTOLD and looks_like_a_page(fetched.data)):
            found = await self._page(fetched)
            return Readable(fetched.address, found.text, found.title)
        name = fetched.address.partition("?")[0].rpartition("/")[2]
        try:
            read = await self._reader.read(in_utf8(fetched))
        except FileRefused as why:
            raise PageRefused(str(why)) from why
        if read.width:
            return Readable(fetched.address, title=name, picture=read)
        if not read.text.strip():
            raise PageRefused("This file has no text that can be read, only pictures of it.")
        return Readable(fetched.address, read.text, name)

    async def _page(self, fetched: Fetched) -> Page:
        source = msgpack.encode(Source(fetched.data, fetched.address, fetched.charset))
        try:
            async with self._room:
                found = msgpack.decode(await apart(page.__name__, source, self._seconds), type=Page)
        except (TimeoutError, ValueError) as fault:  # msgspec's own are ValueErrors
            raise PageRefused(BROKEN) from fault
        except OSError as fault:
            log.warning("error=<%s> | no process could be started to read a page", type(fault).__name__)
            raise PageRefused(NOT_NOW) from fault
        if not found.text:
            raise PageRefused(NOTHING)
        return found


def looks_like_a_page(data: bytes) -> bool:
    return data[:1000].lstrip().lower().startswith((b"<!doctype html", b"<html"))


def in_utf8(fetched: Fetched) -> bytes:
    """Text whose server names its encoding, in the one that the reader takes for certain; anything else as it is."""
    encoding = page.known(fetched.charset) if fetched.media_type.startswith("text/") else ""
    return fetched.data.decode(encoding, "replace").encode() if encoding else fetched.data
