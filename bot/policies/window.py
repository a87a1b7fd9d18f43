"""Policy ``window``: what stood first stays, what came after it is left out. Costs nothing and never fails."""

from bot.history import told
from bot.messages import Asked, Entry, Json, Summary
from bot.ports import LeftOut

LONGEST = 2_000
"""Characters of each of the two sides of the first exchange."""
LEFT_OUT = "(What was said between this and the messages below is no longer shown.)"


class Window:
    async def summary(self, left: LeftOut) -> Summary:
        return Summary(text=standing(left), upto=left.upto)


def standing(left: LeftOut) -> str:
    """The summary there is, whoever wrote it; where there is none, the first exchange in its own words."""
    before = next((entry.text for entry in reversed(left.entries) if isinstance(entry, Summary)), "")
    return before if before.strip() else _first_exchange(left.entries)


def _first_exchange(entries: tuple[Entry, ...]) -> str:
    shown = [(entries[at], message) for at, message in told(entries, "")]
    first = next((entry.turn for entry, _ in shown if isinstance(entry, Asked)), None)
    own = [message for entry, message in shown if not isinstance(entry, Summary) and entry.turn == first]
    if not own:
        return LEFT_OUT
    question, answer = _words(own[0]), _words(own[-1]) if own[-1]["role"] == "assistant" else ""
    parts = ["The conversation began like this.", f"They wrote:\n{question}", f"You answered:\n{answer}", LEFT_OUT]
    return "\n\n".join(part for part in parts if not part.endswith(":\n"))


def _words(message: Json) -> str:
    said = "\n".join(block["text"] for block in message["content"] if block.get("type") == "text")
    return said.strip() if len(said) <= LONGEST else f"{said[:LONGEST].strip()} […]"
