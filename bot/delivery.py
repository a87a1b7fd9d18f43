"""The way out: what a turn says, shown while it grows and settled when it is done, every part accounted for.

    planned ──store──> sending ──platform──> (arrived) ──store──> sent (id)
                          │ cut anywhere here: uncertain
                          └─> the platform is asked for our mark; what it can not tell is sent again

What is shown is always computed from the record, so a turn that goes on in another process goes on in the same
messages. One governor for each chat says when the platform may be called: final text first, then what grows, then the
line that says what is being worked on.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Literal, TypeVar

from msgspec.structs import replace

from bot.approvals import LONGEST, buttons, call_of, in_full, question, verdict
from bot.deadline import Deadline, Later
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
from bot.governor import Governor, loop_time
from bot.history import label, reply_text, tool_calls, without_ours
from bot.journal import Journal
from bot.messages import Answered, Approval, Button, Ended, Entry, Fetched, File, Json, Part, Returned, Task, whole
from bot.metrics import tell
from bot.ports import NOTHING_TO_SHOW, Blobs, Channel, Clock, Manner, Rendered, Upload
from bot.texts import doing, say
from bot.web.sources import sources

T = TypeVar("T")

log = logging.getLogger(__name__)

CUT = ("max_tokens", "model_context_window_exceeded")
KEEP_ID_PAUSES = (0.5, 1.0, 2.0, 4.0)  # seconds; together less than an invocation's reserve, and than the lease
STATUS_AFTER = 1.5  # seconds; tools that are done by then need no word
DRAFT_LASTS = 20.0  # seconds until a draft is shown again; Telegram's is gone after thirty
AFTER_A_FAULT = 2.0  # seconds until what grows is shown again
STOP_AFTER = 2  # seconds; a turn that is over by then needs no Stop button


def answer_text(entries: Sequence[Entry], language: str) -> str:
    """All that a person reads of a turn, as Markdown: its replies and how it ended. May be empty."""
    texts = []
    for entry in entries:
        match entry:
            case Answered(reply=reply):
                texts.append(reply_text(entry))
                if entry is entries[-1]:
                    texts.append(sources(reply.content, say("sources", language)))
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


def vote_buttons(entries: Sequence[Entry], language: str) -> tuple[Button, ...]:
    """What asks a person for their opinion of the model's answer."""
    last = entries[-1]
    if not isinstance(last, Answered):
        return ()
    return (
        Button(say("good", language), f"vote:up:{last.turn}", row=1),
        Button(say("bad", language), f"vote:down:{last.turn}", row=1),
    )


def files_of(entries: Sequence[Entry]) -> list[File]:
    """What a turn made for the person, in order."""
    made = (entry.files for entry in entries if isinstance(entry, Returned | Fetched | Ended))
    return [file for files in made for file in files if not file.kept]


def lost_files(entries: Sequence[Entry], language: str) -> str:
    """The sentence about files that were made and could not be had, "" where all were."""
    names = ", ".join(name for entry in entries if isinstance(entry, Fetched) for name in entry.lost)
    return say("no_file", language, names=names) if names else ""


def tasks_of(entries: Sequence[Entry], language: str) -> tuple[Task, ...]:
    """A turn's tool calls as steps that a person can watch."""
    results = {
        result["tool_use_id"]: result for entry in entries if isinstance(entry, Returned) for result in entry.results
    }
    tasks = []
    for number, entry in enumerate(entries):
        for call in tool_calls(entry) if isinstance(entry, Answered) else ():
            result = results.get(call["id"])
            state = _STATES[None if result is None else bool(result.get("is_error"))]
            tasks.append(Task(f"{number}.{call['id']}", doing([label(call)], language), state))
    return tuple(tasks)


_STATES: dict[bool | None, Literal["running", "done", "failed"]] = {None: "running", True: "failed", False: "done"}
"""Of a call, by whether its result is an error; None where there is none yet."""


class Delivery:
    """One turn's messages on one channel. Implements the agent's Voice; ``stream`` runs beside the agent."""

    def __init__(self, channel: Channel, journal: Journal, clock: Clock, governor: Governor, blobs: Blobs) -> None:
        self._channel = channel
        self._journal = journal
        self._clock = clock
        self._governor = governor
        self._blobs = blobs
        self._place = journal.turn.place
        self._language = journal.turn.asker.language
        self._after = journal.head.last  # the entry that the partial words and the tools at work come after
        self._partial = ""
        self._tools: tuple[str, ...] = ()
        self._changed = asyncio.Event()
        self._shown: dict[int, Rendered] = {}
        self._growing: set[int] = set()
        self._status_shown = ""
        self._draft_shown: Rendered | None = None
        self._draft_lasts = 0.0  # the loop's seconds, as are all times here
        self._working_since = 0.0
        self._look_at = float("inf")  # when there may be something to show although nothing was said
        self._calling = asyncio.Lock()  # held while the platform is called: a call is never cut by us
        self._show_after = 0.0
        self._settled: set[str] = set()  # calls whose question shows what was decided

    # Voice

    def hear(self, text: str) -> None:
        self._journal.notice("token", self._clock.now())
        self._partial = (self._partial if self._is_unfinished else "") + text
        self._after = self._journal.head.last
        self._tools = ()  # they are done, or the model would not speak
        self._changed.set()

    def forget(self) -> None:
        self._partial = ""
        self._tools = ()
        self._changed.set()

    def working(self, tools: Sequence[str]) -> None:
        self.forget()
        self._tools = tuple(dict.fromkeys(tools))
        self._after = self._journal.head.last
        self._working_since = loop_time()
        self._look_at = min(self._look_at, self._working_since + STATUS_AFTER)

    @property
    def unfinished(self) -> str:
        """The words of the reply that is being received: "" from the moment it is in the record."""
        return without_ours(whole(self._partial)) if self._is_unfinished else ""

    @property
    def _is_unfinished(self) -> bool:
        return self._after == self._journal.head.last

    @property
    def _at_work(self) -> tuple[str, ...]:
        """The tools that have run for a while now."""
        for_a_while = loop_time() >= self._working_since + STATUS_AFTER
        return self._tools if self._is_unfinished and for_a_while else ()

    # While the agent works

    async def stream(self) -> None:
        """Show what is said as it grows, until cancelled. A failed edit only delays the next one."""
        typing = 0.0
        while True:
            if loop_time() >= typing and not self._governor.closed:
                await self._show_typing()
                typing = loop_time() + self._channel.typing_interval
            if loop_time() >= self._look_at:
                self._look_at = float("inf")
                self._changed.set()
            await self._wait_for_change(min(typing, self._look_at) - loop_time())
            if self._changed.is_set() and not self._pause():
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
            self._journal.notice("sign", self._clock.now())
        except SendLater as error:
            self._hold(error)

    async def _wait_for_change(self, longest: float) -> None:
        """Until there is something new and it may be shown, or ``longest`` seconds are over."""
        try:
            async with asyncio.timeout(max(longest, self._governor.closed, 0)):
                await self._changed.wait()
                await asyncio.sleep(self._pause())
        except TimeoutError:
            return

    def _pause(self) -> float:
        """Seconds until what there is may be shown."""
        return max(self._governor.wait(final=False), self._show_after - loop_time(), 0.0)

    async def _show_what_there_is(self) -> None:
        """One call to the platform at most; what else there is to show comes with the next one."""
        if self._journal.turn.quiet:
            return
        try:
            if await self._show_next():
                self._changed.set()
        except (ChatClosed, ChatMoved):
            raise
        except SendLater as error:
            self._hold(error)
            self._changed.set()
        except SendError as error:
            log.info("error=<%s> | an edit on the way was not shown: %s", type(error).__name__, error)
            self._show_after = loop_time() + AFTER_A_FAULT

    async def _show_next(self) -> bool:
        """Show the first thing that is not shown yet; whether something was."""
        text, tasks = self._view(), self._tasks()
        parts = self._parts(text, self._stop_button(), tasks, growing=True) if text.strip() or tasks else []
        if [part.text for part in parts] == [NOTHING_TO_SHOW]:
            parts = []  # all of it is half open yet
        drafted = len(parts) - 1 if parts and self._channel.drafts(self._place) else None
        for index, part in enumerate(parts):
            if self._is_uncertain(index):
                return False  # settled at the end, when the whole text is known
            if index == drafted and index >= len(self._journal.turn.parts):
                return await self._show_draft(part)
            growing = index == len(parts) - 1
            if self._is_unlike(index, part, growing):
                await self._put(index, part, growing=growing)
                return True
        return await self._show_status(has_words=bool(parts))

    async def _show_draft(self, part: Rendered) -> bool:
        if part == self._draft_shown and loop_time() < self._draft_lasts:
            return False
        self._governor.spend()
        await self._channel.draft(self._place, replace(part, buttons=()), self._marks(0)[1])
        self._draft_shown, self._draft_lasts = part, loop_time() + DRAFT_LASTS
        self._look_at = min(self._look_at, self._draft_lasts)
        return True

    def _parts(
        self, text: str, buttons: tuple[Button, ...], tasks: tuple[Task, ...], *, growing: bool = False
    ) -> list[Rendered]:
        """The reply's messages; the steps taken stand in the first, buttons under the last one only."""
        parts = self._channel.render(text, growing=growing) if text.strip() else [Rendered("")]
        parts[-1] = replace(parts[-1], buttons=buttons)
        parts[0] = replace(parts[0], tasks=tasks)
        return parts

    def _stop_button(self) -> tuple[Button, ...]:
        turn = self._journal.turn
        if not self._channel.stop_button or self._clock.now() - turn.began < STOP_AFTER:
            return ()
        return (Button(say("stop", self._language), f"stop:{turn.id}"),)

    def _view(self) -> str:
        texts = [answer_text(self._journal.own(), self._language), self.unfinished]
        words = "\n\n".join(text for text in texts if text.strip())
        if words and self._at_work and not self._channel.shows_tasks:
            return f"{words}\n\n*{doing(self._at_work, self._language)}*"
        return words

    # The line that says what is being worked on, while there are no words yet

    async def _show_status(self, *, has_words: bool) -> bool:
        """Send, change or take back the line; whether that took a call."""
        line = "" if has_words or not self._at_work else doing(self._at_work, self._language)
        status = self._journal.turn.status
        if status is None and line:
            self._governor.spend()
            await self._journal.update(status=Part("sending"))
            manner = self._manner(self._status_mark, silent=True)
            sent = await self._channel.send(self._place, Rendered(line, buttons=self._stop_button()), manner)
            await self._journal.update(status=Part("sent", sent))
        elif status and status.id and not line and has_words:
            self._governor.spend()
            await self._channel.delete(self._place, status.id)
            await self._journal.update(status=None)
        elif status and status.id and line and line != self._status_shown:
            self._governor.spend()
            await self._channel.edit(self._place, status.id, Rendered(line, buttons=self._stop_button()))
        else:
            return False
        self._status_shown = line
        return True

    @property
    def _status_mark(self) -> str:
        return f"{self._journal.turn.id}.s"

    def _tasks(self) -> tuple[Task, ...]:
        """The tool calls of this turn so far, in order, where they can be shown."""
        return tasks_of(self._journal.own(), self._language) if self._channel.shows_tasks else ()

    def _manner(self, mark: str, *, reply_to: str = "", growing: bool = False, silent: bool = False) -> Manner:
        turn = self._journal.turn
        return Manner(turn.asker, mark, reply_to=reply_to, growing=growing, silent=silent, quiet=turn.quiet)

    # At the end

    async def finish(self, deadline: Deadline) -> None:
        """Bring every part to its final text. Raises Later where flood control outlives this invocation, ChatClosed
        where nothing can be shown any more; what is done by then stays done, and is not done again."""
        whole: list[int] = []
        try:
            await self._finish(deadline, whole)
        except Later:
            await self._journal.set_whole(whole)
            raise

    async def _finish(self, deadline: Deadline, whole: list[int]) -> None:
        """``whole`` takes the indices of the parts that show their final text."""
        own = self._journal.own()
        batches = self._channel.batches(files_of(self._journal.all_own()))
        lost = lost_files(self._journal.all_own(), self._language)
        text = self._seen("\n\n".join(filter(None, (answer_text(own, self._language), lost))))
        parts = self._final(text or say("empty", self._language), self._buttons()) if text or not batches else []
        for index, part in enumerate(parts):
            if not ((sent := self._part(index)) and sent.whole):
                await self._insist(index, part, deadline)
            whole.append(index)
        for index, batch in enumerate(batches):
            await self._insist_on_files(index, batch, deadline)
        for index in range(len(parts), len(self._journal.turn.parts)):
            await self._insist_on_absence(self._journal.turn.parts[index], self._marks(index), deadline)
        if status := self._journal.turn.status:
            await self._insist_on_absence(status, (self._status_mark,), deadline)
        for approval in self._decided():
            if approval.call not in self._settled:
                await self._wait_for_our_turn(deadline)
                await self._settle(approval)
        await self._channel.typing(self._place, active=False)

    def _seen(self, text: str) -> str:
        """The text; "" where nothing of it can be seen, as of a comment alone."""
        return text if text and [part.text for part in self._channel.render(text)] != [NOTHING_TO_SHOW] else ""

    def _final(self, text: str, buttons: tuple[Button, ...]) -> list[Rendered]:
        return self._parts(text, buttons, self._tasks())

    def _buttons(self) -> tuple[Button, ...]:
        own = self._journal.own()
        buttons = answer_buttons(own, self._language)
        return buttons + vote_buttons(own, self._language) if self._channel.feedback else buttons

    async def ask(self, deadline: Deadline) -> None:
        """Show all that was said so far, then ask for each approval that is waited for. Raises Later and ChatClosed."""
        if text := self._seen(answer_text(self._journal.own(), self._language)):
            for index, part in enumerate(self._final(text, ())):
                await self._insist(index, part, deadline)
        for number, approval in enumerate(self._journal.turn.approvals):
            if not approval.decision:
                await self._ask_one(number, approval, deadline)
        if status := self._journal.turn.status:
            await self._insist_on_absence(status, (self._status_mark,), deadline)
            await self._journal.update(status=None)
        await self._channel.typing(self._place, active=False)

    async def _ask_one(self, number: int, approval: Approval, deadline: Deadline) -> None:
        call, mark = call_of(approval, self._journal.numbered()), f"{self._journal.turn.id}.q{number}"
        if call is None:
            raise ValueError(f"The call {approval.call} is not in the record.")
        shown, full = self._question(call, approval)
        if full:
            await self._send_in_full(
                number, approval, Upload(f"{approval.tool}.txt", "text/plain", full.encode()), deadline
            )
        asked = replace(shown, buttons=buttons(self._journal.turn, number))
        part = approval.part
        if part and part.state == "sending" and part.id:  # asked again: it stands last then, and once
            await self._insist_on_absence(part, (), deadline)
            part = None

        turn = self._journal.turn
        manner = self._manner(mark, reply_to="" if turn.parts or number else turn.reply_to)  # whom it is asked

        async def send() -> str:
            return await self._or_plain(lambda part: self._channel.send(self._place, part, manner), asked)

        try:
            await self._insist_on_sending(part, mark, partial(self._set_asked, number, "part"), send, deadline)
        except SendRefused as error:
            raise ChatClosed(f"No question is accepted here: {error}") from error

    def _question(self, call: Json, approval: Approval) -> tuple[Rendered, str]:
        """The question as one message, however this channel counts, and all arguments where it does not show them."""
        longest, decided = LONGEST, verdict(approval, self._language)
        while len(parts := self._channel.render(question(call, self._language, longest, decided))) > 1 and longest:
            longest //= 2
        return parts[0], in_full(call, longest)

    async def _or_plain(self, show: Callable[[Rendered], Awaitable[T]], part: Rendered) -> T:
        try:
            return await show(part)
        except SendRefused:
            self._governor.spend()
            return await show(replace(part, markup=()))

    async def _send_in_full(self, number: int, approval: Approval, upload: Upload, deadline: Deadline) -> None:
        mark = f"{self._journal.turn.id}.a{number}"

        async def send() -> str:
            return await self._sent_files([upload], [upload.name], self._manner(mark))

        await self._insist_on_sending(approval.file, mark, partial(self._set_asked, number, "file"), send, deadline)

    async def _set_asked(self, number: int, field: Literal["part", "file"], part: Part) -> None:
        approvals = self._journal.turn.approvals
        asked = replace(approvals[number], **{field: part})
        await self._journal.update(approvals=(*approvals[:number], asked, *approvals[number + 1 :]))

    async def show_decisions(self) -> None:
        """Questions that were answered say so, and have no buttons any more, before what they allowed runs; those for
        which the chat may not be written to now, at the end. Best effort: a decision holds without."""
        for approval in self._decided():
            if not self._governor.wait(final=True):
                await self._settle(approval)

    def _decided(self) -> list[Approval]:
        return [each for each in self._journal.turn.approvals if each.decision and each.part and each.part.id]

    async def _settle(self, approval: Approval) -> None:
        call = call_of(approval, self._journal.numbered())
        if call is None or approval.part is None:
            return
        message_id, (settled, _) = approval.part.id, self._question(call, approval)
        self._governor.spend()
        try:
            await self._or_plain(lambda part: self._channel.edit(self._place, message_id, part), settled)
            self._settled.add(approval.call)
        except SendLater as error:
            self._hold(error)
        except SendError as error:
            log.info("error=<%s> | a question stays as it was: %s", type(error).__name__, error)

    def _hold(self, error: SendLater) -> None:
        """The platform wants no call to this chat for a while."""
        self._governor.close(error.retry_after)
        platform, line = self._place.platform, "platform=<%s>, wait=<%.1f> | no call is made for a while"
        tell({"Held": 1}, line, platform, error.retry_after, by=platform, level=logging.WARNING)

    @property
    def flood_left(self) -> float:
        """Seconds for which the platform wants no call to this chat."""
        return self._governor.closed

    async def _insist(self, index: int, part: Rendered, deadline: Deadline) -> None:
        """Show the part: as it is, else without markup, else our own sentence in its place; where its message can not
        be edited any more, in a new one. Raises ChatClosed where all of that is refused, so that nobody asks for ever.
        """
        ways = self._ways(part)
        uncertain = anew = False
        while True:
            await self._wait_for_our_turn(deadline)
            try:
                await self._put(index, ways[0], anew=anew)
                return
            except SendLater as error:
                self._hold(error)
            except SendUncertain:
                if uncertain:
                    raise Later(5) from None
                uncertain = True
            except (SendRefused, MessageGone) as error:
                log.warning("part=<%d>, error=<%s> | refused: %s", index, type(error).__name__, error)
                if isinstance(error, SendRefused) and len(ways) > 1:
                    del ways[0]
                elif not anew and not self._is_uncertain(index):
                    ways, anew = self._ways(part), True
                else:
                    raise ChatClosed(f"Nothing is accepted here: {error}") from error

    def _ways(self, part: Rendered) -> list[Rendered]:
        sorry = Rendered(say("failed", self._language, reference=self._journal.turn.id))
        return [part, replace(part, markup=()), sorry]

    async def _insist_on_files(self, index: int, batch: Sequence[File], deadline: Deadline) -> None:
        """Send a batch of files once. What the platform refuses is told in a sentence."""
        state = self._journal.turn.files[index] if index < len(self._journal.turn.files) else None
        mark = f"{self._journal.turn.id}.f{index}"

        async def send() -> str:
            uploads = [upload for file in batch if (upload := await self._upload(file))]
            return await self._sent_files(uploads, [file.name for file in batch], self._manner(mark))

        await self._insist_on_sending(state, mark, partial(self._journal.set_files_part, index), send, deadline)

    async def _insist_on_sending(
        self,
        state: Part | None,
        mark: str,
        keep: Callable[[Part], Awaitable[None]],
        send: Callable[[], Awaitable[str]],
        deadline: Deadline,
    ) -> None:
        """Send what is never edited, once; ``state`` is how far an earlier try came, ``keep`` stores how far this one
        does. Where it may have arrived it is looked for; what the platform can not tell is sent again."""
        if state is not None and state.state == "sent":
            return
        if state is None:
            await keep(Part("sending"))
        uncertain = False
        while True:
            await self._wait_for_our_turn(deadline)
            try:
                found = await self._channel.find(self._place, mark) if state or uncertain else None
                if found is None:
                    self._governor.spend()
                    found = await send()
                    log.info("part=<%s>, id=<%s> | sent", mark.rpartition(".")[2], found)
                break
            except SendLater as error:
                self._hold(error)
            except SendUncertain:
                if uncertain:
                    raise Later(5) from None
                uncertain = True
        await self._keep_id(keep, found)

    async def _sent_files(self, uploads: Sequence[Upload], names: Sequence[str], manner: Manner) -> str:
        """``names`` are of all that was to be sent, also of what is kept no more."""
        try:
            if uploads:
                return await self._channel.send_files(self._place, uploads, manner)
        except (SendRefused, MessageGone) as error:
            log.warning("error=<%s> | files were refused: %s", type(error).__name__, error)
        sorry = say("no_file", self._language, names=", ".join(names))
        return await self._channel.send(self._place, Rendered(sorry), manner)

    async def _upload(self, file: File) -> Upload | None:
        data = await self._blobs.get(file.blob)
        return None if data is None else Upload(file.name, file.media_type, data, file.caption)

    async def _wait_for_our_turn(self, deadline: Deadline) -> None:
        """Until a call may be made now. Other turns of this chat wait for the same: the first one takes it."""
        while (wait := self._governor.wait(final=True)) > 0:
            if wait > max(deadline.left(), 0):
                raise Later(wait)
            await self._clock.sleep(wait)

    async def _put(self, index: int, part: Rendered, *, anew: bool = False, growing: bool = False) -> None:
        """Make the platform show this part at this place of the reply. Raises SendErrors.

        ``anew``: in a new message, whose mark tells it from the one that can not be edited any more.
        """
        state = self._part(index)
        if state is not None and state.state == "sent" and not anew:
            if self._is_unlike(index, part, growing) and not self._journal.turn.quiet:
                self._governor.spend()
                await self._channel.edit(self._place, state.id, part, growing=growing)
                self._note_shown(index, part, growing)
            return
        mark = self._marks(index)[0 if anew else 1]
        found = await self._find(index, anew=anew) if state is not None else None
        if found is None:
            self._governor.spend()  # before anything is awaited: until then the call is nobody's
            if not self._is_uncertain(index):
                await self._journal.set_part(index, Part("sending"))
            reply_to = self._journal.turn.reply_to if index == 0 else ""
            found = await self._channel.send(self._place, part, self._manner(mark, reply_to=reply_to, growing=growing))
            log.info("part=<%d>, id=<%s> | sent", index, found)
            self._note_shown(index, part, growing)
        await self._keep_id(partial(self._journal.set_part, index), found)
        if self._is_unlike(index, part, growing):
            await self._put(index, part, growing=growing)

    def _is_unlike(self, index: int, part: Rendered, growing: bool) -> bool:
        """Whether a message must be touched: it shows something else, or still waits to be ended."""
        return self._shown.get(index) != part or (index in self._growing and not growing)

    def _note_shown(self, index: int, part: Rendered, growing: bool) -> None:
        self._shown[index] = part
        (self._growing.add if growing else self._growing.discard)(index)

    async def _keep_id(self, keep: Callable[[Part], Awaitable[None]], message_id: str) -> None:
        """Nobody but us knows where this message is: a store that fails for a moment must not make us forget it."""
        for pause in KEEP_ID_PAUSES:
            try:
                await keep(Part("sent", message_id))
                return
            except StoreUnavailable:
                await self._clock.sleep(pause)
        await keep(Part("sent", message_id))

    async def _find(self, index: int, *, anew: bool) -> str | None:
        """The newest message that was sent for this place of the reply; ``anew``: only one that was sent anew."""
        return await self._found(self._marks(index)[: 1 if anew else 2])

    async def _found(self, marks: Sequence[str]) -> str | None:
        for mark in marks:
            if found := await self._channel.find(self._place, mark):
                return found
        return None

    def _marks(self, index: int) -> tuple[str, str]:
        """Of a message sent anew, and of the first one."""
        mark = f"{self._journal.turn.id}.{index}"
        return f"{mark}+", mark

    def _part(self, index: int) -> Part | None:
        parts = self._journal.turn.parts
        return parts[index] if index < len(parts) else None

    def _is_uncertain(self, index: int) -> bool:
        part = self._part(index)
        return part is not None and part.state == "sending"

    async def _insist_on_absence(self, part: Part, marks: Sequence[str], deadline: Deadline) -> None:
        """A message that is no longer needed: a repeated model reply was shorter than the first, or words came."""
        while True:
            await self._wait_for_our_turn(deadline)
            try:
                message_id = part.id or await self._found(marks)
                if message_id:
                    self._governor.spend()
                    await self._channel.delete(self._place, message_id)
                return
            except SendLater as error:
                self._hold(error)
            except SendError as error:
                log.info("error=<%s> | a left-over stays: %s", type(error).__name__, error)
                return
