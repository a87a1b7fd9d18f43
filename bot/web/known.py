"""Whether an address was read somewhere, or put together by the model. Pure.

Opening an address tells its server what is in it. One that stands in a person's message or on a page carries nothing
else; one that a page had the model make up may carry anything that was said here.
"""

import re
from collections.abc import Iterable, Iterator

from bot.blocks import is_server_result
from bot.messages import Answered, Asked, Attachment, Entry, Inbound, Json, Returned
from bot.notes import words_of

TOOLS = ("web_search", "web_fetch")
"""Whose results count: those of other tools may hold what the model wrote itself."""
SHORTEST = 4


def is_known(address: str, entries: Iterable[Entry]) -> bool:
    """Whether an address stands in what people said, or in what was found or read on the web, in these entries.

    How it begins (https, www) and whether it ends in a slash does not count. A piece of an address that stands there is
    as good as all of it: it says nothing that was not on the page.
    """
    bare = _bare(address)
    return len(bare) >= SHORTEST and any(bare in words.casefold() for words in _read(entries))


def _bare(address: str) -> str:
    return re.sub(r"^https?://(www\.)?", "", address.strip().casefold()).partition("#")[0].rstrip("/")


def _read(entries: Iterable[Entry]) -> Iterator[str]:
    called: dict[str, str] = {}
    for entry in entries:
        match entry:
            case Asked(said=said):
                yield from _said(said)
            case Answered(reply=reply):
                called |= {str(block.get("id")): str(block.get("name")) for block in reply.content if "name" in block}
                yield from (address for block in reply.content for address in _found(block))
            case Returned(results=results, said=said):
                yield from (words_of(each) for each in results if _counts(each, called))
                yield from _said(said)


def _counts(result: Json, called: dict[str, str]) -> bool:
    return called.get(str(result.get("tool_use_id"))) in TOOLS and not result.get("is_error")


def _said(said: Iterable[Inbound]) -> Iterator[str]:
    for inbound in said:
        if inbound.kind == "due":  # a model worded it, when it was set
            continue
        yield inbound.words
        yield from (quote.text for quote in (inbound.quote, *inbound.heard) if quote)
        yield from (_told(each) for each in inbound.all_attachments)


def _told(attachment: Attachment) -> str:
    return f"{attachment.description}\n{attachment.excerpt}"


def _found(block: Json) -> Iterator[str]:
    """The addresses that the provider's own search returned."""
    content = block.get("content") if is_server_result(block) else None
    for each in content if isinstance(content, list) else ():
        if isinstance(each, dict) and isinstance(each.get("url"), str):
            yield each["url"]
