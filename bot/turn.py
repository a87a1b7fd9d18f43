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
from collections.abc import Mapping, Sequence
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from bot.access import Access
from bot.agent import Agent, Later
from bot.commands import Told, answer
from bot.context import Window, slide
from bot.deadline import Deadline, OutOfTime
from bot.delivery import Delivery
from bot.errors import ChatClosed, ModelError, ModelUnavailable, StoreUnavailable
from bot.journal import Journal
from bot.messages import Asked, Ended, Head, Inbound, Turn
from bot.ports import Change, Channel, Clock, Store, Wake
from bot.tasks import first_of
from bot.texts import say

log = logging.getLogger(__name__)

LEASE = 45.0  # seconds: a dead worker's conversation goes on within a minute
RENEW_EVERY = 15.0
LOOK_EVERY = 1.0  # seconds between two looks into the inbox of a running turn: /stop must act within two


class Outcome(Struct, frozen=True):
    """What the wake is to become: done (``again_in`` is None), or to be repeated after so many seconds."""

    again_in: float | None = None


class Stopped(Exception):
    """A person asked the running turn to stop."""

    def __init__(self, inbound: Inbound) -> None:
        super().__init__(inbound.id)
        self.inbound = inbound


class Turns:
    """Runs the turns of all conversations; holds nothing between two of them."""

    def __init__(
        self,
        *,
        store: Store,
        wake: Wake,
        channels: Mapping[str, Channel],
        agent: Agent,
        access: Access,
        clock: Clock,
        window: Window,
    ) -> None:
        self._store = store
        self._wake = wake
        self._channels = channels
        self._agent = agent
        self._access = access
        self._clock = clock
        self._window = window

    async def handle(self, conversation: str, deadline: Deadline) -> Outcome:
        """Answer one wake. Raises Retry errors where the store failed or the lease was lost; nothing is lost then."""
        head = await self._store.claim(conversation, uuid.uuid4().hex, self._lease_end())
        if head is None:
            return Outcome(again_in=LEASE / 3)
        return await first_of(self._work(head, deadline), self._keep_lease(head))

    async def _work(self, head: Head, deadline: Deadline) -> Outcome:
        journal = await self._resume(head) if head.turn else await self._begin(head)
        if journal is None:
            await self._store.commit(head, Change(release=True))
            return Outcome()
        delivery = Delivery(self._channels[journal.turn.place.platform], journal, self._clock)
        try:
            await self._think(journal, delivery, deadline)
            await delivery.finish(deadline)
        except ChatClosed as error:
            log.warning("conversation=<%s> | nothing can be sent here any more: %s", head.conversation, error)
        except OutOfTime:
            reason = f"{journal.turn.id} {journal.turn.invocations}"
            await self._wake.wake(head.conversation, reason)
            await journal.release()
            return Outcome()
        except Later as later:
            await journal.release()
            return Outcome(again_in=later.seconds)
        await journal.end(self._next_since(journal))
        return Outcome()

    def _next_since(self, journal: Journal) -> int | None:
        told = journal.own()[-1]
        if isinstance(told, Ended) and told.why == "told" and told.fresh:
            return journal.head.last + 1
        return slide(journal.numbered(), self._window)

    # Beginning

    async def _resume(self, head: Head) -> Journal:
        window = await self._store.record(head.conversation, head.since)
        journal = Journal(self._store, head, window, resumed=True)
        # Counted before anything else: a turn that kills its process must not do so for ever.
        await journal.update(invocations=journal.turn.invocations + 1, failures=journal.turn.failures + 1)
        log.info("turn=<%s>, invocation=<%d> | goes on", journal.turn.id, journal.turn.invocations)
        return journal

    async def _begin(self, head: Head) -> Journal | None:
        """The oldest waiting messages become a turn: all plain ones in a row, or one that we answer ourselves."""
        inbox = await self._store.inbox(head.conversation)
        if not inbox:
            return None
        told = self._own_answer(inbox[0])
        batch = inbox[:1] if told else self._in_a_row(inbox)
        turn = self._new_turn(batch, head)
        entries: tuple[Asked | Ended, ...] = (Asked(turn=turn.id, said=tuple(batch)),)
        if told:
            entries += (Ended(turn=turn.id, why="told", shown=told.text, fresh=told.fresh),)
        window = await self._store.record(head.conversation, head.since)
        # The journal is opened on the turn first, so that the entry and the turn are stored in one write.
        journal = Journal(self._store, replace(head, turn=turn), window, resumed=False)
        await journal.append(*entries, taken=batch)
        log.info("turn=<%s>, conversation=<%s>, messages=<%d> | begins", turn.id, head.conversation, len(batch))
        return journal

    def _new_turn(self, batch: Sequence[Inbound], head: Head) -> Turn:
        last = batch[-1]
        return Turn(
            id=uuid.uuid4().hex[:12],
            place=last.place,
            asker=last.sender,
            began=int(self._clock.now()),
            first=head.last + 1,
            reply_to=last.native_id if last.place.group else "",
        )

    def _in_a_row(self, inbox: Sequence[Inbound]) -> list[Inbound]:
        batch = []
        for inbound in inbox:
            if self._own_answer(inbound) is not None:
                break
            batch.append(inbound)
        return batch

    def _own_answer(self, inbound: Inbound) -> Told | None:
        """What we answer without the model, or None where the model answers."""
        language = inbound.sender.language
        if not self._access.may_talk(inbound.sender):
            return Told(say("denied", language, person=inbound.sender.id))
        if told := answer(inbound):
            return told
        described = any(attachment.description for attachment in inbound.attachments)
        if inbound.attachments and not described and not inbound.words:
            return Told(say("unreadable", language))
        return None

    # Thinking

    async def _think(self, journal: Journal, delivery: Delivery, deadline: Deadline) -> None:
        """Run the agent with the reply streaming beside it, until the record ends with an answer or a plain word."""
        stream = asyncio.create_task(delivery.stream())
        try:
            await first_of(self._agent.run(journal, delivery, deadline), self._look_out(journal), _until_failed(stream))
        except Stopped as stopped:
            await self._stop(stopped.inbound, journal, delivery)
        except ModelError as error:
            await self._fail(error, journal)
        finally:
            await delivery.end_stream(stream)

    async def _stop(self, inbound: Inbound, journal: Journal, delivery: Delivery) -> None:
        language = journal.turn.asker.language
        shown = "\n\n".join(filter(None, (delivery.unfinished.strip(), say("stopped", language))))
        delivery.forget()
        await journal.append(Ended(turn=journal.turn.id, why="stopped", shown=shown), taken=[inbound])

    async def _fail(self, error: ModelError, journal: Journal) -> None:
        turn = journal.turn
        log.error("turn=<%s>, conversation=<%s> | failed: %s", turn.id, turn.place.conversation, error)
        sentence = "busy" if isinstance(error, ModelUnavailable) else "failed"
        shown = say(sentence, turn.asker.language, reference=turn.id)
        await journal.append(Ended(turn=turn.id, why="failed", shown=shown, reference=turn.id))

    # Watching over it

    async def _look_out(self, journal: Journal) -> None:
        """Look into the inbox while the turn runs: a stop ends it, what else arrives waits for the agent."""
        while True:
            await self._clock.sleep(LOOK_EVERY)
            with suppress(StoreUnavailable):  # then the next look sees it
                arrived = await self._store.inbox(journal.head.conversation)
                journal.arrived = [inbound for inbound in arrived if self._access.may_talk(inbound.sender)]
            for inbound in journal.arrived:
                if inbound.command == "stop":
                    raise Stopped(inbound)

    async def _keep_lease(self, head: Head) -> None:
        while True:
            await self._clock.sleep(RENEW_EVERY)
            with suppress(StoreUnavailable):  # a lease that runs out is still ours until somebody takes it
                await self._store.renew(head, self._lease_end())

    def _lease_end(self) -> int:
        return int((self._clock.now() + LEASE) * 1000)


async def _until_failed(stream: asyncio.Task[None]) -> None:
    """Never returns; raises what ended the stream."""
    await asyncio.wait([stream])
    await stream
