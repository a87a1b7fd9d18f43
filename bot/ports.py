"""What the thinking rooms need from the world. Each method's comment is its guarantee.

Core code takes these as parameters; ``handlers/wiring.py`` and ``bot/cli/wiring.py`` choose the adapters.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Protocol

from msgspec import Struct

from bot.messages import (
    Button,
    ChatSettings,
    Counter,
    Entry,
    Head,
    Inbound,
    Json,
    Numbered,
    Place,
    Reply,
    Spend,
    Spent,
    Summary,
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
    and then the write may or may not have happened: the caller reads again before it decides.
    """

    async def receive(self, inbound: Inbound) -> Receipt:
        """Store an inbound once. Atomic: of any number of deliveries, at once or later, exactly one is NEW."""

    async def claim(self, conversation: str, owner: str, until_ms: int) -> Head | None:
        """Take the conversation's lease in one conditional write, creating the head where there is none.

        Succeeds where nobody holds it, the holder's time is over, or ``owner`` holds it; None otherwise. ``owner`` must
        be unique for each attempt: it fences every later write.
        """

    async def renew(self, head: Head, until_ms: int) -> None:
        """Move the end of our lease. Raises LeaseLost where it is no longer ours."""

    async def commit(self, head: Head, change: Change) -> Head:
        """Store one step atomically, only while ``head.owner`` holds the lease; raises LeaseLost otherwise.

        Entries get the numbers ``head.last + 1`` and on. ``change.turn`` replaces the stored turn, None clears it.
        Returns the head as it is now. Raises BudgetExceeded, with nothing stored, where a counter would go above its
        limit: of any number of commits at once, only those are stored that fit in together.
        """

    async def inbox(self, conversation: str) -> list[Inbound]:
        """Everything pending, in order. At most 100 at a time."""

    async def record(self, conversation: str, since: int) -> list[Numbered]:
        """The entries from ``since`` on, in order."""

    async def put_tool_run(self, conversation: str, run: ToolRun) -> bool:
        """Remember that a call started, or its result; False where the start is not the first we hear of the call.

        Atomic: of any number of starts, at once or later, one is the first; no other, and no start that comes after a
        result, changes anything.
        """

    async def tool_runs(self, conversation: str, calls: Sequence[str]) -> dict[str, ToolRun]:
        """What is known of these calls, by tool_use id."""

    async def spent(self, counters: Sequence[Counter]) -> dict[Counter, Spent]:
        """What these counters, at most 100, stand at; one that nothing was added to is left out."""

    async def overdue(self, before: int) -> list[str]:
        """Conversations with a message that came before this Unix time and is not done: whose wake may be lost.

        Eventually consistent, and at most a few hundred: for whoever sweeps every minute or after a restart.
        """


class Wake(Protocol):
    async def wake(self, conversation: str, reason: str) -> None:
        """Have a worker look at this conversation soon, one at a time and in order per conversation.

        At least once; a lost, late or doubled wake must change nothing. ``reason`` names this one wake: calls with the
        same reason within five minutes may be merged into one. Raises StoreUnavailable where it could not be queued.
        """


class Prompt(Struct, frozen=True):
    """One request to the model, in the shapes of the Anthropic Messages API, cache marks included.

    ``compacts``: not None where the provider shall fold the messages into a block of its own instead of answering them;
    what is in it then takes the place of the provider's instructions, if it is anything.
    """

    system: list[Json]
    tools: list[Json]
    messages: list[Json]
    max_tokens: int
    allow_tools: bool = True
    compacts: str | None = None


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


class Rendered(Struct, frozen=True):
    """One message as a platform will show it, within its limits.

    ``text`` is what is sent; ``markup`` is the channel's own way to style it (Telegram: entities), () for plain.
    ``buttons`` stand in one row below it.
    """

    text: str
    markup: tuple[Json, ...] = ()
    buttons: tuple[Button, ...] = ()


class Channel(Protocol):
    """One platform's way out. Every call ends within a few seconds and raises only SendErrors."""

    stop_button: bool
    """Whether a growing message may carry a Stop button that is gone when it is done."""
    typing_interval: float
    """Seconds after which a sign of life must be shown again, or it ends."""
    edit_interval: float
    """Seconds between two edits of one message that the platform puts up with, in a private chat."""
    group_edit_interval: float

    def render(self, markdown: str) -> list[Rendered]:
        """Split a reply into messages. Pure. Never empty; each part stands alone.

        Stable for streaming: where the text only grows, all parts but the last two stay as they are.
        """

    async def typing(self, place: Place, active: bool = True) -> None:
        """Show, or end, the sign of life. Best effort: raises nothing but SendLater, and that only when showing it."""

    async def send(self, place: Place, part: Rendered, *, reply_to: str, mark: str) -> str:
        """Post one message in the place's own thread, without link previews; returns the platform's id for it.

        ``mark`` travels with the message where the platform can carry it, so that ``find`` can look for it.
        """

    async def edit(self, place: Place, message_id: str, part: Rendered) -> None:
        """Replace a message of ours. An edit that changes nothing counts as done."""

    async def delete(self, place: Place, message_id: str) -> None:
        """Take back a message of ours. One that is no longer there counts as done."""

    async def find(self, place: Place, mark: str) -> str | None:
        """The id of a message sent with this mark, or None where none is there or the platform cannot tell."""

    async def close(self) -> None:
        """Give up the connections."""


class Clock(Protocol):
    """Time as a parameter, so that tests and leases agree on it."""

    def now(self) -> float:
        """Unix time in seconds."""

    async def sleep(self, seconds: float) -> None: ...
