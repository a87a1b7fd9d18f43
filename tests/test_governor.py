"""How often a chat is written to."""

import pytest

from bot.channels.slack.send import SlackChannel
from bot.channels.telegram.send import TelegramChannel
from bot.governor import Governor, Governors
from bot.ports import Pace

MINUTES = [(TelegramChannel.group_pace, 20), (TelegramChannel.pace, 60), (SlackChannel.pace, 50), (Pace(1.0, 3), 63)]


class Hands:
    """A clock moved by hand."""

    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


def calls_within(governor: Governor, hands: Hands, seconds: float, *, final: bool = False) -> int:
    """How many calls are made in that time by who calls as soon as it may."""
    ends, made = hands.at + seconds, 0
    while (wait := governor.wait(final=final)) <= ends - hands.at:
        hands.at += wait
        governor.spend()
        made += 1
    hands.at = ends
    return made


def test_what_grows_leaves_the_calls_for_a_final_text_that_has_outgrown_its_message() -> None:
    hands = Hands()
    governor = Governor(Pace(interval=1.0, burst=3), hands)
    calls_within(governor, hands, 0.0)
    assert governor.wait(final=False) > 0
    assert calls_within(governor, hands, 0.0, final=True) == 2


@pytest.mark.parametrize(("pace", "most"), MINUTES)
def test_no_minute_holds_more_calls_than_the_platform_takes(pace: Pace, most: int) -> None:
    hands = Hands()
    governor = Governor(pace, hands)
    assert calls_within(governor, hands, 59.9) + calls_within(governor, hands, 0.0, final=True) <= most


def test_a_long_answer_in_a_telegram_group_grows_without_a_halt_and_soon_ends() -> None:
    hands = Hands()
    governor = Governor(TelegramChannel.group_pace, hands)
    waits, for_final = list[float](), list[float]()
    for _ in range(200):
        waits.append(governor.wait(final=False))
        hands.at += waits[-1]
        governor.spend()
        for_final.append(governor.wait(final=True))
    assert max(waits[:20]) < 3
    assert max(waits) < 3.5
    assert max(for_final[:19]) == 0
    assert max(for_final) < 3.5


def test_many_parts_of_a_final_text_need_not_wait_for_the_pace_of_growing() -> None:
    governor = Governor(TelegramChannel.group_pace, hands := Hands())
    assert calls_within(governor, hands, 12.0, final=True) >= 13


def test_no_call_is_made_before_the_time_that_the_platform_names() -> None:
    hands = Hands()
    governor = Governor(Pace(1.0, 3), hands)
    governor.close(33)
    assert governor.wait(final=True) == 33
    governor.close(5)
    assert governor.wait(final=True) == 33
    hands.at += 33
    assert governor.wait(final=True) == 0


def test_all_turns_of_a_chat_share_what_it_takes() -> None:
    hands = Hands()
    governors = Governors(hands)
    governors.of("telegram:1", Pace(1.0, 3)).close(10)
    assert governors.of("telegram:1", Pace(1.0, 3)).closed == 10
    assert governors.of("telegram:2", Pace(1.0, 3)).closed == 0


def test_chats_that_were_quiet_for_a_while_are_not_kept_in_mind() -> None:
    hands = Hands()
    governors = Governors(hands)
    kept = governors.of("busy", Pace(1.0, 3))
    kept.close(60)
    for number in range(governors.MOST + 1):
        governors.of(str(number), Pace(1.0, 3))
    assert governors.of("busy", Pace(1.0, 3)) is kept
    assert len(governors._known) < 10
