"""Slack's rules for what a message may hold, with its error codes. Sizes are in characters.

From docs.slack.dev (chat.postMessage, Block Kit reference); the limit over all blocks of a message is not documented,
it is what people report.
"""

from collections.abc import Iterator
from typing import Any

from markdown_it import MarkdownIt

Json = dict[str, Any]

TEXT_LIMIT = 40_000
"""A longer ``text`` is cut, not refused."""
MARKDOWN_LIMIT = 12_000
BLOCKS_LIMIT = 50
ALL_BLOCKS_LIMIT = 13_000
HOME_BLOCKS_LIMIT = 100
_STATE_LIMIT = 255
_TEXT_LIMITS = {"section": 3000, "header": 150, "button": 75}


class Refused(Exception):
    """Answered with ``ok: false``. The text is the error code; ``details`` go into ``response_metadata.messages``."""

    def __init__(self, error: str, *details: str) -> None:
        super().__init__(error)
        self.details = [f"[ERROR] {detail}" for detail in details]


TABLE_ROWS, TABLE_COLUMNS, TABLE_SIZE = 100, 20, 10_000
"""Of a table, its head included; its size is in characters of its cells."""


def check_markdown(text: str) -> None:
    if len(text.encode("utf-16-le")) // 2 > MARKDOWN_LIMIT:
        raise Refused("msg_too_long")
    tables = [*_tables(text)]
    if len(tables) > 1:
        raise Refused("invalid_blocks", "only_one_table_allowed")
    for rows in tables:
        size = sum(len(cell) for row in rows for cell in row)
        if len(rows) > TABLE_ROWS or max(map(len, rows)) > TABLE_COLUMNS or size > TABLE_SIZE:
            raise Refused("invalid_blocks", "table is too large")


_MARKDOWN = MarkdownIt("commonmark", {"html": False, "maxNesting": 100}).enable("table")
_MARKDOWN.disable(["inline", "lheading", "reference"])


def _tables(text: str) -> Iterator[list[list[str]]]:
    """The tables of a Markdown text, each as its rows' cells, the head first."""
    rows: list[list[str]] = []
    for token in _MARKDOWN.parse(text):
        match token.type:
            case "table_open":
                rows = []
            case "tr_open":
                rows.append([])
            case "td_open" | "th_open":
                rows[-1].append("")
            case "inline" if rows:
                rows[-1][-1] = token.content
            case "table_close":
                yield rows
                rows = []


def check_blocks(blocks: list[Json], limit: int = BLOCKS_LIMIT) -> None:
    """Raises Refused, naming the first block that is wrong."""
    if len(blocks) > limit:
        raise Refused("invalid_blocks", f"no more than {limit} items allowed [json-pointer:/blocks]")
    for index, block in enumerate(blocks):
        for fault in _faults(block):
            raise Refused("invalid_blocks", f"{fault} [json-pointer:/blocks/{index}]")
    check_markdown("\n\n".join(block["text"] for block in blocks if block["type"] == "markdown"))
    if sum(_size(block) for block in blocks) > ALL_BLOCKS_LIMIT:
        raise Refused("msg_blocks_too_long")


def _faults(block: Any) -> Iterator[str]:
    if not isinstance(block, dict) or not isinstance(block.get("type"), str):
        yield "missing required field: type"
        return
    match block["type"]:
        case "section":
            if not block.get("text") and not block.get("fields"):
                yield "must provide either text or fields"
            if block.get("text"):
                yield from _text_faults("section", block["text"])
            yield from _button_faults(block.get("accessory", {}))
        case "header":
            yield from _text_faults("header", block.get("text"))
        case "markdown":
            if not isinstance(block.get("text"), str) or not block["text"]:
                yield "must provide text"
        case "actions":
            elements = block.get("elements")
            if not isinstance(elements, list) or not 1 <= len(elements) <= 25:
                yield "must have between 1 and 25 elements"
                return
            ids = [element.get("action_id") for element in elements if element.get("action_id")]
            if len(ids) != len(set(ids)):
                yield "action_id already exists in this block"
            for element in elements:
                yield from _button_faults(element)
        case "context":
            if not 1 <= len(block.get("elements") or []) <= 10:
                yield "must have between 1 and 10 elements"


def _text_faults(kind: str, text: Any) -> Iterator[str]:
    limit = _TEXT_LIMITS[kind]
    if not isinstance(text, dict) or text.get("type") not in ("plain_text", "mrkdwn"):
        yield "missing required field: text"
    elif kind != "section" and text["type"] != "plain_text":
        yield "text must be plain_text"
    elif not text.get("text"):
        yield "must be more than 0 characters"
    elif len(text["text"]) > limit:
        yield f"must be less than {limit + 1} characters"


def _button_faults(element: Json) -> Iterator[str]:
    if element.get("type") != "button":
        return
    yield from _text_faults("button", element.get("text"))
    if len(element.get("action_id", "")) > _STATE_LIMIT:
        yield f"action_id must be less than {_STATE_LIMIT + 1} characters"
    if len(element.get("value", "")) > 2000:
        yield "value must be less than 2001 characters"
    if element.get("style", "primary") not in ("primary", "danger"):
        yield "style must be primary or danger"


def _size(value: Any) -> int:
    """Characters that people can read in a block."""
    if isinstance(value, dict):
        own = len(value["text"]) if isinstance(value.get("text"), str) else 0
        return own + sum(_size(part) for part in value.values() if isinstance(part, dict | list))
    return sum(_size(part) for part in value) if isinstance(value, list) else 0


def checked_metadata(metadata: Any) -> Json:
    """Message metadata in its one allowed shape."""
    if not isinstance(metadata, dict) or not isinstance(metadata.get("event_type"), str):
        raise Refused("invalid_metadata_format")
    if not isinstance(metadata.get("event_payload"), dict):
        raise Refused("invalid_metadata_format")
    return {"event_type": metadata["event_type"], "event_payload": metadata["event_payload"]}
