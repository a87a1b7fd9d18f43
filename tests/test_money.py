"""Budgets, rate limits and /usage, through whole turns."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bot.access import Access
from bot.adapters import dynamodb_store
from bot.adapters.anthropic_model import AnthropicModel, client
from bot.adapters.sqlite_store import SQLiteStore
from bot.agent import Limits
from bot.budget import FIRST, Budget
from bot.clock import SystemClock
from bot.deadline import Deadline
from bot.errors import ChatClosed
from bot.messages import Attachment, Bill, Counter, Inbound, Place, Spent
from bot.ports import Store
from bot.toolkit import Toolbox
from bot.turn import Outcome, Turns
from simulator.model_reply import Answer
from simulator.model_rules import Json
from simulator.script import call, overloaded, reply, scripted, text
from tests.bots import NoWake, bot_on, news, tap, turns_of, words
from tests.emulator import Account
from tests.recorder import WAIT, RecordingChannel
from tests.say import ANN, BUDI, GROUP, HERE, inbound

PRICE = 10_000
"""Millionths of a dollar that each answer of these tests costs: 1,000 tokens, at ten dollars a million."""


def said(block: Json | str, tokens: int = 1_000) -> Answer:
    usage = {
        "input_tokens": 0,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "cache_creation": {},
        "output_tokens": tokens,
    }
    return reply(text(block) if isinstance(block, str) else block, usage=usage)


NOON = datetime(2033, 5, 18, 12, tzinfo=UTC).timestamp()


class Noon(SystemClock):
    """Time passes as it does, but from a noon on, so that no test meets the end of a minute or a day."""

    def __init__(self, hours_later: int = 0) -> None:
        self._moved = NOON + hours_later * 3600 - super().now()

    def now(self) -> float:
        return super().now() + self._moved


def heard(line: str = "?", number: int = 1, **more: Any) -> Inbound:
    return replace(inbound(line, number, **more), sent_at=int(NOON))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kabar.sqlite3"


@pytest.fixture(params=["dynamodb", "sqlite"])
def store(request: pytest.FixtureRequest, path: Path) -> Iterator[Store]:
    if request.param == "dynamodb":
        aws: Account = request.getfixturevalue("aws")
        client = aws.client("dynamodb")
        dynamodb_store.create_table(client, "kabar")
        yield dynamodb_store.DynamoDBStore(client, "kabar", Noon())
    else:
        sqlite = SQLiteStore(path, Noon())
        yield sqlite
        sqlite.close()


@asynccontextmanager
async def turns_on(store: Store, budget: Budget, *script: Answer) -> AsyncIterator[tuple[Turns, RecordingChannel]]:
    async with scripted(*script) as model, client("key", model.url) as anthropic:
        toolbox, clock, channel = Toolbox([]), Noon(), RecordingChannel()
        claude = AnthropicModel(anthropic, "claude-sonnet-5-5")
        turns, _ = turns_of(store, {"telegram": channel}, claude, toolbox, clock, NoWake(), budget=budget)
        yield turns, channel


async def spent_by_all(store: Store) -> Spent:
    counter = Counter("all", "2033-05-18")
    return (await store.spent([counter])).get(counter, Spent())


def at(number: int) -> Place:
    return Place(conversation=f"telegram:{number}", chat=str(number))


# Overspending.


async def test_twenty_turns_at_once_on_a_budget_for_five_spend_no_more_than_it(store: Store) -> None:
    """Each costs exactly what is reserved for the first turn of a chat."""
    tokens = FIRST // 10
    places = [at(number) for number in range(1, 21)]
    script = [said("Yes.", tokens)] * 5
    async with turns_on(store, Budget(day=5 * FIRST), *script) as (turns, channel):
        for number, place in enumerate(places, 1):
            await store.receive(heard("?", number, place=place, sender=replace(ANN, id=f"telegram:{number}")))
        wakes = (turns.handle(place.conversation, Deadline(60)) for place in places)
        assert await asyncio.wait_for(asyncio.gather(*wakes), 60) == [Outcome()] * 20
        assert sorted(shown[:30] for shown in channel.shown) == sorted(
            ["Yes."] * 5 + ["This bot's budget is used up fo"[:30]] * 15
        )
    spent = await spent_by_all(store)
    assert spent == Spent(5 * FIRST, Bill(turns=5, calls=5, cost=5 * FIRST, output=5 * tokens))


async def test_what_was_reserved_and_not_used_is_free_again(path: Path) -> None:
    async with bot_on(path, *[said("Yes.")] * 3, budget=Budget(day=FIRST + PRICE), clock=Noon()) as bot:
        for number in (1, 2, 3):
            await bot.hears(heard("?", number))
            await bot.wakes()
        assert bot.channel.shown == ["Yes."] * 3
        assert (await spent_by_all(bot.store)).amount == 3 * PRICE


async def test_an_answer_that_a_closed_chat_cuts_off_is_paid_for_as_it_was_reserved(path: Path) -> None:
    async with bot_on(path, reply(text("Yes, and more."), pace=0.1), budget=Budget(day=10**9), clock=Noon()) as bot:
        bot.channel.faults["send"] = [ChatClosed("blocked by the user")]
        await bot.hears(heard())
        await bot.wakes()
        assert (await spent_by_all(bot.store)).amount == FIRST


async def test_a_turn_cut_by_a_kill_is_neither_paid_for_twice_nor_forgotten(path: Path) -> None:
    budget = Budget(day=10**9)
    async with bot_on(path, said(call("look", {"at": "long"}, id="A")), budget=budget, clock=Noon()) as bot:
        await bot.hears(heard())
        running = asyncio.create_task(bot.wakes())
        await asyncio.wait_for(bot.deeds.reached.wait(), WAIT)
        running.cancel()
        await asyncio.wait([running])
        assert await spent_by_all(bot.store) == Spent(FIRST)
    async with bot_on(path, said("Done."), budget=budget, clock=Noon(hours_later=13)) as bot:
        bot.deeds.gate.set()
        await bot.wakes()
        counters = Budget().counters(ANN, HERE.conversation, int(NOON))
        spent = await bot.store.spent(list(counters))
        assert {each.amount for each in spent.values()} == {2 * PRICE}
        assert {(each.bill.turns, each.bill.calls) for each in spent.values()} == {(1, 2)}


async def test_a_long_turn_that_meets_a_limit_ends_with_a_word_about_what_was_done(path: Path) -> None:
    looks = [said(call("look", {"at": str(number)}, id=str(number)), 4_000) for number in range(2)]
    budget = Budget(day=FIRST + 1)
    async with bot_on(path, *looks, said("So far: the sea."), budget=budget, clock=Noon()) as bot:
        await bot.hears(heard())
        await bot.wakes()
        assert bot.model.requests[1].get("tool_choice") == bot.model.requests[2].get("tool_choice") == {"type": "none"}
        assert bot.channel.shown == ["So far: the sea."]


async def test_a_refused_answer_is_paid_for_as_well(path: Path) -> None:
    refused = dataclasses.replace(said("No."), stop_reason="refusal")
    async with bot_on(path, refused, clock=Noon()) as bot:
        await bot.hears(heard())
        await bot.wakes()
        assert (await spent_by_all(bot.store)).bill.cost == PRICE


async def test_a_model_that_was_away_costs_nothing(path: Path) -> None:
    limits = Limits(attempts=1)
    async with bot_on(path, overloaded("0"), budget=Budget(day=10**9), limits=limits, clock=Noon()) as bot:
        await bot.hears(heard())
        await bot.wakes()
        assert (await spent_by_all(bot.store)) == Spent(0, Bill(turns=1))


# What a person over a limit hears.


async def test_over_the_budget_one_plain_sentence_a_minute_and_no_model_call(path: Path) -> None:
    budget = Budget(person_day=PRICE)
    async with bot_on(path, said("Yes."), budget=budget, clock=Noon()) as bot:
        for number in range(1, 6):
            await bot.hears(heard("?", number, sender=BUDI))
            await bot.wakes()
        answer, refusal = bot.channel.shown
        assert answer == "Yes."
        assert refusal.startswith("Jatah Anda untuk hari ini sudah habis. Jatah baru dimulai dalam 12 jam")
        assert await bot.store.inbox(HERE.conversation) == []


async def test_a_new_day_answers_again_and_a_tap_on_retry_asks_what_was_refused(path: Path) -> None:
    budget = Budget(person_day=PRICE)
    async with bot_on(path, said("Yes."), budget=budget, clock=Noon()) as bot:
        for number, line in enumerate(["first", "second"], 1):
            await bot.hears(heard(line, number))
            await bot.wakes()
        (again,) = bot.channel.buttons
    async with bot_on(path, said("Two."), budget=budget, clock=Noon(hours_later=12)) as bot:
        await bot.hears(replace(tap(again.data), sent_at=int(NOON) + 12 * 3600))
        await bot.wakes()
        assert bot.channel.shown == ["Two."]
        assert "second" in words(bot.model.requests[0])


async def test_one_persons_limit_is_nobody_elses(path: Path) -> None:
    async with bot_on(path, said("Yes."), said("Ya."), budget=Budget(person_day=PRICE), clock=Noon()) as bot:
        for number, sender in enumerate([ANN, ANN, BUDI], 1):
            await bot.hears(heard("?", number, sender=sender))
            await bot.wakes()
        assert [bot.channel.shown[0], bot.channel.shown[-1]] == ["Yes.", "Ya."]


async def test_a_flood_of_messages_costs_a_few_turns_and_one_notice(path: Path) -> None:
    budget = Budget(turns_a_minute=3)
    async with bot_on(path, *[said("Yes.")] * 3, budget=budget, clock=Noon()) as bot:
        for number in range(1, 51):
            await bot.hears(heard("?", number))
            await bot.wakes()
        *answers, refusal = bot.channel.shown
        assert answers == ["Yes."] * 3
        assert refusal.startswith("That was more than I answer within a minute.")
        assert await bot.store.inbox(HERE.conversation) == []


@pytest.mark.parametrize("budget", [Budget(person_day=PRICE), Budget(turns_a_minute=1)])
async def test_over_a_limit_no_file_is_fetched_until_it_is_asked_anew(path: Path, budget: Budget) -> None:
    """To listen to a voice costs as much as to answer it."""
    voice = (Attachment("document", "v", "note.txt"),)
    async with bot_on(path, said("Yes."), budget=budget, clock=Noon()) as bot:
        bot.channel.files = {"v": b"hello"}
        for number in (1, 2):
            await bot.hears(heard("?", number, attachments=voice))
            await bot.wakes()
        assert [method for method, _ in bot.channel.calls].count("fetch") == 1
        (again,) = bot.channel.buttons
    async with bot_on(path, said("Two."), budget=budget, clock=Noon(hours_later=24)) as bot:
        bot.channel.files = {"v": b"hello"}
        await bot.hears(replace(tap(again.data), sent_at=int(NOON) + 24 * 3600))
        await bot.wakes()
        assert "hello" in str(bot.model.requests[0]["messages"])


async def test_our_own_answers_are_free_over_every_limit(path: Path) -> None:
    budget = Budget(person_day=PRICE, turns_a_minute=1)
    async with bot_on(path, said("Yes."), budget=budget, clock=Noon()) as bot:
        for number, command in enumerate(["", "help", "usage"], 1):
            await bot.hears(heard("?", number, command=command))
            await bot.wakes()
        assert len(bot.channel.shown) == 3
        assert "$0.0100 of $0.0100" in bot.channel.shown[2]


# The cheaper model.


async def test_near_a_limit_the_cheaper_model_answers(path: Path) -> None:
    budget = Budget(person_day=10 * PRICE, cheaper=True)
    async with bot_on(path, *[said("Yes.")] * 10, budget=budget, cheaper="claude-haiku-5-5", clock=Noon()) as bot:
        for number in range(1, 11):
            await bot.hears(heard("?", number))
            await bot.wakes()
        models = [request["model"] for request in bot.model.requests]
        assert models == ["claude-sonnet-5-5"] * 9 + ["claude-haiku-5-5"]


async def test_a_turn_goes_on_with_the_model_it_began_with(path: Path) -> None:
    budget = Budget(person_day=FIRST, cheaper=True)
    looks = [said(call("look", {"at": str(number)}, id=str(number)), 2_000) for number in range(2)]
    async with bot_on(path, *looks, said("Sea.", 1), budget=budget, cheaper="claude-haiku-5-5", clock=Noon()) as bot:
        await bot.hears(heard())
        await bot.wakes()
        assert {request["model"] for request in bot.model.requests} == {"claude-sonnet-5-5"}


# /usage


async def test_usage_tells_a_person_what_they_and_their_chat_used(path: Path) -> None:
    budget = Budget(person_day=2_000_000)
    async with bot_on(path, said("Yes."), said("Ya.", 500), budget=budget, clock=Noon()) as bot:
        for number, (line, command, sender) in enumerate([("?", "", ANN), ("?", "", BUDI), ("", "usage", ANN)], 1):
            await bot.hears(heard(line, number, command=command, sender=sender))
            await bot.wakes()
        assert bot.channel.shown[-1] == (
            "**Usage** (days and months in UTC, prices of 2026-11-30)\n\n"
            "- The last answer: 500 tokens, 0% of the reading from the cache, $0.0050\n"
            "- You, today: 1 answer, 1\u202f000 tokens, 0% of the reading from the cache, $0.0100 of $2.00\n"
            "- You, this month: 1 answer, 1\u202f000 tokens, 0% of the reading from the cache, $0.0100\n"
            "- This chat, today: 2 answers, 1\u202f500 tokens, 0% of the reading from the cache, $0.0150\n"
            "- This chat, this month: 2 answers, 1\u202f500 tokens, 0% of the reading from the cache, $0.0150"
        )


async def test_usage_of_nothing_is_only_what_may_be_spent(path: Path) -> None:
    async with bot_on(path, budget=Budget(person_day=2_000_000), clock=Noon()) as bot:
        await bot.hears(heard("", command="usage"))
        await bot.wakes()
        assert "- You, today: $0.00 of $2.00\n- You, this month: $0.00\n" in bot.channel.shown[-1]


async def test_usage_tells_the_owner_about_everybody(path: Path) -> None:
    access = Access(owner="1", allowed=frozenset({BUDI.id}))
    async with bot_on(path, said("Ya."), access=access, clock=Noon()) as bot:
        for number, (command, sender) in enumerate([("", BUDI), ("usage", BUDI), ("usage", ANN)], 1):
            await bot.hears(heard("", number, command=command, sender=sender))
            await bot.wakes()
        _, other, owner = bot.channel.shown
        assert "Semua orang" not in other
        assert "Everybody, this month: 1 answer" in owner


async def test_what_a_group_used_this_month_goes_along_when_it_becomes_a_supergroup(path: Path) -> None:
    new = Place(conversation="telegram:-1001", chat="-1001", group=True)
    async with bot_on(path, said("Yes."), clock=Noon()) as bot:
        await bot.hears(heard(place=GROUP))
        await bot.wakes(GROUP.conversation)
    tomorrow = Noon(hours_later=24)
    async with bot_on(path, clock=tomorrow) as bot:
        await bot.hears(news("moved", "-1001", place=GROUP))
        await bot.wakes(GROUP.conversation)
        await bot.hears(replace(heard("", 2, command="usage", place=new), sent_at=int(tomorrow.now())))
        await bot.wakes(new.conversation)
        assert "This chat, this month: 1 answer" in bot.channel.shown[-1]


async def test_usage_says_how_many_calls_it_can_not_price(path: Path) -> None:
    budget = Budget(day=10 * FIRST, cheaper=True)
    script = (said("Dear.", 45_000), said("Free."))
    async with bot_on(path, *script, budget=budget, cheaper="my-model", clock=Noon()) as bot:
        for number, command in enumerate(["", "", "usage"], 1):
            await bot.hears(heard("?", number, command=command, place=at(number)))
            await bot.wakes(at(number).conversation)
        assert "1 call went to a model whose price I do not know" in bot.channel.shown[-1]
