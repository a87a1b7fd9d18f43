"""A taste of ``make chaos``, without its waiting; and that its verdicts can be bad."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from chaos.conversation import Conversation
from chaos.inside import Jump
from chaos.kills import Kills
from chaos.observer import Exchange
from chaos.plan import Hold, Plan
from chaos.run import Starts, run_plan
from chaos.scripts import LongTurn
from simulator.world import Platform
from tests.emulator import Emulator


class QuickKills(Kills):
    """The wake is given to a second worker soon, and the clock of that one says that the dead one's lease is over."""

    def handovers(self, conversation: Conversation) -> Sequence[float]:
        return (0.0, 5.0)

    def jump(self, conversation: Conversation) -> Jump | None:
        return Jump(after=0, seconds=60) if conversation.invocations else None


class Twice(Plan):
    """The world does once more what it was asked for once."""

    name = "twice"
    labels = ("telegram.sendMessage", "tools.book")

    async def conversations(self, hold: Hold) -> Sequence[Conversation]:
        numbered = enumerate(self.labels, 1)
        return [Conversation(number, "telegram", label, LongTurn("telegram"), label) for number, label in numbered]

    async def meet(self, exchange: Exchange) -> None:
        conversation = exchange.conversation
        if conversation and exchange.call.label == conversation.rules and conversation.troubled_at is None:
            conversation.note_trouble()
            await exchange.do()
        await exchange.pass_on()


@pytest.mark.parametrize(("platform", "most"), [("telegram", 2), ("slack", 1)])
async def test_a_worker_killed_at_a_request_leaves_nothing_lost_doubled_or_repeated(
    platform: Platform, most: int, emulator: Emulator, tmp_path: Path
) -> None:
    verdicts = await run_plan(emulator, QuickKills(platform, most=most), tmp_path / "log", Starts())
    assert [verdict.spared for verdict in verdicts] == [False] * most
    assert [verdict.remarks for verdict in verdicts if not verdict.is_good] == []


async def test_what_really_happens_twice_is_seen(emulator: Emulator, tmp_path: Path) -> None:
    posted, booked = await run_plan(emulator, Twice(), tmp_path / "log", Starts())
    assert (posted.finished, posted.doubled, posted.unavoidable, posted.repeated) == (True, 1, 0, 0)
    assert (booked.finished, booked.doubled, booked.repeated) == (True, 0, 1)
    assert not posted.is_good
    assert not booked.is_good
