"""A message of another agent, in the JSON of A2A 1.0, as an Inbound. Pure.

A task is named by the message that began it, so that a repeated message names the same one: the caller, the context,
and a digest of the message's id. Source: a2a-protocol.org/latest/specification.
"""

import base64
import binascii
import hashlib
import json
import re

from msgspec import Struct

from bot.approvals import token, waited_for
from bot.channels.fields import objects_at, text_at
from bot.messages import Attachment, Inbound, Json, Person, Place, Turn, whole

LONGEST = 100_000
"""Characters of one message."""
LONGEST_ID = 256
MOST_FILES = 10

_CONTEXT = re.compile(r"[A-Za-z0-9_.:@+=~-]{1,128}")
_DIGEST = re.compile(r"[0-9a-f]{20}")
_LAST = "9" * 12
"""The order of what belongs to a task that is there already, or may: one key for it, however late it is repeated."""

YES = frozenset({"yes", "y", "ok", "okay", "approve", "approved", "ya", "setuju"})
NO = frozenset({"no", "n", "deny", "denied", "reject", "rejected", "tidak", "tolak"})


class Unfit(Exception):
    """A message that can not be taken: one sentence for whoever sent it."""


class TaskId(Struct, frozen=True):
    caller: str
    context: str
    message: str

    @property
    def conversation(self) -> str:
        return f"a2a:{self.caller}:{self.context}"

    @property
    def inbound(self) -> str:
        """The id of the Inbound that began it."""
        return f"m{self.message}"

    def __str__(self) -> str:
        return f"{self.caller}.{self.context}.{self.message}"


def task_id(text: str) -> TaskId | None:
    caller, _, rest = text.partition(".")
    context, _, message = rest.rpartition(".")
    if not caller or not _CONTEXT.fullmatch(context) or not _DIGEST.fullmatch(message):
        return None
    return TaskId(caller, context, message)


class Came(Struct, frozen=True):
    """A file's bytes in a message."""

    name: str
    media_type: str
    data: bytes


class Said(Struct, frozen=True):
    """One message. ``context`` and ``task`` are as the sender names them, or ""."""

    message_id: str
    text: str
    context: str = ""
    task: str = ""
    files: tuple[Came, ...] = ()

    @property
    def digest(self) -> str:
        return _digest(self.message_id)

    @property
    def word(self) -> str:
        """What it says to a question that waits: "ok" or "no", "" where it says something else."""
        word = self.text.strip(" .!\n").lower()
        if self.files or word not in YES | NO:
            return ""
        return "ok" if word in YES else "no"

    def begins(self, caller: str) -> TaskId:
        """The task of a message that names none. Without a context it gets one of its own, the same each time."""
        return TaskId(caller, self.context or _digest(f"{caller} {self.message_id}"), self.digest)


def said(message: Json) -> Said:
    """Raises Unfit."""
    read = Said(
        message_id=text_at(message, "messageId"),
        text=whole("\n\n".join(filter(None, map(_words, objects_at(message, "parts"))))).strip(),
        context=text_at(message, "contextId"),
        task=text_at(message, "taskId"),
        files=tuple(_file(part) for part in objects_at(message, "parts") if text_at(part, "raw")),
    )
    if not 0 < len(read.message_id) <= LONGEST_ID:
        raise Unfit(f"messageId must have 1 to {LONGEST_ID} characters.")
    if read.context and not _CONTEXT.fullmatch(read.context):
        raise Unfit("contextId must be 1 to 128 letters, digits or signs of _ . : @ + = ~ -; a UUID is fine.")
    if len(read.text) > LONGEST:
        raise Unfit(f"More than {LONGEST:,} characters of text: send what is longer as a file.")
    if len(read.files) > MOST_FILES:
        raise Unfit(f"More than {MOST_FILES} files in one message.")
    if not read.text and not read.files:
        raise Unfit("There is nothing in this message: it needs a part with text, data, raw or url.")
    return read


def _words(part: Json) -> str:
    """A part as text. What lies at an address is not fetched: the model may open it as it opens any page."""
    if text_at(part, "text"):
        return text_at(part, "text")
    if "data" in part:
        return f"```json\n{json.dumps(part['data'], ensure_ascii=False, indent=1)}\n```"
    if url := text_at(part, "url"):
        return f"({text_at(part, 'filename') or 'A file'} at {url})"
    return ""


def _file(part: Json) -> Came:
    try:
        data = base64.b64decode(text_at(part, "raw"), validate=True)
    except binascii.Error:
        raise Unfit("A part's raw is not base64.") from None
    media_type = text_at(part, "mediaType") or "application/octet-stream"
    return Came(whole(text_at(part, "filename"))[:LONGEST_ID] or "file", media_type, data)


def asked(read: Said, sender: str, id: TaskId, order: int, now: int, files: tuple[Attachment, ...] = ()) -> Inbound:
    """A message that begins a task, or adds to one where it names it: its ``data`` then says to which."""
    return Inbound(
        place=_place(id),
        id=f"m{read.digest}",
        order=_LAST if read.task or read.word else f"{order:012d}",
        sender=_person(sender),
        sent_at=now,
        text=read.text,
        native_id=read.message_id,
        data=str(id) if read.task else "",
        attachments=files,
        quiet=True,  # nobody watches it grow: what is shown is read from the record
    )


def decides(read: Said, sender: str, id: TaskId, turn: Turn, now: int) -> Inbound | None:
    """The same as a tap on the button of the first question that waits; None where it is neither a yes nor a no."""
    waiting = waited_for(turn)
    if not waiting or not read.word:
        return None
    number = turn.approvals.index(waiting[0])
    return Inbound(
        place=_place(id),
        id=f"m{read.digest}",
        order=_LAST,
        sender=_person(sender),
        sent_at=now,
        kind="tap",
        data=f"{read.word}:{token(turn, number)}",
    )


def cancels(id: TaskId, sender: str, now: int) -> Inbound:
    return Inbound(place=_place(id), id=f"s{id.message}", order=_LAST, sender=_person(sender), sent_at=now, kind="stop")


def _place(id: TaskId) -> Place:
    return Place(conversation=id.conversation, chat=id.context)


def _person(name: str) -> Person:
    return Person(f"a2a:{name}", name)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20]
