"""Inline markup across the border of two messages: closed at the end of one, opened again where the next begins."""

from collections.abc import Iterator, Sequence

from markdown_it.token import Token
from msgspec import Struct

from bot.channels.markdown import parser

_REACH = 1_500
"""Characters on each side of a cut that are read to know what is open there."""
_LONGEST = 400
"""Characters of markup that are added on each side; more is left as it is."""
_SIGN = "\u2004\u205f\u2004"
"""Stands at the cut while it is read: white space, which the rules for emphasis take for a gap between words."""


class Seam(Struct, frozen=True):
    """What a message ends with, and what the next one begins with."""

    closing: str = ""
    opening: str = ""


def seam_at(source: str, at: int) -> Seam:
    """The seam of a cut at ``at``, which is behind white space, in inline Markdown."""
    first = max(0, at - _REACH)
    before = source[first:at] if first == 0 else source[first:at].partition(" ")[2]
    after = source[at : at + _REACH]
    if not before[-1:].isspace():
        return Seam()
    tokens: list[Token] = []
    parser().inline.parse(f"{before}{_SIGN}{after}", parser(), {}, tokens)
    marks = [*_open_at_sign(tokens)]
    seam = Seam("".join(closing for _, closing in reversed(marks)), "".join(opening for opening, _ in marks))
    return seam if max(len(seam.closing), len(seam.opening)) <= _LONGEST else Seam()


def _open_at_sign(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """Opening and closing marks of what the sign lies in, the outermost first."""
    at = next((number for number, token in enumerate(tokens) if _SIGN in token.content), None)
    if at is None:
        return
    opened: list[tuple[str, str]] = []
    for token in tokens[:at]:
        if token.nesting == 1:
            opened.append(("[", _address(token, "href")) if token.type == "link_open" else (token.markup, token.markup))
        elif token.nesting == -1:
            opened.pop()
    yield from opened
    if tokens[at].type == "code_inline":
        yield tokens[at].markup, tokens[at].markup
    elif tokens[at].type == "image":
        yield "![", _address(tokens[at], "src")


def _address(token: Token, attribute: str) -> str:
    return f"](<{token.attrGet(attribute) or ''}>)"
