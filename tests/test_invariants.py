"""Whatever people do, and whatever dies meanwhile: every message is answered once, in order, and nothing is done twice.

Hypothesis plays the world: it makes people write, correct, stop, tap, block and move; it wakes workers, doubles and
loses wakes, kills workers at any of their steps, stalls them beyond their lease, takes their database away. Then
everything is left to settle, and the record, the inbox and what the people see must agree.

    KABAR_EXAMPLES=2000 pytest --timeout 0 tests/test_invariants.py       a deep run: other sequences each time
"""

import asyncio
import itertools
import os
import traceback
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from msgspec.structs import replace

from bot.access import Access
from bot.adapters.dynamodb_store import DynamoDBStore, create_table
from bot.adapters.sqlite_store import SQLiteStore
from bot.agent import Limits
from bot.delivery import answer_text
from bot.errors import ChatClosed, ChatMoved, MessageGone, Retry, SendError, SendLater, SendRefused, SendUncertain
from bot.history import reply_text
from bot.intake import accept, sweep
from bot.messages import (
    Answered,
    Asked,
    Button,
    Ended,
    Entry,
    Inbound,
    Kind,
    Numbered,
    Person,
    Place,
    Reply,
    Returned,
    Summary,
)
from bot.nested import records_in
from bot.ports import Clock, Manner, OnText, Prompt, Rendered, Store
from bot.toolkit import Toolbox, tool
from bot.turn import Outcome, Turns
from tests.bots import Scout, turns_of
from tests.brain import ENDINGS, STEPS, Brain, ids_in
from tests.mortal import (
    Fate,
    How,
    Killed,
    Process,
    ProcessChannel,
    ProcessModel,
    ProcessStore,
    ProcessWake,
)
from tests.recorder import RecordingChannel
from tests.virtual import Elsewhere, VirtualClock, VirtualDeadline, VirtualLoop

T = TypeVar("T")

EXAMPLES = {"sqlite": 40, "dynamodb": 8}
DEEP = int(os.environ.get("KABAR_EXAMPLES", "0"))

ANN = Person("telegram:1", "Ann", "en")
BUDI = Person("telegram:2", "Budi", "id")
EVE = Person("telegram:3", "Eve", "en")
FRIENDS = frozenset({ANN.id, BUDI.id})
"""Eve is not let in."""

STOP_WITHIN = 2.0
OVERDUE = 120.0
RETRY_AFTER = 5.0
"""Seconds, as the worker function has them."""

HOWS: tuple[How, ...] = ("killed before", "killed after", "cancelled", "cut off before", "cut off after", "stalled")

FAULTS: dict[str, tuple[str, Callable[[], SendError]]] = {
    "a send comes too soon": ("send", lambda: SendLater("429", 3)),
    "a send comes much too soon": ("send", lambda: SendLater("429", 300)),
    "an edit comes too soon": ("edit", lambda: SendLater("429", 3)),
    "a send is cut": ("send", lambda: SendUncertain("cut")),
    "a send arrives and is cut": ("send", lambda: SendUncertain("cut")),
    "an edit is cut": ("edit", lambda: SendUncertain("cut")),
    "a send is refused": ("send", lambda: SendRefused("can't parse entities")),
    "an edit is refused": ("edit", lambda: SendRefused("can't parse entities")),
    "a message to edit is gone": ("edit", lambda: MessageGone("message to edit not found")),
}

STEPS_OF_A_TURN = {"book": range(1, 23), "send": range(1, 73, 1 if DEEP else 2)}
"""With one tool call and two replies; with two subagents as well, who have two tool calls each."""

MOST_WAKES = 60
"""After which everything must be quiet."""


@dataclass
class Chat:
    """``places`` are the chat's ids in the course of time: the last one is where it is now.

    Since everything was last settled, ``shaken``: it was closed, so what was on its way may have been dropped;
    ``blurred``: a worker stalled just before it called the platform, and no platform can tell that it should not any
    more.
    """

    name: str
    people: tuple[Person, ...]
    places: list[Place]
    blocked: bool = False
    shaken: bool = False
    blurred: bool = False

    @property
    def place(self) -> Place:
        return self.places[-1]


@dataclass
class Sent:
    """A message of ours as the platform has it."""

    chat: str
    mark: str


class Platform(RecordingChannel):
    """Chats that can be closed and moved, and messages that stay in the chat they were sent to."""

    stop_button = True

    def __init__(self) -> None:
        super().__init__(longest=40, marks=True)
        self.closed: set[str] = set()
        self.moved: dict[str, str] = {}
        self.sent: dict[str, Sent] = {}
        self.offered: defaultdict[str, list[Button]] = defaultdict(list)

    async def send(self, place: Place, part: Rendered, manner: Manner) -> str:
        self._check_open(place)
        known = set(self.messages)
        try:
            return await super().send(place, part, manner)
        finally:
            for message_id in self.messages.keys() - known:
                self.sent[message_id] = Sent(place.chat, manner.mark)
            self._note_buttons(place, part)

    async def edit(self, place: Place, message_id: str, part: Rendered, *, growing: bool = False) -> None:
        self._check_open(place)
        if message_id in self.sent and self.sent[message_id].chat != place.chat:
            raise MessageGone("message to edit not found")
        try:
            await super().edit(place, message_id, part, growing=growing)
        except MessageGone:
            self.messages.pop(message_id, None)
            raise
        self._note_buttons(place, part)

    async def find(self, place: Place, mark: str) -> str | None:
        found = (id for id, sent in self.sent.items() if sent == Sent(place.chat, mark) and id in self.messages)
        return next(found, None)

    def shown_for(self, turn: str, chat: str) -> dict[int, list[str]]:
        """What is seen of a turn's reply: the texts at each place of it, in order. A mark is "<turn>.<place>", with a
        "+" where the message had to be sent anew."""
        shown: defaultdict[int, list[str]] = defaultdict(list)
        for message_id, text in self.messages.items():
            sent = self.sent[message_id]
            of, _, place = sent.mark.rstrip("+").partition(".")
            if (sent.chat, of) == (chat, turn):
                shown[int(place)].append(text)
        return dict(sorted(shown.items()))

    def _check_open(self, place: Place) -> None:
        if place.chat in self.closed:
            raise ChatClosed("blocked by the user")
        if place.chat in self.moved:
            raise ChatMoved("upgraded to a supergroup", self.moved[place.chat])

    def _note_buttons(self, place: Place, part: Rendered) -> None:
        for button in part.buttons:
            if button not in self.offered[place.chat]:
                self.offered[place.chat].append(button)


class World:
    """Everything outside the workers: people, platform, queue, store. Its methods run in the virtual loop."""

    def __init__(self, loop: VirtualLoop, elsewhere: Elsewhere, open_store: Callable[[Clock], Store]) -> None:
        self.clock = VirtualClock(loop)
        self.elsewhere = elsewhere
        self.store = open_store(self.clock)
        self.platform = Platform()
        self.brain = Brain(self.clock)
        self.chats = [
            Chat("private", (ANN,), [Place(conversation="telegram:1", chat="1")]),
            Chat("group", (ANN, BUDI, EVE), [Place(conversation="telegram:-5", chat="-5", group=True)]),
        ]
        self.sent: list[Inbound] = []
        self.accepted_at: dict[str, float] = {}
        self.wakes: list[str] = []
        self.running: dict[Process, str] = {}
        self.done: Counter[str] = Counter()
        """What tools with effects have done, by tool_use id."""
        self.faults: list[str] = []
        """What must never happen, seen while it happened."""
        self.seen: dict[str, list[Numbered]] = {}
        """Each conversation's record as it was read last."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._numbers = itertools.count(1)
        self._excused: set[str] = set()
        self._blurred: set[str] = set()
        self._access = Access(allowed=FRIENDS)

    # What people do.

    async def says(self, chat: Chat, person: Person, words: str, *, command: str = "", wakes: int = 1) -> None:
        number = next(self._numbers)
        text = words if command else f"m{number} {words}".strip()
        await self.accepts(self._inbound(chat, person, number, text=text, command=command), wakes)

    async def edits(self, original: Inbound, words: str) -> None:
        number = next(self._numbers)
        edit = replace(
            original,
            kind="edit",
            id=f"e{original.native_id}.{number}",
            order=f"{original.order}.{number:06d}",
            text=f"{original.id} {words}".strip(),
            sent_at=int(self.clock.now()),
        )
        await self.accepts(edit)

    async def taps(self, chat: Chat, person: Person, button: Button) -> None:
        tap = self._inbound(chat, person, next(self._numbers), kind="tap", data=button.data)
        await self.accepts(replace(tap, id=f"c{person.id}.{button.data}"))

    async def tells(self, chat: Chat, kind: Kind, place: Place, data: str = "") -> None:
        """News of the platform about the chat itself. Such a thing sorts before all messages."""
        number = next(self._numbers)
        news = self._inbound(chat, ANN, number, kind=kind, data=data)
        await self.accepts(replace(news, place=place, id=f"{kind}.{data or number}", order=f"{0:012d}", native_id=""))

    async def accepts(self, inbound: Inbound, wakes: int = 1) -> None:
        """What the webhook does. ``wakes``: how many of its one wake arrive."""
        before = len(self.wakes)
        await accept(inbound, ProcessStore(Process(), self.store, self.elsewhere), self, self.clock)
        if len(self.wakes) > before:
            self.wakes[before:] = [inbound.conversation] * wakes
        self.accepted_at.setdefault(inbound.id, self.clock.now())
        if inbound not in self.sent:
            self.sent.append(inbound)

    async def wake(self, conversation: str, reason: str) -> None:
        """The Wake port of every process."""
        self.wakes.append(conversation)

    def _inbound(self, chat: Chat, person: Person, number: int, **more: Any) -> Inbound:
        return Inbound(
            place=chat.place,
            id=f"m{number}",
            order=f"{number:012d}",
            sender=person,
            sent_at=int(self.clock.now()),
            native_id=str(number),
            **more,
        )

    # What the workers do.

    def serve(self, conversation: str, fate: Fate | None = None, seconds: float = 60) -> None:
        """A worker takes a wake of this conversation, beside any other that may be at it."""
        if conversation in self.wakes:
            self.wakes.remove(conversation)
        deadline = VirtualDeadline(seconds, self.clock)
        self._start(conversation, Process(fate), lambda turns: _whole(turns.handle(conversation, deadline)))

    def give_up(self, conversation: str) -> None:
        """The queue's dead-letter queue has its turn."""
        self._start(conversation, Process(), lambda turns: _whole(turns.give_up(conversation)))

    async def sweep(self) -> int:
        return await sweep(OVERDUE, ProcessStore(Process(), self.store, self.elsewhere), self, self.clock)

    def _start(self, conversation: str, process: Process, work: Callable[[Turns], Coroutine[Any, Any, None]]) -> None:
        async def run() -> None:
            try:
                await process.run(work(self._turns(process, conversation)))
            except (Retry, Killed, asyncio.CancelledError):
                self.wakes.append(conversation)
            finally:
                del self.running[process]
                self._chat(conversation).blurred |= process.held_back

        self.running[process] = conversation
        task = asyncio.ensure_future(run())
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if error := task.exception():
            self.faults.append(f"a worker failed: {error!r}")
            note("".join(traceback.format_exception(error)))

    def _turns(self, process: Process, conversation: str) -> Turns:
        store = ProcessStore(process, self.store, self.elsewhere)
        turns, _ = turns_of(
            store,
            {"telegram": ProcessChannel(process, self.platform)},
            ProcessModel(process, _Watched(self, conversation, process)),
            self._toolbox(process),
            self.clock,
            ProcessWake(process, self),
            access=self._access,
            limits=Limits(model_calls=8, pauses=8),
            scout=Scout(seconds=3_600),
        )
        return turns

    def _toolbox(self, process: Process) -> Toolbox:
        async def do(what: str) -> None:
            self.done[what] += 1
            await self.clock.sleep(1)  # done, but nobody knows yet

        @tool(writes=True, seconds=5)
        async def book(what: str) -> str:
            """Book something, once."""
            await process.step("tool", partial(do, what))
            return f"booked {what}"

        @tool(seconds=5)
        async def look(what: str) -> str:
            """Look at something."""
            await process.step("tool", partial(self.clock.sleep, 2))
            return f"saw {what}"

        return Toolbox([book, look])

    async def settle(self) -> None:
        """Nothing goes wrong any more, and every wake is answered until there is none; who stalled goes on last."""
        self.platform.faults.clear()
        for process in self.running:
            process.spare()
        for _ in range(MOST_WAKES):
            await self._until_idle()
            if self.wakes:
                self.serve(self.wakes[0])
                await self._until_idle()
                await self.clock.sleep(RETRY_AFTER)
                continue
            await self.clock.sleep(OVERDUE + 1)
            if await self.sweep():
                continue
            if not self.running:
                return
            self.go_on()
        raise AssertionError(f"It never becomes quiet: {self.wakes}")

    async def _until_idle(self) -> None:
        """Until nobody works but those who stall."""
        while any(not process.stalled for process in self.running):
            await self.clock.sleep(1)

    def go_on(self) -> None:
        for process in self.running:
            process.go_on()

    def _chat(self, conversation: str) -> Chat:
        (found,) = (chat for chat in self.chats for place in chat.places if place.conversation == conversation)
        return found

    # What must hold.

    def check_call(self, conversation: str) -> None:
        """Before the model is asked: nobody may have said stop some time ago, nor may the chat be known to be closed.

        While the news of that waits, a turn that was running goes on until it wants to show something.
        """
        waiting = self.elsewhere.call(self.store.inbox, conversation)
        for inbound in waiting:
            stops = inbound.kind == "message" and inbound.command == "stop"
            waited = self.clock.now() - self.accepted_at[inbound.id]
            if stops and self._access.role(inbound.sender) and waited > STOP_WITHIN:
                self.faults.append(f"a model call {waited} s after {inbound}")
        chat = self._chat(conversation)
        if chat.blocked and len(chat.places) == 1 and not any(inbound.kind == "left" for inbound in waiting):
            self.faults.append(f"a model call in {conversation}, which is closed")

    def check_running(self) -> None:
        """At any time."""
        assert not self.faults, self.faults
        assert not self.brain.faults, self.brain.faults
        assert [call for call, times in self.done.items() if times > 1] == []
        for conversation in self._conversations():
            self._check_record_grew(conversation)

    def check_settled(self) -> None:
        for conversation in self._conversations():
            assert self.elsewhere.call(self.store.inbox, conversation) == []
            head = self.elsewhere.call(self.store.claim, conversation, "checker", int(self.clock.now() * 1000))
            assert head is not None, "somebody still holds the lease"
            assert head.turn is None
            assert head.last == len(self.seen[conversation])
        for chat in self.chats:
            self._check_chat(chat)

    def check_paid_once(self, at_once: int) -> None:
        """After one thing went wrong: only replies that were on their way then were asked for again."""
        stored = 0
        for conversation in self._conversations():
            record = self.elsewhere.call(self.store.record, conversation, 1)
            nested = self.elsewhere.call(records_in, self.store, conversation, record)
            stored += sum(isinstance(step.entry, Answered) for steps in (record, *nested.values()) for step in steps)
        assert stored <= self.brain.calls <= stored + at_once

    def _check_record_grew(self, conversation: str) -> None:
        before = self.seen.get(conversation, [])
        now = self.seen[conversation] = self.elsewhere.call(self.store.record, conversation, 1)
        assert now[: len(before)] == before
        assert [each.seq for each in now] == list(range(1, len(now) + 1))

    def _check_chat(self, chat: Chat) -> None:
        told = Told([self.seen[place.conversation] for place in chat.places])
        if chat.shaken:
            self._excused |= {each.id for each in self.sent} | set(told.turns)
            chat.shaken = chat.blocked
        if chat.blurred:
            self._blurred |= set(told.turns)
            chat.blurred = False
        for inbound in self.sent:
            if inbound.kind == "message" and inbound.place in chat.places:
                self._check_answered(inbound, told)
        for turn in told.turns:
            self._check_ended(turn, told)
            if turn not in self._excused | self._blurred:
                self._check_shown(turn, told, chat)
        for place in chat.places:
            self._check_answers_came_in_order(place)
            self._check_said_in_order(place, told)

    def _check_answered(self, inbound: Inbound, told: "Told") -> None:
        turns = told.answering(inbound)
        assert len(turns) <= 1, f"{inbound} was answered by {turns}"
        if inbound.sender.id not in FRIENDS:  # a stranger hears once a day that they are one
            turns = [turn for each in self.sent if each.sender == inbound.sender for turn in told.answering(each)]
        if inbound.id not in self._excused and inbound.command != "stop":
            assert turns, f"{inbound} was never answered"

    def _check_ended(self, turn: str, told: "Told") -> None:
        """A turn that a closed chat cut has no end: what was asked in it is asked still when the chat is open again."""
        end = told.as_answered(turn)[-1]
        if isinstance(end, Answered) and end.reply.stop_reason in ("end_turn", "max_tokens"):
            asked, answered = told.asked_ids(turn), ids_in(reply_text(end))
            still = answered[: len(answered) - len(asked)]
            assert answered == [*still, *asked], f"{turn} answers {answered}, asked were {asked}: {told.turns[turn]}"
            assert set(still) <= told.ids_without_end(), f"{turn} answers {still} as well"
        else:
            assert turn in self._excused or isinstance(end, Ended | Answered), f"turn {turn} has no end: {end}"

    def _check_shown(self, turn: str, told: "Told", chat: Chat) -> None:
        """In the chat's last place where anything of it is."""
        shown = next(filter(None, (self.platform.shown_for(turn, place.chat) for place in reversed(chat.places))), {})
        assert all(len(texts) == 1 for texts in shown.values()), f"turn {turn} is shown twice: {shown}"
        text = "".join(texts[0] for texts in shown.values())
        due = answer_text(told.as_answered(turn), told.language(turn))
        assert text == due, f"{turn} shows {text!r}, not {due!r}"

    def _check_answers_came_in_order(self, place: Place) -> None:
        entries = [each.entry for each in self.seen[place.conversation]]
        recorded = dict.fromkeys(entry.turn for entry in entries if isinstance(entry, Asked))
        marks = [sent.mark for sent in self.platform.sent.values() if sent.chat == place.chat]
        came = dict.fromkeys(mark.partition(".")[0] for mark in marks)
        assert [turn for turn in came if turn in recorded] == [turn for turn in recorded if turn in came]

    def _check_said_in_order(self, place: Place, told: "Told") -> None:
        """Of one person's plain words: a command, or somebody else's message, waits where those steer a turn."""
        said: defaultdict[str, list[str]] = defaultdict(list)
        for entries in told.turns.values():
            for inbound in said_in(entries):
                plain = inbound.kind == "message" and not inbound.command and not told.ever_undone(inbound)
                if plain and inbound in self.sent and inbound.place == place:
                    said[inbound.sender.id].append(inbound.order)
        for person, orders in said.items():
            assert orders == sorted(orders), f"{person}: {orders}"

    def _conversations(self) -> list[str]:
        return [place.conversation for chat in self.chats for place in chat.places]


async def _whole(work: Awaitable[Outcome]) -> None:
    """Raises Retry where the wake is to come again, however that is said."""
    outcome = await work
    if outcome.again_in is not None:
        raise Retry(f"Again in {outcome.again_in} seconds.")


class _Watched:
    """The Model port: the brain, with a look at whether it may be asked.

    Who has stalled may know nothing of what happened meanwhile: what the store keeps from it is another matter.
    """

    def __init__(self, world: World, conversation: str, process: Process) -> None:
        self._world = world
        self._conversation = conversation
        self._process = process

    async def reply(self, prompt: Prompt, on_text: OnText) -> Reply:
        if not self._process.has_stalled:
            self._world.check_call(self._conversation)
        return await self._world.brain.reply(prompt, on_text)


class Told:
    """What the records of one chat tell; a turn that moved with its chat counts once."""

    def __init__(self, records: list[list[Numbered]]) -> None:
        self.turns: dict[str, list[Entry]] = {}
        self._undone: set[str] = set()
        for record in records:
            turns: defaultdict[str, list[Entry]] = defaultdict(list)
            for each in record:
                if isinstance(each.entry, Summary):
                    continue
                turns[each.entry.turn].append(each.entry)
                if isinstance(each.entry, Ended) and each.entry.why == "undone":
                    self._undone.add(each.entry.turn)
            self.turns = {**turns, **self.turns}

    def answering(self, inbound: Inbound) -> list[str]:
        """The turns whose answer to this message stands."""
        return [turn for turn in self._holding(inbound) if turn not in self._undone]

    def ever_undone(self, inbound: Inbound) -> bool:
        return any(turn in self._undone for turn in self._holding(inbound))

    def asked_ids(self, turn: str) -> list[str]:
        """Whom the model was to answer, as its messages name themselves."""
        return list(dict.fromkeys(id for inbound in said_in(self.turns[turn]) for id in ids_in(inbound.text)))

    def ids_without_end(self) -> set[str]:
        cut = [turn for turn in self.turns if not isinstance(self.as_answered(turn)[-1], Answered | Ended)]
        return {id for turn in cut for id in self.asked_ids(turn)}

    def as_answered(self, turn: str) -> list[Entry]:
        """What was there when the answer went out: that it was undone came later."""
        return [entry for entry in self.turns[turn] if not (isinstance(entry, Ended) and entry.why == "undone")]

    def language(self, turn: str) -> str:
        (asked,) = (entry for entry in self.turns[turn] if isinstance(entry, Asked))
        return asked.said[-1].sender.language

    def _holding(self, inbound: Inbound) -> list[str]:
        wanted = (inbound.id, "message")
        return [
            turn
            for turn, entries in self.turns.items()
            if wanted in [(said.id, said.kind) for said in said_in(entries)]
        ]


def said_in(entries: list[Entry]) -> list[Inbound]:
    return [inbound for entry in entries if isinstance(entry, Asked | Returned) for inbound in entry.said]


# What happens.

PLANS = st.lists(st.sampled_from(STEPS), max_size=3).map(" ".join) | st.lists(
    st.sampled_from(STEPS + ENDINGS), max_size=3
).map(" ".join)
FATES = (
    st.none()
    | st.builds(Fate, at=st.integers(1, 60), how=st.sampled_from(HOWS))
    | st.builds(Fate, at=st.integers(1, 3), how=st.sampled_from(HOWS), of=st.sampled_from(["queue", "model", "tool"]))
)
SECONDS = st.sampled_from([0.3, 1.1, 2.5, 6.0, 20.0, 50.0])
MANY = st.integers(0, 1_000)
"""Chooses among what is there then."""


class Conversations(RuleBasedStateMachine):
    def __init__(self, open_store: Callable[[Clock], Store]) -> None:
        super().__init__()
        self._open = ExitStack()
        self._loop = VirtualLoop()
        self._open.callback(self._loop.close)
        self.world = World(self._loop, self._open.enter_context(Elsewhere()), open_store)
        self._failed = False

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(work)

    # People

    @rule(chat=MANY, person=MANY, plan=PLANS, wakes=st.sampled_from([1, 1, 1, 0, 2]))
    def somebody_writes(self, chat: int, person: int, plan: str, wakes: int) -> None:
        there, who = self._who(chat, person)
        if not there.blocked:
            self.run(self.world.says(there, who, plan, wakes=wakes))

    @rule(
        chat=MANY,
        person=MANY,
        command=st.sampled_from(
            ["stop", "stop", "new", "help", "meanwhile steer", "meanwhile queue", "meanwhile interrupt"]
        ),
    )
    def somebody_commands(self, chat: int, person: int, command: str) -> None:
        there, who = self._who(chat, person)
        name, _, words = command.partition(" ")
        if not there.blocked:
            self.run(self.world.says(there, who, words, command=name))

    @precondition(lambda self: self._written())
    @rule(which=MANY, plan=PLANS)
    def somebody_corrects(self, which: int, plan: str) -> None:
        self.run(self.world.edits(one_of(self._written(), which), plan))

    @precondition(lambda self: self.world.platform.offered)
    @rule(chat=MANY, person=MANY, which=MANY)
    def somebody_taps(self, chat: int, person: int, which: int) -> None:
        there, who = self._who(chat, person)
        buttons = [button for place in there.places for button in self.world.platform.offered[place.chat]]
        if buttons and not there.blocked:
            self.run(self.world.taps(there, who, one_of(buttons, which)))

    @precondition(lambda self: self.world.sent)
    @rule(which=MANY)
    def the_platform_repeats_itself(self, which: int) -> None:
        self.run(self.world.accepts(one_of(self.world.sent, which)))

    # Workers

    @precondition(lambda self: self._idle())
    @rule(which=MANY, fate=FATES, seconds=st.sampled_from([60, 60, 15]))
    def a_worker_takes_a_wake(self, which: int, fate: Fate | None, seconds: float) -> None:
        conversation = one_of(self._idle(), which)
        self.run(self._soon(lambda: self.world.serve(conversation, fate, seconds)))

    @rule(chat=MANY, person=MANY, plan=PLANS, fate=FATES, seconds=SECONDS)
    def somebody_writes_and_a_worker_is_at_it(
        self, chat: int, person: int, plan: str, fate: Fate | None, seconds: float
    ) -> None:
        """The commonest of all sequences, so that it is common here too."""
        self.somebody_writes(chat, person, plan, wakes=1)
        conversation = one_of(self.world.chats, chat).place.conversation
        if conversation in self._idle():
            self.run(self._soon(lambda: self.world.serve(conversation, fate)))
        self.time_passes(seconds)

    @rule(chat=MANY, fate=FATES)
    def a_wake_arrives_that_nobody_sent(self, chat: int, fate: Fate | None) -> None:
        conversation = one_of(self.world.chats, chat).place.conversation
        self.run(self._soon(lambda: self.world.serve(conversation, fate)))

    @precondition(lambda self: self.world.running)
    @rule(which=MANY)
    def a_worker_is_killed(self, which: int) -> None:
        process = one_of(list(self.world.running), which)
        self.run(self._soon(process.kill))

    @precondition(lambda self: self.world.running)
    @rule(which=MANY)
    def a_worker_is_asked_to_end(self, which: int) -> None:
        process = one_of(list(self.world.running), which)
        self.run(self._soon(process.cancel))

    @precondition(lambda self: any(process.stalled for process in self.world.running))
    @rule()
    def who_stalled_goes_on(self) -> None:
        self.run(self._soon(self.world.go_on))

    @precondition(lambda self: self.world.wakes and not self.world.platform.faults)
    @rule(which=MANY)
    def the_queue_gives_up(self, which: int) -> None:
        conversation = one_of(self.world.wakes, which)
        self.world.wakes.remove(conversation)
        self.run(self._soon(lambda: self.world.give_up(conversation)))

    @rule(seconds=SECONDS)
    def time_passes(self, seconds: float) -> None:
        self.run(self.world.clock.sleep(seconds))

    # Platform

    @rule(fault=st.sampled_from(sorted(FAULTS)))
    def the_platform_fails(self, fault: str) -> None:
        method, error = FAULTS[fault]
        pending = [each for faults in self.world.platform.faults.values() for each in faults]
        if not any(isinstance(each, SendRefused) for each in pending):  # two of them end in a notice instead
            self.world.platform.faults.setdefault(method, []).append(error())
            self.world.platform.arrives = "arrives" in fault

    @rule(chat=MANY)
    def the_bot_is_shut_out(self, chat: int) -> None:
        there = one_of(self.world.chats, chat)
        if not there.blocked:
            there.blocked = there.shaken = True
            self.world.platform.closed.add(there.place.chat)
            self.run(self.world.tells(there, "left", there.place))

    @precondition(lambda self: any(chat.blocked for chat in self.world.chats))
    @rule()
    def the_bot_is_let_in_again(self) -> None:
        for there in self.world.chats:
            if there.blocked:
                there.blocked = False
                self.world.platform.closed.discard(there.place.chat)
                self.run(self.world.tells(there, "joined", there.place))

    @precondition(lambda self: len(self.world.chats[1].places) == 1 and not self.world.chats[1].blocked)
    @rule()
    def the_group_becomes_a_supergroup(self) -> None:
        group = self.world.chats[1]
        old, new = group.place, Place(conversation="telegram:-1001", chat="-1001", group=True)
        self.world.platform.moved[old.chat] = new.chat
        group.places.append(new)
        self.run(self.world.tells(group, "moved", old, new.chat))

    # What must hold

    @rule()
    def everything_settles(self) -> None:
        self.run(self.world.settle())
        self.world.check_running()
        self.world.check_settled()

    @invariant()
    def nothing_is_done_twice_and_every_request_is_sendable(self) -> None:
        self.world.check_running()

    def teardown(self) -> None:
        try:
            if not self._failed:
                self.everything_settles()
        finally:
            self.run(self._end())
            self._open.close()

    async def _soon(self, do: Callable[[], None]) -> None:
        """Do it inside the loop, and let everybody come to where time has to pass."""
        do()
        await self.world.clock.sleep(0.01)

    async def _end(self) -> None:
        for process in list(self.world.running):
            process.kill()
        while self.world.running:
            await self.world.clock.sleep(1)

    def _who(self, chat: int, person: int) -> tuple[Chat, Person]:
        there = one_of(self.world.chats, chat)
        return there, one_of(there.people, person)

    def _written(self) -> list[Inbound]:
        return [inbound for inbound in self.world.sent if inbound.kind == "message" and not inbound.command]

    def _idle(self) -> list[str]:
        """A queue hands out one wake of a conversation at a time."""
        return [each for each in self.world.wakes if each not in self.world.running.values()]


def one_of(choices: Sequence[T], number: int) -> T:
    return choices[number % len(choices)]


OpenStore = Callable[[Clock], Store]


@pytest.fixture(params=list(EXAMPLES))
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    """Opens an empty store each time."""
    numbers = itertools.count(1)
    if request.param == "dynamodb":
        client = request.getfixturevalue("aws").client("dynamodb")

        def on_dynamodb(clock: Clock) -> Store:
            table = f"conversations-{next(numbers)}"
            create_table(client, table)
            return DynamoDBStore(client, table, clock)

        yield on_dynamodb
    else:
        with ExitStack() as opened:

            def on_sqlite(clock: Clock) -> Store:
                store = SQLiteStore(tmp_path / f"{next(numbers)}.sqlite3", clock)
                opened.callback(store.close)
                return store

            yield on_sqlite


def test_whatever_happens_every_message_is_answered_once_and_nothing_is_done_twice(
    open_store: OpenStore, request: pytest.FixtureRequest
) -> None:
    class Here(Conversations):
        def __init__(self) -> None:
            super().__init__(open_store)

    run_state_machine_as_test(
        Here,
        settings=settings(
            max_examples=DEEP or EXAMPLES[request.node.callspec.params["open_store"]],
            stateful_step_count=40,
            deadline=None,
            derandomize=not DEEP,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.parametrize("plan", list(STEPS_OF_A_TURN))
@pytest.mark.parametrize("how", HOWS)
def test_whichever_step_of_a_turn_with_an_effect_goes_wrong_it_is_done_and_answered_once(
    how: How, plan: str, tmp_path: Path
) -> None:
    for at in STEPS_OF_A_TURN[plan]:
        bot = Conversations(lambda clock, at=at: SQLiteStore(tmp_path / f"{at}.sqlite3", clock))  # type: ignore[misc]
        bot.somebody_writes(chat=0, person=0, plan=plan, wakes=1)
        bot.a_worker_takes_a_wake(which=0, fate=Fate(at, how), seconds=60)
        bot.time_passes(20)
        bot.everything_settles()
        bot.world.check_paid_once(at_once=2 if plan == "send" else 1)
        bot.teardown()
