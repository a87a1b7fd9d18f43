"""The owner's folder, as ``kabar check`` reads it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.agentdir.folder import read_folder
from bot.agentdir.mcp import FILE as MCP
from bot.examining import Check, green, yellow
from handlers.workshop import BUILT_IN


async def examine(folder: Path, values: Mapping[str, str]) -> Sequence[Check]:
    brings_tools = (folder / MCP).exists()
    owned = read_folder(folder, None if brings_tools else BUILT_IN, values)
    if owned.faults:
        first, others = owned.faults[0], len(owned.faults) - 1
        if not first.file:
            do = f"Run kabar where {folder} lies, or set KABAR_AGENT_DIR to where it is."
            return [yellow("agent folder", first.message, do)]
        says = f"{first} And {others} more." if others else str(first)
        return [yellow("agent folder", says, f"See them all with: kabar check {folder}")]
    return [green("agent folder", f"{folder} has no mistake; {len(owned.skills)} skills, {len(owned.agents)} agents.")]
