"""A Slack envelope as an Inbound, or None where it does not concern the bot. Pure, and total: no envelope fails it.

Takes an ``event_callback`` of the Events API, a ``block_actions`` or ``message_action`` payload and a slash command, as
HTTP and Socket Mode bring them. Runs where a webhook starts: standard library and msgspec only. Every field is read
through ``fields``, which answers with an empty value for whatever is missing or odd.
Source: docs.slack.dev/apis/events-api, docs.slack.dev/interactivity, docs.slack.dev/messaging/formatting-message-text.
"""

import hashlib
import re
from collections.abc import Iterator
from html import escape
from typing import Literal

from msgspec import Struct

from bot.channels.fields import number_at, object_at, objects_at, text_at
from bot.messages import Attachment, Inbound, Json, Kind, Person, Place, Quote

WRITTEN = frozenset({"", "file_share", "thread_broadcast", "me_message"})
"""Subtypes of a message that somebody wrote. All others are announcements, or echoes of what bots did."""

SLACKBOT = "USLACKBOT"
"""Slack's own voice. It carries no bot_id."""
SHORTCUT = "ask_kabar"
"""The callback id of the message shortcut."""
HOME = "home:"
"""Begins the block ids of the home tab's buttons; the direct message that they are about follows."""
QUOTE_LIMIT = 4_000
LONGEST_SIGN = 300
"""Characters of a question shown while it is worked at."""
LONGEST_VALUE = 100
"""Characters of a button's value that its tap's id takes in as they are; the key of a stored item has a limit."""

_COMMAND = re.compile(r"/([a-zA-Z0-9_-]{1,32})(?=\s|$)")
_THREAD_COMMAND = re.compile(r"!([a-zA-Z][a-zA-Z0-9_-]{0,31})(?=\s|$)")
_WORD = re.compile(r"/?([a-zA-Z0-9_-]{1,32})(?=\s|$)")
_GONE_FILES = {
    "tombstone": "The file was deleted.",
    "hidden_by_limit": "The file is older than what this Slack workspace's plan shows.",
}
_ANGLED = re.compile(r"<([^<>\n]+)>")


class Workspace(Struct, frozen=True):
    """Where the app is installed, and its user there ("" where the envelope does not say)."""

    team: str
    bot: str


def parse(envelope: Json, now: int = 0) -> Inbound | None:
    """``now``, in Unix seconds, is when it came: a slash command does not say."""
    match envelope.get("type"):
        case "block_actions":
            return _tapped(envelope)
        case "message_action":
            return _pointed_at(envelope)
        case "event_callback":
            return _happened(object_at(envelope, "event"), _workspace(envelope))
        case None if "command" in envelope:
            return _commanded(envelope, now)
    return None


class Departed(Struct, frozen=True):
    """The app is no longer installed there, since this Unix time."""

    team: str
    at: int


def departed(envelope: Json) -> Departed | None:
    """What the end of an installation tells. It comes as two events, in any order, and perhaps late."""
    event = object_at(envelope, "event")
    revoked = event.get("type") == "tokens_revoked" and bool(object_at(event, "tokens").get("bot"))
    team = _workspace(envelope).team
    if envelope.get("type") != "event_callback" or not team or not (revoked or event.get("type") == "app_uninstalled"):
        return None
    return Departed(team, number_at(envelope, "event_time"))


# The things that concern us.


def _happened(event: Json, workspace: Workspace) -> Inbound | None:
    if not workspace.team:
        return None
    match event.get("type"):
        case "message" if event.get("subtype") == "message_changed":
            return _edited(event, workspace)
        case "message" | "app_mention":
            return _written(event, event, workspace, kind="message")
        case "app_home_opened" if event.get("tab") in ("home", "messages", None):
            return _noticed(event, workspace, "opened")
        case "assistant_thread_started":
            thread = object_at(event, "assistant_thread")
            where = {"user": thread.get("user_id"), "channel": thread.get("channel_id")}
            return _noticed({**event, **where, "thread_ts": thread.get("thread_ts")}, workspace, "opened")
        case "agent_session_stopped":
            return _noticed(event, workspace, "stop")
    return None


def _written(event: Json, message: Json, workspace: Workspace, kind: Kind) -> Inbound | None:
    """``event`` says where; ``message`` is what somebody wrote: the event itself, or what an edit made of it."""
    ts, user, text = (text_at(message, name) for name in ("ts", "user", "text"))
    channel, thread = text_at(event, "channel"), text_at(message, "thread_ts")
    if not (ts and channel and user) or not _is_human(message, workspace):
        return None
    private = _is_private(channel)
    addressed = private or event.get("type") == "app_mention" or _mentions(text, workspace.bot)
    if not addressed and not thread:
        return None
    words = readable(text, workspace.bot)
    attachments = tuple(_attachments(message))
    quote = _shared(message, workspace)
    if not text and not attachments and quote is None:
        return None
    edited = text_at(object_at(message, "edited"), "ts") or text_at(event, "ts")
    words, command = _split_command(words or text, in_thread=bool(thread))
    return Inbound(
        place=_place(workspace.team, channel, _thread(channel, ts, thread)),
        # An app_mention and a message event can tell of the same message: its ts is what they share.
        id=ts if kind == "message" else f"e{ts}.{edited}",
        order=ts if kind == "message" else f"{ts}.{edited}",
        sender=Person(f"slack:{workspace.team}:{user}"),
        sent_at=_seconds(ts if kind == "message" else edited),
        kind=kind,
        text=words,
        command=command,
        native_id=ts,
        quote=quote,
        attachments=attachments,
        addressed=addressed,
    )


def _edited(event: Json, workspace: Workspace) -> Inbound | None:
    """Somebody changed their words. Slack also says so when it unfolds a link, and of every edit of our own."""
    message = object_at(event, "message")
    if text_at(message, "text") == text_at(object_at(event, "previous_message"), "text"):
        return None
    return _written(event, message, workspace, kind="edit")


def _noticed(event: Json, workspace: Workspace, kind: Literal["opened", "stop"]) -> Inbound | None:
    """Somebody opened the app's page or its messages, or pressed Slack's own Stop. ``event_ts`` comes with a point and
    without. Source: docs.slack.dev/reference/events/agent_session_stopped."""
    channel, user, ts = text_at(event, "channel"), text_at(event, "user"), text_at(event, "event_ts")
    if not (channel and user and ts):
        return None
    ts = ts if "." in ts else f"{ts[:10]}.{ts[10:]}"
    return Inbound(
        place=_place(workspace.team, channel, text_at(event, "thread_ts")),
        id=f"{kind[0]}{ts}",
        order=ts,
        sender=Person(f"slack:{workspace.team}:{user}"),
        sent_at=_seconds(ts),
        kind=kind,
    )


def _tapped(payload: Json) -> Inbound | None:
    action = next(iter(objects_at(payload, "actions")), {})
    if text_at(object_at(payload, "view"), "type") == "home":
        return _tapped_at_home(payload, action)
    message, container = object_at(payload, "message"), object_at(payload, "container")
    team, user = _workspace(payload).team, text_at(object_at(payload, "user"), "id")
    channel = text_at(object_at(payload, "channel"), "id") or text_at(container, "channel_id")
    ts = text_at(message, "ts") or text_at(container, "message_ts")
    name = text_at(action, "action_id")
    value = _choice(action) or name
    if not (team and user and channel and ts and value):
        return None
    thread = text_at(message, "thread_ts") or text_at(container, "thread_ts")
    again = f".{text_at(action, 'action_ts')}" if action.get("type") == "feedback_buttons" else ""  # a mind may change
    quiet = container.get("is_ephemeral") is True  # no message of the channel: it begins no thread, nothing edits it
    return Inbound(
        place=_place(team, channel, thread if quiet else _thread(channel, ts, thread)),
        id=f"c{ts}.{user}.{_short(name)}.{_short(value)}{again}",
        order=ts,
        sender=Person(f"slack:{team}:{user}", text_at(object_at(payload, "user"), "name")),
        sent_at=_seconds(text_at(action, "action_ts") or ts),
        kind="tap",
        native_id="" if quiet else ts,
        data=value,
        quiet=quiet,
    )


def _tapped_at_home(payload: Json, action: Json) -> Inbound | None:
    """The home tab is no message, so the tap has none: that tab shows the answer, or a message of its own does."""
    team, user = _workspace(payload).team, text_at(object_at(payload, "user"), "id")
    channel = text_at(action, "block_id").removeprefix(HOME).partition(":")[0]
    ts, value = text_at(action, "action_ts"), _choice(action)
    if not (team and user and ts and value and _is_private(channel)):
        return None
    return Inbound(
        place=_place(team, channel, ""),
        id=f"c{ts}.{user}.{_short(value)}",
        order=ts,
        sender=Person(f"slack:{team}:{user}", text_at(object_at(payload, "user"), "name")),
        sent_at=_seconds(ts),
        kind="tap",
        data=value,
    )


def _choice(action: Json) -> str:
    """What a tap chose: a button's value, feedback's too, or the entry of a menu."""
    chosen = object_at(action, "selected_option")
    many = [text_at(option, "value") for option in objects_at(action, "selected_options")]
    one = text_at(action, "value") or text_at(chosen, "value") or ",".join(many)
    return one or text_at(action, "selected_user") or text_at(action, "selected_conversation")


def _pointed_at(payload: Json) -> Inbound | None:
    """The message shortcut: somebody asks about a message, which may be anybody's. Answered in its thread."""
    message, user = object_at(payload, "message"), object_at(payload, "user")
    team, who, channel = _workspace(payload).team, text_at(user, "id"), text_at(object_at(payload, "channel"), "id")
    ts = text_at(message, "ts") or text_at(payload, "message_ts")
    at = text_at(payload, "action_ts")
    if text_at(payload, "callback_id") != SHORTCUT or not (team and who and channel and ts and at):
        return None
    app = text_at(payload, "api_app_id")
    quote = Quote(
        readable(text_at(message, "text"), "")[:QUOTE_LIMIT],
        author_of(message),
        ours=bool(app) and text_at(message, "app_id") == app,
        attachments=tuple(_attachments(message)),
    )
    return Inbound(
        place=_place(team, channel, _thread(channel, ts, text_at(message, "thread_ts"))),
        id=f"a{ts}.{who}.{at}",
        order=at,
        sender=Person(f"slack:{team}:{who}", text_at(user, "name")),
        sent_at=_seconds(at),
        native_id=ts,
        quote=quote,
    )


def _commanded(form: Json, now: int) -> Inbound | None:
    """A slash command: its first word is ours, where it looks like one. Slack sends it once, and not from threads."""
    team, channel, user = _workspace(form).team, text_at(form, "channel_id"), text_at(form, "user_id")
    trigger = text_at(form, "trigger_id")
    if not (team and channel and user and trigger):
        return None
    text = readable(text_at(form, "text"), "")
    word = _WORD.match(text)
    return Inbound(
        place=_place(team, channel, ""),
        id=f"x{trigger}",
        order=f"{now}.000000",
        sender=Person(f"slack:{team}:{user}", text_at(form, "user_name")),
        sent_at=now,
        text=text[word.end() :].strip() if word else text,
        command=word[1].lower() if word else "" if text else "help",
        quiet=True,
    )


def sign_reply(inbound: Inbound) -> Json | None:
    """What the request of a slash command is answered with where its answer takes the model: at once, and to whoever
    typed it alone, what they asked. Slack shows nothing of a command by itself, and no sign of life outside threads."""
    if not inbound.quiet or inbound.kind != "message":
        return None
    from bot.commands import as_words  # what a start of the webhook need not load

    asked = as_words(inbound)
    if asked.command:
        return None
    words = asked.text if len(asked.text) <= LONGEST_SIGN else f"{asked.text[:LONGEST_SIGN]}…"
    return {"response_type": "ephemeral", "text": f"⏳ {escape(words, quote=False)}"}


# Who and where.


def _workspace(envelope: Json) -> Workspace:
    """The installation an envelope is for. Its own ``team_id`` may be the other company's in a shared channel; where
    the app is installed for a whole organisation, every workspace of it is named by that."""
    authorization = next(iter(objects_at(envelope, "authorizations")), {})
    of = authorization or envelope
    enterprise = text_at(authorization, "enterprise_id") or text_at(object_at(envelope, "enterprise"), "id")
    enterprise = enterprise or text_at(envelope, "context_enterprise_id") or text_at(envelope, "enterprise_id")
    team = (
        (enterprise if of.get("is_enterprise_install") in (True, "true") else "")
        or text_at(authorization, "team_id")
        or text_at(authorization, "enterprise_id")
        or text_at(object_at(envelope, "team"), "id")
        or text_at(envelope, "context_team_id")
        or text_at(envelope, "team_id")
        or text_at(envelope, "enterprise_id")
    )
    return Workspace(team, text_at(authorization, "user_id") if authorization.get("is_bot") is True else "")


def _place(team: str, channel: str, thread: str) -> Place:
    conversation = f"slack:{team}:{channel}"
    return Place(
        conversation=f"{conversation}:{thread}" if thread else conversation,
        chat=channel,
        thread=thread,
        team=team,
        group=not _is_private(channel),
    )


def _thread(channel: str, ts: str, thread: str) -> str:
    """The thread a message's conversation is in. In a channel every message begins one; in direct messages one that
    begins a thread is still outside it."""
    if _is_private(channel):
        return "" if thread == ts else thread
    return thread or ts


def _is_private(channel: str) -> bool:
    """Whether it is a direct message with one person: a tap does not say, but the id does."""
    return channel.startswith("D")


def _is_human(message: Json, workspace: Workspace) -> bool:
    """Whether a person wrote it. Bots are not answered, ourselves least of all: that would never stop."""
    if message.get("bot_id") or object_at(message, "bot_profile") or message.get("user") in (workspace.bot, SLACKBOT):
        return False
    return text_at(message, "subtype") in WRITTEN


def _seconds(ts: str) -> int:
    whole = ts.partition(".")[0]
    return int(whole) if whole.isascii() and whole.isdecimal() and len(whole) <= 12 else 0


def _short(value: str) -> str:
    return value if len(value) <= LONGEST_VALUE else hashlib.sha256(value.encode()).hexdigest()


# What was said.


def _mentions(text: str, user: str) -> bool:
    return bool(user) and re.search(rf"<@{re.escape(user)}(\|[^>]*)?>", text) is not None


def readable(text: str, bot: str) -> str:
    """Slack's markup as a model can read it: our own name cut out, other names and links written out."""
    if bot:
        text = re.sub(rf" ?<@{re.escape(bot)}(\|[^>]*)?>", "", text)
    text = _ANGLED.sub(lambda match: _written_out(match[1]), text)
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").strip()


def _written_out(markup: str) -> str:
    """What stands between angle brackets: ``@U1|ann``, ``#C1|general``, ``!here``, ``https://e.example|a link``."""
    target, _, label = markup.partition("|")
    match target[:1]:
        case "@":
            return f"@{label} ({target[1:]})" if label else target
        case "#":
            return f"#{label}" if label else target
        case "!":
            name = target[1:].partition("^")[2] or target[1:]
            return label or f"@{name}"
        case _:
            address = target.removeprefix("mailto:")
            return address if label in ("", address) else f"{label} ({address})"


def _split_command(text: str, *, in_thread: bool) -> tuple[str, str]:
    """What follows the command, and the command. Slack keeps "/new" for itself unless a space or our name is before,
    and all the more in threads: there "!new" does as well."""
    command = _COMMAND.match(text) or (_THREAD_COMMAND.match(text) if in_thread else None)
    return (text[command.end() :].strip(), command[1].lower()) if command else (text, "")


# What it refers to, and what is attached.


def author_of(message: Json) -> str:
    """Whose message it is: a person's id, a bot's name."""
    profile = text_at(object_at(message, "bot_profile"), "name") or text_at(message, "username")
    return profile if message.get("bot_id") and profile else text_at(message, "user")


def _shared(message: Json, workspace: Workspace) -> Quote | None:
    """A message somebody shared into this one."""
    for share in objects_at(message, "attachments"):
        if share.get("is_share") is not True and share.get("is_msg_unfurl") is not True:
            continue
        text, author = readable(text_at(share, "text"), ""), text_at(share, "author_id")
        files = tuple(_attachments(share))
        name = text_at(share, "author_name") or author
        if text or files:
            return Quote(text[:QUOTE_LIMIT], name, ours=bool(author) and author == workspace.bot, attachments=files)
    return None


def _attachments(message: Json) -> Iterator[Attachment]:
    yield from map(_attachment, objects_at(message, "files"))


def _attachment(file: Json) -> Attachment:
    media_type = text_at(file, "mimetype")
    family = media_type.partition("/")[0]
    kind = {"image": "photo", "audio": "audio", "video": "video"}.get(family, "document")
    return Attachment(
        kind="voice" if text_at(file, "subtype") == "slack_audio" else kind,
        id=text_at(file, "id"),
        name=text_at(file, "name") or text_at(file, "title"),
        media_type=media_type,
        size=number_at(file, "size"),
        problem=_GONE_FILES.get(text_at(file, "mode"), ""),
    )
