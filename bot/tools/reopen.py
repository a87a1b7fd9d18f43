"""See again what stands in the conversation only as a note."""

from typing import Annotated

from pydantic import Field

from bot.files import Kept
from bot.notes import REFERENCE, words_of
from bot.toolkit import Output, ToolContext, ToolFault, tool

PAGE = 8_000
"""Characters of one page."""


@tool(seconds=20, untrusted=True)
async def reopen(
    reference: Annotated[
        str, "As the note or the summary gives it, such as result:1f2e3d4c5b6a:toolu_01A or file:9f86"
    ],
    context: ToolContext,
    page: Annotated[int, Field(ge=1), "Which page of it, from 1"] = 1,
) -> Output:
    """See the whole of an earlier tool result, picture or file of this conversation that is shown shortened or no
    longer, page by page. Use it when the part you need is left out; do not run the first tool again for it."""
    if found := REFERENCE.search(reference):
        result = await context.result_of(*found.groups())
        if result is not None:
            return Output(paged(words_of(result), page))
    elif kept := await context.files.find(reference):
        return await opened(kept, context, page)
    raise ToolFault(
        "There is no such thing in this conversation. Copy the reference as it stands: result:…:… or file:… ."
    )


async def opened(kept: Kept, context: ToolContext, page: int) -> Output:
    """A picture to look at, or one page of a file's text. Raises ToolFault where there is neither."""
    if kept.width:
        return Output(f"{kept.name}, {kept.width} x {kept.height} pixels", pictures=(kept,))
    text = await context.files.text(kept)
    if text is None:
        raise ToolFault(f"{kept.name} ({kept.media_type}) can not be read as text, or is no longer kept.")
    return Output(paged(text, page))


def paged(words: str, page: int) -> str:
    """One page of a text. Raises ToolFault where it has fewer."""
    pages = max(-(-len(words) // PAGE), 1)
    if page > pages:
        raise ToolFault(f"It has {pages} pages.")
    return f"(Page {page} of {pages}.)\n{words[(page - 1) * PAGE : page * PAGE]}"
