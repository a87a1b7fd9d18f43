"""The way out: what a turn says, shown while it grows and settled when it is done, every part accounted for.

    planned ──store──> sending ──platform──> (arrived) ──store──> sent (id)
                          │ cut anywhere here: uncertain
                          └─> the platform is asked for our mark; what it can not tell is sent again

What is shown is always computed from the record, so a turn that goes on in another process goes on in the same
messages. Final text comes first: it waits for flood control but not for the edit interval.
"""

import asyncio
import logging
import time
from collections.abc import Sequence

from msgspec.structs import replace

from bot.agent import Later
from bot.deadline import Deadline
from bot.errors import (
    ChatClosed,
    ChatMoved,
    MessageGone,
    SendError,
    SendLater,
    SendRefused,
    SendUncertain,
    StoreUnavailable,
)
from bot.history import reply_text
from bot.journal import Journal
from bot.messages import Answered, Button, Ended, Entry, Part, Returned, whole
from bot.ports import Channel, Clock, Rendered
from bot.texts import say

log = logging.getLogger(__name__)

CUT = ("max_tokens", "model_context_window_exceeded")
KEEP_ID_PAUSES = (0.5, 1.0, 2.0, 4.0)  # seconds; together less than an invocation's reserve, and than the lease
STOP_AFTER = 2  # seconds; a turn that is over by then needs no Stop button


def answer_text(entries: Sequence[Entry], language: str) -> str:
    """All that a person reads of a turn, as Markdown: its replies and how it ended. May be empty."""
    texts = []
    for entry in entries:
        match entry:
            case Answered():
                texts.append(reply_text(entry))
                if entry.reply.stop_reason in CUT and entry is entries[-1]:
                    texts.append(say("cut", language))
            case Ended(shown=shown):
                texts.append(shown)
    return "\n\n".join(text for text in texts if text.strip())


def answer_buttons(entries: Sequence[Entry], language: str) -> tuple[Button, ...]:
    """What a person can do with an answer: go on where a limit cut it, or what its end offers."""
    last = entries[-1]
    if isinstance(last, Ended):
        return last.buttons
    limited = any(isinstance(entry, Returned) and entry.note for entry in entries)
    cut = isinstance(last, Answered) and last.reply.stop_reason in CUT
    if isinstance(last, Answered) and (limited or cut):
        return (Button(say("more", language), f"more:{last.turn}"),)
    return ()


class Delivery:
    """One turn's messages on one channel. Implements the agent's Voice; ``stream`` runs beside the agent."""

    def __init__(self, channel: Channel, journal: Journal, clock: Clock) -> None:
        self._channel = channel
        self._journal = journal
        self._clock = clock
        self._place = journal.turn.place
        self._language = journal.turn.asker.language
        self._after = journal.head.last  # the entry that the partial words and the tools at work come after
        self._partial = ""
        self._tools: tuple[str, ...] = ()
        self._changed = asyncio.Event()
        self._shown: dict[int, Rendered] = {}
        self._calling = asyncio.Lock()  # held while the platform is called: a call is never cut by us
        self._next_edit = 0.0  # monotonic seconds, as are all times here
        self._flood_until = 0.0

    # Voice

    def hear(self, text: str) -> None:
        self._partial = (self._partial if self.unfinished else "") + text
        self._after = self._journal.head.last
        self._changed.set()

    def forget(self) -> None:
        self._partial = ""
        self._tools = ()
        self._changed.set()

    def working(self, tools: Sequence[str]) -> None:
        self.forget()
        self._tools = tuple(dict.fromkeys(tools))
        self._after = self._journal.head.last

    @property
    def unfinished(self) -> str:
        """The words of the reply that is being received: "" from the moment it is in the record."""
        return whole(self._partial) if self._after == self._journal.head.last else ""

    # While the agent works

    async def stream(self) -> None:
        """Show what is said as it grows, until cancelled. A failed edit only delays the next one."""
        typing = 0.0
        while True:
            if time.monotonic() >= max(typing, self._flood_until):
                await self._show_typing()
                typing = time.monotonic() + self._channel.typing_interval
            await self._wait_for_change(max(typing, self._flood_until) - time.monotonic())
            if self._changed.is_set() and time.monotonic() >= max(self._next_edit, self._flood_until):
                self._changed.clear()
                async with self._calling:
                    await self._show_what_there_is()

    async def end_stream(self, stream: asyncio.Task[None]) -> None:
        """Stop showing what grows, without cutting a call to the platform: its outcome would be unknown."""
        async with self._calling:
            stream.cancel()
        await asyncio.gather(stream, return_exceptions=True)

    async def _show_typing(self) -> None:
        try:
            await self._channel.typing(self._place)
        except SendLater as error:
            self._flood_until = time.monotonic() + error.retry_after

    async def _wait_for_change(self, longest: float) -> None:
        """Until there is something new and it may be shown, or ``longest`` seconds are over."""
        try:
            async with asyncio.timeout(max(longest, 0)):
                await self._changed.wait()
                await asyncio.sleep(max(self._next_edit, self._flood_until) - time.monotonic())
        except TimeoutError:
            return

    async def _show_what_there_is(self) -> None:
        interval = self._channel.group_edit_interval if self._place.group else self._channel.edit_interval
        text = self._view()
        if not text.strip():
            return
        try:
            for index, part in enumerate(self._parts(text, self._stop_button())):
                if self._is_uncertain(index):
                    return  # settled at the end, when the whole text is known
                await self._put(index, part)
        except (ChatClosed, ChatMoved):
            raise
        except SendLater as error:
            self._flood_until = time.monotonic() + error.retry_after
            self._changed.set()
        except SendError as error:
            log.info("turn=<%s> | an edit on the way was not shown: %s", self._journal.turn.id, error)
        self._next_edit = time.monotonic() + interval

    def _parts(self, text: str, buttons: tuple[Button, ...]) -> list[Rendered]:
        """The reply's messages; buttons are under the last one only."""
        *others, last = self._channel.render(text)
        return [*others, replace(last, buttons=buttons)]

    def _stop_button(self) -> tuple[Button, ...]:
        turn = self._journal.turn
        if not self._channel.stop_button or self._clock.now() - turn.began < STOP_AFTER:
            return ()
        return (Button(say("stop", self._language), f"stop:{turn.id}"),)

    def _view(self) -> str:
        texts = [answer_text(self._journal.own(), self._language), self.unfinished]
        if self._tools and self._after == self._journal.head.last:
            texts.append(f"*{say('working', self._language, tools=', '.join(self._tools))}*")
        return "\n\n".join(text for text in texts if text.strip())

    # At the end

    async def finish(self, deadline: Deadline) -> None:
        """Bring every part to its final text. Raises Later where flood control outlives this invocation, ChatClosed
        where nothing can be shown any more; what is done by then stays done."""
        text = answer_text(self._journal.own(), self._language) or say("empty", self._language)
        parts = self._parts(text, answer_buttons(self._journal.own(), self._language))
        for index, part in enumerate(parts):
            await self._insist(index, part, deadline)
        for index in range(len(parts), len(self._journal.turn.parts)):
            await self._insist_on_absence(index, deadline)
        await self._channel.typing(self._place, active=False)

    @property
    def flood_left(self) -> float:
        """Seconds for which the platform wants no call to this chat."""
        return max(self._flood_until - time.monotonic(), 0.0)

    async def _insist(self, index: int, part: Rendered, deadline: Deadline) -> None:
        """Show the part: as it is, else without markup, else our own sentence in its place; where its message can not
        be edited any more, in a new one. Raises ChatClosed where all of that is refused, so that nobody asks for ever.
        """
        ways = self._ways(part)
        uncertain = anew = False
        while True:
            await self._wait_out_the_flood(deadline)
            try:
                await self._put(index, ways[0], anew=anew)
                return
            except SendLater as error:
                self._flood_until = time.monotonic() + error.retry_after
            except SendUncertain:
                if uncertain:
                    raise Later(5) from None
                uncertain = True
            except (SendRefused, MessageGone) as error:
                log.warning("turn=<%s>, part=<%d> | refused: %s", self._journal.turn.id, index, error)
                if isinstance(error, SendRefused) and len(ways) > 1:
                    del ways[0]
                elif not anew and not self._is_uncertain(index):
                    ways, anew = self._ways(part), True
                else:
                    raise ChatClosed(f"Nothing is accepted here: {error}") from error

    def _ways(self, part: Rendered) -> list[Rendered]:
        sorry = Rendered(say("failed", self._language, reference=self._journal.turn.id))
        return [part, replace(part, markup=()), sorry]

    async def _wait_out_the_flood(self, deadline: Deadline) -> None:
        wait = self.flood_left
        if wait > max(deadline.left(), 0):
            raise Later(wait)
        if wait > 0:
            await self._clock.sleep(wait)

    async def _put(self, index: int, part: Rendered, *, anew: bool = False) -> None:
        """Make the platform show this part at this place of the reply. Raises SendErrors.

        ``anew``: in a new message, whose mark tells it from the one that can not be edited any more.
        """
        state = self._journal.turn.parts[index] if index < len(self._journal.turn.parts) else None
        if state is not None and state.state == "sent" and not anew:
            if self._shown.get(index) != part:
                await self._channel.edit(self._place, state.id, part)
                self._shown[index] = part
            return
        mark = self._marks(index)[0 if anew else 1]
        found = await self._find(index, anew=anew) if state is not None else None
        if found is None:
            if not self._is_uncertain(index):
                await self._journal.set_part(index, Part("sending"))
            reply_to = self._journal.turn.reply_to if index == 0 else ""
            found = await self._channel.send(self._place, part, reply_to=reply_to, mark=mark)
            self._shown[index] = part
        await self._keep_id(index, found)
        if self._shown.get(index) != part:
            await self._put(index, part)

    async def _keep_id(self, index: int, message_id: str) -> None:
        """Nobody but us knows where this message is: a store that fails for a moment must not make us forget it."""
        for pause in KEEP_ID_PAUSES:
            try:
                await self._journal.set_part(index, Part("sent", message_id))
                return
            except StoreUnavailable:
                await self._clock.sleep(pause)
        await self._journal.set_part(index, Part("sent", message_id))

    async def _find(self, index: int, *, anew: bool) -> str | None:
        """The newest message that was sent for this place of the reply; ``anew``: only one that was sent anew."""
        for mark in self._marks(index)[: 1 if anew else 2]:
            if found := await self._channel.find(self._place, mark):
                return found
        return None

    def _marks(self, index: int) -> tuple[str, str]:
        """Of a message sent anew, and of the first one."""
        mark = f"{self._journal.turn.id}.{index}"
        return f"{mark}+", mark

    def _is_uncertain(self, index: int) -> bool:
        parts = self._journal.turn.parts
        return index < len(parts) and parts[index].state == "sending"

    async def _insist_on_absence(self, index: int, deadline: Deadline) -> None:
        """A message that the final text no longer needs: a repeated model reply was shorter than the first."""
        part = self._journal.turn.parts[index]
        while True:
            await self._wait_out_the_flood(deadline)
            try:
                message_id = part.id or await self._find(index, anew=False)
                if message_id:
                    await self._channel.delete(self._place, message_id)
                return
            except SendLater as error:
                self._flood_until = time.monotonic() + error.retry_after
            except SendError as error:
                log.info("turn=<%s>, part=<%d> | a left-over stays: %s", self._journal.turn.id, index, error)
                return
