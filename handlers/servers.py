"""The servers of ``agent/mcp.json``, wired. Where there is no such file nothing is loaded, and nobody is asked."""

from collections.abc import Callable, Mapping
from pathlib import Path

from bot.adapters.file_reader import FileReader
from bot.mcp.port import Remote
from bot.mcp.servers import Keep, Servers
from bot.ports import Clock

IDLE = 30.0
"""Seconds that an unused connection stays open in a process that is not frozen."""


def make_servers(folder: str, values: Mapping[str, str], keep: Keep, clock: Clock, *, idle: float) -> Servers:
    """``values`` are the environment and the secrets: what ``${NAME}`` in the file may mean. ``idle``: how long an
    unused connection stays open; 0 where a process may be frozen between two turns."""

    def connect(changed: Callable[[str], None]) -> Remote:
        from bot.adapters.mcp_client import McpClients  # takes more than half a second

        return McpClients({"LANG": values["LANG"]} if values.get("LANG") else {}, idle, changed)

    if not (Path(folder) / "mcp.json").is_file():
        return Servers((), keep, clock, FileReader(None), connect)
    from bot.agentdir.mcp import read_servers

    servers, _ = read_servers(Path(folder), values)  # the faults are told with all others of the folder
    return Servers(servers, keep, clock, FileReader(None), connect)
