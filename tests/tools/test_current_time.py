"""The time, anywhere."""

from bot.toolkit import Toolbox, ToolContext
from bot.tools.current_time import current_time
from tests.say import ANN, HERE, call

BOX = Toolbox([current_time])
CONTEXT = ToolContext(HERE, ANN, 1_764_500_000)


async def test_the_time_of_a_zone() -> None:
    result = (await BOX.call(call("current_time", zone="Asia/Jakarta"), CONTEXT, 5)).result
    assert result["content"] == "Sunday 2025-11-30 17:53:20 Asia/Jakarta (UTC+0700)"


async def test_an_unknown_zone_is_explained() -> None:
    for zone in ("Jakarta", "../etc/passwd", ""):
        result = (await BOX.call(call("current_time", zone=zone), CONTEXT, 5)).result
        assert result["is_error"], zone
        assert "IANA name" in result["content"]
