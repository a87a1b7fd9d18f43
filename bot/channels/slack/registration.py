"""What a deployed bot tells its owner of Slack: whose token it has, and the app's manifest with the bot's addresses in.

Plain HTTP: where only this is asked, no SDK is loaded. Source: docs.slack.dev/reference/methods/auth.test,
docs.slack.dev/reference/app-manifest.
"""

import copy
import json
from urllib.request import Request, urlopen

from bot.channels.fields import object_at, objects_at, text_at
from bot.errors import ConfigError, SendUncertain
from bot.messages import Json

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


def with_addresses(manifest: Json, url: str) -> Json:
    """The manifest for an app that sends everything to ``url``, and so not through Socket Mode."""
    filled = copy.deepcopy(manifest)
    settings = object_at(filled, "settings")
    for name in ("event_subscriptions", "interactivity"):
        settings[name]["request_url"] = url
    for command in objects_at(object_at(filled, "features"), "slash_commands"):
        command["url"] = url
    settings["socket_mode_enabled"] = False
    return filled
