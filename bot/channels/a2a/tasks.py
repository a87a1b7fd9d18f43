"""Tasks as they stand in the store. A task has no state of its own: it is the message that began it, and its turn."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from bot.channels.a2a.parse import TaskId
from bot.channels.a2a.render import SETTLED, Task, begun_by, dropped, task, turn_of, waiting
from bot.messages import Asked, Head, Inbound, Numbered
from bot.ports import Store

MOST_LISTED = 1_000


class Look(Struct, frozen=True):
    """One look at a conversation. ``inbox`` is what no turn has taken yet; ``message`` the task's first message, while
    it is in there."""

    task: Task | None
    head: Head | None
    inbox: Sequence[Inbound] = ()
    message: Inbound | None = None

    def now(self, id: TaskId, key: str = "") -> Task:
        """The task as it is to be told, given that the message with this key belongs to it. While nobody has taken that
        yet, or an answer to what it asks, it is being worked on. What is neither waiting nor recorded was dropped."""
        is_pending = any(each.key == key for each in self.inbox)
        task = self.task or (Task(id, "submitted") if is_pending else dropped(id))
        return _working(task) if is_pending and task.state in SETTLED else being_answered(task, self.inbox)


def being_answered(task: Task, inbox: Sequence[Inbound]) -> Task:
    """The same, but that it no longer asks once there is an answer that its turn has yet to read."""
    has_answer = any(each.kind in ("tap", "message", "stop") for each in inbox)
    return _working(task) if has_answer and task.state == "input-required" else task


def _working(task: Task) -> Task:
    return replace(task, state="working", note="", call=None)


class Tasks:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def look(self, id: TaskId, since: int = 0) -> Look:
        """``since`` is the number of the entry from which on it may stand in the record; 0 where that is not known.

        What is read when: a message leaves the inbox in the write that puts it into the record, and a turn ends with a
        write of its own after its last entry. Read in this order nothing is missed between two reads.
        """
        inbox = await self._store.inbox(id.conversation)
        head = await self._store.head(id.conversation)
        if message := next((each for each in inbox if each.id == id.inbound), None):
            return Look(waiting(id, message), head, inbox, message)
        return Look(await self._in_record(id, head, since), head, inbox)

    async def _in_record(self, id: TaskId, head: Head | None, since: int) -> Task | None:
        for start in dict.fromkeys((since or 1, head.since, 1)) if head else ():
            entries = await self._store.record(id.conversation, start)
            turn = turn_of(id, [each.entry for each in entries])
            if turn and _begins(turn, entries):
                return task(id, turn, head.turn if head else None, entries)
        return None

    async def listed(self, caller: str, context: str) -> list[Task]:
        """Those of one context, the newest first."""
        some = TaskId(caller, context, "")
        inbox = await self._store.inbox(some.conversation)
        head = await self._store.head(some.conversation)
        entries = await self._store.record(some.conversation, 1)
        bare = [each.entry for each in entries]
        turns = dict.fromkeys(entry.turn for entry in bare if isinstance(entry, Asked))
        known = {begun_by(turn, bare, caller, context): turn for turn in turns}
        live = head.turn if head else None
        tasks = [being_answered(task(id, turn, live, entries), inbox) for id, turn in known.items() if id]
        tasks += [
            waiting(TaskId(caller, context, each.id[1:]), each)
            for each in inbox
            if each.kind == "message" and not each.data
        ]
        return tasks[::-1][:MOST_LISTED]


def _begins(turn: str, entries: list[Numbered]) -> bool:
    return any(isinstance(each.entry, Asked) and each.entry.turn == turn for each in entries)
