"""Reminders, scheduled prompts, and the time zone that they go by."""

from typing import Annotated

from pydantic import Field

from bot.messages import Person, Reminder
from bot.moments import Unfit, stated
from bot.reminding import LONGEST, Reminders, is_paused
from bot.toolkit import Tool, ToolContext, ToolFault, tool

ZONE_UNKNOWN = (
    "The person's time zone is not known, so times are taken as UTC: say so, and ask where they live; set_time_zone "
    "keeps it."
)


def reminder_tools(reminders: Reminders) -> tuple[Tool, ...]:
    """The tools over one deployment's reminders."""

    @tool(writes=True, outward=True, seconds=20)  # it outlives the turn in which words of others may have asked for it
    async def remind(
        text: Annotated[
            str,
            Field(min_length=1, max_length=LONGEST),
            "What to say then, in the person's language and words that make sense when read alone; or, with "
            "asks_model, what to ask then",
        ],
        when: Annotated[
            str,
            "The (first) time: the person's local date and time such as 2026-12-01T09:00, one with an offset such as "
            "2026-12-01T09:00+07:00, or how long from now, such as: in 90 minutes, in 2 days",
        ],
        context: ToolContext,
        repeat: Annotated[
            str,
            "Empty for once; hourly, daily, weekdays, weekly, monthly, yearly; or an RFC 5545 RRULE such as "
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH. It may have COUNT or UNTIL, and no DTSTART: that is when",
        ] = "",
        asks_model: Annotated[
            bool,
            "False: the text itself is told. True: the text is put to you as a question at that time, with your tools, "
            "and your answer is told; for what must be looked up or thought about only then",
        ] = False,
    ) -> str:
        """Set a reminder, or a prompt that is answered at a later time, once or again and again, in this chat.

        Use it when somebody wants to be told or asked something later. Work out the date yourself from current_time
        first. In your answer state the absolute time that the result gives. It reaches this chat only."""
        if not text.strip():
            raise ToolFault("Not set. The text is empty: say what is to be told.")
        try:
            reminder = await reminders.add(
                context.place, context.asker, text.strip(), when, repeat, asks=asks_model, now=context.now
            )
        except Unfit as unfit:
            raise ToolFault(f"Not set. {unfit}") from None
        return "\n".join(filter(None, (f"Set. {_described(reminder)}", await _hint(context.asker))))

    @tool(seconds=10)
    async def list_reminders(context: ToolContext) -> str:
        """List what is set in this chat, with ids and times. Use it before you cancel or change one, and when somebody
        asks what is set."""
        known = await reminders.all(context.place.conversation)
        return "\n".join(map(_described, known)) or "There are no reminders in this chat."

    @tool(writes=True, repeatable=True, seconds=10)
    async def cancel_reminder(
        id: Annotated[str, "The id that list_reminders gives"],
        context: ToolContext,
    ) -> str:
        """Cancel a reminder or scheduled prompt of this chat. To change one, cancel it and set it anew."""
        gone = await reminders.cancel(context.place.conversation, id)
        if gone is None:
            raise ToolFault(f"There is no reminder {id!r} in this chat. list_reminders gives the ids.")
        return f"Cancelled. {_described(gone)}"

    @tool(writes=True, repeatable=True, seconds=10)
    async def set_time_zone(
        zone: Annotated[str, "An IANA name such as Asia/Jakarta (WIB), Asia/Makassar (WITA) or Europe/Berlin"],
        context: ToolContext,
    ) -> str:
        """Keep the time zone of the person who is asking, for all their chats. Use it when they say where they live or
        are, or which time is theirs. Reminders that are set already stay at their times."""
        try:
            name = await reminders.set_zone(context.asker, zone)
        except Unfit as unfit:
            raise ToolFault(str(unfit)) from None
        return f"Kept. There it is {stated(int(context.now), name)}."

    async def _hint(asker: Person) -> str:
        return "" if await reminders.zone(asker) else ZONE_UNKNOWN

    return remind, list_reminders, cancel_reminder, set_time_zone


def _described(reminder: Reminder) -> str:
    """All there is to know of one, in a line."""
    local = stated(reminder.at, reminder.zone)
    utc = "" if reminder.zone == "UTC" else f", which is {stated(reminder.at, 'UTC')}"
    repeats = f", then again by {reminder.rule}" if reminder.rule else ", once"
    kind = "asked of you" if reminder.asks else "told"
    paused = "; paused, because nobody wrote here for a while: /remind lets it go on" if is_paused(reminder) else ""
    return f"{reminder.id}: {kind} on {local}{utc}{repeats}{paused}: {reminder.text}"
