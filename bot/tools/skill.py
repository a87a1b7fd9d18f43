"""Skills: how the owner wants a kind of task done, read only when such a task comes."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import Field

from bot.agentdir.skills import FILE, Skill
from bot.toolkit import Tool, ToolFault, tool
from bot.tools.reopen import paged

LISTED = 8_000
"""Characters of all names and descriptions: some 2,000 tokens, in every prompt."""
MOST_NAMED = 30
"""Files that a skill names when it is read."""
DESCRIPTION = """Read a skill: how a certain kind of task is done here, written by the owner of this bot. Before you \
begin a task that one of them fits, read it, and follow it.

{skills}"""
SCRIPTS = """To run a script of it with run_python, give that the name "skill:{name}" among its files, the script's \
arguments as `arguments`, and this code: import runpy; runpy.run_path("{name}/{script}", run_name="__main__")

Where there is code_execution instead, put "skill:{name}" in by upload_files, with the files of the chat that it \
needs. All of them then lie in the input directory without their folders: run {alone} there, and copy what the person \
shall get to "$OUTPUT_DIR"."""
"""Both ways: the words stay in the conversation, which may go on with a model that has the other one."""


def skill_tool(skills: Sequence[Skill]) -> Tool:
    """The tool for these skills, whose names and descriptions are in its own description: in the prompt's stable part,
    in one order."""
    known = {each.name: each for each in skills}

    @tool(seconds=10)
    async def skill(
        name: Annotated[str, "Its name as it is listed"],
        file: Annotated[str, "One of its files, as the skill names it; empty for the skill itself"] = "",
        page: Annotated[int, Field(ge=1), "Which page of it, from 1"] = 1,
    ) -> str:
        """As DESCRIPTION says."""
        found = known.get(name.strip())
        if found is None:
            raise ToolFault(f"There is no skill {name!r}. There are: {', '.join(known)}.")
        words = await asyncio.to_thread(_text, found, file) if file.strip() not in ("", FILE) else _whole(found)
        return paged(words, page)

    return replace(skill, description=DESCRIPTION.format(skills=listed(skills)))


def listed(skills: Sequence[Skill], most: int = LISTED) -> str:
    """A line for each. Where they are too long together the longest descriptions are shortened, to one length."""
    heads = [f"- {each.name}: " for each in skills]
    room = most - sum(len(head) + 1 for head in heads)
    longest = _fair([len(each.description) for each in skills], room)
    return "\n".join(head + _shortened(each.description, longest) for head, each in zip(heads, skills, strict=True))


def _fair(lengths: Sequence[int], room: int) -> int:
    """The length to which the longer ones are cut so that all of them fit."""
    for index, length in enumerate(sorted(lengths)):
        share = max(room, 0) // (len(lengths) - index)
        if length > share:
            return share
        room -= length
    return max(lengths, default=0)


def _shortened(words: str, most: int) -> str:
    if len(words) <= most:
        return words
    cut = words[: max(most - 1, 0)]
    return f"{cut.rpartition(' ')[0] or cut}…"[:most]


def _whole(skill: Skill) -> str:
    """What it says, and which files it has."""
    if not skill.files:
        return skill.body
    more = len(skill.files) - MOST_NAMED
    names = [*(f"- {each}" for each in skill.files[:MOST_NAMED]), *([f"- and {more} more"] if more > 0 else [])]
    parts = [skill.body, "\n".join(["Files of this skill, to be read with `file`:", *names])]
    if script := next((each for each in skill.files if each.endswith(".py")), ""):
        parts.append(SCRIPTS.format(name=skill.name, script=script, alone=PurePosixPath(script).name))
    return "\n\n".join(parts)


def _text(skill: Skill, file: str) -> str:
    """A file's text. Raises ToolFault where there is none."""
    name = file.strip().removeprefix("./")
    data = skill.data(name)
    if data is None:
        there = ", ".join(skill.files[:MOST_NAMED]) or "none"
        raise ToolFault(f"{skill.name} has no file {file!r}. There are: {there}.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ToolFault(f"{name} is no text. Take it along to where code runs, as skill:{skill.name}/{name}.") from None
