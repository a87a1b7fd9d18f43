"""All that an owner wrote in ``agent/``, read once at the start: a new kind of file is a field and a line here."""

from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path, PurePosixPath

from msgspec import Struct

from bot.agentdir.agents import FOLDER as AGENTS
from bot.agentdir.agents import AgentFile, read_agents
from bot.agentdir.card import FILE as CARD
from bot.agentdir.card import Card, read_card
from bot.agentdir.documents import Fault
from bot.agentdir.instructions import FILES, Instructions, read_instructions
from bot.agentdir.mcp import FILE as MCP
from bot.agentdir.mcp import read_servers
from bot.agentdir.peers import FILE as PEERS
from bot.agentdir.peers import read_peers
from bot.agentdir.skills import FOLDER, Skill, is_hidden, read_skills
from bot.mcp.configured import Server
from bot.peers import Peer

KNOWN = (*FILES, FOLDER, AGENTS, MCP, PEERS, CARD)
"""What lies in the folder itself, beside what the instructions include."""


class Owned(Struct, frozen=True):
    """``faults`` name what is wrong, by file and line; the rest is what can be used."""

    instructions: Instructions = Instructions()
    skills: tuple[Skill, ...] = ()
    agents: tuple[AgentFile, ...] = ()
    servers: tuple[Server, ...] = ()
    peers: tuple[Peer, ...] = ()
    card: Card = Card()
    faults: tuple[Fault, ...] = ()


def read_folder(folder: Path, tools: Collection[str] | None = None, values: Mapping[str, str] | None = None) -> Owned:
    """Never raises for what lies there, or does not. ``tools`` are the names of those there are, ``values`` what
    ``${NAME}`` may mean; None where that is not known."""
    if not folder.is_dir():
        return Owned(faults=(Fault("", 0, "There is no such folder: the bot has no instructions and no skills."),))
    instructions, in_instructions = read_instructions(folder)
    skills, in_skills = read_skills(folder)
    agents, in_agents = read_agents(folder, tools)
    servers, in_servers = read_servers(folder, values)
    peers, in_peers = read_peers(folder, values)
    card, in_card = read_card(folder)
    faults = [
        *in_instructions,
        *in_skills,
        *in_agents,
        *in_servers,
        *in_peers,
        *in_card,
        *_unread(folder, instructions),
    ]
    return Owned(instructions, skills, tuple(agents), servers, peers, card, tuple(sorted(faults)))


def _unread(folder: Path, instructions: Instructions) -> Iterator[Fault]:
    """What nobody reads: a misspelled name, or a file that was to be included."""
    for path in sorted((folder / AGENTS).glob("*")):
        if path.suffix != ".md" and not is_hidden(path.name):
            yield Fault(f"{AGENTS}/{path.name}", 0, "Nothing reads it: an agent is a file whose name ends in .md.")
    included = {PurePosixPath(name).parts[0] for name in instructions.files}
    for name in sorted(each.name for each in folder.iterdir()):
        if name in KNOWN or name in included or is_hidden(name) or name.lower().startswith(("readme", "license")):
            continue
        known = {each.lower(): each for each in KNOWN}
        near = get_close_matches(name.lower(), known, 1, 0.7)
        hint = f"is it meant to be {known[near[0]]}?" if near else f"to use it, write @{name} into {FILES[0]}."
        yield Fault(name, 0, f"Nothing reads it: {hint}")
