"""What every keeper of conversations and of files agrees on: how long, how much at once, under which names. Pure."""

import hashlib
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase

from msgspec.structs import replace

from bot.errors import LeaseLost
from bot.messages import FORTNIGHT, Counter, Head, Inbound
from bot.ports import Change

REMEMBERED = FORTNIGHT
"""Seconds for which an answered message is recognised. Telegram repeats an update for a day, Slack for hours."""

REPEATS = 2 * 24 * 3600
"""Seconds after which no platform repeats a message any more; until then even a forgotten conversation knows it."""

PASSING = 15 * 60
"""Seconds that a message waits which is not to the bot. Albums arrive, and dead workers are replaced, much sooner."""

MOST_PENDING = 50
"""Messages handed out at once. A DynamoDB transaction has 100 items, and room must be left for entries and answered
messages."""

MOST_REMINDERS = 100
"""Of one conversation, handed out at once."""

DAY = 24 * 3600

NESTED = "*/*.*.*"
"""Matches the names of subagents' conversations (bot/nested.py), and no other."""

COUNTED_DAYS = 101
"""Days back from today of which a counter may still be there: ``Spend.keep`` seconds after it was last added to."""

_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-")
_FOLDER_LENGTH = 150
"""Characters; a file's name may have 255, a whole path on Windows 260."""

_NAME_LENGTH = 32
"""Hexadecimal digits: 128 bits, so that nobody finds two files with the same name."""

_BLOB_KEY = re.compile(rf"[a-z0-9_~-]+/[0-9a-f]{{{_NAME_LENGTH}}}")


def after(head: Head, change: Change, now: int) -> Head:
    """The head once this step is stored, at this Unix time."""
    return replace(
        head,
        owner="" if change.release else head.owner,
        until_ms=0 if change.release else head.until_ms,
        last=head.last + len(change.entries),
        since=head.since if change.since is None else change.since,
        turn=change.turn,
        settings=change.settings or head.settings,
        used=_used(head, now),
    )


def _used(head: Head, now: int) -> int:
    """Noted once a day, so that a step writes no more for it. What is nested lives as long as what it is nested in."""
    return head.used if now < head.used + DAY or is_nested(head.conversation) else now


def unused_before(now: float, keep: int) -> int:
    """A conversation whose ``Head.used`` is before this was not used for ``keep`` seconds; uses are noted to a day."""
    return int(now) - keep - DAY


def is_nested(conversation: str) -> bool:
    return fnmatchcase(conversation, NESTED)


def lost(head: Head) -> LeaseLost:
    return LeaseLost(f"{head.owner!r} no longer holds {head.conversation!r}, or does not know its newest entry.")


def passes_at(inbound: Inbound, now: int) -> int | None:
    """When it goes by itself, in Unix seconds; None for what is to the bot: that waits until it is answered."""
    return None if inbound.addressed else now + PASSING


def counters_to_forget(conversation: str, now: int) -> Sequence[Counter]:
    """Where the spending of a conversation that is a whole chat was counted, on days that are over; a topic or a thread
    has no counters of its own. Today's stays, or forgetting would be a way around the chat's daily budget."""
    today = datetime.fromtimestamp(now, UTC)
    days = (today - timedelta(days=back) for back in range(1, COUNTED_DAYS + 1))
    return [Counter(f"chat:{conversation}", f"{day:%Y-%m-%d}") for day in days]


def blob_folder(conversation: str) -> str:
    """A name of its own for each conversation that any file system takes and tells apart, whatever it thinks of case.

    Readable for a person: ``telegram:-100`` is ``telegram_3a-100``. A long one is ``~`` and a digest.
    """
    data = conversation.encode()
    name = "".join(chr(byte) if byte in _PLAIN else f"_{byte:02x}" for byte in data)
    return name if 0 < len(name) <= _FOLDER_LENGTH else f"~{hashlib.sha256(data).hexdigest()}"


def blob_key(conversation: str, data: bytes) -> str:
    return f"{blob_folder(conversation)}/{hashlib.sha256(data).hexdigest()[:_NAME_LENGTH]}"


def is_blob_key(key: str) -> bool:
    """Whether ``blob_key`` can have made it. Nothing is kept under any other, and it may lead anywhere."""
    return _BLOB_KEY.fullmatch(key) is not None
