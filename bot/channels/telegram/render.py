"""A reply's Markdown as Telegram messages: plain text and message entities (docs/decisions/0007-rendering.md).

The length Telegram counts is the length of the text. Source: core.telegram.org/bots/api#messageentity; what its server
does to a text: tdlib, ``MessageEntity.cpp``.
"""

from msgspec.structs import replace

from bot.channels.characters import units
from bot.channels.growing import healed
from bot.channels.markdown import Flat, Span, Style, flatten
from bot.channels.splitting import split
from bot.messages import Json
from bot.ports import Rendered

MESSAGE_LIMIT = 4_000
"""UTF-16 units. Telegram takes 4,096; the rest is slack for what it counts differently."""
ENTITY_LIMIT = 100
"""Entities Telegram keeps in one message; it drops the others without a word."""

_TYPES: dict[Style, str] = {
    "bold": "bold",
    "italic": "italic",
    "strike": "strikethrough",
    "code": "code",
    "pre": "pre",
    "link": "text_link",
    "quote": "blockquote",
}


def render(markdown: str, *, growing: bool = False) -> list[Rendered]:
    """Never empty, and no part is blank: Telegram refuses such a message. ``growing``: the text goes on, so that markup
    that is still open is shown as what it is going to be."""
    flat = flatten(healed(markdown) if growing else markdown)
    parts = map(_indented, split(flat, MESSAGE_LIMIT, ENTITY_LIMIT, units))
    return [Rendered(part.text, _entities(part)) for part in parts]


def _indented(part: Flat) -> Flat:
    """Telegram takes spaces from the beginning of a message and of a code block: a no-break space there holds them."""
    text = part.text
    for start in {0, *(span.start for span in part.spans if span.style == "pre")}:
        if text[start] == " ":
            text = f"{text[:start]}\u00a0{text[start + 1 :]}"
    return replace(part, text=text)


def _entities(part: Flat) -> tuple[Json, ...]:
    return tuple(_entity(part.text, span) for span in part.spans)


def _entity(text: str, span: Span) -> Json:
    entity: Json = {
        "type": _TYPES[span.style],
        "offset": units(text[: span.start]),
        "length": units(text[span.start : span.end]),
    }
    if span.style == "link":
        entity["url"] = span.detail
    elif span.detail:
        entity["language"] = span.detail
    return entity
