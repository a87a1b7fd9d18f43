"""Which blocks, elements and streaming chunks Slack knows, and their rules, with its error codes. Pure.

``slack_limits`` counts what all messages share. From docs.slack.dev (Block Kit reference, chat.startStream), and from
what people report of the 256 characters in a task.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from simulator.slack_limits import Refused, check_blocks, check_markdown

Json = dict[str, Any]

KINDS = frozenset(
    {
        "actions",
        "context",
        "context_actions",
        "divider",
        "file",
        "header",
        "image",
        "markdown",
        "plan",
        "rich_text",
        "section",
        "table",
        "task_card",
        "video",
    }
)
PRESSABLE = frozenset({"button", "overflow", "static_select", "multi_static_select", "radio_buttons", "checkboxes"})
STATUSES = frozenset({"pending", "in_progress", "complete", "error"})
TASK_TEXT_LIMIT = 256
BUTTON_LIMIT = 75
VALUE_LIMIT = 2000


def check_kinds(blocks: list[Any]) -> None:
    """Raises Refused, naming the first block that is unknown or holds what it can not."""
    for index, block in enumerate(blocks):
        for fault in _faults(block):
            raise Refused("invalid_blocks", f"{fault} [json-pointer:/blocks/{index}]")


def _faults(block: Any) -> Iterator[str]:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind not in KINDS:
        yield f"unsupported type: {kind}"
        return
    if len(block.get("block_id", "")) > 255:
        yield "block_id must be less than 256 characters"
    match kind:
        case "actions":
            yield from _unknown(block, PRESSABLE)
        case "context":
            yield from _unknown(block, frozenset({"plain_text", "mrkdwn", "image"}))
        case "context_actions":
            elements = block.get("elements")
            if not isinstance(elements, list) or not 1 <= len(elements) <= 5:
                yield "must have between 1 and 5 elements"
                return
            yield from _unknown(block, frozenset({"feedback_buttons", "icon_button"}))
            for element in elements:
                yield from _feedback_faults(element)
        case "plan":
            if not block.get("title"):
                yield "missing required field: title"
            for card in block.get("tasks") or []:
                yield from _card_faults(card)
        case "task_card":
            yield from _card_faults(block)


def _unknown(block: Json, allowed: frozenset[str]) -> Iterator[str]:
    for element in block.get("elements") or []:
        kind = element.get("type") if isinstance(element, dict) else None
        if kind not in allowed:
            yield f"unsupported type: {kind}"


def _feedback_faults(element: Json) -> Iterator[str]:
    if element["type"] != "feedback_buttons":
        return
    for name in ("positive_button", "negative_button"):
        button = element.get(name)
        if not isinstance(button, dict) or not button.get("value") or not isinstance(button.get("text"), dict):
            yield f"missing required field: {name}"
        elif button["text"].get("type") != "plain_text":
            yield "text must be plain_text"
        elif not 0 < len(button["text"].get("text", "")) <= BUTTON_LIMIT or len(button["value"]) > VALUE_LIMIT:
            yield f"{name} is too long"


def _card_faults(card: Any) -> Iterator[str]:
    if not isinstance(card, dict) or not card.get("task_id") or not card.get("title"):
        yield "missing required field: task_id or title"
    elif card.get("status") not in STATUSES:
        yield "status must be one of pending, in_progress, complete, error"


class Chunks(Struct, frozen=True):
    """What one call adds to a stream. ``mode`` is how its text came, "" where none did."""

    text: str = ""
    tasks: tuple[Json, ...] = ()
    plan: str | None = None
    blocks: tuple[Json, ...] = ()
    mode: str = ""


def read_chunks(markdown: str, chunks: list[Any] | None) -> Chunks:
    """Raises Refused where Slack would."""
    if markdown and chunks:
        raise Refused("cannot_provide_both_markdown_text_and_chunks")
    check_markdown(markdown)
    if not chunks:
        return Chunks(markdown, mode="text" if markdown else "")
    if not all(isinstance(chunk, dict) for chunk in chunks):
        raise Refused("invalid_chunks")
    for chunk in chunks:
        _check_chunk(chunk)
    text = "".join(chunk["text"] for chunk in chunks if chunk["type"] == "markdown_text")
    check_markdown(text)
    plans = [chunk["title"] for chunk in chunks if chunk["type"] == "plan_update"]
    blocks = [block for chunk in chunks if chunk["type"] == "blocks" for block in chunk["blocks"]]
    check_kinds(blocks)
    check_blocks(blocks)
    tasks = tuple(chunk for chunk in chunks if chunk["type"] == "task_update")
    return Chunks(text, tasks, plans[-1] if plans else None, tuple(blocks), "chunks")


def _check_chunk(chunk: Json) -> None:
    match chunk.get("type"):
        case "markdown_text" if isinstance(chunk.get("text"), str) and chunk["text"]:
            return
        case "blocks" if isinstance(chunk.get("blocks"), list):
            return
        case "plan_update" if _is_short(chunk.get("title")):
            return
        case "task_update" if _is_short(chunk.get("id")) and _is_short(chunk.get("title")):
            more = [chunk[name] for name in ("details", "output") if name in chunk]
            if chunk.get("status") in STATUSES and all(map(_is_short, more)):
                return
    raise Refused("invalid_chunks")


def _is_short(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= TASK_TEXT_LIMIT
