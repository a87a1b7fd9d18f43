"""``agent/agents/<name>.md``: an agent that the bot gives tasks to. The front matter says what it is and may use, the
text below is its instructions:

    ---
    name: researcher
    description: Finds something out on the web and answers with sources.
    model: claude-haiku-5-5          # the cheaper one where it is left out
    tools: [web_search, web_fetch]   # all that only read where it is left out
    limits: {model_calls: 12, seconds: 300}
    ---
    You find things out. ...
"""

import re
from collections.abc import Collection
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from bot.agentdir.documents import Document, Fault, fitted, text_of, with_front_matter
from bot.history import DELEGATE

FOLDER = "agents"
MOST = 20
"""Their descriptions stand in every prompt."""
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
LONGEST_NAME = 40


class AgentLimits(Struct, frozen=True, forbid_unknown_fields=True):
    """Of one task; ``seconds`` from its beginning to its end, however often it is interrupted."""

    model_calls: Annotated[int, Meta(ge=1, le=100)] = 12
    seconds: Annotated[int, Meta(ge=10, le=3_600)] = 300


class _Front(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    description: Annotated[str, Meta(min_length=1, max_length=500)]
    model: str = ""
    tools: tuple[str, ...] | None = None
    limits: AgentLimits = AgentLimits()


class AgentFile(Struct, frozen=True):
    """``model`` is "" and ``tools`` None where the file leaves them to us."""

    name: str
    description: str
    instructions: str
    model: str = ""
    tools: tuple[str, ...] | None = None
    limits: AgentLimits = AgentLimits()


def read_agents(folder: Path, tools: Collection[str] | None = None) -> tuple[list[AgentFile], list[Fault]]:
    """Those that can be used, by name, and what is wrong with the others. ``tools`` are the names there are; None where
    that is not known."""
    agents: list[AgentFile] = []
    faults: list[Fault] = []
    for path in sorted((folder / FOLDER).glob("*.md")):
        read = _read(folder, f"{FOLDER}/{path.name}", tools)
        if isinstance(read, AgentFile) and len(agents) == MOST:
            faults.append(Fault(f"{FOLDER}/{path.name}", 0, f"There are more than {MOST} agents."))
        elif isinstance(read, AgentFile):
            agents.append(read)
        else:
            faults += read
    return agents, faults


def _read(folder: Path, file: str, tools: Collection[str] | None) -> AgentFile | list[Fault]:
    text = text_of(folder, file)
    document = text if isinstance(text, Fault) else with_front_matter(text, file)
    if isinstance(document, Fault):
        return [document]
    front = fitted(document, _Front)
    if isinstance(front, Fault):
        return [front]
    if faults := [*_misnamed(document, front), *_unusable(document, front, tools)]:
        return faults
    description = " ".join(front.description.split())
    return AgentFile(front.name, description, document.body.strip(), front.model, front.tools, front.limits)


def _misnamed(document: Document, front: _Front) -> list[Fault]:
    if not NAME.fullmatch(front.name) or len(front.name) > LONGEST_NAME:
        rule = f"at most {LONGEST_NAME} of a-z, 0-9 and single hyphens"
        return [document.fault(f"A name must be {rule}, not {front.name!r}.", ".name")]
    if front.name != Path(document.file).stem:
        return [document.fault(f"The name {front.name!r} must be that of the file.", ".name")]
    return []


def _unusable(document: Document, front: _Front, known: Collection[str] | None) -> list[Fault]:
    faults = []
    for number, name in enumerate(front.tools or ()):
        if name == DELEGATE:
            faults.append(document.fault("An agent that gets tasks can not give any.", f".tools[{number}]"))
        elif known is not None and name not in known:
            faults.append(document.fault(f"There is no tool {name!r}.", f".tools[{number}]"))
    if not document.body.strip():
        faults.append(Fault(document.file, document.body_line, "Below the second line --- must be its instructions."))
    return faults
