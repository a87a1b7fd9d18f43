"""What people ask of the bot itself, answered without the model."""

from msgspec import Struct

from bot.messages import Inbound
from bot.texts import say


class Told(Struct, frozen=True):
    """Our own answer. ``fresh``: nothing said so far is shown to the model again."""

    text: str
    fresh: bool = False


def answer(inbound: Inbound) -> Told | None:
    """The answer to a command of ours; None where it is none: then the model reads it like any text."""
    language = inbound.sender.language
    match inbound.command:
        case "start" | "help":
            return Told(say("help", language))
        case "new" | "reset":
            return Told(say("new", language), fresh=True)
        case "stop":
            return Told(say("nothing_to_stop", language))
    return None
