"""Search the web where the provider of the model does not do it itself (``bot/provided.py``)."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from bot.toolkit import Tool, ToolFault, tool
from bot.web.address import PageRefused
from bot.web.tavily import BASE_URL, MOST, Found, Tavily
from bot.web.words import LABEL, harmless, link

LONGEST_QUERY = 400
"""Characters: what Tavily takes."""
SNIPPET = 700
"""Characters of each page found."""
NOTHING = "Nothing was found. Try fewer or other words, or the language that such pages are written in."


def web_search_tool(key: str = "", base_url: str = BASE_URL) -> Tool:
    """The tool, searching with this key or without one. Raises ValueError where ``base_url`` is no address."""
    tavily = Tavily(key, base_url)

    @tool(seconds=30, untrusted=True)
    async def web_search(
        query: Annotated[str, Field(min_length=1, max_length=LONGEST_QUERY), "What to look for, in a few words"],
        count: Annotated[int, Field(ge=1, le=MOST), "How many pages to find"] = 5,
    ) -> str:
        """Search the web; returns the title, the address and some words of each page found.

        Use it for what may have changed since you were trained, for news, prices and facts you are not sure of, and
        whenever somebody asks for sources. Open a page found with web_fetch where its few words do not answer. It does
        not search this chat. Name the pages that your answer rests on as Markdown links, as they stand in the result.
        """
        try:
            found = await tavily.search(query, count)
        except PageRefused as why:
            raise ToolFault(str(why)) from why
        if not found:
            raise ToolFault(NOTHING)
        return told(found)

    return web_search


def told(found: Iterable[Found]) -> str:
    return "\n\n".join([LABEL, *(f"{number}. {_one(each)}" for number, each in enumerate(found, 1))])


def _one(found: Found) -> str:
    words = " ".join(harmless(found.snippet).split())
    return f"{link(found.title, found.address)}\n{words[:SNIPPET]}{'…' if len(words) > SNIPPET else ''}".strip()
