"""Put files of the chat where the provider of the model runs code (``bot/provided.py``)."""

from collections.abc import Sequence
from typing import Annotated

from bot.errors import FileRefused, ModelUnavailable
from bot.files import Kept, named
from bot.ports import ProviderFiles
from bot.toolkit import Output, Tool, ToolContext, ToolFault, tool

MOST_FILES = 20


def upload_files(remote: ProviderFiles) -> Tool:
    """The tool, for this provider."""

    @tool(untrusted=True, seconds=90)
    async def upload_files(
        names: Annotated[tuple[str, ...], "Names of files of this chat, or their references file:…"],
        context: ToolContext,
    ) -> Output:
        """Put files of this chat into the container in which code_execution runs, to work on them there.

        Files of the chat are not there by themselves, however they were sent. Call it alone, before the code that needs
        them; from the next step on they are in the container's input directory, under their names, and stay for later
        messages. Put them in again where they are missing: a container may have been replaced. What your code copies
        into "$OUTPUT_DIR" is sent to the person with your answer, without this tool.
        """
        wanted = await _wanted(names, context)
        uploads = []
        for kept in wanted:
            data = await context.files.data(kept)
            if data is None:
                raise ToolFault(f"The file {kept.name!r} is no longer kept: ask for it to be sent again.")
            try:
                uploads.append(await remote.upload(kept.name, data, kept.media_type))
            except FileRefused as why:
                raise ToolFault(f"{kept.name}: {why}") from why
            except ModelUnavailable as why:
                raise ToolFault("Files can not be put there at the moment. Try once more, or say so.") from why
        return Output(f"In the container now: {', '.join(kept.name for kept in wanted)}.", uploads=tuple(uploads))

    return upload_files


async def _wanted(names: Sequence[str], context: ToolContext) -> list[Kept]:
    """Each file once. Raises ToolFault naming those there are."""
    if not 0 < len(names) <= MOST_FILES:
        raise ToolFault(f"Name at least one file, and at most {MOST_FILES}.")
    known = await context.files.all()
    found = {}
    for name in names:
        kept = named(name, known)
        if kept is None:
            there = ", ".join(each.name for each in known[-MOST_FILES:]) or "none yet"
            raise ToolFault(f"There is no file {name!r} in this chat. There are: {there}.")
        found[kept.name] = kept
    return list(found.values())
