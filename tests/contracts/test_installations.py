"""What every store guarantees of installations. Each test runs over DynamoDB (a local emulator) and over SQLite."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.adapters import dynamodb_store, sqlite_store
from bot.messages import Installation
from bot.ports import Installations
from tests.clock import FakeClock
from tests.emulator import Account

ACME = Installation("T1", "Acme", "UBOT", "U7", 1_000, b"\x00sealed\xff", "s1", expires=44_200)


@pytest.fixture(params=["dynamodb", "sqlite"])
def kept(request: pytest.FixtureRequest, clock: FakeClock, tmp_path: Path) -> Iterator[Installations]:
    if request.param == "dynamodb":
        aws: Account = request.getfixturevalue("aws")
        client = aws.client("dynamodb")
        dynamodb_store.create_table(client, "kabar")
        yield dynamodb_store.DynamoDBStore(client, "kabar", clock)
    else:
        sqlite = sqlite_store.SQLiteStore(tmp_path / "kabar.sqlite3", clock)
        yield sqlite
        sqlite.close()


async def test_what_is_installed_comes_back_as_it_was_until_it_is_uninstalled(kept: Installations) -> None:
    assert await kept.installation("T1") is None
    await kept.install(ACME)
    await kept.install(replace(ACME, team="E1", name="Whole"))
    assert await kept.installation("T1") == ACME
    await kept.uninstall("T1", ACME.at)
    assert await kept.installation("T1") is None
    await kept.uninstall("T1", ACME.at)
    other = await kept.installation("E1")
    assert other is not None and other.name == "Whole"


async def test_the_newest_installation_stands_whichever_is_written_last(kept: Installations) -> None:
    newer = replace(ACME, at=1_001, stamp="s2")
    await kept.install(newer)
    await kept.install(ACME)
    assert await kept.installation("T1") == newer
    again = replace(newer, stamp="s3", tokens=b"other")
    await kept.install(again)
    assert await kept.installation("T1") == again


async def test_an_uninstall_that_comes_late_leaves_what_was_installed_after_it(kept: Installations) -> None:
    await kept.install(replace(ACME, at=1_001))
    await kept.uninstall("T1", 1_000)
    assert await kept.installation("T1") is not None


async def test_of_many_changes_at_once_exactly_one_is_made(kept: Installations) -> None:
    await kept.install(ACME)
    changes = [replace(ACME, stamp=f"c{number}", busy=number) for number in range(20)]
    made = await asyncio.gather(*(kept.change_installation("s1", each) for each in changes))
    assert made.count(True) == 1
    assert await kept.installation("T1") == changes[made.index(True)]


async def test_what_is_not_there_any_more_is_not_changed(kept: Installations) -> None:
    assert not await kept.change_installation("s1", ACME)
    assert await kept.installation("T1") is None


async def test_a_name_is_first_once_until_its_time_is_over(kept: Installations, clock: FakeClock) -> None:
    until = int(clock.now()) + 600
    asked = await asyncio.gather(*(kept.first("state", until) for _ in range(20)))
    assert asked.count(True) == 1
    assert await kept.first("another", until)
    clock.advance(601)
    assert await kept.first("state", until + 601)
