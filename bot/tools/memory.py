"""Remember, and forget, what a person wants kept beyond this conversation."""

from typing import Annotated

from bot.memory import MOST, Full
from bot.toolkit import ToolContext, ToolFault, tool


# Outward: it outlives the turn in which words of others may have asked for it.
@tool(writes=True, outward=True, repeatable=True, seconds=10)
async def remember(
    fact: Annotated[str, "One short sentence that stands alone, such as: Ann is allergic to peanuts."],
    context: ToolContext,
) -> str:
    """Keep a fact for later conversations: about the person in a private chat, about the chat in a group. Use it when
    somebody asks you to remember something, or tells you a lasting preference. Never keep secrets such as passwords,
    and nothing that only this conversation needs."""
    try:
        number = await context.memory.add(context.place, context.asker, fact)
    except Full:
        raise ToolFault(f"{MOST} facts are kept already. Forget one first, with forget_fact.") from None
    return f"Kept as number {number}."


@tool(writes=True, repeatable=True, seconds=10)
async def forget_fact(
    fact: Annotated[str, "The number of the fact in <memory>, or its exact words"],
    context: ToolContext,
) -> str:
    """Delete a remembered fact when the person asks for it, or it is no longer true."""
    if not await context.memory.delete(context.place, context.asker, fact):
        raise ToolFault("There is no such fact. Give its number or its exact words from <memory>.")
    return "Deleted."
