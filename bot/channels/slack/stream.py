"""A message that grows by itself in Slack: what to add to it so that it shows a part. Pure.

A stream only ever grows, while a reply that is rendered anew may end differently: code that is still open is closed at
the end of what there is, an emphasis is. Such ends are held back until more is known. What can not be had by adding at
all is for ``chat.update``. Source: docs.slack.dev/reference/methods/chat.appendStream; a stream's life of about five
minutes and the 256 characters of a task are what people report.
"""

import re
from typing import Literal

from msgspec import Struct, field

from bot.channels.slack.blocks import shortened
from bot.messages import Json, Place, Task
from bot.ports import NOTHING_TO_SHOW, Rendered

LIFE = 270.0
"""Seconds after which a stream is ended by us, before Slack does."""
SIZE_LIMIT = 12_000
"""Characters of text and tasks together. Slack takes about 13,000 in all, and 12,000 of Markdown."""
TITLE_LIMIT = 250
STATUS = {"running": "in_progress", "done": "complete", "failed": "error"}

_LINES_THAT_CLOSE = ("```", "~~~", "|")
_MARKUP = "*_~`[]()|#\\ \t\n"
_NAME = re.compile(
    r"(?:(?:<|&lt;)[@#!]?[^\s<>&]{0,300}"  # or what may yet be @Ann Lee (U1), of which only the person stays
    r"|(?<![\w@/<;])@[^\s@]{0,40}(?: [^\s@]{1,40}){0,2}|(?<=>) \([UW][A-Z0-9]{0,20})\Z"
)


class Stream(Struct):
    """An open stream, as far as it is known to have arrived. ``began`` is in Unix seconds."""

    place: Place
    mark: str
    began: float
    text: str = ""
    tasks: dict[str, Task] = field(default_factory=dict)
    plan: str = ""


class Addition(Struct, frozen=True):
    """What a stream lacks of a part, and what it will be then."""

    chunks: list[Json]
    text: str
    tasks: dict[str, Task]
    plan: str


def addition(stream: Stream, part: Rendered, *, last: bool) -> Addition | None:
    """None where the stream can not come to show this part. ``last``: nothing follows, so nothing is held back."""
    text = part.text if last else settled(part.text)
    if not last and stream.text.startswith(text):
        text = stream.text  # less is certain now than before, and nothing new
    if not text.startswith(stream.text):
        return None
    tasks = {**stream.tasks, **{task.id: task for task in part.tasks}}
    if last:
        tasks = {name: _over(task) for name, task in tasks.items()}
    plan = _plan_title(tasks)
    if len(text) + len(plan) + sum(min(len(task.title), TITLE_LIMIT) for task in tasks.values()) > SIZE_LIMIT:
        return None
    changed = [task for name, task in tasks.items() if stream.tasks.get(name) != task]
    chunks = [_task_chunk(task) for task in changed]
    if plan != stream.plan:
        chunks.insert(0, {"type": "plan_update", "title": plan})
    if new := text[len(stream.text) :]:
        chunks.append({"type": "markdown_text", "text": new})
    return Addition(chunks, text, tasks, plan)


def settled(text: str) -> str:
    """The text without what may yet turn out to be something else at its end: the close of a code block, a row of a
    table, an emphasis or a link, a name in angle brackets."""
    kept = "" if text == NOTHING_TO_SHOW else text.rstrip()
    line = kept.rfind("\n") + 1
    if kept[line:].lstrip(" >\t").startswith(_LINES_THAT_CLOSE):
        kept = kept[:line]
    return _NAME.sub("", kept).rstrip(_MARKUP)


def _task_chunk(task: Task) -> Json:
    title = shortened(task.title, TITLE_LIMIT)
    return {"type": "task_update", "id": task.id, "title": title, "status": STATUS[task.state]}


def _over(task: Task) -> Task:
    state: Literal["done", "failed"] = "failed" if task.state == "failed" else "done"
    return Task(task.id, task.title, state)


def _plan_title(tasks: dict[str, Task]) -> str:
    """What stands above the folded steps: those at work, or all of them when none is."""
    running = [task.title for task in tasks.values() if task.state == "running"]
    titles = dict.fromkeys(running or [task.title for task in tasks.values()])
    return shortened(" · ".join(titles), TITLE_LIMIT)
