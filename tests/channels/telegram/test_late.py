"""Telegram's channel before its SDK is loaded."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from bot.channels.telegram.late import LateTelegram
from bot.channels.telegram.send import TelegramChannel, telegram_bot
from bot.messages import Person, Place
from bot.ports import Channel, Manner, Rendered
from simulator import telegram
from simulator.app import Simulator, serve, telegram_base_url
from simulator.deliver import QUICK

CHAT = Place(f"telegram:{telegram.ANN_CHAT}", telegram.ANN_CHAT)
ANN = Person("telegram:1001", "Ann", "en")
MANNER = Manner(ANN, "a-mark")


class Loading:
    """What is loaded here is a channel to a simulator; ``threads`` are those that loaded it, ``made`` what it made."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.threads: list[threading.Thread] = []
        self.made: list[Channel] = []

    def load(self) -> Callable[[], Channel]:
        self.threads.append(threading.current_thread())
        return self._make

    def _make(self) -> Channel:
        self.made.append(TelegramChannel(telegram_bot(telegram.TOKEN, telegram_base_url(self.url))))
        return self.made[-1]


async def test_the_first_call_loads_the_sdk_beside_the_event_loop_and_arrives() -> None:
    simulator = Simulator(pace=QUICK)
    async with serve(simulator) as url:
        loading = Loading(url)
        channel = LateTelegram(loading.load)

        sent = await channel.send(CHAT, Rendered("Hello."), MANNER)
        await channel.edit(CHAT, sent, Rendered("Hello, Ann."))
        await channel.close()

    assert [seen.text for seen in simulator.telegram.messages(telegram.ANN_CHAT)] == ["Hello, Ann."]
    assert threading.current_thread() not in loading.threads
    assert len(loading.threads) == 1


async def test_two_first_calls_at_once_go_through_one_connection_pool() -> None:
    simulator = Simulator(pace=QUICK)
    async with serve(simulator) as url:
        loading = Loading(url)
        channel = LateTelegram(loading.load)

        await asyncio.gather(channel.typing(CHAT), channel.send(CHAT, Rendered("Hello."), MANNER))
        await channel.typing(CHAT)
        await channel.close()

    assert len(loading.made) == 1
    assert [call.method for call in simulator.world.calls].count("sendChatAction") == 2


async def test_what_telegram_need_not_be_asked_needs_no_sdk() -> None:
    loading = Loading("")
    channel = LateTelegram(loading.load, drafts=True)

    assert await channel.introduce(CHAT, ANN) == ANN
    assert await channel.named(CHAT, "Ask @budi") == "Ask @budi"
    assert (await channel.earlier(CHAT, "1"), await channel.find(CHAT, "mark")) == ((), None)
    assert (channel.drafts(CHAT), channel.typing_interval, channel.stop_button) == (True, 4.0, True)
    await channel.greet(CHAT, ANN)
    await channel.typing(CHAT, active=False)
    await channel.close()

    assert loading.threads == []


def test_what_is_rendered_before_any_call_is_rendered_all_the_same() -> None:
    channel = LateTelegram(Loading("").load)

    assert channel.render("**Hello**") == TelegramChannel(telegram_bot(telegram.TOKEN, "")).render("**Hello**")


@pytest.mark.parametrize("module", ["bot.channels.telegram.late", "handlers.worker"])
def test_until_then_no_platform_s_sdk_is_loaded(module: str) -> None:
    code = f"import sys, {module}; print(*(name for name in ('telegram', 'slack_sdk') if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "\n"
