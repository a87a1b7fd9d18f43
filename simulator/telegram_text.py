"""Telegram's rules for text: UTF-16 lengths, entities, HTML and MarkdownV2, with the wording of its refusals.

Written after the behaviour of the open-source server code (tdlib/td, ``MessageEntity.cpp``) and the Bot API's page on
formatting. Offsets and lengths count UTF-16 code units, byte offsets in refusals count UTF-8 bytes.
"""

import re
from bisect import bisect_left
from html import unescape
from typing import Any

Json = dict[str, Any]

TEXT_LIMIT = 4096
CAPTION_LIMIT = 1024
ENTITY_LIMIT = 100
"""Entities of one message; Telegram quietly drops those beyond."""


class BadRequest(Exception):
    """Refused with 400; the text is the description after "Bad Request: "."""


def units(text: str) -> int:
    """Length in UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def formatted(
    text: str, entities: list[Json] | None, parse_mode: str, limit: int = TEXT_LIMIT
) -> tuple[str, list[Json]]:
    """The text and entities Telegram keeps of what was sent. Raises BadRequest, also for more than ``limit`` units.

    Explicit entities win over ``parse_mode``. Whitespace around the text is cut off, and the entities with it; nothing
    is left of a text in which nobody would see anything.
    """
    if entities:
        entities = _checked(text, entities)
    elif parse_mode:
        text, entities = _parsed(text, parse_mode)
    text, kept = _cleaned(text, _fixed(entities or []))
    text, kept = _trimmed(text, _showing(text, kept))
    if not _EMPTY.sub("", text):
        return "", []
    if units(text) > limit:
        raise BadRequest("message is too long" if limit == TEXT_LIMIT else "message caption is too long")
    return text, kept[:ENTITY_LIMIT]


def _checked(text: str, entities: list[Json]) -> list[Json]:
    encoded = text.encode("utf-16-le", "surrogatepass")
    last = len(encoded) // 2
    for entity in entities:
        start, length = entity.get("offset"), entity.get("length")
        if not isinstance(entity.get("type"), str) or not isinstance(start, int) or not isinstance(length, int):
            raise BadRequest("can't parse entities: can't parse MessageEntity")
        end = start + length
        if start < 0 or length <= 0 or end > last:
            raise BadRequest(
                f"entity beginning at UTF-16 offset {start} ends after the end of the text at UTF-16 offset {last}"
            )
        if _splits_symbol(encoded, start):
            raise BadRequest(f"entity begins in a middle of a UTF-16 symbol at UTF-16 offset {start}")
        if _splits_symbol(encoded, end):
            raise BadRequest(
                f"entity beginning at UTF-16 offset {start} ends in a middle of a UTF-16 symbol at UTF-16 offset {end}"
            )
    return _in_order(entities)


def _splits_symbol(encoded: bytes, offset: int) -> bool:
    """Whether a UTF-16 offset lies between the two halves of a character."""
    high_byte = encoded[2 * offset + 1 : 2 * offset + 2]
    return bool(high_byte) and 0xDC <= high_byte[0] <= 0xDF


_FONTS = {"bold", "italic", "underline", "strikethrough", "spoiler"}
_CODE = {"code", "pre"}
_QUOTES = {"blockquote", "expandable_blockquote"}
_LINK = re.compile(r"(?:tg|ton|tonsite)://.|(?:(?:https?|ftp)://)?(?:[^\s/?#@]*@)?[^\s/?#@]*\.[^\s/?#]", re.IGNORECASE)
"""Where a link may lead: a host without a dot is none."""


def _fixed(entities: list[Json]) -> list[Json]:
    """What may stand together: neither code nor links lie inside anything of their kind, or across the border of a
    quote; quotes lie in no quote; fonts end where code begins. What breaks a rule is dropped without a word."""
    entities = [entity for entity in _in_order(entities) if entity["type"] != "text_link" or _LINK.match(entity["url"])]
    quotes = _apart([entity for entity in entities if entity["type"] in _QUOTES])
    others = _apart([entity for entity in entities if entity["type"] not in _QUOTES | _FONTS])
    others = [entity for entity in others if not any(_crosses(entity, quote) for quote in quotes)]
    codes = [entity for entity in others if entity["type"] in _CODE]
    fonts = [piece for entity in entities if entity["type"] in _FONTS for piece in _around(entity, codes)]
    return _in_order([*quotes, *others, *fonts])


def _apart(entities: list[Json]) -> list[Json]:
    kept: list[Json] = []
    for entity in entities:
        if not kept or entity["offset"] >= _end(kept[-1]):
            kept.append(entity)
    return kept


def _crosses(entity: Json, quote: Json) -> bool:
    """Whether it reaches into the quote and out of it."""
    inside = quote["offset"] <= entity["offset"] and _end(entity) <= _end(quote)
    return not inside and entity["offset"] < _end(quote) and _end(entity) > quote["offset"]


def _around(font: Json, codes: list[Json]) -> list[Json]:
    """The pieces of it that lie between the code."""
    pieces, start = [], font["offset"]
    for code in codes:
        if start < _end(code) and code["offset"] < _end(font):
            pieces.append({**font, "offset": start, "length": code["offset"] - start})
            start = _end(code)
    pieces.append({**font, "offset": start, "length": _end(font) - start})
    return [piece for piece in pieces if piece["length"] > 0]


def _end(entity: Json) -> int:
    return int(entity["offset"] + entity["length"])


_TAKEN_OUT = re.compile("[\r\u2028-\u202e\u030a\u0333\u033f]")
_MADE_A_SPACE = re.compile("[\x00-\x09\x0b-\x1f]")
_EMPTY = re.compile(
    "[ \n\u00a0\u1680\u180e\u2000-\u200f\u202e\u202f\u205f\u2800\u3000\ufeff\ufffc\U000e0000-\U000e007f]"
)


def _cleaned(text: str, entities: list[Json]) -> tuple[str, list[Json]]:
    """Without the characters that Telegram takes out, and with spaces for tabs and other control characters."""
    gone = [units(text[: found.start()]) for found in _TAKEN_OUT.finditer(text)]

    def moved(offset: int) -> int:
        return offset - bisect_left(gone, offset)

    kept = [{**entity, **_range(moved(entity["offset"]), moved(_end(entity)))} for entity in entities]
    text = _MADE_A_SPACE.sub(" ", _TAKEN_OUT.sub("", text))
    return text, [entity for entity in kept if entity["length"] > 0]


def _range(start: int, end: int) -> Json:
    return {"offset": start, "length": end - start}


def _showing(text: str, entities: list[Json]) -> list[Json]:
    """Without the white space at the beginning of each, and without those that are nothing else."""
    encoded = text.encode("utf-16-le", "surrogatepass")
    kept = []
    for entity in entities:
        inside = encoded[2 * entity["offset"] : 2 * _end(entity)].decode("utf-16-le", "surrogatepass")
        start = entity["offset"] + len(inside) - len(inside.lstrip(" \n"))
        if start < _end(entity):
            kept.append({**entity, **_range(start, _end(entity))})
    return _in_order(kept)


def _trimmed(text: str, entities: list[Json]) -> tuple[str, list[Json]]:
    """Spaces and line breaks go from the end, and from the beginning up to the first entity."""
    shift = min([len(text) - len(text.lstrip(" \n")), *(entity["offset"] for entity in entities[:1])])
    text = text[shift:].rstrip(" \n")
    end = units(text)
    kept = []
    for entity in entities:
        start = entity["offset"] - shift
        stop = min(end, _end(entity) - shift)
        if stop > start:
            kept.append({**entity, **_range(start, stop)})
    return text, kept


def _parsed(text: str, parse_mode: str) -> tuple[str, list[Json]]:
    match parse_mode.lower():
        case "html":
            return _Html(text).result()
        case "markdownv2":
            return _MarkdownV2(text).result()
    raise BadRequest("unsupported parse_mode")


def _refuse(problem: str) -> BadRequest:
    return BadRequest(f"can't parse entities: {problem}")


_TAGS = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "span": "spoiler",
    "code": "code",
    "pre": "pre",
    "a": "text_link",
    "blockquote": "blockquote",
    "tg-emoji": "custom_emoji",
}


_TAG = re.compile(r"<(?P<end>/?)(?P<name>[^\s>/]*)(?P<attributes>[^>]*)>")
_ATTRIBUTE = re.compile(r"""([\w-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?""")
_REFERENCE = re.compile(r"&(?:lt|gt|amp|quot|#\d+|#[xX][0-9a-fA-F]+);")
"""Telegram knows these four names only; others stay as they were written."""


class _Html:
    """Telegram's subset of HTML. Unlike a browser it refuses what it does not know."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0
        self._text = ""
        self._entities: list[Json] = []
        self._open: list[tuple[str, Json]] = []

    def result(self) -> tuple[str, list[Json]]:
        while (tag_at := self._source.find("<", self._at)) >= 0:
            self._plain(tag_at)
            tag = _TAG.match(self._source, tag_at)
            if not tag:
                raise _refuse(f"Unclosed start tag at byte offset {self._byte_offset()}")
            if tag["end"]:
                self._end(tag["name"].lower())
            else:
                self._begin(tag["name"].lower(), _attributes(tag["attributes"]))
            self._at = tag.end()
        self._plain(len(self._source))
        if self._open:
            raise _refuse(f'Can\'t find end tag corresponding to start tag "{self._open[-1][0]}"')
        return self._text, _in_order(self._entities)

    def _byte_offset(self) -> int:
        return len(self._source[: self._at].encode())

    def _plain(self, end: int) -> None:
        self._text += _REFERENCE.sub(lambda found: unescape(found.group()), self._source[self._at : end])
        self._at = end

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        if name not in _TAGS or (name == "span" and attributes.get("class") != "tg-spoiler"):
            raise _refuse(f'Unsupported start tag "{name}" at byte offset {self._byte_offset()}')
        entity: Json = {"type": _TAGS[name], "offset": units(self._text)}
        language = attributes.get("class", "")
        if name == "a":
            entity["url"] = attributes.get("href", "")
        elif name == "blockquote" and "expandable" in attributes:
            entity["type"] = "expandable_blockquote"
        elif name == "tg-emoji":
            entity["custom_emoji_id"] = attributes.get("emoji-id", "")
        elif name == "code" and language.startswith("language-") and self._open and self._open[-1][0] == "pre":
            self._open[-1][1]["language"] = language.removeprefix("language-")
        self._open.append((name, entity))

    def _end(self, name: str) -> None:
        if not self._open:
            raise _refuse(f"Unexpected end tag at byte offset {self._byte_offset()}")
        expected, entity = self._open.pop()
        if name != expected:
            raise _refuse(
                f'Unmatched end tag at byte offset {self._byte_offset()}, expected "</{expected}>", found "</{name}>"'
            )
        entity["length"] = units(self._text) - entity["offset"]
        inside_pre = name == "code" and self._open and self._open[-1][0] == "pre"
        if entity["length"] and entity.get("url") != "" and not inside_pre:
            self._entities.append(entity)


def _attributes(source: str) -> dict[str, str]:
    return {name.lower(): unescape(a or b or c) for name, a, b, c in _ATTRIBUTE.findall(source)}


def _in_order(entities: list[Json]) -> list[Json]:
    return sorted(entities, key=lambda entity: (entity["offset"], -entity["length"]))


_RESERVED = "_*[]()~`>#+-=|{}.!"
_STYLES = {"*": "bold", "_": "italic", "__": "underline", "~": "strikethrough", "||": "spoiler"}
_FENCE_LANGUAGE = re.compile(r"([^\s`]+)\n")


class _MarkdownV2:
    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0
        self._text = ""
        self._entities: list[Json] = []
        self._open: list[tuple[str, Json, int]] = []
        """Mark, entity without length, and the byte offset of the mark."""

    def result(self) -> tuple[str, list[Json]]:
        while self._at < len(self._source):
            self._step()
        self._end_quote()
        if self._open:
            mark, entity, offset = self._open[-1]
            name = {"[": "TextUrl"}.get(mark, entity["type"].title())
            raise _refuse(f"Can't find end of {name} entity at byte offset {offset}")
        return self._text, _in_order(self._entities)

    def _byte_offset(self) -> int:
        return len(self._source[: self._at].encode())

    def _next_is(self, text: str) -> bool:
        return self._source.startswith(text, self._at)

    def _step(self) -> None:
        character = self._source[self._at]
        if character == "\\" and self._source[self._at + 1 : self._at + 2].isascii():
            self._text += self._source[self._at + 1 : self._at + 2] or "\\"
            self._at += 2
        elif self._next_is("`"):
            self._code("```" if self._next_is("```") else "`")
        elif character == ">" and self._text[-1:] in ("", "\n"):
            self._at += 1
            if not any(mark == ">" for mark, _, _ in self._open):
                self._begin(">", "blockquote")
        elif character == "[":
            self._begin("[", "text_link")
            self._at += 1
        elif character == "]" and self._open and self._open[-1][0] == "[":
            self._link()
        elif mark := next((mark for mark in ("||", "__", "*", "_", "~") if self._next_is(mark)), None):
            self._style(mark)
        elif character in _RESERVED:
            raise _refuse(f"Character '{character}' is reserved and must be escaped with the preceding '\\'")
        else:
            if character == "\n" and not self._source.startswith(">", self._at + 1):
                self._end_quote()
            self._text += character
            self._at += 1

    def _begin(self, mark: str, kind: str) -> None:
        self._open.append((mark, {"type": kind, "offset": units(self._text)}, self._byte_offset()))

    def _end(self) -> None:
        _, entity, _ = self._open.pop()
        entity["length"] = units(self._text) - entity["offset"]
        if entity["length"]:
            self._entities.append(entity)

    def _end_quote(self) -> None:
        if self._open and self._open[-1][0] == ">":
            self._end()

    def _style(self, mark: str) -> None:
        if self._open and self._open[-1][0] == mark:
            self._end()
        else:
            self._begin(mark, _STYLES[mark])
        self._at += len(mark)

    def _code(self, fence: str) -> None:
        start = self._at + len(fence)
        end = start
        while not self._source.startswith(fence, end):
            if end >= len(self._source):
                name = "Pre" if fence == "```" else "Code"
                raise _refuse(f"Can't find end of {name} entity at byte offset {self._byte_offset()}")
            end += 2 if self._source[end] == "\\" else 1
        body = self._source[start:end]
        entity: Json = {"type": "pre" if fence == "```" else "code", "offset": units(self._text)}
        if fence == "```":
            if language := _FENCE_LANGUAGE.match(body):
                entity["language"] = language[1]
                body = body[language.end() :]
            body = body.removeprefix("\n")
        self._text += re.sub(r"\\([\x00-\x7f])", r"\1", body)
        entity["length"] = units(self._text) - entity["offset"]
        if entity["length"]:
            self._entities.append(entity)
        self._at = end + len(fence)

    def _link(self) -> None:
        self._at += 1
        url = ""
        if self._next_is("("):
            end = self._at + 1
            while end < len(self._source) and self._source[end] != ")":
                end += 2 if self._source[end] == "\\" else 1
            if end >= len(self._source):
                raise _refuse(f"Can't find end of a URL at byte offset {self._byte_offset()}")
            url = re.sub(r"\\([\x00-\x7f])", r"\1", self._source[self._at + 1 : end])
            self._at = end + 1
        if url:
            self._open[-1][1]["url"] = url
            self._end()
        else:
            self._open.pop()


_SPOTTED = re.compile(
    r"(?P<mention>(?<!\w)@\w{4,32})|(?P<bot_command>(?<![\w/])/[A-Za-z]\w{0,31}(?:@\w+)?)|(?P<url>https?://\S+)"
)


def spotted(text: str) -> list[Json]:
    """The entities Telegram finds by itself in what a person types: mentions, commands, links."""
    return [
        {"type": found.lastgroup, "offset": units(text[: found.start()]), "length": units(found.group())}
        for found in _SPOTTED.finditer(text)
    ]
