"""The files of the chat: what people sent and what was made here, by name."""

import re
from typing import Annotated

from msgspec.structs import replace
from pydantic import Field

from bot.files import Kept, named
from bot.messages import File
from bot.toolkit import Output, ToolContext, ToolFault, tool
from bot.tools.reopen import opened

MOST_FOUND = 20
AROUND = 120
"""Characters shown on each side of what was searched for."""
LONGEST_TEXT = 200_000
"""Characters of a file that the model writes."""
TYPES = {
    "md": "text/markdown",
    "csv": "text/csv",
    "html": "text/html",
    "json": "application/json",
    "xml": "application/xml",
}
"""By the ending of the name; everything else is plain text."""

ADDRESS = re.compile(r"://|www\.|\.\w{2,}[/?]", re.IGNORECASE)

Name = Annotated[str, "Its name as list_files gives it, or its reference file:…"]
Caption = Annotated[str, Field(max_length=900), "A line to stand under the file, where the answer does not say it"]


@tool(seconds=15)
async def list_files(context: ToolContext) -> str:
    """List the files of this chat: what people sent and what was made here. Use it when somebody speaks of a file that
    you do not see in the conversation."""
    lines = [_line(kept) for kept in await context.files.all()]
    return "\n".join(lines) or "There are no files in this chat."


@tool(seconds=20, untrusted=True)
async def read_file(
    name: Name, context: ToolContext, page: Annotated[int, Field(ge=1), "Which page of it, from 1"] = 1
) -> Output:
    """Read a file of this chat as text, page by page, or look at a picture. It reads no others and no addresses."""
    return await opened(await found(name, context), context, page)


@tool(seconds=30, untrusted=True)
async def search_files(
    words: Annotated[str, Field(min_length=2), "What to look for, as it is written, upper or lower case"],
    context: ToolContext,
) -> str:
    """Find words in all files of this chat that have text; tells the file, the page and what stands around them."""
    wanted = words.lower()
    hits: list[str] = []
    for kept in await context.files.all():
        text = await context.files.text(kept) or ""
        lowered, at = text.lower(), -1
        while len(hits) < MOST_FOUND and (at := lowered.find(wanted, at + 1)) >= 0:
            around = " ".join(text[max(at - AROUND, 0) : at + len(wanted) + AROUND].split())
            hits.append(f"{kept.name}, character {at}: … {around} …")
        if len(hits) == MOST_FOUND:
            break
    return "\n".join(hits) or "Nothing was found."


@tool(writes=True, repeatable=True, seconds=20)
async def write_file(
    name: Annotated[str, "What to call it, with an ending that tells its kind, such as plan.md or prices.csv"],
    content: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT), "All of its text"],
    context: ToolContext,
    caption: Caption = "",
) -> Output:
    """Write a text file and send it to the person. Use it for what they will keep or pass on, such as a table, a letter
    or code; what fits into an answer belongs there. It can not make pictures, PDFs or Office files."""
    kind = TYPES.get(name.rpartition(".")[2].lower(), "text/plain")
    caption = _without_addresses(caption)
    file = await context.files.keep(name, content.encode(), kind)
    return Output(f"Written; {file.name} is sent with your answer.", files=(replace(file, caption=caption),))


@tool(writes=True, repeatable=True, seconds=20)
async def send_file(name: Name, context: ToolContext, caption: Caption = "") -> Output:
    """Send a file of this chat again, as it is. Use it when the person asks for a file back."""
    kept = await found(name, context)
    file = File(kept.key, kept.name, kept.media_type, kept.size, _without_addresses(caption))
    return Output(f"{kept.name} is sent with your answer.", files=(file,))


def _without_addresses(caption: str) -> str:
    """The caption. Raises ToolFault where an address is in it: Slack fetches a preview of what stands under a file, and
    with it whatever the address carries, before anybody taps it."""
    if ADDRESS.search(caption):
        raise ToolFault("Not sent. A caption can not hold an address: put it into your answer.")
    return caption


async def found(name: str, context: ToolContext) -> Kept:
    """The file of that name. Raises ToolFault naming those there are."""
    known = await context.files.all()
    kept = named(name, known)
    if kept is None:
        names = ", ".join(each.name for each in known) or "none"
        raise ToolFault(f"There is no file {name!r} in this chat. There are: {names}.")
    return kept


def _line(kept: Kept) -> str:
    size = f"{kept.width} x {kept.height} pixels" if kept.width else f"{kept.size} bytes"
    pages = f", {kept.pages} pages" if kept.pages else ""
    return f"{kept.name} ({kept.media_type}, {size}{pages}, {kept.reference})"
