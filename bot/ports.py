"""What the thinking rooms need from the world. Each method's comment is its guarantee.

Core code takes these as parameters; ``handlers/`` and ``bot/cli/wiring.py`` choose the adapters.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from enum import Enum
from typing import Protocol

from msgspec import Struct

from bot.messages import (
    Attachment,
    Button,
    ChatSettings,
    Counter,
    Entry,
    File,
    Head,
    Inbound,
    Installation,
    Json,
    Numbered,
    Person,
    Place,
    Profile,
    Quote,
    Reminder,
    Reply,
    Spend,
    Spent,
    Summary,
    Task,
    ToolRun,
    Turn,
)


class Receipt(Enum):
    """What became of an inbound that was offered to the store."""

    NEW = "new"
    WAITING = "waiting"
    """Stored before, and not answered yet: wake again, the first wake may be lost."""
    DONE = "done"
    """Stored and answered before: do nothing."""
    IGNORED = "ignored"
    """Not to the bot, and not in a conversation that it is in: not stored."""


class Change(Struct, frozen=True):
    """What one step leaves behind. All of it is stored, or none."""

    entries: tuple[Entry, ...] = ()
    turn: Turn | None = None
    since: int | None = None
    take: tuple[str, ...] = ()
    """Inbox keys that now belong to the turn: no longer pending, not yet done."""
    done: tuple[str, ...] = ()
    """Inbox keys that are answered: kept only so that a late repeat is recognised."""
    settings: ChatSettings | None = None
    """None leaves them as they are."""
    spend: tuple[Spend, ...] = ()
    """What it adds to counters, each of them once."""
    release: bool = False


class Store(Protocol):
    """Conversations, durable. DynamoDB and SQLite; one contract suite (tests/contracts/test_store.py) over both.

    Every read sees every write that ended before it (DynamoDB: ConsistentRead). An outage raises StoreUnavailable,
    and then the write may or may not have happened: the caller reads again before it decides. What a newer Kabar wrote
    is read by none of these methods: they raise NewerSchema.
    """

    async def receive(self, inbound: Inbound) -> Receipt:
        """Store an inbound once. Atomic: of any number of deliveries, at once or later, exactly one is NEW."""

    async def claim(self, conversation: str, owner: str, until_ms: int) -> Head | None:
        """Take the conversation's lease in one conditional write, creating the head where there is none.

        Succeeds where nobody holds it, the holder's time is over, or ``owner`` holds it; None otherwise. ``owner`` must
        be unique for each attempt: it fences every later write. Raises NewerSchema, and takes nothing, where a newer
        Kabar wrote to this conversation: this one would drop what it does not know.
        """

    async def renew(self, head: Head, until_ms: int) -> None:
        """Move the end of our lease. Raises LeaseLost where it is no longer ours."""

    async def commit(self, head: Head, change: Change) -> Head:
        """Store one step atomically, only while ``head.owner`` holds the lease; raises LeaseLost otherwise.

        Entries get the numbers ``head.last + 1`` and on. ``change.turn`` replaces the stored turn, None clears it.
        Returns the head as it is now. Raises BudgetExceeded, with nothing stored, where a counter would go above its
        limit: of any number of commits at once, only those are stored that fit in together.
        """

    async def head(self, conversation: str) -> Head | None:
        """Where a conversation stands, for whoever only watches it; None where it never had a turn. Writes nothing."""

    async def inbox(self, conversation: str) -> list[Inbound]:
        """Everything pending, in order, but for what is damaged. At most 100 at a time."""

    async def record(self, conversation: str, since: int) -> list[Numbered]:
        """The entries from ``since`` on, in order, but for those that are damaged."""

    async def put_tool_run(self, conversation: str, run: ToolRun) -> bool:
        """Remember that a call started, or its result; False where the start is not the first we hear of the call.

        Atomic: of any number of starts, at once or later, one is the first; no other, and no start that comes after a
        result, changes anything.
        """

    async def tool_runs(self, conversation: str, calls: Sequence[str]) -> dict[str, ToolRun]:
        """What is known of these calls, by tool_use id."""

    async def spent(self, counters: Sequence[Counter]) -> dict[Counter, Spent]:
        """What these counters, at most 100, stand at; one that nothing was added to is left out."""

    async def knows(self, conversation: str) -> bool:
        """Whether the bot ever had a turn in it that is not forgotten."""

    async def profile(self, person: str) -> Profile:
        """What is known of a person; an empty one where nothing is."""

    async def profiles(self, people: Iterable[str]) -> dict[str, Profile]:
        """The same of several, in one request: each of them is there."""

    async def role(self, person: str) -> str:
        """The role that the owner gave them, and nothing else that is known of a person; "" where they gave none."""

    async def keep_profile(self, person: str, profile: Profile) -> bool:
        """Store a changed profile, as its next version; False, and nothing stored, where ``profile.version`` is not the
        stored one any more: read it again and decide anew."""

    async def reminders(self, conversation: str) -> list[Reminder]:
        """What is to be said there, by time. At most 100."""

    async def put_reminder(self, reminder: Reminder) -> None:
        """Keep it, in place of the one with its id in its conversation."""

    async def delete_reminder(self, conversation: str, id: str) -> bool:
        """False where there is none."""

    async def kept(self, name: str) -> bytes | None:
        """What was kept under this name last; None where nothing is."""

    async def keep(self, name: str, data: bytes) -> None:
        """Keep what can be had again elsewhere, in place of what was there: at most 300,000 bytes, and not for ever."""

    async def forget(self, head: Head) -> None:
        """Delete a conversation: its record, its tool runs, everything in its inbox that is done, its counters, and in
        the end its head, all only while ``head.owner`` holds the lease. Raises LeaseLost otherwise. What is pending
        stays. May be cut anywhere and done again."""

    async def overdue(self, before: int) -> list[str]:
        """Conversations with a message to the bot that came before this Unix time and is not done: whose wake may be
        lost. One that is not ``addressed`` does not count.

        Eventually consistent, and at most a few hundred: for whoever sweeps every minute or after a restart.
        """

    async def unused(self, before: int) -> list[str]:
        """Conversations whose ``Head.used`` is before this Unix time, those first that were not used for longest; none
        that are nested. As ``overdue``."""


class Upgraded(Struct, frozen=True):
    """Of so many stored values ``seen``, ``old`` were of an older schema; ``unreadable`` says where others lie that can
    not be read, and why."""

    seen: int = 0
    old: int = 0
    unreadable: tuple[str, ...] = ()

    def __add__(self, other: "Upgraded") -> "Upgraded":
        return Upgraded(self.seen + other.seen, self.old + other.old, self.unreadable + other.unreadable)


class Archive(Store, Protocol):
    """A store that can be copied whole (bot/exporting.py); the same contract suite."""

    async def entries(self, conversation: str, first: int, last: int) -> list[Numbered]:
        """The entries from the number ``first`` to ``last``, in order: ``record``, a piece at a time. Raises
        ``msgspec.DecodeError`` where one is damaged: a copy without it would not be whole."""

    def every_conversation(self) -> AsyncIterator[str]:
        """The key of each conversation that has a head, once, in any order; perhaps of one that comes or goes.
        Holds a page of them at a time; of a DynamoDB table it reads everything."""

    def every_profile(self) -> AsyncIterator[str]:
        """The id of everybody, and of each chat, of whom something is known; as ``every_conversation``."""

    def upgraded(self, *, writes: bool) -> AsyncIterator[Upgraded]:
        """Every stored value, a page at a time; one of an older schema (bot/schema.py) is written back in today's, with
        ``writes``, unless somebody wrote it at that moment. May be cut anywhere and done again, beside a bot that runs:
        nothing else changes."""


class Installations(Protocol):
    """Where an app is installed, and what may be done once only; both stores, one contract suite
    (tests/contracts/test_installations.py). An outage raises StoreUnavailable."""

    async def installation(self, team: str) -> Installation | None:
        """None where it is not, or no more, installed."""

    async def install(self, installation: Installation) -> None:
        """Keep it in place of an earlier one of its team; one that was made later stays."""

    async def change_installation(self, stamp: str, installation: Installation) -> bool:
        """Put it in place of the one with this stamp. Atomic: of any number of such changes at once, one is made.
        False, and nothing is changed, where another one stands there meanwhile, or none."""

    async def uninstall(self, team: str, at: int) -> None:
        """Forget what was installed there until this Unix time: an event may come late, after it was installed anew."""

    async def first(self, name: str, until: int) -> bool:
        """Whether nobody asked with this name before. Atomic; what was asked is remembered until this Unix time."""


class Seal(Protocol):
    """Keeps what is stored unreadable to whoever has only the store."""

    async def close(self, about: str, data: bytes) -> bytes:
        """At most 4,000 bytes. ``about`` must be given again to open it. An outage raises StoreUnavailable."""

    async def open(self, about: str, sealed: bytes) -> bytes:
        """Raises ConfigError where it was sealed with another key, or about something else."""


class Wake(Protocol):
    async def wake(self, conversation: str, reason: str) -> None:
        """Have a worker look at this conversation soon, one at a time and in order per conversation.

        At least once; a lost, late or doubled wake must change nothing. ``reason`` names this one wake: calls with the
        same reason within five minutes may be merged into one. Raises StoreUnavailable where it could not be queued.
        """


class Scheduler(Protocol):
    """Sees to it that what is to be said at a time is said then: EventBridge Scheduler, or our own clock."""

    async def schedule(self, reminder: Reminder) -> None:
        """Have ``bot.reminding.fire`` called for it at ``reminder.at``, within a minute; again for the same id replaces
        the time. At least once. Raises StoreUnavailable where that could not be arranged."""

    async def cancel(self, conversation: str, id: str) -> None:
        """One that is not there counts as cancelled."""


class Prompt(Struct, frozen=True):
    """One request to the model, in the shapes of the Anthropic Messages API, cache marks included.

    ``compacts``: not None where the provider shall fold the messages into a block of its own instead of answering them;
    what is in it then takes the place of the provider's instructions, if it is anything. ``previous`` is the id of the
    conversation's reply before, which the provider compares this prompt with where it does so; "" where there is none.
    ``container`` is that of the reply before: code that the provider runs goes on in it where it is still there.
    """

    system: list[Json]
    tools: list[Json]
    messages: list[Json]
    max_tokens: int
    allow_tools: bool = True
    compacts: str | None = None
    previous: str = ""
    container: str = ""


OnText = Callable[[str], None]
"""Called with each new piece of text as it arrives. Must not block."""


class Model(Protocol):
    async def reply(self, prompt: Prompt, on_text: OnText) -> Reply:
        """One streamed model call. Cancelling it closes the connection.

        Never repeated by the adapter, but for one case: a connection that broke before an answer began.

        Returns only a whole reply. Raises ModelUnavailable (also where the stream ended early, after on_text was
        called), PromptTooLong or ModelRefusedRequest; no other exception leaves it.
        """


class LeftOut(Struct, frozen=True):
    """What a conversation's view leaves out from now on: ``entries`` up to the number ``upto``, oldest first, and the
    summary that stood for what was left out before. ``system`` and ``tools`` began the prompts that showed them.
    ``focus`` is what a person asked to keep above all, or ""."""

    entries: tuple[Entry, ...]
    upto: int
    system: list[Json]
    tools: list[Json]
    focus: str = ""


class Policy(Protocol):
    """What stands for the part of a conversation that no longer fits: ``bot/policies``."""

    async def summary(self, left: LeftOut) -> Summary:
        """What is shown in its place, from now on and with everything that stood in an older summary.

        Within ``context.ROOM`` tokens. May be cancelled at any time; raises only ModelErrors.
        """


class Blobs(Protocol):
    """Files and pictures that are too large for the store: a folder or S3; one contract suite over both.

    A key is ``<conversation>/<name>``; what is stored under a key never changes. An outage raises StoreUnavailable.
    """

    async def put(self, conversation: str, data: bytes, media_type: str) -> str:
        """Keep these bytes; returns their key, the same for the same bytes in the same conversation."""

    async def get(self, key: str) -> bytes | None:
        """The bytes, or None where there are none any more."""

    async def forget(self, conversation: str) -> None:
        """Delete everything kept for a conversation. May be cut anywhere and done again."""


class ProviderFile(Struct, frozen=True):
    """A file that the provider of the model keeps; ``size`` is in bytes."""

    name: str
    media_type: str
    size: int


class ProviderFiles(Protocol):
    """Files that the provider of the model keeps for the code it runs. An outage raises ModelUnavailable; a file that
    is not there, or may not be had, raises FileRefused."""

    async def upload(self, name: str, data: bytes, media_type: str) -> str:
        """Returns its id. It is gone there by itself after a month."""

    async def about(self, id: str) -> ProviderFile: ...

    async def download(self, id: str) -> bytes: ...

    async def delete(self, id: str) -> None:
        """One that is not there counts as deleted."""


class Read(Struct, frozen=True):
    """What a file turned out to be: ``data`` is what to keep of it, a picture made small enough for the model included;
    the other fields are those of Attachment. ``text`` is all of its text, "" where it has none."""

    data: bytes
    media_type: str
    width: int = 0
    height: int = 0
    pages: int = 0
    text: str = ""


class Reader(Protocol):
    async def read(self, data: bytes) -> Read:
        """Tell by the bytes what a file is, whatever it is called, and make it readable. Raises FileRefused."""


NOTHING_TO_SHOW = "…"
"""What a channel renders where there is nothing to be seen, or while it grows, nothing yet."""


class Rendered(Struct, frozen=True):
    """One message as a platform will show it, within its limits.

    ``text`` is what is sent; ``markup`` is the channel's own way to style it (Telegram: entities), () for plain.
    ``buttons`` stand in rows below it. ``tasks`` are shown above it while it grows, by channels that can.
    """

    text: str
    markup: tuple[Json, ...] = ()
    buttons: tuple[Button, ...] = ()
    tasks: tuple[Task, ...] = ()


class Upload(Struct, frozen=True):
    """A file to be sent. ``caption`` is plain text, "" for none."""

    name: str
    media_type: str
    data: bytes
    caption: str = ""


class Manner(Struct, frozen=True):
    """How a message is sent.

    ``reply_to`` is the platform's id of the message it answers, or "". ``mark`` travels with the message where the
    platform can carry it, so that ``find`` can look for it. ``growing``: edits follow until one that is not growing.
    ``silent``: without a sound. ``to`` is who asked; ``quiet``: only they see it, and nothing can be edited later.
    """

    to: Person
    mark: str
    reply_to: str = ""
    growing: bool = False
    silent: bool = False
    quiet: bool = False


class Pace(Struct, frozen=True):
    """At most ``burst`` calls at once, and one more every ``interval`` seconds; where the platform counts minutes, at
    most ``minute`` in any of them, and what grows changes every ``growth`` seconds to come out even."""

    interval: float
    burst: int
    minute: int = 0
    growth: float = 0.0


class Channel(Protocol):
    """One platform's way in for files and way out. Every call ends within a few seconds, but for files, and raises only
    SendErrors, or what it names itself."""

    stop_button: bool
    """Whether a growing message may carry a Stop button that is gone when it is done."""
    shows_tasks: bool
    """Whether a growing message can show ``Rendered.tasks``."""
    feedback: bool
    """Whether an answer asks what people think of it."""
    typing_interval: float
    """Seconds after which a sign of life must be shown again, or it ends."""
    pace: Pace
    group_pace: Pace
    """How often a private chat, and a group or channel, may be written to."""

    def render(self, markdown: str, *, growing: bool = False) -> list[Rendered]:
        """Split a reply into messages. Pure. Never empty; each part stands alone.

        ``growing``: its end is still to come, so markup that is half open there is shown as if it were closed. Stable
        for streaming: where the text only grows, all parts but the last two stay as they are.
        """

    def drafts(self, place: Place) -> bool:
        """Whether unfinished text is shown there as a draft, and not by editing a message. Pure."""

    async def draft(self, place: Place, part: Rendered, mark: str) -> None:
        """Show unfinished text in a preview that is gone by itself; the same mark replaces it."""

    def batches(self, files: Sequence[File]) -> list[tuple[File, ...]]:
        """The same files in the same order, as the platform can send them at once: an album, or one by one. Pure."""

    async def introduce(self, place: Place, person: Person) -> Person:
        """The person with name, language and zone as the platform knows them. Best effort, raises nothing."""

    async def administers(self, place: Place, person: Person) -> bool:
        """Whether they look after this group or channel, or all of the workspace. Best effort, raises nothing: False
        where the platform does not tell."""

    async def earlier(self, place: Place, before: str) -> tuple[Quote, ...]:
        """What was said in this thread before the message ``before`` (its native id), oldest first, bounded; () where
        the platform does not tell. Best effort, raises nothing."""

    async def named(self, place: Place, words: str) -> str:
        """Somebody's words with the names of people whom the platform puts there by their ids alone; again, the same.
        Best effort, raises nothing."""

    async def fetch(self, place: Place, attachment: Attachment) -> bytes:
        """The bytes of a file that came with a message. Raises FileRefused, or SendLater and SendUncertain where it is
        worth another try."""

    async def typing(self, place: Place, active: bool = True) -> None:
        """Show, or end, the sign of life. Best effort: raises nothing but SendLater, and that only when showing it."""

    async def send(self, place: Place, part: Rendered, manner: Manner) -> str:
        """Post one message in the place's own thread, without link previews; returns the platform's id for it."""

    async def send_files(self, place: Place, files: Sequence[Upload], manner: Manner) -> str:
        """Post one batch of files; returns the platform's id of the (first) message."""

    async def edit(self, place: Place, message_id: str, part: Rendered, *, growing: bool = False) -> None:
        """Replace a message of ours. An edit that changes nothing counts as done."""

    async def delete(self, place: Place, message_id: str) -> None:
        """Take back a message of ours. One that is no longer there counts as done."""

    async def find(self, place: Place, mark: str) -> str | None:
        """The id of a message sent with this mark, or None where none is there or the platform cannot tell."""

    async def greet(self, place: Place, person: Person, choices: Sequence[Button] = ()) -> None:
        """Somebody opened the bot's page or its empty chat (an inbound "opened"): show what it is there for, and what
        can be chosen in that chat. Best effort, raises nothing."""

    async def close(self) -> None:
        """Give up the connections."""


class Clock(Protocol):
    """Time as a parameter, so that tests and leases agree on it."""

    def now(self) -> float:
        """Unix time in seconds."""

    async def sleep(self, seconds: float) -> None: ...
