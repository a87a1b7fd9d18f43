"""A local Telegram: what people do in it, and what it keeps. The bot's side is in ``telegram_methods``.

The truth is Bot API ``Message`` objects (``natives``); what the page shows is derived from them.
"""

import copy
import re
import secrets
from base64 import b64decode
from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct

from simulator import files
from simulator.deliver import TelegramWebhook, Update
from simulator.pictures import picture_size
from simulator.telegram_limits import ALBUM_LIMIT, Flood, Meter
from simulator.telegram_text import TEXT_LIMIT, spotted
from simulator.world import (
    Button,
    Chat,
    Delivery,
    File,
    FileInfo,
    Json,
    Message,
    Mistake,
    Person,
    Quote,
    Topic,
    World,
)

TOKEN = "1000001:simulator-token-not-a-secret-0000000"
SECRET = "simulator-webhook-secret"
USERNAME = "kabar_simulator_bot"

ANN_CHAT = "1001"
BUDI_CHAT = "1002"
SARI_CHAT = "1003"
GROUP = "-2001"
FORUM = "-1000000003001"
CHATS = (
    Chat("telegram", ANN_CHAT, "private", "Kabar", ("ann",)),
    Chat("telegram", BUDI_CHAT, "private", "Kabar", ("budi",)),
    Chat("telegram", SARI_CHAT, "private", "Kabar", ("sari",)),
    Chat("telegram", GROUP, "group", "Trip to Bromo", ("ann", "budi", "sari")),
    Chat(
        "telegram",
        FORUM,
        "forum",
        "Workshop",
        ("ann", "budi"),
        (Topic("", "General"), Topic("2", "Ideas"), Topic("3", "Support")),
    ),
)
_GENERAL_TOPIC = "1"
_DEFAULT_UPDATES = frozenset(
    (
        "message",
        "edited_message",
        "callback_query",
        "my_chat_member",
        "channel_post",
        "edited_channel_post",
        "stopped_message_generation",
    )
)
"""Update kinds a bot gets that asked for none; the real list is longer by kinds that nobody here can cause."""

KINDS = ("photo", "video", "animation", "audio", "document", "voice", "video_note", "sticker")
"""The fields of a message that hold a file."""
_FOLDERS = {"photo": "photos", "video": "videos", "audio": "music", "voice": "voice", "sticker": "stickers"}
_STICKER = b64decode("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
"""A picture of one pixel: what a sticker looks like matters to nobody here."""


class Stored(Struct):
    """A file kept for the bot, under the same id in ``world.files``. ``path`` is what getFile answers; it can be
    downloaded until ``link_until``."""

    id: str
    path: str
    file: File
    link_until: float = 0.0


class Query(Struct):
    """A button tap that waits for answerCallbackQuery."""

    at: float
    by: Person


class Telegram:
    """Public: ``say``, ``send``, ``share``, ``edit``, ``delete``, ``tap``, ``stop``, ``block``, ``push`` (people),
    ``messages``, ``wait_for`` (tests)."""

    def __init__(self, world: World, webhook: TelegramWebhook, token: str = TOKEN, first_message: int = 0) -> None:
        self.world = world
        self.webhook = webhook
        self.token = token
        self.username = USERNAME
        self.privacy = True
        """Whether unaddressed messages in groups are kept from the bot."""
        self.can_join_groups = True
        """Whether people can add the bot to a group."""
        self.query_lifetime = 30.0
        """Seconds in which a tap can be answered."""
        self.meter: Meter | None = None
        """Counts what the bot sends, where its rate is limited."""
        self.allowed_updates = _DEFAULT_UPDATES
        self.natives: dict[tuple[str, int], Json] = {}
        self.files: dict[str, Stored] = {}
        self.queries: dict[str, Query] = {}
        self.blocked: set[str] = set()
        self.commands: dict[str, list[Json]] = {}
        """The bot's menu, by language code; "" is for everybody else."""
        self._last_update = 700_000_000 + first_message
        self._first_message = first_message
        self._last_message: dict[str, int] = {}
        self.latest_poll = 0
        world.chats.extend(CHATS)

    def limit(self, flood: Flood) -> None:
        """Limit the bot's rate from now on."""
        self.meter = Meter(flood, self.world.now)

    # What people do.

    async def say(
        self,
        chat: str | int,
        user: str | int,
        text: str = "",
        *,
        thread: str | int = "",
        reply_to: str | int = "",
        quote: str = "",
        file: File | None = None,
        kind: str = "",
        album: str = "",
        seconds: int = 1,
    ) -> Message:
        """A person writes. ``thread`` is a forum's topic; ``quote`` the selected part of the message replied to.

        With a ``file`` the text is its caption; ``kind`` is one of KINDS, by default a photo for a picture and a
        document for everything else; ``seconds`` is how long it plays. Files with the same ``album`` arrive as one. A
        text above the limit goes as several messages, as Telegram's apps do it, and the last is returned. Raises
        Mistake.
        """
        where = self.world.chat("telegram", chat)
        sender = self.world.member(where, user)
        if not text.strip() and file is None:
            raise Mistake("The message is empty.")
        pieces = _pieces(text.strip()) or [""]
        for piece in pieces:
            native = self.new_native(where, person_json(sender), thread=str(thread), reply_to=str(reply_to))
            if quote:
                native["quote"] = {"text": quote, "position": 0, "is_manual": True}
            if file:
                native |= self.attach(file, kind or _usual_kind(file), seconds)
            native |= _words(piece, spotted(piece), caption=file is not None)
            if album:
                native["media_group_id"] = album
            message = self.publish(native)
            self._send_update(where, "message", native, message)
        return message

    async def send(
        self,
        chat: str | int,
        user: str | int,
        sent: Sequence[tuple[File, str]],
        text: str = "",
        *,
        thread: str | int = "",
        reply_to: str | int = "",
        seconds: int = 1,
    ) -> list[Message]:
        """A person sends files, each with its kind or "" for the usual one: what fits together as albums, as Telegram's
        apps do it. The text is the first one's caption. Raises Mistake."""
        messages: list[Message] = []
        for batch in _albums([(file, kind or _usual_kind(file)) for file, kind in sent]):
            album = str(secrets.randbits(62)) if len(batch) > 1 else ""
            for file, kind in batch:
                words = "" if messages else text
                messages.append(
                    await self.say(
                        chat,
                        user,
                        words,
                        thread=thread,
                        reply_to=reply_to,
                        file=file,
                        kind=kind,
                        album=album,
                        seconds=seconds,
                    )
                )
        return messages

    async def share(
        self, chat: str | int, user: str | int, content: Json, *, thread: str | int = "", reply_to: str | int = ""
    ) -> Message:
        """A person sends what is neither text nor a file: ``content`` is a field of a Bot API Message (``location``,
        ``venue``, ``contact``, ``poll``, ``dice``), or ``{"sticker": "<emoji>"}``. Raises Mistake."""
        where = self.world.chat("telegram", chat)
        sender = self.world.member(where, user)
        native = self.new_native(where, person_json(sender), thread=str(thread), reply_to=str(reply_to))
        native |= self._sticker(content["sticker"]) if "sticker" in content else content
        message = self.publish(native)
        self._send_update(where, "message", native, message)
        return message

    def _sticker(self, emoji: str) -> Json:
        sticker = self.attach(File("sticker.webp", "image/webp", _STICKER), "sticker")["sticker"]
        return {"sticker": {**sticker, "emoji": emoji}}

    async def edit(self, chat: str | int, user: str | int, message_id: str | int, text: str) -> Message:
        """A person changes a message of their own. Raises Mistake."""
        where = self.world.chat("telegram", chat)
        native = self._own_native(where, user, message_id)
        if not text.strip():
            raise Mistake("The message is empty.")
        caption = any(kind in native for kind in KINDS)
        native |= _words(text.strip(), spotted(text.strip()), caption=caption)
        native["edit_date"] = int(self.world.now())
        message = self.publish(native)
        self._send_update(where, "edited_message", native, message)
        return message

    async def delete(self, chat: str | int, user: str | int, message_id: str | int) -> None:
        """A person deletes a message of their own, of which Telegram tells bots nothing. Raises Mistake."""
        where = self.world.chat("telegram", chat)
        native = self._own_native(where, user, message_id)
        self.retract(where.id, native["message_id"])

    def _own_native(self, chat: Chat, user: str | int, message_id: str | int) -> Json:
        sender = self.world.member(chat, user)
        native = self._native(chat, message_id)
        if native is None or native["from"]["id"] != sender.telegram_id:
            raise Mistake(f"{sender.name} has no such message.")
        return native

    async def tap(self, chat: str | int, user: str | int, message_id: str | int, button: str = "0.0") -> str:
        """A person taps a button ("<row>.<column>"); returns the callback query's id. Raises Mistake."""
        where = self.world.chat("telegram", chat)
        sender = self.world.member(where, user)
        native = self._native(where, message_id)
        data = _callback_data(native, button) if native else None
        if native is None or data is None:
            raise Mistake("There is no such button any more.")
        query_id = str(secrets.randbits(62))
        self.queries[query_id] = Query(self.world.now(), sender)
        query = {"id": query_id, "from": person_json(sender), "message": native, "data": data}
        query["chat_instance"] = f"simulator{where.id}"
        self.push("callback_query", query, where.id)
        return query_id

    async def stop(self, chat: str | int, user: str | int, thread: str | int = "") -> None:
        """A person presses Stop beside the draft that grows there. Raises Mistake."""
        where = self.world.chat("telegram", chat)
        self.world.member(where, user)
        draft = next((message for message in self.messages(chat, thread) if message.draft), None)
        sign = self.world.signs.get(("telegram", where.id, str(thread)))
        if draft is None or sign is None or not sign.stop:
            raise Mistake("There is nothing to stop.")
        self.world.remove(draft)
        self.world.sign("telegram", where.id, str(thread), "", 0)
        stopped = {"chat": self.chat_json(where), "draft_id": int(draft.id.removeprefix("draft"))}
        if thread:
            stopped["message_thread_id"] = int(thread)
        self.push("stopped_message_generation", stopped, where.id)

    async def block(self, user: str | int, blocked: bool = True) -> None:
        """A person blocks the bot in their private chat, or lets it in again."""
        person = self.world.person(user)
        chat = str(person.telegram_id)
        (self.blocked.add if blocked else self.blocked.discard)(chat)
        was, now = ("member", "kicked") if blocked else ("kicked", "member")
        change = {
            "chat": self.chat_json(self.world.chat("telegram", chat)),
            "from": person_json(person),
            "date": int(self.world.now()),
            "old_chat_member": self._membership(was),
            "new_chat_member": self._membership(now),
        }
        self.push("my_chat_member", change, chat)

    def _membership(self, status: str) -> Json:
        until = {"until_date": 0} if status == "kicked" else {}
        return {"user": self.bot_json(), "status": status, **until}

    def push(self, kind: str, body: Json, chat: str, message: Message | None = None) -> int:
        """Send the bot any update: ``body`` under the field ``kind``. Returns its update_id, 0 if it was not wanted."""
        if kind not in self.allowed_updates:
            return 0
        self._last_update += 1
        # A copy: later edits must not reach into an update that still waits.
        update = copy.deepcopy({"update_id": self._last_update, kind: body})
        self.webhook.add(Update(self._last_update, chat, update, message, self.world.now()))
        self.world.wake()
        return self._last_update

    def _send_update(self, chat: Chat, kind: str, native: Json, message: Message) -> None:
        if self.privacy and chat.kind != "private" and not self._addressed(native):
            self.world.deliver(message, Delivery("kept", detail="privacy mode: the bot is not addressed"))
            return
        self.world.deliver(message, Delivery())
        self.push(kind, native, chat.id, message)

    def _addressed(self, native: Json) -> bool:
        """What privacy mode lets through: commands, mentions, replies to the bot."""
        text = native.get("text") or native.get("caption", "")
        command = re.match(r"/\w+(?:@(\w+))?", text)
        if command:
            return (command[1] or self.username).lower() == self.username
        replied = native.get("reply_to_message", {}).get("from", {})
        return replied.get("id") == self.bot_id or f"@{self.username}" in text.lower()

    # What tests read.

    def messages(self, chat: str | int, thread: str | int | None = None) -> list[Message]:
        """A chat's messages in the order sent; of one topic, if given."""
        found = self.world.messages_of("telegram", chat)
        return [message for message in found if thread is None or message.thread == str(thread)]

    async def wait_for(self, fits: Callable[[Message], bool], timeout: float = 5) -> Message:
        """The first Telegram message that fits, now or within ``timeout`` seconds. Raises TimeoutError."""
        return await self.world.wait_for("telegram", fits, timeout)

    # What the bot's methods use.

    @property
    def bot_id(self) -> int:
        return int(self.token.partition(":")[0])

    def bot_json(self) -> Json:
        return {"id": self.bot_id, "is_bot": True, "first_name": "Kabar", "username": self.username}

    def chat_json(self, chat: Chat) -> Json:
        if chat.kind == "private":
            person = self.world.person(chat.people[0])
            return {"id": int(chat.id), "type": "private", "first_name": person.name}
        if chat.kind == "forum":
            return {"id": int(chat.id), "type": "supergroup", "title": chat.title, "is_forum": True}
        return {"id": int(chat.id), "type": "group", "title": chat.title}

    def new_native(self, chat: Chat, sender: Json, *, thread: str, reply_to: str) -> Json:
        """A Message object with everything but its content. Raises Mistake where thread or reply_to is not there."""
        replied = self._native(chat, reply_to) if reply_to else None
        if reply_to and replied is None:
            raise Mistake("The message to reply to is gone.")
        if replied and not thread:
            thread = str(replied.get("message_thread_id", ""))
        native: Json = {
            "message_id": self._next_message_id(chat),
            "from": sender,
            "chat": self.chat_json(chat),
            "date": int(self.world.now()),
        }
        if thread and thread != _GENERAL_TOPIC:
            native |= {"message_thread_id": int(thread), "is_topic_message": True}
            native["reply_to_message"] = self._topic_root(chat, thread)
        if replied:
            native["reply_to_message"] = {name: replied[name] for name in replied if name != "reply_to_message"}
        return native

    def _native(self, chat: Chat, message_id: str | int) -> Json | None:
        return self.natives.get((chat.id, int(message_id))) if str(message_id).isdecimal() else None

    def _topic_root(self, chat: Chat, thread: str) -> Json:
        """The service message that opened a topic: Telegram shows every message in a topic as a reply to it."""
        topic = next((topic for topic in chat.topics if topic.id == thread), None)
        if topic is None:
            raise Mistake("There is no such topic.")
        return {
            "message_id": int(topic.id),
            "from": person_json(self.world.person(chat.people[0])),
            "chat": self.chat_json(chat),
            "date": 1_700_000_000,
            "message_thread_id": int(topic.id),
            "is_topic_message": True,
            "forum_topic_created": {"name": topic.name, "icon_color": 7322096},
        }

    def _next_message_id(self, chat: Chat) -> int:
        before = max([self._first_message, *(int(topic.id or 0) for topic in chat.topics)])
        newest = self._last_message.get(chat.id, before)
        self._last_message[chat.id] = newest + 1
        return newest + 1

    def attach(self, file: File, kind: str, seconds: int = 0) -> Json:
        """Keep a file; returns the field of the message that carries it. Raises Mistake where it can not be shown."""
        if kind not in KINDS:
            raise Mistake(f"Telegram has no {kind!r}.")
        size = picture_size(file.data)
        if kind == "photo" and size is None:
            raise Mistake(f"{file.name} is no picture.")
        stored = self._keep(file, kind)
        body: Json = {"file_id": stored.id, "file_unique_id": stored.id[-12:], "file_size": len(file.data)}
        width, height = size or (1, 1)
        if kind == "photo":
            return {"photo": [{**body, "width": width, "height": height}]}
        if kind == "video_note":
            return {kind: {**body, "length": 240, "duration": seconds}}
        if kind == "sticker":
            details = {"type": "regular", "width": width, "height": height, "is_animated": False, "is_video": False}
            return {kind: {**body, **details}}
        body["mime_type"] = file.media_type
        if kind != "voice":
            body["file_name"] = file.name
        if kind in ("voice", "audio", "video", "animation"):
            body["duration"] = seconds
        if kind in ("video", "animation"):
            body |= {"width": width, "height": height}
        return {kind: body}

    def _keep(self, file: File, kind: str) -> Stored:
        path = f"{_FOLDERS.get(kind, 'documents')}/file_{len(self.files)}_{file.name}"
        stored = Stored(f"FILE{secrets.token_hex(12)}", path, file)
        self.files[stored.id] = stored
        files.keep(self.world, file, stored.id)
        return stored

    def publish(self, native: Json, *, silent: bool = False) -> Message:
        """Keep a Message object, new or changed, and show it to people; ``silent``: without a sound, once for all."""
        chat_id = str(native["chat"]["id"])
        self.natives[(chat_id, native["message_id"])] = native
        message = self._seen(native)
        message.silent = silent
        before = self.world.messages.get(message.key)
        if before:
            message.at, message.delivery, message.reactions = before.at, before.delivery, before.reactions
            message.silent = before.silent
            changed = (message.text, message.entities) != (before.text, before.entities)
            message.edits = before.edits + changed
        return self.world.show(message)

    def retract(self, chat: str, message_id: int) -> None:
        self.natives.pop((chat, message_id))
        self.world.remove(self.world.messages[("telegram", chat, str(message_id))])

    def choose_updates(self, kinds: list[str]) -> None:
        """Which kinds of update the bot wants from now on; none means the default."""
        self.allowed_updates = frozenset(kinds) or _DEFAULT_UPDATES

    def new_poll(self) -> int:
        """Begin a long poll, which ends the one before."""
        self.latest_poll += 1
        self.world.wake()
        return self.latest_poll

    def confirm(self, offset: int) -> None:
        """Updates below the offset have arrived. A negative offset forgets all but the last -offset."""
        pending = self.webhook.pending
        kept = [*pending][offset:] if offset < 0 else [id for id in pending if id >= offset]
        for update in [update for update in pending.values() if update.id not in kept]:
            del pending[update.id]
            if update.message:
                self.world.deliver(update.message, Delivery("accepted", 200, 1))

    def reset(self) -> None:
        """Forget messages and files; message ids and update ids go on ascending."""
        for kept in (self.natives, self.files, self.queries, self.blocked, self.webhook.pending):
            kept.clear()

    def _seen(self, native: Json) -> Message:
        """A Message object as people see it."""
        is_bot = native["from"]["is_bot"]
        replied = native.get("reply_to_message", {})
        return Message(
            platform="telegram",
            chat=str(native["chat"]["id"]),
            id=str(native["message_id"]),
            thread=str(native.get("message_thread_id", "")),
            at=self.world.now(),
            author=native["from"]["first_name"],
            author_id="bot" if is_bot else self.world.person(native["from"]["id"]).id,
            is_bot=is_bot,
            text=native.get("text") or native.get("caption", "") or _told(native),
            album=native.get("media_group_id", ""),
            entities=native.get("entities") or native.get("caption_entities", []),
            quote=_quote(native, replied) if replied and "forum_topic_created" not in replied else None,
            buttons=_buttons(native),
            files=self._file_infos(native),
        )

    def _file_infos(self, native: Json) -> list[FileInfo]:
        return [
            files.info(self.world, (native[kind][-1] if kind == "photo" else native[kind])["file_id"], kind)
            for kind in KINDS
            if kind in native
        ]


def person_json(person: Person) -> Json:
    """A person as a Bot API User object."""
    return {
        "id": person.telegram_id,
        "is_bot": False,
        "first_name": person.name,
        "username": f"{person.id}_simulator",
        "language_code": person.language,
    }


def _usual_kind(file: File) -> str:
    return "photo" if picture_size(file.data) else "document"


def _albums(sent: Sequence[tuple[File, str]]) -> list[list[tuple[File, str]]]:
    """What Telegram's apps send together: up to ten photos and videos, or as many documents, or as much music."""
    albums: list[list[tuple[File, str]]] = []
    for file, kind in sent:
        family = album_family(kind)
        if family and albums and len(albums[-1]) < ALBUM_LIMIT and album_family(albums[-1][0][1]) == family:
            albums[-1].append((file, kind))
        else:
            albums.append([(file, kind)])
    return albums


def album_family(kind: str) -> str:
    """Files of one family can stand in one album; "" where none can."""
    return {"photo": "media", "video": "media", "document": "document", "audio": "audio"}.get(kind, "")


def _told(native: Json) -> str:
    """What a message without text shows, as text."""
    for name, tell in _TELLERS.items():
        if name in native:
            return tell(native[name])
    return ""


_TELLERS: dict[str, Callable[[Json], str]] = {
    "sticker": lambda sticker: str(sticker.get("emoji", "")),
    "venue": lambda venue: f"📍 {venue['title']}, {venue['address']}",
    "location": lambda location: f"📍 {location['latitude']}, {location['longitude']}",
    "contact": lambda contact: f"👤 {contact['first_name']}, {contact['phone_number']}",
    "poll": lambda poll: f"📊 {poll['question']} " + " / ".join(option["text"] for option in poll["options"]),
    "dice": lambda dice: f"{dice['emoji']} {dice['value']}",
}


def _words(text: str, entities: list[Json], *, caption: bool) -> Json:
    names: tuple[Literal["text", "caption"], str] = ("caption", "caption_entities") if caption else ("text", "entities")
    if caption and not text:
        return {}
    return {names[0]: text, names[1]: entities} if entities else {names[0]: text}


def _pieces(text: str) -> list[str]:
    """Cut where a Telegram app cuts: at the limit, between characters."""
    pieces = []
    while text:
        # Decoding drops half a character at the end.
        piece = text.encode("utf-16-le")[: 2 * TEXT_LIMIT].decode("utf-16-le", "ignore")
        pieces.append(piece)
        text = text[len(piece) :]
    return pieces


def _quote(native: Json, replied: Json) -> Quote:
    text = native.get("quote", {}).get("text") or replied.get("text") or replied.get("caption", "")
    return Quote(str(replied["message_id"]), replied["from"]["first_name"], text)


def _rows(native: Json) -> list[list[Json]]:
    rows: list[list[Json]] = native.get("reply_markup", {}).get("inline_keyboard", [])
    return rows


def _buttons(native: Json) -> list[list[Button]]:
    return [
        [Button(f"{r}.{c}", button["text"], url=button.get("url", "")) for c, button in enumerate(row)]
        for r, row in enumerate(_rows(native))
    ]


def _callback_data(native: Json, button: str) -> str | None:
    for r, row in enumerate(_rows(native)):
        for c, candidate in enumerate(row):
            if f"{r}.{c}" == button:
                data: str | None = candidate.get("callback_data")
                return data
    return None
