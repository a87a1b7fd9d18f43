"""What people ask of the bot itself, answered without the model."""

from typing import Literal, get_args

from msgspec import Struct

from bot.messages import Inbound, Meanwhile
from bot.texts import say


class Told(Struct, frozen=True):
    """Our own answer.

    ``fresh``: nothing said so far is shown to the model again. ``meanwhile``: the chat's new setting. ``button``: the
    text, by its name, of a button that does the turn again. ``page`` is what the text is yet to be made of: it shows
    what only the store knows ("usage"), or what the turn itself finds out ("context").
    """

    text: str
    fresh: bool = False
    meanwhile: Meanwhile | None = None
    button: str = ""
    page: Literal["", "usage", "context"] = ""


def answer(inbound: Inbound) -> Told | None:
    """The answer to a command of ours; None where it is none: then the model reads it like any text."""
    language = inbound.sender.language
    match inbound.command:
        case "start" | "help":
            return Told(say("help", language))
        case "new" | "reset":
            return Told(say("new", language), fresh=True)
        case "meanwhile":
            return _meanwhile(inbound)
        case "context" | "compact":
            return Told("", page="context")
        case "usage":
            return Told("", page="usage")
        case "stop":
            return Told(say("nothing_to_stop", language))
    return None


def _meanwhile(inbound: Inbound) -> Told:
    language = inbound.sender.language
    for choice in get_args(Meanwhile):
        if inbound.text.strip().lower() == choice:
            return Told(say(f"meanwhile_{choice}", language), meanwhile=choice)
    return Told(say("meanwhile", language))
