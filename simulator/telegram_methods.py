"""The Bot API's methods, as strict as the real ones and with their words, over what ``telegram`` keeps.

Each method is one function of the same shape: ``async def name(telegram, params) -> result``; it raises ``Refused`` or
``BadRequest``. ``METHODS`` at the end names them. Unlike the real API: webhooks may be http and on any port, the old
parse mode "Markdown" is refused, and the rate of calls is limited only where ``Telegram.limit`` says so.
"""

import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

from simulator.deliver import Update
from simulator.telegram import Query, Telegram, album_family, person_json
from simulator.telegram_limits import ALBUM_LIMIT, DOWNLOAD_LIMIT, LINK_LIFETIME, UPLOAD_LIMIT, photo_sides
from simulator.telegram_text import CAPTION_LIMIT, BadRequest, formatted
from simulator.world import Chat, File, Json, Message, Mistake

_TYPING_SECONDS = 5
_DRAFT_SECONDS = 30
_ACTIONS = {
    "typing": "typing…",
    "upload_photo": "sending a photo…",
    "record_video": "recording a video…",
    "upload_video": "sending a video…",
    "record_voice": "recording a voice message…",
    "upload_voice": "sending a voice message…",
    "upload_document": "sending a file…",
    "choose_sticker": "choosing a sticker…",
    "find_location": "finding a location…",
    "record_video_note": "recording a video message…",
    "upload_video_note": "sending a video message…",
}


class Refused(Exception):
    """Any refusal but a 400."""

    def __init__(self, status: int, description: str) -> None:
        super().__init__(description)
        self.status = status


class Params:
    """The parameters of one call. Forms carry everything as text, JSON bodies carry values; both are read here."""

    def __init__(self, values: Json, files: dict[str, File] | None = None) -> None:
        self.values = values
        self.files = files or {}

    def text(self, name: str) -> str:
        value = self.values.get(name)
        if value is None:
            return ""
        return value if isinstance(value, str) else json.dumps(value)

    def number(self, name: str, default: int = 0) -> int:
        try:
            return int(self.values.get(name, default))
        except (TypeError, ValueError):
            raise BadRequest(f"invalid {name} specified") from None

    def flag(self, name: str) -> bool:
        return self.values.get(name) in (True, "true", "True", "1")

    def value(self, name: str, kind: type[Any], default: Any = None) -> Any:
        """A JSON value of one type; ``default`` where it is left out."""
        value = self.values.get(name, default)
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                raise BadRequest(f"can't parse {name} JSON object") from None
        if value is not None and not isinstance(value, kind):
            raise BadRequest(f"can't parse {name}: wrong type")
        return value

    def file(self, name: str, given: str = "") -> File | str:
        """An uploaded file, or the text that stands for one (a file_id or URL)."""
        given = given or self.text(name)
        if given.startswith("attach://"):
            given = given.removeprefix("attach://")
            if given not in self.files:
                raise BadRequest("can't find file to attach")
            return self.files[given]
        return self.files.get(name, given)


class BotApi:
    """The door the bot's calls come through."""

    def __init__(self, telegram: Telegram) -> None:
        self._telegram = telegram

    async def call(self, method: str, params: Params) -> tuple[int, Json]:
        """Carry out a method; returns the HTTP status and the body."""
        do = METHODS.get(method.lower())
        if do is None:
            return failure(404, "Not Found: method not found")
        if sum(len(file.data) for file in params.files.values()) > UPLOAD_LIMIT:
            return failure(413, "Request Entity Too Large")
        if wait := self._flooded(method.lower(), params):
            return failure(429, f"Too Many Requests: retry after {wait}", wait)
        try:
            result = await do(self._telegram, params)
        except BadRequest as refusal:
            return failure(400, f"Bad Request: {refusal}")
        except Refused as refusal:
            return failure(refusal.status, str(refusal))
        return 200, {"ok": True, "result": result}

    def _flooded(self, method: str, params: Params) -> int:
        """Seconds to wait: everything people see counts, but not the signs of life."""
        meter, chats = self._telegram.meter, self._telegram.world.chats
        if meter is None or not method.startswith(("send", "edit")) or method in _UNCOUNTED:
            return 0
        chat = next((chat for chat in chats if (chat.platform, chat.id) == ("telegram", params.text("chat_id"))), None)
        return meter.wait(chat) if chat else 0

    async def obey(self, call: Json) -> None:
        """Carry out a method call that came as a webhook's answer; nobody hears how it went."""
        values = {name: value for name, value in call.items() if name != "method"}
        with self._telegram.world.logged("telegram", call["method"], values) as log:
            _, body = await self.call(call["method"], Params(values))
            log.ok, log.error, log.result = body["ok"], body.get("description", ""), body.get("result")


_UNCOUNTED = ("sendchataction", "sendmessagedraft")


def failure(status: int, description: str, retry_after: int = 0) -> tuple[int, Json]:
    """The status and body of a refusal, as the Bot API writes it."""
    body: Json = {"ok": False, "error_code": status, "description": description}
    if retry_after:
        body["parameters"] = {"retry_after": retry_after}
    return status, body


# Shared by the methods.


def _chat(telegram: Telegram, params: Params) -> Chat:
    if not params.text("chat_id"):
        raise BadRequest("chat_id is empty")
    try:
        chat = telegram.world.chat("telegram", params.text("chat_id"))
    except Mistake:
        raise BadRequest("chat not found") from None
    if chat.id in telegram.blocked:
        raise Refused(403, "Forbidden: bot was blocked by the user")
    return chat


def _thread(chat: Chat, params: Params) -> str:
    thread = params.text("message_thread_id")
    # General has no thread: Telegram does not find a thread 1 either.
    if thread and not any(topic.id == thread for topic in chat.topics):
        raise BadRequest("message thread not found")
    return thread


def _text(params: Params, *, caption: bool = False) -> tuple[str, list[Json]]:
    prefix = "caption" if caption else "text"
    entities = params.value("caption_entities" if caption else "entities", list)
    limits = {"limit": CAPTION_LIMIT} if caption else {}
    return formatted(params.text(prefix), entities, params.text("parse_mode"), **limits)


def _words(text: str, entities: list[Json], *, caption: bool = False) -> Json:
    words: Json = {"caption" if caption else "text": text} if text else {}
    if entities:
        words["caption_entities" if caption else "entities"] = entities
    return words


def _markup(params: Params) -> Json:
    """The ``reply_markup`` field of the message, if there is one to show."""
    markup = params.value("reply_markup", dict)
    rows = (markup or {}).get("inline_keyboard")
    if not rows:
        return {}
    for button in (button for row in rows for button in row):
        if not isinstance(button, dict) or not button.get("text"):
            raise BadRequest("can't parse inline keyboard button: can't find field \"text\"")
        actions = set(button) - {"text", "style", "icon_custom_emoji_id"}
        if len(actions) != 1:
            raise BadRequest("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
        if "callback_data" in button and not 1 <= len(str(button["callback_data"]).encode()) <= 64:
            raise BadRequest("BUTTON_DATA_INVALID")
        if "url" in button and not re.match(r"(https?|tg)://.", str(button["url"])):
            raise BadRequest(f"inline keyboard button URL '{button['url']}' is invalid: Wrong HTTP URL")
    return {"reply_markup": {"inline_keyboard": rows}}


def _new_message(telegram: Telegram, params: Params, chat: Chat) -> Json:
    """A message of the bot without content, in its thread, with what it replies to."""
    thread = _thread(chat, params)
    reply = params.value("reply_parameters", dict, {})
    target = reply.get("message_id") or params.number("reply_to_message_id")
    replied = telegram.natives.get((chat.id, int(target))) if target else None
    if target and replied is None:
        if not (reply.get("allow_sending_without_reply") or params.flag("allow_sending_without_reply")):
            raise BadRequest("message to be replied not found")
        target = 0
    quote = reply.get("quote", "") if replied else ""
    if replied and quote not in (replied.get("text") or replied.get("caption", "")):
        raise BadRequest("QUOTE_TEXT_INVALID")
    native = telegram.new_native(chat, telegram.bot_json(), thread=thread, reply_to=str(target or ""))
    if quote:
        native["quote"] = {"text": quote, "position": 0, "is_manual": True}
    return native


def _publish(telegram: Telegram, native: Json, params: Params) -> Json:
    """Show a new message of the bot; it ends the typing sign and the draft of its thread."""
    message = telegram.publish(native, silent=params.flag("disable_notification"))
    telegram.world.sign("telegram", message.chat, message.thread, "", 0)
    for other in telegram.messages(message.chat, message.thread):
        if other.draft:
            telegram.world.remove(other)
    return native


def _to_edit(telegram: Telegram, chat: Chat, params: Params) -> Json:
    """The bot's own message that a call wants to change."""
    native = telegram.natives.get((chat.id, params.number("message_id")))
    if native is None:
        raise BadRequest("message to edit not found")
    if native["from"]["id"] != telegram.bot_id:
        raise BadRequest("message can't be edited")
    return native


def _change(telegram: Telegram, native: Json, content: Json, names: tuple[str, ...]) -> Json:
    """Replace the named fields. Raises BadRequest where nothing would change."""
    if all(native.get(name) == content.get(name) for name in names):
        raise BadRequest(
            "message is not modified: specified new message content and reply markup are exactly the same as a "
            "current content and reply markup of the message"
        )
    changed = {name: value for name, value in native.items() if name not in names}
    changed |= {**content, "edit_date": int(telegram.world.now())}
    telegram.publish(changed)
    return changed


# The methods.


async def get_me(telegram: Telegram, params: Params) -> Json:
    return {
        **telegram.bot_json(),
        "can_join_groups": telegram.can_join_groups,
        "can_read_all_group_messages": not telegram.privacy,
        "supports_inline_queries": False,
        "can_connect_to_business": False,
        "has_main_web_app": False,
    }


async def get_chat_administrators(telegram: Telegram, params: Params) -> list[Json]:
    """Whoever is named first in a group made it, and nobody else looks after it."""
    chat = _chat(telegram, params)
    if chat.kind == "private":
        raise BadRequest("there are no administrators in the private chat")
    creator = telegram.world.person(chat.people[0])
    return [{"status": "creator", "user": person_json(creator), "is_anonymous": False}]


async def set_webhook(telegram: Telegram, params: Params) -> bool:
    secret = params.text("secret_token")
    if not re.fullmatch(r"[A-Za-z0-9_-]{0,256}", secret):
        raise BadRequest("secret token contains unallowed characters")
    url = params.text("url")
    if url and not re.match(r"https?://[^/]", url):
        raise BadRequest("bad webhook: invalid webhook URL specified")
    _choose_updates(telegram, params)
    if params.flag("drop_pending_updates"):
        telegram.webhook.pending.clear()
    telegram.webhook.set(url, secret, params.number("max_connections", 40) or 40)
    telegram.world.wake()
    return True


async def delete_webhook(telegram: Telegram, params: Params) -> bool:
    if params.flag("drop_pending_updates"):
        telegram.webhook.pending.clear()
    telegram.webhook.set("", "")
    return True


def _choose_updates(telegram: Telegram, params: Params) -> None:
    """An empty list means the default again; left out, the last choice stays."""
    kinds = params.value("allowed_updates", list)
    if kinds is not None:
        telegram.choose_updates(kinds)


async def get_webhook_info(telegram: Telegram, params: Params) -> Json:
    webhook = telegram.webhook
    info: Json = {
        "url": webhook.url,
        "has_custom_certificate": False,
        "pending_update_count": len(webhook.pending),
        "max_connections": webhook.max_connections,
        "allowed_updates": sorted(telegram.allowed_updates),
    }
    if webhook.last_error:
        info |= {"last_error_date": int(webhook.last_error_at), "last_error_message": webhook.last_error}
    return info


async def get_updates(telegram: Telegram, params: Params) -> list[Json]:
    """Long polling. A later call ends an earlier one, as only one may wait."""
    webhook = telegram.webhook
    if webhook.url:
        raise Refused(
            409,
            "Conflict: can't use getUpdates method while webhook is active; "
            "use deleteWebhook to delete the webhook first",
        )
    _choose_updates(telegram, params)
    telegram.world.set_bot("connected")
    mine = telegram.new_poll()
    telegram.confirm(params.number("offset"))

    def ready() -> list[Update] | bool:
        return list(webhook.pending.values()) or telegram.latest_poll != mine or telegram.world.closed

    try:
        await telegram.world.wait_until(ready, min(params.number("timeout"), 50))
    except TimeoutError:
        return []
    if telegram.latest_poll != mine:
        raise Refused(
            409,
            "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
        )
    return [update.body for update in webhook.pending.values()][: params.number("limit", 100)]


async def send_message(telegram: Telegram, params: Params) -> Json:
    chat = _chat(telegram, params)
    text, entities = _text(params)
    if not text:
        raise BadRequest("message text is empty")
    markup = _markup(params)
    return _publish(telegram, {**_new_message(telegram, params, chat), **_words(text, entities), **markup}, params)


async def edit_message_text(telegram: Telegram, params: Params) -> Json:
    chat = _chat(telegram, params)
    text, entities = _text(params)
    if not text:
        raise BadRequest("message text is empty")
    content = {**_words(text, entities), **_markup(params)}
    native = _to_edit(telegram, chat, params)
    if "text" not in native:
        raise BadRequest("there is no text in the message to edit")
    return _change(telegram, native, content, ("text", "entities", "reply_markup"))


async def edit_message_reply_markup(telegram: Telegram, params: Params) -> Json:
    chat = _chat(telegram, params)
    return _change(telegram, _to_edit(telegram, chat, params), _markup(params), ("reply_markup",))


async def delete_message(telegram: Telegram, params: Params) -> bool:
    chat = _chat(telegram, params)
    native = telegram.natives.get((chat.id, params.number("message_id")))
    if native is None:
        raise BadRequest("message to delete not found")
    if native["from"]["id"] != telegram.bot_id and chat.kind != "private":
        raise BadRequest("message can't be deleted")
    telegram.retract(chat.id, native["message_id"])
    return True


async def send_chat_action(telegram: Telegram, params: Params) -> bool:
    chat = _chat(telegram, params)
    thread = _thread(chat, params)
    action = params.text("action")
    if action not in _ACTIONS:
        raise BadRequest("wrong parameter action in request")
    telegram.world.sign("telegram", chat.id, thread, _ACTIONS[action], _TYPING_SECONDS)
    return True


async def send_message_draft(telegram: Telegram, params: Params) -> bool:
    """A preview of an answer, in private chats only. It goes by itself after 30 s; ``can_stop`` shows a Stop button."""
    chat = _chat(telegram, params)
    if chat.kind != "private":
        raise BadRequest("TEXTDRAFT_PEER_INVALID")
    draft_id = params.number("draft_id")
    if not draft_id:
        raise BadRequest("RANDOM_ID_INVALID")
    text, entities = _text(params)
    draft = Message(
        platform="telegram",
        chat=chat.id,
        id=f"draft{draft_id}",
        thread=_thread(chat, params),
        at=telegram.world.now(),
        author="Kabar",
        author_id="bot",
        is_bot=True,
        text=text or "Thinking…",
        entities=entities,
        draft=True,
    )
    telegram.world.show(draft)
    if params.flag("can_stop"):
        telegram.world.sign("telegram", chat.id, draft.thread, "writing…", _DRAFT_SECONDS, stop=True)
    telegram.world.later(f"draft {chat.id} {draft_id}", _DRAFT_SECONDS, lambda: telegram.world.remove(draft))
    return True


async def answer_callback_query(telegram: Telegram, params: Params) -> bool:
    query: Query | None = telegram.queries.get(params.text("callback_query_id"))
    if query is None or telegram.world.now() > query.at + telegram.query_lifetime:
        raise BadRequest("query is too old and response timeout expired or query ID is invalid")
    text = params.text("text")
    if len(text) > 200:
        raise BadRequest("MESSAGE_TOO_LONG")
    if text:
        telegram.world.notice(text, alert=params.flag("show_alert"))
    return True


async def send_photo(telegram: Telegram, params: Params) -> Json:
    return await _send_file(telegram, params, "photo")


async def send_document(telegram: Telegram, params: Params) -> Json:
    return await _send_file(telegram, params, "document")


async def send_video(telegram: Telegram, params: Params) -> Json:
    return await _send_file(telegram, params, "video")


async def send_audio(telegram: Telegram, params: Params) -> Json:
    return await _send_file(telegram, params, "audio")


async def send_voice(telegram: Telegram, params: Params) -> Json:
    return await _send_file(telegram, params, "voice")


async def _send_file(telegram: Telegram, params: Params, kind: str) -> Json:
    chat = _chat(telegram, params)
    text, entities = _text(params, caption=True)
    markup = _markup(params)
    attached = _attached(telegram, kind, params.file(kind))
    words = _words(text, entities, caption=True)
    return _publish(telegram, {**_new_message(telegram, params, chat), **attached, **words, **markup}, params)


def _attached(telegram: Telegram, kind: str, given: File | str) -> Json:
    if isinstance(given, str):
        if not given:
            raise BadRequest(f"there is no {kind} in the request")
        if given not in telegram.files:
            raise BadRequest("wrong file identifier/HTTP URL specified")
        given = telegram.files[given].file
    if not given.data:
        raise BadRequest("file must be non-empty")
    if kind == "photo":
        photo_sides(given.data)
    return telegram.attach(given, kind)


async def send_media_group(telegram: Telegram, params: Params) -> list[Json]:
    """All of it, or nothing. One file alone is a message outside any album."""
    chat = _chat(telegram, params)
    items = params.value("media", list) or []
    _check_album(items)
    prepared = []
    for number, item in enumerate(items, 1):
        text, entities = _text(Params({"caption": "", **item}), caption=True)
        attached = _album_file(telegram, number, item["type"], params.file("media", str(item.get("media", ""))))
        prepared.append({**attached, **_words(text, entities, caption=True)})
    album = {"media_group_id": str(telegram.world.version)} if len(items) > 1 else {}
    return [_publish(telegram, {**_new_message(telegram, params, chat), **album, **file}, params) for file in prepared]


def _check_album(items: list[Any]) -> None:
    if not items:
        raise BadRequest("there are no messages to send")
    if len(items) > ALBUM_LIMIT:
        raise BadRequest("too many messages to send as an album")
    kinds = [str(item.get("type", "")) if isinstance(item, dict) else "" for item in items]
    for kind in kinds:
        if kind == "animation":
            raise BadRequest("can't parse InputMedia: type \"animation\" can't be used in sendMediaGroup")
        if not album_family(kind):
            raise BadRequest(f'can\'t parse InputMedia: type "{kind}" is unsupported')
    for kind in kinds:
        if kind in ("document", "audio") and any(other != kind for other in kinds):
            raise BadRequest(f"{kind} can't be mixed with other media types")


def _album_file(telegram: Telegram, number: int, kind: str, given: File | str) -> Json:
    """What the servers refuse of a picture is told with its place in the album."""
    try:
        return _attached(telegram, kind, given)
    except BadRequest as refusal:
        if str(refusal) in ("IMAGE_PROCESS_FAILED", "PHOTO_INVALID_DIMENSIONS"):
            raise BadRequest(f'failed to send message #{number} with the error message "{refusal}"') from None
        raise


async def get_file(telegram: Telegram, params: Params) -> Json:
    stored = telegram.files.get(params.text("file_id"))
    if stored is None:
        raise BadRequest("invalid file_id")
    size = len(stored.file.data)
    if size > DOWNLOAD_LIMIT:
        raise BadRequest("file is too big")
    stored.link_until = telegram.world.now() + LINK_LIFETIME
    return {"file_id": stored.id, "file_unique_id": stored.id[-12:], "file_size": size, "file_path": stored.path}


async def set_my_commands(telegram: Telegram, params: Params) -> bool:
    commands = params.value("commands", list) or []
    for command in commands:
        if not re.fullmatch(r"[a-z0-9_]{1,32}", str(command.get("command", ""))):
            raise BadRequest("BOT_COMMAND_INVALID")
        if not 1 <= len(str(command.get("description", ""))) <= 256:
            raise BadRequest("BOT_COMMAND_DESCRIPTION_INVALID")
    telegram.commands[params.text("language_code")] = commands
    if not params.text("language_code"):
        telegram.world.commands = commands
        telegram.world.emit("commands", commands)
    return True


async def get_my_commands(telegram: Telegram, params: Params) -> list[Json]:
    """Of one language only: what people see falls back to the commands without a language, this does not."""
    return telegram.commands.get(params.text("language_code"), [])


async def set_message_reaction(telegram: Telegram, params: Params) -> bool:
    chat = _chat(telegram, params)
    message = telegram.world.messages.get(("telegram", chat.id, params.text("message_id")))
    if message is None:
        raise BadRequest("message to react not found")
    reactions = params.value("reaction", list) or []
    if len(reactions) > 1:
        raise BadRequest("REACTIONS_TOO_MANY")
    message.reactions = [str(reaction.get("emoji", "")) for reaction in reactions]
    telegram.world.show(message)
    return True


METHODS: dict[str, Callable[[Telegram, Params], Awaitable[Any]]] = {
    "getme": get_me,
    "getchatadministrators": get_chat_administrators,
    "setwebhook": set_webhook,
    "deletewebhook": delete_webhook,
    "getwebhookinfo": get_webhook_info,
    "getupdates": get_updates,
    "sendmessage": send_message,
    "editmessagetext": edit_message_text,
    "editmessagereplymarkup": edit_message_reply_markup,
    "deletemessage": delete_message,
    "sendchataction": send_chat_action,
    "sendmessagedraft": send_message_draft,
    "answercallbackquery": answer_callback_query,
    "sendphoto": send_photo,
    "senddocument": send_document,
    "sendvideo": send_video,
    "sendaudio": send_audio,
    "sendvoice": send_voice,
    "sendmediagroup": send_media_group,
    "getfile": get_file,
    "setmycommands": set_my_commands,
    "getmycommands": get_my_commands,
    "setmessagereaction": set_message_reaction,
}
"""By name in lower case: the Bot API does not look at the case."""
