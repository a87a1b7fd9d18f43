"""Where Kabar ends when more and more people write, and what moves that: on paper, and simulated.

``paper``: for each limit of platform_limits.toml how many messages an hour it lets through, by what one message was
counted to use of it (metered_turns), and by what it would after whoever can move it has moved it. What comes first
breaks first.

``simulated``: messages that arrive at random go the way of a message, event by event, through those limits that make
them wait or fail: the webhook's places, one turn at a time in a conversation, the workers and how fast they become
more, the transactions that exclude each other on everybody's counters, the model's and the platform's rates. A rush
comes up in two and a half minutes and stays for as many, in which is measured: ``first_words`` and ``answer`` are
seconds from a message's being sent; ``waiting`` are messages without an answer at the end, and ``growth`` how many more
they become in an hour; ``busy`` is the share of each limit that was used, ``saturated`` those that had nothing left.

``as_deployed``: with the template's defaults and a new account. ``all_moved``: with all that its owner can ask for.
``bought``: where the model's maker and the platforms, by contract and with more bots, set no end; what is left is ours
and AWS's. Budgets are taken to be raised: what a message costs is said beside it.

Seeded: the same figures each time, but for what is counted.
"""

import math
import random
import statistics
import tomllib
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Mapping, Sequence
from itertools import chain, repeat
from pathlib import Path
from typing import Any, Literal, Protocol

import simpy
from msgspec import Struct, convert

from benchmarks import costs
from benchmarks.metered_turns import FIRST_WORD, Count, counted
from benchmarks.performance_page import table
from bot.adapters.dynamodb_store import CROWD_PAUSES
from handlers.worker import RETRY_AFTER

RATES = (1_000, 10_000, 100_000, 1_000_000)
"""Messages an hour."""
SECONDS = 300.0
CHAT_EVERY = 120.0
"""Seconds between two messages of one conversation that people are in: so many conversations there are at once."""
TRANSACTION = 0.02
"""Seconds for which a transaction keeps others off its items: assumed, AWS says only that it does."""
STEP = 0.01
"""Seconds of one request to AWS."""
LONGER = 0.5
"""How unlike answers are in length: the sigma of their logarithm."""
SPARED_AFTER = 1.0
"""Seconds behind its rate at which a platform is no longer shown how an answer grows."""
REPEATS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0)
"""Seconds after which a platform sends again what was not accepted, the last of them for good: assumed, Telegram says
only that it does. Slack would give up after the third."""
FULL = 0.9
"""Share of a limit that counts as all of it: who waits and looks again leaves a little."""

Steps = Generator[simpy.Event, Any, None]


class Limit(Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of platform_limits.toml."""

    what: str
    value: float
    uses: str
    moved_by: str
    kind: Literal["setting", "documented", "assumed"]
    source: str
    at_once: bool = False
    moved_to: float | None = None
    contract: float | None = None

    @property
    def moved(self) -> float:
        return self.value if self.moved_to is None else self.moved_to

    @property
    def bought(self) -> float:
        return self.moved if self.contract is None else self.contract


def read_limits() -> tuple[str, dict[str, Limit]]:
    """The date and the limits by name."""
    data = tomllib.loads((Path(__file__).parent / "platform_limits.toml").read_text())
    return data.pop("checked"), convert(data, dict[str, Limit])


def demand(counts: Mapping[str, Count]) -> dict[str, float]:
    """What one message uses: calls and units, or the seconds for which it takes up a place."""
    each, reminders = costs.averages(counts), costs.ASSUMED.reminders
    worker = each["worker_s"]
    webhook = costs.ASSUMED.webhook_s
    return {
        "dollars": costs.model_cost(counts)["average"],
        "worker_seconds": worker,
        "function_seconds": worker + webhook,
        "function_calls": 2.0,
        "webhook_calls": 1.0,
        "webhook_seconds": webhook + 0.1,  # and the way there and back
        "telegram_messages": each["platform_messages"],
        "model_calls": each["model_calls"],
        "model_input": each["model_input"],
        "model_output": each["model_output"],
        "everybody_seconds": each["everybodys"] * TRANSACTION,
        "write_units": each["write_units"],
        "read_units": each["read_units"],
        "due_writes": 2.0,  # in when it is received, out when it is answered
        "wakes": 1.0,
        "secret_reads": (worker + webhook) / costs.ASSUMED.secrets_kept_s,
        "files": each["puts"],
        "reminders": reminders,
    }


# On paper


def ladder(limits: Mapping[str, Limit], used: Mapping[str, float]) -> list[dict[str, Any]]:
    """Each limit with the messages an hour it lets through, as it is and moved; what ends first comes first."""
    rows = [
        {
            "limit": name,
            "what": limit.what,
            "messages_an_hour": _an_hour(limit.value, used[limit.uses]),
            "moved_by": limit.moved_by,
            "then": _an_hour(limit.moved, used[limit.uses]),
            "kind": limit.kind,
            "source": limit.source,
        }
        for name, limit in limits.items()
    ]
    return sorted(rows, key=lambda row: (row["messages_an_hour"] is None, row["messages_an_hour"] or 0))


def _an_hour(value: float, use: float) -> int | None:
    """None where it never ends."""
    messages = value / use * 3600 if use else math.inf
    return None if math.isinf(messages) else round(messages)


# Simulated


class Used(Protocol):
    """A limit that is watched: so much of it may be used in a second, and so much was."""

    a_second: float
    used: float


class Rate:
    """So much a second, first come first served, with a second's worth at once after a pause."""

    def __init__(self, env: simpy.Environment, a_second: float) -> None:
        self._env = env
        self._free_at = env.now - 1
        self.a_second = a_second
        self.used = 0.0

    @property
    def behind(self) -> float:
        """Seconds until what is asked for now is given."""
        return max(self._free_at - self._env.now, 0.0)

    def take(self, amount: float) -> simpy.Event:
        self._free_at = max(self._free_at, self._env.now - 1) + amount / self.a_second
        self.used += amount
        return self._env.timeout(self.behind)


class Counters:
    """Everybody's spending: transactions on the same of its counters exclude each other. Who meets another waits as the
    store does and tries again, and gives up after that."""

    def __init__(self, env: simpy.Environment, shards: int, dice: random.Random) -> None:
        self._env = env
        self._dice = dice
        self._free_at = [0.0] * shards
        self.a_second = float(shards)
        self.used = 0.0
        """Seconds that they were taken."""

    def commit(self, shard: int) -> Generator[simpy.Event, Any, bool]:
        """False where it never came to its turn."""
        for pause in (*CROWD_PAUSES, None):
            if self._free_at[shard] <= self._env.now:
                self._free_at[shard] = self._env.now + TRANSACTION
                self.used += TRANSACTION
                yield self._env.timeout(TRANSACTION)
                return True
            yield self._env.timeout(STEP if pause is None else STEP + pause * self._dice.uniform(2 / 3, 4 / 3))
        return False


class Workers:
    """Execution environments: as many as there may be, and so many more in a minute as an event source adds."""

    def __init__(self, env: simpy.Environment, most: int, more_a_second: float) -> None:
        self._env = env
        self._most = most
        self._pause = 1 / more_a_second
        self._free: simpy.Store = simpy.Store(env)
        self.made = min(costs.ASSUMED.pollers, most)
        self.a_second = float(most)
        self.used = 0.0
        """Seconds that all of them worked."""
        for _ in range(self.made):
            self._free.put(costs.ASSUMED.worker_start_s)
        env.process(self._grow())

    def _grow(self) -> Steps:
        while self.made < self._most:
            yield self._env.timeout(self._pause)
            if self._free.get_queue:
                self.made += 1
                self._free.put(costs.ASSUMED.worker_start_s)

    def work(self, steps: Steps) -> Steps:
        start = yield self._free.get()
        began = self._env.now
        yield self._env.timeout(start)
        yield from steps
        self.used += self._env.now - began
        self._free.put(0.0)


class Webhook:
    """Places, each of which takes ten calls a second at most. Who finds none is refused, and comes again."""

    def __init__(self, env: simpy.Environment, calls_a_second: float) -> None:
        self._env = env
        self.rate = Rate(env, calls_a_second)
        self.refused = 0

    def accept(self) -> Steps:
        repeats = chain(REPEATS, repeat(REPEATS[-1]))
        while self.rate.behind > 0:
            self.refused += 1
            yield self._env.timeout(next(repeats))
        self.rate.take(1)
        yield self._env.timeout(costs.ASSUMED.webhook_s)


class Town:
    """All of it. ``values`` are the limits, by name; ``a_second`` messages arrive."""

    def __init__(self, values: Mapping[str, float], used: Mapping[str, float], a_second: float, seed: int = 1) -> None:
        self.env = env = simpy.Environment()
        self.dice = dice = random.Random(seed)
        self.used = used
        self.a_second = a_second
        workers = int(min(values["worker_concurrency"], values["event_source"], values["account_concurrency"]))
        # Provisioned pollers add a thousand a minute, others three hundred (services-sqs-scaling.html).
        self.workers = Workers(env, workers, (1_000 if values["event_source"] > 1_000 else 300) / 60)
        self.shards = int(values["everybody"])
        self.counters = Counters(env, self.shards, dice)
        self.webhook = Webhook(env, values["webhook_concurrency"])
        rates = ("table_writes", "telegram_messages", "model_requests", "model_input", "model_output")
        self.rates = {name: Rate(env, values[name]) for name in rates}
        self.chats: defaultdict[int, simpy.Resource] = defaultdict(lambda: simpy.Resource(env))
        self.first_words: list[float] = []
        self.answers: list[float] = []
        self.counts: Counter[str] = Counter()
        self.limits: dict[str, Used] = {
            **self.rates,
            "workers": self.workers,
            "everybody": self.counters,
            "webhook": self.webhook.rate,
        }
        self.waiting_at_half = 0
        self.used_at_half: dict[str, float] = {}
        env.process(self._arrivals())
        env.process(self._look())

    def _arrivals(self) -> Steps:
        chats = max(round(self.a_second * CHAT_EVERY), 1)
        while True:
            yield self.env.timeout(self.dice.expovariate(self.a_second))
            if self.dice.random() * SECONDS / 2 < self.env.now:
                self.counts["sent"] += 1
                self.env.process(self._message(self.dice.randrange(chats)))

    def _look(self) -> Steps:
        yield self.env.timeout(SECONDS / 2)
        self.waiting_at_half = self.waiting
        self.used_at_half = {name: each.used for name, each in self.limits.items()}

    @property
    def waiting(self) -> int:
        return self.counts["sent"] - self.counts["answered"]

    def _message(self, chat: int) -> Steps:
        sent = self.env.now
        yield from self.webhook.accept()
        with self.chats[chat].request() as turn:
            yield turn
            yield from self.workers.work(self._turn(chat, sent))

    def _turn(self, chat: int, sent: float) -> Steps:
        yield from self._commit(chat)
        yield self._rate("model_requests", "model_calls")
        yield self._rate("model_input", "model_input")
        yield self._rate("model_output", "model_output")
        yield self.env.timeout(FIRST_WORD)
        yield self.rates["telegram_messages"].take(1)
        self._note(self.first_words, sent)
        rest = max(self.used["worker_seconds"] - FIRST_WORD - 0.1, 0.1)
        yield self.env.timeout(rest * self.dice.lognormvariate(-(LONGER**2) / 2, LONGER))
        edits = max(self.used["telegram_messages"] - 2, 0)
        if self.rates["telegram_messages"].behind < SPARED_AFTER:
            self.rates["telegram_messages"].take(edits)
        yield self.rates["telegram_messages"].take(1)
        yield from self._commit(chat)
        self._note(self.answers, sent)
        self.counts["answered"] += 1

    def _rate(self, name: str, uses: str) -> simpy.Event:
        return self.rates[name].take(self.used[uses])

    def _commit(self, chat: int) -> Steps:
        """Half of what a message writes, together with everybody's counters; where these are never free, the wake comes
        again after a while, and the turn goes on where it was."""
        yield self.rates["table_writes"].take(self.used["write_units"] / 2)
        for _ in range(max(round(self.used["everybody_seconds"] / TRANSACTION / 2), 1)):
            while not (yield from self.counters.commit(chat % self.shards)):
                self.counts["given_up"] += 1
                yield self.env.timeout(RETRY_AFTER)

    def _note(self, latencies: list[float], sent: float) -> None:
        if self.env.now >= SECONDS / 2:
            latencies.append(self.env.now - sent)

    def run(self) -> dict[str, Any]:
        self.env.run(SECONDS)
        busy = {
            name: (each.used - self.used_at_half[name]) / each.a_second / (SECONDS / 2)
            for name, each in self.limits.items()
        }
        return {
            "sent": self.counts["sent"],
            "answered": self.counts["answered"],
            "refused_calls": self.webhook.refused,
            "waiting": self.waiting,
            "growth": round((self.waiting - self.waiting_at_half) / (SECONDS / 2) * 3600),
            "first_words": _spread(self.first_words),
            "answer": _spread(self.answers),
            "wakes_again": self.counts["given_up"],
            "environments": self.workers.made,
            "busy": {name: round(min(share, 1.0), 3) for name, share in sorted(busy.items())},
            "saturated": sorted(name for name, share in busy.items() if share >= FULL),
        }


def _spread(seconds: Sequence[float]) -> dict[str, float] | None:
    """None where nobody was answered."""
    if len(seconds) < 2:
        return None
    hundredths = statistics.quantiles(seconds, n=100, method="inclusive")
    return {"p50": round(hundredths[49], 1), "p99": round(hundredths[98], 1)}


def simulate(
    limits: Mapping[str, Limit], used: Mapping[str, float], rates: Iterable[int] = RATES
) -> dict[str, dict[str, Any]]:
    """By setting and rate."""
    settings = {
        "as_deployed": {name: limit.value for name, limit in limits.items()},
        "all_moved": {name: limit.moved for name, limit in limits.items()},
        "bought": {name: limit.bought for name, limit in limits.items()},
    }
    # What spreading everybody's counter is for.
    settings["bought_but_one_counter"] = {**settings["bought"], "everybody": limits["everybody"].value}
    return {
        name: {str(rate): Town(values, used, rate / 3600).run() for rate in rates} for name, values in settings.items()
    }


def dollars_an_hour(counts: Mapping[str, Count], rate: int) -> dict[str, float]:
    """At list prices, were it so all month."""
    deployed, prices = costs.read_deployment(), costs.read_prices()
    month = costs.bill(costs.month(rate * costs.HOURS, counts, deployed), prices)
    aws = sum(line["list"] for line in month.values()) / costs.HOURS
    return {"aws": round(aws, 2), "model": round(rate * costs.model_cost(counts)["average"], 2)}


def measure() -> dict[str, Any]:
    return figures(counted())


def figures(counts: Mapping[str, Count], rates: Iterable[int] = RATES) -> dict[str, Any]:
    checked, limits = read_limits()
    used = demand(counts)
    rates = list(rates)
    return {
        "limits_checked": checked,
        "per_message": {name: round(value, 4) for name, value in used.items()},
        "paper": ladder(limits, used),
        "simulated": simulate(limits, used, rates),
        "dollars_an_hour": {str(rate): dollars_an_hour(counts, rate) for rate in rates},
    }


def markdown(scale: Mapping[str, Any]) -> str:
    """The page's section, of what ``measure`` says."""
    paper = [
        [
            row["what"],
            _messages(row["messages_an_hour"]),
            row["moved_by"],
            _messages(row["then"]),
            f"[{row['kind']}]({row['source']})" if row["source"].startswith("https://") else row["kind"],
        ]
        for row in scale["paper"]
    ]
    return "\n".join(
        [
            "Messages an hour until each limit is reached, were all of them to come through one bot or one workspace,"
            f" as deployed by default; limits as of {scale['limits_checked']}.",
            "",
            table(["limit", "breaks at", "moved by", "then at", ""], paper),
            "",
            f"Simulated: a rush that comes up in {SECONDS / 2:.0f} seconds and stays for as many, in which is measured."
            " Seconds are the median and the 99th percentile. Bought is where the model's maker and the platforms, by"
            " contract and with more bots, set no end.",
            "",
            table(
                [
                    "messages an hour",
                    "",
                    "first words",
                    "answer",
                    "waiting grows by",
                    "nothing left of",
                    "AWS + model, an hour",
                ],
                list(_simulated(scale)),
            ),
        ]
    )


def _simulated(scale: Mapping[str, Any]) -> Iterable[list[str]]:
    for rate, dollars in scale["dollars_an_hour"].items():
        for setting, runs in scale["simulated"].items():
            run = runs[rate]
            yield [
                f"{int(rate):,}",
                setting.replace("_", " "),
                _seconds(run["first_words"]),
                _seconds(run["answer"]),
                f"{max(run['growth'], 0):,}",
                ", ".join(run["saturated"]).replace("_", " ") or "nothing",
                f"${dollars['aws']:,.2f} + ${dollars['model']:,.2f}",
            ]


def _messages(an_hour: int | None) -> str:
    return "never" if an_hour is None else f"{an_hour:,}"


def _seconds(spread: Mapping[str, float] | None) -> str:
    return "nobody had any" if spread is None else f"{spread['p50']:g}, {spread['p99']:g}"
