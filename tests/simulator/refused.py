"""What Slack answers where it refuses."""

from typing import Any

import pytest
from slack_sdk.errors import SlackApiError


async def refused(call: Any) -> str:
    """The error code a call was refused with."""
    with pytest.raises(SlackApiError) as caught:
        await call
    return str(caught.value.response["error"])
