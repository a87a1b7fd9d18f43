"""Run a Python script where it can do no harm, with files of the chat and of skills; what it makes comes back."""

import asyncio
import mimetypes
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from msgspec import structs

from bot.agentdir.skills import Skill
from bot.errors import FileRefused
from bot.files import Files, Kept, named, safe_name
from bot.messages import File
from bot.ports import Reader
from bot.sandbox.port import CanNotRun, Item, Job, Ran, Sandbox
from bot.toolkit import Output, Tool, ToolContext, ToolFault, tool

ASKS = True
"""Asks first, unless the owner says otherwise."""

LONGEST_CODE = 100_000
"""Characters: a hundred pages, more than any model writes in one reply."""
MOST_ARGUMENTS = 50
MOST_SHOWN = 4
"""Pictures that the model sees of one run; all of them are sent."""
MOST_FILES = 20
SKILL = "skill:"
"""Before the name of a skill, or of one of its files; no file of a chat is called so."""
START = 40.0
"""Seconds beside the script's own: a start of the place, and what comes back on its way."""
INSTALL = 120.0

ENDS = {
    "time": "it took longer than {seconds:.0f} seconds",
    "output": "it printed without end",
    "memory": "all its processes together took too much memory",
    "processes": "it started too many processes",
    "disk": "it wrote too much",
    "stopped": "it was stopped",
}
DOORS = {
    "network": "connections to other machines",
    "reading": "reading files outside of the working folder",
    "writing": "changing files outside of the working folder",
    "processes": "reaching other processes, or leaving some behind",
    "memory": "taking all memory",
}
DESCRIPTION = """Run a Python 3 script and see what it prints, draws and writes.

Use it to work with data and files, to draw charts, and for what is too much for the calculator. The script starts in an
empty folder that holds the files named in `files`, under their names. Print what you want to know. Files that it leaves
there are sent to the person (delete what they should not get) and may be used by their names later; pictures are shown
to you as well. Matplotlib figures that are shown or left open are saved as plot-1.png and on. Nothing else stays: each
script starts anew. It has no network, no keyboard and no screen, and ends after {seconds:.0f} seconds. {libraries}"""


SKILLS = """A name such as skill:report in `files` puts all files of that skill into the folder report, and
skill:report/scripts/table.py only this one."""


def run_python(sandbox: Sandbox, reader: Reader, skills: Sequence[Skill] = ()) -> Tool:
    """The tool for scripts in this place. ``reader`` makes pictures small enough for the model."""

    @tool(writes=True, asks=ASKS, untrusted=True, seconds=_seconds(sandbox), result_chars=30_000)
    async def run_python(
        context: ToolContext,
        code: Annotated[str, "The whole script."],
        arguments: Annotated[tuple[str, ...], "What the script finds in sys.argv[1:]."] = (),
        files: Annotated[tuple[str, ...], "Names of files of this chat that the script needs."] = (),
    ) -> Output:
        """As DESCRIPTION says."""
        if len(code) > LONGEST_CODE:
            raise ToolFault(f"The script is longer than {LONGEST_CODE} characters: put data into a file of the chat.")
        if len(arguments) > MOST_ARGUMENTS or any("\0" in each for each in arguments):
            raise ToolFault(f"At most {MOST_ARGUMENTS} arguments, without NUL characters.")
        job = Job(code, arguments, await taken_along(files, context.files, skills, sandbox.largest))
        try:
            ran = await sandbox.run(context.place.conversation, job)
        except CanNotRun as why:
            raise ToolFault(f"The script was not run. {why}") from why
        return await _output(ran, context, reader, sandbox.seconds)

    more = f"\n\n{' '.join(SKILLS.split())}" if skills else ""
    return replace(run_python, description=_description(sandbox) + more)


def _seconds(sandbox: Sandbox) -> float:
    return sandbox.seconds + START + (INSTALL if sandbox.installs else 0)


def _description(sandbox: Sandbox) -> str:
    """The same bytes for as long as the place is the same."""
    there = f"Beside Python's own library there are {', '.join(sandbox.libraries)}." if sandbox.libraries else ""
    others = "The script may ask for others by inline metadata (PEP 723: # /// script)." if sandbox.installs else ""
    none = "There is Python's own library and no other."
    return DESCRIPTION.format(seconds=sandbox.seconds, libraries=" ".join(filter(None, (there, others))) or none)


async def taken_along(names: Sequence[str], files: Files, skills: Sequence[Skill], largest: int) -> tuple[Item, ...]:
    if len(names) > MOST_FILES:
        raise ToolFault(f"At most {MOST_FILES} files at once.")
    of_skills = [name for name in names if name.startswith(SKILL)]
    of_chat = [name for name in names if name not in of_skills]
    known = await files.all() if of_chat else []
    items: dict[str, Item] = {}
    for name in of_skills:
        items |= {item.name: item for item in await asyncio.to_thread(_of_skill, name, skills)}
    for name in of_chat:
        kept = named(name, known)
        if kept is None:
            there = ", ".join(each.name for each in known[-MOST_FILES:]) or "none yet"
            raise ToolFault(f"There is no file {name!r} in this chat. There are: {there}.")
        data = await files.data(kept)
        if data is None:
            raise ToolFault(f"The file {kept.name!r} is no longer kept: ask for it to be sent again.")
        items[kept.name] = Item(kept.name, data)
    if sum(len(item.data) for item in items.values()) > largest:
        raise ToolFault(f"The files are too large: together they may have {largest / 1e6:.1f} MB.")
    return tuple(items.values())


def _of_skill(name: str, skills: Sequence[Skill]) -> list[Item]:
    """Files of a skill, in a folder of its name. Raises ToolFault where there are none."""
    wanted, _, file = name.removeprefix(SKILL).partition("/")
    skill = next((each for each in skills if each.name == wanted), None)
    if skill is None:
        names = ", ".join(each.name for each in skills) or "none"
        raise ToolFault(f"There is no skill {wanted!r}. There are: {names}.")
    items = []
    for each in [file] if file else skill.files:
        data = skill.data(each)
        if data is None:
            raise ToolFault(f"{wanted} has no file {each!r}. There are: {', '.join(skill.files) or 'none'}.")
        items.append(Item(f"{wanted}/{each}", data))
    return items


async def _output(ran: Ran, context: ToolContext, reader: Reader, seconds: float) -> Output:
    files: list[File] = []
    pictures: list[Kept] = []
    for item in ran.files[:MOST_FILES]:
        file = await context.files.keep(item.name, item.data, media_type_of(item.name))
        if len(pictures) < MOST_SHOWN and file.media_type.startswith("image/"):
            pictures += await _shown(file, item.data, context, reader)
        sizes = ((each.width, each.height) for each in pictures if each.key == file.blob)
        width, height = next(sizes, (0, 0))
        files.append(structs.replace(file, width=width, height=height))
    return Output(told(ran, files, seconds), tuple(pictures), tuple(files))


async def _shown(file: File, data: bytes, context: ToolContext, reader: Reader) -> list[Kept]:
    """The picture as the model takes it: none where it is no picture that can be shown."""
    try:
        read = await reader.read(data)
    except FileRefused:
        return []
    if not min(read.width, read.height):
        return []
    key = file.blob if read.data == data else (await context.files.keep(file.name, read.data, read.media_type)).blob
    return [Kept(key, file.name, read.media_type, len(read.data), width=read.width, height=read.height)]


def media_type_of(name: str) -> str:
    """By its extension, as whoever gets the file will open it."""
    return mimetypes.guess_type(safe_name(name))[0] or "application/octet-stream"


def told(ran: Ran, files: Sequence[File], seconds: float) -> str:
    """What the model reads of it."""
    why = f" (ended: {ENDS[ran.ended].format(seconds=seconds)})" if ran.ended else _signal_note(ran.code)
    sizes = ", ".join(f"{file.name} ({file.size} bytes)" for file in files)
    parts = [
        f"exit code: {ran.code}{why}",
        f"stdout:\n{ran.out.rstrip()}" if ran.out.strip() else "stdout: (nothing)",
        f"stderr:\n{ran.err.rstrip()}" if ran.err.strip() else "",
        f"files, sent to the person: {sizes}" if files else "",
        f"files left behind: {'; '.join(ran.left)}" if ran.left else "",
        f"Not shut off where it ran: {'; '.join(DOORS[door] for door in ran.open)}." if ran.open else "",
    ]
    return "\n".join(filter(None, parts))


def _signal_note(code: int) -> str:
    """128 and the signal's number, as Linux counts them."""
    notes = {128 + 24: "it took too much processor time", 128 + 9: "it was killed", 128 + 11: "it crashed"}
    return f" ({notes[code]})" if code in notes else ""
