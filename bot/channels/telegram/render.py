"""A reply's Markdown as Telegram messages: plain text and message entities.

Entities, not ``parse_mode``: nothing has to be escaped, half-open markup can not be refused, and the length Telegram
counts is the length of the text. Source: core.telegram.org/bots/api#messageentity.
"""

from bot.channels.markdown import Flat, Span, Style, flatten, split
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


def render(markdown: str) -> list[Rendered]:
    """Never empty, and no part is blank: Telegram refuses such a message."""
    parts = split(flatten(markdown), MESSAGE_LIMIT, ENTITY_LIMIT, utf16_length)
    return [Rendered(part.text, _entities(part)) for part in parts]


def utf16_length(text: str) -> int:
    """Length in the units Telegram counts: characters beyond the Basic Multilingual Plane are two."""
    return len(text) + sum(char > "\uffff" for char in text)


def _entities(part: Flat) -> tuple[Json, ...]:
    return tuple(_entity(part.text, span) for span in part.spans)


def _entity(text: str, span: Span) -> Json:
    entity: Json = {
        "type": _TYPES[span.style],
        "offset": utf16_length(text[: span.start]),
        "length": utf16_length(text[span.start : span.end]),
    }
    if span.style == "link":
        entity["url"] = span.detail
    elif span.detail:
        entity["language"] = span.detail
    return entity
