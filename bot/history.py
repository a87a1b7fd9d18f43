"""From the record to what the Messages API accepts. Pure functions; the record itself is never rewritten.

What a request must keep to (docs: Messages API, tool use, extended thinking): the first message is the user's; every
tool_use is answered in the very next message, results first and in the order of the calls; no empty text; thinking
blocks unchanged or absent. ``simulator/model_rules.py`` checks the same rules, written from the documentation and not
from this code.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from bot.messages import Answered, Asked, Attachment, Ended, Entry, Inbound, Json, Returned, Summary

THINKING = ("thinking", "redacted_thinking")
HIDDEN = ("refused", "told", "undone")
"""Ends of turns that the model is never shown."""


def build_messages(entries: Sequence[Entry], current: str) -> list[Json]:
    """The ``messages`` of a request: every turn shown, the turn ``current`` with its thinking, older ones without.

    A thinking block is signed over all that came before it, so it is kept only where nothing before it was left out:
    inside the turn that is running.
    """
    hidden = {entry.turn for entry in entries if isinstance(entry, Ended) and entry.why in HIDDEN}
    messages = _Messages()
    for entry in entries:
        match entry:
            case Summary(text=text):
                messages.user([_text(f"<summary>\n{text}\n</summary>")])
            case _ if entry.turn in hidden:
                continue
            case Asked(said=said):
                messages.user(say(said))
            case Answered(reply=reply):
                messages.assistant(_sendable(reply.content, keep_thinking=entry.turn == current))
            case Returned(results=results, said=said, note=note):
                messages.results(results)
                messages.user(say(said) + ([_text(note)] if note else []))
            case Ended():
                messages.assistant(_ending(entry))
    return messages.done()


class _Messages:
    """Collects blocks, merges neighbours of one role and answers every open tool call before anything else."""

    def __init__(self) -> None:
        self._messages: list[Json] = []
        self._open: list[str] = []

    def user(self, blocks: list[Json]) -> None:
        if blocks:
            self._close()
            self._add("user", blocks)

    def assistant(self, blocks: list[Json]) -> None:
        if not blocks:
            return
        self._close()
        if not self._messages:
            self._add("user", [_text("(The beginning of this conversation is no longer shown.)")])
        self._add("assistant", blocks)
        self._open = [block["id"] for block in blocks if block["type"] == "tool_use"]

    def results(self, results: Iterable[Json]) -> None:
        """One result for each open call, in order; calls without one are answered, results without a call dropped."""
        known = {result["tool_use_id"]: result for result in results}
        blocks = [known.get(call) or _interrupted(call) for call in self._open]
        self._open = []
        if blocks:
            self._add("user", blocks)

    def done(self) -> list[Json]:
        self._close()
        return self._messages

    def _close(self) -> None:
        self.results(())

    def _add(self, role: str, blocks: list[Json]) -> None:
        if self._messages and self._messages[-1]["role"] == role:
            self._messages[-1]["content"].extend(blocks)
        else:
            self._messages.append({"role": role, "content": list(blocks)})


def say(said: Iterable[Inbound]) -> list[Json]:
    """What people said as text blocks: ours says who, when and where, theirs what; the same bytes every time."""
    blocks = []
    for inbound in said:
        blocks.append(_text(_context(inbound)))
        words = "\n\n".join(filter(None, (_quoted(inbound), *map(_attached, inbound.attachments), inbound.words)))
        blocks.append(_text(words or "(an empty message)"))
    return blocks


def _context(inbound: Inbound) -> str:
    when = datetime.fromtimestamp(inbound.sent_at, UTC).strftime("%A %Y-%m-%d %H:%M UTC")
    where = f"{inbound.place.platform}, {'group' if inbound.place.group else 'private'}"
    edited = " They edited a message above; now it reads:" if inbound.kind == "edit" else ""
    return f"<context>{when}. From {_plain(inbound.sender.name) or inbound.sender.id} ({where}).{edited}</context>"


def _quoted(inbound: Inbound) -> str:
    if inbound.quote is None:
        return ""
    author = "your own message" if inbound.quote.ours else (_plain(inbound.quote.author) or "somebody")
    return f'<quote from="{author}">\n{inbound.quote.text.strip()}\n</quote>'


def _attached(attachment: Attachment) -> str:
    details = ", ".join(filter(None, (attachment.name, attachment.media_type, attachment.description)))
    return f'<attachment kind="{attachment.kind}">{details}</attachment>'


def _plain(name: str) -> str:
    """A display name as one short line that can not close our marks."""
    return " ".join(name.replace("<", "").replace(">", "").replace('"', "").split())[:64]


def _text(text: str) -> Json:
    return {"type": "text", "text": text.encode("utf-8", "replace").decode()}


def _sendable(content: Iterable[Json], *, keep_thinking: bool) -> list[Json]:
    blocks = []
    for block in content:
        kind = block.get("type")
        if kind == "text" and not str(block.get("text") or "").strip():
            continue
        if kind in THINKING and not keep_thinking:
            continue
        blocks.append(block)
    # A reply of thinking alone says nothing; sent back by itself it would be refused.
    return [] if all(block.get("type") in THINKING for block in blocks) else blocks


def _interrupted(call: str) -> Json:
    return {
        "type": "tool_result",
        "tool_use_id": call,
        "content": "Interrupted: no result is known. It may or may not have had its effect.",
        "is_error": True,
    }


def _ending(ended: Ended) -> list[Json]:
    shown = f"{ended.shown.strip()}\n\n" if ended.shown.strip() else ""
    if ended.why == "stopped":
        return [_text(f"{shown}(Stopped here by the person.)")]
    return [_text("(No answer was given: a technical fault.)")]


def tool_calls(answered: Answered) -> list[Json]:
    return [block for block in answered.reply.content if block.get("type") == "tool_use"]


def reply_text(answered: Answered) -> str:
    """What a person reads of one reply."""
    return "\n\n".join(
        text for block in answered.reply.content if block.get("type") == "text" and (text := str(block["text"]).strip())
    )
