"""However long a conversation is, a message asks the store for the same."""

from pathlib import Path

from benchmarks.histories import markdown, on_dynamodb, on_sqlite, with_growth
from tests.emulator import Account


async def test_a_long_history_costs_dynamodb_no_request_and_no_unit_more(aws: Account) -> None:
    figures = await on_dynamodb(aws.client, aws.endpoint, (100, 400))
    short, long = figures.values()
    counted = ("read_requests", "write_requests", "read_units", "write_units")
    assert {name: long[name] for name in counted} == {name: short[name] for name in counted}
    assert abs(long["read_kb"] - short["read_kb"]) < 0.5
    assert short["read_units"] > 0


async def test_the_growth_is_told_of_both_stores(tmp_path: Path) -> None:
    figures = await on_sqlite(tmp_path / "kabar.sqlite3", (10, 20))
    assert list(with_growth(figures)) == ["10", "20", "grows"]
    assert list(with_growth(figures)["grows"]) == ["own_ms"]
    page = markdown({"dynamodb": with_growth(figures), "sqlite": with_growth(figures)})
    assert "| store |  | 10 | 20 | grows |" in page
    assert "| sqlite | own ms |" in page
