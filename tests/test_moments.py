"""What a model gives as a time becomes one exact moment, or a sentence that says how to give it."""

import itertools
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.moments import CLOSEST, FARTHEST, Unfit, first, following, is_zone, moment, recurrence, stated

NOW = datetime(2026, 12, 1, 2, 0, tzinfo=UTC).timestamp()
JAKARTA = "Asia/Jakarta"
BERLIN = "Europe/Berlin"


def said(when: str, zone: str = JAKARTA, now: float = NOW) -> str:
    return stated(moment(when, now, zone), zone)


def times(repeat: str, when: str, zone: str = JAKARTA, count: int = 4, now: float = NOW) -> list[str]:
    """The first times of a recurrence as it is followed: each found from the one before and nothing else."""
    at = moment(when, now, zone)
    rule = recurrence(repeat, at, zone)
    found = [first(rule, at, zone, now)]
    while len(found) < count and (later := following(rule, found[-1], zone, found[-1])) is not None:
        found.append(later)
    return [f"{datetime.fromtimestamp(at, ZoneInfo(zone)):%a %Y-%m-%d %H:%M}" for at in found]


@pytest.mark.parametrize(
    ("when", "means"),
    [
        ("2026-12-02T09:00", "Wednesday 2026-12-02 09:00 Asia/Jakarta (UTC+0700)"),
        (" 2026-12-02  09:00:30 ", "Wednesday 2026-12-02 09:00:30 Asia/Jakarta (UTC+0700)"),
        ("2026-12-02T09:00+09:00", "Wednesday 2026-12-02 07:00 Asia/Jakarta (UTC+0700)"),
        ("2026-12-02T09:00Z", "Wednesday 2026-12-02 16:00 Asia/Jakarta (UTC+0700)"),
        ("in 90 minutes", "Tuesday 2026-12-01 10:30 Asia/Jakarta (UTC+0700)"),
        ("In 1 day and 2 hours", "Wednesday 2026-12-02 11:00 Asia/Jakarta (UTC+0700)"),
        ("in 1 hour, 30 minutes", "Tuesday 2026-12-01 10:30 Asia/Jakarta (UTC+0700)"),
        ("in 1 month", "Friday 2027-01-01 09:00 Asia/Jakarta (UTC+0700)"),
    ],
)
def test_a_time_is_local_to_the_person_unless_it_says_otherwise(when: str, means: str) -> None:
    assert said(when) == means


@pytest.mark.parametrize(
    ("when", "lesson"),
    [
        ("tomorrow at nine", "2026-12-01T09:00"),
        ("2026-12-02", "Give a date and a time"),
        ("09:00", "Give a date and a time"),
        ("in two hours", "Write numbers"),
        ("in 2 fortnights", "Write numbers"),
        ("2026-02-30T09:00", "not a time that exists"),
        ("2026-12-02T24:30", "not a time that exists"),
        ("in 999999 years", "not a time that exists"),
        ("2026-12-01T08:59", "in the past: it is now Tuesday 2026-12-01 09:00"),
        ("in 0 minutes", "in the past"),
        ("2028-12-31T09:00", "two years"),
        ("", "Give a date and a time"),
    ],
)
def test_what_can_not_be_taken_says_what_to_give(when: str, lesson: str) -> None:
    with pytest.raises(Unfit, match=lesson):
        moment(when, NOW, JAKARTA)


def test_a_day_is_the_same_time_of_the_next_day_and_hours_are_hours_when_clocks_change() -> None:
    saturday = datetime(2027, 3, 27, 11, 0, tzinfo=UTC).timestamp()  # clocks go forward in the night
    assert said("in 1 day", BERLIN, saturday) == "Sunday 2027-03-28 12:00 Europe/Berlin (UTC+0200)"
    assert said("in 24 hours", BERLIN, saturday) == "Sunday 2027-03-28 13:00 Europe/Berlin (UTC+0200)"


def test_a_time_that_the_clocks_leave_out_is_an_hour_later() -> None:
    assert said("2027-03-28T02:30", BERLIN) == "Sunday 2027-03-28 03:30 Europe/Berlin (UTC+0200)"


@pytest.mark.parametrize(
    "zone", ["WIB", "Jakarta", "", "../etc/passwd", "/etc/localtime", "Asia/", "right/UTC", "Asia"]
)
def test_a_zone_is_an_iana_name(zone: str) -> None:
    assert not is_zone(zone)
    assert is_zone("America/Argentina/Buenos_Aires")
    with pytest.raises(Unfit, match="Asia/Jakarta"):
        moment("2026-12-02T09:00", NOW, zone)


@pytest.mark.parametrize(
    ("repeat", "when", "expected"),
    [
        ("daily", "2026-12-31T09:00", ["Thu 2026-12-31 09:00", "Fri 2027-01-01 09:00", "Sat 2027-01-02 09:00"]),
        ("hourly", "2026-12-01T22:30", ["Tue 2026-12-01 22:30", "Tue 2026-12-01 23:30", "Wed 2026-12-02 00:30"]),
        ("weekdays", "2026-12-05T09:00", ["Mon 2026-12-07 09:00", "Tue 2026-12-08 09:00", "Wed 2026-12-09 09:00"]),
        ("weekly", "2026-12-05T09:00", ["Sat 2026-12-05 09:00", "Sat 2026-12-12 09:00", "Sat 2026-12-19 09:00"]),
        ("monthly", "2027-01-31T09:00", ["Sun 2027-01-31 09:00", "Sun 2027-02-28 09:00", "Wed 2027-03-31 09:00"]),
        ("monthly", "2027-01-30T09:00", ["Sat 2027-01-30 09:00", "Sun 2027-02-28 09:00", "Tue 2027-03-30 09:00"]),
        ("yearly", "2028-02-29T09:00", ["Tue 2028-02-29 09:00", "Wed 2029-02-28 09:00", "Thu 2030-02-28 09:00"]),
        (
            "RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH",
            "2026-12-03T09:00",
            ["Thu 2026-12-03 09:00", "Mon 2026-12-14 09:00", "Thu 2026-12-17 09:00", "Mon 2026-12-28 09:00"],
        ),
        ("freq=monthly; byday=1MO", "2026-12-03T09:00", ["Mon 2026-12-07 09:00", "Mon 2027-01-04 09:00"]),
        ("FREQ=DAILY;BYHOUR=8,20", "2026-12-03T09:15", ["Thu 2026-12-03 20:15", "Fri 2026-12-04 08:15"]),
    ],
)
def test_a_recurrence_comes_on_the_days_that_people_mean(repeat: str, when: str, expected: list[str]) -> None:
    assert times(repeat, when, count=len(expected)) == expected


@pytest.mark.parametrize(
    "repeat", ["FREQ=DAILY;COUNT=3", "FREQ=DAILY;UNTIL=20261204", "FREQ=DAILY;UNTIL=20261204T090000"]
)
def test_a_recurrence_ends_with_its_last_time(repeat: str) -> None:
    assert times(repeat, "2026-12-02T09:00", count=9) == [f"{day} 09:00" for day in _days("Wed 2", "Thu 3", "Fri 4")]


def _days(*days: str) -> list[str]:
    return [f"{day[:3]} 2026-12-0{day[4:]}" for day in days]


def test_nine_o_clock_stays_nine_o_clock_when_clocks_change() -> None:
    assert times("daily", "2027-03-27T09:00", BERLIN, 3) == [
        "Sat 2027-03-27 09:00",
        "Sun 2027-03-28 09:00",
        "Mon 2027-03-29 09:00",
    ]


def test_a_time_left_out_once_is_back_the_next_day() -> None:
    assert times("daily", "2027-03-27T02:30", BERLIN, 3) == [
        "Sat 2027-03-27 02:30",
        "Sun 2027-03-28 03:30",
        "Mon 2027-03-29 02:30",
    ]


def test_what_was_missed_is_left_out_and_the_rhythm_is_kept() -> None:
    at = moment("2026-12-02T09:00", NOW, JAKARTA)
    rule = recurrence("FREQ=DAILY;INTERVAL=3", at, JAKARTA)
    week = at + 7 * 24 * 3600
    assert following(rule, at, JAKARTA, week) == at + 9 * 24 * 3600


@pytest.mark.parametrize(
    ("repeat", "lesson"),
    [
        ("every day", "Write daily"),
        ("FREQ=MINUTELY", "FREQ can not be 'MINUTELY'"),
        ("FREQ=DAILY;BYMINUTE=0,30", "once an hour"),
        ("FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0,1", "BYSECOND"),
        ("FREQ=DAILY;DTSTART=20261201T090000", "DTSTART"),
        ("FREQ=DAILY\nEXDATE:20261201T090000Z", "can not be"),
        ("FREQ=DAILY;INTERVAL=0", "INTERVAL"),
        ("FREQ=DAILY;INTERVAL=1001", "1000"),
        ("FREQ=DAILY;COUNT=0", "COUNT"),
        ("FREQ=DAILY;COUNT=3;UNTIL=20270101", "not both"),
        ("FREQ=DAILY;UNTIL=20269999", "not a time that exists"),
        ("FREQ=DAILY;UNTIL=20261130", "never comes true"),
        ("FREQ=DAILY;FREQ=WEEKLY", "can not be part"),
        ("BYDAY=MO", "FREQ is missing"),
        ("FREQ=WEEKLY;BYDAY=0MO", "can not be followed"),
        ("FREQ=HOURLY;INTERVAL=24;BYHOUR=5", "can not be followed"),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "never comes true"),
        ("FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30", "HOURLY can not have BYMONTH, BYMONTHDAY"),
        ("FREQ=DAILY;" + "BYMONTH=1," * 100, "longer than 300"),
    ],
)
def test_a_recurrence_that_can_not_be_taken_says_why(repeat: str, lesson: str) -> None:
    with pytest.raises(Unfit, match=lesson):
        recurrence(repeat, int(NOW) + 3600, JAKARTA)


@pytest.mark.parametrize("repeat", ["", "once", "none"])
def test_nothing_to_repeat_is_once(repeat: str) -> None:
    assert recurrence(repeat, int(NOW) + 3600, JAKARTA) == ""


def test_a_first_time_years_away_is_refused() -> None:
    at = int(NOW) + 3600
    rule = recurrence("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=SU", at, JAKARTA)
    with pytest.raises(Unfit, match="two years"):
        first(rule, at, JAKARTA, NOW)


PARTS = st.lists(
    st.sampled_from(
        [
            *(f"FREQ={each}" for each in ("HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY", "SECONDLY")),
            *("INTERVAL=2", "INTERVAL=7", "COUNT=3", "UNTIL=20270301", "UNTIL=20270301T000000Z"),
            *("BYDAY=MO,TU", "BYDAY=-1FR", "BYMONTH=2", "BYMONTHDAY=-1", "BYMONTHDAY=31", "BYSETPOS=2", "BYWEEKNO=53"),
            *("BYYEARDAY=366", "BYHOUR=2,3", "BYMINUTE=0,59", "BYMINUTE=30", "WKST=SU", "BYSETPOS=-366", "X", "="),
        ]
    ),
    max_size=5,
)


@settings(max_examples=50, deadline=None, derandomize=True, database=None)
@given(parts=PARTS, zone=st.sampled_from([JAKARTA, BERLIN, "UTC", "Australia/Lord_Howe"]))
def test_whatever_rule_is_taken_moves_on_by_an_hour_at_least(parts: list[str], zone: str) -> None:
    at = int(NOW) + 5_400
    try:
        rule = recurrence(";".join(parts), at, zone)
        found = [first(rule, at, zone, NOW)] if rule else []
    except Unfit:
        return
    while found and len(found) < 5 and (later := following(rule, found[-1], zone, NOW)) is not None:
        found.append(later)
    assert all(at <= each for each in found)
    assert all(later - earlier >= CLOSEST for earlier, later in itertools.pairwise(found))
    assert not found or found[0] <= NOW + FARTHEST


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(text=st.text(max_size=40))
def test_any_text_is_a_time_or_a_lesson(text: str) -> None:
    for read in (lambda: moment(text, NOW, JAKARTA), lambda: recurrence(text, int(NOW) + 3600, JAKARTA)):
        try:
            read()
        except Unfit as lesson:
            assert str(lesson)
