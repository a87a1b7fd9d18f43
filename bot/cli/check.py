"""``kabar check``: every mistake in the owner's folder, as editors take it: file, line, what to do."""

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from bot.agentdir.folder import Owned, read_folder
from bot.agentdir.mcp import FILE as MCP
from bot.cli.environment import environment
from handlers.workshop import BUILT_IN


def check(folder: Path) -> int:
    """Print each mistake, or what there is where there is none; returns the exit code, 1 for mistakes."""
    brings_tools = (folder / MCP).exists()  # whose names only their servers tell
    owned = read_folder(folder, None if brings_tools else BUILT_IN, environment())
    for fault in owned.faults:
        print(replace(fault, file=str(folder / fault.file)))
    if owned.faults:
        return 1
    print("\n".join(_summary(owned)))
    return 0


def _summary(owned: Owned) -> Iterator[str]:
    text, files = owned.instructions.text, owned.instructions.files
    yield f"instructions: {len(text):,} characters from {', '.join(files)}" if files else "instructions: none"
    yield f"skills: {', '.join(skill.name for skill in owned.skills) or 'none'}"
    yield f"agents: {', '.join(agent.name for agent in owned.agents) or 'none'}"
    yield f"servers: {', '.join(server.name for server in owned.servers) or 'none'}"
    yield f"peers: {', '.join(peer.name for peer in owned.peers) or 'none'}"
