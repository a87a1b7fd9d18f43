"""Read again what stands in the conversation only as a note."""

from typing import Annotated

from pydantic import Field

from bot.notes import REFERENCE, words_of
from bot.toolkit import ToolContext, ToolFault, tool

PAGE = 8_000
"""Characters of one page."""


@tool(seconds=10)
async def reopen(
    reference: Annotated[str, "As the note or the summary gives it, such as result:1f2e3d4c5b6a:toolu_01A"],
    context: ToolContext,
    page: Annotated[int, Field(ge=1), "Which page of it, from 1"] = 1,
) -> str:
    """Read the whole of an earlier tool result that is shown shortened, page by page. Use it when the part you need is
    left out; do not run the first tool again for it."""
    found = REFERENCE.search(reference)
    result = await context.result_of(*found.groups()) if found else None
    if result is None:
        raise ToolFault("There is no such result in this conversation. Copy the reference as it stands: result:…:… .")
    words = words_of(result)
    pages = max(-(-len(words) // PAGE), 1)
    if page > pages:
        raise ToolFault(f"It has {pages} pages.")
    return f"(Page {page} of {pages}.)\n{words[(page - 1) * PAGE : page * PAGE]}"
