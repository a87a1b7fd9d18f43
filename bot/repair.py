"""Any conversation made into one that the Messages API accepts. Pure; the same conversation gives the same bytes.

Rules kept here (docs: Messages API, tool use, extended thinking, vision): roles take turns and the user begins; every
tool call is answered at the beginning of the very next message, in the order of the calls; what a tool run by the
provider returned stands behind its call; nothing is blank; thinking is sent back untouched or not at all.
``simulator/model_rules.py`` checks the same rules, written from the documentation and not from this code.

What is repaired at one place does not depend on what comes later, wherever that is possible: the beginning of a
conversation that grows stays the same, byte for byte, and is read from the provider's cache.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from bot.blocks import (
    SERVER_CALLS,
    THINKING,
    is_compaction,
    is_server_result,
    only,
    returned,
    said_by_model,
    said_by_user,
    text,
)
from bot.media import media_of, surplus, thinned
from bot.messages import Json

NO_BEGINNING = "(The beginning of this conversation is no longer shown.)"
GO_ON = "(Go on.)"
INTERRUPTED = "Interrupted: no result is known. It may or may not have had its effect."


def repaired(messages: Sequence[Json]) -> list[Json]:
    """The messages of a request, of messages whose roles are "user" and "assistant" and whose content is a list.

    Each message given is one step: one reply of the model as it was received, one set of results with what was said.
    Repairing what is repaired already changes nothing.
    """
    steps = _joined(_once(map(_cleaned, messages)))
    steps = _joined(_answered(steps))
    steps = _with_both_ends(steps)
    steps = _joined(_with_partners(steps))
    media = media_of(steps)
    out = surplus(media)
    shown = thinned(steps, out)
    if _is_spoiled(messages, shown) or _was_thinned_after_a_thought(steps, out):
        shown = [_without_thoughts(message) for message in shown]
    return _joined(map(_without_last_thoughts, shown))


def _cleaned(message: Json) -> Json:
    if message["role"] == "assistant":
        return {**message, "content": only(map(said_by_model, message["content"]))}
    blocks = (block if block.get("type") == "tool_result" else said_by_user(block) for block in message["content"])
    return {**message, "content": only(blocks)}


def _joined(messages: Iterable[Json]) -> list[Json]:
    """Without empty messages, and neighbours of one role made one; only a reply with tool calls stays by itself, as
    results belong behind it."""
    joined: list[Json] = []
    for message in messages:
        if not message["content"]:
            continue
        last = joined[-1] if joined else None
        if last and last["role"] == message["role"] and not _calls(last):
            joined[-1] = {**last, "content": [*last["content"], *message["content"]]}
        else:
            joined.append(message)
    return joined


def _calls(message: Json) -> list[Json]:
    return [block for block in message["content"] if block["type"] == "tool_use"]


# Tool calls and their results


def _answered(messages: Iterable[Json]) -> Iterator[Json]:
    """Every call with an id of its own and a result in the next message; results that nobody asked for left out."""
    taken: set[str] = set()
    open_calls: list[tuple[str, str]] = []
    for message in messages:
        if message["role"] == "user":
            yield _with_results(message, open_calls) if open_calls or _returns(message) else message
            open_calls = []
            continue
        if open_calls:
            yield _with_results({"role": "user", "content": []}, open_calls)
            open_calls = []
        if not _calls(message):
            yield message
            continue
        content = [_named(block, taken) if block["type"] == "tool_use" else block for block in message["content"]]
        sent = {**message, "content": content}
        open_calls = [(_id(before), now["id"]) for before, now in zip(_calls(message), _calls(sent), strict=True)]
        yield sent
    if open_calls:
        yield _with_results({"role": "user", "content": []}, open_calls)


def _returns(message: Json) -> bool:
    return any(block["type"] == "tool_result" for block in message["content"])


def _id(call: Json) -> str:
    return str(call.get("id") or "")


def _named(call: Json, taken: set[str]) -> Json:
    """The call with an id that is valid and not taken yet: other providers count from one in every reply."""
    plain = re.sub(r"[^a-zA-Z0-9_-]", "_", _id(call)) or "call"
    name, number = plain, 1
    while name in taken:
        number += 1
        name = f"{plain}_{number}"
    taken.add(name)
    return call if call.get("id") == name else {**call, "id": name}


def _with_results(message: Json, calls: Iterable[tuple[str, str]]) -> Json:
    """``calls``: the ids they were made with, and the ids they are sent with."""
    known = defaultdict[str, list[Json]](list)
    rest = []
    for block in message["content"]:
        if block["type"] == "tool_result":
            known[str(block.get("tool_use_id") or "")].append(block)
        else:
            rest.append(block)
    results = [returned(known[made].pop(0), sent) if known[made] else _interrupted(sent) for made, sent in calls]
    return {**message, "content": results + rest}


def _interrupted(call: str) -> Json:
    return {"type": "tool_result", "tool_use_id": call, "content": INTERRUPTED, "is_error": True}


# Tools that the provider runs


def _once(messages: Iterable[Json]) -> Iterator[Json]:
    """Each call of the provider's tools once: a reply that was stored twice repeats them."""
    seen: set[str] = set()
    for message in messages:
        if not any(block["type"] in SERVER_CALLS for block in message["content"]):
            yield message
            continue
        content = []
        for block in message["content"]:
            if block["type"] in SERVER_CALLS:
                if block["id"] in seen:
                    continue
                seen.add(block["id"])
            content.append(block)
        yield {**message, "content": content}


def _with_partners(messages: Sequence[Json]) -> Iterator[Json]:
    """Calls of the provider's tools with their results; one without the other is left out.

    The result stands in the same message, or in a later one when our own tools had to run first and nothing else was
    said. A call may only be open at the very end: the provider goes on with it.
    """
    for run in _runs(messages):
        if not any(_is_servers(block) for message in run for block in message["content"]):
            yield from run
            continue
        whole = _whole_pairs(run, keep_open=not _speaks(run[-1]))
        for message in run:
            content = [block for block in message["content"] if not _is_servers(block) or id(block) in whole]
            yield {**message, "content": content}


def _runs(messages: Sequence[Json]) -> Iterator[list[Json]]:
    """The messages cut behind each one in which somebody speaks; only the last may be without such an end."""
    run = []
    for message in messages:
        run.append(message)
        if _speaks(message):
            yield run
            run = []
    if run:
        yield run


def _speaks(message: Json) -> bool:
    return message["role"] == "user" and any(block["type"] != "tool_result" for block in message["content"])


def _is_servers(block: Json) -> bool:
    return block["type"] in SERVER_CALLS or is_server_result(block)


def _whole_pairs(run: Iterable[Json], *, keep_open: bool) -> set[int]:
    """Which of the provider's blocks are kept, by identity: calls, each with the first result behind it."""
    calls: dict[str, Json] = {}
    results: dict[str, Json] = {}
    for block in (block for message in run for block in message["content"]):
        if block["type"] in SERVER_CALLS:
            calls[block["id"]] = block
        elif is_server_result(block) and block["tool_use_id"] in calls:
            results.setdefault(block["tool_use_id"], block)
    kept = [call for name, call in calls.items() if keep_open or name in results]
    return {id(block) for block in (*kept, *results.values())}


# Both ends


def _with_both_ends(messages: list[Json]) -> list[Json]:
    """The user or the provider's own summary begins, and the user has the last word unless the provider paused in the
    middle of its own tools."""
    begun = messages and (messages[0]["role"] == "user" or is_compaction(messages[0]["content"][0]))
    beginning = [] if begun else [{"role": "user", "content": [text(NO_BEGINNING)]}]
    last = messages[-1] if messages else None
    answered = last and last["role"] == "assistant" and not any(_is_call_of_server(each) for each in last["content"])
    return [*beginning, *messages, *([{"role": "user", "content": [text(GO_ON)]}] if answered else [])]


def _is_call_of_server(block: Json) -> bool:
    return block["type"] in SERVER_CALLS


# Thinking


def _is_spoiled(received: Iterable[Json], shown: Iterable[Json]) -> bool:
    """Whether anything that stood before a thought in its own reply was changed: its signature no longer holds.

    What stood in messages before that reply was repaired then as it is now. Blocks that are fine are the same objects.
    """
    sent = {id(block) for message in shown for block in message["content"]}
    return any(
        id(block) not in sent
        for message in received
        if message["role"] == "assistant"
        for block in _before_last_thought(message["content"], sent)
    )


def _before_last_thought(content: Sequence[Json], sent: set[int]) -> list[Json]:
    thoughts = [at for at, block in enumerate(content) if _is_thought(block) and id(block) in sent]
    return [block for block in content[: thoughts[-1]] if not _is_thought(block)] if thoughts else []


def _was_thinned_after_a_thought(messages: Sequence[Json], out: int) -> bool:
    """Whether pictures are left out now that were shown when the first thought was signed."""
    first = next((at for at, message in enumerate(messages) if any(map(_is_thought, message["content"]))), None)
    return first is not None and surplus(media_of(messages[:first])) != out


def _is_thought(block: Json) -> bool:
    return block.get("type") in THINKING


def _without_thoughts(message: Json) -> Json:
    return {**message, "content": [block for block in message["content"] if not _is_thought(block)]}


def _without_last_thoughts(message: Json) -> Json:
    """A message may not end with a thought."""
    if not (message["content"] and _is_thought(message["content"][-1])):
        return message
    content = [*message["content"]]
    while content and _is_thought(content[-1]):
        content.pop()
    return {**message, "content": content}
