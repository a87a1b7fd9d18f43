"""``/settings``: what can be chosen for a chat, as buttons that change the page they stand under. Pure."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import get_args

from bot.messages import Button, ChatSettings, Inbound, Meanwhile
from bot.texts import say

LONGEST_DATA = 64
"""Bytes of a button's data."""
STAMP = "#"
LONGEST_STAMP = 9
CHOSEN = "✓ "

Choice = tuple[str, str, str, bool]
"""A setting, a value of it, what the button says, and whether it is the one in force."""


def page(asked: Inbound, settings: ChatSettings, models: Sequence[str]) -> str:
    """A line for each setting with what is in force."""
    language = settings.language or asked.sender.language
    lines = []
    for name, choices in groupby(_choices(asked, settings, models), key=lambda choice: choice[0]):
        chosen = next((label for _, _, label, current in choices if current), "?")
        lines.append(f"- {say(f'setting_{name}', language)}: **{chosen}**")
    return "\n\n".join((say("settings", language), "\n".join(lines)))


def buttons(asked: Inbound, settings: ChatSettings, models: Sequence[str], now: float = 0) -> tuple[Button, ...]:
    """A row for each setting. ``now`` (Unix time) tells a choice made anew from the same tap that came twice: both are
    taps on one message, which shows the page again and again."""
    stamp = f"{STAMP}{int(now):x}" if now else ""
    rows = groupby(_choices(asked, settings, models), key=lambda choice: choice[0])
    return tuple(
        Button(f"{CHOSEN}{label}" if current else label, f"set:{name}:{value}{stamp}", row)
        for row, (_, choices) in enumerate(rows)
        for name, value, label, current in choices
    )


def setting_of(button: Button) -> str:
    """The setting that a button chooses, by the name that its text has here."""
    return button.data.partition(":")[2].partition(":")[0]


def changed(name: str, value: str, models: Sequence[str]) -> dict[str, str | bool | None]:
    """The fields that a tapped button changes; {} where it is none of ours, or no longer."""
    value = value.partition(STAMP)[0]
    match name:
        case "language" if value in ("", "en", "id"):
            return {"language": value}
        case "meanwhile" if value in get_args(Meanwhile):
            return {"meanwhile": value}
        case "model" if value in models:
            return {"model": value}
        case "follow" if value in ("on", "off"):
            return {"follow": value == "on"}
    return {}


def _choices(asked: Inbound, settings: ChatSettings, models: Sequence[str]) -> Iterator[Choice]:
    language = settings.language or asked.sender.language
    for value, label in (("en", "English"), ("id", "Indonesia"), ("", say("language_auto", language))):
        yield "language", value, label, settings.language == value
    for choice in get_args(Meanwhile):
        yield "meanwhile", choice, say(f"choice_{choice}", language), settings.meanwhile == choice
    if len(models) > 1:
        current = settings.model if settings.model in models else models[0]
        fitting = (model for model in models if len(f"set:model:{model}".encode()) <= LONGEST_DATA - LONGEST_STAMP)
        yield from (("model", model, model, model == current) for model in fitting)
    if asked.place.platform == "slack" and asked.place.group:
        for value, on in (("on", True), ("off", False)):
            yield "follow", value, say(value, language), bool(settings.follow) == on
