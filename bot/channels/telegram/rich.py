"""A rich message as one text with the entities of a plain one: what people write in Telegram's editor for long texts,
and what other bots answer, has no ``text`` but a tree of blocks. Pure, and total.

Runs where a webhook starts: standard library and msgspec only.
Source: core.telegram.org/bots/api#richmessage, Bot API 10.3.
"""

from collections.abc import Iterator
from typing import Any

from bot.channels.characters import units
from bot.channels.fields import number_at, object_at, objects_at, text_at
from bot.messages import Json, whole

DEEPEST = 32
"""Levels that are read, of blocks and of texts in texts. Telegram allows 16."""
MEDIA = ("photo", "video", "animation", "audio", "voice_note", "document")

_ENTITIES = {"url": "text_link", "code": "code", "mention": "mention", "text_mention": "text_mention"}


def flattened(rich: Json) -> tuple[str, tuple[Json, ...]]:
    """The text a reader sees, blocks on lines of their own, and the entities in it that mean something to us."""
    flat = _Flat()
    flat.blocks(objects_at(rich, "blocks"), "", "", 0)
    return flat.text.removesuffix("\n"), tuple(flat.entities)


def media(rich: Json, depth: int = 0) -> Iterator[Json]:
    """Its blocks that hold a file, in order; a voice note's file is where a message has it."""
    for block in objects_at(rich, "blocks") if depth < DEEPEST else ():
        if block.get("type") in MEDIA:
            voice = object_at(block, "voice_note")
            yield {"voice": voice} if voice else {name: block[name] for name in MEDIA if name in block}
        yield from media(block, depth + 1)
        for item in objects_at(block, "items"):
            yield from media(item, depth + 2)


class _Flat:
    def __init__(self) -> None:
        self.text = ""
        self.entities: list[Json] = []

    def blocks(self, blocks: list[Json], first: str, others: str, depth: int) -> None:
        """``first`` stands before the first block's line, ``others`` before all others'."""
        for index, block in enumerate(blocks) if depth < DEEPEST else ():
            self._block(block, others if index else first, others, depth)

    def _block(self, block: Json, before: str, others: str, depth: int) -> None:
        inner = objects_at(block, "blocks")
        match block.get("type"):
            case "heading":
                self._line(block.get("text"), f"{before}{'#' * min(max(number_at(block, 'size'), 1), 6)} ")
            case "list":
                for item in objects_at(block, "items"):
                    label = f"{_label(item)} "
                    indent = others + " " * len(label)
                    self.blocks(objects_at(item, "blocks"), f"{before}{label}", indent, depth + 1)
                    before = others
            case "table":
                for row in block["cells"] if isinstance(block.get("cells"), list) else ():
                    self._line([[" ", cell, " |"] for cell in _cells(row)], f"{others}|")
            case "pre":
                self._line({**block, "type": "pre"}, before)
            case "mathematical_expression":
                self._line(block, before)
            case "details":
                self._line(block.get("summary"), before)
                self.blocks(inner, others, others, depth + 1)
            case "blockquote" | "expandable_blockquote" | "pullquote":
                self._line(block.get("text"), f"{before}> ")
                self.blocks(inner, f"{before}> ", f"{others}> ", depth + 1)
            case _:
                self._line(block.get("text"), before)
                self.blocks(inner, before, others, depth + 1)
                self._line(object_at(block, "caption").get("text"), before)

    def _line(self, text: Any, before: str) -> None:
        start = len(self.text)
        self.text += before
        self._words(text, 0)
        self.text = self.text[:start] if self.text[start:] == before else f"{self.text}\n"

    def _words(self, text: Any, depth: int) -> None:
        """A text is a string, a list of texts, or an object with a type and a text in it."""
        if isinstance(text, str):
            self.text += whole(text)
        elif isinstance(text, list) and depth < DEEPEST:
            for piece in text:
                self._words(piece, depth + 1)
        elif isinstance(text, dict) and depth < DEEPEST:
            start = units(self.text)
            self.text += text_at(text, "expression") or text_at(text, "alternative_text")
            self._words(text.get("text"), depth + 1)
            self._keep(text, start, units(self.text) - start)

    def _keep(self, styled: Json, start: int, length: int) -> None:
        kind = styled.get("type")
        kept = "pre" if kind == "pre" else _ENTITIES.get(kind) if isinstance(kind, str) else None
        if kept and length:
            details: Json = {name: styled[name] for name in ("url", "user", "language") if name in styled}
            self.entities.append({"type": kept, "offset": start, "length": length, **details})


def _label(item: Json) -> str:
    """What stands before a list's item; the platform gives it as shown ("1.", "•")."""
    box = "[x] " if item.get("is_checked") is True else "[ ] " if item.get("has_checkbox") is True else ""
    return f"{text_at(item, 'label') or '•'} {box}".rstrip()


def _cells(row: Any) -> list[Any]:
    return [cell.get("text") for cell in row if isinstance(cell, dict)] if isinstance(row, list) else []
