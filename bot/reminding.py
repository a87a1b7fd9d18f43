"""Reminders and scheduled prompts: set, listed and cancelled; what happens when one is due; the page for ``/remind``.

    set: scheduled, then stored ──> the scheduler, or a sweep that finds it late ──> fire
        ──> recurring: its next time is scheduled and stored ──> an inbound "due", stored once, and a wake
        ──> the turn that takes it: told as it is, or asked of the model; paused where nobody has written for long

Cut anywhere and done again, this tells each time once: its inbound has one name, and what is scheduled without being
stored, or the other way round, is put right by the next firing or by the sweep.
"""

import asyncio
import hashlib
import json
import logging
from base64 import b32encode
from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec.structs import replace

from bot.errors import StoreUnavailable
from bot.intake import accept
from bot.messages import Asked, Button, Entry, Inbound, Person, Place, Reminder, Returned, Voted
from bot.moments import DAYS, Unfit, first, following, is_zone, moment, parts_of, recurrence, stated, zone_of
from bot.moving import moved_place
from bot.ports import Clock, Receipt, Scheduler, Store, Wake
from bot.profiles import change
from bot.texts import say

MOST = 50
"""Reminders of one chat."""
LONGEST = 1000
"""Characters of a reminder."""
MOST_IDLE = 5
"""Times in a row that a recurring reminder may be due without anybody writing; then it is paused."""
LATE = 600
"""Seconds after which a reminder says when it should have come."""
ORDER = "9" * 20
"""Begins the order of what is due: behind every message of any platform (Telegram's have 16 digits, the terminal's 20
that begin with 0, Slack's begin with 1), and the same at each delivery, which a place among them could not be."""
ASK = "ask"
"""The command of what is due and to be asked of the model: the reminder itself may be gone by then."""
SHORT = 80
"""Characters of a reminder that the list shows."""
MOST_BUTTONS = 20
IN_A_ROW = 4

Answer = tuple[str, tuple[Button, ...]]
"""Our own: what is told, and the buttons under it."""

log = logging.getLogger(__name__)


# Being due


async def fire(
    conversation: str, id: str, at: int, store: Store, scheduler: Scheduler, wake: Wake, clock: Clock
) -> Receipt | None:
    """A reminder's time has come: it is in its conversation's inbox then, and the chat is woken. None where there is
    nothing to be said any more: cancelled, paused, or told and done.

    Doing it again changes nothing. Late, it is told once, and what it missed meanwhile is left out. Raises
    StoreUnavailable: then again, with the same ``at``.
    """
    reminder = await _find(store, conversation, id)
    if reminder is None or not is_waiting(reminder):
        log.info("conversation=<%s>, reminder=<%s> | nothing to be said any more", conversation, id)
        return None
    now = clock.now()
    if reminder.rule and (upcoming := _upcoming(reminder, at, now)):
        await scheduler.schedule(upcoming)
        if upcoming != reminder:
            await store.put_reminder(upcoming)
        return await accept(_inbound(reminder, at, now), store, wake, clock)
    receipt = await accept(_inbound(reminder, at, now), store, wake, clock)
    await store.put_reminder(replace(reminder, rule="", idle=1))  # its turn deletes it
    return receipt


def _upcoming(reminder: Reminder, at: int, now: float) -> Reminder | None:
    """With its next time; None where that was the last. An earlier try may have stored it already."""
    if at < reminder.at:
        return reminder
    then = following(reminder.rule, at, reminder.zone, now)
    return None if then is None else replace(reminder, at=then)


def _inbound(reminder: Reminder, at: int, now: float) -> Inbound:
    return Inbound(
        place=reminder.place,
        id=f"{_mark(reminder.id)}{at}",
        order=f"{ORDER}.{at:012d}",
        sender=reminder.person,
        sent_at=int(now),
        kind="due",
        text=reminder.text,
        command=ASK if reminder.asks else "",
        data=reminder.id,
    )


def _mark(id: str) -> str:
    return f"due.{id}."


def _due_at(inbound: Inbound) -> int:
    """The time that ``_inbound`` wrote into its id."""
    return int(inbound.id.rpartition(".")[2])


def is_waiting(reminder: Reminder) -> bool:
    """Whether it will be due: not paused, and not told already."""
    return reminder.idle < (MOST_IDLE if reminder.rule else 1)


def is_paused(reminder: Reminder) -> bool:
    return bool(reminder.rule) and reminder.idle >= MOST_IDLE


def times_idle(id: str, entries: Sequence[Entry]) -> int:
    """How often a reminder was due at the end of a conversation, with nobody writing in between."""
    times = 0
    for entry in reversed(entries):
        if isinstance(entry, Voted):
            break
        said = entry.said if isinstance(entry, Asked | Returned) else ()
        if any(each.kind != "note" and not each.id.startswith("due.") for each in said):
            break
        times += any(each.id.startswith(_mark(id)) for each in said)
    return times


class Reminders:
    """The reminders of all conversations, for whoever holds the lease of the one they ask about."""

    def __init__(self, store: Store, scheduler: Scheduler) -> None:
        self._store = store
        self._scheduler = scheduler

    async def add(
        self, place: Place, person: Person, text: str, when: str, repeat: str, *, asks: bool, now: float
    ) -> Reminder:
        """Set one. Raises Unfit. The same one set twice is one."""
        zone = await self.zone(person) or "UTC"
        at, rule = await asyncio.to_thread(_times, when, repeat, zone, now)  # a strange rule is followed for a while
        person = replace(person, role="")  # what they may do is asked when it is due
        reminder = Reminder(_id(place, person, text, at, rule, asks), place, person, text, at, rule, zone, asks)
        others = [each for each in await self.all(place.conversation) if each.id != reminder.id]
        if len(others) >= MOST:
            raise Unfit(f"There are {MOST} reminders here already. Cancel one first.")
        await self._scheduler.schedule(reminder)
        await self._store.put_reminder(reminder)
        return reminder

    async def all(self, conversation: str) -> list[Reminder]:
        """Those to come and those that are paused, by time."""
        reminders = await self._store.reminders(conversation)
        return [each for each in reminders if is_waiting(each) or is_paused(each)]

    async def cancel(self, conversation: str, which: str) -> Reminder | None:
        """``which``: its number in the list, or its id. None where there is none."""
        reminder = await self._which(conversation, which)
        if reminder is not None:
            await self._drop(reminder)
        return reminder

    async def resume(self, conversation: str, which: str, now: float) -> Reminder | None:
        """Let a paused one go on from its next time; None where there is none, or it has ended meanwhile."""
        reminder = await self._which(conversation, which)
        if reminder is None or not is_paused(reminder):
            return reminder
        at = reminder.at if reminder.at > now else following(reminder.rule, reminder.at, reminder.zone, now)
        if at is None:
            await self._drop(reminder)
            return None
        resumed = replace(reminder, at=at, idle=0)
        await self._scheduler.schedule(resumed)
        await self._store.put_reminder(resumed)
        return resumed

    async def cancel_all(self, conversation: str) -> None:
        """Before a conversation is forgotten. A schedule that stays all the same finds nothing to tell in its time."""
        for reminder in await self._store.reminders(conversation):
            await self._drop(reminder)

    async def move(self, conversation: str, chat: str) -> None:
        """Its Telegram group became the supergroup ``chat``. May be cut anywhere and done again."""
        for reminder in await self._store.reminders(conversation):
            moved = replace(reminder, place=moved_place(reminder.place, chat))
            if is_waiting(moved):
                await self._scheduler.schedule(moved)
            await self._store.put_reminder(moved)
            await self._drop(reminder)

    async def begun(self, inbound: Inbound, entries: Sequence[Entry], now: float) -> tuple[Inbound, Answer | None]:
        """How the turn of an inbound that is "due" begins: what was said, and our answer; None where the model answers.
        ``entries`` are what was said before. Doing it again changes nothing."""
        reminder = await _find(self._store, inbound.conversation, inbound.data)
        idle = times_idle(inbound.data, entries) + 1
        pauses = reminder is not None and bool(reminder.rule) and idle >= MOST_IDLE
        if reminder is not None:
            await self._settle(reminder, idle)
        if inbound.command != ASK:
            return inbound, _told(inbound, reminder, now, pauses=pauses)
        if pauses:
            return inbound, (_say(inbound, "scheduled_paused"), _resume(inbound))
        return _question(inbound, reminder), None

    async def _settle(self, reminder: Reminder, idle: int) -> None:
        """What its being due leaves of it."""
        if not reminder.rule:
            await self._store.delete_reminder(reminder.place.conversation, reminder.id)
        elif idle != reminder.idle:
            await self._store.put_reminder(replace(reminder, idle=idle))
        if reminder.rule and idle >= MOST_IDLE:
            await self._unschedule(reminder)

    async def zone(self, person: Person) -> str:
        """The IANA name of somebody's time zone, "" where it is not known."""
        zone = (await self._store.profile(person.payer)).zone or person.zone
        return zone if is_zone(zone) else ""

    async def set_zone(self, person: Person, zone: str) -> str:
        """Keep it for all their chats; what is set already stays at its times. Raises Unfit where there is none."""
        name = zone_of(zone.strip()).key
        await change(self._store, person.payer, lambda known: replace(known, zone=name))
        return name

    async def _which(self, conversation: str, which: str) -> Reminder | None:
        known = await self.all(conversation)
        named = which.strip().lower()
        return next((each for number, each in enumerate(known, 1) if named in (str(number), each.id)), None)

    async def _drop(self, reminder: Reminder) -> None:
        await self._store.delete_reminder(reminder.place.conversation, reminder.id)
        await self._unschedule(reminder)

    async def _unschedule(self, reminder: Reminder) -> None:
        """Not worth a failure: what is fired all the same finds that there is nothing to be said."""
        try:
            await self._scheduler.cancel(reminder.place.conversation, reminder.id)
        except StoreUnavailable as error:
            log.warning("reminder=<%s> | its schedule stays: %s", reminder.id, error)


async def _find(store: Store, conversation: str, id: str) -> Reminder | None:
    return next((each for each in await store.reminders(conversation) if each.id == id), None)


def _times(when: str, repeat: str, zone: str, now: float) -> tuple[int, str]:
    """Its first time and its rule; "" where there is no second time."""
    at = moment(when, now, zone)
    rule = recurrence(repeat, at, zone)
    if not rule:
        return at, ""
    at = first(rule, at, zone, now)
    return at, rule if following(rule, at, zone, at) is not None else ""


def _id(place: Place, person: Person, text: str, at: int, rule: str, asks: bool) -> str:
    """Eight letters and digits: short enough for a button, and a list has at most fifty."""
    said = json.dumps([place.conversation, person.id, text, at, rule, asks])
    return b32encode(hashlib.sha256(said.encode()).digest())[:8].decode().lower()


# Being told


def _told(inbound: Inbound, reminder: Reminder | None, now: float, *, pauses: bool) -> Answer:
    lines = [_say(inbound, "reminder_for" if inbound.place.group and inbound.sender.name else "reminder")]
    at = _due_at(inbound)
    if now - at > LATE:
        zone = reminder.zone if reminder else inbound.sender.zone
        lines.append(_say(inbound, "reminder_late", time=_shown(at, zone, inbound.sender.language)))
    if pauses:
        lines.append(_say(inbound, "reminder_paused"))
    return "\n\n".join(lines), _resume(inbound) if pauses else ()


def _question(inbound: Inbound, reminder: Reminder | None) -> Inbound:
    """What the model is asked: it must not take it for a wish to set this up."""
    at = _due_at(inbound)
    time = stated(at, reminder.zone if reminder and is_zone(reminder.zone) else "UTC")
    label = f"(Scheduled by me earlier for {time}; answer it now.)"
    return replace(inbound, kind="message", command="", data="", text=f"{label}\n{inbound.text}")


def _say(inbound: Inbound, name: str, **more: str) -> str:
    values = {"text": inbound.text, "who": inbound.sender.name, "times": str(MOST_IDLE)}
    return say(name, inbound.sender.language, **values, **more)


def _resume(inbound: Inbound) -> tuple[Button, ...]:
    return (Button(say("reminder_resume", inbound.sender.language, number="").strip(), _resumes(inbound.data)),)


def _resumes(id: str) -> str:
    return f"do:remind resume {id}"


def _cancels(id: str) -> str:
    return f"do:unremind {id}"


# The page

CANCEL = ("cancel", "delete", "batal", "batalkan", "hapus")
RESUME = ("resume", "lanjut", "lanjutkan")
ZONE = ("zone", "zona", "timezone")


def is_page(asked: Inbound) -> bool:
    """Whether ``/remind`` asks for its page; what else follows it is a wish, which the model reads."""
    word = asked.text.strip().partition(" ")[0].lower()
    return asked.command != "remind" or word in ("", "list", "yes", *CANCEL, *RESUME, *ZONE)


def changes_list(asked: Inbound) -> bool:
    """Whether it cancels or resumes what somebody has set here."""
    word = asked.text.strip().partition(" ")[0].lower()
    return asked.command == "unremind" or word in (*CANCEL, *RESUME)


async def page(asked: Inbound, reminders: Reminders, now: float) -> Answer:
    """``/remind``, with ``cancel 2``, ``resume 2`` or ``zone Asia/Jakarta``, and the button's ``/unremind <id>``: what
    was done, and the list with a button for each."""
    done = await _done(asked, reminders, now)
    known = await reminders.all(asked.conversation)
    language = asked.sender.language
    if not known:
        return "\n\n".join(filter(None, (done, say("reminders_none", language)))), ()
    lines = (_line(number, each, asked) for number, each in enumerate(known, 1))
    hint = "" if await reminders.zone(asked.sender) else say("zone_unknown", language)
    shown = (done, say("reminders", language), "\n".join(lines), say("reminders_how", language), hint)
    return "\n\n".join(filter(None, shown)), tuple(_buttons(known, language))


async def _done(asked: Inbound, reminders: Reminders, now: float) -> str:
    language = asked.sender.language
    word, _, rest = asked.text.strip().partition(" ")
    if asked.command == "unremind":
        word, rest = CANCEL[0], asked.text
    if word.lower() in CANCEL:
        gone = await reminders.cancel(asked.conversation, rest)
        return say("reminder_cancelled", language, text=_short(gone.text)) if gone else say("reminder_gone", language)
    if word.lower() in RESUME:
        resumed = await reminders.resume(asked.conversation, rest, now)
        if resumed is None:
            return say("reminder_gone", language)
        time = _shown(resumed.at, resumed.zone, language)
        return say("reminder_resumed", language, text=_short(resumed.text), time=time)
    if word.lower() in ZONE and rest:
        return await _zone_set(asked, rest, reminders, now)
    return ""


async def _zone_set(asked: Inbound, zone: str, reminders: Reminders, now: float) -> str:
    language = asked.sender.language
    try:
        name = await reminders.set_zone(asked.sender, zone)
    except Unfit:
        return say("zone_missing", language, zone=_short(zone))
    return say("zone_set", language, time=_shown(int(now), name, language))


def _line(number: int, reminder: Reminder, asked: Inbound) -> str:
    language = asked.sender.language
    notes = [_repeats(reminder.rule, language)] if reminder.rule else []
    notes += [say("reminder_asks", language)] * reminder.asks
    notes += [say("paused", language)] * is_paused(reminder)
    notes += [reminder.person.name] * (asked.place.group and bool(reminder.person.name))
    about = f" – {', '.join(notes)}" if notes else ""
    return f"{number}. **{_shown(reminder.at, reminder.zone, language)}**{about}: {_short(reminder.text)}"


def _buttons(known: Sequence[Reminder], language: str) -> Iterable[Button]:
    for number, reminder in enumerate(known[:MOST_BUTTONS], 1):
        row = (number - 1) // IN_A_ROW
        if is_paused(reminder):
            yield Button(say("reminder_resume", language, number=str(number)), _resumes(reminder.id), row)
        yield Button(say("reminder_cancel", language, number=str(number)), _cancels(reminder.id), row)


def _shown(at: int, zone: str, language: str) -> str:
    """For a person: ``Mon 2026-12-07 09:00 (Asia/Jakarta)``."""
    name = zone if is_zone(zone) else "UTC"
    local = datetime.fromtimestamp(at, zone_of(name))
    return f"{say('weekdays', language).split()[local.weekday()]} {local:%Y-%m-%d %H:%M} ({name})"


def _repeats(rule: str, language: str) -> str:
    """A rule in words, as far as a list needs them."""
    parts = parts_of(rule)
    interval = parts.get("INTERVAL", "1")
    often = say(f"{'every' if interval == '1' else 'each'}_{parts['FREQ'].lower()}", language, n=interval)
    names = dict(zip(DAYS, say("weekdays", language).split(), strict=True))
    days = [f"{day[:-2]} {names[day[-2:]]}".strip() for day in parts.get("BYDAY", "").split(",") if day]
    return f"{often} ({', '.join(days)})" if days else often


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHORT else f"{line[:SHORT]}…"
