"""Half a text, shown as what it is about to be: what people watch while an answer grows is never raw markup, and what
already stands does not change its look when the rest arrives.

Only the end of a text is touched, so the messages before it stay as they are.
"""

import re
from collections.abc import Sequence
from itertools import takewhile

from markdown_it.rules_inline import StateInline, link_pairs
from markdown_it.token import Token

from bot.channels.markdown import bounded, parser

_BARE = re.compile(
    r"[\s>]*(?:(?:[-+*]|\d{1,9}[.)])(?:\s+|$))*"  # in quotes and lists
    r"(?:[-+*_=~#|:`][-+*_=~#|:`\s]*|\[[ xX]?\]?\s*|\d{1,9})?"
)
"""A last line of nothing but markup: the beginning of a list item, a task, a heading, a fence, a rule, or of the line
below a table's head."""
_ROW = re.compile(r"[\s>]*\|")

_ESCAPED_OR_TICKS = re.compile(r"\\.|`+", re.DOTALL)
_OPEN_MARKS = re.compile(r"(?:[*_~]+|!?\[|<|\\)$")
_LONGEST_LABEL = 200
_BRACKET = re.compile(r"\\.|[\[\]\n]", re.DOTALL)
_ADDRESS = re.compile(
    r"\((?:<[^<>\n]*+>?+|(?:[^\s()<>]|\([^\s()]*+\)?+)*+)(?:\s++(?:\"[^\"\n]*+\"?+|'[^'\n]*+'?+)?+)?+\s*+(?P<end>\)?)"
)
_HALF_WORD = re.compile(r"(?:(?<!\S)!|<[^\s<>]{0,300}+|(?<!\w)__\w++|&#?\w{0,20}+)$")
"""The sign before an image, what stands in ``<>``, what may be a name between underscores or bold, a character
reference."""


def healed(markdown: str) -> str:
    """The Markdown with an end that can be shown: open markup closed, what nobody can tell yet held back."""
    lines = markdown.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    tokens = _parsed(lines)
    leaf = _last_leaf(tokens)
    if leaf and leaf.type == "fence" and _is_open(lines, leaf):
        return "\n".join(_without_half_fence(lines, leaf))
    if _BARE.fullmatch(lines[-1]) and lines[-1].strip():
        lines.pop()
        tokens = _parsed(lines)
    shown = _without_half_table(lines, tokens)
    if shown is not lines:
        lines, tokens = shown, _parsed(shown)
    leaf = _last_leaf(tokens)
    if leaf and leaf.type == "inline" and _is_open(lines, leaf):
        return _with_closed_end("\n".join(lines), [*bounded(leaf.content)][-1])
    return "\n".join(lines)


def _parsed(lines: Sequence[str]) -> list[Token]:
    return parser().parse("\n".join(lines))


def _last_leaf(tokens: Sequence[Token]) -> Token | None:
    """The text or code that comes last; cells that a table's last row lacks are none."""
    leaves = (token for token in reversed(tokens) if token.nesting == 0)
    return next((leaf for leaf in leaves if leaf.type != "inline" or leaf.content), None)


def _ending(tokens: Sequence[Token]) -> set[str]:
    """The kinds of blocks that end with the text."""
    return {token.type for token in takewhile(lambda token: token.nesting == -1, reversed(tokens))}


def _is_open(lines: Sequence[str], leaf: Token) -> bool:
    """Whether what comes next can still belong to it: no empty line stands behind it. A table's cell ends with its
    line."""
    if leaf.map is None:
        return bool(lines[-1].strip())
    return len(lines) - leaf.map[1] <= 1 and not "".join(lines[leaf.map[1] :]).strip()


def _without_half_fence(lines: list[str], fence: Token) -> list[str]:
    """Code that is being written, without the first signs of its end; nothing where it has not begun."""
    first, end = fence.map or (0, 0)
    if end - first - 1 > fence.content.removesuffix("\n").count("\n") + bool(fence.content):  # its end is there
        return lines
    if not fence.content.strip():
        return lines[:first]
    mark = lines[-1].strip("> \t")
    return lines[:-1] if mark and fence.markup.startswith(mark) else lines


def _without_half_table(lines: list[str], tokens: Sequence[Token]) -> list[str]:
    """Without a row that is being written, and without a table's head that has no row yet: it could still be a line of
    text, and nobody knows how wide the table is going to be."""
    ending = _ending(tokens)
    if "table_close" in ending:
        first, end = next(token.map for token in reversed(tokens) if token.type == "table_open") or (0, 0)
        rows = end - first - 2 - bool(lines[-1].strip())
        return lines[: end - bool(lines[-1].strip())] if rows > 0 or len(lines) - end > 1 else lines[:first]
    leaf = _last_leaf(tokens)
    if "paragraph_close" in ending and leaf and leaf.map and _is_open(lines, leaf):
        last = leaf.map[1] - 1
        return lines[:last] if _ROW.match(lines[last]) else lines
    return lines


def _with_closed_end(source: str, piece: str) -> str:
    """The source, which ends with this piece of inline Markdown, with the piece's open markup closed."""
    source = source.rstrip()
    piece = piece.rstrip()
    last = piece.rpartition("\n")[2]
    if not last or not source.endswith(last):
        return source
    floor = len(piece) - len(last)
    closed = _closed(piece, floor)
    stem = source[: len(source) - len(last)]
    if len(closed) > floor:
        return stem + closed[floor:]
    return healed(stem.rstrip("> \t\n")) if floor else stem


def _closed(text: str, floor: int) -> str:
    """The text with its open markup closed; what stands before ``floor`` stays as it is."""
    start, ticks, code = _open_code(text)
    if ticks:
        inside = text[start + len(ticks) :]
        if len(inside) - len(inside.rstrip("`")) < len(ticks):
            inside = inside.rstrip("`")
        if inside.strip():
            text = f"{text[: start + len(ticks)]}{inside.rstrip()}{ticks}"
            return text + _closing(text)
        text = text[: max(start, floor)]
    text = _without_half_link(text, max(floor, code))
    return text + _closing(text)


def _open_code(text: str) -> tuple[int, str, int]:
    """Where a code span begins that does not end, with which backticks; and where the last one ends that does."""
    at, ends = 0, 0
    while found := _ESCAPED_OR_TICKS.search(text, at):
        at = found.end()
        if found.group().startswith("\\"):
            continue
        closing = re.compile(rf"(?<!`){found.group()}(?!`)").search(text, at)
        if closing is None:
            return found.start(), found.group(), ends
        at = ends = closing.end()
    return 0, "", ends


def _without_half_link(text: str, floor: int) -> str:
    """Without a link that is not whole, which would be text before it is a link, and marks that nothing follows."""
    before = ""
    while before != text:
        before = text
        text = text[:floor] + _OPEN_MARKS.sub("", text[floor:].rstrip())
        half = _HALF_WORD.search(text, floor)
        text = text[: half.start()] if half else text
        text = text[: _half_link(text, floor)]
    return text


def _half_link(text: str, floor: int) -> int | None:
    """Where a link or picture begins whose label, or whose address, is still being written."""
    opened: list[int] = []
    at = floor
    while found := _BRACKET.search(text, at):
        at = found.end()
        if found.group() == "[":
            opened.append(found.start())
        elif found.group() == "\n":
            opened.clear()
        elif found.group() == "]" and opened:
            start = opened.pop()
            address = _ADDRESS.match(text, at)
            if at == len(text) or (address and address.end() == len(text) and not address["end"]):
                return _with_sign(text, start, floor)
    near = [start for start in opened if len(text) - start <= _LONGEST_LABEL]
    return _with_sign(text, near[0], floor) if near else None


def _with_sign(text: str, start: int, floor: int) -> int:
    return start - 1 if start > floor and text[start - 1] == "!" else start


def _closing(text: str) -> str:
    """The marks that close what is bold, italic or struck out and open at the end of the text."""
    state = StateInline(text, parser(), {}, [])
    parser().inline.tokenize(state)
    link_pairs(state)
    marks, inside = "", -1
    for number, mark in enumerate(state.delimiters):
        if mark.end >= 0:
            inside = max(inside, mark.end)
        elif mark.open and number > inside and not _is_sign(state, mark.token, mark.length):
            marks = ("~~" if mark.marker == ord("~") else chr(mark.marker)) + marks
    return marks


def _is_sign(state: StateInline, token: int, length: int) -> bool:
    """Whether a single mark stands behind a letter or digit, as in 2*r, and so hardly begins anything."""
    before = state.tokens[token - 1].content[-1:] if token else ""
    return length == 1 and before.isascii() and before.isalnum()
