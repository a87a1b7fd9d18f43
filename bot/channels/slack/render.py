"""A reply's Markdown as Slack messages (docs/decisions/0007-rendering.md).

Sent as ``markdown_text``, which is standard Markdown: Slack itself turns it into headings, tables, task lists and code,
and images into links. So all that is left to do is to split the source, and to keep it from calling people.
Source: docs.slack.dev/reference/methods/chat.postMessage, docs.slack.dev/reference/block-kit/blocks/markdown-block and
table-block.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile
from typing import Literal

from markdown_it.token import Token
from msgspec import Struct
from msgspec.structs import replace

from bot.channels.characters import is_blank, units
from bot.channels.growing import healed
from bot.channels.markdown import flatten, parser
from bot.channels.slack.seams import Seam, seam_at
from bot.channels.splitting import boundary, reach
from bot.messages import whole
from bot.ports import NOTHING_TO_SHOW, Rendered

MESSAGE_LIMIT = 11_000
"""UTF-16 units. ``markdown_text`` takes 12,000; the rest is slack for what is added where a message is cut."""
LONGEST_MARKER = 100
BEGINNING = 2_000
"""Characters by which to tell that something is to be seen."""

TABLE_ROWS, TABLE_COLUMNS = 100, 20
TABLE_LIMIT = 9_500
"""Of the one table that a message may hold: its head and rows, its columns, and the characters of its rows. Slack
counts those of its cells up to 10,000."""

# What would notify people: <!channel>, <!subteam^S1>, <@U1>. Not <!DOCTYPE html>, which is only code.
_CALL = re.compile(r"<((?:!(?:channel|here|everyone|group|subteam|date)|[@#][A-Za-z0-9])[^<>\n]*)(>?)", re.IGNORECASE)
_LANGUAGE = re.compile(r"[\w+#.-]{0,32}")
_PREFIX = re.compile(r"[>\s]*")
_TICKS = re.compile(r"`+")
_BLOCK_SIGN = re.compile(r"(\d{0,9})([-+*>.)]|#{1,6})(?=\s)")


def render(markdown: str, *, growing: bool = False) -> list[Rendered]:
    """Never empty, and no part is blank: Slack refuses such a message. Code cut in two is a block in both parts, a
    table has its head in both. ``growing``: the text goes on, so that markup that is still open is closed for now."""
    markdown = whole(healed(markdown) if growing else markdown)
    if all(flatten(text).text == NOTHING_TO_SHOW for text in (markdown[:BEGINNING], markdown)):
        return [Rendered(NOTHING_TO_SHOW)]
    return [Rendered(part) for part in split(without_calls(markdown), MESSAGE_LIMIT)]


def split(markdown: str, limit: int) -> list[str]:
    """The source in parts of at most ``limit`` UTF-16 units, and what closes markup at their ends. None is blank."""
    lines = [*_lines(markdown, limit)]
    cuts = [*_cuts(lines, limit)]
    seams = [Seam(), *(_seam(lines[cut]) for cut in cuts[1:-1]), Seam()]
    parts = [
        _assembled(lines[start:end], before, after)
        for (start, end), (before, after) in zip(pairwise(cuts), pairwise(seams), strict=True)
    ]
    return [part for part in parts if not is_blank(part)]


def without_calls(markdown: str) -> str:
    """The text with everything that would notify people shown as the characters it is made of."""
    return _CALL.sub(lambda call: f"&lt;{call[1]}{'&gt;' if call[2] else ''}", markdown)


class _Box(Struct, frozen=True):
    """A code block or a table that may go on in another message.

    ``opening`` and ``ending`` are put around what goes on there, at the line's beginning; ``closing`` ends it where it
    is cut, None where it needs no end.
    """

    opening: str
    ending: str
    closing: str | None = None
    is_table: bool = False


class _Line(Struct, frozen=True):
    """One line of the source, or a piece of one. Where it is in a box, ``bare`` is the line without list or quote; else
    ``inline`` is the source of the text it belongs to, and ``at`` where in that it begins."""

    text: str
    box: _Box | None = None
    bare: str = ""
    role: Literal["text", "opens", "inside", "closes"] = "text"
    inline: str = ""
    at: int = 0


def _seam(line: _Line) -> Seam:
    return seam_at(line.inline, line.at) if line.at else Seam()


# The source line by line.


def _lines(markdown: str, limit: int) -> Iterator[_Line]:
    """Each line knows the box or the text it is in; lines too long for a message come in pieces."""
    source, tokens = _without_wide_tables(markdown.replace("\r\n", "\n").replace("\r", "\n"))
    lines = [_Line(text) for text in source.split("\n")]
    for token in tokens:
        if token.map is None:
            continue
        match token.type:
            case "fence" if len(token.markup) <= LONGEST_MARKER:
                _mark_fence(lines, token, *token.map)
            case "code_block":
                _mark_indented(lines, token, *token.map)
            case "table_open":
                _mark_table(lines, *token.map)
            case "inline" if lines[token.map[0]].box is None:
                _mark_inline(lines, token, *token.map)
    for line in lines:
        yield from _pieces(line, limit)


def _without_wide_tables(source: str) -> tuple[str, list[Token]]:
    """Tables of more columns than Slack takes as the code they are made of. With what the parser says of it."""
    lines = source.split("\n")
    tokens = parser().parse(source)
    for number, token in reversed([*enumerate(tokens)]):
        if token.type != "table_open" or not token.map:
            continue
        head = takewhile(lambda token: token.type != "thead_close", tokens[number:])
        if sum(each.type == "th_open" for each in head) > TABLE_COLUMNS:
            first, end = token.map
            indent = _indent(lines[first][: len(lines[first]) - len(_PREFIX.sub("", lines[first], count=1))])
            lines[first:end] = [f"{indent}```", *lines[first:end], f"{indent}```"]
    fenced = "\n".join(lines)
    return fenced, tokens if fenced == source else parser().parse(fenced)


def _indent(before: str) -> str:
    """What stands before the other lines of a block whose first line has this before it: a bullet stands only there."""
    return "".join(char if char in "> \t" else " " for char in before)


def _mark_fence(lines: list[_Line], token: Token, first: int, end: int) -> None:
    before, _, _ = lines[first].text.partition(token.markup)
    language = _LANGUAGE.match(token.info.strip())
    opening = f"{token.markup}{language.group() if language else ''}"
    box = _Box(opening, token.markup, f"{_indent(before)}{token.markup}")
    code = token.content.removesuffix("\n").split("\n") if token.content else []
    lines[first] = _Line(lines[first].text, box, role="opens")
    for number, text in enumerate(code, start=first + 1):
        lines[number] = _Line(lines[number].text, box, text, "inside")
    for number in range(first + 1 + len(code), end):
        lines[number] = _Line(lines[number].text, box, role="closes")


def _mark_indented(lines: list[_Line], token: Token, first: int, end: int) -> None:
    """Code by its indentation: where it goes on in another message, between fences."""
    marker = "`" * max([3, *(len(ticks) + 1 for ticks in _TICKS.findall(token.content))])
    box = _Box(marker, marker)
    for number, text in zip(range(first, end), token.content.split("\n"), strict=False):
        lines[number] = _Line(lines[number].text, box, text, "inside")


def _mark_table(lines: list[_Line], first: int, end: int) -> None:
    bare = [_PREFIX.sub("", line.text, count=1) for line in lines[first:end]]
    box = _Box("\n".join(bare[:2]), "", is_table=True)
    for number, text in enumerate(bare, start=first):
        lines[number] = _Line(lines[number].text, box, text, "inside" if number > first + 1 else "opens")


def _mark_inline(lines: list[_Line], token: Token, first: int, end: int) -> None:
    at = 0
    for number, text in zip(range(first, end), token.content.split("\n"), strict=False):
        lines[number] = replace(lines[number], inline=token.content, at=at)
        at += len(text) + 1


def _pieces(line: _Line, limit: int) -> Iterator[_Line]:
    longest = limit - len(line.box.opening) - len(line.box.closing or "") - 2 if line.box else limit - 2
    if line.box and line.box.is_table:
        longest = min(longest, TABLE_LIMIT - len(line.box.opening))
    longest = max(longest, 1)
    prefix = len(line.text) - len(line.inline[line.at :].partition("\n")[0])
    start = 0
    while units(line.text[start:]) > longest:
        end = boundary(line.text, start, reach(line.text, start, longest, units))
        yield _piece(line, start, end, prefix)
        start = end
    yield _piece(line, start, len(line.text), prefix)


def _piece(line: _Line, start: int, end: int, prefix: int) -> _Line:
    if start == 0 and end == len(line.text):
        return line
    text = line.text[start:end]
    if line.box:
        return replace(line, text=text, bare=text if start else line.bare[: end - len(line.text)])
    escaped = _BLOCK_SIGN.sub(r"\1\\\2", text, count=1) if start and _BLOCK_SIGN.match(text) else text
    return replace(line, text=escaped, at=line.at + start - prefix if start > prefix else line.at)


# Where to cut.


def _cuts(lines: Sequence[_Line], limit: int) -> Iterator[int]:
    cut = 0
    yield cut
    while cut < len(lines):
        cut = _end(lines, cut, limit)
        yield cut


def _end(lines: Sequence[_Line], start: int, limit: int) -> int:
    """Where the message that begins with line ``start`` ends: after the last empty line of its second half, if any."""
    paragraph = 0
    resumed = lines[start].box if _resumes(lines[start]) else None
    size = units(resumed.opening) + 1 if resumed else 0
    tables = _Tables(resumed)
    for number in range(start, len(lines)):
        line = lines[number]
        if not tables.take(line):
            return _before_table(lines, start, number)
        size += units(line.text) + 1
        closing = units(line.box.closing or "") + 1 if line.box else 0
        if size + closing > limit and number > start:
            return paragraph or _before_opening(lines, start, number)
        if line.box is None and not line.text.strip() and size > limit // 2:
            paragraph = number + 1
    return len(lines)


class _Tables:
    """What of the one table that a message may hold is used up."""

    def __init__(self, resumed: _Box | None) -> None:
        self._table = resumed if resumed and resumed.is_table else None
        self._rows = 2 if self._table else 0  # the line below the head is counted too, here and in ``take``
        self._size = len(self._table.opening) if self._table else 0

    def take(self, line: _Line) -> bool:
        """Whether there is room for this line."""
        if line.box is None or not line.box.is_table:
            return True
        if self._table is not None and self._table is not line.box:
            return False
        self._table = line.box
        self._rows += 1
        self._size += len(line.bare)
        return self._rows <= TABLE_ROWS + 1 and self._size <= TABLE_LIMIT


def _before_table(lines: Sequence[_Line], start: int, number: int) -> int:
    """The end of a message before a row that it has no room for: with a table goes the paragraph that announces it."""
    if lines[number].role != "opens":
        return max(number, start + 1)
    cut = number
    while cut > start and not lines[cut - 1].box and not lines[cut - 1].text.strip():
        cut -= 1
    while cut > start and not lines[cut - 1].box and lines[cut - 1].text.strip():
        cut -= 1
    return cut if cut > start else number


def _before_opening(lines: Sequence[_Line], start: int, number: int) -> int:
    """No box is opened and closed with nothing in it."""
    cut = number
    while cut - 1 > start and lines[cut - 1].role == "opens":
        cut -= 1
    return cut


# One message.


def _assembled(lines: Sequence[_Line], before: Seam, after: Seam) -> str:
    """The lines as one message that stands alone: what began before it, or goes on after it, is closed in it."""
    box = lines[0].box if _resumes(lines[0]) else None
    resumed = [*takewhile(lambda line: line.box is box, lines)] if box else []
    inside = [line.bare for line in resumed if line.role == "inside"]
    rest = [*_dedented([line.text for line in lines[len(resumed) :]])]
    text = [box.opening, *inside] if box and inside else []
    if box and inside and (box.ending or (rest and rest[0].strip())):
        text.append(box.ending)
    text += rest
    if text and before.opening:
        prefix = _PREFIX.match(text[0])
        at = prefix.end() if prefix else 0
        text[0] = f"{text[0][:at]}{before.opening}{text[0][at:]}"
    last = lines[-1]
    if last.box and last.box is not box and last.box.closing is not None and last.role != "closes":
        text.append(_dedented_by(lines[len(resumed)].text, last.box.closing))
    return "\n".join(text).rstrip(" ") + after.closing if after.closing else "\n".join(text)


def _resumes(line: _Line) -> bool:
    """Whether a message that begins with this line begins inside a box."""
    return line.role in ("inside", "closes")


def _dedented(texts: Sequence[str]) -> Iterator[str]:
    """A message that begins inside a list begins at the margin, or its text would be taken for code."""
    base: int | None = None
    for text in texts:
        if text.strip() and base != 0:
            indent = len(text) - len(text.lstrip(" \t"))
            base = indent if base is None else min(base, indent)
        yield text[base:] if text.strip() else text


def _dedented_by(first: str, closing: str) -> str:
    indent = len(first) - len(first.lstrip(" \t"))
    return closing[min(indent, len(closing) - len(closing.lstrip(" \t"))) :]
