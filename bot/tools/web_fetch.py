"""Open one page of the web and read it."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from msgspec.structs import replace
from pydantic import Field

from bot.files import Kept
from bot.messages import Entry, Json
from bot.ports import Read, Reader
from bot.toolkit import Output, Tool, ToolContext, ToolFault, tool
from bot.web.address import PageRefused
from bot.web.fetch import Web
from bot.web.known import is_known
from bot.web.reading import Readable, Reading
from bot.web.words import LABEL, harmless

PAGE = 12_000
"""Characters of one page of the text."""
LATEST_BREAK = 1_000
"""Characters before its end in which a page may end earlier, with a line."""


def _is_known(arguments: Json, entries: Sequence[Entry]) -> bool:
    """A page that was found, or that a person named, tells nobody anything new."""
    return is_known(str(arguments.get("url") or ""), entries)


def web_fetch_tool(reader: Reader, web: Web | None = None) -> Tool:
    """The tool. ``reader`` reads what is no page; ``web`` is the public web, but in tests and the simulator."""
    opened, reading = web or Web(), Reading(reader)

    @tool(seconds=50, outward=True, untrusted=True, is_known=_is_known, anywhere=True)
    async def web_fetch(
        url: Annotated[str, "The whole address, such as https://example.com/news"],
        context: ToolContext,
        page: Annotated[int, Field(ge=1), "Which page of a long text, from 1"] = 1,
    ) -> Output:
        """Open an address of the web and read what is there: a page, a PDF, a text, an Office file or a picture.

        Use it when somebody gives an address, or to read a page that web_search found. It opens only what is public on
        the web: nothing that wants a sign-in, and no private network. It runs no scripts, fills in no forms and clicks
        nothing. Long texts come in pages: ask for the next one where you need it.
        """
        try:
            found = await reading.read(await opened.fetch(url))
        except PageRefused as why:
            raise ToolFault(str(why)) from why
        if found.picture:
            return await _picture(found, found.picture, context)
        return Output(told(found, page))

    return web_fetch


async def _picture(found: Readable, picture: Read, context: ToolContext) -> Output:
    try:
        file = await context.files.keep(found.title or "picture", picture.data, picture.media_type)
    except ValueError:  # there is no place for files here
        raise ToolFault("This is a picture, and pictures can not be shown here. Give its address instead.") from None
    kept = Kept(file.blob, file.name, file.media_type, file.size, width=picture.width, height=picture.height)
    words = f"{LABEL}\nAddress: {found.address}\nA picture, {picture.width} x {picture.height} pixels"
    return Output(words, (kept,), (replace(file, kept=True, width=picture.width, height=picture.height),))


def told(found: Readable, number: int) -> str:
    """One page of it, with what it is and where it was in the end. Raises ToolFault where it has fewer."""
    pages = list(_pages(harmless(found.text)))
    if number > len(pages):
        raise ToolFault(f"It has {len(pages)} pages." if len(pages) > 1 else "It has one page.")
    lines = [LABEL]
    if title := " ".join(harmless(found.title).split()):
        lines.append(f"Title: {title}")
    lines.append(f"Address: {found.address}")
    if len(pages) > 1:
        lines.append(f"(Page {number} of {len(pages)}.)")
    return "\n".join(lines) + f"\n\n{pages[number - 1].strip()}"


def _pages(text: str) -> Iterator[str]:
    """Each ends with a line, where one ends late enough."""
    start = 0
    while True:
        end = start + PAGE
        if end >= len(text):
            yield text[start:]
            return
        line = text.rfind("\n", end - LATEST_BREAK, end)
        end = line + 1 if line >= 0 else end
        yield text[start:end]
        start = end
