"""Logging that keeps secrets and people's words out.

Our own lines are ``key=<value> | message``. Whatever a library writes goes through the same filter, tracebacks
included: Telegram's token is part of every URL.
"""

import logging
import re

SECRET = re.compile(
    r"\d{6,}(?::|%3A)[\w-]{30,}"  # a Telegram bot token, also inside a quoted address
    r"|x(?:ox[a-z]|app)-[\w-]{6,}"  # Slack tokens
    r"|sk-[\w-]{8,}|tvly-[\w-]{8,}"  # keys of model providers, and of the web search
    r"|(?i:bearer\s+)[\w.~+/-]{8,}=*"
)
LINE = "%(levelname)s %(asctime)s %(name)s %(message)s"
QUIET = (
    "httpx",
    "httpx2",
    "httpcore",
    "httpcore2",
    "urllib3",
    "botocore",
    "boto3",
    "slack_sdk",
    "slack_bolt",
    "anthropic",
    "a2a",
    "asyncio",
)
SILENT = ("mcp",)
"""What they have to say may be people's words; that something went wrong we say ourselves."""


class _Redacting(logging.Formatter):
    """Another formatter's lines without secrets. On Lambda that one is the runtime's, which names the request."""

    def __init__(self, inner: logging.Formatter) -> None:
        super().__init__()
        self._inner = inner

    def format(self, record: logging.LogRecord) -> str:
        return redact(self._inner.format(record))


def redact(text: str) -> str:
    return SECRET.sub("[secret]", text)


def set_up(level: str) -> None:
    """Make the root logger write redacted lines; libraries only from WARNING on, whatever ``level`` is."""
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(logging.StreamHandler())
    for handler in root.handlers:  # on Lambda the runtime has put its own there
        if not isinstance(handler.formatter, _Redacting):
            handler.setFormatter(_Redacting(handler.formatter or logging.Formatter(LINE)))
    root.setLevel(level.upper())
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    for name in SILENT:
        logging.getLogger(name).setLevel(logging.CRITICAL)
