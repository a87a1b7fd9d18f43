"""Strangers at the door, roles, and two accounts of one person."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bot.access import NEVER, Access
from bot.approvals import Gate
from bot.budget import Budget
from bot.messages import ChatSettings, Counter, Entry, Inbound, Person, Place, Profile
from simulator.script import call, reply, text
from tests.bots import Bot, bot_on, results, tap, words
from tests.say import ANN, BUDI, GROUP, HERE, inbound

OWNED = Access(owner=ANN.id)
OFFICE = Place(conversation="slack:T1:D9", chat="D9", team="T1")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kabar.sqlite3"


BUDIS = Place(conversation=BUDI.id, chat="2")


async def says(bot: Bot, said: str, number: int, sender: Person = BUDI, place: Place = BUDIS, **more: Any) -> str:
    """What somebody writes, and what is shown last."""
    await bot.hears(inbound(said, number, sender=sender, place=place, **more))
    await bot.wakes(place.conversation)
    return bot.channel.shown[-1] if bot.channel.shown else ""


async def test_a_stranger_is_told_once_a_day_and_never_costs_a_model_call(path: Path) -> None:
    async with bot_on(path, access=OWNED) as bot:
        assert (await says(bot, "hello?", 1)).startswith("Bot ini pribadi.")
        assert len(bot.channel.shown) == 1
        await says(bot, "hello??", 2)
        await says(bot, "/new", 3)
        assert len(bot.channel.shown) == 1
        assert await bot.store.inbox(BUDIS.conversation) == []


async def asked_to_let_in(bot: Bot) -> Callable[[str], str]:
    """The owner's buttons about a stranger who wrote, by their word."""
    await says(bot, "hello?", 1)
    assert bot.wake.woken == [HERE.conversation]
    await bot.wakes()
    assert bot.channel.shown[-1].startswith("Budi (telegram:2)") or "telegram:2" in bot.channel.shown[-1]
    buttons = bot.channel.buttons
    return lambda word: next(each.data for each in buttons if f":{word}:" in each.data)


@pytest.mark.parametrize("role", ["member", "guest"])
async def test_the_owner_lets_a_stranger_in_with_a_tap_and_they_hear_of_it(path: Path, role: str) -> None:
    async with bot_on(path, text("Halo!"), access=OWNED) as bot:
        button = await asked_to_let_in(bot)
        await bot.hears(tap(button(role), 60, sender=ANN))
        await bot.wakes()
        assert role in bot.channel.shown[-1] or "is a" in bot.channel.shown[-1]
        await bot.wakes(BUDIS.conversation)
        assert bot.channel.shown[-1].startswith("Pemilik saya telah memberi Anda akses.")
        assert await says(bot, "halo", 2) == "Halo!"


async def test_nobody_but_the_owner_lets_in(path: Path) -> None:
    async with bot_on(path, access=Access(owner=ANN.id, allowed=frozenset({"telegram:3"}))) as bot:
        button = await asked_to_let_in(bot)
        await bot.hears(tap(button("member"), 60, sender=Person("telegram:3", "Cici")))
        await bot.hears(tap(button("member"), 61, sender=BUDI))
        await bot.wakes()
        await bot.wakes()
        assert (await bot.store.profile(BUDI.id)).role == ""


async def test_who_is_banned_is_not_asked_about_again(path: Path) -> None:
    async with bot_on(path, access=OWNED) as bot:
        button = await asked_to_let_in(bot)
        await bot.hears(tap(button("banned"), 60, sender=ANN))
        await bot.wakes()
        profile = await bot.store.profile(BUDI.id)
        await bot.store.keep_profile(BUDI.id, replace(profile, denied="yesterday"))
        before = len(bot.wake.woken)
        await says(bot, "please", 2)
        assert len(bot.wake.woken) == before


async def test_a_stranger_in_a_group_hears_it_quietly_and_the_owner_is_left_in_peace(path: Path) -> None:
    async with bot_on(path, access=OWNED) as bot:
        await says(bot, "hello?", 1, place=GROUP)
        assert [manner.quiet for manner in bot.channel.manners] == [True]
        assert bot.wake.woken == []


async def test_a_group_that_is_let_in_makes_its_people_guests_until_the_owner_ends_it(path: Path) -> None:
    async with bot_on(path, text("Hi."), access=OWNED) as bot:
        assert "Only my owner" not in await says(bot, "", 1, sender=ANN, place=GROUP, command="allow")
        assert await says(bot, "hello", 2, place=GROUP) == "Hi."
        await says(bot, "", 3, sender=ANN, place=GROUP, command="disallow")
        assert "telegram:2" in await says(bot, "hello", 4, place=GROUP)


async def test_a_guest_may_not_use_what_members_may(path: Path) -> None:
    script = (reply(call("book", {"what": "room"})), text("I may not."))
    gate = Gate(guests=frozenset({"look"}))
    async with bot_on(path, *script, access=OWNED, gate=gate) as bot:
        await bot.store.keep_profile(BUDI.id, Profile(role="guest"))
        await says(bot, "book a room", 1)
        assert bot.deeds.done == []
        assert "is a guest here" in results(bot.model.requests[1])[0]["content"]


async def test_a_guest_has_a_budget_of_their_own_size(path: Path) -> None:
    async with bot_on(path, access=OWNED, budget=Budget(person_day=10_000_000, guest_day=1)) as bot:
        await bot.store.keep_profile(BUDI.id, Profile(role="guest"))
        counter = Budget(guest_day=1).counters(replace(BUDI, role="guest"), BUDIS.conversation, 0)
        assert next(iter(counter.values())) == 1
        assert bot.model.requests == []


async def test_commands_for_the_owner_are_the_owners(path: Path) -> None:
    async with bot_on(path, access=Access(owner=ANN.id, allowed=frozenset({BUDI.id}))) as bot:
        assert "pemilik" in await says(bot, "telegram:3 member", 1, command="appoint")
        assert (await bot.store.profile("telegram:3")).role == ""
        await says(bot, "telegram:3 member", 2, sender=ANN, place=HERE, command="appoint")
        assert (await bot.store.profile("telegram:3")).role == "member"


@pytest.mark.parametrize("shared", sorted(NEVER))
def test_a_sender_that_stands_for_many_is_nobody(shared: str) -> None:
    everyone = Access(owner=shared, allowed=frozenset({shared}), everyone=True)
    assert everyone.role(Person(shared), "member", "guest") == ""


# One person, two accounts.


ANN_AT_WORK = Person("slack:T1:U1", "Ann W", "en")


def at_work(said: str, number: int, **more: Any) -> Inbound:
    return replace(inbound(said, number, sender=ANN_AT_WORK, place=OFFICE, **more), place=OFFICE)


async def code_for_ann(bot: Bot) -> str:
    told = await says(bot, "", 1, sender=ANN, place=HERE, command="link")
    found = re.search(r"in Telegram `/link (\w+)`, in Slack `/kabar link \1`", told)
    assert found is not None
    return found[1]


async def linked(bot: Bot) -> None:
    code = await code_for_ann(bot)
    await bot.hears(at_work(code.lower(), 2, command="link"))
    await bot.wakes(OFFICE.conversation)


async def test_a_code_makes_two_accounts_one_in_memory_budget_and_language(path: Path) -> None:
    async with bot_on(path, text("Yes."), channels=("telegram", "slack")) as bot:
        await linked(bot)
        assert bot.channel.shown[-1].startswith("Your accounts are one to me now")
        await says(bot, "add I like tea", 3, sender=ANN, place=HERE, command="memory")
        await bot.hears(at_work("what do I like?", 4))
        await bot.wakes(OFFICE.conversation)
        assert "1. I like tea" in words(bot.model.requests[0])[0]
        spent = await bot.store.spent(
            [Counter(f"person:{ANN.id}", _today(bot)), Counter("person:slack:T1:U1", _today(bot))]
        )
        assert [counter.scope for counter in spent] == [f"person:{ANN.id}"]


def _today(bot: Bot) -> str:
    from bot.budget import day_of
    from tests.say import NOW

    return day_of(NOW)


async def test_a_code_is_good_once_and_for_nobody_who_guesses(path: Path) -> None:
    async with bot_on(path, channels=("telegram", "slack")) as bot:
        code = await code_for_ann(bot)
        for number, guess in enumerate((code[:-1], f"{code}A", code, code)):
            await bot.hears(at_work(guess, 10 + number, command="link"))
            await bot.wakes(OFFICE.conversation)
        shown = [each.partition(" ")[0] for each in bot.channel.shown[1:]]
        assert shown == ["This", "This", "Your", "This"]


async def test_unlinking_is_one_command(path: Path) -> None:
    async with bot_on(path, text("Nothing."), channels=("telegram", "slack")) as bot:
        await linked(bot)
        await says(bot, "add I like tea", 3, sender=ANN, place=HERE, command="memory")
        await bot.hears(at_work("", 4, command="unlink"))
        await bot.wakes(OFFICE.conversation)
        await bot.hears(at_work("what do I like?", 5))
        await bot.wakes(OFFICE.conversation)
        assert "tea" not in str(bot.model.requests[0])


async def test_a_private_memory_is_never_told_in_a_group(path: Path) -> None:
    async with bot_on(path, text("Hi.")) as bot:
        await says(bot, "add my pin hint is blue", 1, sender=ANN, place=HERE, command="memory")
        await says(bot, "hello", 2, sender=ANN, place=GROUP)
        assert "blue" not in str(bot.model.requests[0])


# What a guest can do to a group.


async def opened(bot: Bot) -> list[Entry]:
    """A group whose people are guests, in which the owner has asked something; what is kept of it."""
    await says(bot, "", 1, sender=ANN, place=GROUP, command="allow")
    await says(bot, "add we meet on Mondays", 2, sender=ANN, place=GROUP, command="memory")
    await says(bot, "the secret is blue", 3, sender=ANN, place=GROUP)
    return await bot.entries(GROUP.conversation)


async def is_as_it_was(bot: Bot, before: list[Entry]) -> bool:
    head = await bot.store.claim(GROUP.conversation, "looks", 1)
    facts = (await bot.store.profile(f"chat:{GROUP.conversation}")).facts
    kept = (await bot.entries(GROUP.conversation))[: len(before)] == before
    assert head is not None
    return kept and head.since == 1 and replace(head.settings, turn_cost=0) == ChatSettings() and len(facts) == 1


@pytest.mark.parametrize(
    "typed",
    [
        *("forget yes", "new", "reset", "export", "settings", "compact", "unremind x", "remind cancel 1"),
        *("memory clear", "memory add we never meet", "model y", "language id", "meanwhile queue"),
    ],
)
async def test_a_guest_of_a_group_changes_nothing_for_the_others(path: Path, typed: str) -> None:
    async with bot_on(path, text("Noted."), access=OWNED, models=["x", "y"]) as bot:
        before = await opened(bot)
        command, _, rest = typed.partition(" ")
        assert "Tamu" in await says(bot, rest, 4, place=GROUP, command=command)
        assert await is_as_it_was(bot, before)
        assert bot.channel.uploads == []


@pytest.mark.parametrize("data", ["do:forget", "set:language:id", "do:new"])
async def test_nor_does_a_guest_s_tap_on_somebody_else_s_button(path: Path, data: str) -> None:
    async with bot_on(path, text("Noted."), access=OWNED) as bot:
        before = await opened(bot)
        shown = bot.channel.shown
        await bot.hears(replace(tap(data, 50, sender=BUDI, place=GROUP), native_id=next(iter(bot.channel.messages))))
        await bot.wakes(GROUP.conversation)
        assert bot.channel.shown[:-1] == shown and "Tamu" in bot.channel.shown[-1]
        assert await is_as_it_was(bot, before)


async def test_in_a_chat_of_their_own_a_guest_may_forget_it_all(path: Path) -> None:
    async with bot_on(path, access=OWNED) as bot:
        await bot.store.keep_profile(BUDI.id, Profile(role="guest"))
        assert (await says(bot, "yes", 1, command="forget")).startswith("Terhapus")


@pytest.mark.parametrize("command", ["retry", "undo"])
async def test_a_question_is_done_again_or_taken_back_by_whoever_asked_it_only(path: Path, command: str) -> None:
    async with bot_on(path, text("Noted."), access=OWNED) as bot:
        before = await opened(bot)
        assert "milik orang lain" in await says(bot, "", 4, place=GROUP, command=command)
        assert await is_as_it_was(bot, before)


async def test_an_anonymous_admin_hears_once_a_day_in_each_group_why_nobody_answers(path: Path) -> None:
    hidden, other = Person(min(NEVER)), replace(GROUP, conversation="telegram:-6", chat="-6")
    async with bot_on(path, access=Access(everyone=True)) as bot:
        for number, place in enumerate((GROUP, GROUP, other)):
            await says(bot, "hello?", number, sender=hidden, place=place)
        assert [each.split(",")[0] for each in bot.channel.shown] == ["You write as an anonymous admin"] * 2
        assert [place.chat for place in bot.channel.places] == ["-5", "-6"]


async def test_who_asks_to_be_forgotten_is_known_by_nothing_but_their_role(path: Path) -> None:
    office = Person("slack:T1:U9", "Budi", "en")
    async with bot_on(path, access=OWNED, channels=("telegram", "slack")) as bot:
        facts = Profile("Budi", "id", "Asia/Jakarta", 5, ("Eats no peanuts.",), role="member", place=BUDIS)
        await bot.store.keep_profile(BUDI.id, facts)
        await bot.store.keep_profile(office.id, Profile(account=BUDI.id, role="member"))
        asks = await says(bot, "me", 1, sender=office, place=OFFICE, command="forget")
        assert asks.startswith("This deletes for good what I know of you")
        await bot.hears(tap("do:forget me yes", 60, sender=office, place=OFFICE))
        await bot.wakes(OFFICE.conversation)
        assert bot.channel.shown[-1].startswith("Deleted: all I knew of you")

        known = [await bot.store.profile(id) for id in (BUDI.id, office.id)]
        assert [replace(each, version=0) for each in known] == [Profile(role="member")] * 2
        assert len(await bot.store.record(OFFICE.conversation, 1)) == 4  # the conversation stays
