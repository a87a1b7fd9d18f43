"""What begins a turn, and what a turn is told of that came in its way: albums, strangers, moves, retries, stops."""

import asyncio
from pathlib import Path
from time import time

import pytest
from msgspec.structs import replace

from bot.access import Access
from bot.errors import SendUncertain
from bot.messages import Attachment, Inbound, Place, Quote
from bot.reminding import ASK
from bot.turn import Outcome
from simulator.model_reply import Refusal
from simulator.script import call, text
from tests.bots import AnHourAhead, bot_on, edit, news, tap, words
from tests.pictures import PNG
from tests.recorder import WAIT
from tests.say import BUDI, GROUP, HERE, inbound


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kabar.sqlite3"


def file(number: int, kind: str = "photo", caption: str = "", description: str = "") -> Inbound:
    attachment = Attachment(kind, f"file-{number}", description=description)
    return inbound(caption, number, album="g1", attachments=(attachment,))


# Albums and files.


async def test_an_album_with_one_caption_is_one_question(path: Path) -> None:
    async with bot_on(path, text("A volcano.")) as bot:
        await bot.hears(file(1, caption="what is this?"), file(2), file(3))
        await bot.wakes()
        assert bot.channel.shown == ["A volcano."]
        assert await bot.store.inbox(HERE.conversation) == []


async def test_an_album_without_words_is_one_question(path: Path) -> None:
    async with bot_on(path, text("Ten pictures.")) as bot:
        bot.channel.files = {f"file-{number}": PNG for number in range(1, 11)}
        await bot.hears(*map(file, range(1, 11)))
        await bot.wakes()
        assert bot.channel.shown == ["Ten pictures."]
        assert await bot.store.inbox(HERE.conversation) == []
        shown = bot.model.requests[0]["messages"][0]["content"]
        assert [block["type"] for block in shown].count("image") == 10


async def test_an_album_with_a_command_is_answered_as_the_command_and_its_other_pictures_once(path: Path) -> None:
    async with bot_on(path, text("Two pictures.")) as bot:
        await bot.hears(replace(file(1), command="new"), file(2), file(3))
        await bot.wakes()
        await bot.wakes()
        assert [shown.partition(":")[0] for shown in bot.channel.shown] == ["New conversation", "Two pictures."]
        assert await bot.wakes() == Outcome()
        assert await bot.store.inbox(HERE.conversation) == []


@pytest.mark.parametrize("kind", ["voice", "video_note"])
async def test_a_voice_note_that_nobody_can_hear_is_never_a_turn_of_a_placeholder_alone(path: Path, kind: str) -> None:
    async with bot_on(path) as bot:
        bot.channel.files = {"file-1": b"OggS" + bytes(100)}
        await bot.hears(file(1, kind, description="8 s"))
        await bot.wakes()
        assert bot.channel.shown == ["I can't listen to voice messages here. Please write it instead."]


async def test_a_sticker_is_told_by_its_emoji_and_not_fetched(path: Path) -> None:
    async with bot_on(path, text("Nice.")) as bot:
        await bot.hears(file(1, "sticker", description="👍"))
        await bot.wakes()
        assert bot.channel.shown == ["Nice."]
        assert "fetch" not in dict(bot.channel.calls)
        assert '<attachment kind="sticker">👍</attachment>' in words(bot.model.requests[0])


async def test_what_is_told_of_an_attachment_in_words_is_read(path: Path) -> None:
    async with bot_on(path, text("Nice.")) as bot:
        await bot.hears(inbound("", attachments=(Attachment("location", description="-7.9, 112.9"),)))
        await bot.wakes()
        assert bot.channel.shown == ["Nice."]


async def test_a_stranger_s_album_is_turned_away_once(path: Path) -> None:
    async with bot_on(path, access=Access(owner="telegram:9")) as bot:
        await bot.hears(*map(file, range(1, 11)))
        await bot.wakes()
        assert len(bot.channel.shown) == 1
        assert await bot.store.inbox(HERE.conversation) == []


async def test_each_stranger_of_a_group_hears_their_own_id(path: Path) -> None:
    async with bot_on(path, access=Access(owner="telegram:9")) as bot:
        await bot.hears(inbound("hi", 1, place=GROUP), inbound("hi", 2, place=GROUP, sender=BUDI))
        await bot.wakes(GROUP.conversation)
        await bot.wakes(GROUP.conversation)
        assert ["telegram:1" in bot.channel.shown[0], "telegram:2" in bot.channel.shown[1]] == [True, True]


# Moving.


async def test_a_message_that_waits_while_the_group_moves_is_answered_once_and_in_the_new_chat(path: Path) -> None:
    new = Place(conversation="telegram:-1001", chat="-1001", group=True)
    async with bot_on(path, text("Bromo.")) as bot:
        await bot.hears(news("moved", "-1001", place=GROUP), inbound("where do we go?", 3, place=GROUP))
        for conversation in (GROUP.conversation, GROUP.conversation, new.conversation, new.conversation):
            await bot.wakes(conversation)
        assert bot.channel.shown == ["Bromo."]
        assert bot.channel.places == [new]


async def test_everything_that_moves_along_has_a_wake_of_its_own(path: Path) -> None:
    async with bot_on(path) as bot:
        waiting = (inbound("", 2, command="help", place=GROUP), inbound("hi", 3, place=GROUP))
        await bot.hears(news("moved", "-1001", place=GROUP), *waiting)
        await bot.wakes(GROUP.conversation)
        assert bot.wake.woken == ["telegram:-1001"] * 2


# Doing it again.


async def test_what_was_added_to_a_turn_that_failed_is_asked_again_with_it(path: Path) -> None:
    failing = (call("look", {"at": "long"}, id="A"), Refusal(400, "invalid_request_error", "no"))
    async with bot_on(path, *failing, text("Two tickets.")) as bot:
        await bot.hears(inbound("book a ticket", 1))
        await bot.wakes_and_hears(inbound("two, please", 2))
        (retry,) = bot.channel.buttons
        await bot.hears(tap(retry.data))
        await bot.wakes()
        assert {"book a ticket", "two, please"} <= set(words(bot.model.requests[-1]))
        assert bot.channel.shown[-1] == "Two tickets."


async def test_an_edit_of_what_was_added_to_a_turn_offers_to_do_it_again(path: Path) -> None:
    async with bot_on(path, call("look", {"at": "long"}, id="A"), text("Two."), text("Three.")) as bot:
        await bot.hears(inbound("book a ticket", 1))
        await bot.wakes_and_hears(inbound("two, please", 2))
        await bot.hears(edit("three, please", 2))
        await bot.wakes()
        (redo,) = bot.channel.buttons
        await bot.hears(tap(redo.data))
        await bot.wakes()
        said = words(bot.model.requests[-1])
        assert ("book a ticket" in said, "two, please" in said, "three, please" in said) == (True, False, True)
        assert bot.channel.shown[-1] == "Three."


@pytest.mark.parametrize("data", ["again:", "more:", "stop:", "again", "", "again:0123456789ab", "approve:x", ":"])
async def test_a_forged_tap_begins_nothing(path: Path, data: str) -> None:
    async with bot_on(path, text("Hello.")) as bot:
        await bot.hears(inbound("hi", 1))
        await bot.wakes()
        await bot.hears(tap(data))
        assert await bot.wakes() == Outcome()
        assert bot.channel.shown == ["Hello."]
        assert await bot.store.inbox(HERE.conversation) == []


async def test_another_chat_s_turn_can_not_be_done_again_from_here(path: Path) -> None:
    async with bot_on(path, Refusal(400, "invalid_request_error", "no")) as bot:
        await bot.hears(inbound("secret", 1))
        await bot.wakes()
        (retry,) = bot.channel.buttons
        await bot.hears(tap(retry.data, place=GROUP))
        assert await bot.wakes(GROUP.conversation) == Outcome()
        assert len(bot.channel.shown) == 1


# Stopping.


async def test_a_stop_that_waits_already_ends_the_turn_before_the_model_is_asked(path: Path) -> None:
    async with bot_on(path) as bot:
        await bot.hears(inbound("count", 1), inbound("", 2, command="stop"))
        await bot.wakes()
        assert bot.channel.shown == ["(Stopped.)"]


async def test_a_turn_that_was_stopped_while_nobody_worked_on_it_costs_nothing_more(path: Path) -> None:
    async with bot_on(path, call("look", {"at": "long"}, id="A")) as bot:
        await bot.hears(inbound("look", 1))
        running = asyncio.create_task(bot.wakes())
        await asyncio.wait_for(bot.deeds.reached.wait(), WAIT)
        running.cancel()
        await asyncio.wait([running])
        await bot.hears(inbound("", 2, command="stop"))
    async with bot_on(path, clock=AnHourAhead()) as bot:
        await bot.wakes()
        assert bot.channel.shown == ["(Stopped.)"]


# Giving up.


async def test_an_answer_that_could_not_be_shown_is_shown_without_an_apology(path: Path) -> None:
    async with bot_on(path, text("Hello.")) as bot:
        bot.channel.faults["send"] = [SendUncertain("cut")] * 3
        await bot.hears(inbound())
        await bot.wakes()
        await bot.turns.give_up(HERE.conversation)
        assert bot.channel.shown == ["Hello."]


async def test_giving_up_comes_back_where_the_person_can_not_be_told_yet(path: Path) -> None:
    async with bot_on(path) as bot:
        bot.channel.faults["send"] = [SendUncertain("cut")] * 3
        await bot.hears(inbound())
        assert await bot.turns.give_up(HERE.conversation) == Outcome(again_in=5)
        assert await bot.turns.give_up(HERE.conversation) == Outcome()
        assert bot.channel.shown[0].startswith("Something went wrong on my side")


async def test_what_was_to_begin_afresh_does_so_although_it_could_hardly_be_told(path: Path) -> None:
    async with bot_on(path, text("Hello, Ann."), text("Who are you?")) as bot:
        await bot.hears(inbound("my name is Ann", 1))
        await bot.wakes()
        bot.channel.faults["send"] = [SendUncertain("cut")] * 3
        await bot.hears(inbound("", 2, command="new"))
        await bot.wakes()
        await bot.turns.give_up(HERE.conversation)
        await bot.hears(inbound("who am I?", 3))
        await bot.wakes()
        assert "my name is Ann" not in words(bot.model.requests[-1])


async def test_what_two_people_ask_at_once_is_two_turns_each_with_its_own_asker(path: Path) -> None:
    async with bot_on(path, text("For Ann."), text("For Budi.")) as bot:
        await bot.hears(inbound("tea?", 1, place=GROUP), inbound("coffee?", 2, sender=BUDI, place=GROUP))
        await bot.wakes(GROUP.conversation)
        assert "coffee?" not in words(bot.model.requests[0])
        await bot.wakes(GROUP.conversation)
        assert bot.channel.shown == ["For Ann.", "For Budi."]
        assert bot.channel.replied_to == ["1", "2"]


async def test_a_reminder_is_told_and_can_be_spoken_of_afterwards(path: Path) -> None:
    async with bot_on(path, text("In ten minutes, then.")) as bot:
        await bot.hears(replace(inbound("Pay the rent", 1), kind="due", id=f"due.r1.{int(time())}", data="r1"))
        await bot.wakes()
        assert bot.channel.shown == ["⏰ Pay the rent"] and bot.model.requests == []
        await bot.hears(inbound("again in ten minutes", 2))
        await bot.wakes()
        assert "⏰ Pay the rent" in str(bot.model.requests[0]["messages"])


async def test_what_is_asked_at_its_time_costs_nothing_where_the_bot_was_shut_out(path: Path) -> None:
    async with bot_on(path) as bot:
        await bot.hears(news("left"))
        await bot.wakes()
        due = replace(inbound("any news?", 1), kind="due", id=f"due.r1.{int(time())}", data="r1", command=ASK)
        await bot.hears(due)
        await bot.wakes()
        assert bot.model.requests == [] and bot.channel.shown == ["⏰ any news?"]


async def test_the_model_hears_who_is_named_in_a_message_and_in_what_it_quotes(path: Path) -> None:
    async with bot_on(path, text("I asked them.")) as bot:
        bot.channel.names = {"U2": "Budi", "U3": "Cici"}
        await bot.hears(inbound("ask @U2 about it", quote=Quote("says @U3 too", "Ann")))
        await bot.wakes()
        said = " ".join(words(bot.model.requests[0]))
        assert "ask @Budi (U2) about it" in said and "says @Cici (U3) too" in said


# The bot's own page.


async def test_a_choice_on_the_bots_own_page_is_shown_there_and_nowhere_else(path: Path) -> None:
    async with bot_on(path) as bot:
        on_the_page = replace(tap("set:language:id", sender=BUDI), native_id="")
        await bot.hears(on_the_page)
        assert await bot.wakes() == Outcome()
        assert bot.channel.calls == [("greet", BUDI.id)]
        assert [each.label for each in bot.channel.buttons[:3]] == ["English", "✓ Indonesia", "ikuti aplikasi Anda"]
        head = await bot.store.claim(HERE.conversation, "a look", 1)
        assert head is not None and head.settings.language == "id"
        assert await bot.store.inbox(HERE.conversation) == []


async def test_a_stranger_s_choice_there_changes_nothing(path: Path) -> None:
    async with bot_on(path, access=Access(owner="telegram:9")) as bot:
        await bot.hears(replace(tap("set:language:id"), native_id=""))
        assert await bot.wakes() == Outcome()
        head = await bot.store.claim(HERE.conversation, "a look", 1)
        assert bot.channel.calls == [] and head is not None and head.settings.language == ""
