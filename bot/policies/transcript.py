"""A piece of the record as plain text, for a model that is to sum it up. Pure."""

import json
from collections.abc import Iterator, Sequence

from bot.blocks import code_in_words, is_of_code
from bot.history import told
from bot.media import MEDIA, note
from bot.messages import Entry, Json, Summary
from bot.notes import words_of

LONGEST = 8_000
"""Characters of one block: a longer one loses its middle."""


def transcript(entries: Sequence[Entry]) -> list[str]:
    """One piece for each step, in order, without the summary among them; huge results and
    pictures are notes with a reference."""
    steps = told([*entries, Summary("")], "")
    return ["\n".join(_lines(message)) for _, message in steps]


def batches(pieces: Sequence[str], limit: int) -> Iterator[str]:
    """The pieces joined, as many at a time as stay within so many characters; a longer one is cut to fit."""
    batch: list[str] = []
    size = 0
    for piece in (_shortened(piece, limit) for piece in pieces):
        if batch and size + len(piece) > limit:
            yield "\n\n".join(batch)
            batch, size = [], 0
        batch.append(piece)
        size += len(piece) + 2
    if batch:
        yield "\n\n".join(batch)


def _lines(message: Json) -> Iterator[str]:
    speaker = "ASSISTANT" if message["role"] == "assistant" else "USER"
    for block in message["content"]:
        match block:
            case {"type": "text", "text": str(words)} if words.strip():
                yield f"{speaker}: {_shortened(words.strip(), LONGEST)}"
            case {"type": "tool_use"}:
                arguments = json.dumps(block.get("input"), ensure_ascii=False)
                yield f"ASSISTANT calls {block.get('name')}: {_shortened(arguments, LONGEST)}"
            case {"type": "tool_result"}:
                yield f"RESULT: {_shortened(words_of(block), LONGEST)}"
            case _ if is_of_code(block):
                yield f"{speaker}: {_shortened(code_in_words(block), LONGEST)}"
            case {"type": kind, "source": dict(source)} if kind in MEDIA:
                yield f"{speaker}: {note(source)}"


def _shortened(words: str, limit: int) -> str:
    if len(words) <= limit:
        return words
    return f"{words[: limit * 2 // 3]} […] {words[-limit // 4 :]}"
