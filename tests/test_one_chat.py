"""Several turns in one group at once, whose platform counts what the bot writes there."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.adapters.sqlite_store import SQLiteStore
from bot.channels.telegram.manners import TelegramManners
from bot.errors import FileRefused, SendError, SendLater
from bot.messages import Place, Reply
from bot.ports import Clock, OnText, Prompt
from bot.toolkit import Toolbox
from bot.turn import Turns
from simulator.telegram_limits import Flood, Meter
from simulator.world import Chat
from tests.bots import NoWake, turns_of
from tests.mortal import Process, ProcessStore
from tests.recorder import RecordingChannel
from tests.say import inbound
from tests.virtual import Elsewhere, VirtualClock, VirtualDeadline, VirtualLoop

TOPICS = ("1", "2", "3")


class Group(RecordingChannel):
    """A Telegram group with a simulator's count of its minute. ``refused`` are the calls that came too soon."""

    group_pace = TelegramManners.group_pace

    def __init__(self, clock: Clock) -> None:
        super().__init__(longest=100)
        self.refused: list[str] = []
        self._chat = Chat("telegram", "-5", "forum", "Friends", ())
        self._meter = Meter(Flood(), clock.now)

    def _fault(self, method: str) -> SendError | FileRefused | None:
        wait = self._meter.wait(self._chat) if method in ("send", "edit") else 0
        if not wait:
            return None
        self.refused.append(method)
        return SendLater("429", wait)


class Speaker:
    """The Model port: an answer of so many words, numbered, all at once."""

    def __init__(self, words: int) -> None:
        self.said = " ".join(f"word{number:04}" for number in range(words))

    async def reply(self, prompt: Prompt, on_text: OnText) -> Reply:
        on_text(self.said)
        return Reply([{"type": "text", "text": self.said}], "end_turn")


class Stage:
    def __init__(self, store: ProcessStore, clock: VirtualClock, words: int) -> None:
        self.group, self.model = Group(clock), Speaker(words)
        self._store, self._clock = store, clock

    def process(self) -> Turns:
        channels = {"telegram": self.group}
        return turns_of(self._store, channels, self.model, Toolbox([]), self._clock, NoWake())[0]

    async def answers(self, topic: str, processes: Sequence[Turns], *, seconds: float) -> None:
        """A question in this topic, and an invocation after the other until it is answered, each of so many seconds."""
        place = Place(conversation=f"telegram:-5:{topic}", chat="-5", thread=topic, group=True)
        question = inbound("hi", int(topic), place=place)
        await self._store.receive(replace(question, sent_at=int(self._clock.now())))
        for turns in processes:
            outcome = await turns.handle(place.conversation, VirtualDeadline(seconds, self._clock))
            if outcome.again_in is None:
                return
            await self._clock.sleep(outcome.again_in)
        raise AssertionError(f"not answered after {len(processes)} invocations: {self.group.calls}")


@contextmanager
def staged(path: Path, words: int) -> Iterator[tuple[VirtualLoop, Stage]]:
    loop = VirtualLoop()
    clock = VirtualClock(loop)
    store = SQLiteStore(path / "kabar.sqlite3", clock)
    try:
        with Elsewhere() as elsewhere:
            yield loop, Stage(ProcessStore(Process(), store, elsewhere), clock, words)
    finally:
        store.close()
        loop.close()


@pytest.mark.parametrize("words", [5, 150])
def test_turns_of_one_group_that_end_together_take_its_minute_in_turns(tmp_path: Path, words: int) -> None:
    with staged(tmp_path, words) as (loop, stage):

        async def all_at_once() -> None:
            turns = stage.process()
            await asyncio.gather(*(stage.answers(topic, [turns], seconds=900) for topic in TOPICS))

        loop.run_until_complete(all_at_once())
    assert stage.group.refused == []
    shown = "".join(stage.group.shown).replace(" ", "")
    assert len(shown) == len(TOPICS) * len(stage.model.said.replace(" ", ""))


def test_another_invocation_goes_on_where_the_one_before_had_to_wait(tmp_path: Path) -> None:
    """Of a long answer each part is shown once, though no invocation lives for the whole of it."""
    with staged(tmp_path, 150) as (loop, stage):

        async def one_after_another() -> None:
            await stage.answers("1", [stage.process() for _ in range(10)], seconds=5)

        loop.run_until_complete(one_after_another())
    told = [words for method, words in stage.group.calls if method in ("send", "edit")]
    assert "".join(stage.group.shown).replace(" ", "") == stage.model.said.replace(" ", "")
    assert sorted(set(told)) == sorted(told)
