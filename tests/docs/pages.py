"""What the documentation says, as data: its headings, links, code and commands."""

import re
import shlex
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec import Struct

ROOT = Path(__file__).parents[2]

_PUNCTUATION = re.compile(r"[^\w\- ]")
_OURS = re.compile(r"\s*(\.venv/\w+/bin/)?(kabar|make) \w")


class Fence(Struct, frozen=True):
    """A block of code; ``line`` is that of the page on which it begins, from 1."""

    language: str
    text: str
    line: int


class Page(Struct, frozen=True):
    """``headings`` are levels and words, ``links`` targets as they are written, ``spans`` what stands in backticks,
    ``texts`` the pieces between, a link's words on their own."""

    name: str
    headings: tuple[tuple[int, str], ...]
    links: tuple[str, ...]
    spans: tuple[str, ...]
    texts: tuple[str, ...]
    fences: tuple[Fence, ...]

    @property
    def folder(self) -> Path:
        return (ROOT / self.name).parent

    @property
    def anchors(self) -> set[str]:
        """As GitHub makes them of headings."""
        return {_PUNCTUATION.sub("", words.lower()).replace(" ", "-") for _, words in self.headings}


@cache
def page(name: str) -> Page:
    tokens = MarkdownIt("commonmark").enable("table").parse((ROOT / name).read_text())
    inline = [child for token in tokens for child in token.children or ()]
    return Page(
        name,
        headings=tuple(_headings(tokens)),
        links=tuple(str(child.attrs[key]) for child in inline for key in ("href", "src") if key in child.attrs),
        spans=tuple(child.content for child in inline if child.type == "code_inline"),
        texts=tuple(child.content for child in inline if child.type == "text"),
        fences=tuple(
            Fence(token.info.partition(" ")[0], token.content, token.map[0] + 1)
            for token in tokens
            if token.type == "fence" and token.map
        ),
    )


def _headings(tokens: list[Token]) -> Iterator[tuple[int, str]]:
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            words = (child.content for child in inline.children or ())
            yield int(opening.tag[1:]), "".join(words)


def pages() -> list[str]:
    """Those that people read, and the decisions."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "simulator" / "README.md"]
    return sorted(str(file.relative_to(ROOT)) for file in found)


def commands(fence: Fence) -> Iterator[list[str]]:
    """The words of each command in a shell fence, or of ours in one that does not say what it is; comments left out."""
    for line in fence.text.replace("\\\n", " ").splitlines():
        for command in line.split("&&"):
            if fence.language == "sh" or (not fence.language and _OURS.match(command)):
                yield shlex.split(command, comments=True)
