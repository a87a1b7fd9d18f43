"""The app's manifest gives the bot what its code needs, and nothing more."""

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from bot.channels.slack.manifest import creation_link, manifest, written
from bot.channels.slack.parse import SHORTCUT
from simulator.slack import SCOPES

FILE = Path(__file__).parents[3] / "docs/slack-manifest.json"
MANIFEST = manifest()
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


def test_the_file_in_docs_is_what_kabar_manifest_prints() -> None:
    assert FILE.read_text() == written(MANIFEST) + "\n"


def test_with_an_address_everything_comes_there_and_nothing_by_socket_mode() -> None:
    app = manifest("https://bot.example/")
    settings = app["settings"]
    addresses = (
        settings["event_subscriptions"]["request_url"],
        settings["interactivity"]["request_url"],
        app["features"]["slash_commands"][0]["url"],
    )
    assert set(addresses) == {"https://bot.example/slack/events"}
    assert not settings["socket_mode_enabled"]


def test_the_link_carries_the_whole_manifest() -> None:
    asked = parse_qs(urlsplit(creation_link(MANIFEST)).query)
    assert (asked["new_app"], json.loads(asked["manifest_json"][0])) == (["1"], MANIFEST)
