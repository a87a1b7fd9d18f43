"""A local Slack: what people do in it, and what it keeps. The bot's side is in ``slack_methods``.

The truth is message objects as the Web API shows them (``posts``); what the page shows is derived from them.
"""

import copy
import random
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from urllib.parse import quote

from msgspec import Struct, field

from simulator import files
from simulator.deliver import SlackEvents
from simulator.slack_rates import Rate
from simulator.world import Button, Chat, File, FileInfo, Json, Message, Mistake, Person, Task, World

BOT_TOKEN = "xoxb-simulator"
APP_TOKEN = "xapp-simulator"
CONFIG_TOKEN = "xoxe.xoxp-simulator"
"""Reads and changes what apps are; a person makes one for half a day."""
SIGNING_SECRET = "simulator-signing-secret"

TEAM = "T0KABAR"
APP = "A0KABAR"
BOT_USER = "U0KABAR"
BOT = "B0KABAR"
ANN_DM = "D0ANN"
BUDI_DM = "D0BUDI"
SARI_DM = "D0SARI"
GENERAL = "C0GENERAL"
CHATS = (
    Chat("slack", ANN_DM, "private", "Kabar", ("ann",)),
    Chat("slack", BUDI_DM, "private", "Kabar", ("budi",)),
    Chat("slack", SARI_DM, "private", "Kabar", ("sari",)),
    Chat("slack", GENERAL, "channel", "general", ("ann", "budi", "sari")),
)


class Workspace(Struct, frozen=True):
    """A Slack workspace, or with ``enterprise`` one of an organisation for all of which the app is installed."""

    team: str = TEAM
    name: str = "Simulator"
    bot_user: str = BOT_USER
    bot: str = BOT
    chats: tuple[Chat, ...] = CHATS
    enterprise: str = ""


SECOND = Workspace(
    "T1SECOND",
    "Second",
    "U1KABAR",
    "B1KABAR",
    (
        Chat("slack", "D1ANN", "private", "Kabar", ("ann",)),
        Chat("slack", "D1BUDI", "private", "Kabar", ("budi",)),
        Chat("slack", "C1GENERAL", "channel", "general", ("ann", "budi")),
    ),
)
GRID = Workspace(
    "T2GRID",
    "Grid",
    "U2KABAR",
    "B2KABAR",
    (
        Chat("slack", "D2ANN", "private", "Kabar", ("ann",)),
        Chat("slack", "C2GENERAL", "channel", "general", ("ann", "budi")),
    ),
    "E2GRID",
)
"""Others, for an app that many install (``Simulator.join``). People have the same ids everywhere."""

SCOPES = frozenset(
    {
        "app_mentions:read",
        "assistant:write",
        "channels:history",
        "channels:read",
        "chat:write",
        "commands",
        "files:read",
        "files:write",
        "groups:history",
        "im:history",
        "im:write",
        "mpim:history",
        "reactions:write",
        "users:read",
    }
)


class Stream(Struct):
    """What ``chat.startStream`` opened. ``began`` is in Unix seconds; ``mode`` is how its text comes: as chunks, as
    markdown_text, or "" where nothing came yet."""

    began: float
    mode: str = ""
    stopped_by_user: bool = False
    open: bool = True


class Post(Struct):
    """``native`` is the message as the API shows it, metadata included. ``markdown`` is what came as markdown_text or
    through a stream, whose ``tasks`` are kept by id."""

    native: Json
    markdown: str = ""
    stream: Stream | None = None
    plan: str = ""
    tasks: dict[str, Task] = field(default_factory=dict)

    @property
    def streaming(self) -> bool:
        return self.stream is not None and self.stream.open


class Slack:
    """One workspace. Public: ``say``, ``edit``, ``delete``, ``tap``, ``stop``, ``command``, ``shortcut``,
    ``open_home``, ``tap_home``, ``uninstall``, ``push`` (people), ``messages``, ``wait_for``."""

    def __init__(
        self,
        world: World,
        events: SlackEvents,
        bot_token: str = BOT_TOKEN,
        app_token: str = APP_TOKEN,
        workspace: Workspace = Workspace(),  # noqa: B008 - a frozen value
    ) -> None:
        self.workspace = workspace
        self.world = world
        self.events = events
        self.bot_token = bot_token
        self.app_token = app_token
        self.echo = True
        """Whether the bot hears of its own messages, as it does on the real Slack."""
        self.posts: dict[tuple[str, str], Post] = {}
        self.ephemerals: dict[tuple[str, str], Post] = {}
        self.file_objects: dict[str, Json] = {}
        """Files as the API shows them; their bytes are in ``world.files`` under the same ids."""
        self.uploads: dict[str, Json] = {}
        """What ``files.getUploadURLExternal`` gave out, until ``files.completeUploadExternal`` shares it."""
        self.revoked: set[str] = set()
        """Tokens that were good here."""
        self.expires: dict[str, float] = {}
        """When tokens end that do, in Unix seconds."""
        self.scopes = SCOPES
        """What the bot's token may do."""
        self.manifest: Json = {}
        """What the app is, as ``apps.manifest.export`` tells it."""
        self.absent: set[str] = set()
        """Channels that the bot is not in."""
        self.stream_seconds: float = 300
        """How long a stream lives, with or without appends: about five minutes, as people report."""
        self.rates: dict[str, Rate] = {}
        """How often each method may be called; nothing is limited by default."""
        self.tickets: set[str] = set()
        """Socket Mode addresses that were handed out and not used yet."""
        self._last_ts = 0
        self.chats: list[Chat] = []
        for chat in workspace.chats:
            self.open(chat)

    def open(self, chat: Chat) -> None:
        """A channel, or somebody's direct messages, that the bot is in."""
        self.chats.append(chat)
        self.world.chats.append(chat)

    # What people do.

    async def say(
        self,
        channel: str,
        user: str,
        text: str = "",
        thread_ts: str | None = None,
        *,
        file: File | None = None,
        files: Iterable[File] = (),
        share: str = "",
    ) -> Message:
        """A person writes, in a thread where ``thread_ts`` is its root. Raises Mistake.

        ``text`` is as typed; "@Kabar" is understood as a mention. ``share`` is the ts of a message of the same channel
        that is shared along.
        """
        chat = self.world.chat("slack", channel)
        sender = self.world.member(chat, user)
        shared = [file, *files] if file else [*files]
        if not text.strip() and not shared and not share:
            raise Mistake("The message is empty.")
        if thread_ts and not self.is_root(chat.id, thread_ts):
            raise Mistake("The message that begins the thread is gone.")
        typed = self._typed(text.strip())
        native: Json = {**self._person_fields(sender), "text": typed, "blocks": [_rich_text(typed)]}
        if share:
            native["attachments"] = [self._share(chat, share)]
        if shared:
            objects = [self.attach(each, sender.slack_id) for each in shared]
            native |= {"subtype": "file_share", "files": objects}
        message = self.publish(chat.id, Post(native), thread_ts or "")
        event = {**native, "channel": chat.id, "channel_type": _channel_type(chat), "event_ts": native["ts"]}
        mention = {name: value for name, value in event.items() if name not in ("channel_type", "subtype")}
        mentioned = chat.kind == "channel" and f"<@{self.workspace.bot_user}>" in typed
        kinds = [event, {**mention, "type": "app_mention"}] if mentioned else [event]
        # Which of the two comes first is chance on the real Slack, too.
        for body in random.sample(kinds, len(kinds)):
            self.push(body, message)
        return message

    async def edit(self, channel: str, user: str, ts: str, text: str) -> Message:
        """A person changes a message of their own. Raises Mistake."""
        chat = self.world.chat("slack", channel)
        sender, post = self._own_post(chat, user, ts)
        if not text.strip():
            raise Mistake("The message is empty.")
        before = copy.deepcopy(post.native)
        typed = self._typed(text.strip())
        post.native |= {"text": typed, "blocks": [_rich_text(typed)]}
        post.native["edited"] = {"user": sender.slack_id, "ts": self.new_ts()}
        message = self.republish(chat.id, post)
        self.push_change(chat.id, before, post.native, message)
        return message

    async def delete(self, channel: str, user: str, ts: str) -> None:
        """A person deletes a message of their own. Raises Mistake."""
        chat = self.world.chat("slack", channel)
        self._own_post(chat, user, ts)
        self.retract(chat.id, ts)

    async def tap(self, channel: str, user: str, ts: str, button: str = "0.0") -> None:
        """A person taps a button ("<row>.<column>"). Raises Mistake."""
        chat = self.world.chat("slack", channel)
        sender = self.world.member(chat, user)
        post = self.posts.get((chat.id, ts)) or self.ephemerals.get((chat.id, ts))
        found = dict(_elements(post.native)).get(button) if post else None
        if post is None or found is None:
            raise Mistake("There is no such button any more.")
        ephemeral = (chat.id, ts) in self.ephemerals
        # An ephemeral message is kept nowhere: a tap on it carries only where it was.
        message = {} if ephemeral else {"message": _without_metadata(post.native)}
        container = {
            "type": "message",
            "message_ts": ts,
            "channel_id": chat.id,
            "is_ephemeral": ephemeral,
            **({"thread_ts": post.native["thread_ts"]} if "thread_ts" in post.native else {}),
        }
        self._send_tap(sender, found, {"container": container, "channel": _named(chat), **message})

    async def tap_home(self, user: str, button: str) -> None:
        """A person taps a button of the app's home. Raises Mistake."""
        person = self.world.person(user)
        view = self.world.homes.get(person.slack_id, {})
        found = dict(_elements(view)).get(button)
        if found is None:
            raise Mistake("There is no such button any more.")
        native = {name: value for name, value in view.items() if name != "buttons"}
        self._send_tap(person, found, {"container": {"type": "view", "view_id": view["id"]}, "view": native})

    def _send_tap(self, by: Person, element: Json, where: Json) -> None:
        shown = ("type", "action_id", "block_id", "text", "value", "style")
        action = {name: element[name] for name in shown if name in element}
        self.events.send_interaction(
            {
                "type": "block_actions",
                "user": {"id": by.slack_id, "username": by.id, "name": by.id, "team_id": self.workspace.team},
                "api_app_id": APP,
                "trigger_id": secrets.token_hex(8),
                **self._envelope(),
                **where,
                "actions": [{**action, "action_ts": self.new_ts()}],
            }
        )

    async def stop(self, channel: str, user: str, thread_ts: str) -> None:
        """A person presses the Stop button that Slack shows while the bot's session is processing. Slack ends the
        streams in that thread itself; the session's status stays until the bot changes it."""
        chat = self.world.chat("slack", channel)
        person = self.world.member(chat, user)
        streams = [post for post in self.thread(chat.id, thread_ts) if post.streaming]
        for post in streams:
            self.close_stream(chat.id, post, by_user=True)
        stopped = {"type": "agent_session_stopped", "channel": chat.id, "thread_ts": thread_ts}
        ended = [post.native["ts"] for post in streams]
        self.push({**stopped, "user": person.slack_id, "event_ts": self.new_ts(), "streaming_message_ts": ended})

    async def command(self, channel: str, user: str, text: str = "", command: str = "/kabar") -> None:
        """A person uses a slash command, which Slack takes at top level only and shows nobody. Raises Mistake."""
        chat = self.world.chat("slack", channel)
        person = self.world.member(chat, user)
        self.events.send_command(
            {
                "token": "simulator-verification-token",
                "team_id": self.workspace.team,
                "team_domain": "simulator",
                "channel_id": chat.id,
                "channel_name": _named(chat)["name"],
                "user_id": person.slack_id,
                "user_name": person.id,
                "command": command,
                "text": self._typed(text.strip()),
                "api_app_id": APP,
                "is_enterprise_install": "true" if self.workspace.enterprise else "false",
                **({"enterprise_id": self.workspace.enterprise} if self.workspace.enterprise else {}),
                "response_url": f"{self.world.url}/slack/response/{secrets.token_hex(8)}",
                "trigger_id": f"{secrets.randbelow(10**12)}.{secrets.randbelow(10**9)}.{secrets.token_hex(16)}",
            }
        )

    def answer_command(self, form: Json, reply: Json) -> None:
        """The bot may answer the request of a slash command with a message."""
        if reply.get("text"):
            post = Post({**self.bot_fields(), "text": reply["text"]})
            everybody = reply.get("response_type") == "in_channel"
            person = self.world.person(form["user_id"])
            self.publish(form["channel_id"], post, "", only_for="" if everybody else person.id)

    async def shortcut(self, channel: str, user: str, ts: str, callback_id: str = "ask_kabar") -> None:
        """A person chooses the app's shortcut in a message's menu. Raises Mistake."""
        chat = self.world.chat("slack", channel)
        person = self.world.member(chat, user)
        post = self.posts.get((chat.id, ts))
        if post is None:
            raise Mistake("There is no such message any more.")
        self.events.send_interaction(
            {
                "type": "message_action",
                "token": "simulator-verification-token",
                "action_ts": self.new_ts(),
                **self._envelope(),
                "user": {"id": person.slack_id, "name": person.id, "team_id": self.workspace.team},
                "channel": _named(chat),
                "callback_id": callback_id,
                "trigger_id": secrets.token_hex(8),
                "response_url": f"{self.world.url}/slack/response/{secrets.token_hex(8)}",
                "message_ts": ts,
                "message": _without_metadata(post.native),
                "api_app_id": APP,
            }
        )

    async def open_home(self, user: str, tab: str = "home") -> None:
        """A person opens the app's home, or its messages with ``tab`` "messages"."""
        person = self.world.person(user)
        dm = next(chat for chat in self.chats if chat.people == (person.id,))
        ts = self.new_ts()
        self.push({"type": "app_home_opened", "user": person.slack_id, "channel": dm.id, "tab": tab, "event_ts": ts})

    def knows(self, token: str) -> bool:
        """Whether it is, or was, this workspace's."""
        return token == self.bot_token or token in self.expires or token in self.revoked

    def uninstall(self) -> None:
        """An admin removes the app: its tokens end, of which Slack tells, and that it is gone, in any order."""
        self.revoked |= {self.bot_token, *self.expires}
        revoked: Json = {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [self.workspace.bot_user]}}
        gone: Json = {"type": "app_uninstalled"}
        for event in random.sample([revoked, gone], 2):
            self._push_bare(event)

    def _push_bare(self, event: Json) -> None:
        """An event of the app itself, whose envelope names no authorization: there is none left."""
        where, whole = self.workspace, bool(self.workspace.enterprise)
        grid = {"enterprise_id": where.enterprise, "is_enterprise_install": True} if whole else {}
        event_id = f"Ev{secrets.token_hex(5).upper()}"
        common = {"token": "simulator-verification-token", "team_id": where.team, "api_app_id": APP, **grid}
        at = {"event_id": event_id, "event_time": int(self.world.now())}
        self.events.send_event({**common, "event": event, "type": "event_callback", **at}, None)

    def _envelope(self) -> Json:
        """Where an interaction happened."""
        where = self.workspace
        enterprise = {"id": where.enterprise, "name": where.name} if where.enterprise else None
        team = {"id": where.team, "domain": "simulator"}
        return {"team": team, "enterprise": enterprise, "is_enterprise_install": bool(where.enterprise)}

    def push(self, event: Json, message: Message | None = None) -> str:
        """Send the bot any event, in its envelope. Returns the event_id."""
        event_id = f"Ev{secrets.token_hex(5).upper()}"
        where, whole = self.workspace, bool(self.workspace.enterprise)
        authorization = {"enterprise_id": where.enterprise or None, "team_id": where.team, "user_id": where.bot_user}
        envelope = {
            "token": "simulator-verification-token",
            "team_id": where.team,
            "api_app_id": APP,
            "event": copy.deepcopy(_without_metadata(event)),
            "type": "event_callback",
            "event_id": event_id,
            "event_time": int(self.world.now()),
            "authorizations": [{**authorization, "is_bot": True, "is_enterprise_install": whole}],
            "is_ext_shared_channel": False,
            "event_context": f"4-{event_id}",
        }
        self.events.send_event(envelope, message)
        return event_id

    def push_change(self, channel: str, before: Json, after: Json, message: Message | None = None) -> None:
        """Tell the bot that a message changed."""
        changed = {"message": _without_metadata(after), "previous_message": _without_metadata(before)}
        self._push_hidden(channel, {"subtype": "message_changed", **changed}, message)

    def _push_hidden(self, channel: str, fields: Json, message: Message | None = None) -> None:
        ts = self.new_ts()
        kind = _channel_type(self.world.chat("slack", channel))
        place = {"channel": channel, "ts": ts, "event_ts": ts, "channel_type": kind}
        self.push({"type": "message", "hidden": True, **fields, **place}, message)

    def _share(self, chat: Chat, ts: str) -> Json:
        """A message as it stands in another one that it was shared into."""
        post = self.posts.get((chat.id, ts))
        if post is None:
            raise Mistake("There is no such message any more.")
        native = post.native
        author = "Kabar" if "bot_id" in native else self.world.person(native["user"]).name
        more: Json = {"files": native["files"]} if "files" in native else {}
        return {
            "ts": ts,
            "author_id": native["user"],
            "author_name": author,
            "channel_id": chat.id,
            "channel_team": self.workspace.team,
            "is_msg_unfurl": True,
            "is_share": True,
            "text": native["text"],
            "fallback": f"[{ts}] {author}: {native['text']}",
            "from_url": f"https://simulator.slack.com/archives/{chat.id}/p{ts.replace('.', '')}",
            "footer": "Slack Conversation",
            **more,
        }

    def _typed(self, text: str) -> str:
        """What a person typed, as Slack writes it: mentions and links in angle brackets, & < > escaped."""
        text = re.sub(r"(?<!\w)@kabar\b", f"<@{self.workspace.bot_user}>", text, flags=re.IGNORECASE)
        parts = []
        end = 0
        for token in _TOKEN.finditer(text):
            parts += [_plain(text[end : token.start()]), token.group()]
            end = token.end()
        return "".join([*parts, _plain(text[end:])])

    def _own_post(self, chat: Chat, user: str, ts: str) -> tuple[Person, Post]:
        sender = self.world.member(chat, user)
        post = self.posts.get((chat.id, ts))
        if post is None or post.native["user"] != sender.slack_id:
            raise Mistake(f"{sender.name} has no such message.")
        return sender, post

    # What tests read.

    def messages(self, channel: str, thread: str | None = None) -> list[Message]:
        """A channel's messages in the order sent; of one thread with its root, if given."""
        found = self.world.messages_of("slack", channel)
        return [message for message in found if thread is None or thread in (message.id, message.thread)]

    async def wait_for(self, fits: Callable[[Message], bool], timeout: float = 5) -> Message:
        """The first Slack message that fits, now or within ``timeout`` seconds. Raises TimeoutError."""
        return await self.world.wait_for("slack", fits, timeout)

    # What the bot's methods use.

    def new_ts(self) -> str:
        """A timestamp no other message or event has."""
        self._last_ts = max(self._last_ts + 100, int(self.world.now() * 1_000_000))
        return f"{self._last_ts // 1_000_000}.{self._last_ts % 1_000_000:06d}"

    def is_root(self, channel: str, ts: str) -> bool:
        """Whether a thread can hang on this message: it is there, and no reply itself."""
        post = self.posts.get((channel, ts))
        return post is not None and post.native.get("thread_ts", ts) == ts

    def bot_fields(self) -> Json:
        where = self.workspace
        profile = {"id": where.bot, "app_id": APP, "name": "Kabar", "team_id": where.team}
        own = {"user": where.bot_user, "bot_id": where.bot, "app_id": APP, "team": where.team}
        return {"type": "message", **own, "bot_profile": profile}

    def _person_fields(self, person: Person) -> Json:
        return {
            "type": "message",
            "user": person.slack_id,
            "team": self.workspace.team,
            "client_msg_id": secrets.token_hex(16),
        }

    def publish(self, channel: str, post: Post, thread_ts: str, *, only_for: str = "") -> Message:
        """Keep a new message and show it. Its ``ts`` is given here. An ephemeral one is only shown."""
        post.native["ts"] = self.new_ts()
        if thread_ts:
            post.native["thread_ts"] = thread_ts
        if only_for:
            self.ephemerals[(channel, post.native["ts"])] = post
        else:
            self.posts[(channel, post.native["ts"])] = post
            self._count_replies(channel, thread_ts)
        shown = self._seen(channel, post)
        shown.only_for = only_for
        message = self.world.show(shown)
        sign = self.world.signs.get(("slack", channel, thread_ts))
        if message.is_bot and sign and not sign.stop:
            self.world.sign("slack", channel, thread_ts, "", 0)
        if message.is_bot and self.echo and not only_for:
            kind = _channel_type(self.world.chat("slack", channel))
            self.push({**post.native, "channel": channel, "event_ts": message.id, "channel_type": kind})
        return message

    def close_stream(self, channel: str, post: Post, *, by_user: bool = False, show: bool = True) -> None:
        """A stream ends: its text, and what it showed above it, are an ordinary message from now on."""
        assert post.stream is not None
        post.stream.open, post.stream.stopped_by_user = False, by_user
        post.native["streaming_state"] = "completed"
        post.native["blocks"] = [*_plan_block(post), *markdown_blocks(post.markdown)]
        if show:
            self.republish(channel, post, edited=False)

    def republish(self, channel: str, post: Post, *, edited: bool = True) -> Message:
        """Show a message that changed."""
        message = self._seen(channel, post)
        before = self.world.messages[message.key]
        message.at, message.delivery, message.reactions = before.at, before.delivery, before.reactions
        message.edits = before.edits + edited
        return self.world.show(message)

    def retract(self, channel: str, ts: str) -> None:
        post = self.posts.pop((channel, ts))
        self.world.remove(self.world.messages[("slack", channel, ts)])
        self._count_replies(channel, post.native.get("thread_ts", ""))
        gone = {"subtype": "message_deleted", "deleted_ts": ts, "previous_message": _without_metadata(post.native)}
        self._push_hidden(channel, gone)

    def _count_replies(self, channel: str, thread_ts: str) -> None:
        root = self.posts.get((channel, thread_ts))
        if root is None:
            return
        replies = [post.native for post in self.thread(channel, thread_ts) if post is not root]
        root.native |= {"thread_ts": thread_ts, "reply_count": len(replies)}
        if replies:
            root.native["latest_reply"] = replies[-1]["ts"]

    def thread(self, channel: str, thread_ts: str) -> list[Post]:
        """A thread's root and replies, in order."""
        return [
            post
            for (where, ts), post in self.posts.items()
            if where == channel and thread_ts in (ts, post.native.get("thread_ts"))
        ]

    def attach(self, file: File, user: str, file_id: str = "") -> Json:
        """Keep a file; returns it as a Slack file object."""
        file_id = files.keep(self.world, file, file_id or f"F{secrets.token_hex(5).upper()}")
        kind = file.media_type.partition("/")[0]
        spoken: Json = {"subtype": "slack_audio", "media_display_type": "audio"} if kind == "audio" else {}
        self.file_objects[file_id] = {
            **spoken,
            "id": file_id,
            "name": file.name,
            "title": file.name,
            "mimetype": file.media_type,
            "filetype": file.name.rpartition(".")[2],
            "size": len(file.data),
            "user": user,
            "mode": "hosted",
            "is_external": False,
            "file_access": "visible",
            "url_private": f"{self.world.url}/slack/files/{file_id}/{quote(file.name, safe='')}",
            "url_private_download": f"{self.world.url}/slack/files/{file_id}/{quote(file.name, safe='')}",
        }
        return self.file_objects[file_id]

    def tombstone(self, file_id: str) -> None:
        """The file was deleted: its messages stay, with what is left of it."""
        self.world.files.pop(file_id, None)
        left = {"id": file_id, "mode": "tombstone", "deleted": True}
        self.file_objects[file_id].clear()
        self.file_objects[file_id].update(left)

    @property
    def files(self) -> dict[str, File]:
        """The bytes of all files, by id."""
        return self.world.files

    def reset(self) -> None:
        """Forget messages and files."""
        for kept in (self.posts, self.ephemerals, self.file_objects, self.uploads):
            kept.clear()

    def _seen(self, channel: str, post: Post) -> Message:
        """A message as people see it."""
        native = post.native
        markdown = shown_markdown(post)
        is_bot = "bot_id" in native
        person = None if is_bot else self.world.person(native["user"])
        thread = native.get("thread_ts", "")
        return Message(
            platform="slack",
            chat=channel,
            id=native["ts"],
            thread="" if thread == native["ts"] else thread,
            at=self.world.now(),
            author=person.name if person else "Kabar",
            author_id=person.id if person else "bot",
            is_bot=is_bot,
            text="" if markdown else native["text"],
            markdown_text=markdown,
            blocks=shown_blocks(post),
            streaming=post.streaming,
            plan=post.plan,
            tasks=[*post.tasks.values()],
            buttons=buttons_of(native),
            files=[_file_info(file) for file in native.get("files", [])],
        )


def shown_blocks(post: Post) -> list[Json]:
    """What the page draws as blocks: not what it already has as text or Markdown."""
    if "bot_id" not in post.native:
        return []
    return [block for block in post.native.get("blocks", []) if block["type"] not in ("markdown", "plan")]


def shown_markdown(post: Post) -> str:
    """The Markdown a message is made of, however it came."""
    if post.markdown or "bot_id" not in post.native:
        return post.markdown
    parts = [block["text"] for block in post.native.get("blocks", []) if block["type"] == "markdown"]
    return "\n\n".join(parts)


def markdown_blocks(text: str) -> list[Json]:
    return [{"type": "markdown", "block_id": secrets.token_hex(3), "text": text}] if text else []


def _plan_block(post: Post) -> list[Json]:
    """What a stream showed above its text, as the block it leaves in the message."""
    if not post.tasks:
        return []
    cards = [
        {"type": "task_card", "task_id": task.id, "title": task.title, "status": task.status}
        for task in post.tasks.values()
    ]
    return [{"type": "plan", "block_id": secrets.token_hex(3), "title": post.plan, "tasks": cards}]


def _named(chat: Chat) -> Json:
    return {"id": chat.id, "name": "directmessage" if chat.kind == "private" else chat.title}


def _file_info(file: Json) -> FileInfo:
    if file["mode"] == "tombstone":
        return FileInfo("(deleted)", "", 0, "")
    return FileInfo(file["name"], file["mimetype"], file["size"], f"/sim/files/{file['id']}")


def _channel_type(chat: Chat) -> str:
    return "im" if chat.kind == "private" else "channel"


def _without_metadata(native: Json) -> Json:
    """Events do not carry metadata, and the API shows it only to who asks."""
    return {name: value for name, value in native.items() if name != "metadata"}


_TOKEN = re.compile(r"<(?:@[UW]\w+|#C\w+|![a-z]+)(?:\|[^<>]*)?>")
_URL = re.compile(r"https?://[^\s<>]+")


def _plain(text: str) -> str:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _URL.sub(lambda found: f"<{found.group()}>", escaped)


def _rich_text(typed: str) -> Json:
    """The block that Slack's own apps send along with a person's text."""
    elements: list[Json] = []
    for part in re.split(r"(<[^<>]+>)", typed):
        if part.startswith("<@"):
            elements.append({"type": "user", "user_id": part[2:-1].partition("|")[0]})
        elif part.startswith("<#"):
            elements.append({"type": "channel", "channel_id": part[2:-1].partition("|")[0]})
        elif part.startswith("<!"):
            elements.append({"type": "broadcast", "range": part[2:-1]})
        elif part.startswith("<"):
            elements.append({"type": "link", "url": part[1:-1].replace("&amp;", "&")})
        elif part:
            text = part.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
            elements.append({"type": "text", "text": text})
    section = {"type": "rich_text_section", "elements": elements}
    return {"type": "rich_text", "block_id": secrets.token_hex(3), "elements": [section]}


def _elements(native: Json) -> Iterator[tuple[str, Json]]:
    """Every button of a message with its "<row>.<column>"; a row is a block that holds buttons."""
    row = 0
    for block in native.get("blocks", []):
        holds_many = block["type"] in ("actions", "context_actions")
        candidates = block.get("elements", []) if holds_many else [block.get("accessory", {})]
        buttons = [button for element in candidates for button in _pressable(element)]
        for column, button in enumerate(buttons):
            yield f"{row}.{column}", {**button, "block_id": block["block_id"]}
        row += bool(buttons)


def _pressable(element: Json) -> Sequence[Json]:
    """The buttons of an element: itself, or the thumbs of ``feedback_buttons``, which share its action_id."""
    if element.get("type") != "feedback_buttons":
        return [element] if element.get("type") == "button" else []
    common = {"type": "feedback_buttons", "action_id": element["action_id"]}
    return [{**element[name], **common} for name in ("positive_button", "negative_button")]


def buttons_of(native: Json) -> list[list[Button]]:
    rows: list[list[Button]] = []
    for place, element in _elements(native):
        button = Button(place, element["text"]["text"], element.get("style", ""), element.get("url", ""))
        if place.endswith(".0"):
            rows.append([])
        rows[-1].append(button)
    return rows
