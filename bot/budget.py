"""What may be spent: by a person, in a chat, by everybody; how that is counted, and what somebody over a limit hears.

The write that begins a turn reserves what it will probably cost, under the condition that it fits below every limit;
the write that ends it settles the difference. Both are part of writes that happen anyway, once: turns at the same
moment can not overspend together, and a crash in between neither loses nor doubles an amount.

Limits are counted in fixed stretches of time in UTC: days, months, and minutes for how often somebody may ask. Pure.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from math import ceil

from msgspec import Struct
from msgspec.structs import asdict, replace

from bot.messages import (
    EVERYBODY,
    Answered,
    Bill,
    ChatSettings,
    Counter,
    Entry,
    Inbound,
    Person,
    Returned,
    Spend,
    Spent,
    Summary,
    Turn,
    Usage,
)
from bot.models import cost, is_priced
from bot.texts import say

FIRST = 50_000
"""Millionths of a dollar that the first turn of a chat is taken to cost: a long prompt and a long answer."""

LITTLE = 4
"""The part of what is reserved that a turn may cost beyond it before that is counted. A conversation grows, so most
turns cost a little more than the dearest before: each would write to four counters once more, just before it ends."""

NEARLY = 80
"""Percent of a budget after which the cheaper model answers."""

SHORTLY = 3600
"""Seconds for which a minute's counter is kept."""


class Budget(Struct, frozen=True):
    """The owner's limits, None where there is none; money in millionths of a dollar.

    ``turns_a_minute`` holds for each person and each group. ``cheaper``: near a limit of money a cheaper model answers.
    """

    person_day: int | None = None
    guest_day: int | None = None
    chat_day: int | None = None
    day: int | None = None
    month: int | None = None
    turns_a_minute: int | None = None
    cheaper: bool = False

    @property
    def limits_money(self) -> bool:
        return any(limit is not None for limit in self._limits)

    @property
    def _limits(self) -> tuple[int | None, ...]:
        return self.person_day, self.guest_day, self.chat_day, self.day, self.month

    def counters(self, person: Person, conversation: str, at: int) -> dict[Counter, int | None]:
        """Where a turn's money is counted, with the limits there. ``at`` is when the turn began: it is settled where
        it was reserved, also when midnight has passed."""
        return {
            Counter(f"person:{person.payer}", day_of(at)): self.limit_of(person),
            Counter(f"chat:{chat_of(conversation)}", day_of(at)): self.chat_day,
            Counter(EVERYBODY, day_of(at)): self.day,
            Counter(EVERYBODY, month_of(at)): self.month,
        }

    def limit_of(self, person: Person) -> int | None:
        """What somebody may spend in a day."""
        return self.guest_day if person.role == "guest" and self.guest_day is not None else self.person_day

    def estimate(self, settings: ChatSettings) -> int:
        """What to reserve for a chat's next turn. Never more than a whole budget, which would then be good for nothing;
        0 where nothing is limited, and there is nothing to reserve for."""
        limits = (each for each in self._limits if each is not None)
        return min((settings.turn_cost or FIRST, *limits)) * self.limits_money

    def missing(self, turn: Turn, calls: int = 1) -> int:
        """What its reservation lacks for so many more calls that cost as much as those before."""
        paid = turn.total
        if not self.limits_money or not paid.calls:
            return 0
        return max(paid.cost + calls * (paid.cost // paid.calls) - turn.reserved, 0)

    def reserve(self, turn: Turn, conversation: str, more: int = 0) -> tuple[Turn, tuple[Spend, ...]]:
        """The turn with so much more reserved for it, where that fits; what it has cost is counted in any case, but for
        a little that its end will count."""
        beyond = max(turn.total.cost - turn.reserved, 0) if self.limits_money else 0
        amount = max(more, beyond)
        if not more and beyond <= turn.reserved // LITTLE:
            return turn, ()
        counters = self.counters(turn.asker, conversation, turn.began)
        spends = tuple(Spend(each, amount, limit if more else None) for each, limit in counters.items())
        return replace(turn, reserved=turn.reserved + amount), spends

    def settle(self, turn: Turn, conversation: str, *, cut: bool) -> tuple[Spend, ...]:
        """What a turn that ends adds to the counters. ``cut``: its last model call was, and nobody tells what it cost;
        then the turn pays at least what was reserved."""
        bill = replace(turn.total, turns=1)
        paid = max(bill.cost, turn.reserved) if cut else bill.cost
        if not turn.reserved and not bill.calls:
            return ()  # answered without the model
        counters = self.counters(turn.asker, conversation, turn.began)
        return tuple(Spend(counter, paid - turn.reserved, bill=bill) for counter in counters)

    def pace(self, asked: Inbound, at: float) -> tuple[Spend, ...]:
        """One turn more in this minute. Messages that wait together are one turn, and cost as one."""
        if self.turns_a_minute is None:
            return ()
        scopes = [f"minute:person:{asked.sender.payer}"]
        if asked.place.group:
            scopes.append(f"minute:chat:{chat_of(asked.conversation)}")
        minute = minute_of(at)
        return tuple(Spend(Counter(scope, minute), 1, self.turns_a_minute, keep=SHORTLY) for scope in scopes)

    def is_nearly_spent(self, counters: Mapping[Counter, int | None], spent: Mapping[Counter, Spent]) -> bool:
        return any(
            limit is not None and counter in spent and spent[counter].amount * 100 > limit * NEARLY
            for counter, limit in counters.items()
        )


def notice(asked: Inbound, at: float) -> tuple[Spend, ...]:
    """The right to say no: once a minute to each person in each conversation. A flood gets no flood back."""
    counter = Counter(f"notice:{asked.conversation}:{asked.sender.id}", minute_of(at))
    return (Spend(counter, 1, 1, keep=SHORTLY),)


def refusal(spend: Spend, language: str, at: float, slash: str = "/") -> str:
    """Which limit was reached and when it begins anew, for the person who met it. ``slash`` stands before a command."""
    scope, period = spend.counter.scope.partition(":")[0], spend.counter.period
    if scope == "minute":
        return say("over_minute", language, seconds=str(max(60 - int(at) % 60, 2)))
    span = "month" if len(period) == len("2026-11") else "day"
    return say(f"over_{scope}", language, when=_anew(span, at, language), slash=slash)


def _anew(span: str, at: float, language: str) -> str:
    """How long from now, rounded up, and when by the clock: "tomorrow" is another day elsewhere."""
    now = datetime.fromtimestamp(at, UTC)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    if span == "month" and midnight.month == now.month:
        midnight = (midnight.replace(day=28) + timedelta(days=4)).replace(day=1)
    left = midnight - now
    if left > timedelta(days=1):
        return say("in_days", language, days=str(left.days + 1), date=f"{midnight:%Y-%m-%d}")
    if left > timedelta(hours=1):
        return say("in_hours", language, hours=str(ceil(left / timedelta(hours=1))))
    minutes = int(left / timedelta(minutes=1)) + 1
    return say("in_minute" if minutes == 1 else "in_minutes", language, minutes=str(minutes))


def bill_of(entry: Entry) -> Bill:
    """What it took to make an entry of the record."""
    match entry:
        case Answered(reply=reply):
            return bill_for(reply.model, reply.usage)
        case Summary(model=model, usage=usage) if model:
            return bill_for(model, usage)
        case Returned(bill=bill):
            return bill
    return Bill()


def bill_for(model: str, usage: Usage) -> Bill:
    """Of one model call."""
    counted = {name: count for name, count in asdict(usage).items() if name in Bill.__struct_fields__}
    return Bill(calls=1, unpriced=int(not is_priced(model)), cost=cost(model, usage), **counted)


def lately(before: int, paid: int) -> int:
    """What a chat's dearer turns cost, after one more: the dearest of late counts, an old one less with each turn."""
    return max(paid, before * 3 // 4) if paid else before


def chat_of(conversation: str) -> str:
    """The whole chat: a conversation without its topic or thread, of which anybody can begin as many as they like."""
    parts = conversation.split(":")
    return ":".join(parts[: 3 if parts[0] == "slack" else 2])


def day_of(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"


def month_of(at: float) -> str:
    return day_of(at)[:7]


def days_of_month(scope: str, at: float) -> tuple[Counter, ...]:
    """The counters of its days until now: at most 31."""
    today = datetime.fromtimestamp(at, UTC).day
    return tuple(Counter(scope, f"{month_of(at)}-{day:02d}") for day in range(1, today + 1))


def minute_of(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M}"
