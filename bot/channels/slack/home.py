"""The app's page in Slack, and what it suggests to write. Pure.

Source: docs.slack.dev/surfaces/app-home, docs.slack.dev/reference/methods/assistant.threads.setSuggestedPrompts.
"""

from collections.abc import Sequence
from itertools import groupby

from msgspec import Struct

from bot.channels.slack.blocks import button_blocks
from bot.channels.slack.parse import HOME
from bot.messages import Button, Json
from bot.settings_page import setting_of
from bot.texts import say

SECTION_LIMIT = 3_000
HEADER_LIMIT = 150
MOST_PROMPTS = 4


class Welcome(Struct, frozen=True):
    """What somebody reads who opens the bot's page, in their language.

    ``sections`` are Slack's mrkdwn, one below the other: the page takes no Markdown. ``prompts`` are what to begin
    with: what the button says, and what it writes; the first four are shown. ``suggestions`` stands above them.
    """

    title: str
    sections: tuple[str, ...]
    suggestions: str = ""
    prompts: tuple[tuple[str, str], ...] = ()


def welcome(language: str) -> Welcome:
    """Ours, in that language."""
    return Welcome(
        title="Kabar",
        sections=(say("home_intro", language), say("home_settings", language)),
        suggestions=say("home_suggestions", language),
        prompts=tuple((say(name, language),) * 2 for name in ("prompt_can", "prompt_summary")),
    )


def view(welcome: Welcome, channel: str = "", choices: Sequence[Button] = (), language: str = "") -> Json:
    """The home tab. ``choices`` are settings of the direct message ``channel``, which a tap there does not name; what
    each row of them is about stands above it."""
    header = {"type": "header", "text": {"type": "plain_text", "text": welcome.title[:HEADER_LIMIT]}}
    blocks: list[Json] = [header]
    for text in welcome.sections:
        blocks += [{"type": "divider"}, {"type": "section", "text": {"type": "mrkdwn", "text": text[:SECTION_LIMIT]}}]
    for setting, row in groupby(choices, setting_of):
        title = {"type": "mrkdwn", "text": say(f"setting_{setting}", language)}
        blocks.append({"type": "context", "elements": [title]})
        blocks += [{**each, "block_id": f"{HOME}{channel}:{setting}"} for each in button_blocks(tuple(row))]
    return {"type": "home", "blocks": blocks}


def prompts(welcome: Welcome) -> list[dict[str, str]]:
    return [{"title": title, "message": message} for title, message in welcome.prompts[:MOST_PROMPTS]]
