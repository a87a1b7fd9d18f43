"""What a reader of Markdown sees, told by markdown-it's own HTML: the judge of both renderers, which do not use it."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

from markdown_it import MarkdownIt
from msgspec import Struct

from bot.channels.characters import is_blank

_WEB = re.compile(r"https?://[^\s/?#]+\.[^\s/?#]+\S*")
_BOXES = {"[ ] ": "☐", "[x] ": "☑", "[X] ": "☑"}


class Seen(Struct, frozen=True):
    """A stretch of text without white space; ``rows`` is the same table told row for row, "" where it is none."""

    text: str
    rows: str = ""


def seen(markdown: str) -> list[Seen]:
    """The text a reader sees, tables apart."""
    dialect = MarkdownIt("commonmark", {"html": False, "maxNesting": 10_000})
    dialect.enable(["table", "strikethrough"]).disable(["reference", "lheading"])
    reader = _Reader()
    reader.feed(dialect.render(markdown))
    return [*reader.finished()]


def squeezed(text: str) -> str:
    """Without white space, what nobody sees and the lines of tables."""
    return "".join(char for char in text if char not in "│┼─" and not is_blank(char))


def differs(text: str, expected: list[Seen]) -> str:
    """Where the text is not what is expected, "" where it is."""
    rest = squeezed(text)
    for stretch in expected:
        fitting = next((way for way in (stretch.text, stretch.rows) if way and rest.startswith(way)), None)
        if fitting is None and (stretch.text or stretch.rows):
            return f"expected {stretch.text[:80]!r}, found {rest[:80]!r}"
        rest = rest[len(fitting or "") :]
    return f"found too much: {rest[:80]!r}" if rest else ""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self._stretches: list[Seen] = []
        self._text = ""
        self._numbers: list[int | None] = []
        self._address = ""
        self._link_at = 0
        self._sign_at: int | None = None
        self._rows: list[list[str]] = []
        self._outside = ""

    def finished(self) -> Iterator[Seen]:
        self._end_stretch()
        yield from self._stretches

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        match tag:
            case "ol" | "ul":
                self._numbers.append(int(given.get("start", 1)) if tag == "ol" else None)
            case "li":
                self._begin_item()
            case "a":
                self._address, self._link_at = given["href"], len(self._text)
            case "img":
                self._text += given["alt"] or "image"
                if not self._address:
                    self._tell(given["src"], given["alt"])
            case "table":
                self._outside, self._text, self._rows = self._text, "", []
            case "tr":
                self._rows.append([])
            case "td" | "th":
                self._text = ""

    def handle_endtag(self, tag: str) -> None:
        match tag:
            case "ol" | "ul":
                self._numbers.pop()
            case "a":
                self._tell(self._address, self._text[self._link_at :])
                self._address = ""
            case "td" | "th":
                self._rows[-1].append(squeezed(self._text))
            case "table":
                self._end_table()

    def handle_data(self, data: str) -> None:
        if self._sign_at is not None and data.strip():
            box = _BOXES.get(data[:4].ljust(4) if data.strip() in ("[ ]", "[x]") else data[:4])
            if box:
                self._text, data = self._text[: self._sign_at] + box, data[4:]
            self._sign_at = None
        self._text += re.sub(r"<br ?/?>", "\n", data)

    def _begin_item(self) -> None:
        number = self._numbers[-1]
        self._sign_at = len(self._text)
        self._text += "•" if number is None else f"{number}."
        self._numbers[-1] = None if number is None else number + 1

    def _tell(self, address: str, label: str) -> None:
        """An address that no chat opens is written out."""
        shown = address.removeprefix("mailto:")
        if not _WEB.fullmatch(address) and shown and shown != label:
            self._text += f"({shown})"

    def _end_stretch(self) -> None:
        self._stretches.append(Seen(squeezed(self._text)))
        self._text = ""

    def _end_table(self) -> None:
        self._text = self._outside
        self._end_stretch()
        head, *rows = self._rows
        told = "".join(
            (f"{name}:" if name else "") + (cell or "–")
            for row in rows
            for name, cell in zip(head, row, strict=True)
            if name or cell
        )
        self._stretches.append(Seen("".join(map("".join, self._rows)), told))
