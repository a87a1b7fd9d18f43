"""The Web API's methods, as strict as the real ones and with their error codes, over what ``slack`` keeps.

Each method is one function of the same shape: ``async def name(slack, params) -> fields of the answer``; it raises
``Refused``. ``METHODS`` at the end names them. The rate of calls is limited only where ``Slack.rates`` says so.
"""

import json
import secrets
from collections.abc import Awaitable, Callable
from typing import Any

from simulator.slack import (
    APP,
    CONFIG_TOKEN,
    SCOPES,
    Post,
    Slack,
    Stream,
    Workspace,
    buttons_of,
    markdown_blocks,
    shown_blocks,
)
from simulator.slack_blocks import Chunks, check_kinds, read_chunks
from simulator.slack_limits import (
    ALL_BLOCKS_LIMIT,
    HOME_BLOCKS_LIMIT,
    TEXT_LIMIT,
    Refused,
    check_blocks,
    check_markdown,
    checked_metadata,
)
from simulator.slack_rates import Gate
from simulator.world import Chat, File, Json, Message, Mistake, Person, Task

_STATUS_SECONDS = 120
_SESSION = ("processing", "active", "suspended", "closed")
_PROMPTS_LIMIT = 4
_SCOPE_OF = {
    "agents.sessions.setStatus": "chat:write",
    "assistant.threads.setStatus": "assistant:write",
    "assistant.threads.setSuggestedPrompts": "assistant:write",
    "bots.info": "users:read",
    "chat.appendStream": "chat:write",
    "chat.delete": "chat:write",
    "chat.postEphemeral": "chat:write",
    "chat.postMessage": "chat:write",
    "chat.startStream": "chat:write",
    "chat.stopStream": "chat:write",
    "chat.update": "chat:write",
    "conversations.info": "channels:read",
    "conversations.open": "im:write",
    "files.completeUploadExternal": "files:write",
    "files.getUploadURLExternal": "files:write",
    "files.info": "files:read",
    "reactions.add": "reactions:write",
    "reactions.remove": "reactions:write",
    "users.info": "users:read",
}


class Params:
    """The parameters of one call: form fields are text, JSON bodies carry values; both are read here."""

    def __init__(self, values: Json) -> None:
        self.values = values

    def text(self, name: str) -> str:
        value = self.values.get(name)
        if value is None:
            return ""
        return value if isinstance(value, str) else json.dumps(value)

    def needed(self, name: str) -> str:
        if not self.text(name):
            raise Refused("invalid_arguments", f"missing required field: {name}")
        return self.text(name)

    def flag(self, name: str) -> bool:
        return self.values.get(name) in (True, "true", "True", "1", 1)

    def number(self, name: str, default: int) -> int:
        try:
            return int(self.values.get(name, default))
        except (TypeError, ValueError):
            raise Refused("invalid_arguments", f"{name} must be a number") from None

    def value(self, name: str, kind: type[Any], error: str) -> Any:
        """A JSON value of one type, None where it is left out."""
        value = self.values.get(name)
        if value in (None, ""):
            return None
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                raise Refused(error) from None
        if not isinstance(value, kind):
            raise Refused(error)
        return value


class WebApi:
    """The door the bot's calls come through."""

    def __init__(self, slack: Slack) -> None:
        self._slack = slack
        self._gate = Gate()

    def wait(self, method: str, params: Params) -> int:
        """Seconds after which a call may be made that comes too soon after others; 0 where it may be made now."""
        rate = self._slack.rates.get(method)
        if rate is None:
            return 0
        return self._gate.wait(rate, method, params.text("channel"), self._slack.world.now())

    async def call(self, method: str, token: str, params: Params) -> Json:
        """Carry out a method; returns the body. Refusals are bodies too, with HTTP status 200."""
        try:
            do = METHODS.get(method)
            if do is None:
                raise Refused("unknown_method")
            self._check_token(method, token)
            if scope := self._missing_scope(method, params):
                return {**failure("missing_scope"), "needed": scope, "provided": ",".join(sorted(self._slack.scopes))}
            return {"ok": True, **await do(self._slack, params)}
        except Refused as refusal:
            return failure(str(refusal), refusal.details)

    def headers(self, token: str) -> dict[str, str]:
        """What each answer tells of a token that is known: all that it may do."""
        scopes = {self._slack.bot_token: self._slack.scopes, self._slack.app_token: ("connections:write",)}
        return {"X-OAuth-Scopes": ",".join(sorted(scopes[token]))} if token in scopes else {}

    def _missing_scope(self, method: str, params: Params) -> str:
        needed = _SCOPE_OF.get(method, "")
        if method in ("conversations.replies", "conversations.history"):
            needed = "im:history" if params.text("channel").startswith("D") else "channels:history"
        return needed if needed in SCOPES - self._slack.scopes else ""

    def _check_token(self, method: str, token: str) -> None:
        others = {"apps.connections.open": self._slack.app_token, "apps.manifest.export": CONFIG_TOKEN}
        wanted = others.get(method, self._slack.bot_token)
        if method == "api.test":
            return
        if not token:
            raise Refused("not_authed")
        if token in self._slack.revoked:
            raise Refused("token_revoked")
        if token in self._slack.expires and wanted == self._slack.bot_token:
            if self._slack.expires[token] < self._slack.world.now():
                raise Refused("token_expired")
            return
        if token not in (self._slack.bot_token, *others.values()):
            raise Refused("invalid_auth")
        if token != wanted:
            raise Refused("not_allowed_token_type")


def failure(error: str, details: list[str] | None = None) -> Json:
    more: Json = {"response_metadata": {"messages": details}} if details else {}
    return {"ok": False, "error": error, **more}


# Shared by the methods.


def _channel(slack: Slack, params: Params, name: str = "channel") -> Chat:
    """By its id; a person's id stands for their direct messages."""
    wanted = params.needed(name)
    for chat in slack.chats:
        is_dm_of = chat.kind == "private" and slack.world.person(chat.people[0]).slack_id == wanted
        if chat.id == wanted or is_dm_of:
            return chat
    raise Refused("channel_not_found")


def _writable(slack: Slack, params: Params) -> Chat:
    """A channel to write into. Raises Refused where the bot is not in it."""
    chat = _channel(slack, params)
    if chat.id in slack.absent:
        raise Refused("not_in_channel")
    return chat


def _thread(slack: Slack, chat: Chat, params: Params) -> str:
    """The real Slack takes a reply's ``ts`` when posting, and shows the message nowhere; here it is refused."""
    thread = params.text("thread_ts")
    if thread and not slack.is_root(chat.id, thread):
        raise Refused("invalid_thread_ts")
    return thread


def _user(slack: Slack, user_id: str) -> Person:
    try:
        person = slack.world.person(user_id)
    except Mistake:
        raise Refused("user_not_found") from None
    if person.slack_id != user_id:
        raise Refused("user_not_found")
    return person


def _blocks(params: Params) -> list[Json] | None:
    """Checked, and with the block_ids that Slack gives to those without."""
    blocks: list[Json] | None = params.value("blocks", list, "invalid_blocks_format")
    if blocks is None:
        return None
    check_kinds(blocks)
    check_blocks(blocks)
    return [_with_ids(block) for block in blocks]


def _with_ids(block: Json) -> Json:
    named = {"block_id": secrets.token_hex(3), **block}
    if block["type"] in ("actions", "context_actions"):
        named["elements"] = [{"action_id": secrets.token_hex(3), **element} for element in block["elements"]]
    elif block.get("accessory"):
        named["accessory"] = {"action_id": secrets.token_hex(3), **block["accessory"]}
    return named


def _content(params: Params) -> tuple[Json, str]:
    """The fields that make up a message, and its Markdown source if it came as that."""
    markdown = params.text("markdown_text")
    blocks = _blocks(params)
    text = params.text("text")[:TEXT_LIMIT]
    if markdown and (blocks or text):
        raise Refused("markdown_text_conflict")
    if not (markdown or blocks or text.strip()):
        raise Refused("no_text")
    check_markdown(markdown)
    content: Json = {"text": markdown or text}
    if markdown:
        content["blocks"] = markdown_blocks(markdown)
    elif blocks:
        content["blocks"] = blocks
    metadata = params.value("metadata", dict, "invalid_metadata_format")
    if metadata is not None:
        content["metadata"] = checked_metadata(metadata)
    return content, markdown


def _own(slack: Slack, chat: Chat, ts: str, error: str) -> Post:
    post = slack.posts.get((chat.id, ts))
    if post is None:
        raise Refused("message_not_found")
    if post.native.get("bot_id") != slack.workspace.bot:
        raise Refused(error)
    return post


def _shown(native: Json, params: Params | None = None) -> Json:
    """A message in an answer: with its metadata only where the call asked for it."""
    if params and params.flag("include_all_metadata"):
        return native
    return {name: value for name, value in native.items() if name != "metadata"}


def _page(found: list[Json], params: Params, default_limit: int) -> Json:
    """One page of a list. The cursor is the position of the next item."""
    limit = params.number("limit", default_limit)
    cursor = params.text("cursor")
    if limit < 1:
        raise Refused("invalid_limit")
    if cursor and not cursor.removeprefix("next:").isdecimal():
        raise Refused("invalid_cursor")
    start = int(cursor.removeprefix("next:") or 0)
    more = start + limit < len(found)
    page = [_shown(native, params) for native in found[start : start + limit]]
    answer: Json = {"messages": page, "has_more": more}
    if more:
        answer["response_metadata"] = {"next_cursor": f"next:{start + limit}"}
    return answer


def _within(ts: str, params: Params) -> bool:
    """Whether a message lies between ``oldest`` and ``latest``. Timestamps have one length, so they compare as text."""
    oldest, latest = params.text("oldest"), params.text("latest")
    if params.flag("inclusive") and ts in (oldest, latest):
        return True
    return (not oldest or float(ts) > float(oldest)) and (not latest or float(ts) < float(latest))


# The methods.


async def api_test(slack: Slack, params: Params) -> Json:
    if error := params.text("error"):
        raise Refused(error)
    return {"args": params.values}


async def auth_test(slack: Slack, params: Params) -> Json:
    return {
        "url": "https://simulator.slack.com/",
        "team": slack.workspace.name,
        "user": "kabar",
        "team_id": slack.workspace.team,
        "user_id": slack.workspace.bot_user,
        "bot_id": slack.workspace.bot,
        "is_enterprise_install": bool(slack.workspace.enterprise),
    }


async def bot_info(slack: Slack, params: Params) -> Json:
    where = slack.workspace
    if params.needed("bot") != where.bot:
        raise Refused("bot_not_found")
    return {"bot": {"id": where.bot, "app_id": APP, "user_id": where.bot_user, "name": "Kabar", "deleted": False}}


async def export_manifest(slack: Slack, params: Params) -> Json:
    if params.needed("app_id") != APP:
        raise Refused("app_not_eligible")
    return {"manifest": slack.manifest}


async def post_message(slack: Slack, params: Params) -> Json:
    chat = _writable(slack, params)
    content, markdown = _content(params)
    thread = _thread(slack, chat, params)
    post = Post({**slack.bot_fields(), **content}, markdown)
    message = slack.publish(chat.id, post, thread)
    return {"channel": chat.id, "ts": message.id, "message": _shown(post.native)}


async def update(slack: Slack, params: Params) -> Json:
    """Blocks stay where a call does not name them; an empty list removes them. Metadata stays too."""
    chat = _channel(slack, params)
    post = _own(slack, chat, params.needed("ts"), "cant_update_message")
    _let_die(slack, chat, post)
    if post.streaming:
        raise Refused("streaming_state_conflict")
    content, markdown = _content(params)
    before = dict(post.native)
    if params.values.get("blocks") is None:
        content["blocks"] = [*content.get("blocks", []), *shown_blocks(post)]
    else:
        post.tasks, post.plan = {}, ""
    kept = {name: value for name, value in post.native.items() if name not in ("text", "blocks")}
    post.native = {**kept, **content, "edited": {"user": slack.workspace.bot_user, "ts": slack.new_ts()}}
    post.markdown = markdown
    slack.republish(chat.id, post)
    _tell_change(slack, chat, before, post)
    return {"channel": chat.id, "ts": post.native["ts"], "text": post.native["text"], "message": _shown(post.native)}


def _tell_change(slack: Slack, chat: Chat, before: Json, post: Post) -> None:
    if slack.echo:
        slack.push_change(chat.id, before, post.native)


async def delete(slack: Slack, params: Params) -> Json:
    chat = _channel(slack, params)
    post = _own(slack, chat, params.needed("ts"), "cant_delete_message")
    slack.retract(chat.id, post.native["ts"])
    return {"channel": chat.id, "ts": post.native["ts"]}


async def post_ephemeral(slack: Slack, params: Params) -> Json:
    chat = _channel(slack, params)
    if chat.id in slack.absent:
        raise Refused("channel_not_found")
    person = _user(slack, params.needed("user"))
    if person.id not in chat.people:
        raise Refused("user_not_in_channel")
    content, markdown = _content(params)
    thread = _thread(slack, chat, params)
    post = Post({**slack.bot_fields(), **content}, markdown)
    return {"message_ts": slack.publish(chat.id, post, thread, only_for=person.id).id}


async def start_stream(slack: Slack, params: Params) -> Json:
    """Takes no metadata. The bot's session in the thread is processing from now on."""
    chat = _writable(slack, params)
    thread = _thread(slack, chat, params)
    if not thread:
        raise Refused("invalid_thread_ts")
    if chat.kind != "private":
        for name in ("recipient_team_id", "recipient_user_id"):
            if not params.text(name):
                raise Refused(f"missing_{name}")
        _user(slack, params.text("recipient_user_id"))
        if params.text("recipient_team_id") != slack.workspace.team:
            raise Refused("team_not_found")
    if params.text("task_display_mode") not in ("", "timeline", "plan"):
        raise Refused("invalid_arguments", "task_display_mode must be timeline or plan")
    added = _streamed(params)
    native = {**slack.bot_fields(), "text": "", "streaming_state": "in_progress"}
    post = Post(native, stream=Stream(slack.world.now()))
    _extend(post, added)
    message = slack.publish(chat.id, post, thread)
    _set_session(slack, chat, thread, "processing")
    return {"channel": chat.id, "ts": message.id}


async def append_stream(slack: Slack, params: Params) -> Json:
    chat, post = _open_stream(slack, params)
    added = _streamed(params)
    if not added.mode:
        raise Refused("no_text")
    _extend(post, added)
    slack.republish(chat.id, post, edited=False)
    return {"channel": chat.id, "ts": post.native["ts"]}


async def stop_stream(slack: Slack, params: Params) -> Json:
    """Ends the stream, and the bot's session in its thread is active again unless the call says otherwise."""
    chat, post = _open_stream(slack, params)
    status = params.text("session_status") or "active"
    if status not in _SESSION:
        raise Refused("invalid_arguments", f"session_status must be one of {', '.join(_SESSION)}")
    added = _streamed(params)
    blocks = _blocks(params)
    metadata = params.value("metadata", dict, "invalid_metadata_format")
    before = dict(post.native)
    _extend(post, added)
    slack.close_stream(chat.id, post, show=False)
    post.native["blocks"] = [*post.native["blocks"], *(blocks or [])]
    if metadata is not None:
        post.native["metadata"] = checked_metadata(metadata)
    slack.republish(chat.id, post, edited=False)
    _set_session(slack, chat, post.native["thread_ts"], status)
    _tell_change(slack, chat, before, post)
    return {"channel": chat.id, "ts": post.native["ts"], "message": _shown(post.native)}


def _open_stream(slack: Slack, params: Params) -> tuple[Chat, Post]:
    chat = _channel(slack, params)
    post = _own(slack, chat, params.needed("ts"), "message_not_owned_by_app")
    _let_die(slack, chat, post)
    if post.stream and post.stream.stopped_by_user:
        raise Refused("stopped_by_user")
    if not post.streaming:
        raise Refused("message_not_in_streaming_state")
    return chat, post


def _let_die(slack: Slack, chat: Chat, post: Post) -> None:
    """A stream ends by itself some minutes after its start, with or without appends."""
    if post.stream and post.streaming and slack.world.now() > post.stream.began + slack.stream_seconds:
        slack.close_stream(chat.id, post)


def _extend(post: Post, added: Chunks) -> None:
    """A task's title and status are replaced, its details and output grow. Raises Refused, with nothing added."""
    assert post.stream is not None
    if added.mode and post.stream.mode not in ("", added.mode):
        raise Refused("streaming_mode_mismatch")
    tasks = dict(post.tasks)
    for chunk in added.tasks:
        tasks[chunk["id"]] = _grown(tasks.get(chunk["id"]), chunk)
    texts = [post.markdown, added.text]
    texts += [text for task in tasks.values() for text in (task.title, task.details, task.output)]
    if sum(map(len, texts)) > ALL_BLOCKS_LIMIT:
        raise Refused("msg_blocks_too_long")
    post.markdown += added.text
    post.tasks = tasks
    post.plan = post.plan if added.plan is None else added.plan
    post.stream.mode = post.stream.mode or added.mode
    post.native["text"] = post.markdown


def _grown(task: Task | None, chunk: Json) -> Task:
    before = task or Task("", "", "")
    details, output = (chunk.get(name, "") for name in ("details", "output"))
    return Task(chunk["id"], chunk["title"], chunk["status"], before.details + details, before.output + output)


def _streamed(params: Params) -> Chunks:
    return read_chunks(params.text("markdown_text"), params.value("chunks", list, "invalid_chunks"))


async def replies(slack: Slack, params: Params) -> Json:
    chat = _channel(slack, params)
    ts = params.needed("ts")
    post = slack.posts.get((chat.id, ts))
    if post is None:
        raise Refused("thread_not_found")
    root, *rest = (found.native for found in slack.thread(chat.id, post.native.get("thread_ts", ts)))
    found = [root, *(native for native in rest if _within(native["ts"], params))]
    return _page(found, params, 1000)


async def history(slack: Slack, params: Params) -> Json:
    chat = _channel(slack, params)
    natives = [post.native for (where, _), post in slack.posts.items() if where == chat.id]
    top = [native for native in natives if native.get("thread_ts", native["ts"]) == native["ts"]]
    found = [native for native in reversed(top) if _within(native["ts"], params)]
    return _page(found, params, 100)


async def info(slack: Slack, params: Params) -> Json:
    return {"channel": _conversation(slack, _channel(slack, params))}


async def open_conversation(slack: Slack, params: Params) -> Json:
    users = params.text("users")
    if not users:
        return {"channel": _conversation(slack, _channel(slack, params))}
    if "," in users:
        raise Refused("method_not_supported_for_channel_type")
    _user(slack, users)
    return {"channel": _conversation(slack, _channel(slack, params, "users"))}


def _conversation(slack: Slack, chat: Chat) -> Json:
    common = {"id": chat.id, "created": 1_700_000_000, "is_archived": False, "context_team_id": slack.workspace.team}
    if chat.kind == "private":
        return {**common, "is_im": True, "user": slack.world.person(chat.people[0]).slack_id}
    kinds = {"is_channel": True, "is_group": False, "is_im": False, "is_private": False}
    return {**common, **kinds, "name": chat.title, "is_member": True, "num_members": len(chat.people) + 1}


async def user_info(slack: Slack, params: Params) -> Json:
    user_id = params.needed("user")
    where = slack.workspace
    if user_id == where.bot_user:
        return {"user": _user_object(where, user_id, "kabar", "Kabar", is_bot=True)}
    person = _user(slack, user_id)
    first = person is slack.world.people[0]  # who made the workspace
    rights = {"is_admin": first, "is_owner": first, "is_primary_owner": first}
    user = {**_user_object(where, user_id, person.id, person.name), **rights, "tz": person.zone}
    if where.enterprise:
        user["enterprise_user"] = {"enterprise_id": where.enterprise, "id": user_id, "teams": [where.team], **rights}
    return {"user": {**user, "locale": person.language} if params.flag("include_locale") else user}


def _user_object(where: Workspace, user_id: str, name: str, real_name: str, *, is_bot: bool = False) -> Json:
    profile = {"real_name": real_name, "display_name": real_name, "team": where.team}
    more = {"tz": "America/Los_Angeles", "is_bot": is_bot, "deleted": False, "profile": profile}
    return {"id": user_id, "team_id": where.team, "name": name, "real_name": real_name, **more}


async def add_reaction(slack: Slack, params: Params) -> Json:
    message, emoji = _reaction(slack, params)
    if emoji in message.reactions:
        raise Refused("already_reacted")
    message.reactions.append(emoji)
    slack.world.show(message)
    return {}


async def remove_reaction(slack: Slack, params: Params) -> Json:
    message, emoji = _reaction(slack, params)
    if emoji not in message.reactions:
        raise Refused("no_reaction")
    message.reactions.remove(emoji)
    slack.world.show(message)
    return {}


def _reaction(slack: Slack, params: Params) -> tuple[Message, str]:
    chat = _channel(slack, params)
    emoji = params.needed("name")
    message = slack.world.messages.get(("slack", chat.id, params.needed("timestamp")))
    if message is None:
        raise Refused("message_not_found")
    return message, f":{emoji}:"


async def set_thread_status(slack: Slack, params: Params) -> Json:
    chat, thread = _status_place(slack, params)
    slack.world.sign("slack", chat.id, thread, params.text("status"), _STATUS_SECONDS)
    return {}


async def set_session_status(slack: Slack, params: Params) -> Json:
    chat, thread = _status_place(slack, params)
    status = params.needed("status")
    if status not in _SESSION:
        raise Refused("invalid_arguments", f"status must be one of {', '.join(_SESSION)}")
    if len(params.text("title")) > 200:
        raise Refused("invalid_arguments", "title must be less than 201 characters")
    _set_session(slack, chat, thread, status)
    return {"agent_status": status}


def _set_session(slack: Slack, chat: Chat, thread: str, status: str) -> None:
    text = "is working…" if status == "processing" else ""
    slack.world.sign("slack", chat.id, thread, text, _STATUS_SECONDS, stop=True)


async def set_suggested_prompts(slack: Slack, params: Params) -> Json:
    """In an agent's messages. With a thread, as assistants of old had them, the real Slack does nothing, and says so
    to nobody."""
    chat = _channel(slack, params, "channel_id")
    prompts: list[Any] | None = params.value("prompts", list, "invalid_arguments")
    if not prompts or len(prompts) > _PROMPTS_LIMIT:
        raise Refused("invalid_arguments", f"prompts must have between 1 and {_PROMPTS_LIMIT} items")
    if not all(isinstance(prompt, dict) and prompt.get("title") and prompt.get("message") for prompt in prompts):
        raise Refused("invalid_arguments", "missing required field: title or message")
    if not params.text("thread_ts"):
        shown = {"title": params.text("title"), "prompts": prompts}
        slack.world.prompts[chat.id] = shown
        slack.world.emit("prompts", {"chat": chat.id, **shown})
    return {}


def _status_place(slack: Slack, params: Params) -> tuple[Chat, str]:
    chat = _channel(slack, params, "channel_id")
    params.needed("thread_ts")
    return chat, _thread(slack, chat, params)


async def open_connection(slack: Slack, params: Params) -> Json:
    ticket = secrets.token_hex(8)
    slack.tickets.add(ticket)
    return {"url": f"{slack.world.url.replace('http', 'ws', 1)}/slack/socket?ticket={ticket}&app_id={APP}"}


async def file_info(slack: Slack, params: Params) -> Json:
    file = slack.file_objects.get(params.needed("file"))
    if file is None:
        raise Refused("file_not_found")
    if file["mode"] == "tombstone":
        raise Refused("file_deleted")
    return {"file": {**file, "file_access": "visible"}, "comments": [], "response_metadata": {"next_cursor": ""}}


async def get_upload_url(slack: Slack, params: Params) -> Json:
    name, length = params.needed("filename"), params.number("length", 0)
    if length < 1:
        raise Refused("invalid_arguments", "length must be above 0")
    file_id = f"F{secrets.token_hex(5).upper()}"
    slack.uploads[file_id] = {"name": name, "length": length}
    return {"upload_url": f"{slack.world.url}/slack/upload/{file_id}", "file_id": file_id}


def take_upload(slack: Slack, file_id: str, data: bytes, media_type: str) -> bool:
    """The bytes of a file that was announced; False where it was not, or with another length."""
    announced = slack.uploads.get(file_id)
    if announced is None or len(data) != announced["length"]:
        return False
    slack.world.files[file_id] = File(announced["name"], media_type, data)
    return True


async def complete_upload(slack: Slack, params: Params) -> Json:
    """Shares uploaded files as one message, with a comment in mrkdwn or with blocks above them."""
    wanted: list[Any] | None = params.value("files", list, "invalid_arguments")
    titles = {str(each.get("id")): str(each.get("title", "")) for each in wanted or [] if isinstance(each, dict)}
    if not titles or any(file_id not in slack.uploads or file_id not in slack.world.files for file_id in titles):
        raise Refused("file_not_found")
    chat = _writable(slack, Params({"channel": params.text("channel_id")}))
    thread = _thread(slack, chat, params)
    comment = params.text("initial_comment")
    blocks = None if comment else _blocks(params)
    for file_id, title in titles.items():
        slack.uploads.pop(file_id)
        slack.attach(slack.world.files[file_id], slack.workspace.bot_user, file_id)["title"] = (
            title or slack.world.files[file_id].name
        )
    objects = [slack.file_objects[file_id] for file_id in titles]
    native = {**slack.bot_fields(), "subtype": "file_share", "text": comment, "files": objects}
    message = slack.publish(chat.id, Post({**native, "blocks": blocks} if blocks else native), thread)
    share = {"ts": message.id, **({"thread_ts": thread} if thread else {})}
    for shared in objects:
        shared["shares"] = {"private" if chat.kind == "private" else "public": {chat.id: [share]}}
    # The real answer comes before the message does: only files.info tells where it is, some time later.
    return {"files": [{"id": file["id"], "title": file["title"]} for file in objects]}


async def publish_view(slack: Slack, params: Params) -> Json:
    person = _user(slack, params.needed("user_id"))
    view: Json | None = params.value("view", dict, "invalid_arguments")
    if view is None or view.get("type") != "home" or not isinstance(view.get("blocks"), list):
        raise Refused("invalid_arguments", "view must be of type home, with blocks")
    check_kinds(view["blocks"])
    check_blocks(view["blocks"], HOME_BLOCKS_LIMIT)
    named = {"id": f"V{secrets.token_hex(5).upper()}", "team_id": slack.workspace.team, "app_id": APP}
    stored = {**named, **view, "blocks": [_with_ids(block) for block in view["blocks"]]}
    home = {**stored, "buttons": buttons_of(stored)}
    slack.world.homes[person.slack_id] = home
    slack.world.emit("home", {"user": person.slack_id, "view": home})
    return {"view": stored}


METHODS: dict[str, Callable[[Slack, Params], Awaitable[Json]]] = {
    "api.test": api_test,
    "auth.test": auth_test,
    "bots.info": bot_info,
    "apps.manifest.export": export_manifest,
    "chat.postMessage": post_message,
    "chat.update": update,
    "chat.delete": delete,
    "chat.postEphemeral": post_ephemeral,
    "chat.startStream": start_stream,
    "chat.appendStream": append_stream,
    "chat.stopStream": stop_stream,
    "conversations.replies": replies,
    "conversations.history": history,
    "conversations.info": info,
    "conversations.open": open_conversation,
    "users.info": user_info,
    "reactions.add": add_reaction,
    "reactions.remove": remove_reaction,
    "assistant.threads.setStatus": set_thread_status,
    "assistant.threads.setSuggestedPrompts": set_suggested_prompts,
    "agents.sessions.setStatus": set_session_status,
    "apps.connections.open": open_connection,
    "files.info": file_info,
    "files.getUploadURLExternal": get_upload_url,
    "files.completeUploadExternal": complete_upload,
    "views.publish": publish_view,
}
