"""A turn told to somebody who looks for what went wrong: how it ended, its steps, and what the log says of it. Pure."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from bot.cli.turnlog.lines import Line
from bot.inspecting import Call, FilesStep, ModelStep, NoteStep, SaidStep, Step, SummaryStep, Tokens, TurnView

HIDDEN = ("text", "result", "arguments")
"""Keys of lines that hold people's words (bot/logs.py)."""


class Found(Struct, frozen=True):
    """``turn`` is what the record says, None where there is no record; ``reference`` may be of a message that another
    turn answers, then ``id`` is that one's."""

    reference: str
    id: str
    conversation: str
    turn: TurnView | None
    lines: tuple[Line, ...]
    note: str = ""


def without_words(found: Found) -> Found:
    """The same, without what people, the model and tools said."""
    lines = tuple(
        replace(line, keys={name: value for name, value in line.keys.items() if name not in HIDDEN})
        for line in found.lines
    )
    return replace(found, turn=_wordless(found.turn) if found.turn else None, lines=lines)


def as_json(found: Found) -> dict[str, Any]:
    told: dict[str, Any] = to_builtins(found)
    return told


def told(found: Found) -> Iterator[str]:
    """The page, line by line."""
    outcome = found.turn.state if found.turn else _outcome(found.lines)
    yield f"Turn {found.id} in {found.conversation}: {outcome}"
    if found.id != found.reference:
        yield f"The message {found.reference} was answered in it."
    if found.turn:
        yield from _sums(found.turn)
    if found.note:
        yield found.note
    if found.turn:
        yield ""
        yield "Steps, as the record has them"
        yield from _asked(found.turn)
        yield from _steps(found.turn.steps, "  ")
    if found.lines:
        yield ""
        yield "Lines of the log, in UTC" if found.lines[0].at.endswith("Z") else "Lines of the log"
        yield from (text for line in found.lines for text in _line(line))


def _outcome(lines: Sequence[Line]) -> str:
    ended = [str(line.keys["outcome"]) for line in lines if "outcome" in line.keys]
    return ended[-1] if ended else "not ended"


def _sums(turn: TurnView) -> Iterator[str]:
    sums = turn.totals
    asked = f"{datetime.fromtimestamp(turn.at, UTC):%Y-%m-%d %H:%M:%S} UTC"
    unpriced = f", {sums.unpriced} calls without a known price" if sums.unpriced else ""
    models = f"{_count(sums.model_calls, 'model call')} in {_time(sums.model_ms)}"
    tools = f"{_count(sums.tool_calls, 'tool call')} in {_time(sums.tool_ms)}"
    price = f"${sums.cost / 1_000_000:.4f}{unpriced}"
    yield f"  {' · '.join((f'asked {asked}', models, tools, _tokens(sums.tokens), price))}"


def _asked(turn: TurnView) -> Iterator[str]:
    if turn.text:
        yield from _words(f"{turn.who}: {turn.text}", "  ")


def _steps(steps: Sequence[Step], indent: str) -> Iterator[str]:
    for step in steps:
        match step:
            case ModelStep():
                price = "price unknown" if step.cost is None else f"${step.cost / 1_000_000:.4f}"
                why = f", cache missed: {step.missed}" if step.missed else ""
                of = f"{_time(step.took_ms)}, {_tokens(step.tokens)}, {price}{why}"
                yield f"{indent}model  {step.model} → {step.stop_reason} ({of})"
                yield from _words(step.text, f"{indent}       ")
                for call in step.calls:
                    yield from _call(call, f"{indent}  ")
            case SaidStep():
                yield f"{indent}said   a person added to it"
                yield from _words(step.text, f"{indent}       ")
            case NoteStep():
                yield f"{indent}limit  {step.text}"
            case SummaryStep():
                yield f"{indent}fold   what was before became a summary ({step.model or 'by us'})"
                yield from _words(step.text, f"{indent}       ")
            case FilesStep():
                lost = f", {len(step.lost)} lost" if step.lost else ""
                yield f"{indent}files  {len(step.names)}{lost}"


def _call(call: Call, indent: str) -> Iterator[str]:
    asked = f", asked: {call.asked}" if call.asked else ""
    where = ", at the provider" if call.provided else ""
    yield f"{indent}tool  {call.name} → {call.state} ({_time(call.took_ms)}{where}{asked})"
    yield from _words(call.arguments, f"{indent}      ")
    yield from _words(call.result, f"{indent}      ")
    if call.inside:
        yield from _steps(call.inside.steps, f"{indent}    ")


def _line(line: Line) -> Iterator[str]:
    mark = "!" if line.level in ("ERROR", "WARNING", "CRITICAL") else " "
    keys = " ".join(f"{name}={value}" for name, value in line.keys.items() if value != "")
    yield f"{mark} {_hour(line.at)}  {line.where:10}  {line.said:16}  {keys}".rstrip()
    yield from _words(line.trace, "      ")


def _words(text: str, indent: str) -> Iterator[str]:
    yield from (f"{indent}{line}" for line in text.splitlines())


def _tokens(tokens: Tokens) -> str:
    read = tokens.fresh + tokens.written + tokens.read
    return f"{read:,} tokens in ({tokens.cached} % cached), {tokens.output:,} out"


def _time(ms: int) -> str:
    return f"{ms / 1000:.1f} s" if ms >= 1000 else f"{ms} ms"


def _hour(at: str) -> str:
    """The time of day; the date stands above."""
    return at.partition("T")[2].removesuffix("Z") or at


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _wordless(turn: TurnView) -> TurnView:
    return replace(turn, who="", text="", shown="", steps=tuple(map(_wordless_step, turn.steps)))


def _wordless_step(step: Step) -> Step:
    match step:
        case ModelStep():
            return replace(step, text="", calls=tuple(map(_wordless_call, step.calls)))
        case SaidStep():
            return replace(step, who="", text="")
        case SummaryStep():
            return replace(step, text="")
        case FilesStep():
            return replace(step, names=("",) * len(step.names), lost=("",) * len(step.lost))
        case NoteStep():
            return step


def _wordless_call(call: Call) -> Call:
    return replace(call, arguments="", result="", inside=_wordless(call.inside) if call.inside else None)
