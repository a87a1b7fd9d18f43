"""The app's manifest gives the bot what its code needs, and nothing more."""

import json
from pathlib import Path

from bot.channels.slack.parse import SHORTCUT
from bot.messages import Json
from simulator.slack import SCOPES

MANIFEST: Json = json.loads((Path(__file__).parents[3] / "docs" / "slack-manifest.json").read_bytes())
NOT_CALLED = {"channels:read", "reactions:write"}
"""What the local Slack knows and the bot never asks for."""
HEARD = {"app_mentions:read", "commands", "groups:history", "mpim:history"}
"""What only lets events in."""


def test_the_bot_may_do_what_it_does() -> None:
    assert set(MANIFEST["oauth_config"]["scopes"]["bot"]) == (SCOPES - NOT_CALLED) | HEARD


def test_the_shortcut_is_the_one_that_is_understood() -> None:
    assert [shortcut["callback_id"] for shortcut in MANIFEST["features"]["shortcuts"]] == [SHORTCUT]


def test_slack_tells_everything_that_is_understood() -> None:
    events = {"agent_session_stopped", "app_home_opened", "app_mention"}
    messages = {f"message.{kind}" for kind in ("channels", "groups", "im", "mpim")}
    assert set(MANIFEST["settings"]["event_subscriptions"]["bot_events"]) == events | messages
