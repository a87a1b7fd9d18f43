"""How much of the model's context a conversation fills, when that is too much, and where to cut it. Pure.

What the model sees is cut rarely and in big steps, from the high mark to the low one, and only at the start of a turn:
the cached beginning of the prompt then lives for many turns. What stands for the part left out is a policy's business
(``bot/policies``), when to do it is ``bot/folding.py``'s.
"""

from collections.abc import Sequence

from msgspec import Struct

from bot.history import told
from bot.media import MEDIA, pages_of
from bot.messages import Answered, Asked, Entry, Json, Numbered, Summary, encode, prompt_tokens

PICTURE = 1_600
"""Tokens of a picture, or of a page of a document; the provider counts by its pixels, this is a large picture."""
UNMEASURED = 3.0
"""Bytes of JSON for a token while no call tells more. Deliberately few: too large an estimate only cuts a bit early."""
LEAST_BYTES, MOST_BYTES = 1.0, 8.0
SKILLS = "skill"
"""The tool whose definition lists the skills."""
ROOM = 2_000
"""Tokens kept free for the summary when a cut is chosen; ``bot/policies`` keeps summaries within it."""


class Marks(Struct, frozen=True):
    """Tokens of a whole prompt: above ``high`` it is cut down to ``low`` after a turn, above ``full`` before the call.

    ``most`` is in entries and bounds the reads of one message.
    """

    high: int = 60_000
    low: int = 24_000
    full: int = 180_000
    most: int = 400


def marks(context: int, max_tokens: int, wanted: int) -> Marks:
    """For a model that reads ``context`` tokens, its reply of ``max_tokens`` included; ``wanted`` is the most that a
    prompt should cost, in tokens."""
    room = max(context - max_tokens, 1)
    high = min(wanted, room * 4 // 5)
    return Marks(high=high, low=high * 2 // 5, full=room * 19 // 20)


class View(Struct, frozen=True):
    """What the model sees: the stable part of its prompt, and the entries of the window. ``turn`` is the turn in
    progress, "" between two."""

    system: Sequence[Json]
    tools: Sequence[Json]
    entries: Sequence[Numbered]
    turn: str = ""


class Fill(Struct, frozen=True):
    """What fills a prompt, in estimated tokens by kind. ``rules`` are those of the chat."""

    instructions: int
    tools: int
    summary: int
    messages: int
    results: int
    media: int
    rules: int = 0
    skills: int = 0

    @property
    def total(self) -> int:
        return sum(getattr(self, name) for name in self.__struct_fields__)


def fill(view: View, scale: float | None = None) -> Fill:
    """``scale`` is in bytes for a token, that of the view itself where it is None."""
    entries = _entries(view)
    scale = scale or bytes_per_token(view)
    words = results = media = summary = rules = 0
    for at, message in told(entries, view.turn):
        for block in message["content"]:
            weight, entry = _weight([block]), entries[at]
            media += weight.media
            if isinstance(entry, Summary):
                summary += weight.bytes
            elif isinstance(entry, Asked) and entry.rules and block.get("text") == entry.rules:
                rules += weight.bytes
            elif block.get("type") == "tool_result":
                results += weight.bytes
            else:
                words += weight.bytes
    skills = _weight([tool for tool in view.tools if tool.get("name") == SKILLS]).bytes
    return Fill(
        instructions=round(_weight(view.system).bytes / scale),
        tools=round((_weight(view.tools).bytes - skills) / scale),
        summary=round(summary / scale),
        messages=round(words / scale),
        results=round(results / scale),
        media=media * PICTURE,
        rules=round(rules / scale),
        skills=round(skills / scale),
    )


def cut(view: View, limits: Marks, *, must: bool = False) -> int | None:
    """The number of the last entry to leave out, or None where all may stay.

    Whole turns are left out, oldest first, down to the low mark; the newest always stays. One less than the first
    entry's number says that no turn can go, but huge results can become notes. ``must`` asks for less whatever the
    marks say, half of it at most; None then says that nothing can go.
    """
    entries = _entries(view)
    scale = bytes_per_token(view)
    fixed = round((_weight(view.system).bytes + _weight(view.tools).bytes) / scale)
    now = fixed + sum(_sizes(entries, view.turn, scale))
    if not must and now <= limits.high and len(entries) <= limits.most:
        return None
    later = _sizes([*entries, Summary("")], view.turn, scale)[:-1]
    room = (min(limits.low, now // 2) if must else limits.low) - fixed - ROOM
    starts = [at for at, entry in enumerate(entries) if isinstance(entry, Asked)]
    for start in starts[1:]:
        if sum(later[start:]) <= room and len(entries) - start <= limits.most // 2:
            return view.entries[start].seq - 1
    if len(starts) > 1:
        return view.entries[starts[-1]].seq - 1
    shrinks = bool(entries) and fixed + sum(later) < now * 9 // 10
    return view.entries[0].seq - 1 if shrinks else None


def is_full(view: View, limits: Marks) -> bool:
    """Whether the next call's prompt would not fit."""
    return fill(view).total > limits.full


def bytes_per_token(view: View) -> float:
    """As the newest call measured it whose prompt began as the window does now; an estimate where there is none."""
    entries = _entries(view)
    for at in range(len(entries) - 1, -1, -1):
        entry = entries[at]
        if isinstance(entry, Summary):  # calls before it saw another beginning
            break
        if isinstance(entry, Answered) and (tokens := prompt_tokens(entry.reply.usage)):
            shown = [block for _, message in told(entries[:at], entry.turn) for block in message["content"]]
            weight = _weight([*view.system, *view.tools, *shown])
            measured = weight.bytes / max(tokens - weight.media * PICTURE, 1)
            return min(max(measured, LEAST_BYTES), MOST_BYTES)
    return UNMEASURED


def _entries(view: View) -> list[Entry]:
    return [each.entry for each in view.entries]


def _sizes(entries: Sequence[Entry], turn: str, scale: float) -> list[int]:
    """Tokens that each entry shows as."""
    sizes = [0] * len(entries)
    for at, message in told(entries, turn):
        weight = _weight(message["content"])
        sizes[at] += round(weight.bytes / scale) + weight.media * PICTURE
    return sizes


class _Weight(Struct, frozen=True):
    bytes: int = 0
    media: int = 0


def _weight(blocks: Sequence[Json]) -> _Weight:
    """Bytes of the blocks as JSON, pictures and documents aside, which are counted."""
    size = media = 0
    for block in blocks:
        content = block.get("content")
        if block.get("type") in MEDIA:
            media += pages_of(block)
        elif block.get("type") == "tool_result" and isinstance(content, list):
            inner = _weight([each for each in content if isinstance(each, dict)])
            size += inner.bytes
            media += inner.media
        else:
            size += len(encode(block))
    return _Weight(size, media)
