"""A reply's Markdown as Discord messages. Discord's own Markdown knows no tables or images, and pings people: so the
text is made flat, as for Telegram, and each part written anew with Discord's marks.

Source: discord.com/developers/docs/resources/message; support.discord.com, "Markdown Text 101".
"""

import re
from collections.abc import Iterator, Sequence

from bot.channels.characters import units
from bot.channels.growing import healed
from bot.channels.markdown import Flat, Span, flatten
from bot.channels.splitting import split
from bot.ports import Rendered

MESSAGE_LIMIT = 2_000
SMALLEST = 50  # characters of a part that is not cut any smaller for its marks: it does without them

_ADDRESS_OR_SIGN = re.compile(r"(https?://\S+)|([\\*_~`|<\[]|^[#>+-])", re.MULTILINE)
_NO_FENCE = "`\u200b``"
_MARKS = {"bold": "**", "italic": "*", "strike": "~~"}


def render(markdown: str, *, growing: bool = False) -> list[Rendered]:
    """Never empty, and no part is blank. ``growing``: the text goes on, so what is open at its end is closed."""
    flat = flatten(healed(markdown) if growing else markdown)
    return [Rendered(text) for text in _parts(flat, MESSAGE_LIMIT - 100)]


def _parts(flat: Flat, limit: int) -> Iterator[str]:
    """Cut smaller where the marks are what makes a part too long."""
    for part in split(flat, limit, limit, lambda text: units(_escaped(text))):
        text = _written(part.text, 0, len(part.text), part.spans)
        if units(text) <= MESSAGE_LIMIT:
            yield text
        elif limit > SMALLEST:
            yield from _parts(part, limit // 2)
        else:
            yield _escaped(part.text)


def _written(text: str, start: int, end: int, spans: Sequence[Span]) -> str:
    """``text[start:end]`` with the marks of these spans, which nest."""
    pieces = []
    while spans:
        first, inside = spans[0], [span for span in spans[1:] if span.start < spans[0].end]
        pieces += [_escaped(text[start : first.start]), _marked(text, first, inside)]
        start, spans = first.end, spans[1 + len(inside) :]
    return "".join((*pieces, _escaped(text[start:end])))


def _marked(text: str, span: Span, inside: Sequence[Span]) -> str:
    plain = text[span.start : span.end]
    if span.style == "pre":
        return f"```{span.detail}\n{plain.replace('```', _NO_FENCE)}\n```"
    if span.style == "code":
        return f"`` {plain} ``" if "`" in plain else f"`{plain}`"
    shown = _written(text, span.start, span.end, inside)
    if span.style == "quote":
        return "\n".join(f"> {line}" for line in shown.split("\n"))
    if span.style == "link":
        return f"<{span.detail}>" if plain == span.detail else f"[{shown}](<{span.detail}>)"
    words, mark = shown.strip(), _MARKS[span.style]
    return shown.replace(words, f"{mark}{words}{mark}", 1) if words else shown


def _escaped(text: str) -> str:
    return _ADDRESS_OR_SIGN.sub(lambda found: found[1] or f"\\{found[2]}", text)
