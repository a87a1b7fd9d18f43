"""What servers cost where none is configured, or none is spoken to: measured in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

from bot.agentdir.mcp import read_servers
from tests.mcp.serving import knowing, somewhere

PROGRAM = """
import asyncio, sys
from pathlib import Path
import handlers.worker
from bot.adapters.sqlite_store import SQLiteStore
from bot.clock import SystemClock
from handlers.servers import make_servers

async def main(folder):
    store = SQLiteStore(Path(folder, "kabar.sqlite3"), SystemClock())
    servers = make_servers(folder, {"URL": sys.argv[2]}, store, SystemClock(), idle=0)
    await servers.load()
    tools = servers.tools(())
    await servers.rest()
    await servers.close()
    store.close()
    loaded = {"mcp", "mcp_types", "jsonschema", "starlette", "cryptography"} & set(sys.modules)
    print(len(tools), *sorted(loaded))

asyncio.run(main(sys.argv[1]))
"""


def run(folder: Path, url: str = "") -> list[str]:
    command = (sys.executable, "-c", PROGRAM, str(folder), url)
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.split()


def test_without_a_file_nothing_is_loaded(tmp_path: Path) -> None:
    assert run(tmp_path) == ["0"]


async def test_what_is_known_of_a_server_is_offered_without_loading_what_speaks_to_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"odds": {"url": "${URL}"}}}))
    _, up = somewhere()
    async with up() as url:
        (server,), _ = read_servers(tmp_path, {"URL": f"{url}/mcp"})
        async with knowing(tmp_path / "kabar.sqlite3", server) as servers:
            tools = servers.tools(())
    assert run(tmp_path, f"{url}/mcp") == [str(len(tools))]
