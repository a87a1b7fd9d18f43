"""Have a subagent do a task."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from bot.errors import BudgetExceeded
from bot.ports import Clock
from bot.subagents import Subagent, work
from bot.toolkit import Output, Tool, ToolContext, ToolFault, tool

LONGEST_TASK = 20_000
"""Characters."""

NO_MONEY = "The budget is used up: nothing can be delegated. Answer with what you have."


def delegate_tool(subagents: Sequence[Subagent], clock: Clock) -> Tool:
    """The tool for these; its description lists them by name, so that the prompt is the same every time."""
    known = {each.name: each for each in sorted(subagents, key=lambda each: each.name)}

    @tool(seconds=10, untrusted=True, resumes=True)
    async def delegate(
        agent: Annotated[str, Field(json_schema_extra={"enum": list(known)}), "Which one"],
        task: Annotated[
            str,
            Field(min_length=1, max_length=LONGEST_TASK),
            "All it needs to know: what to find out or do, for what, and what the answer should hold. It sees nothing "
            "of this conversation but its files.",
        ],
        context: ToolContext,
    ) -> Output:
        """Have another agent do a task; returns its answer. Use it for what takes many steps or much reading of which
        only the outcome matters here. Tasks that do not depend on each other go into one reply, as several calls: they
        run side by side.

        There are:"""
        if agent not in known:
            raise ToolFault(f"There is no agent {agent!r}. There are: {', '.join(known)}.")
        if context.caller is None:
            raise ToolFault("Tasks can be given in a conversation only.")
        try:
            return await work(known[agent], task, context.caller, clock)
        except BudgetExceeded:
            raise ToolFault(NO_MONEY) from None

    lines = (f"- {each.name}: {each.description}" for each in known.values())
    return replace(delegate, description="\n".join((delegate.description, *lines)))
