"""When: moments and recurrences as a model gives them, made exact. Pure.

People mean the clock on their wall: every day at nine stays nine when clocks change. So a recurrence is followed in the
local time of its zone, and only what comes out becomes Unix time. Recurrences are RFC 5545's RRULE, without its parts
that come more often than hourly; dateutil follows them.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

from dateutil.relativedelta import relativedelta  # type: ignore[import-untyped]  # ships no types
from dateutil.rrule import rrulestr  # type: ignore[import-untyped]

FARTHEST = 2 * 366 * 24 * 3600
"""Seconds ahead that something may be set for."""
CLOSEST = 3600
"""Seconds between two times of a recurrence, at least."""
MOST_TIMES = 1000
"""The largest COUNT and INTERVAL."""
TRIED = 60
"""Times of a new recurrence that are looked at, whether they are far enough apart."""
LONGEST_RULE = 300
ERA = 7600
"""Years, a multiple of the 400 after which the calendar repeats. dateutil looks for the next time until the year 9999;
looking from so much later, it finds out within half a second that a rule never comes true, instead of in eleven."""

WHEN = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:\.0+)? ?(Z|[+-]\d\d:?\d\d)?")
UNITS = ("second", "minute", "hour", "day", "week", "month", "year")
PIECE = re.compile(rf"(\d{{1,6}}) ({'|'.join(UNITS)})s?")
DURATION = re.compile(rf"in {PIECE.pattern}(?:,? (?:and )?{PIECE.pattern})*")
ZONE = re.compile(r"UTC|(?!posix/|right/)[A-Za-z]+(?:/[A-Za-z0-9_+-]+)+")

FREQUENCIES = ("HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY")
DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_PARTS = {
    "FREQ": "|".join(FREQUENCIES),
    "INTERVAL": r"[1-9]\d{0,3}",
    "COUNT": r"[1-9]\d{0,3}",
    "UNTIL": r"\d{8}(T\d{6}Z?)?",
    "BYDAY": rf"[+-]?\d{{0,2}}({'|'.join(DAYS)})(,[+-]?\d{{0,2}}({'|'.join(DAYS)}))*",
    "BYMONTH": r"(1[0-2]|0?[1-9])(,(1[0-2]|0?[1-9]))*",
    "BYMONTHDAY": r"[+-]?(3[01]|[12]\d|0?[1-9])(,[+-]?(3[01]|[12]\d|0?[1-9]))*",
    "BYYEARDAY": r"[+-]?[1-9]\d{0,2}(,[+-]?[1-9]\d{0,2})*",
    "BYWEEKNO": r"[+-]?[1-9]\d?(,[+-]?[1-9]\d?)*",
    "BYSETPOS": r"[+-]?[1-9]\d{0,2}(,[+-]?[1-9]\d{0,2})*",
    "BYHOUR": r"(2[0-3]|[01]?\d)(,(2[0-3]|[01]?\d))*",
    "BYMINUTE": r"[0-5]?\d(,[0-5]?\d)*",
    "BYSECOND": r"[0-5]?\d",
    "WKST": "|".join(DAYS),
}
"""What a rule may be made of, and how each part is written."""
_OF_DAYS = ("BYMONTH", "BYMONTHDAY", "BYYEARDAY", "BYWEEKNO", "BYSETPOS")
"""Hours would be tried one by one against these."""

_EXAMPLE = "FREQ=WEEKLY;BYDAY=MO,TH or FREQ=MONTHLY;BYDAY=1MO"


class Unfit(Exception):
    """Not an error of ours: says to the model in plain English what can not be taken, and what to give instead."""


def zone_of(name: str) -> ZoneInfo:
    """Raises Unfit where it is no IANA name."""
    try:
        if ZONE.fullmatch(name):
            return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        pass
    raise Unfit(f"There is no time zone {name!r}. Use an IANA name, such as Asia/Jakarta for WIB or Europe/Berlin.")


def is_zone(name: str) -> bool:
    try:
        return bool(zone_of(name))
    except Unfit:
        return False


def moment(when: str, now: float, zone: str) -> int:
    """The Unix time that ``when`` names: local time in ``zone`` or with an offset, or ``in 2 hours``. Raises Unfit."""
    text = " ".join(when.split())
    try:
        at = _after(text.lower(), now, zone) if text[:3].lower() == "in " else _on(text, zone)
    except (ValueError, OverflowError, OSError):
        raise Unfit(f"{when!r} is not a time that exists.") from None
    if at <= now:
        raise Unfit(f"{stated(at, zone)} is in the past: it is now {stated(int(now), zone)}. Give a time to come.")
    if at > now + FARTHEST:
        raise Unfit(f"{stated(at, zone)} is too far away: at most two years ahead.")
    return at


def _on(text: str, zone: str) -> int:
    found = WHEN.fullmatch(text)
    if found is None:
        raise Unfit(
            f"{text!r} can not be read. Give a date and a time such as 2026-12-01T09:00 (the person's local time) or "
            "2026-12-01T09:00+07:00, or how long from now: in 90 minutes, in 2 days."
        )
    day, time, offset = found.groups()
    local = datetime.fromisoformat(f"{day}T{time}{(offset or '').replace('Z', '+00:00')}")
    return _unix(local) if local.tzinfo else _at(local, zone)


def _after(text: str, now: float, zone: str) -> int:
    """Hours are hours; a day is the same time of the next day, also when clocks change in between."""
    if DURATION.fullmatch(text) is None:
        raise Unfit(f"{text!r} can not be read. Write numbers and {', '.join(UNITS)}, such as: in 1 day and 2 hours.")
    amounts = dict.fromkeys(UNITS, 0)
    for number, unit in PIECE.findall(text):
        amounts[unit] += int(number)
    days = relativedelta(**{f"{unit}s": amounts[unit] for unit in ("day", "week", "month", "year")})
    seconds = amounts["second"] + 60 * amounts["minute"] + 3600 * amounts["hour"]
    return _unix(datetime.fromtimestamp(int(now), zone_of(zone)) + days) + seconds


def recurrence(repeat: str, at: int, zone: str) -> str:
    """A recurrence that begins at ``at``, as one RRULE that says all there is to say: ``following`` needs no more than
    one of its times. "" for once. Raises Unfit."""
    text = "".join(repeat.upper().split()).removeprefix("RRULE:").strip(";")
    if text in ("", "NONE", "ONCE"):
        return ""
    local = _local(at, zone)
    parts = _parts(_WORDS.get(text, lambda local: text)(local))
    if parts["FREQ"] != "HOURLY":
        parts.setdefault("BYHOUR", str(local.hour))
    parts.setdefault("BYMINUTE", str(local.minute))
    parts.setdefault("BYSECOND", str(local.second))
    if "UNTIL" in parts:
        parts["UNTIL"] = _until(parts["UNTIL"], zone)
    count = int(parts.pop("COUNT", "0"))
    times = list(islice(_times(parts, local, zone), max(count, TRIED)))
    if not times:
        raise Unfit(f"{repeat!r} never comes true from {stated(at, zone)} on.")
    if any(later - earlier < timedelta(seconds=CLOSEST) for earlier, later in pairwise(times)):
        raise Unfit("That is more often than once an hour, which is the most.")
    if count:  # counted down nowhere: it ends with its last time
        parts["UNTIL"] = _utc(_at(times[:count][-1], zone))
    return ";".join(f"{name}={value}" for name, value in parts.items())


def _monthly(local: datetime) -> str:
    """The 31st is the last day of a month that has no 31st."""
    if local.day <= 28:
        return f"FREQ=MONTHLY;BYMONTHDAY={local.day}"
    days = ",".join(str(day) for day in range(28, local.day + 1))
    return f"FREQ=MONTHLY;BYMONTHDAY={days};BYSETPOS=-1"


def _yearly(local: datetime) -> str:
    if (local.month, local.day) == (2, 29):
        return "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=28,29;BYSETPOS=-1"
    return f"FREQ=YEARLY;BYMONTH={local.month};BYMONTHDAY={local.day}"


_WORDS = {
    "HOURLY": lambda local: "FREQ=HOURLY",
    "DAILY": lambda local: "FREQ=DAILY",
    "WEEKDAYS": lambda local: "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
    "WEEKLY": lambda local: f"FREQ=WEEKLY;BYDAY={DAYS[local.weekday()]}",
    "MONTHLY": _monthly,
    "YEARLY": _yearly,
}


def _parts(text: str) -> dict[str, str]:
    """Only what is known is handed to dateutil, which reads more than rules, and some of it for ever."""
    how = f"Write daily, weekdays, weekly, monthly, yearly, hourly, or an RFC 5545 RRULE such as {_EXAMPLE}."
    if len(text) > LONGEST_RULE:
        raise Unfit(f"The recurrence is longer than {LONGEST_RULE} characters. {how}")
    parts: dict[str, str] = {}
    for piece in text.split(";"):
        name, _, value = piece.partition("=")
        if name not in _PARTS or name in parts:
            raise Unfit(f"{piece!r} can not be part of a recurrence. {how}")
        if not re.fullmatch(_PARTS[name], value):
            raise Unfit(f"{name} can not be {value!r} here. {how}")
        parts[name] = value
    if "FREQ" not in parts:
        raise Unfit(f"FREQ is missing. {how}")
    if parts["FREQ"] == "HOURLY" and (of_days := [name for name in _OF_DAYS if name in parts]):
        raise Unfit(f"HOURLY can not have {', '.join(of_days)}: use another FREQ with BYHOUR.")
    if "COUNT" in parts and "UNTIL" in parts:
        raise Unfit("Give COUNT or UNTIL, not both.")
    if max(int(parts.get(name, "1")) for name in ("COUNT", "INTERVAL")) > MOST_TIMES:
        raise Unfit(f"COUNT and INTERVAL may be {MOST_TIMES} at most.")
    return parts


def _until(value: str, zone: str) -> str:
    """In UTC. A date alone is taken to its end, a time without Z as local."""
    try:
        if value.endswith("Z"):
            return _utc(_unix(datetime.strptime(value, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)))
        local = datetime.strptime(value if "T" in value else f"{value}T235959", "%Y%m%dT%H%M%S")
        return _utc(_at(local, zone))
    except (ValueError, OverflowError):
        raise Unfit(f"UNTIL={value} is not a time that exists.") from None


def first(rule: str, at: int, zone: str, now: float) -> int:
    """The first time of a rule that is not before ``at``. Raises Unfit where it is more than two years away."""
    wall = next(_times(parts_of(rule), _local(at, zone), zone), None)
    if wall is None or (found := _at(wall, zone)) > now + FARTHEST:
        raise Unfit("The first time of that recurrence is more than two years away.")
    return found


def following(rule: str, at: int, zone: str, now: float) -> int | None:
    """The next time after ``at``, one of the rule's times, that is still to come; None where it has ended."""
    least = max(now, at + CLOSEST - 1)
    times = (_at(wall, zone) for wall in _times(parts_of(rule), _local(at, zone), zone))
    return next((found for found in times if found > least), None)


def parts_of(rule: str) -> dict[str, str]:
    """Of a rule that ``recurrence`` made."""
    return dict(part.split("=", 1) for part in rule.split(";"))


def _times(parts: dict[str, str], start: datetime, zone: str) -> Iterator[datetime]:
    """The times of a rule on the wall's clock, from ``start`` on."""
    bare = ";".join(f"{name}={value}" for name, value in parts.items() if name != "UNTIL")
    until = datetime.max
    if "UNTIL" in parts:
        ends = datetime.strptime(parts["UNTIL"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        until = ends.astimezone(zone_of(zone)).replace(tzinfo=None)
    try:
        for far in rrulestr(bare, dtstart=start.replace(year=start.year + ERA)):
            wall: datetime = far.replace(year=far.year - ERA)
            if wall > until:
                return
            yield wall
    except ValueError as error:  # parts that exclude each other
        raise Unfit(f"The recurrence can not be followed: {error}.") from None


def stated(at: int, zone: str) -> str:
    """For the model: ``Tuesday 2026-12-01 09:00 Asia/Jakarta (UTC+0700)``."""
    local = datetime.fromtimestamp(at, zone_of(zone))
    seconds = ":%S" if local.second else ""
    return local.strftime(f"%A %Y-%m-%d %H:%M{seconds} {zone}") + (local.strftime(" (UTC%z)") if zone != "UTC" else "")


def _local(at: int, zone: str) -> datetime:
    return datetime.fromtimestamp(at, zone_of(zone)).replace(tzinfo=None)


def _at(wall: datetime, zone: str) -> int:
    """The Unix time at which the clock on the wall shows this."""
    return _unix(wall.replace(tzinfo=zone_of(zone)))


def _unix(at: datetime) -> int:
    return int(at.timestamp())


def _utc(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y%m%dT%H%M%SZ")
