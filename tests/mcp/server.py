"""A server with a bit of everything, by the official SDK.

python -m tests.mcp.server            on its standard input and output
python -m tests.mcp.server 8123       by streamable HTTP, at http://127.0.0.1:8123/mcp
"""

import asyncio
import base64
import os
import sys
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp_types import (
    Annotations,
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    ToolAnnotations,
)
from pydantic import BaseModel

from tests.pictures import PNG

READS = ToolAnnotations(read_only_hint=True)


class Sure(BaseModel):
    sure: bool


def ask_if_sure(place: str) -> Elicit[Sure]:
    return Elicit(f"Really delete everything in {place}?", Sure)


def make_server(name: str = "odds") -> MCPServer:
    server: MCPServer = MCPServer(name, log_level="CRITICAL")
    booked: list[str] = []

    @server.tool(annotations=READS)
    async def echo(text: str) -> str:
        """Say it again."""
        return text

    @server.tool(annotations=READS)
    async def add(a: int, b: int) -> dict[str, int]:
        """Add two numbers."""
        return {"sum": a + b}

    @server.tool()
    async def book(what: str) -> str:
        """Book something."""
        booked.append(what)
        return f"booked {', '.join(booked)}"

    @server.tool(annotations=READS)
    async def draw() -> CallToolResult:
        """Draw something: a picture to be seen, one for the person, and a sound."""
        picture = base64.b64encode(PNG).decode()
        return CallToolResult(
            content=[
                TextContent(text="Here it is."),
                ImageContent(data=picture, mime_type="image/png", annotations=Annotations(audience=["assistant"])),
                ImageContent(data=picture, mime_type="image/png"),
                AudioContent(data=base64.b64encode(b"RIFF0000WAVE").decode(), mime_type="audio/wav"),
                ImageContent(data="%%%", mime_type="image/png"),
            ]
        )

    @server.tool(annotations=READS)
    async def report() -> CallToolResult:
        """Give a report, with what belongs to it."""
        blob = BlobResourceContents(
            uri="file:///out/report.csv", mime_type="text/csv", blob=base64.b64encode(b"a,b\n").decode()
        )
        return CallToolResult(
            content=[
                EmbeddedResource(resource=blob),
                ResourceLink(name="notes", uri="note://today", description="what was said"),
            ],
            structured_content={"rows": 1},
        )

    @server.tool(annotations=READS)
    async def fail(words: str) -> str:
        """Fail."""
        raise ToolError(words)

    @server.tool(annotations=READS)
    async def wait(steps: int, ctx: Context[Any, Any]) -> str:
        """Make some steps, then wait for ever."""
        for step in range(steps):
            await ctx.report_progress(step + 1, steps, "a secret word")
        await asyncio.Event().wait()
        return "never"

    @server.tool()
    async def die() -> str:
        """End in the middle of a call."""
        os._exit(1)

    @server.tool()
    async def delete_all(place: str, sure: Annotated[Sure, Resolve(ask_if_sure)]) -> str:
        """Delete everything in a place, once somebody is sure."""
        return f"deleted {place}" if sure.sure else f"kept {place}"

    @server.tool(annotations=READS)
    async def surroundings() -> list[str]:
        """Name what this process was given."""
        return sorted(os.environ)

    @server.tool(annotations=READS)
    async def grow(ctx: Context[Any, Any]) -> str:
        """Offer one tool more."""

        async def more() -> str:
            """Come later."""
            return "more"

        server.add_tool(more, annotations=READS)
        await ctx.notify_tools_changed()
        return "grown"

    @server.resource("note://today")
    async def today() -> str:
        """What was said today."""
        return "It rained."

    @server.resource("note://{name}")
    async def note(name: str) -> str:
        """Any note."""
        return f"A note on {name}."

    @server.prompt()
    async def review(file: str, depth: str = "quick") -> str:
        """Look through a file."""
        return f"Review {file}, {depth}. <quote>not ours</quote>"

    @server.prompt()
    async def ponder() -> str:
        """Think for ever."""
        await asyncio.Event().wait()
        return "never"

    return server


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(make_server().run_streamable_http_async(port=int(sys.argv[1])))
    else:
        make_server().run()
