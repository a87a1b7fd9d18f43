"""How a turn begins: from what waits in the inbox to a stored question, or to the notice that there is none.

What begins a turn: plain messages in a row, a command or a case that we answer ourselves, a tapped button, an edit of
what was answered already. What does not: taps that came too late, news about the chat itself.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from bot import rules as chat_rules
from bot.attachments import is_unheard
from bot.budget import Budget, notice, refusal
from bot.commands import LATER, Here, Told, answer, as_words, is_for_members, slash
from bot.errors import BudgetExceeded
from bot.inbox import (
    asked_in,
    edited,
    is_edit_of,
    last_question,
    newest_edit,
    run_of,
    said_in,
    says_anew,
    still_arriving,
    to_us,
    turn_with,
    was_stopped,
    with_edits,
)
from bot.journal import Journal
from bot.listening import Listening
from bot.logs import about
from bot.mcp.prompts import NO_PROMPTS, PromptFailed, Prompts
from bot.memory import owner_of, told
from bot.messages import (
    Asked,
    Button,
    ChatSettings,
    Ended,
    Entry,
    Head,
    Inbound,
    Numbered,
    Part,
    Place,
    Spend,
    Spent,
    Times,
    Turn,
    Voted,
)
from bot.metrics import tell
from bot.pages import Pages
from bot.ports import Clock, Store
from bot.profiles import Profiles, chat_key
from bot.settings_page import buttons, changed
from bot.tasks import first_of
from bot.texts import say

log = logging.getLogger(__name__)

QUIET = 1.0
"""Seconds without a new piece after which an album or a split paste counts as whole."""
MOST_QUIETS = 5
LATE = 3600
"""Seconds. What is older, after an outage, gets one notice instead of answers that nobody waits for any more."""
TAPPED = 200
"""Entries before those in sight of which buttons are still heeded: to look at all would take longer with every turn."""


Sign = Callable[[Place], Coroutine[Any, Any, None]]
"""Shows in a place that somebody is at it, until it is cancelled; never returns."""


class Nothing(Struct, frozen=True):
    """No turn: only this is left to settle. ``moved_to`` is the new chat id of a group that became a supergroup;
    ``greet`` is who opened the bot's page."""

    head: Head
    done: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()
    settings: ChatSettings | None = None
    moved_to: str = ""
    greet: Inbound | None = None


class Question(Struct, frozen=True):
    """A turn to begin. ``before`` is stored in front of it; ``used`` are inbox items beside those said."""

    said: tuple[Inbound, ...]
    told: Told | None = None
    before: tuple[Entry, ...] = ()
    used: tuple[Inbound, ...] = ()
    taken: tuple[Inbound, ...] | None = None
    """What of the inbox it takes, where that is not what was said."""
    edits: str = ""
    """The platform's id of a message of ours that the answer takes the place of."""

    @property
    def inbox(self) -> tuple[Inbound, ...]:
        """All that it uses up."""
        return (*(self.said if self.taken is None else self.taken), *self.used)


class Beginnings:
    """``models`` are those that people may choose, the usual one first; ``follows``: whether a thread in which the bot
    was named once is to it from then on, where nobody decided that."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        budget: Budget,
        listening: Listening,
        pages: Pages,
        *,
        models: Sequence[str] = (),
        follows: bool = False,
        prompts: Prompts = NO_PROMPTS,
    ) -> None:
        self._store = store
        self._clock = clock
        self._budget = budget
        self._listening = listening
        self._pages = pages
        self._models = models
        self._follows = follows
        self._prompts = prompts

    async def heard(self, inbox: Sequence[Inbound], journal: Journal) -> list[Inbound]:
        """What of the inbox is to the bot while a turn runs, from people who may talk to it; and news of the chat."""
        head, said = journal.head, said_in(journal.turn.id, journal.own())
        to, _ = to_us(inbox, follows=self._is_followed(head), heard=said)
        known = await self._listening.people.known(to, head.settings)
        return [inbound for inbound in known if inbound.sender.role or inbound.kind in ("moved", "left")]

    def _is_followed(self, head: Head) -> bool:
        follow = head.settings.follow
        return head.last > 0 and (self._follows if follow is None else follow)

    async def begin(self, head: Head, sign: Sign) -> Journal | Nothing:
        """The next turn of a conversation that has none, stored; its question and its messages in one write."""
        inbox = await self.gathered(head.conversation)
        if not inbox:
            return Nothing(head)
        if news := self._news(head, inbox):
            return await self._greeted(news)
        inbox, ignored = to_us(inbox, follows=self._is_followed(head))
        if not inbox:
            return Nothing(head, done=_keys(ignored))
        profiles = Profiles(self._store)
        known, window = await asyncio.gather(
            self._listening.people.known(inbox, head.settings, profiles),
            self._store.record(head.conversation, head.since),
        )
        messages, edits = with_edits(known)
        begun = await self._question(messages, head, [each.entry for each in window])
        begun = begun or Nothing(head, done=(messages[0].key,))
        if isinstance(begun, Nothing):
            return await self._greeted(replace(begun, done=(*begun.done, *_keys([*edits, *ignored]))))
        question = replace(begun, used=(*begun.used, *edits, *ignored))
        with about(turn=question.inbox[0].reference):
            journal = await self._admitted(question, head, window, profiles, sign)
        if journal is None:
            return Nothing(head, done=_keys(question.inbox))
        journal.saw(each for each in messages if each.sender.role)
        return journal

    async def _greeted(self, news: Nothing) -> Nothing:
        """Who opened the page, known by name and language."""
        if news.greet is None:
            return news
        [known] = await self._listening.people.known([news.greet], news.settings or news.head.settings)
        return replace(news, greet=known)

    def choices(self, opened: Inbound, settings: ChatSettings) -> tuple[Button, ...]:
        """What somebody who may talk can choose for this chat."""
        return buttons(opened, settings, self._models) if opened.sender.role else ()

    async def gathered(self, conversation: str) -> list[Inbound]:
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
                case "opened":
                    return Nothing(head, done=(inbound.key,), greet=inbound)
        return None

    async def _question(
        self, inbox: Sequence[Inbound], head: Head, entries: Sequence[Entry]
    ) -> Question | Nothing | None:
        """What the first item begins: a turn, or nothing but what is left to settle; None where that is it alone."""
        first = inbox[0]
        match first.kind:
            case "tap":
                return await self._tapped(first, head, entries)
            case "note":
                return await self._noted(first)
            case "due":
                return await self._due(first, inbox, head, entries)
            case "message" if not first.sender.role:
                return await self._turned_away(first, inbox, head)
            case "edit":
                return self._edited_late(first, head, entries)
            case "message" if self._is_late(first):
                known = (each for each in inbox if each.kind == "message" and each.sender.role)
                return _told_late(tuple(filter(self._is_late, known)), head, entries)
            case "message" if first.command in ("retry", "undo"):
                return self._taken_back(first, head, entries)
            case "message":
                inbox = [as_words(each, self._prompts.commands) for each in inbox]
                first = inbox[0]
                # What gets the same answer of ours gets it once, such as a command sent twice.
                # What the model answers is one person's: a turn has one asker, and runs with that one's rights.
                told = self._own_answer(first, head)
                batch = run_of(inbox, lambda each: self._own_answer(each, head) or each.sender.id)
                return Question(said=tuple(batch), told=told)
        return None

    async def _due(
        self, first: Inbound, inbox: Sequence[Inbound], head: Head, entries: Sequence[Entry]
    ) -> Question | Nothing:
        """A reminder's time has come: told as it is, or asked of the model. What waits of one reminder is told once."""
        same = [each for each in inbox if each.kind == "due" and each.data == first.data]
        if not first.sender.role:
            await self._pages.reminders.cancel(first.conversation, first.data)
            return Nothing(head, done=_keys(same))
        due = same[-1]
        if head.settings.closed:  # told as it is: nobody may be there to read an answer that is paid for
            due = replace(due, command="")
        said, own = await self._pages.reminders.begun(due, entries, self._clock.now())
        return Question((said,), Told(own[0], buttons=own[1], spoken_of=True) if own else None, taken=tuple(same))

    def _own_answer(self, inbound: Inbound, head: Head) -> Told | None:
        """What we answer without the model, or None where the model answers. Not asked of anything but messages."""
        if inbound.kind != "message":
            return Told(inbound.kind)
        if not inbound.sender.role:
            return Told("stranger")
        return answer(inbound, self._here(head.settings))

    def _here(self, settings: ChatSettings) -> Here:
        return Here(settings, self._models, self._clock.now(), self._prompts.commands)

    def _is_late(self, inbound: Inbound) -> bool:
        return self._clock.now() - inbound.sent_at > LATE

    async def _turned_away(self, stranger: Inbound, inbox: Sequence[Inbound], head: Head) -> Question | Nothing:
        """A stranger hears once a day that the bot is private, whatever they send, and costs nothing more."""
        theirs = [each for each in inbox if each.sender.id == stranger.sender.id]
        text = await self._pages.doorstep.turn_away(stranger)
        if text is None:
            return Nothing(head, done=_keys(theirs))
        return Question(tuple(theirs), Told(text, quiet=stranger.place.group))

    async def _noted(self, note: Inbound) -> Question | None:
        """Something of ours to be said here."""
        match note.text:
            case "knock" if note.sender.role == "owner":
                text, buttons = await self._pages.doorstep.knock(note)
                return Question((note,), Told(text, buttons=buttons))
            case "added" if note.sender.role == "owner":
                text, buttons = await self._pages.doorstep.added(note)
                return Question((note,), Told(text, buttons=buttons))
            case "installed":
                await self._pages.doorstep.installed(note)
            case "let_in":
                return Question((note,), Told(say("let_in", note.sender.language, slash=slash(note.place))))
        return None

    async def _tapped(self, tap: Inbound, head: Head, entries: Sequence[Entry]) -> Question | Nothing | None:
        """A button of ours: what it is for stands before the colon, what it is about behind."""
        word, _, about = tap.data.partition(":")
        if not tap.sender.role:
            return None
        match word:
            case "set":
                return self._set(tap, head, about)
            case "let":
                done = await self._pages.doorstep.let(tap, about)
                return Question((tap,), Told(done), edits=tap.native_id) if done else None
            case "do":
                command, _, text = about.partition(" ")
                typed = replace(tap, kind="message", command=command, text=text or "yes", data="")
                told, edits = self._own_answer(typed, head), "" if is_for_members(typed) else tap.native_id
                return Question(said=(typed,), told=told, taken=(tap,), edits=edits)
            case "vote":
                way, _, turn = about.partition(":")
                if way not in ("up", "down") or not turn:
                    return None
                return Nothing(head, done=(tap.key,), entries=(Voted(turn, tap.sender.id, good=way == "up"),))
        if word not in ("more", "again"):
            return None
        asked = asked_in(about, entries) or await self._out_of_sight(about, head)
        if asked is None or not any(tap.sender.id == said.sender.id for said in asked.said):
            return None
        if asked not in entries:
            return Question((tap,), Told(say("out_of_sight", tap.sender.language)))
        if word == "more":
            go_on = replace(tap, kind="message", text=say("go_on", tap.sender.language), data="")
            return Question(said=(go_on,), taken=(tap,))
        return self._again(asked, tap, head, entries)

    async def _out_of_sight(self, turn: str, head: Head) -> Asked | None:
        """What started a turn that is in the record and no longer shown, as far back as buttons are still tapped."""
        record = await self._store.record(head.conversation, max(head.since - TAPPED, 1)) if head.since > 1 else []
        return asked_in(turn, [each.entry for each in record])

    def _set(self, tap: Inbound, head: Head, about: str) -> Question | Nothing | None:
        """A choice on the page of settings, which then shows it; or on the bot's own page, which is no message."""
        name, _, value = about.partition(":")
        fields = changed(name, value, self._models)
        if not fields:
            return None
        settings = replace(head.settings, **fields)
        if not tap.native_id and not tap.quiet:
            opened = replace(tap, sender=replace(tap.sender, language=""))  # whose own it was before is not known
            return Nothing(head, done=_keys([tap]), settings=settings, greet=opened)
        typed = replace(tap, kind="message", command="settings", data="")
        told = answer(typed, self._here(settings))
        if is_for_members(typed):
            return Question((typed,), told, taken=(tap,))
        return Question((typed,), told and replace(told, settings=fields), taken=(tap,), edits=tap.native_id)

    def _again(self, asked: Asked, by: Inbound, head: Head, entries: Sequence[Entry]) -> Question | None:
        """Do a turn again, with the edit it was offered for."""
        first, original = asked.said[0], asked.turn
        if first.kind == "edit":
            first, original = newest_edit(first, entries), turn_with(first, entries)
        if not original:
            return None
        said = tuple(edited(each, first) if is_edit_of(first, each) else each for each in said_in(original, entries))
        # Their rights are those of now.
        said = tuple(replace(each, sender=by.sender) if each.sender.id == by.sender.id else each for each in said)
        told = self._own_answer(said[0], head) if said[0].command else None  # the edit may have made it one
        return Question(said, told, before=(Ended(turn=original, why="undone"),), taken=(by,))

    def _taken_back(self, command: Inbound, head: Head, entries: Sequence[Entry]) -> Question:
        """``/retry`` and ``/undo``: the newest turn that the model answered, done again or as if it had never been, for
        whoever asked it: it runs with their rights, and at their cost."""
        language, last = command.sender.language, last_question(entries)
        if last is None:
            return Question((command,), Told(say("nothing_to_take_back", language)))
        if all(command.sender.id != said.sender.id for said in last.said):
            return Question((command,), Told(say("not_yours", language)))
        if command.command == "retry" and (again := self._again(last, command, head, entries)):
            return again
        return Question((command,), Told(say("taken_back", language)), before=(Ended(turn=last.turn, why="undone"),))

    def _edited_late(self, edit: Inbound, head: Head, entries: Sequence[Entry]) -> Question | None:
        """An edit of what was answered already: offer to do it again. One that interrupted the answer comes first."""
        original = turn_with(edit, entries)
        if not (edit.sender.role and original and says_anew(edit, entries)):
            return None
        if head.settings.meanwhile == "interrupt" and was_stopped(original, entries):
            return self._again(Asked(original, (edit,)), edit, head, entries)
        return Question(said=(edit,), told=Told(say("edited", edit.sender.language), button="redo"))

    async def _admitted(
        self, question: Question, head: Head, window: Sequence[Numbered], profiles: Profiles, sign: Sign
    ) -> Journal | None:
        """The turn, or what says that a limit is reached, stored; None where that was said in this minute already."""
        asked, now = question.said[-1], self._clock.now()
        if question.told is not None:
            page = await self._pages.filled(question.told, asked, head, [each.entry for each in window])
            return await self._stored(replace(question, told=page), head, window, profiles)
        reserve, pace = self._budget.estimate(head.settings), self._budget.pace(asked, now)
        try:
            if any(each.all_attachments or self._prompts.named(each) for each in question.said):
                await self._affordable(self._turn(question, head), head, reserve, pace)
            question = await self._understood(question, head, sign)
            if question.told is not None:
                return await self._stored(question, head, window, profiles)
            return await self._stored(question, head, window, profiles, reserve, pace)
        except BudgetExceeded as over:
            limit = over.spend.counter.scope.partition(":")[0]
            told = asked.sender.id, over
            tell({"OverBudget": 1}, "person=<%s> | over a limit: %s", *told, by=limit, level=logging.WARNING)
            over_limit = Told(refusal(over.spend, asked.sender.language, now, slash(asked.place)), button="retry")
        try:
            return await self._stored(
                replace(question, told=over_limit, before=()), head, window, profiles, 0, notice(asked, now)
            )
        except BudgetExceeded:
            return None

    async def _affordable(self, turn: Turn, head: Head, reserve: int, pace: tuple[Spend, ...]) -> None:
        """Raises BudgetExceeded where the turn would not fit now: to fetch files, to listen and to ask servers costs as
        well."""
        _, held = self._budget.reserve(turn, head.conversation, reserve)
        spends = {each.counter: each for each in (*held, *pace) if each.limit is not None}
        spent = await self._store.spent(list(spends)) if spends else {}
        for counter, spend in spends.items():
            if spend.limit is not None and spent.get(counter, Spent()).amount + spend.amount > spend.limit:
                raise BudgetExceeded(spend)

    async def _understood(self, question: Question, head: Head, sign: Sign) -> Question:
        """The question with its files read and, where it is the first in somebody's thread, what was said there; a
        server's prompt in place of its command."""
        try:
            prompted = [await self._prompts.said(each) for each in question.said]
        except PromptFailed as why:
            return replace(question, told=Told(str(why), button="retry" if why.again else ""))
        has_files = any(each.all_attachments for each in prompted)
        said = await first_of(self._listening.whole(prompted), *([sign(prompted[-1].place)] if has_files else []))
        first = said[0]
        if head.last == 0 and first.place.thread:
            said = (replace(first, heard=await self._listening.people.heard_before(first)), *said[1:])
        if all(map(is_unheard, said)):
            return replace(question, said=said, told=Told(say("unheard", first.sender.language)))
        return replace(question, said=said)

    async def _stored(
        self,
        question: Question,
        head: Head,
        window: Sequence[Numbered],
        profiles: Profiles,
        reserve: int = 0,
        spend: tuple[Spend, ...] = (),
    ) -> Journal:
        """Raises BudgetExceeded, with nothing stored, where ``reserve`` or ``spend`` goes above a limit."""
        turn = self._turn(question, head)
        memory = rules = ""
        if question.told is None:
            shown = [*(each.entry for each in window), *question.before]
            whose, chat = await profiles.of(owner_of(turn.place, turn.asker), chat_key(head.conversation))
            memory, rules = told(whose.facts, shown), chat_rules.told(chat.rules, shown)
            if await self._is_nearly_spent(turn, head.conversation):
                log.warning("budget=<nearly spent> | the cheaper model answers")
                turn = replace(turn, cheaper=True)
        entries: list[Entry] = [*question.before, Asked(turn=turn.id, said=question.said, memory=memory, rules=rules)]
        settings = None
        if (own := question.told) and own.page not in LATER:
            entries.append(_ended(own, turn))
            settings = replace(head.settings, **own.settings) if own.settings else None
        # The journal is opened on the turn first, so that the entries and the turn are stored in one write.
        journal = Journal(
            self._store, replace(head, turn=turn), window, resumed=False, budget=self._budget, blobs=self._pages.blobs
        )
        await journal.append(*entries, taken=question.inbox, settings=settings, reserve=reserve, spend=spend)
        _tell(turn, question)
        return journal

    async def _is_nearly_spent(self, turn: Turn, conversation: str) -> bool:
        if not (self._budget.cheaper and self._budget.limits_money):
            return False
        counters = self._budget.counters(turn.asker, conversation, turn.began)
        return self._budget.is_nearly_spent(counters, await self._store.spent(list(counters)))

    def _turn(self, question: Question, head: Head) -> Turn:
        last, now = question.said[-1], self._clock.now()
        return Turn(
            id=question.inbox[0].reference,
            place=last.place,
            asker=last.sender,
            began=int(now),
            times=_times(question.inbox, now),
            trace=next((each.arrival.trace for each in question.inbox if each.arrival), ""),
            first=head.last + 1,
            reply_to=last.native_id if last.place.group and not question.edits else "",
            parts=(Part("sent", question.edits),) if question.edits else (),
            quiet=last.quiet or bool(question.told and question.told.quiet),
            model=head.settings.model if head.settings.model in self._models else "",
        )


def _told_late(late: tuple[Inbound, ...], head: Head, entries: Sequence[Entry]) -> Question | Nothing:
    """One notice for all of an outage: who sent something before it was given has read it."""
    sentences = [say("late", language) for language in ("en", "id")]
    notices = {entry.turn for entry in entries if isinstance(entry, Ended) and entry.shown in sentences}
    answered = (said for entry in entries if isinstance(entry, Asked) and entry.turn in notices for said in entry.said)
    given_ms = max((said.arrival.at_ms for said in answered if said.arrival), default=0)
    if all(each.sent_at * 1000 < given_ms for each in late):
        return Nothing(head, done=_keys(late))
    return Question(late, Told(say("late", late[-1].sender.language)))


def _ended(told: Told, turn: Turn) -> Ended:
    offered = told.buttons
    if told.button:
        offered = (Button(say(told.button, turn.asker.language), f"again:{turn.id}"), *offered)
    return Ended(
        turn=turn.id,
        why="reminded" if told.spoken_of else "told",
        shown=told.text,
        fresh=told.fresh or told.forget,
        forget=told.forget,
        buttons=offered,
        files=told.files,
    )


def _times(taken: Sequence[Inbound], now: float) -> Times | None:
    arrivals = [each.arrival for each in taken if each.arrival]
    if not arrivals:
        return None
    times = Times(min(each.at_ms for each in arrivals), signed=any(each.signed for each in arrivals))
    return replace(times, waited=times.since(now))


def _tell(turn: Turn, question: Question) -> None:
    """``others``: of the other messages that this turn answers, whose own lines name these."""
    others = " ".join(dict.fromkeys(each.reference for each in question.inbox[1:]))
    waited = turn.times.waited if turn.times else 0
    measured = {"Waited": waited} if waited else {}
    tell(measured, "messages=<%d>, waited_ms=<%d>, others=<%s> | begins", len(question.said), waited, others)


def _keys(inbounds: Sequence[Inbound]) -> tuple[str, ...]:
    return tuple(inbound.key for inbound in inbounds)
