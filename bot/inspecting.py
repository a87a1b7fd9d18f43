"""What each turn of a conversation did, step by step, for somebody who looks behind the scenes. Pure.

Everything is read off the record, so it can be told of a turn that runs, of one that is long over, and of one that an
older version stored. Texts are shortened; nothing here is shown to the model.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from bot.budget import bill_of
from bot.history import DELEGATE, reply_text, tool_calls
from bot.messages import (
    Answered,
    Approval,
    Asked,
    Bill,
    Ended,
    Entry,
    Fetched,
    Inbound,
    Json,
    Numbered,
    Returned,
    Summary,
    Turn,
    Usage,
    Voted,
    prompt_tokens,
)
from bot.models import cost, is_priced
from bot.nested import name_of
from bot.notes import words_of

WORDS = 600
"""Characters of a text."""
DETAIL = 2_000
"""Characters of a call's arguments or result."""
OURS = "Kabar"
"""Who says what nobody wrote."""
NOTES = {"knock": "a stranger wrote", "added": "the app was added", "let_in": "the owner let them in"}
"""What our own notes are about."""


class Tokens(Struct, frozen=True):
    """``cached`` is how much of the prompt came from the cache, in per cent."""

    fresh: int
    written: int
    read: int
    output: int
    cached: int


CallState = Literal["running", "waiting", "done", "failed", "unfinished"]


class Call(Struct, frozen=True):
    """A tool call. ``provided``: the provider of the model ran it. ``state`` is "unfinished" where the turn ended in
    its middle. ``asked``: a person's word on it, as long as the turn runs, and ``by`` whose. ``inside`` is what a
    subagent did in it. ``took_ms`` is 0 where nobody noted it."""

    name: str
    arguments: str
    state: CallState
    result: str = ""
    took_ms: int = 0
    asked: Literal["", "waiting", "yes", "no"] = ""
    by: str = ""
    provided: bool = False
    inside: "TurnView | None" = None


class ModelStep(Struct, frozen=True, tag_field="kind", tag="model"):
    """A call of the model and the tool calls in its reply. ``cost`` is in millionths of a dollar, None where we do not
    know its price; ``missed`` is why it found less in the cache than it could."""

    model: str
    stop_reason: str
    tokens: Tokens
    cost: int | None
    missed: str
    took_ms: int
    text: str
    calls: tuple[Call, ...]


class SaidStep(Struct, frozen=True, tag_field="kind", tag="said"):
    """What somebody added while the turn ran."""

    who: str
    text: str


class NoteStep(Struct, frozen=True, tag_field="kind", tag="note"):
    """Our own word to the model: a limit was reached."""

    text: str


class SummaryStep(Struct, frozen=True, tag_field="kind", tag="summary"):
    """What stands for older turns from here on; without a model where we wrote it ourselves, or wrote nothing."""

    text: str
    model: str
    tokens: Tokens
    cost: int | None


class FilesStep(Struct, frozen=True, tag_field="kind", tag="files"):
    """Files made for the person, or fetched from where the provider ran code; ``lost`` could not be had."""

    names: tuple[str, ...]
    lost: tuple[str, ...]


Step = ModelStep | SaidStep | NoteStep | SummaryStep | FilesStep


class Totals(Struct, frozen=True):
    """Of a turn and its subagents, but for the times, which are its own: of calls that ran side by side each counts."""

    model_calls: int
    tool_calls: int
    tokens: Tokens
    cost: int
    unpriced: int
    model_ms: int
    tool_ms: int


class TurnView(Struct, frozen=True):
    """``at`` is when its question was asked (Unix time). ``state``: "running"; "waiting" for a person's word;
    "answered"; "unfinished"; or how it ended otherwise (``Ended.why``), and ``shown`` is then what the person read.
    ``good`` and ``bad`` count what people think of its answer."""

    id: str
    conversation: str
    at: int
    who: str
    text: str
    state: str
    shown: str
    steps: tuple[Step, ...]
    totals: Totals
    good: int = 0
    bad: int = 0


def turns(
    conversation: str,
    record: Sequence[Numbered],
    nested: Mapping[str, Sequence[Numbered]],
    running: Turn | None = None,
) -> list[TurnView]:
    """The turns whose question is among these entries, oldest first. ``nested`` are the records of their subagents, by
    name; ``running`` is the turn in the conversation's head."""
    own: dict[str, list[Numbered]] = {}
    current = ""
    for each in record:
        if isinstance(each.entry, Asked):
            own.setdefault(each.entry.turn, [])
        current = current if isinstance(each.entry, Summary) else each.entry.turn
        if current in own:
            own[current].append(each)
    views = (_Turn(conversation, steps, nested, running) for steps in own.values())
    return [each.view() for each in views]


class _Turn:
    """One turn; ``entries`` begin with its question."""

    def __init__(
        self,
        conversation: str,
        entries: Sequence[Numbered],
        nested: Mapping[str, Sequence[Numbered]],
        running: Turn | None,
    ) -> None:
        self._conversation = conversation
        self._entries = entries
        self._nested = nested
        self._id = _turn_of(entries)
        self._running = running if running and running.id == self._id else None

    def view(self) -> TurnView:
        entries = [each.entry for each in self._entries]
        asked = next(each for each in entries if isinstance(each, Asked))
        newest = {each.person: each.good for each in entries if isinstance(each, Voted)}
        votes = [*newest.values()]
        ended = [each for each in entries if isinstance(each, Ended)]
        steps = tuple(step for each in self._entries for step in self._steps(each))
        return TurnView(
            id=self._id,
            conversation=self._conversation,
            at=asked.said[-1].sent_at if asked.said else 0,
            who=_who(asked.said[-1]) if asked.said else "",
            text=_short("\n".join(map(_words, asked.said)), WORDS),
            state=self._state(entries),
            shown=_short(ended[-1].shown, WORDS) if ended else "",
            steps=steps,
            totals=self._totals(entries, steps),
            good=votes.count(True),
            bad=votes.count(False),
        )

    def _state(self, entries: Sequence[Entry]) -> str:
        if self._running:
            return "waiting" if any(not each.decision for each in self._running.approvals) else "running"
        if ended := [each.why for each in entries if isinstance(each, Ended)]:
            return ended[-1]
        last = [each for each in entries if isinstance(each, Asked | Answered | Returned)][-1]
        return "answered" if isinstance(last, Answered) and not tool_calls(last) else "unfinished"

    def _totals(self, entries: Sequence[Entry], steps: Sequence[Step]) -> Totals:
        bill = sum(map(bill_of, entries), start=self._running.subagents if self._running else Bill())
        models = [step for step in steps if isinstance(step, ModelStep)]
        calls = [call for step in models for call in step.calls]
        within = [call.inside.totals.tool_calls for call in calls if call.inside]
        return Totals(
            model_calls=bill.calls,
            tool_calls=len(calls) + sum(within),
            tokens=_tokens(bill),
            cost=bill.cost,
            unpriced=bill.unpriced,
            model_ms=sum(step.took_ms for step in models),
            tool_ms=sum(call.took_ms for call in calls),
        )

    def _steps(self, numbered: Numbered) -> Iterator[Step]:
        match numbered.entry:
            case Answered():
                yield self._model_step(numbered.entry, numbered.seq)
            case Returned(said=said, note=note, files=files):
                if files:
                    yield FilesStep(tuple(file.name for file in files), ())
                yield from (SaidStep(_who(each), _short(_words(each), WORDS)) for each in said)
                if note:
                    yield NoteStep(note)
            case Summary(text=text, model=model, usage=usage):
                yield SummaryStep(_short(text, WORDS), model, _tokens(usage), _cost(model, usage))
            case Fetched(files=files, lost=lost):
                yield FilesStep(tuple(file.name for file in files), lost)

    def _model_step(self, answered: Answered, seq: int) -> ModelStep:
        reply = answered.reply
        return ModelStep(
            model=reply.model,
            stop_reason=reply.stop_reason,
            tokens=_tokens(reply.usage),
            cost=_cost(reply.model, reply.usage),
            missed=reply.missed,
            took_ms=reply.took_ms,
            text=_short(reply_text(answered).strip(), WORDS),
            calls=tuple(self._calls(answered, seq)),
        )

    def _calls(self, answered: Answered, seq: int) -> Iterator[Call]:
        blocks = answered.reply.content
        found = {block["tool_use_id"]: block for block in blocks if "tool_use_id" in block}
        returned = self._returned(seq)
        for block in blocks:
            if block.get("type") == "server_tool_use":
                yield _provided(block, found.get(block["id"]))
            elif block.get("type") == "tool_use":
                yield self._call(block, seq, answered.reply.spoiled.get(block["id"], ""), returned)

    def _returned(self, seq: int) -> Returned | None:
        """What the calls of this reply returned, where it is stored yet."""
        later = (each.entry for each in self._entries if each.seq > seq)
        return next((each for each in later if isinstance(each, Returned)), None)

    def _call(self, block: Json, seq: int, spoiled: str, returned: Returned | None) -> Call:
        id = block["id"]
        results = returned.results if returned else ()
        result = next((each for each in results if each.get("tool_use_id") == id), None)
        approval = self._approval(id, seq)
        asked = approval.decision or "waiting" if approval else ""
        return Call(
            name=str(block["name"]),
            arguments=_short(spoiled or _json(block["input"]), DETAIL),
            state=self._call_state(result, waits=asked == "waiting"),
            result=_short(words_of(result), DETAIL) if result is not None else "",
            took_ms=returned.took_ms.get(id, 0) if returned else 0,
            asked=asked,
            by=approval.by if approval else "",
            inside=self._inside(block, seq),
        )

    def _call_state(self, result: Json | None, *, waits: bool) -> CallState:
        if result is not None:
            return "failed" if result.get("is_error") else "done"
        if self._running:
            return "waiting" if waits else "running"
        return "unfinished"

    def _approval(self, call: str, seq: int) -> Approval | None:
        known = self._running.approvals if self._running else ()
        return next((each for each in known if each.call == call and each.entry == seq), None)

    def _inside(self, block: Json, seq: int) -> TurnView | None:
        if block["name"] != DELEGATE:
            return None
        name = name_of(self._conversation, self._id, seq, block["id"])
        inside = turns(name, self._nested.get(name, ()), self._nested)
        return inside[-1] if inside else None


def _turn_of(entries: Sequence[Numbered]) -> str:
    return next(each.entry.turn for each in entries if isinstance(each.entry, Asked))


def _provided(block: Json, result: Json | None) -> Call:
    content = result.get("content") if result else None
    error = isinstance(content, dict) and "error" in str(content.get("type"))
    return Call(
        name=str(block["name"]),
        arguments=_short(_json(block["input"]), DETAIL),
        state="unfinished" if result is None else "failed" if error else "done",
        result=_short(_json(_readable(content)), DETAIL) if result else "",
        provided=True,
    )


def _readable(value: Any) -> Any:
    """Without what the provider encrypted, for its own eyes."""
    if isinstance(value, dict):
        return {name: _readable(each) for name, each in value.items() if not str(name).startswith("encrypted")}
    return [_readable(each) for each in value] if isinstance(value, list) else value


def _tokens(used: Usage | Bill) -> Tokens:
    written = used.cache_write + used.cache_write_long
    prompt = prompt_tokens(used)
    return Tokens(used.fresh, written, used.cache_read, used.output, used.cache_read * 100 // prompt if prompt else 0)


def _cost(model: str, usage: Usage) -> int | None:
    return cost(model, usage) if is_priced(model) else None


def _who(inbound: Inbound) -> str:
    if inbound.kind == "note":
        return OURS
    return inbound.sender.name or inbound.sender.id


def _words(inbound: Inbound) -> str:
    if inbound.kind == "note":
        return f"({NOTES.get(inbound.text, inbound.text)}: {inbound.data})"
    files = [f"[{each.name or each.kind}]" for each in inbound.attachments]
    return " ".join(filter(None, (*files, inbound.words))) or f"({inbound.kind})"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) if value else ""


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
