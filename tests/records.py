"""What must hold of the request built from any record whatever, as three questions. For tests and the benchmark."""

from collections.abc import Sequence

from bot.messages import Asked, Ended, Entry, Json, Returned
from bot.repair import repaired
from simulator.model_rules import faults

CODE: Json = {"type": "code_execution_20260521", "name": "code_execution"}
"""A record may hold files for the provider's container, which go only with the tool for code (``bot/shaping.py``)."""


def request_with(messages: list[Json]) -> Json:
    return {"model": "claude-sonnet-5-5", "max_tokens": 1000, "messages": messages, "tools": [CODE]}


def violations(messages: list[Json]) -> list[str]:
    """What the API would refuse."""
    return faults(request_with(messages))


def is_settled(messages: list[Json]) -> bool:
    """Whether a conversation that was repaired needs no more repair: its bytes stay the same."""
    return repr(repaired(messages)) == repr(messages)


def words_lost(entries: Sequence[Entry], messages: list[Json]) -> list[str]:
    """What people said in turns that are shown, and what the messages made of this record do not hold."""
    hidden = {each.turn for each in entries if isinstance(each, Ended) and each.why in ("refused", "told", "undone")}
    heard = [each for each in entries if isinstance(each, Asked | Returned) and each.turn not in hidden]
    shown = [
        block["text"]
        for message in messages
        if message["role"] == "user"
        for block in message["content"]
        if block["type"] == "text"
    ]
    return [
        inbound.words
        for each in heard
        for inbound in each.said
        if not any(_readable(inbound.words) in text for text in shown)
    ]


def _readable(words: str) -> str:
    """Halves of characters put together or marked as lost, found letter by letter."""
    joined = words.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in joined)
