"""A reply's Markdown as Slack messages.

Sent as ``markdown_text``, which is standard Markdown: Slack itself turns it into headings, tables, task lists and code,
and images into links. ``text`` would be mrkdwn, a dialect without tables, headings or links over bold, where every
model's ``**`` has to be translated and each of ``& < >`` escaped once and only once. So all that is left to do is to
split the source, and to keep it from calling people.
Source: docs.slack.dev/reference/methods/chat.postMessage, docs.slack.dev/reference/block-kit/blocks/markdown-block.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Literal

from markdown_it.token import Token
from msgspec import Struct

from bot.channels.markdown import NOTHING_TO_SHOW, flatten, is_blank, parser, well_formed
from bot.ports import Rendered

MESSAGE_LIMIT = 11_000
"""Characters. ``markdown_text`` takes 12,000; the rest is slack for what Slack adds when it builds blocks."""
LONGEST_LINE = MESSAGE_LIMIT - 500
LONGEST_MARKER = 100

# What would notify people: <!channel>, <!subteam^S1>, <@U1>. Not <!DOCTYPE html>, which is only code.
_CALL = re.compile(r"<((?:!(?:channel|here|everyone|group|subteam|date)|[@#][A-Za-z0-9])[^<>\n]*)(>?)", re.IGNORECASE)
_LANGUAGE = re.compile(r"[\w+#.-]{0,32}")


def render(markdown: str) -> list[Rendered]:
    """Never empty, and no part is blank: Slack refuses such a message. Code cut in two is a block in both parts."""
    if flatten(markdown).text == NOTHING_TO_SHOW:
        return [Rendered(NOTHING_TO_SHOW)]
    return [Rendered(part) for part in _split(without_calls(well_formed(markdown)))]


def without_calls(markdown: str) -> str:
    """The text with everything that would notify people shown as the characters it is made of."""
    return _CALL.sub(lambda call: f"&lt;{call[1]}{'&gt;' if call[2] else ''}", markdown)


class _Fence(Struct, frozen=True):
    """A fenced code block: how to open it again in another message, and how to close it where it stands."""

    opening: str
    marker: str
    closing: str


class _Line(Struct, frozen=True):
    """One line of the source. Where it is code, ``fence`` is its block and ``code`` the line without list or quote."""

    text: str
    fence: _Fence | None = None
    code: str = ""
    role: Literal["text", "opens", "code", "closes"] = "text"


def _split(markdown: str) -> list[str]:
    lines = [*_lines(markdown)]
    parts, start = [], 0
    while start < len(lines):
        end = _end(lines, start)
        part = _assembled(lines[start:end])
        if not is_blank(part):
            parts.append(part)
        start = end
    return parts


def _lines(markdown: str) -> Iterator[_Line]:
    """The source line by line, each knowing the code block it is in; lines too long for a message in pieces."""
    source = markdown.replace("\r\n", "\n").replace("\r", "\n")
    lines = [_Line(text) for text in source.split("\n")]
    for token in parser().parse(source):
        if token.type == "fence" and token.map and len(token.markup) <= LONGEST_MARKER:
            _mark_fence(lines, token, *token.map)
    for line in lines:
        yield from _pieces(line)


def _mark_fence(lines: list[_Line], token: Token, first: int, end: int) -> None:
    before, _, _ = lines[first].text.partition(token.markup)
    indent = "".join(char if char in "> \t" else " " for char in before)  # a bullet stands only on the first line
    language = _LANGUAGE.match(token.info.strip())
    fence = _Fence(
        opening=f"{token.markup}{language.group() if language else ''}",
        marker=token.markup,
        closing=f"{indent}{token.markup}",
    )
    code = token.content.removesuffix("\n").split("\n") if token.content else []
    lines[first] = _Line(lines[first].text, fence, role="opens")
    for number, text in enumerate(code, start=first + 1):
        lines[number] = _Line(lines[number].text, fence, text, "code")
    for number in range(first + 1 + len(code), end):
        lines[number] = _Line(lines[number].text, fence, role="closes")


def _pieces(line: _Line) -> Iterator[_Line]:
    text, code = line.text, line.code
    while len(text) > LONGEST_LINE:
        cut = text.rfind(" ", LONGEST_LINE // 2, LONGEST_LINE) + 1 or LONGEST_LINE
        yield _Line(text[:cut], line.fence, text[:cut], line.role)
        text = code = text[cut:]
    yield _Line(text, line.fence, code, line.role)


def _end(lines: Sequence[_Line], start: int) -> int:
    """Where the message that begins with line ``start`` ends: after the last empty line of its second half, if any."""
    paragraph = 0
    resumed = lines[start].fence if _resumes(lines[start]) else None
    size = len(resumed.opening) + 1 if resumed else 0
    for number in range(start, len(lines)):
        line = lines[number]
        size += len(line.text) + 1
        closing = len(line.fence.closing) + 1 if line.fence else 0
        if size + closing > MESSAGE_LIMIT and number > start:
            if paragraph:
                return paragraph
            opens = lines[number - 1].role == "opens" and number - 1 > start
            return number - 1 if opens else number  # no block that is opened and closed with nothing in it
        if line.fence is None and not line.text.strip() and size > MESSAGE_LIMIT // 2:
            paragraph = number + 1
    return len(lines)


def _assembled(lines: Sequence[_Line]) -> str:
    """The lines as one message that stands alone: code that began before it, or goes on after it, is closed in it."""
    fence = lines[0].fence if _resumes(lines[0]) else None
    resumed = list(takewhile(lambda line: line.fence is fence, lines)) if fence else []
    code = [line.code for line in resumed if line.role == "code"]
    text = [fence.opening, *code, fence.marker] if fence and code else []
    text += [line.text for line in lines[len(resumed) :]]
    last = lines[-1]
    if last.fence and last.fence is not fence and last.role != "closes":
        text.append(last.fence.closing)
    return "\n".join(text)


def _resumes(line: _Line) -> bool:
    """Whether a message that begins with this line begins inside a code block."""
    return line.role in ("code", "closes")
