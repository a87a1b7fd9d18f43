"""Put files of the chat where the provider of the model runs code (``bot/provided.py``)."""

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Annotated

from bot.agentdir.skills import Skill
from bot.errors import FileRefused, ModelUnavailable
from bot.ports import ProviderFiles
from bot.toolkit import Output, Tool, ToolContext, ToolFault, tool
from bot.tools.run_python import MOST_FILES, media_type_of, taken_along

LARGEST = 100_000_000
"""Bytes of all files of one call."""


def upload_files(remote: ProviderFiles, skills: Sequence[Skill] = ()) -> Tool:
    """The tool, for this provider."""

    @tool(untrusted=True, seconds=90)
    async def upload_files(
        names: Annotated[
            tuple[str, ...],
            "Names of files of this chat, or their references file:…; skill:report for those of a skill",
        ],
        context: ToolContext,
    ) -> Output:
        """Put files of this chat into the container in which code_execution runs, to work on them there.

        Files of the chat are not there by themselves, however they were sent. Call it alone, before the code that needs
        them; from the next step on they are in the container's input directory, under their names, and stay for later
        messages. Put them in again where they are missing: a container may have been replaced. What your code copies
        into "$OUTPUT_DIR" is sent to the person with your answer, without this tool.
        """
        if not 0 < len(names) <= MOST_FILES:
            raise ToolFault(f"Name at least one file, and at most {MOST_FILES}.")
        items = await taken_along(names, context.files, skills, LARGEST)
        uploads = []
        for item in items:
            name = PurePosixPath(item.name).name
            try:
                uploads.append(await remote.upload(name, item.data, media_type_of(name)))
            except FileRefused as why:
                raise ToolFault(f"{name}: {why}") from why
            except ModelUnavailable as why:
                raise ToolFault("Files can not be put there at the moment. Try once more, or say so.") from why
        told = ", ".join(PurePosixPath(item.name).name for item in items)
        return Output(f"In the container now: {told}.", uploads=tuple(uploads))

    return upload_files
