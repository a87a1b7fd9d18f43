"""What the table of costs promises: counted requests, prices with a date and a source, and sums that are right."""

from dataclasses import dataclass
from datetime import date
from typing import Any

import pytest

from benchmarks.capacity_units import item_bytes, read_units, write_units
from benchmarks.costs import (
    ASSUMED,
    ASSUMED_BECAUSE,
    SHARES,
    VOLUMES,
    Deployment,
    Price,
    Prices,
    bill,
    figures,
    month,
    page,
    read_deployment,
    read_prices,
)
from benchmarks.metered_turns import KINDS, Count, metered
from bot.messages import Bill

DEPLOYED = Deployment(
    mappings=2,
    alarms=12,
    dashboards=1,
    metrics=20,
    sweep_minutes=5,
    webhook_gb=0.5,
    worker_gb=1.0,
    log_days=30,
)
COUNT = Count(
    worker_s=10.0,
    requests={"sqs.SendMessage": 1, "sqs.ChangeMessageVisibility": 2, "s3.PUT": 1, "dynamodb.PutItem": 1},
    read_units=8.0,
    write_units=40.0,
    stored_bytes=2_000,
    log_lines=4,
    log_bytes=496,
    model_bytes=30_000,
    platform={"sendChatAction": 1, "sendMessage": 1, "editMessageText": 4},
    platform_bytes=10_000,
    everybodys=2,
    model=Bill(turns=1, calls=1, cost=5_000, cache_write=400, cache_read=6_000, output=300),
)
COUNTS = dict.fromkeys(SHARES, COUNT)


def price(usd: float, per: float, free: float) -> Price:
    return Price("", usd, per, free, "https://aws.amazon.com", "https://aws.amazon.com")


def test_a_bill_is_the_units_times_the_price_less_what_is_free() -> None:
    prices = Prices("us-east-1", "2026-12-01", {"requests": price(0.5, 1_000_000, 1_000_000), "gb": price(0.25, 1, 25)})
    assert bill({"requests": 3_000_000, "gb": 10}, prices) == {
        "requests": {"units": 3_000_000, "list": 1.5, "free": 1.0},
        "gb": {"units": 10, "list": 2.5, "free": 0.0},
    }


def test_while_nobody_talks_the_polls_the_sweep_and_the_alarms_are_left() -> None:
    idle = month(0, COUNTS, DEPLOYED)
    sweeps = 730 * 60 / 5
    assert {name: units for name, units in idle.items() if units} == pytest.approx(
        {
            "lambda_requests": sweeps,
            "lambda_gb_seconds": 0.5 * sweeps * (0.03 + 0.6),
            "sqs_requests": 2 * 5 * 730 * 3600 / 20,
            "table_reads": sweeps * 4,
            "log_gb": sweeps * 400 / 1e9,
            "log_kept_gb": sweeps * 400 / 1e9 * 720 / 730,
            "alarms": 12,
            "dashboards": 1,
        }
    )


def test_what_a_month_uses_grows_with_each_message_by_what_one_was_counted_to_ask() -> None:
    turns = 1_000_000 * 1.02
    idle, busy = month(0, COUNTS, DEPLOYED), month(1_000_000, COUNTS, DEPLOYED)
    more = {name: units - idle[name] for name, units in busy.items()}
    assert more["lambda_requests"] == pytest.approx(2 * turns)
    assert more["sqs_requests"] == pytest.approx(turns * (1 + 2 + 2))
    assert more["table_writes"] == pytest.approx(turns * 40)
    assert more["table_reads"] == pytest.approx(turns * 8)
    assert more["transfer_gb"] == pytest.approx(turns * 40_000 / 1e9)
    assert more["log_gb"] == pytest.approx(turns * (496 + 4 * 26 + 2 * 400) / 1e9)
    assert more["files_puts"] == pytest.approx(turns)
    assert more["alarms"] == 0
    assert more["metrics"] == 20


def test_the_secrets_are_never_read_more_often_than_messages_come_nor_than_the_minutes_of_those_at_work() -> None:
    few, many = month(100, COUNTS, DEPLOYED), month(1_000_000, COUNTS, DEPLOYED)
    at_once = 1 + 1_020_000 / (730 * 3600) * 10
    assert few["key_requests"] == pytest.approx(5 * 2 * 102)
    assert many["key_requests"] == pytest.approx(5 * 730 * 60 * (1 + at_once))


def test_every_unit_of_the_month_has_a_price_with_a_date_and_a_source() -> None:
    prices = read_prices()
    assert prices.by_name.keys() == month(1, COUNTS, DEPLOYED).keys()
    assert date.fromisoformat(prices.checked) >= date(2026, 12, 1)
    for each in prices.by_name.values():
        assert each.page.startswith("https://aws.amazon.com/")
        assert each.read
        assert each.usd > 0


def test_what_is_assumed_has_a_reason() -> None:
    assert list(ASSUMED_BECAUSE) == list(ASSUMED.__struct_fields__)
    assert sum(SHARES.values()) == pytest.approx(1)
    assert tuple(SHARES) == KINDS


def test_what_the_template_deploys_is_read_from_it() -> None:
    deployed = read_deployment()
    assert (deployed.mappings, deployed.sweep_minutes, deployed.worker_gb) == (2, 5, 1.0)
    assert deployed.alarms >= 3


def test_the_page_shows_each_volume_and_each_price() -> None:
    told = page(figures(COUNTS, DEPLOYED, read_prices()))
    assert "| messages | unit price | 0 | 100 | 10,000 | 1,000,000 |" in told
    assert all(each.what in told for each in read_prices().by_name.values())
    assert VOLUMES == (0, 100, 10_000, 1_000_000)


@dataclass
class Counted:
    """A request and its answer, and the units that AWS's rules make of them."""

    operation: str
    request: dict[str, Any]
    answer: dict[str, Any]
    reads: float = 0
    writes: float = 0


def item(size: int) -> dict[str, dict[str, str]]:
    """So many bytes, its name included."""
    return {"s": {"S": "x" * (size - 1)}}


STRONG = {"ConsistentRead": True}
TAKEN = {"Update": {"UpdateExpression": "REMOVE pending, expires_at"}}
DONE = {"Update": {"UpdateExpression": "SET expires_at = :e REMOVE pending, inbound, due_shard, received_at"}}


@pytest.mark.parametrize(
    "counted",
    [
        Counted("GetItem", STRONG, {"Item": item(4_096)}, reads=1),
        Counted("GetItem", STRONG, {"Item": item(4_097)}, reads=2),
        Counted("GetItem", {}, {}, reads=0.5),
        Counted("Query", STRONG, {"Items": [item(3_000)] * 3}, reads=3),
        Counted("Query", {}, {"Items": []}, reads=0.5),
        Counted(
            "BatchGetItem",
            {"RequestItems": {"t": {"Keys": [{}, {}, {}], **STRONG}}},
            {"Responses": {"t": [item(5_000), item(10)]}},
            reads=4,
        ),
        Counted("PutItem", {"Item": item(10)}, {"ConsumedCapacity": {"CapacityUnits": 3.0}}, writes=3),
        Counted("UpdateItem", {}, {}, writes=1),
        Counted(
            "TransactWriteItems",
            {"TransactItems": [TAKEN, DONE, {"Put": {"Item": item(10)}}]},
            {"ConsumedCapacity": [{"CapacityUnits": 6.0}]},
            writes=6 + 1 + 2,
        ),
    ],
    ids=lambda counted: counted.operation,
)
def test_a_request_costs_the_units_that_the_rules_say(counted: Counted) -> None:
    assert read_units(counted.operation, counted.request, counted.answer) == counted.reads
    assert write_units(counted.operation, counted.request, counted.answer) == counted.writes


def test_an_item_is_as_large_as_its_names_and_values() -> None:
    assert item_bytes({"name": {"S": "äb"}, "n": {"N": "1234"}, "b": {"B": "AAAA"}, "t": {"BOOL": True}}) == (
        4 + 3 + 1 + 3 + 1 + 3 + 1 + 1
    )


async def test_the_real_handlers_are_counted_message_by_message() -> None:
    counts = await metered(earlier=1, slow=False)
    assert list(counts) == list(KINDS)
    for count in counts.values():
        assert (count.requests["dynamodb.PutItem"], count.requests["sqs.SendMessage"]) == (1, 1)
        assert count.model.turns == 1
        assert count.write_units > 20
        assert 4 <= count.read_units < 20  # the inbox, the window, two profiles; and a look into the inbox each second
        assert 0 < count.stored_bytes < count.model_bytes
        assert count.log_lines > 2
    assert [counts[kind].model.calls for kind in KINDS] == [1, 2, 1]
    assert [counts[kind].requests.get("s3.PUT", 0) for kind in KINDS] == [0, 0, 1]
