"""How a turn begins: from what waits in the inbox to a stored question, or to the notice that there is none.

What begins a turn: plain messages in a row, a command or a case that we answer ourselves, a tapped button, an edit of
what was answered already. What does not: taps that came too late, news about the chat itself.
"""

import logging
import uuid
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from bot.access import Access
from bot.budget import Budget, notice, refusal
from bot.commands import Told, answer
from bot.errors import BudgetExceeded
from bot.inbox import asked_in, edited, is_readable, run_of, said_in, still_arriving, turn_with, with_edits
from bot.journal import Journal
from bot.messages import Asked, Button, ChatSettings, Ended, Entry, Head, Inbound, Numbered, Spend, Turn
from bot.ports import Clock, Store
from bot.texts import say
from bot.usage import page, rows

log = logging.getLogger(__name__)

QUIET = 1.0
"""Seconds without a new piece after which an album or a split paste counts as whole."""
MOST_QUIETS = 5
LATE = 3600
"""Seconds. What is older, after an outage, gets one notice instead of answers that nobody waits for any more."""


class Nothing(Struct, frozen=True):
    """No turn: only this is left to settle. ``moved_to`` is the new chat id of a group that became a supergroup."""

    head: Head
    done: tuple[str, ...] = ()
    settings: ChatSettings | None = None
    moved_to: str = ""


class Question(Struct, frozen=True):
    """A turn to begin. ``before`` is stored in front of it; ``used`` are inbox items beside those said."""

    said: tuple[Inbound, ...]
    told: Told | None = None
    before: tuple[Entry, ...] = ()
    used: tuple[Inbound, ...] = ()
    taken: tuple[Inbound, ...] | None = None
    """What of the inbox it takes, where that is not what was said."""

    @property
    def inbox(self) -> tuple[Inbound, ...]:
        """All that it uses up."""
        return (*(self.said if self.taken is None else self.taken), *self.used)


class Beginnings:
    def __init__(self, store: Store, access: Access, clock: Clock, budget: Budget) -> None:
        self._store = store
        self._access = access
        self._clock = clock
        self._budget = budget

    async def begin(self, head: Head) -> Journal | Nothing:
        """The next turn of a conversation that has none, stored; its question and its messages in one write."""
        inbox = await self._gathered(head.conversation)
        if not inbox:
            return Nothing(head)
        if news := self._news(head, inbox):
            return news
        messages, edits = with_edits(inbox)
        window = await self._store.record(head.conversation, head.since)
        question = self._question(messages, [each.entry for each in window])
        if question is None:
            return Nothing(head, done=_keys([messages[0], *edits]))
        question = replace(question, used=(*question.used, *edits))
        journal = await self._admitted(question, head, window)
        if journal is None:
            return Nothing(head, done=_keys(question.inbox))
        journal.saw(each for each in messages if self._access.may_talk(each.sender))
        return journal

    async def _gathered(self, conversation: str) -> list[Inbound]:
        """The inbox, once nothing more arrives of an album or a split paste."""
        inbox = await self._store.inbox(conversation)
        for _ in range(MOST_QUIETS):
            if not still_arriving(inbox):
                break
            await self._clock.sleep(QUIET)
            before, inbox = inbox, await self._store.inbox(conversation)
            if len(inbox) == len(before):
                break
        return inbox

    def _news(self, head: Head, inbox: Sequence[Inbound]) -> Nothing | None:
        """What the platform tells about the chat itself costs no turn."""
        for inbound in inbox:
            match inbound.kind:
                case "moved":
                    return Nothing(head, done=(inbound.key,), moved_to=inbound.data)
                case "left":
                    gone = [each for each in inbox if each.sent_at <= inbound.sent_at]
                    return Nothing(head, done=_keys(gone), settings=replace(head.settings, closed=True))
                case "joined":
                    return Nothing(head, done=(inbound.key,), settings=replace(head.settings, closed=False))
        return None

    def _question(self, inbox: Sequence[Inbound], entries: Sequence[Entry]) -> Question | None:
        """What the first item begins; None where it begins nothing."""
        first = inbox[0]
        match first.kind:
            case "tap":
                return self._tapped(first, entries)
            case "edit":
                return self._edited_late(first, entries)
            case "message":
                # What gets the same answer of ours gets it once: old messages, a stranger's, a command sent twice.
                # What the model answers is one person's: a turn has one asker, and runs with that one's rights.
                batch, told = (
                    run_of(inbox, lambda each: self._own_answer(each) or each.sender.id),
                    self._own_answer(first),
                )
                if told is None and not any(map(is_readable, batch)):
                    told = Told(say("unreadable", first.sender.language))
                return Question(said=tuple(batch), told=told)
        return None

    def _own_answer(self, inbound: Inbound) -> Told | None:
        """What we answer without the model, or None where the model answers. Not asked of anything but messages."""
        if inbound.kind != "message":
            return Told(inbound.kind)
        language = inbound.sender.language
        if not self._access.may_talk(inbound.sender):
            return Told(say("denied", language, person=inbound.sender.id))
        if self._is_late(inbound):
            return Told(say("late", language))
        return answer(inbound)

    def _is_late(self, inbound: Inbound) -> bool:
        return self._clock.now() - inbound.sent_at > LATE

    def _tapped(self, tap: Inbound, entries: Sequence[Entry]) -> Question | None:
        """A button of ours: do a turn again, with the edit it was offered for, or go on with it."""
        word, _, turn = tap.data.partition(":")
        asked = asked_in(turn, entries)
        if asked is None or not self._is_theirs(tap, asked):
            return None
        if word == "more":
            go_on = replace(tap, kind="message", text=say("go_on", tap.sender.language), data="")
            return Question(said=(go_on,), taken=(tap,))
        if word != "again":
            return None
        first = asked.said[0]
        original = turn_with(first.native_id, entries) if first.kind == "edit" else turn
        if not original:
            return None
        said = tuple(
            edited(each, first) if first.kind == "edit" and each.native_id == first.native_id else each
            for each in said_in(original, entries)
        )
        return Question(said=said, before=(Ended(turn=original, why="undone"),), taken=(tap,))

    def _is_theirs(self, tap: Inbound, asked: Asked) -> bool:
        return self._access.may_talk(tap.sender) and any(tap.sender.id == said.sender.id for said in asked.said)

    def _edited_late(self, edit: Inbound, entries: Sequence[Entry]) -> Question | None:
        """An edit of what was answered already: offer to do it again."""
        if not self._access.may_talk(edit.sender) or not turn_with(edit.native_id, entries):
            return None
        return Question(said=(edit,), told=Told(say("edited", edit.sender.language), button="redo"))

    async def _admitted(self, question: Question, head: Head, window: Sequence[Numbered]) -> Journal | None:
        """The turn, or what says that a limit is reached, stored; None where that was said in this minute already."""
        asked, now = question.said[-1], self._clock.now()
        if question.told is not None:
            return await self._stored(await self._with_page(question, window), head, window)
        reserve = self._budget.estimate(head.settings)
        try:
            return await self._stored(question, head, window, reserve, self._budget.pace(asked, now))
        except BudgetExceeded as over:
            log.warning("conversation=<%s>, person=<%s> | refused: %s", head.conversation, asked.sender.id, over)
            told = Told(refusal(over.spend, asked.sender.language, now), button="retry")
        try:
            return await self._stored(replace(question, told=told, before=()), head, window, 0, notice(asked, now))
        except BudgetExceeded:
            return None

    async def _with_page(self, question: Question, window: Sequence[Numbered]) -> Question:
        if question.told is None or question.told.page != "usage":
            return question
        asked = question.said[-1]
        about = rows(asked, self._budget, self._clock.now(), everybody=self._access.is_owner(asked.sender))
        spent = await self._store.spent([counter for row in about for counter in row.counters])
        text = page(about, spent, [each.entry for each in window], asked.sender.language)
        return replace(question, told=replace(question.told, text=text))

    async def _stored(
        self,
        question: Question,
        head: Head,
        window: Sequence[Numbered],
        reserve: int = 0,
        spend: tuple[Spend, ...] = (),
    ) -> Journal:
        """Raises BudgetExceeded, with nothing stored, where ``reserve`` or ``spend`` goes above a limit."""
        turn = self._turn(question, head)
        if question.told is None and await self._is_nearly_spent(turn, head.conversation):
            log.warning("turn=<%s> | a budget is nearly spent: the cheaper model answers, from its own cache", turn.id)
            turn = replace(turn, cheaper=True)
        entries: list[Entry] = [*question.before, Asked(turn=turn.id, said=question.said)]
        settings = None
        if (told := question.told) and told.page != "context":  # this one the turn answers (bot/context_page.py)
            label = say(told.button, turn.asker.language) if told.button else ""
            buttons = (Button(label, f"again:{turn.id}"),) if label else ()
            entries.append(Ended(turn=turn.id, why="told", shown=told.text, fresh=told.fresh, buttons=buttons))
            settings = replace(head.settings, meanwhile=told.meanwhile) if told.meanwhile else None
        # The journal is opened on the turn first, so that the entries and the turn are stored in one write.
        journal = Journal(self._store, replace(head, turn=turn), window, resumed=False, budget=self._budget)
        await journal.append(*entries, taken=question.inbox, settings=settings, reserve=reserve, spend=spend)
        log.info("turn=<%s>, conversation=<%s>, messages=<%d> | begins", turn.id, head.conversation, len(question.said))
        return journal

    async def _is_nearly_spent(self, turn: Turn, conversation: str) -> bool:
        if not (self._budget.cheaper and self._budget.limits_money):
            return False
        counters = self._budget.counters(turn.asker.id, conversation, turn.began)
        return self._budget.is_nearly_spent(counters, await self._store.spent(list(counters)))

    def _turn(self, question: Question, head: Head) -> Turn:
        last = question.said[-1]
        return Turn(
            id=uuid.uuid4().hex[:12],
            place=last.place,
            asker=last.sender,
            began=int(self._clock.now()),
            first=head.last + 1,
            reply_to=last.native_id if last.place.group else "",
        )


def _keys(inbounds: Sequence[Inbound]) -> tuple[str, ...]:
    return tuple(inbound.key for inbound in inbounds)
