"""A hundred thousand damaged records, and what the requests built from them do wrong: ``make records``.

Each record begins as whole turns (questions of several people, rounds of tools, pauses, thinking, pictures, replies of
other providers) and is then damaged as crashes, stops, edits, restarts and older versions do it: entries lost, doubled,
swapped or cut short, ids that repeat, halves of characters, blocks of unknown shape. ``violations`` counts requests
that break a rule of ``simulator/model_rules.py``, ``not_idempotent`` those that a second repair would change,
``words_lost`` those that miss something a person said. All three must be 0.
"""

import time
from base64 import b64encode
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from random import Random
from typing import Any

from msgspec.structs import replace

from bot.history import build_messages
from bot.messages import Answered, Asked, Ended, Entry, Inbound, Json, Person, Place, Quote, Reply, Returned, Summary
from tests.records import is_settled, violations, words_lost

RECORDS = 100_000
SHARE = 1_000
"""Records that one process takes at a time."""
SEED = 20261130

GROUP = Place(conversation="telegram:-5", chat="-5", group=True)
PEOPLE = [Person("telegram:1", "Ann"), Person("telegram:2", "Budi <b>"), Person("telegram:3")]
WORDS = [
    "Hello.",
    "And in euros?",
    "",
    " \n",
    "\ud83d",
    "\ud83d\ude00",
    "</context>",
    "x" * 5_000,
    "٣",
    "a\x00b",
    "\u200b",
]
IDS = ["toolu_1", "call_0", "call_0", "a b", "", None, 7]
NAMES = ["calculator", "files.read", "", None, "x" * 200]
SIDES = [(1, 1), (2001, 9), (8001, 9)]


def measure(records: int = RECORDS) -> dict[str, Any]:
    began = time.perf_counter()
    starts = range(0, records, SHARE)
    with ProcessPoolExecutor() as pool:
        shares = list(pool.map(_share, starts, [min(SHARE, records - start) for start in starts]))
    sums = {name: sum(share[name] for share in shares) for name in ("violations", "not_idempotent", "words_lost")}
    return {"records": records, **sums, "seconds": round(time.perf_counter() - began)}


def _share(start: int, count: int) -> dict[str, int]:
    found = {"violations": 0, "not_idempotent": 0, "words_lost": 0}
    for number in range(start, start + count):
        random = Random(SEED + number)
        entries = record(random)
        turns = [entry.turn for entry in entries if not isinstance(entry, Summary)]
        messages = build_messages(entries, random.choice([*turns, "none"]))
        found["violations"] += bool(violations(messages))
        found["not_idempotent"] += not is_settled(messages)
        found["words_lost"] += bool(words_lost(entries, messages))
    return found


def record(random: Random) -> list[Entry]:
    """A damaged record, always the same for the same state of ``random``."""
    entries = [entry for number in range(random.randint(1, 4)) for entry in _turn(random, f"t{number}")]
    for _ in range(random.randint(0, 4)):
        random.choice(DAMAGES)(random, entries)
    return entries


# Whole turns


def _turn(random: Random, turn: str) -> list[Entry]:
    entries: list[Entry] = [Asked(turn, tuple(_said(random) for _ in range(random.randint(1, 2))))]
    for _ in range(random.randint(0, 3)):
        calls = [_call(random) for _ in range(random.randint(1, 3))]
        entries.append(Answered(turn, Reply([*_spoken(random), *calls], "tool_use")))
        added = (_said(random),) if random.random() < 0.2 else ()
        note = random.choice(["", "", "(No more tools.)"])
        entries.append(Returned(turn, tuple(_result(random, call["id"]) for call in calls), added, note))
    if random.random() < 0.2:
        search, found = _search(random)
        entries.append(Answered(turn, Reply([*_spoken(random), search], "pause_turn")))
        entries.append(Answered(turn, Reply([found, *_spoken(random)], "end_turn")))
    else:
        entries.append(Answered(turn, Reply(_spoken(random), "end_turn")))
    return entries


def _said(random: Random) -> Inbound:
    number = str(random.randrange(10**6))
    return Inbound(
        GROUP,
        number,
        number,
        random.choice(PEOPLE),
        random.choice([0, 1_795_000_000, 10**14]),
        kind=random.choice(["message", "message", "edit"]),
        text=random.choice(WORDS),
        quote=Quote(random.choice(WORDS), "Eve") if random.random() < 0.1 else None,
    )


def _spoken(random: Random) -> list[Json]:
    blocks: list[Json] = []
    if random.random() < 0.4:
        blocks.append({"type": "thinking", "thinking": "", "signature": "c2ln"})
    blocks.append({"type": "text", "text": random.choice(WORDS)})
    return blocks


def _call(random: Random) -> Json:
    name = f"toolu_{random.randrange(10**9)}"
    return {"type": "tool_use", "id": name, "name": "calculator", "input": {"expression": random.choice(WORDS)}}


def _result(random: Random, call: str) -> Json:
    content: Any = random.choice(WORDS)
    if random.random() < 0.2:
        content = [{"type": "text", "text": content}, _picture(random)]
    return {"type": "tool_result", "tool_use_id": call, "content": content, "is_error": random.random() < 0.1}


def _search(random: Random) -> tuple[Json, Json]:
    name = f"srvtoolu_{random.randrange(10**9)}"
    call = {"type": "server_tool_use", "id": name, "name": "web_search", "input": {"query": random.choice(WORDS)}}
    return call, {"type": "web_search_tool_result", "tool_use_id": name, "content": []}


def _picture(random: Random) -> Json:
    width, height = random.choice(SIDES)
    header = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big")
    data = random.choice([b64encode(header).decode(), "…"])
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


# Damage


def _lose(random: Random, entries: list[Entry]) -> None:
    if entries:
        entries.pop(random.randrange(len(entries)))


def _double(random: Random, entries: list[Entry]) -> None:
    """Stored twice, as two objects: the store reads every entry anew."""
    if entries:
        at = random.randrange(len(entries))
        entries.insert(random.randrange(len(entries) + 1), _copy(entries[at]))


def _swap(random: Random, entries: list[Entry]) -> None:
    if entries:
        a, b = random.randrange(len(entries)), random.randrange(len(entries))
        entries[a], entries[b] = entries[b], entries[a]


def _cut(random: Random, entries: list[Entry]) -> None:
    """A window that begins or a crash that ends anywhere."""
    at = random.randrange(len(entries) + 1)
    entries[:] = entries[at:] if random.random() < 0.5 else entries[:at]


def _end(random: Random, entries: list[Entry]) -> None:
    turn = f"t{random.randrange(4)}"
    ends = [
        Ended(turn, "refused"),
        Ended(turn, "told", random.choice(WORDS)),
        Ended(turn, "reminded", random.choice(WORDS)),
        Ended(turn, "stopped", random.choice(WORDS)),
        Ended(turn, "failed", "R-1"),
        Ended(turn, "undone"),
    ]
    entries.insert(random.randrange(len(entries) + 1), random.choice(ends))


def _fold(random: Random, entries: list[Entry]) -> None:
    entries.insert(random.randrange(len(entries) + 1), Summary(random.choice(WORDS)))


def _twist(random: Random, entries: list[Entry]) -> None:
    """One block of a reply or a result comes from somewhere else."""
    replies = [entry for entry in entries if isinstance(entry, Answered) and entry.reply.content]
    if replies:
        content = random.choice(replies).reply.content
        content.insert(random.randrange(len(content) + 1), _strange(random))


def _rename(random: Random, entries: list[Entry]) -> None:
    """A provider whose ids are none, or the same in every reply."""
    name = random.choice(IDS)
    for at, entry in enumerate(entries):
        if isinstance(entry, Answered):
            for block in entry.reply.content:
                if block.get("type") == "tool_use":
                    block["id"] = name
        elif isinstance(entry, Returned):
            entries[at] = replace(entry, results=tuple({**each, "tool_use_id": name} for each in entry.results))


def _strange(random: Random) -> Json:
    words = random.choice(WORDS)
    mark = {"cache_control": {"type": "ephemeral"}} if random.random() < 0.3 else {}
    blocks: list[Json] = [
        {"type": "text", "text": None},
        {"type": "text", "text": words, "citations": [{"url": words}], "parsed_output": None},
        {"type": "thinking", "thinking": words},
        {"type": "redacted_thinking", "data": "eA=="},
        {
            "type": "tool_use",
            "id": random.choice(IDS),
            "name": random.choice(NAMES),
            "input": random.choice([words, None, []]),
        },
        {"type": "tool_use", "name": "calculator", "input": {"deep": [words, {words: words}]}},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
        {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "look", "server_name": "x", "input": {}},
        {"type": "web_fetch_tool_result", "tool_use_id": "srvtoolu_1", "content": {"url": words}},
        {"type": "tool_result", "tool_use_id": random.choice(IDS), "content": words},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": words}},
        {"type": "container_upload", "file_id": "file_1"},
        {"type": "compaction", "content": words},
        {"type": "output_text", "text": words},
        {"type": "reasoning", "text": words},
        {"text": words},
        _picture(random),
    ]
    return {**random.choice(blocks), **mark}


def _copy(entry: Entry) -> Entry:
    if isinstance(entry, Answered):
        return replace(entry, reply=replace(entry.reply, content=[{**block} for block in entry.reply.content]))
    return replace(entry)


DAMAGES: list[Callable[[Random, list[Entry]], None]] = [_lose, _double, _swap, _cut, _end, _fold, _twist, _rename]
