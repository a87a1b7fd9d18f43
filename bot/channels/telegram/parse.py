"""A Telegram update as an Inbound, or None where it does not concern the bot. Pure, and total: no update makes it fail.

Runs where a webhook starts: standard library and msgspec only. An update is outside data, so every field is read
through ``fields``, which answers with an empty value for whatever is missing or odd.
Source: core.telegram.org/bots/api#update, Bot API 10.
"""

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from bot.access import NEVER
from bot.channels.fields import number_at, object_at, objects_at, text_at
from bot.channels.telegram.rich import flattened, media
from bot.messages import Attachment, Inbound, Json, Kind, Person, Place, Quote

KINDS = ("message", "edited_message", "callback_query", "my_chat_member", "stopped_message_generation")
"""Of updates: what is read here, and so what Telegram is to be asked for."""

GENERAL_TOPIC = 1
"""The forum topic that is the chat itself: a message sent with this thread id is refused."""

ANONYMOUS_ADMIN = 1087968824

QUOTE_LIMIT = 4_000
LONGEST_DATA = 64
"""Bytes of a button's data."""
UNIT = 2
"""Bytes of one UTF-16 code unit, in which Telegram counts entity offsets."""

_COMMAND = re.compile(r"/([a-zA-Z0-9_]{1,32})(?:@(\w+))?(?=\s|$)")
_TOPIC = re.compile(r"\|([0-9]{1,10})\Z")
_GONE = frozenset({"kicked", "left"})


class Me(Struct, frozen=True):
    """The bot's own account. ``username`` is without "@", and "" while it is unknown."""

    id: int
    username: str = ""


NOBODY = Me(-1)
"""In somebody else's words our name stays."""


def parse(update: Json, me: Me) -> Inbound | None:
    if message := object_at(update, "message"):
        return _moved(message) or _written(message, me, kind="message")
    if message := object_at(update, "edited_message"):
        return _written(message, me, kind="edit")
    if query := object_at(update, "callback_query"):
        return _tapped(query)
    if change := object_at(update, "my_chat_member"):
        return _membership(change)
    if stopped := object_at(update, "stopped_message_generation"):
        return _stopped(stopped)
    return None


def typing_reply(inbound: Inbound) -> Json:
    """The method call to answer the webhook with: the sign of life costs no request of its own."""
    call: Json = {"method": "sendChatAction", "chat_id": int(inbound.place.chat), "action": "typing"}
    if inbound.place.thread:
        call["message_thread_id"] = int(inbound.place.thread)
    return call


def tap_reply(update: Json) -> Json:
    """The method call that ends a tapped button's spinner, to answer the webhook with: later it would be too old."""
    return {"method": "answerCallbackQuery", "callback_query_id": text_at(object_at(update, "callback_query"), "id")}


def in_topic(data: str, thread: str) -> str:
    """A button's data with its topic, where both fit: of a message of some days ago Telegram tells the chat alone."""
    told = f"{data}|{thread}" if thread else data
    return told if len(told.encode()) <= LONGEST_DATA else data


# The things that concern us.


def _written(message: Json, me: Me, kind: Literal["message", "edit"]) -> Inbound | None:
    place, number = _place(message), number_at(message, "message_id")
    sender = object_at(message, "from")
    anonymous = place is not None and _is_anonymous_admin(message, place)
    if place is None or not number or not (anonymous or (_is_person(sender) and "sender_chat" not in message)):
        return None
    words, attachments, forwarded = _words(message), tuple(_attachments(message)), _forwarded(message)
    album = text_at(message, "media_group_id")
    addressed = not place.group or _addressed(words, message, me)
    heard = addressed or (not anonymous and kind == "message" and album and attachments)
    if not heard or (place.group and forwarded):
        return None
    if not words.text and (kind == "edit" or not attachments):
        return None  # a service message, or a live location on the move
    text, command = ("", "") if forwarded else _split_command(words.readable(me) or words.text, me, place.group)
    edited = number_at(message, "edit_date")
    return Inbound(
        place=place,
        id=f"m{number}" if kind == "message" else f"e{number}.{edited}",
        order=_order(number) if kind == "message" else f"{_order(number)}.{edited}",
        sender=_person(sender),
        sent_at=edited or number_at(message, "date"),
        kind=kind,
        text=text,
        command=command,
        native_id=str(number),
        quote=forwarded or _replied(message, me),
        attachments=attachments,
        album=album,
        addressed=addressed,
    )


def _tapped(query: Json) -> Inbound | None:
    message, sender = object_at(query, "message"), object_at(query, "from")
    data = text_at(query, "data")
    if topic := _TOPIC.search(data):
        data = data[: topic.start()]
        if not number_at(message, "date"):  # too old to be told whole
            message = {**message, "message_thread_id": int(topic[1]), "is_topic_message": True}
    place, number = _place(message), number_at(message, "message_id")
    if place is None or not number or not data or not _is_person(sender):
        return None
    return Inbound(
        place=place,
        # Not the query's id: a tap that is sent again after a reconnect has a new one.
        id=f"c{number}.{number_at(sender, 'id')}.{data}",
        order=_order(number),
        sender=_person(sender),
        sent_at=number_at(message, "date"),
        kind="tap",
        native_id=str(number),
        data=data,
    )


def _membership(change: Json) -> Inbound | None:
    """The bot was let in, thrown out, blocked or unblocked; to be restricted and still a member is to be in."""
    place, date = _place(change), number_at(change, "date")
    before, after = object_at(change, "old_chat_member"), object_at(change, "new_chat_member")
    if place is None or not after or _is_gone(before) == _is_gone(after):
        return None
    kind: Kind = "left" if _is_gone(after) else "joined"
    return Inbound(
        place=place,
        id=f"{kind}.{date}",
        order=_order(0),
        sender=_person(object_at(change, "from")),
        sent_at=date,
        kind=kind,
    )


def _is_gone(member: Json) -> bool:
    status = text_at(member, "status")
    return status in _GONE or (status == "restricted" and member.get("is_member") is False)


def _stopped(stopped: Json) -> Inbound | None:
    """Somebody pressed Stop beside a draft that grows. It tells no person: drafts are in private chats only."""
    chat, draft = object_at(stopped, "chat"), number_at(stopped, "draft_id")
    place = _place({**stopped, "is_topic_message": True})
    if place is None or place.group or not draft:
        return None
    return Inbound(place=place, id=f"s{draft}", order=_order(0), sender=_person(chat), sent_at=0, kind="stop")


def _moved(message: Json) -> Inbound | None:
    """A group became a supergroup. Told twice, by the old chat and by the new: both are the same thing here."""
    chat = number_at(object_at(message, "chat"), "id")
    old, new = number_at(message, "migrate_from_chat_id") or chat, number_at(message, "migrate_to_chat_id") or chat
    if not old or not new or old == new:
        return None
    return Inbound(
        place=Place(conversation=f"telegram:{old}", chat=str(old), group=True),
        id=f"moved.{new}",
        order=_order(0),
        sender=_person(object_at(message, "from")),
        sent_at=number_at(message, "date"),
        kind="moved",
        data=str(new),
    )


# Who and where.


def _place(message: Json) -> Place | None:
    chat = object_at(message, "chat")
    number, kind = number_at(chat, "id"), text_at(chat, "type")
    if not number or kind == "channel":
        return None
    topic = number_at(message, "message_thread_id") if message.get("is_topic_message") is True else 0
    thread = str(topic) if topic > GENERAL_TOPIC else ""  # outside topics the field only names a chain of replies
    return Place(
        conversation=f"telegram:{number}:{thread}" if thread else f"telegram:{number}",
        chat=str(number),
        thread=thread,
        group=kind != "private" if kind else number < 0,
        title=text_at(chat, "title"),
    )


def _is_person(sender: Json) -> bool:
    """Bots are not answered: two of them would never stop."""
    number = number_at(sender, "id")
    return number > 0 and sender.get("is_bot") is not True and f"telegram:{number}" not in NEVER


def _is_anonymous_admin(message: Json, place: Place) -> bool:
    """Whether it is said in a group's own name. Nobody can be told from that: they are strangers, who are told so."""
    group = str(number_at(object_at(message, "sender_chat"), "id"))
    return place.group and group == place.chat and number_at(object_at(message, "from"), "id") == ANONYMOUS_ADMIN


def _person(sender: Json) -> Person:
    return Person(f"telegram:{number_at(sender, 'id')}", _name(sender), text_at(sender, "language_code"))


def _name(user_or_chat: Json) -> str:
    names = (text_at(user_or_chat, name) for name in ("first_name", "last_name"))
    return " ".join(filter(None, names)) or text_at(user_or_chat, "title") or text_at(user_or_chat, "username")


def _order(message_id: int) -> str:
    """Sorts as text as the numbers do. An edit appends to it, so that it comes after what it edits."""
    return f"{message_id:016}"


# What was said.


class Words(Struct, frozen=True):
    """A text with its entities."""

    text: str
    entities: tuple[Json, ...]

    def covered(self, entity: Json) -> str:
        """What an entity lies over; "" where its range does not lie inside the text."""
        units, (start, end) = self._units, _extent(entity)
        return _decoded(units[start:end]) if 0 <= start < end <= len(units) else ""

    def names(self, entity: Json, me: Me) -> bool:
        """Whether an entity is a mention of us."""
        if entity.get("type") == "text_mention":
            return bool(self.covered(entity)) and number_at(object_at(entity, "user"), "id") == me.id
        return entity.get("type") == "mention" and _is_us(self.covered(entity).removeprefix("@"), me)

    def readable(self, me: Me) -> str:
        """The text without our name, and with what only entities show: where links lead, and what is code."""
        units, end_of_last = self._units, len(self._units)
        for entity in sorted(self.entities, key=_extent, reverse=True):
            start, end = _extent(entity)
            covered = self.covered(entity)
            if not covered or end > end_of_last:
                continue  # out of range, or around one that was replaced already
            shown = "" if self.names(entity, me) else _spelled(entity, covered)
            if shown == covered:
                continue
            before, after = units[:start], units[end:]
            if not shown and after.startswith(" ".encode("utf-16-le")) and (not before or before.endswith(b" \0")):
                after = after[UNIT:]  # our name goes with one of the two spaces around it
            units, end_of_last = before + shown.encode("utf-16-le") + after, start
        return _decoded(units).strip()

    @property
    def _units(self) -> bytes:
        return self.text.encode("utf-16-le")


def _words(message: Json) -> Words:
    if rich := object_at(message, "rich_message"):
        return Words(*flattened(rich))
    text, entities = ("text", "entities") if text_at(message, "text") else ("caption", "caption_entities")
    return Words(text_at(message, text), tuple(objects_at(message, entities)))


def _extent(entity: Json) -> tuple[int, int]:
    """First and last byte of an entity in its text as UTF-16."""
    start = number_at(entity, "offset") * UNIT
    return start, start + number_at(entity, "length") * UNIT


def _decoded(units: bytes) -> str:
    return units.decode("utf-16-le", "replace")


def _spelled(entity: Json, covered: str) -> str:
    match entity.get("type"):
        case "text_link":
            address = text_at(entity, "url")
            return covered if address in ("", covered) else f"{covered} ({address})"
        case "code":
            return f"`{covered}`"
        case "pre":
            return f"```{text_at(entity, 'language')}\n{covered}\n```"
        case _:
            return covered


def _split_command(text: str, me: Me, group: bool) -> tuple[str, str]:
    """What follows the command, and the command: ``("later", "remind")`` of ``/Remind@bot later``."""
    command = _COMMAND.match(text)
    if not command or (group and not _is_ours(command, me)):
        return text, ""
    return text[command.end() :].strip(), command[1].lower()


def _addressed(words: Words, message: Json, me: Me) -> bool:
    """Whether a group's message is for us: it names us, is a command that names no other bot, or replies to us."""
    if any(words.names(entity, me) for entity in words.entities):
        return True
    if command := _COMMAND.match(words.text):
        return _is_ours(command, me)
    return number_at(object_at(_reply(message), "from"), "id") == me.id


def _is_ours(command: re.Match[str], me: Me) -> bool:
    return command[2] is None or _is_us(command[2], me)


def _is_us(username: str, me: Me) -> bool:
    return bool(me.username) and username.lower() == me.username.lower()


# What it refers to.


def _reply(message: Json) -> Json:
    """The message it replies to; none where that is only the topic it stands in."""
    replied = object_at(message, "reply_to_message")
    return {} if "forum_topic_created" in replied else replied


def _replied(message: Json, me: Me) -> Quote | None:
    """The part somebody picked wins over the whole message. Its files come along: "what is this?" is asked of a picture
    that somebody else sent."""
    replied = _reply(message) or object_at(message, "external_reply")
    text = text_at(object_at(message, "quote"), "text") or _words(replied).readable(NOBODY)
    attachments = tuple(_attachments(replied))
    if not text and not attachments:
        return None
    author = object_at(replied, "from")
    name = _name(author) or _origin(replied, "origin")
    return Quote(_shortened(text), name, ours=number_at(author, "id") == me.id, attachments=attachments)


def _forwarded(message: Json) -> Quote | None:
    """A forwarded message is somebody else's words, also where the one who forwards it wrote them once."""
    if not object_at(message, "forward_origin"):
        return None
    text = _words(message).readable(NOBODY) or ", ".join(f"[{attachment.kind}]" for attachment in _attachments(message))
    return Quote(_shortened(text), _origin(message, "forward_origin")) if text else None


def _origin(message: Json, field: str) -> str:
    origin = object_at(message, field)
    for name in ("sender_user", "sender_chat", "chat"):
        if origin.get(name):
            return _name(object_at(origin, name))
    return text_at(origin, "sender_user_name")


def _shortened(text: str) -> str:
    return text if len(text) <= QUOTE_LIMIT else f"{text[:QUOTE_LIMIT]}…"


# What is attached.

_FILES = ("video", "document", "voice", "audio", "video_note", "animation", "sticker")
_MEDIA_TYPES = {"photo": "image/jpeg", "voice": "audio/ogg", "video_note": "video/mp4"}


def _attachments(message: Json) -> Iterator[Attachment]:
    yield from _files(message)
    for block in media(object_at(message, "rich_message")):
        yield from _files(block)
    yield from _described(message)


def _files(message: Json) -> Iterator[Attachment]:
    photos = objects_at(message, "photo")
    if photos:
        yield _file("photo", max(photos, key=lambda size: number_at(size, "width") * number_at(size, "height")))
    for kind in _FILES:
        file = object_at(message, kind)
        if file and not (kind == "document" and "animation" in message):  # an animation is told twice
            yield _file(kind, file)


def _file(kind: str, file: Json) -> Attachment:
    seconds = number_at(file, "duration")
    told = (
        text_at(file, "performer"),
        text_at(file, "title"),
        text_at(file, "emoji"),
        f"{seconds} s" if seconds else "",
    )
    return Attachment(
        kind=kind,
        id=text_at(file, "file_id"),
        name=text_at(file, "file_name"),
        media_type=text_at(file, "mime_type")
        or (_sticker_type(file) if kind == "sticker" else _MEDIA_TYPES.get(kind, "")),
        size=number_at(file, "file_size"),
        description=", ".join(filter(None, told)),
    )


def _sticker_type(sticker: Json) -> str:
    if sticker.get("is_animated") is True:
        return "application/x-tgsticker"
    return "video/webm" if sticker.get("is_video") is True else "image/webp"


def _described(message: Json) -> Iterator[Attachment]:
    """What there is no file of, or none that a bot gets, in words."""
    if venue := object_at(message, "venue"):
        where = ", ".join(filter(None, (text_at(venue, "title"), text_at(venue, "address"), _point(venue))))
        yield Attachment("venue", description=where)
    elif location := _point(message):
        yield Attachment("location", description=location)
    if contact := object_at(message, "contact"):
        yield Attachment("contact", description=f"{_name(contact)}, {text_at(contact, 'phone_number')}")
    if poll := object_at(message, "poll"):
        yield Attachment("poll", description=f"{text_at(poll, 'question')}: {_texts(poll, 'options')}")
    if checklist := object_at(message, "checklist"):
        yield Attachment("checklist", description=f"{text_at(checklist, 'title')}: {_texts(checklist, 'tasks')}")
    if dice := object_at(message, "dice"):
        yield Attachment("dice", description=f"{text_at(dice, 'emoji')} {number_at(dice, 'value')}")
    for kind in ("game", "invoice"):
        if offered := object_at(message, kind):
            yield Attachment(kind, description=f"{text_at(offered, 'title')}: {text_at(offered, 'description')}")
    if story := object_at(message, "story"):
        yield Attachment("story", description=f"of {_name(object_at(story, 'chat'))}, not shown to bots")
    if paid := object_at(message, "paid_media"):
        yield Attachment("paid media", description=f"{number_at(paid, 'star_count')} stars, not shown to bots")


def _texts(data: Json, name: str) -> str:
    return " / ".join(text_at(item, "text") for item in objects_at(data, name))


def _point(message: Json) -> str:
    location = object_at(message, "location")
    latitude, longitude = location.get("latitude"), location.get("longitude")
    if not isinstance(latitude, int | float) or not isinstance(longitude, int | float):
        return ""
    return f"{latitude:.6f}, {longitude:.6f}"
