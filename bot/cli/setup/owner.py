"""The step in which the first person becomes the owner: whoever sends the bot a code that only this terminal shows. A
stranger who writes meanwhile does not know it; what strangers write is left for the bot."""

import asyncio
import re
from collections.abc import Coroutine
from typing import Any

from bot.access import NEVER, read_access
from bot.cli.setup import slack, telegram
from bot.cli.setup.code import new_code
from bot.cli.setup.steps import Platforms
from bot.cli.setup.talk import Talk
from bot.cli.setup.wrong import Wrong
from bot.clock import SystemClock
from bot.commands import slash
from bot.messages import Person, Place

TELEGRAM_ID = re.compile(r"(?:telegram:)?([1-9]\d{0,18})")
SLACK_ID = re.compile(r"(?:slack:)?(?:(T[A-Z0-9]+):)?([UW][A-Z0-9]+)")


async def settle_owner(talk: Talk, found: Platforms) -> Person:
    """Found out, or kept from an earlier run."""
    if (known := _known(talk)) and await talk.confirm(
        talk.text("keep", what=talk.text("owner", id=known)), default=True
    ):
        return Person(known)
    owner = await _heard_or_named(talk, found)
    talk.terminal.show("")
    await talk.keep({"KABAR_OWNER": owner.id})
    name = "owner_named" if owner.name else "owner"
    talk.good(talk.text(name, name=owner.name, id=owner.id))
    if found.telegram and found.slack:
        talk.say("owner_link")
    return owner


def _known(talk: Talk) -> str:
    """The owner's id from an earlier run, "" where the bot can not write to that person."""
    owner = read_access(talk.value("KABAR_OWNER"), "").owner_id
    tokens = {"telegram": talk.value("TELEGRAM_BOT_TOKEN"), "slack": talk.value("SLACK_BOT_TOKEN")}
    return owner if tokens.get(owner.partition(":")[0]) else ""


async def _heard_or_named(talk: Talk, found: Platforms) -> Person:
    code = new_code()
    ears = _ears(talk, found, code)
    if not ears:
        talk.say("owner_unheard")
        return await _typed(talk, found, "owner_id")
    talk.say("owner_how")
    if found.telegram and found.is_free:
        talk.terminal.show("  " + talk.text("owner_telegram", link=found.telegram.link(code)))
    if found.slack and talk.value("SLACK_APP_TOKEN"):
        talk.terminal.show("  " + talk.text("owner_slack", code=code, user=found.slack.user))
    return await _first(talk, found, ears)


def _ears(talk: Talk, found: Platforms, code: str) -> list[Coroutine[Any, Any, Person]]:
    """Each ends with whoever sent the code there."""
    settings = talk.settings()
    ears = []
    if found.telegram and found.is_free:
        token, server = settings.telegram_bot_token, settings.telegram_api_base_url
        ears.append(telegram.sender_of(code, token, server, found.telegram, SystemClock()))
    if found.slack and settings.slack_app_token:
        ears.append(slack.sender_of(code, settings.slack_app_token, settings.slack_api_base_url))
    return ears


async def _first(talk: Talk, found: Platforms, ears: list[Coroutine[Any, Any, Person]]) -> Person:
    """Whoever is heard first, or named here at the terminal. Where nothing can be heard that is told, and the others
    are listened to."""
    waiting = {asyncio.create_task(ear) for ear in ears} | {asyncio.create_task(_typed(talk, found))}
    try:
        while True:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                try:
                    owner = await task
                except Wrong as wrong:
                    talk.terminal.show("")
                    talk.wrong(wrong)
                else:
                    return owner
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def _typed(talk: Talk, found: Platforms, question: str = "owner_wait") -> Person:
    while True:
        try:
            return await _looked_up(talk, found, await talk.terminal.ask(talk.text(question)))
        except Wrong as wrong:
            talk.wrong(wrong)


async def _looked_up(talk: Talk, found: Platforms, typed: str) -> Person:
    """By what was typed. Slack tells who that is; Telegram does not, but lets the bot write only to whom it knows.
    Raises Wrong."""
    settings = talk.settings()
    if found.telegram and (match := TELEGRAM_ID.fullmatch(typed)) and f"telegram:{match[1]}" not in NEVER:
        return Person(f"telegram:{match[1]}")
    if found.slack and (match := SLACK_ID.fullmatch(typed)) and match[1] in (None, found.slack.team):
        return await slack.person(match[2], settings.slack_bot_token, settings.slack_api_base_url, found.slack)
    raise Wrong("owner_form")


async def greet(talk: Talk, owner: Person) -> None:
    """The bot's first words; tried again while the person wants it."""
    settings, words = talk.settings(), talk.text("ready", slash=slash(Place(owner.id, "")))
    while True:
        try:
            if owner.id.startswith("telegram:"):
                await telegram.greet(owner.id, words, settings.telegram_bot_token, settings.telegram_api_base_url)
            else:
                await slack.greet(owner.id, words, settings.slack_bot_token, settings.slack_api_base_url)
        except Wrong as wrong:
            talk.wrong(wrong)
            if not await talk.confirm(talk.text("ready_again"), default=True):
                return
        else:
            talk.good(talk.text("ready_sent", id=owner.id))
            return
