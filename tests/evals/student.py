"""A model of a few rules that chooses its tools by what their descriptions say, as a real one does.

It knows what it wants to do next, from a task's solution, and not what the tool for that is called: it takes the one
whose description has most of the words it would look for. With descriptions that say less it takes the wrong one, or
none. What it shows is that an evaluation notices; about a real model it says nothing.
"""

from collections.abc import Sequence
from typing import Any

from bot.cli.evals.solutions import Solver, spoken
from bot.cli.evals.tasks import Task
from bot.messages import Json
from simulator.model_reply import Answer, Step

WISHES = {
    "calculator": "calculate arithmetic calculation expression brackets",
    "current_time": "date weekday time now zone",
    "remember": "keep fact later conversations remember preference lasting",
    "forget_fact": "delete remembered fact longer true",
    "remind": "reminder set told later time once again",
    "list_reminders": "list set chat ids times",
    "cancel_reminder": "cancel reminder scheduled change anew",
    "set_time_zone": "time zone keep live set",
    "write_file": "write text file send table letter",
    "send_file": "send file again back",
    "search_files": "find words files text page stands around",
    "web_fetch": "open address web read page",
}
"""By the tool meant in a solution: the words that it looks for."""
NEEDED = 0.5
"""The share of the words that must be there."""
LOST = "I do not know how to do that."


class Student:
    def __init__(self, task: Task) -> None:
        self._solver = Solver(task)

    def __call__(self, request: Json) -> Step:
        step = self._solver(request)
        if not isinstance(step, Answer):
            return step
        content = [_as_chosen(block, request.get("tools", ())) for block in step.content]
        return spoken(LOST) if None in content else Answer([block for block in content if block], step.stop_reason)


def _as_chosen(block: Json, tools: Sequence[Json]) -> Json | None:
    """The same block with the tool that it takes for the one; None where it finds none."""
    if block["type"] != "tool_use":
        return block
    wanted = set(WISHES[block["name"]].split())
    scores: dict[str, float] = {tool["name"]: _share(wanted, tool) for tool in tools if "description" in tool}
    best = max(scores, key=lambda name: scores[name])
    return {**block, "name": best} if scores[best] >= NEEDED else None


def _share(wanted: set[str], tool: Any) -> float:
    described = tool["description"].lower()
    return sum(word in described for word in wanted) / len(wanted)
