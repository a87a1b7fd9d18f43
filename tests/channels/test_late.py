"""Channels that are made when somebody is to be reached there."""

from functools import partial

import pytest

from bot.channels.late import LateChannels
from bot.ports import Channel
from tests.recorder import RecordingChannel


class Makers:
    """``made`` are the platforms whose channels were made, in order."""

    def __init__(self, *platforms: str) -> None:
        self.made: list[str] = []
        self.channels = LateChannels({platform: partial(self._make, platform) for platform in platforms})

    def _make(self, platform: str) -> Channel:
        self.made.append(platform)
        return RecordingChannel()


def test_only_the_channel_that_is_asked_for_is_made_and_only_once() -> None:
    makers = Makers("telegram", "slack")

    assert makers.channels["slack"] is makers.channels.get("slack")
    assert makers.made == ["slack"]


def test_to_know_which_platforms_there_are_makes_none() -> None:
    makers = Makers("telegram", "slack")

    assert (list(makers.channels), len(makers.channels)) == (["telegram", "slack"], 2)
    assert "telegram" in makers.channels and "terminal" not in makers.channels
    assert makers.channels.get("terminal") is None
    assert makers.made == []


async def test_what_was_never_made_is_not_made_to_be_closed() -> None:
    makers = Makers("telegram", "slack")
    makers.channels["telegram"]

    await makers.channels.close()

    assert makers.made == ["telegram"]


def test_a_platform_that_is_not_set_up_has_no_channel() -> None:
    with pytest.raises(KeyError):
        Makers("telegram").channels["slack"]
