"""Servers of the Model Context Protocol as their owner configured them; ``bot/agentdir/mcp.py`` reads them."""

from fnmatch import fnmatchcase

from msgspec import Struct


class Auth(Struct, frozen=True, forbid_unknown_fields=True):
    """OAuth 2 client credentials. They are sent to ``token_url`` alone or, without one, to the authorization server
    that the server names, where that is ``issuer``: by default the server's own origin."""

    client_id: str
    client_secret: str
    token_url: str = ""
    scope: str = ""
    issuer: str = ""


class Command(Struct, frozen=True):
    """A program on this machine, spoken to through its standard input and output. It inherits nothing but PATH, HOME,
    LANG and the like; ``env`` comes on top. ``cwd`` "" is our own working folder."""

    command: str
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str = ""


class Address(Struct, frozen=True):
    """Somewhere else, by streamable HTTP."""

    url: str
    headers: dict[str, str] = {}
    auth: Auth | None = None


class Server(Struct, frozen=True):
    """``key`` stays the same while its configuration does, and holds no secret: what it offers is kept under it.

    ``allow``, ``deny`` and ``ask`` are names of its tools, with wildcards. ``ask`` None: those ask first that do not
    say that they only read, and all once words of others were read in the turn; else exactly those named. ``seconds``
    and ``result_chars`` are limits of each call."""

    name: str
    key: str
    at: Command | Address
    allow: tuple[str, ...] = ("*",)
    deny: tuple[str, ...] = ()
    ask: tuple[str, ...] | None = None
    seconds: float = 60
    result_chars: int = 20_000

    def allows(self, tool: str) -> bool:
        return matches(tool, self.allow) and not matches(tool, self.deny)


def matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
