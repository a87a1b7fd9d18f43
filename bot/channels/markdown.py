"""Markdown, as models write it, made flat: visible text and the spans that style it. And flat text cut into messages.

The dialect is CommonMark with tables, strikethrough and task lists. Raw HTML is text. Markup that is left open is
literal. Offsets are Python string indices here; a channel converts them to its platform's units.

A reply is rendered again and again while it streams, so what stands early in the text must not depend on what comes
late: link definitions and underlined headings are therefore not part of the dialect, a run of inline markup must close
within ``INLINE_LIMIT`` characters, and a table's columns are measured on its first rows only.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec import Struct

Style = Literal["bold", "italic", "strike", "code", "pre", "link", "quote"]

NOTHING_TO_SHOW = "…"
INLINE_LIMIT = 2_000
MEASURED_ROWS = 30
WIDEST_COLUMN = 40
LONGEST_ADDRESS = 2_000

FONT: frozenset[Style] = frozenset({"bold", "italic", "strike"})
RULE = "─" * 12

_INVISIBLE = re.compile(r"[\s\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe0f\ufeff]")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TASK = re.compile(r"\[([ xX])\](?:\s|$)")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_WEB_ADDRESS = re.compile(rf"(?=.{{,{LONGEST_ADDRESS}}}$)https?://[^\s/?#]*[^\s/?#.]\.[^\s/?#.]\S*")
_LANGUAGE = re.compile(r"[\w+#.-]{1,32}")


class Span(Struct, frozen=True):
    """``text[start:end]`` has this style. ``detail`` is a link's address or a code block's language, else ""."""

    start: int
    end: int
    style: Style
    detail: str = ""


class Flat(Struct, frozen=True):
    """Spans are sorted by start, the longer first, and nest: of two that overlap, one contains the other.

    Code and code blocks contain nothing and lie only inside quotes; quotes do not lie inside quotes.
    """

    text: str
    spans: tuple[Span, ...] = ()

    def piece(self, start: int, end: int) -> "Flat":
        """A part of it, with the spans that reach into it cut to size."""
        clipped = (
            Span(max(span.start, start) - start, min(span.end, end) - start, span.style, span.detail)
            for span in self.spans
            if span.start < end and span.end > start
        )
        return Flat(self.text[start:end], tuple(clipped))


def is_blank(text: str) -> bool:
    """Whether a person would see nothing: white space and zero-width characters only."""
    return not _INVISIBLE.sub("", text)


def well_formed(text: str) -> str:
    """Text that can be encoded: half a surrogate pair, as a cut stream can leave it, becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


@cache
def parser() -> MarkdownIt:
    """The dialect. Block structure only: inline text is parsed in bounded pieces by ``flatten``."""
    markdown = MarkdownIt("commonmark", {"html": False, "maxNesting": 100})
    return markdown.enable(["table", "strikethrough"]).disable(["reference", "lheading", "inline"])


def flatten(markdown: str) -> Flat:
    """The whole reply as one flat text; ``NOTHING_TO_SHOW`` where it is blank or nothing but HTML comments."""
    if is_blank(_COMMENT.sub("", markdown)):
        return Flat(NOTHING_TO_SHOW)
    writer = _Writer()
    _write_blocks(writer, parser().parse(well_formed(markdown)))
    flat = writer.flat()
    return Flat(NOTHING_TO_SHOW) if is_blank(flat.text) else flat


class _Writer:
    """Collects text and the spans over it."""

    def __init__(self) -> None:
        self.indent = ""
        self._pieces: list[str] = []
        self._length = 0
        self._open: list[tuple[Style, str, int]] = []
        self._spans: list[Span] = []

    def write(self, text: str) -> None:
        self._append(text.replace("\n", f"\n{self.indent}") if self.indent else text)

    def open(self, style: Style, detail: str = "") -> None:
        self._open.append((style, detail, self._length))

    def close(self, style: Style) -> None:
        at = max(index for index, (open_style, _, _) in enumerate(self._open) if open_style == style)
        _, detail, start = self._open.pop(at)
        if not self.inside(style):  # a style inside itself adds nothing
            self._mark(start, style, detail)

    def inside(self, style: Style) -> bool:
        return any(open_style == style for open_style, _, _ in self._open)

    def verbatim(self, text: str, style: Style, detail: str = "") -> None:
        """Code: no font style may lie over it, so those that are open end before it and begin again after it."""
        fonts = [font for font, _, _ in self._open if font in FONT]
        for font in reversed(fonts):
            self.close(font)
        start = self._length
        self._append(text)
        self._mark(start, style, detail)
        for font in fonts:
            self.open(font)

    def close_link(self, address: str) -> None:
        """End a link. An address that no chat opens is written out: a link must not hide where it leads."""
        if _WEB_ADDRESS.fullmatch(address):
            self.close("link")
            return
        _, _, start = self._open.pop()
        shown = address.removeprefix("mailto:")
        if shown and "".join(self._pieces)[start:] != shown:
            self.write(f" ({shown})")

    def flat(self) -> Flat:
        # Spans are marked when they close, so the outer of two with the same extent comes last.
        spans = self._spans[::-1]
        spans.sort(key=lambda span: (span.start, -span.end))
        return Flat("".join(self._pieces), tuple(spans))

    def _append(self, text: str) -> None:
        self._pieces.append(text)
        self._length += len(text)

    def _mark(self, start: int, style: Style, detail: str) -> None:
        if start < self._length:
            self._spans.append(Span(start, self._length, style, detail))


# Blocks: what stands on lines of its own.


def _write_blocks(writer: _Writer, tokens: Sequence[Token]) -> None:
    """Write sibling blocks, as far apart as their author put them, but never further than one empty line."""
    before: list[Token] | None = None
    for block in _siblings(tokens):
        if before is not None:
            writer.write("\n" if _adjoining(before[0], block[0]) else "\n\n")
        _write_block(writer, block)
        before = block


def _write_block(writer: _Writer, block: list[Token]) -> None:
    first, inner = block[0], block[1:-1]
    match first.type:
        case "paragraph_open":
            _write_inline(writer, inner[0].content)
        case "heading_open":
            writer.open("bold")
            _write_inline(writer, inner[0].content)
            writer.close("bold")
        case "bullet_list_open" | "ordered_list_open":
            for number, item in enumerate(_siblings(inner)):
                writer.write("\n" if number else "")
                _write_item(writer, item, ordered=first.type == "ordered_list_open")
        case "blockquote_open":
            writer.open("quote")
            _write_blocks(writer, inner)
            writer.close("quote")
        case "table_open":
            writer.verbatim("\n".join(_table_lines(inner)), "pre")
        case "fence" | "code_block":
            language = _LANGUAGE.match(first.info.strip())
            writer.verbatim(first.content.removesuffix("\n"), "pre", language.group() if language else "")
        case "hr":
            writer.write(RULE)
        case _:
            writer.write(first.content)


def _write_item(writer: _Writer, item: list[Token], *, ordered: bool) -> None:
    """One list item: its sign, then its blocks line under line, indented by as much as the sign is wide."""
    marker, blocks = item[0], [*_siblings(item[1:-1])]
    sign = f"{marker.info}{marker.markup}" if ordered else "•"
    task = _TASK.match(blocks[0][1].content) if blocks and blocks[0][0].type == "paragraph_open" else None
    if task:
        sign = "☐" if task[1] == " " else "☑"
        blocks[0][1].content = blocks[0][1].content[task.end() :]
    writer.write(f"{sign} ")
    outer = writer.indent
    writer.indent += " " * (len(sign) + 1)
    for number, block in enumerate(blocks):
        writer.write("\n" if number else "")
        _write_block(writer, block)
    writer.indent = outer


def _siblings(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """The flat token list grouped into blocks: an opening token, what it holds, and its closing token."""
    depth, block = 0, []
    for token in tokens:
        block.append(token)
        depth += token.nesting
        if depth == 0:
            yield block
            block = []


def _adjoining(before: Token, block: Token) -> bool:
    """Whether no empty line stands between two blocks. A list's extent takes in the empty lines that follow it."""
    if before.type.endswith("list_open") or before.map is None or block.map is None:
        return False
    return before.map[1] == block.map[0]


def _table_lines(tokens: Sequence[Token]) -> Iterator[str]:
    """The table as lines of even columns for a fixed-width font, markup inside cells dropped."""
    rows: list[list[str]] = []
    right: list[bool] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "th_open":
            right.append("right" in str(token.attrGet("style") or ""))
        elif token.type == "inline":
            cell = _Writer()
            _write_inline(cell, token.content)
            rows[-1].append(" ".join(cell.flat().text.split()))
    widths = [
        min(WIDEST_COLUMN, max(_columns(row[column]) for row in rows[: MEASURED_ROWS + 1]))
        for column in range(len(right))
    ]
    for number, row in enumerate(rows):
        yield " │ ".join(map(_padded, row, widths, right)).rstrip()
        if number == 0:
            yield "─┼─".join("─" * width for width in widths)


def _padded(cell: str, width: int, right: bool) -> str:
    space = " " * (width - _columns(cell))
    return space + cell if right else cell + space


def _columns(text: str) -> int:
    """Columns the text takes in a fixed-width font: East Asian characters and emoji two, combining marks none."""
    return sum(map(_width, text))


def _width(char: str) -> int:
    if unicodedata.combining(char) or char in "\u200d\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


# Inline: what stands inside a line.


def _write_inline(writer: _Writer, content: str) -> None:
    for piece in _bounded(content):
        tokens: list[Token] = []
        parser().inline.parse(piece, parser(), {}, tokens)
        _write_tokens(writer, tokens)


def _bounded(content: str) -> Iterator[str]:
    """A long paragraph in pieces that are parsed one by one, so that markup opened in one can not close in another."""
    start = 0
    while len(content) - start > INLINE_LIMIT:
        end = start + INLINE_LIMIT
        cut = max(content.rfind("\n", start, end), content.rfind(" ", start, end)) + 1 or end
        yield content[start:cut]
        start = cut
    yield content[start:]


def _write_tokens(writer: _Writer, tokens: Sequence[Token]) -> None:
    address = ""
    for token in _with_dunder_names(tokens):
        match token.type:
            case "strong_open" | "em_open" | "s_open":
                writer.open(_FONT_OF[token.tag])
            case "strong_close" | "em_close" | "s_close":
                writer.close(_FONT_OF[token.tag])
            case "code_inline" if not writer.inside("link"):
                writer.verbatim(token.content, "code")
            case "link_open":
                address = str(token.attrGet("href") or "")
                writer.open("link", address)
            case "link_close":
                writer.close_link(address)
            case "image":  # never loaded: a person decides whether to open it
                _write_image(writer, token)
            case "softbreak" | "hardbreak":
                writer.write("\n")
            case _:
                writer.write(token.content)


def _write_image(writer: _Writer, token: Token) -> None:
    text = token.content or "image"
    if writer.inside("link"):
        writer.write(text)
        return
    address = str(token.attrGet("src") or "")
    writer.open("link", address)
    writer.write(text)
    writer.close_link(address)


def _with_dunder_names(tokens: Sequence[Token]) -> Iterator[Token]:
    """The tokens, with ``__init__`` left as the name it is: CommonMark takes it for a bold word."""
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if (
            token.type == "strong_open"
            and token.markup == "__"
            and tokens[at + 2].type == "strong_close"
            and _IDENTIFIER.fullmatch(tokens[at + 1].content)
        ):
            yield Token("text", "", 0, content=f"__{tokens[at + 1].content}__")
            at += 3
        else:
            yield token
            at += 1


_FONT_OF: dict[str, Style] = {"strong": "bold", "em": "italic", "s": "strike"}


# Splitting: one flat text into messages.


def split(flat: Flat, limit: int, most_spans: int, size: Callable[[str], int]) -> list[Flat]:
    """Cut into parts of at most ``limit`` by ``size`` and at most ``most_spans`` spans, none of them blank.

    Cuts at the end of a paragraph where one ends in the part's second half, else of a line, else of a word, else
    anywhere but inside a character as people see it. Nothing is lost: the texts joined are the whole text, but for
    white space so long that it would be a part of its own. A cut depends on nothing that comes after its part.
    """
    parts, start = [], 0
    while start < len(flat.text):
        end = _furthest(flat, start, limit, most_spans, size)
        if end < len(flat.text):
            end = _boundary(flat.text, start, end)
        part = flat.piece(start, end)
        if not is_blank(part.text):
            parts.append(part)
        start = end
    return parts


def _furthest(flat: Flat, start: int, limit: int, most_spans: int, size: Callable[[str], int]) -> int:
    """Where a part that begins at ``start`` has to end at the latest."""
    end = min(len(flat.text), start + limit)
    while (excess := size(flat.text[start:end]) - limit) > 0:
        end -= (excess + 1) // 2  # a character measures at most two
    reaching = [span.start for span in flat.spans if span.end > start and span.start < end]
    return max(reaching[most_spans], start + 1) if len(reaching) > most_spans else end


def _boundary(text: str, start: int, end: int) -> int:
    """The best place to cut in ``text[start:end]``, later than ``start``."""
    half = start + (end - start) // 2
    for separator in ("\n\n", "\n", " "):
        at = text.rfind(separator, half, end)
        if at >= 0:
            return at + len(separator)
    cut = end
    while cut > max(start + 1, end - 32) and _joined(text, cut):
        cut -= 1
    return end if _joined(text, cut) else cut


def _joined(text: str, at: int) -> bool:
    """Whether the characters around ``at`` are seen as one: an accent, an emoji of several parts, a flag."""
    left, right = text[at - 1], text[at]
    if left == "\u200d" or right == "\u200d" or unicodedata.category(right) in ("Mn", "Me", "Mc"):
        return True
    if "\U0001f3fb" <= right <= "\U0001f3ff":  # skin tones
        return True
    flags = at - len(text[:at].rstrip(_FLAG_HALVES))
    return right in _FLAG_HALVES and flags % 2 == 1


_FLAG_HALVES = "".join(map(chr, range(0x1F1E6, 0x1F200)))
