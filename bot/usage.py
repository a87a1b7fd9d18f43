"""The page that ``/usage`` shows: what a person, a chat and everybody used today and this month. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from bot.budget import Budget, bill_of, chat_of, day_of, days_of_month, month_of
from bot.messages import EVERYBODY, Answered, Bill, Counter, Entry, Inbound, Returned, Spent, prompt_tokens
from bot.models import PRICES_OF
from bot.texts import say


class Row(Struct, frozen=True):
    """``name`` is that of a text; the sum is over ``counters``, and ``limit`` holds for their spending together."""

    name: str
    counters: tuple[Counter, ...]
    limit: int | None = None


def rows(asked: Inbound, budget: Budget, at: float, *, everybody: bool) -> list[Row]:
    """What the page is about. A month is the sum of its days, at most 31 counters for each of two or three scopes."""
    person, chat = f"person:{asked.sender.payer}", f"chat:{chat_of(asked.conversation)}"
    found = [
        Row("usage_person_day", (Counter(person, day_of(at)),), budget.limit_of(asked.sender)),
        Row("usage_person_month", days_of_month(person, at)),
        Row("usage_chat_day", (Counter(chat, day_of(at)),), budget.chat_day),
        Row("usage_chat_month", days_of_month(chat, at)),
    ]
    if everybody:
        found += [
            Row("usage_all_day", (Counter(EVERYBODY, day_of(at)),), budget.day),
            Row("usage_all_month", (Counter(EVERYBODY, month_of(at)),), budget.month),
        ]
    return found


def page(rows: Sequence[Row], spent: Mapping[Counter, Spent], entries: Sequence[Entry], language: str) -> str:
    """``entries`` are what the chat may still see; its last turn with an answer of the model has a line of its own."""
    bills = {row: _sum(spent[each].bill for each in row.counters if each in spent) for row in rows}
    lines = [_line(say(row.name, language), bill, row.limit, language) for row, bill in bills.items()]
    if (last := last_bill(entries)).calls:
        lines.insert(0, _line(say("usage_last", language), last, None, language))
    sentences = [say("usage", language, date=PRICES_OF), "\n".join(lines)]
    if unpriced := max(bill.unpriced for bill in (last, *bills.values())):
        name = "usage_unpriced_one" if unpriced == 1 else "usage_unpriced"
        sentences.append(say(name, language, calls=number(unpriced)))
    return "\n\n".join(sentences)


def last_bill(entries: Sequence[Entry]) -> Bill:
    """Of the newest turn that the model answered, its subagents included."""
    steps = [entry for entry in entries if isinstance(entry, Answered | Returned)]
    newest = next((entry.turn for entry in reversed(steps) if isinstance(entry, Answered)), "")
    return _sum(bill_of(each) for each in steps if each.turn == newest)


def _sum(bills: Iterable[Bill]) -> Bill:
    return sum(bills, start=Bill())


def _line(name: str, bill: Bill, limit: int | None, language: str) -> str:
    prompt = prompt_tokens(bill)
    values = {
        "whose": name,
        "turns": say("usage_answer" if bill.turns == 1 else "usage_answers", language, count=number(bill.turns)),
        "tokens": number(prompt + bill.output),
        "cached": str(bill.cache_read * 100 // prompt if prompt else 0),
        "cost": dollars(bill.cost),
    }
    if bill == Bill():
        line = f"- {name}: {dollars(0)}"
    else:
        line = say("usage_line" if bill.turns else "usage_one", language, **values)
    return line if limit is None else f"{line} {say('usage_limit', language, limit=dollars(limit))}"


def dollars(millionths: int) -> str:
    """With as many places as say something: $12.30, $0.0042."""
    return f"${millionths / 1_000_000:.{2 if millionths >= 1_000_000 or not millionths else 4}f}"


def number(count: int) -> str:
    """Thousands apart by a thin space: a comma or a point would mean something else in one of our languages."""
    return f"{count:,}".replace(",", "\u202f")
