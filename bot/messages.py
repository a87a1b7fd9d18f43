"""The words everything is said in: frozen values that cross rooms and are stored as JSON.

Behind a channel's ``parse`` nothing is a platform's own dictionary. Every type here is a msgspec Struct: decoding
checks types, unknown fields of a newer version are ignored, and fields at their default are left out of what is stored.
Times are whole Unix seconds unless the name ends in ``_ms``. No floats are stored: DynamoDB has none.
"""

from collections.abc import Callable
from hashlib import sha256
from typing import Any, Literal

from msgspec import Struct, json

Json = dict[str, Any]
"""A JSON object kept exactly as its producer sent it: a content block, a tool's input."""


class Person(Struct, frozen=True, omit_defaults=True):
    """Somebody who writes.

    ``id`` is ``telegram:<user id>``, ``slack:<team>:<user id>``, ``terminal:<name>`` or, for another agent that calls
    this one, ``a2a:<name>``: stable, never a display name.
    ``language`` is the IETF tag the platform gives ("id", "en-GB"), or "" where it gives none; ``zone`` the IANA name
    of their time zone, or "".

    No platform tells the rest (bot/people.py does): ``role`` is what they may do here, "" for a stranger; ``account``
    is the id under which somebody with several is remembered and pays, "" for their own.
    """

    id: str
    name: str = ""
    language: str = ""
    zone: str = ""
    role: Literal["", "owner", "member", "guest"] = ""
    account: str = ""

    @property
    def payer(self) -> str:
        """Whose memory and budget are theirs."""
        return self.account or self.id


class Place(Struct, frozen=True, omit_defaults=True):
    """Where a conversation happens and its answers go, in the platform's own ids, as strings.

    ``conversation`` is the key of everything stored about it: ``telegram:<chat>[:<topic>]``,
    ``slack:<team>:<channel>[:<thread>]``, ``terminal:<name>`` or ``a2a:<caller>:<context>``. It is also the SQS message
    group.
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


class Attachment(Struct, frozen=True, omit_defaults=True):
    """A file the platform holds for us. ``id`` is what its API wants in order to hand it over.

    The rest is known once it was read (bot/attachments.py): ``blob`` is the key of what we keep of it, ``media_type``
    and ``size`` (bytes) are then of that; ``width`` and ``height`` in pixels are of a picture, ``pages`` of a document;
    ``excerpt`` is the beginning of its text, or what was said in it, and ``chars`` the length of all of that.
    ``words`` is the key of all its text where that is not what ``blob`` holds. ``problem`` says to the model why it
    could not be read.
    """

    kind: str
    id: str = ""
    name: str = ""
    media_type: str = ""
    size: int = 0
    description: str = ""
    blob: str = ""
    width: int = 0
    height: int = 0
    pages: int = 0
    excerpt: str = ""
    chars: int = 0
    words: str = ""
    problem: str = ""


class Quote(Struct, frozen=True, omit_defaults=True):
    """What a message replies to or forwards: somebody's words and files, never instructions."""

    text: str
    author: str = ""
    ours: bool = False
    attachments: tuple[Attachment, ...] = ()


class File(Struct, frozen=True, omit_defaults=True):
    """A file of ours on its way to a chat: ``blob`` is the key of its bytes; people see ``name`` and ``caption``.
    One that is only ``kept`` is not sent: it is there to be opened again. ``width`` and ``height``, in pixels, are of
    a picture that the model takes as it is."""

    blob: str
    name: str
    media_type: str
    size: int = 0
    caption: str = ""
    kept: bool = False
    width: int = 0
    height: int = 0


class Arrival(Struct, frozen=True, omit_defaults=True):
    """How something came in: noted for measuring, and nothing depends on it. ``at_ms`` is in Unix milliseconds;
    ``signed``: a sign of life went back at once; ``trace`` is the W3C traceparent of the span that took it in, or "".
    """

    at_ms: int
    signed: bool = False
    trace: str = ""


Kind = Literal["message", "edit", "tap", "stop", "moved", "left", "joined", "opened", "due", "note"]


FORTNIGHT = 14 * 24 * 3600
"""Seconds for which the stores know an answered message again (bot/keeping.py)."""


class Inbound(Struct, frozen=True, omit_defaults=True):
    """One thing that happened in a conversation and concerns the bot.

    ``id`` is the same for every delivery of the same thing and differs between things of one conversation: the store
    keeps one item per id. ``order`` sorts, as text, the way the platform ordered things. ``native_id`` is the
    platform's message id, which an answer replies to or an edit refers to. ``command`` is the command's name in lower
    case without slash or bot name; ``text`` is then what follows it. ``data`` is a tapped button's token, or the new
    chat id of ``moved``, or the id of the reminder that is ``due``. A
    ``note`` is ours: ``text`` names what is told here, ``data`` is what it is about.

    ``addressed`` is False where it is not to the bot by itself: it then counts only as a piece of an album that is, or
    in a thread that the bot follows. ``quiet`` asks that only the sender sees the answer. ``heard`` is what others had
    said there before, labelled as theirs. ``prompted``: the sender gave a command for which a server wrote the text.
    ``arrival`` is None until it was taken in.
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
    addressed: bool = True
    quiet: bool = False
    heard: tuple[Quote, ...] = ()
    prompted: bool = False
    arrival: Arrival | None = None

    @property
    def conversation(self) -> str:
        return self.place.conversation

    @property
    def words(self) -> str:
        """The text as the person wrote it, a command included."""
        return f"/{self.command} {self.text}".strip() if self.command else self.text.strip()

    @property
    def all_attachments(self) -> tuple[Attachment, ...]:
        """All that came with it, what it quotes included."""
        return (*(self.quote.attachments if self.quote else ()), *self.attachments)

    @property
    def key(self) -> str:
        """Names this item inside its conversation's inbox, and sorts it there."""
        return f"{self.order}#{self.id}"

    @property
    def reference(self) -> str:
        """The id of the turn that it begins, where it begins one: known as soon as it came in, the same everywhere.

        A button that is tapped again after FORTNIGHT is the same thing to the store and begins another turn.
        """
        fortnight = self.arrival.at_ms // (1000 * FORTNIGHT) if self.arrival else 0
        # Two bots that talk to the same person count their messages alike, but not in the same second.
        what = f"{self.conversation}\n{self.key}\n{self.sent_at}\n{fortnight}"
        return sha256(what.encode("utf-8", "surrogatepass")).hexdigest()[:12]


class Usage(Struct, frozen=True, omit_defaults=True):
    """Tokens of one model call; the whole prompt is all of them but ``output``.

    ``cache_write`` is kept for five minutes, ``cache_write_long`` for an hour. ``searches`` are web searches that the
    provider ran, and bills one by one; ``executions`` are commands that it ran, which are no bill's.
    """

    fresh: int = 0
    cache_write: int = 0
    cache_write_long: int = 0
    cache_read: int = 0
    output: int = 0
    searches: int = 0
    executions: int = 0

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


def prompt_tokens(used: Usage | Bill) -> int:
    """Of whole prompts, cached or not."""
    return used.fresh + used.cache_write + used.cache_write_long + used.cache_read


EVERYBODY = "all"
"""The scope of what is spent by all together."""


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
    run. ``stop_reason`` is the provider's word, also where we do not know it. ``id`` is the provider's, "" where it
    gives none. ``missed`` is its own word for why nothing, or less than could be, came from the cache. ``container`` is
    the id of the provider's container in which the code of the next reply goes on, "" for a new one. ``took_ms`` is how
    long it was waited for; 0 where nobody noted it.
    """

    content: list[Json]
    stop_reason: str
    model: str = ""
    usage: Usage = Usage()
    spoiled: dict[str, str] = {}
    id: str = ""
    missed: str = ""
    container: str = ""
    took_ms: int = 0


class Button(Struct, frozen=True, omit_defaults=True):
    """Something to tap under a message. ``data`` comes back in the tap: a word and what it is about, joined by a colon,
    at most 64 bytes. ``row`` counts from 0, from top to bottom."""

    label: str
    data: str
    row: int = 0


class Task(Struct, frozen=True):
    """A step of a turn that a person can watch: a tool call. ``id`` is unique within the turn, ``title`` in their
    language."""

    id: str
    title: str
    state: Literal["running", "done", "failed"]


# The record: one entry per step, appended, never rewritten.


class Asked(Struct, frozen=True, omit_defaults=True, tag="asked"):
    """What people said to start a turn, in order. ``memory`` is what is remembered of them and told to the model with
    it, where it was not told before; ``rules`` what an admin wrote for this chat, the same way."""

    turn: str
    said: tuple[Inbound, ...]
    memory: str = ""
    rules: str = ""


class Answered(Struct, frozen=True, omit_defaults=True, tag="answered"):
    """One reply of the model."""

    turn: str
    reply: Reply


class Returned(Struct, frozen=True, omit_defaults=True, tag="returned"):
    """The results of every tool call of the reply before it, in the order of the calls, as tool_result blocks.

    ``said`` is what people added meanwhile; ``note`` is our own word to the model (a limit that was reached). ``files``
    are what the tools made for the person; ``bill`` is of the model calls that subagents made for these results.
    ``took_ms`` is how long each call ran, by its id, as far as it ran in the invocation that stored this.
    """

    turn: str
    results: tuple[Json, ...]
    said: tuple[Inbound, ...] = ()
    note: str = ""
    files: tuple[File, ...] = ()
    bill: Bill = Bill()
    took_ms: dict[str, int] = {}


class Ended(Struct, frozen=True, omit_defaults=True, tag="ended"):
    """How a turn ended where its last reply does not say it. ``shown`` is what the person reads of it.

    ``why``: "refused" (the exchange is never shown to the model again), "told" (our own words answered it, a command or
    a notice; the model sees neither; ``fresh``: nor anything before it; ``forget``: all of it is deleted), "reminded"
    (a reminder was told, and the model sees both), "stopped" (by a person, in the middle of a reply), "failed"
    (``shown`` holds the reference the person was given), "undone" (it is done again by a later turn, or taken back).
    ``files`` are sent with it.
    """

    turn: str
    why: Literal["refused", "told", "reminded", "stopped", "failed", "undone"]
    shown: str = ""
    fresh: bool = False
    forget: bool = False
    buttons: tuple[Button, ...] = ()
    files: tuple[File, ...] = ()


class Fetched(Struct, frozen=True, omit_defaults=True, tag="fetched"):
    """Files that code run by the provider left there, fetched for the person. The model never sees it.

    ``ids`` are the provider's of all that this settles: older ones of a file written again are not fetched, and
    ``lost`` names those that could not be had.
    """

    turn: str
    ids: tuple[str, ...]
    files: tuple[File, ...] = ()
    lost: tuple[str, ...] = ()


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


class Voted(Struct, frozen=True, omit_defaults=True, tag="voted"):
    """What somebody thinks of a turn's answer. Kept for evals; the model never sees it."""

    turn: str
    person: str
    good: bool


Entry = Asked | Answered | Returned | Ended | Fetched | Summary | Voted


class Part(Struct, frozen=True, omit_defaults=True):
    """One message of a reply on its way out.

    "sending" is stored before the platform is called, "sent" with the platform's id after. A part found "sending" when
    a turn goes on is uncertain: it may or may not have arrived. ``whole``: it shows its final text.
    """

    state: Literal["sending", "sent"]
    id: str = ""
    whole: bool = False


class Approval(Struct, frozen=True, omit_defaults=True):
    """A tool call that somebody must allow before it is made, as it stands in the record.

    ``call`` is its tool_use id and ``entry`` the number of the reply it is in; until ``until`` (Unix time) it can be
    decided, once. ``part`` is the message that asks and ``file`` the one before it that holds what is too long to be
    asked; ``why`` is what the model is told of a no. ``said`` tells that the one who asked answered with a message
    instead.
    """

    call: str
    entry: int
    tool: str
    until: int
    decision: Literal["", "yes", "no"] = ""
    by: str = ""
    why: str = ""
    said: bool = False
    part: Part | None = None
    file: Part | None = None


class Times(Struct, frozen=True, omit_defaults=True):
    """When a turn's first message came, in Unix milliseconds, and how many milliseconds later what happened, 0 for not
    yet: a worker took it up (``waited``), a ``sign`` of life was shown, the first ``token`` of the model came.
    ``signed``: a sign went back as it came."""

    came: int
    waited: int = 0
    signed: bool = False
    sign: int = 0
    token: int = 0

    def since(self, now: float) -> int:
        """Milliseconds until ``now`` (Unix seconds); at least 1, as clocks differ."""
        return max(round(now * 1000) - self.came, 1)


class Turn(Struct, frozen=True, omit_defaults=True):
    """A turn in progress, stored in the conversation's head until its answer is delivered."""

    id: str
    """The reference that a person is shown when it fails; that of the message it began with."""
    place: Place
    asker: Person
    began: int
    first: int
    """Sequence number of the turn's first entry."""
    reply_to: str = ""
    inbox: tuple[str, ...] = ()
    """Keys of the inbox items this turn answers; they become done when it ends."""
    parts: tuple[Part, ...] = ()
    files: tuple[Part, ...] = ()
    """Of the messages that carry files, one for each batch of them, sent after the text."""
    status: Part | None = None
    """Of the line that says what is being worked on; it is taken back when words take its place."""
    quiet: bool = False
    """Whether only the asker sees the answer."""
    approvals: tuple[Approval, ...] = ()
    """Of its tool calls, decided or waited for; while one is, no process works on the turn."""
    model: str = ""
    """The model that answers it, "" for the usual one."""
    invocations: int = 1
    failures: int = 0
    """Model calls that failed or were cut since the last entry was stored."""
    reserved: int = 0
    """Millionths of a dollar that the counters hold for this turn until it ends."""
    bill: Bill = Bill()
    """Of its model calls so far, and of those that subagents made for results that are stored."""
    delegated: dict[str, Bill] = {}
    """Of each subagent at work, by its call: all that it has cost so far, so that noting it again changes nothing."""
    cheaper: bool = False
    """Whether the cheaper model answers it: a budget was nearly spent when it began."""
    tainted: bool = False
    """Whether what is asked may come from words that others wrote: a subagent's task is a model's."""
    times: Times | None = None
    trace: str = ""
    """Of the message it began with, as in its Arrival."""

    @property
    def subagents(self) -> Bill:
        """Of all that ``delegated`` holds: it joins ``bill`` with the results."""
        return sum(self.delegated.values(), start=Bill())

    @property
    def total(self) -> Bill:
        return self.bill + self.subagents


Meanwhile = Literal["steer", "queue", "interrupt"]
"""What a message does that arrives while a turn runs: it is added to it, waits its turn, or ends it."""


class ChatSettings(Struct, frozen=True, omit_defaults=True):
    """What a conversation keeps between turns.

    ``closed``: the bot was blocked or thrown out, nothing can be sent. ``moved_from``: the conversation this one was
    before Telegram made its group a supergroup. ``turn_cost``: what its dearer turns cost lately, in millionths of a
    dollar; 0 where none has ended. ``language``: "en" or "id" where somebody chose one for this chat. ``model``: the
    one chosen for it, "" for the usual one. ``follow``: whether what is said in this thread without naming the bot is
    to it too; None leaves that to the deployment. ``allowed``: whom which tool need not ask here, each until a Unix
    time; a person's id and a tool's name with a space between.
    """

    meanwhile: Meanwhile = "steer"
    closed: bool = False
    moved_from: str = ""
    turn_cost: int = 0
    language: str = ""
    model: str = ""
    follow: bool | None = None
    allowed: dict[str, int] = {}


class Rules(Struct, frozen=True, omit_defaults=True):
    """What an admin wrote for a chat: ``by`` is their id, ``name`` what they were called, ``at`` in Unix seconds."""

    text: str
    by: str
    name: str = ""
    at: int = 0


class Profile(Struct, frozen=True, omit_defaults=True):
    """What is known of a person, in all their chats. ``name``, ``language`` and ``zone`` are as the platform told at
    ``seen`` (Unix time), where its messages do not; ``facts`` what is to be remembered; ``version`` grows with every
    change. A chat has one too, for a group's facts and for the ``rules`` that hold in it: ``chat:<key>``.

    ``role`` is what the owner made of them; ``place`` is their private chat with the bot; ``denied`` the day on which a
    stranger was told last that they are one, and the message that it answered. ``account`` is the id of the same person
    whose memory, budget, language and time zone hold.
    """

    name: str = ""
    language: str = ""
    zone: str = ""
    seen: int = 0
    facts: tuple[str, ...] = ()
    version: int = 0
    role: Literal["", "member", "guest", "banned"] = ""
    place: Place | None = None
    denied: str = ""
    account: str = ""
    rules: Rules | None = None


class Head(Struct, frozen=True, omit_defaults=True):
    """The one item per conversation that says who works on it and where it stands.

    ``until_ms`` is when the lease of ``owner`` ends by itself. ``last`` is the sequence number of the newest entry
    (0: none). ``since`` is the first entry the model may see: everything before it is kept but out of the window.
    ``used`` is when it was last written to, to a day (Unix time); 0 where nobody noted it.
    """

    conversation: str
    owner: str = ""
    until_ms: int = 0
    last: int = 0
    since: int = 1
    turn: Turn | None = None
    settings: ChatSettings = ChatSettings()
    used: int = 0


class Numbered(Struct, frozen=True):
    """An entry with its sequence number, counted from 1."""

    seq: int
    entry: Entry


class Reminder(Struct, frozen=True, omit_defaults=True):
    """Something to be said, or asked, at a time: ``text`` is told as it is, or with ``asks`` answered by the model.

    ``at`` is the next Unix time; ``rule`` an RFC 5545 recurrence such as ``FREQ=WEEKLY;BYDAY=MO`` in the time zone
    ``zone``, or "" for once. ``idle`` counts the times it was due since anybody wrote there.
    """

    id: str
    place: Place
    person: Person
    text: str
    at: int
    rule: str = ""
    zone: str = ""
    asks: bool = False
    idle: int = 0


class ToolRun(Struct, frozen=True, omit_defaults=True):
    """One tool call's own item: started, and finished where ``result`` (a tool_result block) is there. ``files`` are
    what it made for the person."""

    call: str
    result: Json | None = None
    files: tuple[File, ...] = ()


class Installation(Struct, frozen=True, omit_defaults=True):
    """Where an app was installed that may be in many workspaces. ``team`` is the workspace's id, or that of the
    organisation where it was installed for all of it; ``bot`` is the app's user there, ``installer`` who did it.

    ``at`` is when, in Unix seconds. ``tokens`` are sealed; they end at ``expires`` (0: never). ``busy``: until when
    somebody is fetching those that come next. ``stamp`` is another one after each write.
    """

    team: str
    name: str
    bot: str
    installer: str
    at: int
    tokens: bytes
    stamp: str
    expires: int = 0
    busy: int = 0


def whole(text: str) -> str:
    """The text as valid Unicode, as everything stored or sent must be: a character whose halves (surrogates) came apart
    is put together again, a half without the other becomes U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


encode = json.Encoder(order=None).encode
decode_entry: Callable[[bytes], Entry] = json.Decoder(Entry).decode
decode_inbound = json.Decoder(Inbound).decode
decode_turn = json.Decoder(Turn).decode
decode_tool_run = json.Decoder(ToolRun).decode
decode_settings = json.Decoder(ChatSettings).decode
decode_profile = json.Decoder(Profile).decode
decode_reminder = json.Decoder(Reminder).decode
decode_installation = json.Decoder(Installation).decode
