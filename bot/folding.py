"""When what the model sees of a conversation is cut, and what happens where that fails.

After an answer is out, if it grew above the high mark; before a call that would not fit; after the model said the
prompt is too long; when a person asks for it. A chat never waits long for it: a policy that fails or takes too long is
replaced by ``window``, at once where less must be sent, otherwise when there is no more room to wait.
"""

import asyncio
import logging
from collections.abc import Sequence

from bot.context import Fill, Marks, View, bytes_per_token, cut, fill, is_full
from bot.deadline import Deadline
from bot.errors import ModelError
from bot.journal import Journal
from bot.messages import Entry, Numbered, Summary
from bot.policies.window import Window
from bot.ports import LeftOut, Policy
from bot.prompt import PromptBuilder

log = logging.getLogger(__name__)

PATIENCE = 30.0
"""Seconds that a policy may take. The chat's next message waits for it."""
TOO_SHORT = 3.0
"""Seconds in which no model sums anything up."""


class Folding:
    def __init__(self, prompts: PromptBuilder, policy: Policy, marks: Marks) -> None:
        self._prompts = prompts
        self._policy = policy
        self._marks = marks

    @property
    def marks(self) -> Marks:
        return self._marks

    def fill(self, entries: Sequence[Numbered], *, like: Sequence[Numbered] | None = None) -> Fill:
        """What these entries fill, between two turns; measured as ``like`` is, where no call measured them yet."""
        return fill(self._view(entries), bytes_per_token(self._view(like)) if like else None)

    async def after(self, entries: Sequence[Numbered], deadline: Deadline) -> Summary | None:
        """The summary to end a turn with; None where all may stay.

        Where the policy fails there is room to try again after the next turn, until half as much again is there.
        """
        view = self._view(entries)
        upto = cut(view, self._marks)
        if upto is None:
            return None
        left = _left_out(view, upto)
        summary = await self._by_policy(left, deadline)
        patient = fill(view).total <= min(self._marks.high * 3 // 2, self._marks.full)
        if summary is None and patient and len(view.entries) <= self._marks.most:
            return None
        return _noted(summary or await Window().summary(left))

    async def before(self, journal: Journal, deadline: Deadline) -> Summary | None:
        """The summary without which the next call's prompt would not fit; None where it fits, or nothing can go."""
        if not is_full(self._view(journal.numbered(), journal.turn.id), self._marks):
            return None
        return await self.less(journal, deadline)

    async def less(self, journal: Journal, deadline: Deadline, focus: str = "") -> Summary | None:
        """The summary that leaves about half of what is shown; None where nothing can go.

        A turn that had to be cut before is not summed up a second time: then less must be sent at once.
        """
        view = self._view(journal.numbered(), journal.turn.id)
        upto = cut(view, self._marks, must=True)
        if upto is None:
            return None
        left = _left_out(view, upto, focus)
        again = any(isinstance(each.entry, Summary) and each.seq >= journal.turn.first for each in view.entries)
        summary = None if again and _goes(left) else await self._by_policy(left, deadline)
        return _noted(summary or await Window().summary(left))

    async def _by_policy(self, left: LeftOut, deadline: Deadline) -> Summary | None:
        """None where the policy failed."""
        if not _goes(left):
            return _carried(left)
        seconds = min(PATIENCE, max(deadline.left(), 0.0))
        if seconds < TOO_SHORT and not isinstance(self._policy, Window):
            return None
        try:
            async with asyncio.timeout(seconds):
                return await self._policy.summary(left)
        except (ModelError, TimeoutError) as fault:
            log.warning("entries=<%d>, error=<%s> | no summary: %s", len(left.entries), type(fault).__name__, fault)
            return None

    def _view(self, entries: Sequence[Numbered], turn: str = "") -> View:
        system, tools = self._prompts.stable
        return View(system, tools, entries, turn)


def _left_out(view: View, upto: int, focus: str = "") -> LeftOut:
    newest = max((each.seq for each in view.entries if isinstance(each.entry, Summary)), default=0)
    entries: list[Entry] = [each.entry for each in view.entries if each.seq <= upto or each.seq == newest]
    return LeftOut(tuple(entries), upto, list(view.system), list(view.tools), focus)


def _goes(left: LeftOut) -> bool:
    """Whether any turn goes, and not only the size of some results."""
    return any(not isinstance(entry, Summary) for entry in left.entries)


def _carried(left: LeftOut) -> Summary:
    """No turn goes, only huge results become notes: what stood before goes on standing."""
    before = next((entry for entry in reversed(left.entries) if isinstance(entry, Summary)), Summary(""))
    return Summary(text=before.text, block=before.block, upto=left.upto)


def _noted(summary: Summary) -> Summary:
    about = summary.upto, len(summary.text), summary.model
    log.info("upto=<%d>, summary_chars=<%d>, model=<%s> | the view is cut", *about)
    return summary
