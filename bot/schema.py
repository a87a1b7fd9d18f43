"""Stored values through the versions of Kabar: which one wrote a value, and how an older one's is read today. Pure, but
for a line in the log where one is damaged.

A stored value is JSON that ends with the number of the schema it was written in: ``{"text":"hi","v":2}``. The first
schema wrote none. Reading brings a value from its schema to today's, one step of MIGRATIONS at a time; what
``kabar migrate`` does is the same to everything at once, and written back.

To change a stored struct: give a new field a default, raise SCHEMA, add what an older value lacks to MIGRATIONS where
the default is not right for it, and run ``scripts/schema.py`` (tests/contracts/test_schema.py says when).

What a newer schema wrote is not touched: to read it raises NewerSchema, and a conversation or a profile that a newer
Kabar wrote is claimed or changed by none that would drop what it does not know.
"""

import logging
import re
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from msgspec import DecodeError, Struct, ValidationError, json

from bot.errors import NewerSchema
from bot.messages import (
    ChatSettings,
    Entry,
    Inbound,
    Installation,
    Json,
    Profile,
    Reminder,
    ToolRun,
    Turn,
    decode_entry,
    decode_inbound,
    decode_installation,
    decode_profile,
    decode_reminder,
    decode_settings,
    decode_tool_run,
    decode_turn,
    encode,
)

SCHEMA = 3
"""Of what is written from now on."""

T = TypeVar("T", bound=Struct)

_MARK = b',"v":%d}' % SCHEMA
_MARKED = re.compile(rb'[{,]"v":(\d{1,9})\}$')

log = logging.getLogger(__name__)


class Kind(Struct, Generic[T], frozen=True):
    """One kind of stored value; its ``name`` is what MIGRATIONS call it by."""

    name: str
    decode: Callable[[bytes], T]

    def read(self, data: bytes) -> T:
        """Raises NewerSchema, and ``msgspec.DecodeError`` where it is damaged."""
        if data.endswith(_MARK):
            return self.decode(data)
        return self.read_from(schema_of(data), data)

    def spared(self, data: bytes, of: str) -> T | None:
        """The same; None where it is damaged, with a line in the log: one value of a conversation must not end it."""
        try:
            return self.read(data)
        except DecodeError:
            log.error("conversation=<%s> | a damaged %s is left out: kabar migrate --check names it", of, self.name)
            return None

    def read_from(self, schema: int, data: bytes) -> T:
        """The same, of a value that does not say its schema itself."""
        if schema > SCHEMA:
            raise NewerSchema(f"A newer Kabar (schema {schema}) wrote this {self.name}: update this one ({SCHEMA}).")
        steps = [step[self.name] for step in MIGRATIONS[schema - 1 :] if self.name in step]
        if not steps:
            return self.decode(data)
        value = json.decode(data, type=Json)
        try:
            for step in steps:
                step(value)
        except (AttributeError, KeyError, TypeError) as error:
            raise ValidationError(f"This {self.name} is not as schema {schema} has it: {error}") from error
        return self.decode(json.encode(value))

    def renewed(self, data: bytes) -> bytes | None:
        """As today's schema writes it; None where that is what it is. Raises as ``read`` does."""
        value = self.read(data)
        return None if data.endswith(_MARK) else pack(value)


ENTRY: Kind[Entry] = Kind("entry", decode_entry)
INBOUND: Kind[Inbound] = Kind("inbound", decode_inbound)
TURN: Kind[Turn] = Kind("turn", decode_turn)
SETTINGS: Kind[ChatSettings] = Kind("settings", decode_settings)
PROFILE: Kind[Profile] = Kind("profile", decode_profile)
REMINDER: Kind[Reminder] = Kind("reminder", decode_reminder)
TOOL_RUN: Kind[ToolRun] = Kind("tool run", decode_tool_run)
INSTALLATION: Kind[Installation] = Kind("installation", decode_installation)


def pack(value: Struct) -> bytes:
    """The value as it is stored."""
    data = encode(value)
    return data[:-1] + (_MARK if len(data) > len(b"{}") else _MARK[1:])


def schema_of(data: bytes) -> int:
    """No struct has a field of that name, so nothing else ends so."""
    found = _MARKED.search(data)
    return int(found[1]) if found else 1


def expect_known(conversation: str, written_by: int) -> None:
    """Raises NewerSchema where whoever wrote a conversation last knows more than we do."""
    if written_by > SCHEMA:
        raise NewerSchema(f"A newer Kabar (schema {written_by}) wrote {conversation!r}: update this one ({SCHEMA}).")


def _with_reference(entry: Json) -> None:
    """What a person read of a turn that failed had its reference beside it."""
    reference, shown = entry.pop("reference", ""), entry.get("shown", "")
    if reference and reference not in shown:
        entry["shown"] = "\n\n".join(filter(None, (shown, reference)))


def _of_persons(settings: Json) -> None:
    """What need not ask for an hour was everybody's: from now on it is one person's, named before the tool."""
    allowed = settings.get("allowed", {})
    settings["allowed"] = {key: until for key, until in allowed.items() if " " in key}


Migration = Callable[[Json], None]
"""Changes the decoded JSON of one value from one schema to the next."""

MIGRATIONS: tuple[Mapping[str, Migration], ...] = ({"entry": _with_reference, "settings": _of_persons}, {})
"""One for each schema but today's, by kind: what brings a value to the schema after it. A kind that is not named needs
nothing."""
