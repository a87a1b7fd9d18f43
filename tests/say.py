"""Short ways to write what tests say most."""

import time
from typing import Any

from bot.messages import Answered, Asked, Entry, Inbound, Numbered, Person, Place, Reply, Returned

ANN = Person(id="telegram:1", name="Ann", language="en")
BUDI = Person(id="telegram:2", name="Budi", language="id")
HERE = Place(conversation="telegram:1", chat="1")
NOW = int(time.time())
GROUP = Place(conversation="telegram:-5", chat="-5", group=True)


def inbound(text: str = "hi", number: int = 1, *, sender: Person = ANN, place: Place = HERE, **more: Any) -> Inbound:
    return Inbound(
        place=place,
        id=f"m{number}",
        order=f"{number:012d}",
        sender=sender,
        sent_at=NOW,
        text=text,
        native_id=str(number),
        **more,
    )


def asked(text: str = "hi", turn: str = "t", **more: Any) -> Entry:
    return Asked(turn=turn, said=(inbound(text, **more),))


def call(name: str = "calculator", call_id: str = "A", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def answered(*blocks: Any, turn: str = "t", stop: str = "", **more: Any) -> Entry:
    """Blocks, or texts for text blocks; stops for a tool where the last block is a call."""
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    calls = bool(content) and content[-1]["type"] == "tool_use"
    return Answered(turn=turn, reply=Reply(content, stop or ("tool_use" if calls else "end_turn"), **more))


def returned(*calls: str, turn: str = "t", content: Any = "ok", **more: Any) -> Entry:
    results = tuple({"type": "tool_result", "tool_use_id": each, "content": content} for each in calls)
    return Returned(turn=turn, results=results, **more)


def numbered(*entries: Entry, first: int = 1) -> list[Numbered]:
    return [Numbered(seq, entry) for seq, entry in enumerate(entries, start=first)]
