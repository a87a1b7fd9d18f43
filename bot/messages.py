"""The words everything is said in: frozen values that cross rooms and are stored as JSON.

Behind a channel's ``parse`` nothing is a platform's own dictionary. Every type here is a msgspec Struct: decoding
checks types, unknown fields of a newer version are ignored, and fields at their default are left out of what is stored.
Times are whole Unix seconds unless the name ends in ``_ms``. No floats are stored: DynamoDB has none.
"""

from typing import Any, Literal

from msgspec import Struct, json

Json = dict[str, Any]
"""A JSON object kept exactly as its producer sent it: a content block, a tool's input."""


class Person(Struct, frozen=True, omit_defaults=True):
    """Somebody who writes.

    ``id`` is ``telegram:<user id>``, ``slack:<team>:<user id>`` or ``terminal:<name>``: stable, never a display name.
    ``language`` is the IETF tag the platform gives ("id", "en-GB"), or "" where it gives none.
    """

    id: str
    name: str = ""
    language: str = ""


class Place(Struct, frozen=True, omit_defaults=True):
    """Where a conversation happens and its answers go, in the platform's own ids, as strings.

    ``conversation`` is the key of everything stored about it: ``telegram:<chat>[:<topic>]``,
    ``slack:<team>:<channel>[:<thread>]`` or ``terminal:<name>``. It is also the SQS message group.
    ``thread`` is the Telegram topic or the Slack ``thread_ts`` that every answer must carry, or "".
    """

    conversation: str
    chat: str
    thread: str = ""
    team: str = ""
    group: bool = False
    title: str = ""

    @property
    def platform(self) -> str:
        return self.conversation.partition(":")[0]


class Quote(Struct, frozen=True, omit_defaults=True):
    """What a message replies to or forwards: somebody's words, never instructions."""

    text: str
    author: str = ""
    ours: bool = False


class Attachment(Struct, frozen=True, omit_defaults=True):
    """A file the platform holds for us. ``id`` is what its API wants in order to hand it over."""

    kind: str
    id: str = ""
    name: str = ""
    media_type: str = ""
    size: int = 0
    description: str = ""


Kind = Literal["message", "edit", "tap", "stop", "moved", "left", "joined"]


class Inbound(Struct, frozen=True, omit_defaults=True):
    """One thing that happened in a conversation and concerns the bot.

    ``id`` is the same for every delivery of the same thing and differs between things of one conversation: the store
    keeps one item per id. ``order`` sorts, as text, the way the platform ordered things. ``native_id`` is the
    platform's message id, which an answer replies to or an edit refers to. ``command`` is the command's name in lower
    case without slash or bot name; ``text`` is then what follows it. ``data`` is a tapped button's token, or the new
    chat id of ``moved``.
    """

    place: Place
    id: str
    order: str
    sender: Person
    sent_at: int
    kind: Kind = "message"
    text: str = ""
    command: str = ""
    native_id: str = ""
    quote: Quote | None = None
    attachments: tuple[Attachment, ...] = ()
    album: str = ""
    data: str = ""

    @property
    def conversation(self) -> str:
        return self.place.conversation

    @property
    def words(self) -> str:
        """The text as the person wrote it, a command included."""
        return f"/{self.command} {self.text}".strip() if self.command else self.text.strip()

    @property
    def key(self) -> str:
        """Names this item inside its conversation's inbox, and sorts it there."""
        return f"{self.order}#{self.id}"


class Usage(Struct, frozen=True, omit_defaults=True):
    """Tokens of one model call; the whole prompt is all of them but ``output``.

    ``cache_write`` is kept for five minutes, ``cache_write_long`` for an hour. ``searches`` are web searches that the
    provider ran, and bills one by one.
    """

    fresh: int = 0
    cache_write: int = 0
    cache_write_long: int = 0
    cache_read: int = 0
    output: int = 0
    searches: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*(getattr(self, name) + getattr(other, name) for name in self.__struct_fields__))


class Bill(Struct, frozen=True, omit_defaults=True):
    """What model calls came to, all fields whole numbers that add up: those of Usage, and four more.

    ``cost`` is in millionths of a dollar. ``unpriced`` counts those of the ``calls`` whose model has no known price.
    """

    turns: int = 0
    calls: int = 0
    unpriced: int = 0
    cost: int = 0
    fresh: int = 0
    cache_write: int = 0
    cache_write_long: int = 0
    cache_read: int = 0
    output: int = 0
    searches: int = 0

    def __add__(self, other: "Bill") -> "Bill":
        return Bill(*(getattr(self, name) + getattr(other, name) for name in Bill.__struct_fields__))


class Counter(Struct, frozen=True):
    """Names one counter: whose spending (or what else is counted), and in which stretch of time, in UTC.

    ``scope`` is ``person:<id>``, ``chat:<platform>:…``, ``all``, or one of the minute's (bot/budget.py); ``period`` is
    ``2026-11-30``, ``2026-11`` or ``2026-11-30T08:15``.
    """

    scope: str
    period: str


class Spend(Struct, frozen=True):
    """An amount to be added to a counter, where it stays within ``limit`` (None: whatever it comes to).

    ``amount`` is in millionths of a dollar, or in what else is counted, and may be negative: what was reserved and not
    used. ``bill`` is a finished turn's, for whoever asks what was used. The counter may be forgotten after ``keep``
    seconds.
    """

    counter: Counter
    amount: int
    limit: int | None = None
    bill: Bill = Bill()
    keep: int = 100 * 24 * 3600


class Spent(Struct, frozen=True):
    """A counter: ``amount`` is what limits hold against, what running turns have reserved included; ``bill`` is of the
    turns that ended."""

    amount: int = 0
    bill: Bill = Bill()


class Reply(Struct, frozen=True, omit_defaults=True):
    """One whole answer of the model. ``content`` holds its blocks exactly as received, to be sent back unchanged.

    ``spoiled`` names tool_use ids whose arguments were not valid JSON, with the text that came: such a call is never
    run. ``stop_reason`` is the provider's word, also where we do not know it.
    """

    content: list[Json]
    stop_reason: str
    model: str = ""
    usage: Usage = Usage()
    spoiled: dict[str, str] = {}


class Button(Struct, frozen=True):
    """Something to tap under a message. ``data`` comes back in the tap: a word and a turn's id, at most 64 bytes."""

    label: str
    data: str


# The record: one entry per step, appended, never rewritten.


class Asked(Struct, frozen=True, omit_defaults=True, tag="asked"):
    """What people said to start a turn, in order."""

    turn: str
    said: tuple[Inbound, ...]


class Answered(Struct, frozen=True, omit_defaults=True, tag="answered"):
    """One reply of the model."""

    turn: str
    reply: Reply


class Returned(Struct, frozen=True, omit_defaults=True, tag="returned"):
    """The results of every tool call of the reply before it, in the order of the calls, as tool_result blocks.

    ``said`` is what people added meanwhile; ``note`` is our own word to the model (a limit that was reached).
    """

    turn: str
    results: tuple[Json, ...]
    said: tuple[Inbound, ...] = ()
    note: str = ""


class Ended(Struct, frozen=True, omit_defaults=True, tag="ended"):
    """How a turn ended where its last reply does not say it. ``shown`` is what the person reads of it.

    ``why``: "refused" (the exchange is never shown to the model again), "told" (our own words answered it, a command or
    a notice; the model sees neither; ``fresh``: nor anything before it), "stopped" (by a person, in the middle of a
    reply), "failed" (``shown`` holds the reference the person was given), "undone" (it is done again by a later turn).
    """

    turn: str
    why: Literal["refused", "told", "stopped", "failed", "undone"]
    shown: str = ""
    fresh: bool = False
    buttons: tuple[Button, ...] = ()


class Summary(Struct, frozen=True, omit_defaults=True, tag="summary"):
    """Stands for every entry up to the number ``upto``; the window then begins behind that, and the newest summary in
    it is shown first, wherever it stands. It ends the thinking before it, and huge results before it are shown as
    notes. One without text stands for what is left out and not told.

    ``block`` is the provider's own signed compaction, to be sent back as it is by those that can; ``text`` says the
    same for all others. ``model`` and ``usage`` are of the call that wrote it, none where we wrote it ourselves.
    """

    text: str
    upto: int = 0
    block: Json | None = None
    model: str = ""
    usage: Usage = Usage()


Entry = Asked | Answered | Returned | Ended | Summary


class Part(Struct, frozen=True, omit_defaults=True):
    """One message of a reply on its way out.

    "sending" is stored before the platform is called, "sent" with the platform's id after. A part found "sending" when
    a turn goes on is uncertain: it may or may not have arrived.
    """

    state: Literal["sending", "sent"]
    id: str = ""


class Turn(Struct, frozen=True, omit_defaults=True):
    """A turn in progress, stored in the conversation's head until its answer is delivered."""

    id: str
    place: Place
    asker: Person
    began: int
    first: int
    """Sequence number of the turn's first entry."""
    reply_to: str = ""
    inbox: tuple[str, ...] = ()
    """Keys of the inbox items this turn answers; they become done when it ends."""
    parts: tuple[Part, ...] = ()
    invocations: int = 1
    failures: int = 0
    """Model calls that failed or were cut since the last entry was stored."""
    reserved: int = 0
    """Millionths of a dollar that the counters hold for this turn until it ends."""
    bill: Bill = Bill()
    """Of its model calls so far."""
    cheaper: bool = False
    """Whether the cheaper model answers it: a budget was nearly spent when it began."""


Meanwhile = Literal["steer", "queue", "interrupt"]
"""What a message does that arrives while a turn runs: it is added to it, waits its turn, or ends it."""


class ChatSettings(Struct, frozen=True, omit_defaults=True):
    """What a conversation keeps between turns.

    ``closed``: the bot was blocked or thrown out, nothing can be sent. ``moved_from``: the conversation this one was
    before Telegram made its group a supergroup. ``turn_cost``: what its dearer turns cost lately, in millionths of a
    dollar; 0 where none has ended.
    """

    meanwhile: Meanwhile = "steer"
    closed: bool = False
    moved_from: str = ""
    turn_cost: int = 0


class Head(Struct, frozen=True, omit_defaults=True):
    """The one item per conversation that says who works on it and where it stands.

    ``until_ms`` is when the lease of ``owner`` ends by itself. ``last`` is the sequence number of the newest entry
    (0: none). ``since`` is the first entry the model may see: everything before it is kept but out of the window.
    """

    conversation: str
    owner: str = ""
    until_ms: int = 0
    last: int = 0
    since: int = 1
    turn: Turn | None = None
    settings: ChatSettings = ChatSettings()


class Numbered(Struct, frozen=True):
    """An entry with its sequence number, counted from 1."""

    seq: int
    entry: Entry


class ToolRun(Struct, frozen=True, omit_defaults=True):
    """One tool call's own item: started, and finished where ``result`` (a tool_result block) is there."""

    call: str
    result: Json | None = None


def whole(text: str) -> str:
    """The text as valid Unicode, as everything stored or sent must be: a character whose halves (surrogates) came apart
    is put together again, a half without the other becomes U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


encode = json.Encoder(order=None).encode
_entry_decoder = json.Decoder(Entry)
_inbound_decoder = json.Decoder(Inbound)
_turn_decoder = json.Decoder(Turn)
_run_decoder = json.Decoder(ToolRun)
_settings_decoder = json.Decoder(ChatSettings)


def decode_entry(data: bytes) -> Entry:
    return _entry_decoder.decode(data)


def decode_inbound(data: bytes) -> Inbound:
    return _inbound_decoder.decode(data)


def decode_turn(data: bytes) -> Turn:
    return _turn_decoder.decode(data)


def decode_tool_run(data: bytes) -> ToolRun:
    return _run_decoder.decode(data)


def decode_settings(data: bytes) -> ChatSettings:
    return _settings_decoder.decode(data)
