"""A web page as Markdown, read in a process of its own (``bot/apart.py``): Source in, Page out, as MessagePack.

The reader is html-to-markdown: Rust, no model, no network. What a person would not see is left out, because it is where
pages hide words for machines; what is around the page (menus, footers) is left out unless nothing else is there.
"""

import codecs
import html
import re

from msgspec import Struct, msgpack

from bot.reading.limits import LONGEST_TEXT
from bot.reading.plain import plain
from bot.reading.process import serve

AROUND = [
    "nav",
    "footer",
    "dialog",
    "[role=navigation]",
    "[role=contentinfo]",
    "[role=search]",
    "[role=dialog]",
    "[aria-hidden=true]",
    "#onetrust-consent-sdk",
    "#CybotCookiebotDialog",
    "#usercentrics-root",
    "#didomi-host",
]
A_LITTLE = 200
"""Characters: a page with less to say is one whose words stand in what was left out."""
LONGEST_TITLE = 300

_META = re.compile(rb"<meta[^>]{0,200}?charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([\w.:-]{1,40})", re.IGNORECASE)
_META_WITHIN = 4_096
"""Bytes in which a page says its encoding; the standard says 1,024."""
_TITLE = re.compile(r"<title[^>]{0,500}>([^<]{0,2000})", re.IGNORECASE)
_NO_WORDS = re.compile(r"!\[\s*\]\([^()\s]{0,4000}\)|\[\s*\]\([^()\s]{0,4000}\)")
"""Pictures and links without a word."""
_NO_ADDRESS = re.compile(
    r"\[([^\[\]]{0,500})\]\((?:javascript|data|vbscript):[^()\s]{0,4000}(?:\([^()\s]{0,4000}\))?\)"
)
_BLANK = re.compile(r"\n[ \t]*(?:\n[ \t]*){2,}")


class Source(Struct, frozen=True):
    """``charset`` is what the server says; ``address`` is what links in it are relative to."""

    data: bytes
    address: str
    charset: str = ""


class Page(Struct, frozen=True):
    title: str = ""
    text: str = ""


def read(source: Source) -> Page:
    """Its text is "" where the page shows none without being run."""
    words = plain(decoded(source.data, source.charset))
    found = _TITLE.search(words)
    title = " ".join(html.unescape(found[1]).split())[:LONGEST_TITLE] if found else ""
    text = _markdown(words, source.address, AROUND)
    if len(text) < A_LITTLE:
        text = max(_markdown(words, source.address, []), text, key=len)
    return Page(plain(title), plain(text)[:LONGEST_TEXT])


def _markdown(words: str, address: str, left_out: list[str]) -> str:
    from html_to_markdown import ConversionOptions, PreprocessingOptions, convert

    options = ConversionOptions(
        base_url=address,
        compact_tables=True,
        exclude_selectors=left_out,
        extract_metadata=False,
        inline_data_media="alt_text_only",
        preprocessing=PreprocessingOptions(enabled=bool(left_out)),
    )
    text = _NO_WORDS.sub("", convert(words, options).content or "")
    return _BLANK.sub("\n\n", _NO_ADDRESS.sub(r"\1", text)).strip()


def decoded(data: bytes, charset: str) -> str:
    """As browsers do it: the server's word, then the page's own, then what it looks like."""
    named = _META.search(data[:_META_WITHIN])
    marked = data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    for name in () if marked else (charset, named[1].decode() if named else ""):
        if name and (encoding := known(name)):
            return data.decode(encoding, "replace")
    from bot.reading.text import decoded as guessed

    return guessed(data)


def known(name: str) -> str:
    """Python's name of a text encoding, "" where it knows none. Latin-1 means Windows' on the web (WHATWG)."""
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        return ""
    if not found._is_text_encoding:
        return ""
    return {"iso8859-1": "cp1252", "ascii": "cp1252"}.get(found.name, found.name)


if __name__ == "__main__":
    serve(lambda data: msgpack.encode(read(msgpack.decode(data, type=Source))))
