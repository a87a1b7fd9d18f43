"""The date and time, anywhere."""

from datetime import UTC, datetime
from typing import Annotated
from zoneinfo import ZoneInfo

from bot.toolkit import ToolContext, ToolFault, tool


@tool(seconds=5)
async def current_time(
    context: ToolContext,
    zone: Annotated[str, "An IANA time zone such as Asia/Jakarta or Europe/Berlin."] = "UTC",
) -> str:
    """Tell the date, weekday and time now in a time zone.

    Use it when an answer needs the time of day or another zone's date. It does not convert other times.
    """
    try:
        place = ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        raise ToolFault(f"There is no time zone {zone!r}. Use an IANA name such as Asia/Jakarta.") from None
    now = datetime.fromtimestamp(context.now, UTC).astimezone(place)
    return now.strftime(f"%A %Y-%m-%d %H:%M:%S {zone} (UTC%z)")
