"""The agent: model and tools in turns, until the record ends with an answer.

It owns no state. Where it stands is read off the end of the record, so it can be cut anywhere and go on from there in
another process. Every limit is checked in ``next_step`` or right before the call that costs money.
"""

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Protocol

from msgspec.structs import replace

from bot.approvals import DENIED, FORBIDDEN, UNATTENDED, Gate, comes_tainted, waited_for
from bot.caching import missed
from bot.deadline import Deadline, Later, OutOfTime, Pause
from bot.errors import BudgetExceeded, ModelUnavailable, PromptTooLong
from bot.folding import Folding
from bot.history import label, reply_text, tool_calls
from bot.journal import Journal
from bot.listening import Listening
from bot.logs import words
from bot.messages import Answered, Approval, Ended, Entry, Inbound, Json, Reply, Returned
from bot.metrics import tell
from bot.models import cost
from bot.ports import Clock, Model
from bot.prompt import PromptBuilder
from bot.tasks import first_of
from bot.texts import say
from bot.toolkit import Caller, Outcome, Tool, Toolbox, ToolContext, failed
from bot.tracing import Value, span

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Limits:
    """Of one turn. ``attempts`` is of one model call; waiting for the model longer than ``patience`` seconds is
    giving up; ``shortest_call`` is the time without which no model call is begun."""

    model_calls: int = 20
    pauses: int = 5
    same_calls: int = 3
    cut_calls: int = 2
    attempts: int = 6
    patience: float = 120
    shortest_call: float = 10


class Waiting(Exception):
    """Not an error: a person's word is waited for, and no process."""


class Interjected(Exception):
    """Not an error: the person added to the question before anything of the answer was shown."""

    def __init__(self, said: tuple[Inbound, ...]) -> None:
        super().__init__(len(said))
        self.said = said


class Voice(Protocol):
    """Shows a person what the agent is doing. None of it blocks."""

    def hear(self, text: str) -> None:
        """The next words of the reply."""

    def forget(self) -> None:
        """The words of the unfinished reply do not count: it begins again."""

    def working(self, tools: Sequence[str]) -> None:
        """These tools run now, by their labels (history.label)."""


# What to do next.


@dataclass(frozen=True)
class Ask:
    """Call the model. ``last``: without tools, a limit is reached. ``more_room``: see PromptBuilder.build."""

    last: bool = False
    more_room: int = 0


@dataclass(frozen=True)
class RunTools:
    answered: Answered


@dataclass(frozen=True)
class Finish:
    pass


def next_step(entries: Sequence[Entry], limits: Limits) -> Ask | RunTools | Finish:
    """What a turn with these entries needs now."""
    replies = [entry for entry in entries if isinstance(entry, Answered)]
    reasons = Counter(each.reply.stop_reason for each in replies)
    if len(replies) >= limits.model_calls and isinstance(entries[-1], Answered):
        return Finish()
    match entries[-1]:
        case Answered(reply=Reply(stop_reason="tool_use" | "max_tokens")) as answered if tool_calls(answered):
            return RunTools(answered)
        case Answered(reply=Reply(stop_reason="pause_turn")) if reasons["pause_turn"] <= limits.pauses:
            return Ask(last=len(replies) >= limits.model_calls - 1)
        case Answered() | Ended():
            return Finish()
        case _:
            cut = sum(each.reply.stop_reason == "max_tokens" and bool(tool_calls(each)) for each in replies)
            told = isinstance(entries[-1], Returned) and bool(entries[-1].note)
            over = told or len(replies) >= limits.model_calls - 1 or cut > limits.cut_calls
            return Ask(last=over or stuck(entries, limits.same_calls), more_room=min(cut, limits.cut_calls))


def stuck(entries: Sequence[Entry], times: int) -> bool:
    """Whether the last so many rounds of calls were the same calls with the same results."""
    rounds = []
    for answered, returned in pairwise(entries):
        if isinstance(answered, Answered) and isinstance(returned, Returned):
            calls = [[call["name"], call["input"]] for call in tool_calls(answered)]
            results = [result.get("content") for result in returned.results]
            rounds.append(json.dumps([calls, results], sort_keys=True))
    return len(rounds) >= times and len(set(rounds[-times:])) == 1


LAST_CALL = (
    "(No more tools can be used in this turn: a limit is reached. Tell the person what was done, what was found and "
    "what is left.)"
)
CUT = "Not run: the reply reached its length limit inside a call. Make the call again, with shorter arguments."
UNKNOWN = (
    "This call was started before an interruption and its outcome is unknown: it may have had its effect. "
    "It was not repeated. Check before you do it again, and tell the person."
)
SKIPPED = "Not executed: an earlier call of the same reply failed."


OPEN = Gate()


class Agent:
    def __init__(
        self,
        model: Model,
        prompts: PromptBuilder,
        toolbox: Toolbox,
        clock: Clock,
        limits: Limits,
        folding: Folding,
        listening: Listening,
        gate: Gate = OPEN,
        cheaper: Model | None = None,
        others: Mapping[str, Model] = MappingProxyType({}),
    ) -> None:
        """``cheaper`` is the model of turns that begin when a budget is nearly spent; ``others`` are those a chat may
        choose."""
        self._listening = listening
        self.gate = gate
        self._others = others
        self._model = model
        self._cheaper = cheaper or model
        self._prompts = prompts
        self._toolbox = toolbox
        self._clock = clock
        self._limits = limits
        self._folding = folding

    async def run(self, journal: Journal, voice: Voice, deadline: Deadline) -> None:
        """Go on until the turn has its answer.

        Raises OutOfTime or Later where another invocation must go on, ModelError where it can not be answered; all
        that was reached is stored.
        """
        while True:
            step = next_step(journal.own(), self._limits)
            if journal.turn.failures >= self._limits.attempts and not isinstance(step, Finish):
                raise ModelUnavailable(f"No progress after {journal.turn.failures} attempts.")
            match step:
                case Ask():
                    await self._ask(step, journal, voice, deadline)
                case RunTools(answered):
                    await self._run_tools(answered, journal, voice, deadline)
                case Finish():
                    return

    def has_answered(self, journal: Journal) -> bool:
        """Whether nothing is left to do in this turn but to show what it says."""
        return isinstance(next_step(journal.own(), self._limits), Finish)

    # Model

    async def _ask(self, step: Ask, journal: Journal, voice: Voice, deadline: Deadline) -> None:
        deadline.require(self._limits.shortest_call)
        if summary := await self._folding.before(journal, deadline):
            await journal.fold(summary)
        prompt = self._prompts.build(
            journal.entries(),
            journal.turn.id,
            allow_tools=not step.last,
            more_room=step.more_room,
            may_use=lambda tool: self.gate.offers(tool, journal.turn.asker),
        )
        model = self._cheaper if journal.turn.cheaper else self._others.get(journal.turn.model, self._model)
        ear, began = _Ear(voice), self._clock.now()
        try:
            async with deadline.enforced():
                reply = await first_of(model.reply(prompt, ear.hear), self._interjection(journal, ear))
        except Interjected as more:
            said = await self._listening.understood(more.said, journal.head.settings)
            await journal.append(Returned(turn=journal.turn.id, results=(), said=said), taken=more.said)
            _tell_added(more.said)
        except PromptTooLong:
            await self._shrink(journal, deadline)
        except (ModelUnavailable, OutOfTime) as error:
            voice.forget()
            await self._give_it_time(error, journal, deadline)
        else:
            await self._keep(replace(reply, took_ms=_ms_since(began, self._clock)), journal)

    async def _interjection(self, journal: Journal, ear: "_Ear") -> None:
        """Never returns. People write in bursts: what the asker adds before the first word is shown joins the question,
        and the model is asked anew."""
        while ear.heard or not (said := journal.added()):
            await journal.news()
        raise Interjected(said)

    async def _keep(self, reply: Reply, journal: Journal) -> None:
        reply = replace(reply, missed=missed(journal.entries(), journal.turn.id, reply))
        log.info(
            "model=<%s>, ms=<%d>, stop_reason=<%s>, fresh=<%d>, cache_write=<%d>, cache_read=<%d>, output=<%d>, "
            "cost=<%.6f>, missed=<%s> | model replied",
            *(reply.model, reply.took_ms, reply.stop_reason, reply.usage.fresh),
            *(reply.usage.cache_write + reply.usage.cache_write_long, reply.usage.cache_read, reply.usage.output),
            *(cost(reply.model, reply.usage) / 1_000_000, reply.missed),
        )
        words.info("text=<%s> | the model said", reply_text(Answered(journal.turn.id, reply)))
        if reply.stop_reason == "refusal":
            shown = say("refused", journal.turn.asker.language)
            await journal.append(Ended(turn=journal.turn.id, why="refused", shown=shown), unseen=reply)
        else:
            await journal.append(Answered(turn=journal.turn.id, reply=reply))

    async def _shrink(self, journal: Journal, deadline: Deadline) -> None:
        summary = await self._folding.less(journal, deadline)
        if summary is None:
            raise PromptTooLong("One turn alone is longer than the model can read.")
        await journal.fold(summary)

    async def _give_it_time(self, error: ModelUnavailable | OutOfTime, journal: Journal, deadline: Deadline) -> None:
        """Count the failure, then wait as long as the provider asks, or a little longer each time."""
        failures = journal.turn.failures + 1
        await journal.update(failures=failures)
        if isinstance(error, OutOfTime):
            raise error
        wait = error.retry_after if error.retry_after is not None else min(2.0 ** (failures - 1) / 2, 20)
        line = "failures=<%d>, wait=<%.1f> | the model did not answer: %s"
        tell({"ModelRetries": 1}, line, failures, wait, error, level=logging.WARNING)
        if wait > self._limits.patience:
            raise error
        if failures < self._limits.attempts:
            if wait > deadline.left() - self._limits.shortest_call:
                raise Later(wait)
            await self._clock.sleep(wait)

    # Tools

    async def _run_tools(self, answered: Answered, journal: Journal, voice: Voice, deadline: Deadline) -> None:
        calls, took_ms = tool_calls(answered), {}
        if answered.reply.stop_reason == "max_tokens":
            outcomes = [failed(call, CUT) for call in calls]
        else:
            denied = await self._denied(answered, calls, journal)
            voice.working([label(call) for call in calls if call["id"] not in denied])
            run = _Round(answered, calls, denied, journal, self._toolbox, self._clock, deadline)
            outcomes, took_ms = await run.run(), run.took_ms
        taken = journal.added()
        said = await self._listening.understood(taken, journal.head.settings)
        returned = Returned(
            turn=journal.turn.id,
            results=tuple(outcome.result for outcome in outcomes),
            said=said,
            files=tuple(file for outcome in outcomes for file in outcome.files),
            bill=journal.turn.subagents,
            took_ms=took_ms,
        )
        step = next_step([*journal.own(), returned], self._limits)
        if isinstance(step, Ask) and step.last:
            returned = replace(returned, note=LAST_CALL)
        try:
            await journal.append(returned, taken=taken, reserve=journal.missing())
        except BudgetExceeded as over:
            log.warning("budget=<spent> | the last call: %s", over)
            await journal.append(replace(returned, note=LAST_CALL), taken=taken)
        _tell_added(taken)

    async def _denied(self, answered: Answered, calls: list[Json], journal: Journal) -> dict[str, str]:
        """Why calls of this reply are not made, by their ids. Raises Waiting while one of them waits for a person."""
        forbidden = {call["id"]: FORBIDDEN for call in calls if self.gate.forbids(call["name"], journal.turn.asker)}
        entry = next(each.seq for each in reversed(journal.numbered()) if each.entry is answered)
        known = {each.call: each for each in journal.turn.approvals if each.entry == entry}
        new = [
            call for call in calls if call["id"] not in {**known, **forbidden} and self._asks(call, answered, journal)
        ]
        if new and self.gate.unattended:
            forbidden |= {call["id"]: UNATTENDED for call in new}
        elif new:
            until = int(self._clock.now()) + self.gate.seconds
            asked = tuple(Approval(call["id"], entry, call["name"], until) for call in new)
            await journal.update(approvals=(*journal.turn.approvals, *asked))
            tell({"ApprovalsAsked": len(asked)}, "calls=<%d> | a person is asked", len(asked))
        if waited_for(journal.turn):
            raise Waiting
        said_no = {each.call: each.why for each in known.values() if each.decision == "no"}
        return {call: DENIED.format(why=why) for call, why in {**said_no, **forbidden}.items()}

    def _asks(self, call: Json, answered: Answered, journal: Journal) -> bool:
        """Whether a call needs a person's word. One that can not run needs none."""
        tool = self._toolbox.find(call["name"])
        if tool is None or call["id"] in answered.reply.spoiled:
            return False
        reaches_out = tool.outward and not self._is_known(tool, call, journal)
        # What wants an address opened may have been read in an earlier turn, to be obeyed in this one.
        seen = journal.witnessed() if tool.anywhere else journal.own()
        tainted = reaches_out and comes_tainted(journal.turn, seen, self._toolbox)
        asker = journal.turn.asker
        closed = self.gate.is_closed(tool, call["input"], asker, journal.settings, self._clock.now(), tainted=tainted)
        return closed and self._toolbox.can_run(call)

    def _is_known(self, tool: Tool, call: Json, journal: Journal) -> bool:
        """Whether it reaches only what the conversation named."""
        return tool.is_known is not None and tool.is_known(call["input"], journal.witnessed())


async def _or_pause(work: Coroutine[Any, Any, Outcome]) -> Outcome | Pause:
    """Where one of several has no time left the others have little: they end by themselves, with what they paid for."""
    try:
        return await work
    except Pause as pause:
        return pause


def _known_name(call: Json, tool: Tool | None) -> str:
    """A name that the model made up is its words."""
    return str(call["name"]) if tool else "?"


def _called(call: Json, tool: Tool | None) -> dict[str, Value]:
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": _known_name(call, tool),
        "gen_ai.tool.call.id": str(call["id"]),
        "gen_ai.tool.type": "function",
    }


def _tell_added(said: Sequence[Inbound]) -> None:
    if said:
        others = " ".join(each.reference for each in said)
        log.info("messages=<%d>, others=<%s> | added", len(said), others)


def _tell(call: Json, tool: Tool | None, outcome: Outcome, ms: int) -> None:
    """Tools of servers count as one, and so do names that the model made up: both can be any number."""
    failed = bool(outcome.result.get("is_error"))
    kind = "none" if tool is None else call["name"] if tool.is_ours else "of a server"
    state, measured = ("failed", {"ToolErrors": 1}) if failed else ("done", {})
    name = _known_name(call, tool)
    tell(measured, "tool=<%s>, ms=<%d>, state=<%s> | tool called", name, ms, state, by=kind)
    words.info("tool=<%s>, arguments=<%s>, result=<%s> | said", name, call["input"], outcome.result)


def _ms_since(began: float, clock: Clock) -> int:
    """At least 1: that nobody noted it is 0, and the clock may have been set back."""
    return max(round((clock.now() - began) * 1000), 1)


class _Ear:
    """Passes a reply's words on, and knows whether there were any."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self.heard = False

    def hear(self, text: str) -> None:
        self.heard = True
        self._voice.hear(text)


class _Round:
    """The calls of one reply: reads together, then writes one after another, each known result used again."""

    def __init__(
        self,
        answered: Answered,
        calls: list[Json],
        denied: dict[str, str],
        journal: Journal,
        toolbox: Toolbox,
        clock: Clock,
        deadline: Deadline,
    ) -> None:
        self._spoiled = answered.reply.spoiled
        self._denied = denied
        self._calls = calls
        self._journal = journal
        self._toolbox = toolbox
        self._clock = clock
        self._context = ToolContext(
            journal.turn.place, journal.turn.asker, clock.now(), journal.result_of, journal.files, journal.memory
        )
        self._tainted = comes_tainted(journal.turn, journal.own(), toolbox)
        self._deadline = deadline
        # A lone read is stored with its entry at once; anything else could be lost half done.
        self._remember = len(calls) > 1 or self._writes(calls[0])
        self.took_ms: dict[str, int] = {}

    async def run(self) -> list[Outcome]:
        outcomes = await self._known()
        reads = [call for call in self._calls if not self._writes(call)]
        outcomes |= await self._together([call for call in reads if call["id"] not in outcomes])
        stop = False
        for call in self._calls:
            if not self._writes(call):
                continue
            if call["id"] not in outcomes:
                outcomes[call["id"]] = failed(call, SKIPPED) if stop else await self._run(call)
            stop = stop or outcomes[call["id"]].result.get("is_error", False)
        return [outcomes[call["id"]] for call in self._calls]

    async def _together(self, calls: list[Json]) -> dict[str, Outcome]:
        try:
            async with asyncio.TaskGroup() as group:
                tasks = {call["id"]: group.create_task(_or_pause(self._run(call))) for call in calls}
        except BaseExceptionGroup as group_failed:
            raise group_failed.exceptions[0] from None  # the store failed; the others are cancelled
        results = {call: task.result() for call, task in tasks.items()}
        pauses = [each for each in results.values() if isinstance(each, Pause)]
        if pauses:
            raise next((each for each in pauses if isinstance(each, Later)), pauses[0])
        return {call: each for call, each in results.items() if isinstance(each, Outcome)}

    async def _known(self) -> dict[str, Outcome]:
        """What was not allowed, results an earlier invocation stored, and the honest answer for what it started and did
        not finish."""
        denied = (call for call in self._calls if call["id"] in self._denied)
        outcomes = {call["id"]: failed(call, self._denied[call["id"]]) for call in denied}
        if not self._journal.resumed:
            return outcomes
        runs = await self._journal.tool_runs([call["id"] for call in self._calls])
        for call in self._calls:
            run, tool = runs.get(call["id"]), self._toolbox.find(call["name"])
            if run is not None and run.result is not None:
                outcomes[call["id"]] = Outcome(run.result, run.files)
            elif run is not None and tool is not None and not tool.repeatable:
                outcomes[call["id"]] = failed(call, UNKNOWN)
        return outcomes

    async def _run(self, call: Json) -> Outcome:
        tool = self._toolbox.find(call["name"])
        if call["id"] in self._spoiled:
            return failed(call, f"Not run: the arguments were not valid JSON: {self._spoiled[call['id']][:500]}")
        if tool is not None:
            self._deadline.require(tool.seconds)
            if not tool.repeatable:
                await self._journal.started(call["id"])
        caller = Caller(self._journal, self._journal.named(call["id"]), self._deadline, self._tainted)
        context = replaced(self._context, caller=caller)
        began = self._clock.now()
        with span(f"execute_tool {_known_name(call, tool)}", _called(call, tool)) as running:
            outcome = await self._toolbox.call(call, context, max(self._deadline.left(), 1.0))
            if outcome.result.get("is_error"):
                running.note({"error.type": "tool_error"})
            running.note_words(
                {"gen_ai.tool.call.arguments": call["input"], "gen_ai.tool.call.result": outcome.result.get("content")}
            )
        self.took_ms[call["id"]] = _ms_since(began, self._clock)
        _tell(call, tool, outcome, self.took_ms[call["id"]])
        if self._remember:
            await self._journal.finished(call["id"], outcome.result, outcome.files)
        return outcome

    def _writes(self, call: Json) -> bool:
        tool = self._toolbox.find(call["name"])
        return tool is not None and tool.writes
