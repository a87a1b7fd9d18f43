"""Huge results of tools as short notes, with a reference by which the tool ``reopen`` finds them again. Pure.

A result becomes a note only where the view is cut anyway (``history.told``): in between, the prompt's beginning stays
the same, byte for byte.
"""

import re

from bot.media import MEDIA, note
from bot.messages import Entry, Json, Returned

HUGE = 2_000
"""Characters. A result up to this long stays as it is."""
HEAD, TAIL = 600, 200
"""Characters that a note keeps of a longer one."""
REFERENCE = re.compile(r"result:([^:\s]+):(\S+)")


def noted(result: Json, turn: str) -> Json:
    """The tool_result block as it is shown once its turn lies before a summary; the same object where it is small."""
    words = words_of(result)
    if len(words) <= HUGE and not _has_media(result):
        return result
    reference = f"result:{turn}:{result.get('tool_use_id')}"
    mark = f'[Shortened from {len(words)} characters. To read all of it: reopen "{reference}".]'
    shown = (words[:HEAD], mark, words[-TAIL:]) if len(words) > HUGE else (words, mark)
    return {**result, "content": "\n".join(shown)}


def words_of(result: Json) -> str:
    """What a tool_result block says in words, a note in place of each picture."""
    content = result.get("content")
    if not isinstance(content, list):
        return str(content or "")
    blocks = (block for block in content if isinstance(block, dict))
    return "\n".join(_words(block) for block in blocks)


def _words(block: Json) -> str:
    if block.get("type") in MEDIA:
        source = block.get("source")
        return note(source if isinstance(source, dict) else {})
    return str(block.get("text") or "")


def result_in(entries: list[Entry], turn: str, call: str) -> Json | None:
    """The newest result of that call in that turn; a provider may count its ids from one in every reply."""
    for entry in reversed(entries):
        if isinstance(entry, Returned) and entry.turn == turn:
            for result in entry.results:
                if result.get("tool_use_id") == call:
                    return result
    return None


def _has_media(result: Json) -> bool:
    content = result.get("content")
    return isinstance(content, list) and any(isinstance(each, dict) and each.get("type") in MEDIA for each in content)
