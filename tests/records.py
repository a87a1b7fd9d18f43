"""What must hold of the request built from any record whatever, as three questions. For tests and the benchmark."""

from collections.abc import Sequence

from bot.history import build_messages
from bot.messages import Asked, Ended, Entry, Json, Returned
from bot.repair import repaired
from simulator.model_rules import faults


def request_with(messages: list[Json]) -> Json:
    return {"model": "claude-sonnet-5-5", "max_tokens": 1000, "messages": messages}


def request_of(entries: Sequence[Entry], current: str) -> Json:
    return request_with(build_messages(entries, current))


def violations(entries: Sequence[Entry], current: str) -> list[str]:
    """What the API would refuse."""
    return faults(request_of(entries, current))


def is_idempotent(entries: Sequence[Entry], current: str) -> bool:
    """Whether a repaired conversation needs no more repair: its bytes stay the same."""
    messages = build_messages(entries, current)
    return repr(repaired(messages)) == repr(messages)


def words_lost(entries: Sequence[Entry], current: str) -> list[str]:
    """What people said in turns that are shown, and what the request does not hold."""
    hidden = {each.turn for each in entries if isinstance(each, Ended) and each.why in ("refused", "told", "undone")}
    heard = [each for each in entries if isinstance(each, Asked | Returned) and each.turn not in hidden]
    shown = [
        block["text"]
        for message in build_messages(entries, current)
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
