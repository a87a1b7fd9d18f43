"""Whose token a deployed bot has, asked over plain HTTP: where only this is asked, no SDK is loaded.

Source: docs.slack.dev/reference/methods/auth.test.
"""

import json
from urllib.request import Request, urlopen

from bot.channels.fields import text_at
from bot.errors import ConfigError, SendUncertain

TIMEOUT = 5.0


def named(token: str, base_url: str) -> str:
    """The bot and its workspace, such as "kabar in Acme". Raises ConfigError where Slack refuses the token,
    SendUncertain where it does not answer."""
    url = f"{base_url.rstrip('/')}/auth.test"
    request = Request(url, b"", {"Authorization": f"Bearer {token}"})  # noqa: S310  # the owner's own setting
    try:
        with urlopen(request, timeout=TIMEOUT) as response:  # noqa: S310
            answer = json.load(response)
    except (OSError, ValueError) as error:
        raise SendUncertain(f"Slack can not be reached ({type(error).__name__}).") from None
    if not answer.get("ok"):
        raise ConfigError(
            f"Slack refuses SLACK_BOT_TOKEN ({text_at(answer, 'error')}). Copy the Bot User OAuth Token (xoxb-) again."
        )
    return f"{text_at(answer, 'user')} in {text_at(answer, 'team')}"
