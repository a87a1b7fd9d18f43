"""An export as a file of JSON Lines: what its lines are, and what is wrong with one. Pure.

    {"kabar": "0.1.0", "schema": 2, "at": 1700000000}                     which Kabar wrote it, and when
    {"type": "conversation", "key", "last", "since", "settings", "above"} a conversation; until the next one follow
    {"type": "reminder", "reminder"}                                        what is to be said there,
    {"type": "file", "key", "of", "media_type", "data"}                     each file before the entry that names it,
    {"type": "entry", "seq", "entry"}                                       and its record, from 1 to ``last``
    {"type": "profile", "of", "profile"}                                  what is known of a person or a chat
    {"type": "end", "lines"}                                              how many lines stand before it

The schema is that of all values in it, as in the stores (bot/schema.py): a later one reads what an earlier one wrote.
"""

from collections.abc import Iterable, Iterator

from msgspec import DecodeError, Struct, ValidationError, json

from bot.keeping import blob_key
from bot.messages import ChatSettings, Entry, Profile, Reminder
from bot.schema import ENTRY, PROFILE, REMINDER, SCHEMA, SETTINGS


class Header(Struct, frozen=True):
    kabar: str
    schema: int
    at: int


class ConversationLine(Struct, frozen=True, omit_defaults=True, tag="conversation"):
    """``last`` and ``since`` as in Head. ``above`` is the conversation that it is nested in, or ""."""

    key: str
    last: int
    since: int = 1
    settings: ChatSettings = ChatSettings()
    above: str = ""


class ReminderLine(Struct, frozen=True, tag="reminder"):
    reminder: Reminder


class FileLine(Struct, frozen=True, tag="file"):
    """``of`` is the conversation that it is kept for: its key says the same of both."""

    key: str
    of: str
    media_type: str
    data: bytes


class EntryLine(Struct, frozen=True, tag="entry"):
    seq: int
    entry: Entry


class ProfileLine(Struct, frozen=True, tag="profile"):
    """Its version is left out: each store counts its own."""

    of: str
    profile: Profile


class EndLine(Struct, frozen=True, tag="end"):
    lines: int


Line = ConversationLine | ReminderLine | FileLine | EntryLine | ProfileLine | EndLine

_line_decoder = json.Decoder(Line)
_header_decoder = json.Decoder(Header)


class Damage(Struct, frozen=True):
    """``line`` is counted from 1; ``problem`` is one sentence that says what to do, where that is not plain."""

    line: int
    problem: str

    def __str__(self) -> str:
        return f"{self.line}: {self.problem}"


VALUES = (("settings", SETTINGS), ("reminder", REMINDER), ("entry", ENTRY), ("profile", PROFILE))
"""The stored values that lines hold, by the fields they are in."""


def header_of(first: bytes) -> Header:
    """Raises ``msgspec.DecodeError``."""
    return _header_decoder.decode(first)


def decode_line(data: bytes, schema: int = SCHEMA) -> Line:
    """Raises ``msgspec.DecodeError``, of which ValidationError is a kind. ``schema`` is the file's."""
    if schema == SCHEMA:
        return _line_decoder.decode(data)
    line = json.decode(data)
    for field, kind in VALUES:
        if isinstance(line, dict) and field in line:
            line[field] = kind.read_from(schema, json.encode(line[field]))
    return _line_decoder.decode(json.encode(line))


def damages(lines: Iterable[bytes]) -> Iterator[Damage]:
    """All that is wrong with these lines, in order; nothing where all of them can be imported. Holds one at a time."""
    numbered = enumerate(lines, 1)
    first = next(numbered, (0, b""))[1]
    if problem := _unfit(first):
        yield Damage(1, problem)
        return
    schema = header_of(first).schema
    order, number = _Order(), 1
    for number, data in numbered:
        try:
            line = decode_line(data, schema)
        except DecodeError as error:
            order.lost_count()
            yield Damage(number, _unreadable(error))
            continue
        yield from (Damage(number, problem) for problem in order.problems(line, number))
    if not order.ended:
        yield Damage(number, "The file ends in the middle: copy it again, or export again.")


def _unfit(first: bytes) -> str:
    try:
        header = header_of(first)
    except DecodeError:
        return "This is not an export of Kabar: its first line must say which Kabar wrote it."
    if header.schema < 1:
        return f"There is no schema {header.schema}: export again."
    if header.schema > SCHEMA:
        return f"A newer Kabar ({header.kabar}, schema {header.schema}) wrote this: update Kabar, then import it."
    return ""


def _unreadable(error: DecodeError) -> str:
    kind = "something in it is not as Kabar writes it" if isinstance(error, ValidationError) else "it is no whole JSON"
    return f"This line is damaged, {kind} ({error}): export again."


class _Order:
    """Whether lines stand where they belong."""

    def __init__(self) -> None:
        self.ended = False
        self._in: ConversationLine | None = None
        self._seq = 0
        self._unsure = False
        """Whether a damaged line may have been one that now seems to be missing."""

    def lost_count(self) -> None:
        self._unsure = True

    def problems(self, line: Line, number: int) -> Iterator[str]:
        if self.ended:
            yield "Nothing may follow the end: two files were joined. Import them one by one."
        if isinstance(line, ConversationLine | ProfileLine | EndLine):
            yield from self._closed()
            self._in, self._seq, self._unsure = line if isinstance(line, ConversationLine) else None, 0, False
        elif self._in is None and not self._unsure:
            yield "It belongs to a conversation, but none was begun before it: export again."
            return
        match line:
            case EntryLine():
                if line.seq != self._seq + 1 and not self._unsure:
                    yield f"Entry {self._seq + 1} should stand here, not {line.seq}: export again."
                self._seq = line.seq
            case ReminderLine():
                if self._in is not None and line.reminder.place.conversation != self._in.key and not self._unsure:
                    yield "This reminder is of another conversation: export again."
            case FileLine():
                if blob_key(line.of, line.data) != line.key:
                    yield "This file is not the one that was exported: export again."
            case EndLine():
                self.ended = True
                if line.lines != number - 1:
                    yield f"{line.lines} lines should stand before the end, not {number - 1}: export again."

    def _closed(self) -> Iterator[str]:
        if self._in is not None and self._seq != self._in.last and not self._unsure:
            yield f"{self._in.key} should have {self._in.last} entries before this, not {self._seq}: export again."
