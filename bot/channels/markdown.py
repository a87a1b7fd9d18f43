"""Markdown, as models write it, made flat: visible text and the spans that style it.

The dialect is CommonMark with tables, strikethrough and task lists. Raw HTML is text, but for the line break ``<br>``.
Markup that is left open is literal. Offsets are Python string indices; a channel converts them to its platform's units.

A reply is rendered again and again while it streams, so what stands early in the text must not depend on what comes
late: link definitions and underlined headings are therefore not part of the dialect, a run of inline markup must close
within ``INLINE_LIMIT`` characters, and a table's columns are measured on its first rows only.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec import Struct

from bot.channels.characters import is_blank
from bot.channels.tables import MEASURED_ROWS, Table, grid, makes_a_grid, table_of
from bot.messages import whole
from bot.ports import NOTHING_TO_SHOW

Style = Literal["bold", "italic", "strike", "code", "pre", "link", "quote"]

INLINE_LIMIT = 2_000
DEEPEST = 100
"""Levels of lists and quotes in each other that the parser reads; it would drop what lies deeper."""
LONGEST_ADDRESS = 2_000
TAB = 4

FONT: frozenset[Style] = frozenset({"bold", "italic", "strike"})
RULE = "─" * 12

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TASK = re.compile(r"\[([ xX])\](?:\s|$)")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_WEB_ADDRESS = re.compile(rf"(?=.{{,{LONGEST_ADDRESS}}}$)https?://[^\s/?#]*[^\s/?#.]\.[^\s/?#.]\S*")
_LANGUAGE = re.compile(r"[\w+#.-]{1,32}")
_LINE_START = re.compile(r"\n(?!\n)")
_BREAK = re.compile(r"<br ?/?>", re.IGNORECASE)


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


@cache
def parser() -> MarkdownIt:
    """The dialect. Block structure only: inline text is parsed in bounded pieces by ``flatten``."""
    markdown = MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST})
    return markdown.enable(["table", "strikethrough"]).disable(["reference", "lheading", "inline"])


def flatten(markdown: str) -> Flat:
    """The whole reply as one flat text; ``NOTHING_TO_SHOW`` where it is blank or nothing but HTML comments."""
    if is_blank(_COMMENT.sub("", markdown)):
        return Flat(NOTHING_TO_SHOW)
    markdown = whole(markdown)
    tokens = parser().parse(markdown)
    if any(token.level >= DEEPEST - 1 for token in tokens):
        return Flat(markdown)
    writer = _Writer()
    _write_blocks(writer, tokens)
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
        self._append(_LINE_START.sub(f"\n{self.indent}", text) if self.indent else text)

    def outdent(self) -> None:
        """Go back to the line's beginning: what stands in a box of its own is not indented."""
        if self._pieces and self._pieces[-1] == f"\n{self.indent}":
            self._pieces[-1] = "\n"
            self._length -= len(self.indent)

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
            _write_list(writer, first, inner)
        case "blockquote_open":
            _write_quote(writer, inner)
        case "table_open":
            _write_table(writer, table_of(inner))
        case "fence" | "code_block":
            language = _LANGUAGE.match(first.info.strip())
            writer.outdent()
            code = first.content.removesuffix("\n").expandtabs(TAB)
            writer.verbatim(code, "pre", language.group() if language else "")
        case "hr":
            writer.write(RULE)
        case _:
            writer.write(first.content)


def _write_list(writer: _Writer, opening: Token, items: Sequence[Token]) -> None:
    """Its items line under line. Their numbers count on from the first, whatever their author wrote."""
    given = opening.attrGet("start")
    start = 1 if given is None else int(given)
    for number, item in enumerate(_siblings(items), start):
        writer.write("\n" if number > start else "")
        _write_item(writer, item, f"{number}{item[0].markup}" if opening.type == "ordered_list_open" else "•")


def _write_item(writer: _Writer, item: list[Token], sign: str) -> None:
    """One list item: its sign, then its blocks line under line, indented by as much as the sign is wide."""
    blocks = [*_siblings(item[1:-1])]
    task = _TASK.match(blocks[0][1].content) if blocks and blocks[0][0].type == "paragraph_open" else None
    if task:
        sign = "☐" if task[1] == " " else "☑"
        blocks[0][1].content = blocks[0][1].content[task.end() :]
    boxed = bool(blocks) and blocks[0][0].type in ("fence", "code_block", "blockquote_open", "table_open")
    outer = writer.indent
    writer.write(sign)
    writer.indent += " " * (len(sign) + 1)
    writer.write("\n" if boxed else " ")
    for number, block in enumerate(blocks):
        if number:
            writer.write("\n")
        _write_block(writer, block)
    writer.indent = outer


def _write_quote(writer: _Writer, blocks: Sequence[Token]) -> None:
    outer = writer.indent
    if not writer.inside("quote"):
        writer.outdent()
        writer.indent = ""
    writer.open("quote")
    _write_blocks(writer, blocks)
    writer.close("quote")
    writer.indent = outer


def _write_table(writer: _Writer, table: Table) -> None:
    """As even columns, or, where those are too wide for a phone or would hide a link, row for row."""
    cells = [[_written(cell) for cell in row] for row in table.rows]
    seen = [[" ".join(cell.text.split()) for cell in row] for row in cells]
    linked = any(span.style == "link" for row in cells[: MEASURED_ROWS + 1] for cell in row for span in cell.spans)
    if len(seen) == 1 or (makes_a_grid(seen) and not linked):
        writer.outdent()
        writer.verbatim("\n".join(grid(seen, table.right)), "pre")
        return
    for number, row in enumerate(table.rows[1:]):
        writer.write("\n\n" if number else "")
        _write_row(writer, seen[0], row)


def _write_row(writer: _Writer, names: Sequence[str], row: Sequence[str]) -> None:
    """One row as a paragraph: what it is about in bold, then each value on a line of its own with its column's name."""
    values = [(name, cell) for name, cell in zip(names, row, strict=True) if name or cell]
    for number, (name, cell) in enumerate(values):
        writer.write("\n" if number else "")
        if number == 0:
            writer.open("bold")
        writer.write(f"{name}: " if name else "")
        _write_inline(writer, cell or "–")
        if number == 0:
            writer.close("bold")


def _written(markdown: str) -> Flat:
    """Inline Markdown on its own."""
    writer = _Writer()
    _write_inline(writer, markdown)
    return writer.flat()


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


# Inline: what stands inside a line.


def _write_inline(writer: _Writer, content: str) -> None:
    for piece in bounded(content):
        tokens: list[Token] = []
        parser().inline.parse(piece, parser(), {}, tokens)
        _write_tokens(writer, tokens)


def bounded(content: str) -> Iterator[str]:
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
                writer.write(_BREAK.sub("\n", token.content))


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
