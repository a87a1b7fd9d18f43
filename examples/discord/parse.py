"""An interaction as an Inbound, and what it is answered with at once. Pure, and total: no interaction makes it fail.

People write with ``/ask``; all other commands are the bot's own. A thread is a channel of its own to Discord.
Source: discord.com/developers/docs/interactions/receiving-and-responding.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from bot.channels.fields import number_at, object_at, objects_at, text_at
from bot.messages import Attachment, Inbound, Json, Person, Place

PING, COMMAND, COMPONENT = 1, 2, 3  # kinds of interactions
PONG, MESSAGE, NOTHING_YET = 1, 4, 6  # kinds of answers
STRING, FILE = 3, 11  # kinds of a command's options
NO_PREVIEWS, ONLY_FOR_YOU = 1 << 2, 1 << 6  # flags of a message
NOBODY: Json = {"parse": []}  # whom a message calls: a model's words nobody

ASK = "ask"
EPOCH = 1_420_070_400_000  # the first millisecond of 2015, from which the time in Discord's ids counts


def parse(interaction: Json) -> Inbound | None:
    """None where it does not concern the bot."""
    id, channel, guild = (text_at(interaction, name) for name in ("id", "channel_id", "guild_id"))
    who, room, shown = (object_at(interaction, name) for name in ("member", "channel", "message"))
    user = object_at(who, "user") or object_at(interaction, "user")
    if not (id.isascii() and id.isdecimal() and channel and text_at(user, "id")) or user.get("bot"):
        return None
    name = text_at(user, "global_name") or text_at(user, "username")
    inbound = Inbound(
        place=Place(f"discord:{channel}", channel, team=guild, group=bool(guild), title=text_at(room, "name")),
        id=id,
        order=id.zfill(20),
        sender=Person(f"discord:{text_at(user, 'id')}", name, text_at(interaction, "locale")),
        sent_at=((int(id) >> 22) + EPOCH) // 1_000,
    )
    kind, data = number_at(interaction, "type"), object_at(interaction, "data")
    if kind == COMMAND:
        return _written(inbound, data)
    if kind == COMPONENT:
        return replace(inbound, kind="tap", data=text_at(data, "custom_id"), native_id=text_at(shown, "id"))
    return None


def _written(inbound: Inbound, data: Json) -> Inbound:
    options, name = objects_at(data, "options"), text_at(data, "name")
    words = [text_at(option, "value") for option in options if number_at(option, "type") == STRING]
    command, files = "" if name == ASK else name, tuple(_files(options, data))
    return replace(inbound, command=command, text=" ".join(words), attachments=files)


def _files(options: list[Json], data: Json) -> Iterator[Attachment]:
    sent = object_at(object_at(data, "resolved"), "attachments")
    for file in (object_at(sent, text_at(option, "value")) for option in options if number_at(option, "type") == FILE):
        type = text_at(file, "content_type").partition(";")[0]
        kind = {"image": "photo", "audio": "audio", "video": "video"}.get(type.partition("/")[0], "document")
        yield Attachment(kind, text_at(file, "url"), text_at(file, "filename"), type, number_at(file, "size"))


def response(interaction: Json, inbound: Inbound | None) -> Json:
    """What Discord is told within its three seconds. By itself it shows people only that a command was given: what was
    asked is repeated for all to see, a command of the bot's own for whoever gave it."""
    if number_at(interaction, "type") == PING:
        return {"type": PONG}
    if inbound is None or inbound.kind == "tap":
        return {"type": NOTHING_YET}
    lines = [*inbound.words[:1_000].splitlines(), *(f"[{file.name[:100]}]" for file in inbound.attachments), ""]
    flags = NO_PREVIEWS | (ONLY_FOR_YOU if inbound.command else 0)
    shown = "\n".join(f"> {line}" for line in lines)[:2_000]
    return {"type": MESSAGE, "data": {"content": shown, "flags": flags, "allowed_mentions": NOBODY}}
