"""Unfinished text as Telegram's own drafts, and how often the channel lets a bot write: against the local Telegram."""

from collections.abc import AsyncIterator

import pytest

from bot.channels.telegram.parse import Me, parse
from bot.channels.telegram.send import TelegramChannel, telegram_bot
from bot.errors import SendLater, SendRefused
from bot.governor import Governor
from bot.messages import Person, Place
from bot.ports import Manner, Pace, Rendered
from simulator.app import Simulator, serve, telegram_base_url
from simulator.deliver import QUICK
from simulator.telegram import ANN_CHAT, CHATS, GROUP, TOKEN
from simulator.telegram_limits import Flood, Meter
from simulator.world import Chat, Fault
from tests.clock import FakeClock

ANN = Person("telegram:1001", "Ann")
HOME = Place("telegram:1001", ANN_CHAT)
TRIP = Place(f"telegram:{GROUP}", GROUP, group=True)
HELLO = Rendered("Hello", ({"type": "bold", "offset": 0, "length": 5},))


class Stage:
    def __init__(self, simulator: Simulator, channel: TelegramChannel) -> None:
        self.telegram = simulator.telegram
        self.world = simulator.world
        self.channel = channel

    def shown(self) -> list[tuple[str, bool]]:
        return [(message.text, message.draft) for message in self.telegram.messages(ANN_CHAT)]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    simulator = Simulator(pace=QUICK)
    async with serve(simulator) as url:
        channel = TelegramChannel(telegram_bot(TOKEN, telegram_base_url(url)), drafts=True)
        yield Stage(simulator, channel)
        await channel.close()


async def test_a_draft_grows_in_one_place_and_the_answer_takes_it(stage: Stage) -> None:
    await stage.channel.draft(HOME, Rendered("Hel"), "t1.0")
    await stage.channel.draft(HOME, HELLO, "t1.0")
    assert stage.shown() == [("Hello", True)]
    assert stage.telegram.messages(ANN_CHAT)[0].entities == list(HELLO.markup)

    await stage.channel.send(HOME, HELLO, Manner(ANN, "t1.0"))
    assert stage.shown() == [("Hello", False)]


async def test_drafts_are_for_private_chats_where_the_owner_wants_them(stage: Stage) -> None:
    assert [stage.channel.drafts(place) for place in (HOME, TRIP)] == [True, False]
    plain = TelegramChannel(telegram_bot(TOKEN, "http://127.0.0.1:1"))
    assert not plain.drafts(HOME)


async def test_stop_beside_a_draft_arrives_as_a_stop_in_its_conversation(stage: Stage) -> None:
    await stage.channel.draft(HOME, HELLO, "t1.0")
    await stage.telegram.stop(ANN_CHAT, "ann")

    assert stage.shown() == []
    (update,) = stage.telegram.webhook.pending.values()
    inbound = parse(update.body, Me(int(TOKEN.partition(":")[0])))
    assert inbound is not None
    assert (inbound.kind, inbound.conversation, inbound.sender.id) == ("stop", HOME.conversation, ANN.id)


async def test_a_draft_that_is_not_shown_says_why(stage: Stage) -> None:
    stage.world.add_fault(Fault("telegram", "sendMessageDraft", "error", status=429, retry_after=4))
    with pytest.raises(SendLater) as later:
        await stage.channel.draft(HOME, HELLO, "t1.0")
    assert later.value.retry_after == 4
    with pytest.raises(SendRefused):
        await stage.channel.draft(TRIP, HELLO, "t1.0")


@pytest.mark.parametrize(
    ("pace", "chat"),
    [
        (TelegramChannel.pace, next(chat for chat in CHATS if chat.id == ANN_CHAT)),
        (TelegramChannel.group_pace, next(chat for chat in CHATS if chat.id == GROUP)),
    ],
    ids=["private", "group"],
)
def test_a_bot_that_keeps_the_pace_is_never_told_to_wait(pace: Pace, chat: Chat) -> None:
    clock = FakeClock()
    meter, governor = Meter(Flood(), clock.now), Governor(pace, clock.now)
    for number in range(500):
        clock.advance(governor.wait(final=number % 7 == 0))
        governor.spend()
        assert meter.wait(chat) == 0
