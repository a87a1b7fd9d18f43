"""One wake, one turn: claim, read what is waiting, think, deliver, settle.

        claim ──> turn in the head? ──yes──> go on where its record ends
                        │no
                  inbox empty? ──yes──> release
                        │no
                  begin: entry + turn + taken items, in one write ──> agent ──> delivery ──> end, in one write

Whatever cuts this, the next wake of the conversation finds the head and the record and goes on.
"""

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, suppress

from msgspec import Struct
from msgspec.structs import replace

from bot import context_page, doctor_page
from bot.agent import Agent, Waiting
from bot.approvals import HOUR, allowance, decided, waited_for
from bot.beginning import Beginnings, Nothing
from bot.budget import Budget, chat_of
from bot.deadline import Deadline, Later, OutOfTime
from bot.delivery import Delivery
from bot.errors import (
    ChatClosed,
    ChatMoved,
    ConfigError,
    KabarError,
    ModelError,
    ModelUnavailable,
    Retry,
    SendError,
    SendLater,
    StoreUnavailable,
    TokenGone,
)
from bot.examining import Examine, nothing_examined
from bot.folding import Folding
from bot.forgetting import Forgetting
from bot.governor import Governor, Governors
from bot.inbox import said_in, unanswered
from bot.journal import NO_LIMITS, Journal
from bot.logs import about
from bot.messages import Button, Ended, Head, Inbound, Place, Turn
from bot.metrics import tell, turn_ended
from bot.moving import move
from bot.ports import Blobs, Change, Channel, Clock, Store, Wake
from bot.produced import NOTHING_PRODUCED, Produced
from bot.reminding import Reminders
from bot.tasks import first_of
from bot.texts import say
from bot.tracing import Span, Value, span

log = logging.getLogger(__name__)

LEASE = 45.0  # seconds: a dead worker's conversation goes on within a minute
RENEW_EVERY = 15.0
LOOK_EVERY = 1.0  # seconds between two looks into the inbox of a running turn: /stop must act within two
TOKEN_AGAIN = 60.0  # seconds until an owner may have stored another token: secrets are read once a minute

Show = Callable[[Delivery, Deadline], Awaitable[None]]
"""``Delivery.finish`` or ``Delivery.ask``."""


class Outcome(Struct, frozen=True):
    """What the wake is to become: done (``again_in`` is None), or to be repeated after so many seconds."""

    again_in: float | None = None


class Stopped(Exception):
    """The running turn is to end: a person said so, or sent what interrupts it. ``by`` is used up by that, if any."""

    def __init__(self, by: Inbound | None) -> None:
        super().__init__(by.id if by else "interrupted")
        self.by = by


class Turns:
    """Runs the turns of all conversations; holds nothing between two of them."""

    def __init__(
        self,
        *,
        store: Store,
        wake: Wake,
        channels: Mapping[str, Channel],
        agent: Agent,
        beginnings: Beginnings,
        clock: Clock,
        folding: Folding,
        blobs: Blobs,
        reminders: Reminders,
        budget: Budget = NO_LIMITS,
        produced: Produced = NOTHING_PRODUCED,
        keep: int = 0,
        examine: Examine = nothing_examined,
    ) -> None:
        """``keep`` is for how many seconds a conversation is kept that nobody uses, 0 for ever."""
        self._forgetting = Forgetting(store, blobs, reminders, produced, clock, keep=keep, lease_end=self._lease_end)
        self._examine = examine
        self._produced = produced
        self._reminders = reminders
        self._store = store
        self._wake = wake
        self._channels = channels
        self._agent = agent
        self._beginnings = beginnings
        self._clock = clock
        self._folding = folding
        self._blobs = blobs
        self._budget = budget
        self._governors = Governors()

    async def handle(self, conversation: str, deadline: Deadline) -> Outcome:
        """Answer one wake. Raises Retry errors where the store failed or the lease was lost; nothing is lost then."""
        with about(conversation=conversation, turn=""):
            head = await self._claim(conversation)
            if head is None:
                return Outcome(again_in=LEASE / 3)
            return await self._held(head, self._work(head, deadline))

    async def give_up(self, conversation: str) -> Outcome:
        """The wake failed so often that nobody tries again: tell the person, and make room for what they say next.

        Raises Retry errors where even that is not possible now.
        """
        with about(conversation=conversation, turn=""):
            head = await self._claim(conversation)
            if head is None:
                raise Retry("Somebody is still at it.")
            return await self._held(head, self._give_up(head))

    async def _claim(self, conversation: str) -> Head | None:
        return await self._store.claim(conversation, uuid.uuid4().hex, self._lease_end())

    async def _work(self, head: Head, deadline: Deadline) -> Outcome:
        journal = await (self._resume(head) if head.turn else self._begin(head))
        if journal is None:
            return Outcome()
        with about(turn=journal.turn.id), _spanning(journal.turn):
            return await self._go_on(journal, deadline)

    async def _go_on(self, journal: Journal, deadline: Deadline) -> Outcome:
        head, delivery = journal.head, self._delivery(journal)
        try:
            await delivery.show_decisions()
            if await self._is_waiting(journal, delivery, deadline):
                await self._show(Delivery.ask, journal, delivery, deadline)  # nobody works on it until the answer
                await journal.release(failures=0)  # to have asked is progress, however often
                return Outcome()
            await self._produced.fetch(journal, deadline)
            await self._show(Delivery.finish, journal, delivery, deadline)
        except ChatClosed as error:
            log.warning("error=<%s> | nothing can be sent here any more", error)
            await self._end(journal, closed=True)
            return Outcome()
        except TokenGone as error:
            return await self._wait_for_token(journal, error)
        except OutOfTime:
            if delivery.flood_left:  # the next invocation would not know of it
                await journal.release()
                return Outcome(again_in=delivery.flood_left)
            await self._wake.wake(head.conversation, f"{journal.turn.id} {journal.turn.invocations}")
            log.info("invocation=<%d> | out of time, another invocation goes on", journal.turn.invocations)
            await journal.release()
            return Outcome()
        except Later as later:
            wait = max(later.seconds, delivery.flood_left)
            log.info("wait=<%.1f> | goes on later", wait)
            await journal.release()
            return Outcome(again_in=wait)
        turn, left = journal.turn, journal.arrived
        await self._end(journal, deadline)
        if turn.approvals and left:  # what ended the waiting has spent its wake on that
            await self._wake.wake(head.conversation, f"{turn.id} was waited for")
        return Outcome()

    async def _wait_for_token(self, journal: Journal, error: TokenGone) -> Outcome:
        """What there is to say is kept until the owner has stored a token that is good."""
        log.error("error=<%s> | the platform takes our token no more, the answer waits for another", error)
        await journal.release(failures=0)  # the fault is not the turn's
        return Outcome(again_in=TOKEN_AGAIN)

    async def _is_waiting(self, journal: Journal, delivery: Delivery, deadline: Deadline) -> bool:
        """Think, until there is an answer, or nothing more to do without a person's word."""
        try:
            await self._think(journal, delivery, deadline)
        except Waiting:
            return True
        return False

    async def _begin(self, head: Head) -> Journal | None:
        begun = await self._beginnings.begin(head, self._sign)
        if isinstance(begun, Journal):
            return begun
        if begun.moved_to:
            await self._reminders.move(head.conversation, begun.moved_to)
            moved = await move(
                self._store, self._wake, head, begun.moved_to, uuid.uuid4().hex, self._lease_end(), self._clock.now()
            )
            begun = replace(begun, done=(*begun.done, *moved))
        if begun.greet and (channel := self._channels.get(begun.greet.place.platform)):
            choices = self._beginnings.choices(begun.greet, begun.settings or begun.head.settings)
            await channel.greet(begun.greet.place, begun.greet.sender, choices)
        elif begun == Nothing(head) and await self._forgetting.retire(head):
            return None
        settled = Change(release=True, entries=begun.entries, done=begun.done, settings=begun.settings)
        await self._store.commit(begun.head, settled)
        return None

    async def _resume(self, head: Head) -> Journal | None:
        """None where the turn still waits for a person, or waited for them in vain."""
        if head.turn and waited_for(head.turn) and await self._forgetting.retire(head):
            return None
        window = await self._store.record(head.conversation, head.since)
        journal = Journal(self._store, head, window, resumed=True, budget=self._budget, blobs=self._blobs)
        if waited_for(journal.turn) and not await self._is_decided(journal):
            await journal.release()
            return None
        # Counted before anything else: a turn that kills its process must not do so for ever.
        await journal.update(invocations=journal.turn.invocations + 1, failures=journal.turn.failures + 1)
        with about(turn=journal.turn.id):
            log.info("invocation=<%d> | goes on", journal.turn.invocations)
        return journal

    async def _is_decided(self, journal: Journal) -> bool:
        """Whether nothing is waited for any more, with what has arrived; or a person has yet to be asked."""
        await self._beginnings.gathered(journal.head.conversation)  # an album may be the answer
        await self._look(journal)
        now, before = self._clock.now(), journal.turn.approvals
        # An edit of another turn's question does not answer this one.
        arrived = [each for each in journal.arrived if each.kind != "edit" or journal.is_askers_word(each)]
        approvals, used, hour = decided(journal.turn, arrived, self._agent.gate, now)
        if used or approvals != journal.turn.approvals:
            new = sum(bool(each.decision) for each in approvals) - sum(bool(each.decision) for each in before)
            tell({"ApprovalsDecided": new} if new else {}, "calls=<%d> | decided", new)
            await journal.decide(approvals, used, {allowance(journal.turn, tool): int(now) + HOUR for tool in hour})
        waiting = waited_for(journal.turn)
        return not waiting or any(each.part is None or each.part.state != "sent" for each in waiting)

    def _delivery(self, journal: Journal) -> Delivery:
        channel, governor = self._way_to(journal.turn.place)
        return Delivery(channel, journal, self._clock, governor, self._blobs)

    def _way_to(self, place: Place) -> tuple[Channel, Governor]:
        channel = self._channels.get(place.platform)
        if channel is None:
            raise ConfigError(f"A message from {place.platform} waits, but no token for {place.platform} is set.")
        pace = channel.group_pace if place.group else channel.pace
        return channel, self._governors.of(chat_of(place.conversation), pace)

    async def _sign(self, place: Place) -> None:
        """The sign of life before there is a turn: to fetch and read files takes a while."""
        channel, governor = self._way_to(place)
        while True:
            try:
                if not governor.closed:
                    await channel.typing(place)
            except SendLater as error:
                governor.close(error.retry_after)
            await self._clock.sleep(channel.typing_interval)

    async def _show(self, show: Show, journal: Journal, delivery: Delivery, deadline: Deadline) -> None:
        """In the chat's new place, where it has moved."""
        try:
            await show(delivery, deadline)
        except ChatMoved as moved:
            await journal.move_place(moved.chat)
            await show(self._delivery(journal), deadline)

    async def _end(self, journal: Journal, deadline: Deadline | None = None, *, closed: bool = False) -> None:
        """However it could be told, what was asked for holds. ``deadline`` is for summing up what has grown too long;
        without one that waits for the next turn."""
        last, turn = journal.own()[-1], journal.turn
        ended = last if isinstance(last, Ended) else None
        if ended and ended.forget:
            await self._forgetting.delete(journal.head)
        else:
            fresh = ended is not None and ended.fresh
            summary = await self._folding.after(journal.numbered(), deadline) if deadline and not fresh else None
            turn = await journal.end(closed=closed, fresh=fresh, summary=summary)
        outcome = "closed" if closed else ended.why if ended else "answered"
        turn_ended(turn, outcome, self._clock.now())

    # Thinking

    async def _think(self, journal: Journal, delivery: Delivery, deadline: Deadline) -> None:
        """Run the agent with the reply streaming beside it, until the record ends with an answer or a plain word."""
        stream = asyncio.create_task(delivery.stream())
        try:
            if journal.resumed or _has_read_files(journal):  # any other has just looked into its inbox
                await self._look(journal)
            self._heed(journal)  # before the first call that costs money
            await first_of(self._answer(journal, delivery, deadline), self._look_out(journal), _failure_of(stream))
        except Stopped as stopped:
            await self._stop(stopped.by, journal, delivery)
        except ModelError as error:
            await self._fail(error, journal)
        except ChatMoved as moved:
            await journal.move_place(moved.chat)
            raise OutOfTime from moved  # goes on at once, in the new place
        finally:
            await delivery.end_stream(stream)

    async def _answer(self, journal: Journal, delivery: Delivery, deadline: Deadline) -> None:
        asked = unanswered(journal.own())
        if asked and asked.command in context_page.COMMANDS:
            await context_page.answer(asked, journal, self._folding, deadline)
        elif asked and asked.command == doctor_page.COMMAND:
            await doctor_page.answer(asked, journal, delivery, self._examine, deadline)
        else:
            await self._agent.run(journal, delivery, deadline)

    async def _stop(self, by: Inbound | None, journal: Journal, delivery: Delivery) -> None:
        if self._agent.has_answered(journal):  # at the same moment: the answer stands, and the stop finds nothing to do
            return
        language = journal.turn.asker.language
        shown = "\n\n".join(filter(None, (delivery.unfinished.strip(), say("stopped", language))))
        delivery.forget()
        await journal.append(Ended(turn=journal.turn.id, why="stopped", shown=shown), taken=[by] if by else [])

    async def _fail(self, error: Exception, journal: Journal) -> None:
        turn = journal.turn
        log.error("error=<%s> | failed: %s", type(error).__name__, error)
        sentence = "busy" if isinstance(error, ModelUnavailable) else "failed"
        await journal.append(
            Ended(
                turn=turn.id,
                why="failed",
                shown=say(sentence, turn.asker.language, reference=turn.id),
                buttons=(Button(say("retry", turn.asker.language), f"again:{turn.id}"),),
            )
        )

    async def _give_up(self, head: Head) -> Outcome:
        journal = await (self._resume(head) if head.turn else self._begin(head))
        if journal is None:
            return Outcome()
        with about(turn=journal.turn.id), _spanning(journal.turn):
            return await self._say_sorry(journal)

    async def _say_sorry(self, journal: Journal) -> Outcome:
        if not self._agent.has_answered(journal):
            await self._fail(Retry("given up"), journal)
        try:
            await self._show(Delivery.finish, journal, self._delivery(journal), Deadline(60))
        except Later as later:
            await journal.release()
            return Outcome(again_in=later.seconds)
        except TokenGone as error:
            return await self._wait_for_token(journal, error)
        except SendError as error:
            log.error("error=<%s> | the person could not be told: %s", type(error).__name__, error)
        await self._end(journal)
        return Outcome()

    # Watching over it

    async def _look_out(self, journal: Journal) -> None:
        """Look into the inbox while the turn runs: a stop ends it, what else arrives waits for the agent."""
        while True:
            await self._clock.sleep(LOOK_EVERY)
            await self._look(journal)
            self._heed(journal)

    async def _look(self, journal: Journal) -> None:
        with suppress(StoreUnavailable):  # then the next look sees it
            inbox = await self._store.inbox(journal.head.conversation)
            journal.saw(await self._beginnings.heard(inbox, journal) if inbox else ())

    def _heed(self, journal: Journal) -> None:
        for inbound in journal.arrived:
            if self._stops(inbound, journal):
                raise Stopped(inbound)
            if journal.head.settings.meanwhile == "interrupt" and journal.is_askers_word(inbound):
                raise Stopped(None)

    def _stops(self, inbound: Inbound, journal: Journal) -> bool:
        """``/stop`` and Slack's Stop by anybody who may talk; the button under a message by who asked."""
        if inbound.kind == "tap":
            return inbound.data == f"stop:{journal.turn.id}" and inbound.sender.id == journal.turn.asker.id
        return inbound.kind == "stop" or (inbound.kind == "message" and inbound.command == "stop")

    async def _held(self, head: Head, work: Awaitable[Outcome]) -> Outcome:
        """Where it fails the lease ends at once: only who died keeps others waiting for its end."""
        try:
            return await first_of(work, self._keep_lease(head))
        except Exception:
            with suppress(KabarError):  # it may be the store that fails, or the lease another worker's
                await self._store.renew(head, int(self._clock.now() * 1000))
            raise

    async def _keep_lease(self, head: Head) -> None:
        while True:
            await self._clock.sleep(RENEW_EVERY)
            with suppress(StoreUnavailable):  # a lease that runs out is still ours until somebody takes it
                await self._store.renew(head, self._lease_end())

    def _lease_end(self) -> int:
        return int((self._clock.now() + LEASE) * 1000)


def _spanning(turn: Turn) -> AbstractContextManager[Span]:
    """One invocation's part of the turn, in the trace of the message that it began with."""
    attributes: dict[str, Value] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "kabar",
        "gen_ai.conversation.id": turn.place.conversation,
        "kabar.turn": turn.id,
        "kabar.invocation": turn.invocations,
    }
    return span("invoke_agent kabar", attributes, parent=turn.trace)


def _has_read_files(journal: Journal) -> bool:
    return any(said.all_attachments for said in said_in(journal.turn.id, journal.own()))


async def _failure_of(stream: asyncio.Task[None]) -> None:
    """Never returns; raises what ended the stream."""
    await asyncio.wait([stream])
    await stream
