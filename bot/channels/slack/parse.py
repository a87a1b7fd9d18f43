"""A Slack envelope as an Inbound, or None where it does not concern the bot. Pure, and total: no envelope fails it.

Takes an ``event_callback`` of the Events API and a ``block_actions`` payload, as HTTP and Socket Mode bring them.
Runs where a webhook starts: standard library and msgspec only. Every field is read through ``fields``, which answers
with an empty value for whatever is missing or odd.
Source: docs.slack.dev/apis/events-api, docs.slack.dev/messaging/formatting-message-text.
"""

import hashlib
import re
from collections.abc import Iterator

from msgspec import Struct

from bot.channels.fields import number_at, object_at, objects_at, text_at
from bot.messages import Attachment, Inbound, Json, Kind, Person, Place, Quote

WRITTEN = frozenset({"", "file_share", "thread_broadcast", "me_message"})
"""Subtypes of a message that somebody wrote. All others are announcements, or echoes of what bots did."""

QUOTE_LIMIT = 4_000
LONGEST_VALUE = 100
"""Characters of a button's value that its tap's id takes in as they are; the key of a stored item has a limit."""

_COMMAND = re.compile(r"/([a-zA-Z0-9_-]{1,32})(?=\s|$)")
_ANGLED = re.compile(r"<([^<>\n]+)>")


class Workspace(Struct, frozen=True):
    """Where the app is installed, and its user there ("" where the envelope does not say)."""

    team: str
    bot: str


def parse(envelope: Json) -> Inbound | None:
    if envelope.get("type") == "block_actions":
        return _tapped(envelope)
    event, workspace = object_at(envelope, "event"), _workspace(envelope)
    if workspace.team and event.get("type") == "agent_session_stopped":
        return _stopped(event, workspace)
    if not workspace.team or event.get("type") not in ("message", "app_mention"):
        return None
    if event.get("subtype") == "message_changed":
        return _edited(event, workspace)
    return _written(event, event, workspace, kind="message")


# The things that concern us.


def _written(event: Json, message: Json, workspace: Workspace, kind: Kind) -> Inbound | None:
    """``event`` says where; ``message`` is what somebody wrote: the event itself, or what an edit made of it."""
    ts, user, text = (text_at(message, name) for name in ("ts", "user", "text"))
    channel = text_at(event, "channel")
    if not (ts and channel and user) or not _is_human(message, workspace):
        return None
    private = _is_private(channel)
    if not private and event.get("type") != "app_mention" and not _mentions(text, workspace.bot):
        return None
    readable = _readable(text, workspace.bot)
    attachments = tuple(_attachments(message))
    if not text and not attachments:
        return None
    edited = text_at(object_at(message, "edited"), "ts") or text_at(event, "ts")
    words, command = _split_command(readable or text)
    return Inbound(
        place=_place(workspace.team, channel, text_at(message, "thread_ts") or ("" if private else ts)),
        # An app_mention and a message event can tell of the same message: its ts is what they share.
        id=ts if kind == "message" else f"e{ts}.{edited}",
        order=ts if kind == "message" else f"{ts}.{edited}",
        sender=Person(f"slack:{workspace.team}:{user}"),
        sent_at=_seconds(ts if kind == "message" else edited),
        kind=kind,
        text=words,
        command=command,
        native_id=ts,
        quote=_shared(message, workspace),
        attachments=attachments,
    )


def _edited(event: Json, workspace: Workspace) -> Inbound | None:
    """Somebody changed their words. Slack also says so when it unfolds a link, and of every edit of our own."""
    message = object_at(event, "message")
    if text_at(message, "text") == text_at(object_at(event, "previous_message"), "text"):
        return None
    return _written(event, message, workspace, kind="edit")


def _stopped(event: Json, workspace: Workspace) -> Inbound | None:
    """Somebody pressed Slack's own Stop. Source: docs.slack.dev/reference/events/agent_session_stopped."""
    channel, user, ts = text_at(event, "channel"), text_at(event, "user"), text_at(event, "event_ts")
    if not (channel and user and ts):
        return None
    return Inbound(
        place=_place(workspace.team, channel, text_at(event, "thread_ts")),
        id=f"s{ts}",
        order=ts,
        sender=Person(f"slack:{workspace.team}:{user}"),
        sent_at=_seconds(ts),
        kind="stop",
    )


def _tapped(payload: Json) -> Inbound | None:
    action = next(iter(objects_at(payload, "actions")), {})
    message, container = object_at(payload, "message"), object_at(payload, "container")
    team, user = _workspace(payload).team, text_at(object_at(payload, "user"), "id")
    channel = text_at(object_at(payload, "channel"), "id") or text_at(container, "channel_id")
    ts = text_at(message, "ts") or text_at(container, "message_ts")
    name = text_at(action, "action_id")
    value = text_at(action, "value") or text_at(object_at(action, "selected_option"), "value") or name
    if not (team and user and channel and ts and value):
        return None
    thread = text_at(message, "thread_ts") or text_at(container, "thread_ts")
    return Inbound(
        place=_place(team, channel, thread or ("" if _is_private(channel) else ts)),
        id=f"c{ts}.{user}.{name}.{_short(value)}",
        order=ts,
        sender=Person(f"slack:{team}:{user}", text_at(object_at(payload, "user"), "name")),
        sent_at=_seconds(text_at(action, "action_ts") or ts),
        kind="tap",
        native_id=ts,
        data=value,
    )


# Who and where.


def _workspace(envelope: Json) -> Workspace:
    """The installation an envelope is for. Its own ``team_id`` may be the other company's in a shared channel."""
    authorization = next(iter(objects_at(envelope, "authorizations")), {})
    whole_organisation = (authorization or envelope).get("is_enterprise_install") in (True, "true")
    team = (
        text_at(authorization, "team_id")
        or (text_at(authorization, "enterprise_id") if authorization else "")
        or (text_at(object_at(envelope, "enterprise"), "id") if whole_organisation else "")
        or text_at(object_at(envelope, "team"), "id")
        or text_at(envelope, "team_id")
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


def _is_private(channel: str) -> bool:
    """Whether it is a direct message with one person: a tap does not say, but the id does."""
    return channel.startswith("D")


def _is_human(message: Json, workspace: Workspace) -> bool:
    """Whether a person wrote it. Bots are not answered, ourselves least of all: that would never stop."""
    if message.get("bot_id") or object_at(message, "bot_profile") or message.get("user") == workspace.bot:
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


def _readable(text: str, bot: str) -> str:
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


def _split_command(text: str) -> tuple[str, str]:
    """What follows the command, and the command. Slack keeps "/new" for itself unless a space or our name is before."""
    command = _COMMAND.match(text)
    return (text[command.end() :].strip(), command[1].lower()) if command else (text, "")


# What it refers to, and what is attached.


def _shared(message: Json, workspace: Workspace) -> Quote | None:
    """A message somebody shared into this one."""
    for attachment in objects_at(message, "attachments"):
        if attachment.get("is_share") is True or attachment.get("is_msg_unfurl") is True:
            text, author = text_at(attachment, "text"), text_at(attachment, "author_id")
            shown = _readable(text, "")
            name = text_at(attachment, "author_name") or author
            return Quote(shown[:QUOTE_LIMIT], name, ours=bool(author) and author == workspace.bot) if shown else None
    return None


def _attachments(message: Json) -> Iterator[Attachment]:
    for file in objects_at(message, "files"):
        media_type = text_at(file, "mimetype")
        family = media_type.partition("/")[0]
        yield Attachment(
            kind={"image": "photo", "audio": "audio", "video": "video"}.get(family, "document"),
            id=text_at(file, "id"),
            name=text_at(file, "name") or text_at(file, "title"),
            media_type=media_type,
            size=number_at(file, "size"),
        )
