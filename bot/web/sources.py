"""What an answer rests on, as a list that the person can open: read off the reply's own citations. Pure.

A model with the provider's search does not write its sources into the text: it marks sentences with citations. One with
our own search is told to write them as links, so that nothing is left for this list.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from bot.messages import Json
from bot.web.words import is_openable, link

MOST = 8
"""More is not read by anybody."""


class Cited(Struct, frozen=True):
    title: str
    address: str


def cited(blocks: Iterable[Json]) -> list[Cited]:
    """The pages that a reply's sentences rest on, each once, in the order of the sentences."""
    found: dict[str, Cited] = {}
    for each in _citations(blocks):
        address = str(each.get("url") or each.get("source") or "")
        if is_openable(address):
            found.setdefault(address, Cited(str(each.get("title") or ""), address))
    return list(found.values())


def sources(blocks: Iterable[Json], heading: str) -> str:
    """The list in Markdown, below its heading; "" where nothing is cited, or the answer links to all of it itself."""
    kept = list(blocks)
    words = spoken(kept)
    lines = [f"- {link(each.title, each.address)}" for each in cited(kept) if each.address not in words]
    return "\n".join([f"**{heading}**", *lines[:MOST]]) if lines else ""


def spoken(blocks: Iterable[Json]) -> str:
    """What a person reads of a reply. Its sentences come in a block each where some are cited: those that follow one
    another are one text, those with a call in between are not."""
    pieces: list[str] = []
    joined = False
    for block in blocks:
        if block.get("type") != "text":
            joined = False
            continue
        if joined:
            pieces[-1] += str(block.get("text") or "")
        else:
            pieces.append(str(block.get("text") or ""))
        joined = True
    return "\n\n".join(piece.strip() for piece in pieces if piece.strip())


def _citations(blocks: Iterable[Json]) -> Iterator[Json]:
    for block in blocks:
        found = block.get("citations") if block.get("type") == "text" else None
        yield from (each for each in found or () if isinstance(each, dict))
