"""A run as it went: what was said, called and returned, in order. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence

from bot.cli.evals.tasks import Script
from bot.history import reply_text
from bot.messages import Answered, Asked, Ended, Entry, Inbound, Json, Numbered, Returned, Summary
from bot.notes import words_of

CALLS = ("tool_use", "server_tool_use")
"""Blocks by which a model calls a tool: one of ours, or one that the provider runs."""
MOST_OF_A_RESULT = 2_000
"""Characters of a tool's result that a judge reads."""


def calls_in(entries: Sequence[Entry]) -> list[tuple[Json, Json | None]]:
    """The tool calls of these entries in order, each with its result; None where there is none. Those that the provider
    runs itself have none of ours."""
    results = {
        result["tool_use_id"]: result for each in entries if isinstance(each, Returned) for result in each.results
    }
    blocks = (block for entry in entries if isinstance(entry, Answered) for block in entry.reply.content)
    calls = (block for block in blocks if block.get("type") in CALLS)
    return [(call, results.get(call["id"])) for call in calls]


def shown_in(entries: Sequence[Entry]) -> str:
    """What a person reads of these entries."""
    texts = (
        reply_text(entry) if isinstance(entry, Answered) else entry.shown
        for entry in entries
        if isinstance(entry, Answered | Ended)
    )
    return "\n".join(text for text in texts if text.strip())


def as_text(entries: Mapping[str, Sequence[Numbered]], script: Script) -> str:
    """All conversations, for a judge."""
    lines = [f"Files:\n{name}:\n{text}" for name, text in script.files.items() if isinstance(text, str)]
    for conversation, numbered in entries.items():
        lines.append(f"--- {conversation}")
        lines += [line for each in numbered for line in _lines(each.entry)]
    return "\n".join(lines)


def _lines(entry: Entry) -> Iterator[str]:
    match entry:
        case Asked(said=said) | Returned(said=said):
            if isinstance(entry, Returned):
                yield from (f"TOOL RESULT: {words_of(result)[:MOST_OF_A_RESULT]}" for result in entry.results)
            yield from (_said(each) for each in said)
        case Answered(reply=reply):
            for block in reply.content:
                if block.get("type") in CALLS:
                    yield f"TOOL CALL: {block['name']} {json.dumps(block['input'], ensure_ascii=False)}"
            if text := reply_text(entry).strip():
                yield f"ASSISTANT: {text}"
        case Ended(shown=shown):
            yield f"BOT (not the model): {shown}"
        case Summary(text=text):
            yield f"(What was before is left out here and summed up for the assistant: {text})"


def _said(inbound: Inbound) -> str:
    quote = f'(replying to "{inbound.quote.text}" by {inbound.quote.author or "somebody"}) ' if inbound.quote else ""
    files = "".join(f"[file {each.name}] " for each in inbound.attachments)
    return f"{inbound.sender.name}: {quote}{files}{inbound.words}"
