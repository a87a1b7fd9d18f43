"""What Kabar costs on AWS in a month, at no, 100, 10,000 and 1,000,000 messages: ``python -m benchmarks.costs``.

    counted      what one message asks of AWS and what its model call takes: the real handlers, metered (metered_turns)
    read         how many alarms, dashboards, schedules and event source mappings there are: the template
    assumed      ASSUMED below: what no emulator can tell
    priced       aws_prices.toml, with a date and a source for each price; the model by bot/models.py

``list`` is the bill at list prices, ``free`` what is left of it where the account uses its always-free tier for nothing
else. The model is apart: it is paid to its provider. ``--write`` writes docs/costs.md.
"""

import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, convert, to_builtins

from benchmarks.metered_turns import EARLIER, FIRST_WORD, PACE, WORDS, Count, counted
from benchmarks.performance_page import section, table
from bot.messages import Bill, Usage
from bot.metrics import FEW
from bot.models import PRICES_OF, cost
from handlers.settings import Settings
from tests.packages.template import read_template

PAGE = Path(__file__).parent.parent / "docs/costs.md"
VOLUMES = (0, 100, 10_000, 1_000_000)
HOURS = 730
"""Of a month, as AWS counts them."""
SHARES = {"talk": 0.75, "tool": 0.2, "picture": 0.05}
"""Of the messages, by the kinds that are counted: assumed."""
GB = 1e9


class Assumed(Struct, frozen=True):
    """What is not counted here. Each with its reason in ASSUMED_BECAUSE."""

    webhook_s: float = 0.03
    webhook_start_s: float = 0.6
    worker_start_s: float = 3.0
    pollers: int = 5
    poll_s: float = 20.0
    secrets: int = 5
    secrets_kept_s: float = 60.0
    follow_ups: float = 0.7
    invocation_log_bytes: int = 400
    log_line_bytes: int = 26
    picture_bytes: int = 150_000
    reminders: float = 0.02
    values: int = 4


ASSUMED = Assumed()
ASSUMED_BECAUSE = {
    "webhook_s": "seconds of a warm webhook call: one put and one send, some 10 ms each, and its own work",
    "webhook_start_s": "seconds that a cold webhook is billed for beyond its call",
    "worker_start_s": "the same of the worker, at the processor's share of 1,024 MB (infra/template.yaml)",
    "pollers": "long polls that an event source mapping keeps open: five for a standard queue, which goes down to two"
    " only without MaximumConcurrency (docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html); taken for FIFO",
    "poll_s": "seconds of one long poll, SQS's longest",
    "secrets": "SecureStrings under the path, each of which is one decryption whenever the secrets are read",
    "secrets_kept_s": "seconds for which an execution environment keeps them (handlers/aws.py)",
    "follow_ups": "share of messages that come within the five minutes in which the model's cache still holds the"
    " conversation; the others write all of it anew",
    "invocation_log_bytes": "of the lines that Lambda itself writes for each call: START, END, REPORT",
    "log_line_bytes": "that CloudWatch counts for each line beside its own",
    "picture_bytes": "of a picture as it is kept",
    "reminders": "of a message: schedules that fire; each is a call of the webhook and a turn like a message's",
    "values": "statuses of refused requests that occur, each of which is a metric (bot/metrics.py)",
}


SUMS = {"list": "AWS, list price", "free": "AWS, beyond the free tier", "model": "The model's tokens"}


class Price(Struct, frozen=True):
    """``usd`` for ``per`` units, of which a month has ``free``. ``page`` is AWS's own, ``read`` where it was read."""

    what: str
    usd: float
    per: float
    free: float
    page: str
    read: str

    def of(self, units: float) -> float:
        return units / self.per * self.usd

    def beyond_free(self, units: float) -> float:
        return self.of(max(units - self.free, 0.0))


class Prices(Struct, frozen=True):
    region: str
    checked: str
    by_name: dict[str, Price]


class Deployment(Struct, frozen=True):
    """What there is whether anybody talks or not."""

    mappings: int
    alarms: int
    dashboards: int
    metrics: int
    sweep_minutes: int
    webhook_gb: float
    worker_gb: float
    log_days: int


def read_prices() -> Prices:
    data = tomllib.loads((Path(__file__).parent / "aws_prices.toml").read_text())
    head = {name: data.pop(name) for name in ("region", "checked")}
    return Prices(**head, by_name=convert(data, dict[str, Price]))


def read_deployment() -> Deployment:
    """As the template makes it by default."""
    template = read_template()
    resources, parameters = template["Resources"], template["Parameters"]
    kinds = [each["Type"] for each in resources.values()]
    events = [
        event
        for each in resources.values()
        if each["Type"] == "AWS::Serverless::Function" and each.get("Condition") is None
        for event in each["Properties"].get("Events", {}).values()
    ]
    [sweep] = [event["Properties"]["Schedule"] for event in events if event["Type"] == "Schedule"]
    [minutes] = re.findall(r"rate\((\d+) minutes\)", sweep)
    return Deployment(
        mappings=sum(event["Type"] == "SQS" for event in events),
        alarms=kinds.count("AWS::CloudWatch::Alarm"),
        dashboards=kinds.count("AWS::CloudWatch::Dashboard"),
        metrics=_metrics(),
        sweep_minutes=int(minutes),
        webhook_gb=resources["WebhookFunction"]["Properties"]["MemorySize"] / 1024,
        worker_gb=resources["WorkerFunction"]["Properties"]["MemorySize"] / 1024,
        log_days=parameters["LogDays"]["Default"],
    )


def _metrics() -> int:
    """Our own, as the template counts them by default: the few, of which one is counted by its second dimension."""
    return len(FEW) - 1 + ASSUMED.values


def month(messages: int, counts: Mapping[str, Count], deployed: Deployment) -> dict[str, float]:
    """What a month with so many messages uses, by the names of the prices."""
    turns = messages * (1 + ASSUMED.reminders)
    fired = messages * ASSUMED.reminders
    minutes = HOURS * 60
    sweeps = minutes / deployed.sweep_minutes
    webhooks = messages + fired + sweeps
    each = averages(counts)
    cold = share_cold(messages)
    lines = turns * (each["log_bytes"] + each["log_lines"] * ASSUMED.log_line_bytes)
    logged = lines + (webhooks + turns) * ASSUMED.invocation_log_bytes
    stored = turns * each["stored_bytes"] / 2  # on average over a month in which it grows from nothing
    return {
        "lambda_requests": webhooks + turns,
        "lambda_gb_seconds": deployed.webhook_gb * webhooks * (ASSUMED.webhook_s + cold * ASSUMED.webhook_start_s)
        + deployed.worker_gb * turns * (each["worker_s"] + cold * ASSUMED.worker_start_s),
        # One receive and one delete for each wake; the polls that find nothing go on beside them.
        "sqs_requests": turns * (each["sqs"] + 2) + deployed.mappings * ASSUMED.pollers * HOURS * 3600 / ASSUMED.poll_s,
        "table_writes": turns * each["write_units"],
        # The sweep asks four shards for messages and four for reminders: half a unit each, as they are mostly empty.
        "table_reads": turns * each["read_units"] + sweeps * 4,
        "table_gb": stored / GB,
        "recovery_gb": stored / GB,
        "files_puts": turns * each["puts"],
        "files_gets": turns * each["gets"],
        "files_gb": turns * each["puts"] * ASSUMED.picture_bytes / 2 / GB,
        "key_requests": ASSUMED.secrets * secret_reads(turns, each["worker_s"]),
        "log_gb": logged / GB,
        "log_kept_gb": logged / GB * min(deployed.log_days * 24 / HOURS, 1),
        # Counted by the hour in which something was measured.
        "metrics": deployed.metrics * min(messages / HOURS, 1.0),
        "alarms": deployed.alarms,
        "dashboards": deployed.dashboards,
        "schedules": fired,
        "transfer_gb": turns * (each["model_bytes"] + each["platform_bytes"]) / GB,
    }


def averages(counts: Mapping[str, Count]) -> dict[str, float]:
    """Of one message, by SHARES."""
    total: dict[str, float] = {}
    for kind, share in SHARES.items():
        count = counts[kind]
        figures = {
            **{name: getattr(count, name) for name in ("worker_s", "read_units", "write_units", "stored_bytes")},
            **{name: getattr(count, name) for name in ("log_lines", "log_bytes", "model_bytes")},
            **{name: getattr(count, name) for name in ("platform_bytes", "everybodys")},
            "platform_calls": sum(count.platform.values()),
            "platform_messages": sum(times for method, times in count.platform.items() if _is_message(method)),
            "model_calls": count.model.calls,
            "model_input": _uncached(count.model) * ASSUMED.follow_ups
            + _uncached(_forgotten(count.model)) * (1 - ASSUMED.follow_ups),
            "model_output": count.model.output,
            "sqs": sum(times for name, times in count.requests.items() if name.startswith("sqs.")),
            "puts": count.requests.get("s3.PUT", 0),
            "gets": count.requests.get("s3.GET", 0),
        }
        for name, value in figures.items():
            total[name] = total.get(name, 0.0) + share * value
    return total


def _is_message(method: str) -> bool:
    """Whether Telegram counts it among what a bot writes."""
    return method.startswith(("send", "edit")) and method != "sendChatAction"


def share_cold(messages: int) -> float:
    """Of the messages that meet a cold start: where they come evenly, those that find none of the environments that
    were used within the last ten minutes. Lambda promises no time; it keeps them for some minutes."""
    in_ten_minutes = messages / HOURS / 6
    return 1 / (1 + in_ten_minutes)


def secret_reads(turns: float, worker_s: float) -> float:
    """How often the functions read the secrets: once a minute for each environment that is used in it, which are never
    more than its messages; a message uses two. The sweep asks for none."""
    minutes = HOURS * 60
    by_message = turns * 2
    at_once = 1 + turns / minutes / 60 * worker_s
    return min(by_message, minutes * 60 / ASSUMED.secrets_kept_s * (1 + at_once))


def model_cost(counts: Mapping[str, Count]) -> dict[str, float]:
    """Dollars that the model of one message costs: while its cache holds the conversation, when it has forgotten it,
    and on average."""
    model = Settings().kabar_model
    warm = sum(share * counts[kind].model.cost for kind, share in SHARES.items()) / 1e6
    cold = sum(share * cost(model, _forgotten(counts[kind].model)) for kind, share in SHARES.items()) / 1e6
    return {"warm": warm, "cold": cold, "average": ASSUMED.follow_ups * warm + (1 - ASSUMED.follow_ups) * cold}


def _uncached(counted: Bill | Usage) -> int:
    return counted.fresh + counted.cache_write + counted.cache_write_long


def _forgotten(bill: Bill) -> Usage:
    """The same calls where the first of them finds nothing in the cache: what it read it writes."""
    first = bill.cache_read // bill.calls
    return Usage(
        fresh=bill.fresh,
        cache_write=bill.cache_write + first,
        cache_write_long=bill.cache_write_long,
        cache_read=bill.cache_read - first,
        output=bill.output,
    )


def bill(used: Mapping[str, float], prices: Prices) -> dict[str, dict[str, float]]:
    """By the names of the prices: how much of it, dollars at the list's price, dollars beyond the free tier."""
    return {
        name: {
            "units": units,
            "list": prices.by_name[name].of(units),
            "free": prices.by_name[name].beyond_free(units),
        }
        for name, units in used.items()
    }


def measure() -> dict[str, Any]:
    return figures(counted(), read_deployment(), read_prices())


def figures(counts: Mapping[str, Count], deployed: Deployment, prices: Prices) -> dict[str, Any]:
    model = model_cost(counts)
    months = {}
    for messages in VOLUMES:
        lines = bill(month(messages, counts, deployed), prices)
        months[str(messages)] = {
            "list": sum(line["list"] for line in lines.values()),
            "free": sum(line["free"] for line in lines.values()),
            "model": messages * (1 + ASSUMED.reminders) * model["average"],
            "lines": lines,
        }
    return {
        "region": prices.region,
        "prices_checked": prices.checked,
        "model": {"name": Settings().kabar_model, "prices_of": PRICES_OF, "per_message": model},
        "counted": to_builtins(dict(counts)),
        "per_message": averages(counts),
        "deployed": to_builtins(deployed),
        "assumed": to_builtins(ASSUMED),
        "months": months,
    }


def markdown(costs: Mapping[str, Any]) -> str:
    """Of what ``measure`` says, what matters beside other measurements."""
    head = ["messages", *(f"{int(messages):,}" for messages in costs["months"])]
    words = f"""
        US dollars a month by the number of messages, {costs["region"]}; each price, what is counted and what is
        assumed: [costs.md](costs.md)."""
    rows = [(what, *(_usd(each[name]) for each in costs["months"].values())) for name, what in SUMS.items()]
    return section("What a month costs", words, table(head, rows))


def page(costs: Mapping[str, Any]) -> str:
    """All of it."""
    prices = read_prices()
    assumed = [[f"`{name}`", f"{costs['assumed'][name]:,}", why] for name, why in ASSUMED_BECAUSE.items()]
    sources = [[price.what, f"<{price.page}>", _source(price.read)] for price in prices.by_name.values()]
    return "\n".join(
        [
            f"US dollars a month by the number of messages, {costs['region']}, prices of {costs['prices_checked']}.",
            "",
            _bill_table(prices, costs["months"]),
            "",
            *_words(costs),
            "",
            "What is assumed:",
            "",
            table(["", "", ""], assumed),
            "",
            "Where the prices come from:",
            "",
            table(["", "AWS's page", "read in"], sources),
        ]
    )


def _bill_table(prices: Prices, months: Mapping[str, Any]) -> str:
    head = ["messages", "unit price", *(f"{int(messages):,}" for messages in months)]
    rows = [
        [
            price.what,
            f"${price.usd:g} for {price.per:,.0f}",
            *(_usd(each["lines"][name]["list"]) for each in months.values()),
        ]
        for name, price in prices.by_name.items()
    ]
    rows += [
        [f"**{what}**", "", *(f"**{_usd(each[name])}**" for each in months.values())] for name, what in SUMS.items()
    ]
    return table(head, rows)


def _words(costs: Mapping[str, Any]) -> list[str]:
    model, per, idle = costs["model"], costs["per_message"], costs["months"]["0"]
    once = model["per_message"]
    mix = ", ".join(f"{share:.0%} {kind}" for kind, share in SHARES.items())
    polls, mappings = _usd(idle["lines"]["sqs_requests"]["list"]), costs["deployed"]["mappings"]
    return [
        f"While nobody talks, {polls} are for the long polls by which Lambda asks {mappings} queues whether anything"
        " has come, the rest for the sweep, the alarms and the dashboard. With the account's free tier"
        f" {_usd(idle['free'])} are left.",
        "",
        f"One message asks the table for {per['write_units']:.0f} write and {per['read_units']:.0f} read units, keeps"
        f" its worker for {per['worker_s']:.1f} seconds, most of them the model's, and calls the platform"
        f" {per['platform_calls']:.0f} times. {model['name']} takes ${once['warm']:.4f} for it while its cache holds"
        f" the conversation and ${once['cold']:.4f} when all of it is read again (prices of {model['prices_of']}).",
        "",
        "Counted are the requests of the real handlers on an emulated AWS, for messages in one Telegram chat that has"
        f" {2 * EARLIER} before them ({mix}). The model answers with {WORDS} words, the first of them after"
        f" {FIRST_WORD} seconds, each other after {PACE}.",
    ]


def _usd(dollars: float) -> str:
    return "0" if dollars < 0.005 else f"{dollars:,.2f}"


def _source(read: str) -> str:
    return f"<{read}>" if read.startswith("https://") else read


def main() -> None:
    told = f"# What it costs\n\nWritten by `python -m benchmarks.costs --write`.\n\n{page(measure())}\n"
    if "--write" in sys.argv[1:]:
        PAGE.write_text(told)
    else:
        sys.stdout.write(told)


if __name__ == "__main__":
    main()
