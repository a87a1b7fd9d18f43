"""What we need of servers, and what they offer and answer: said in our own words, whatever library speaks to them."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

from bot.mcp.configured import Server
from bot.messages import Json


class Offer(Struct, frozen=True, omit_defaults=True):
    """One tool. ``reads``: it changes nothing; ``repeatable``: once more does no harm. Both are only its word."""

    name: str
    description: str
    schema: Json
    reads: bool = False
    repeatable: bool = False


class Parameter(Struct, frozen=True, omit_defaults=True):
    name: str
    required: bool = False


class PromptOffer(Struct, frozen=True, omit_defaults=True):
    name: str
    description: str = ""
    parameters: tuple[Parameter, ...] = ()


class ResourceOffer(Struct, frozen=True, omit_defaults=True):
    """Something to read, or with ``{names}`` in its address, some things."""

    uri: str
    about: str = ""


class Offered(Struct, frozen=True, omit_defaults=True):
    """All that a server offers, as it said itself at ``at`` (Unix time)."""

    tools: tuple[Offer, ...] = ()
    prompts: tuple[PromptOffer, ...] = ()
    resources: tuple[ResourceOffer, ...] = ()
    at: int = 0


class Piece(Struct, frozen=True):
    """A part of what a server answered. ``data`` are the bytes of a picture or another file; ``sent``: it is meant for
    the person too."""

    kind: Literal["text", "picture", "file"]
    text: str = ""
    data: bytes = b""
    media_type: str = ""
    name: str = ""
    sent: bool = True


class Question(Struct, frozen=True):
    """What a server asked the person in the middle of a call: the fields of a form, or an address to be opened."""

    message: str
    schema: Json = {}
    url: str = ""


class Answer(Struct, frozen=True):
    """The person's, to the question with this message."""

    question: str
    fields: dict[str, Any]


class Answered(Struct, frozen=True):
    """What became of a call. ``questions`` are those that had no answer; the server was told that nobody answered."""

    pieces: tuple[Piece, ...]
    structured: Any = None
    failed: bool = False
    questions: tuple[Question, ...] = ()


class Unreachable(Exception):
    """One sentence for the model. ``sent``: the call may have reached the server all the same."""

    def __init__(self, message: str, *, sent: bool = False) -> None:
        super().__init__(message)
        self.sent = sent


class Refused(Exception):
    """What the server said in place of an answer."""


class Remote(Protocol):
    """Connections to servers: opened where they are needed, kept while they are. Every call raises Unreachable and
    Refused, and may be cancelled; the next one connects anew."""

    async def offered(self, server: Server) -> Offered:
        """All that it offers, but for what can not be used."""

    async def call(
        self, server: Server, tool: str, arguments: Json, *, repeatable: bool, answers: Sequence[Answer] = ()
    ) -> Answered:
        """One call of a tool, by the server's own name for it."""

    async def read(self, server: Server, uri: str) -> tuple[Piece, ...]:
        """A resource."""

    async def prompt(self, server: Server, name: str, arguments: dict[str, str]) -> str:
        """The words of a prompt."""

    async def rest(self) -> None:
        """A turn has ended: give up the connections that must not outlive it."""

    async def close(self) -> None:
        """Give up all of them."""


Reach = Callable[[], Remote]
"""Gives the connections; they are made at the first call."""
