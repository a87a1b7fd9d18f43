"""The Slack app as a manifest: scopes, events, slash command, shortcut, agent view and the way in, named here once.

Slack takes events and interactivity only with an address for them, or with Socket Mode on.
Source: docs.slack.dev/reference/app-manifest.
"""

import json
from urllib.parse import quote

from bot.channels.slack.parse import SHORTCUT
from bot.messages import Json

PATH = "/slack/events"
SCOPES = (
    "app_mentions:read",
    "assistant:write",
    "channels:history",
    "chat:write",
    "commands",
    "files:read",
    "files:write",
    "groups:history",
    "im:history",
    "im:write",
    "mpim:history",
    "users:read",
)
EVENTS = (
    "agent_session_stopped",
    "app_home_opened",
    "app_mention",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
)


def manifest(url: str = "") -> Json:
    """``url`` is the bot's public address without a path; "" is Socket Mode."""
    address = f"{url.rstrip('/')}{PATH}" if url else ""
    by_url = {"request_url": address} if address else {}
    command = {
        "command": "/kabar",
        "description": "Commands, seen by you alone",
        "usage_hint": "[help | new | usage | context | …]",
        "should_escape": True,
    }
    shortcut = {
        "name": "Ask Kabar",
        "type": "message",
        "callback_id": SHORTCUT,
        "description": "Have Kabar look at this message",
    }
    return {
        "_metadata": {"major_version": 2, "minor_version": 1},
        "display_information": {
            "name": "Kabar",
            "description": "An agent that answers, works and keeps what matters.",
        },
        "features": {
            "bot_user": {"display_name": "Kabar", "always_online": True},
            "app_home": {
                "home_tab_enabled": True,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "agent_view": {"agent_description": "Ask in plain words, in direct messages or by a mention."},
            "slash_commands": [command | ({"url": address} if address else {})],
            "shortcuts": [shortcut],
        },
        "oauth_config": {"scopes": {"bot": list(SCOPES)}},
        "settings": {
            "event_subscriptions": {**by_url, "bot_events": list(EVENTS)},
            "interactivity": {"is_enabled": True, **by_url},
            "org_deploy_enabled": False,
            "socket_mode_enabled": not address,
            "token_rotation_enabled": False,
        },
    }


def written(app: Json) -> str:
    """As a file, and as Slack's page for manifests takes it."""
    return json.dumps(app, indent=2, ensure_ascii=False)


def creation_link(app: Json) -> str:
    """Opens Slack's page for a new app with the manifest filled in."""
    compact = json.dumps(app, separators=(",", ":"), ensure_ascii=False)
    return f"https://api.slack.com/apps?new_app=1&manifest_json={quote(compact, safe='')}"
