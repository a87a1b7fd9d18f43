"""What a server answered, as the model and the person get it: words, pictures to look at, files; never base64."""

import json
import mimetypes
from collections.abc import Iterable, Sequence
from typing import Any

from bot.errors import FileRefused
from bot.files import Kept
from bot.mcp.port import Answered, Piece, Question
from bot.messages import File, Json
from bot.notes import words_of
from bot.ports import Reader
from bot.toolkit import Output, ToolContext, ToolFault, readable
from bot.web.words import harmless

MOST_PICTURES = 4
"""That the model sees of one result; the others are files."""
MOST_FILES = 10
LARGEST_FILE = 20_000_000
"""Bytes."""

ENDED = "The call was ended, because the server asks the person something first:"
ASKED = """{ended}
{questions}
It was told that nobody answered, and said: {said}

To go on, call {tool} with the name of this tool, the same arguments and the answers. Of what only the person knows, \
ask them first, in your own words; they see the answers and confirm them before they are sent. Never make one up."""


async def output(answered: Answered, context: ToolContext, reader: Reader, *, answer_tool: str) -> Output:
    """Raises ToolFault where the server says that the call failed, or asks something first."""
    if answered.questions:
        questions = "\n".join(map(_asked, answered.questions))
        said = _words(answered.pieces) or "nothing"
        raise ToolFault(ASKED.format(ended=ENDED, questions=questions, said=said[:500], tool=answer_tool))
    if answered.failed:
        raise ToolFault(_words(answered.pieces) or "The server says that it failed, and not why.")
    shown = await shown_pieces(answered.pieces, context, reader)
    return Output("\n\n".join(filter(None, (str(shown.value), _structured(answered)))), shown.pictures, shown.files)


def ended_by_a_question(result: Json) -> bool:
    """Whether that is what a call's result says."""
    return words_of(result).startswith(ENDED)


async def shown_pieces(pieces: Sequence[Piece], context: ToolContext, reader: Reader) -> Output:
    """Pictures to look at, files for the person, and a line about each between the words."""
    lines: list[str] = []
    pictures: list[Kept] = []
    files: list[File] = []
    for piece in pieces:
        if piece.kind == "text":
            lines.append(harmless(piece.text))
        elif len(files) >= MOST_FILES or len(piece.data) > LARGEST_FILE:
            lines.append(f"({_name(piece)} is left out: it is too large, or there are too many files.)")
        else:
            line, kept, file = await _file(piece, context, reader, shown=len(pictures) < MOST_PICTURES)
            lines.append(line)
            pictures += [kept] if kept else []
            files += [file] if file else []
    return Output("\n\n".join(filter(None, lines)), tuple(pictures), tuple(files))


async def _file(
    piece: Piece, context: ToolContext, reader: Reader, *, shown: bool
) -> tuple[str, Kept | None, File | None]:
    """A line about it, what the model sees of it, and what the person gets."""
    name, data, media_type, width, height = _name(piece), piece.data, piece.media_type, 0, 0
    if piece.kind == "picture" and shown:
        try:
            read = await reader.read(data)
        except FileRefused as why:
            return f"({name} can not be shown: {why})", None, None
        data, media_type, width, height = read.data, read.media_type, read.width, read.height
    try:
        file = await context.files.keep(name, data, media_type)
    except ValueError:  # there is no place for files here
        return f"({name} can not be kept here.)", None, None
    sent = ", sent to the person" if piece.sent else ""
    if width:
        kept = Kept(file.blob, file.name, media_type, file.size, width=width, height=height)
        return f"[{file.name}, {width} x {height} pixels, shown to you below{sent}]", kept, file if piece.sent else None
    return f"[{file.name}, {media_type}, {file.size} bytes{sent}]", None, file if piece.sent else None


def _name(piece: Piece) -> str:
    kind = piece.media_type.partition(";")[0].strip()
    shape = kind.partition("/")[2]
    extension = mimetypes.guess_extension(kind) or (f".{shape}" if shape.isalnum() and len(shape) < 6 else "")
    name = piece.name or piece.kind
    return name if "." in name else f"{name}{extension}"


def _words(pieces: Iterable[Piece]) -> str:
    return "\n\n".join(harmless(piece.text) for piece in pieces if piece.kind == "text" and piece.text)


def _structured(answered: Answered) -> str:
    """The result as data, where the words do not say it already."""
    if answered.structured is None or any(_is(piece.text, answered.structured) for piece in answered.pieces):
        return ""
    return harmless(readable(answered.structured))


def _is(text: str, value: Any) -> bool:
    """Whether this text is that value; a lone one may be wrapped, as ``{"result": …}``."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        told = text
    return told == value or (isinstance(value, dict) and list(value) == ["result"] and value["result"] in (told, text))


def _asked(question: Question) -> str:
    if question.url:
        return f"- {harmless(question.message)} It wants them to open {harmless(question.url)}: tell them this address."
    return f"- question: {harmless(question.message)}\n  fields: {harmless(readable(question.schema))}"
