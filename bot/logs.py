"""Logging that keeps secrets and people's words out, and says of each line which turn it belongs to.

Our own lines are ``key=<value> | message``. On a laptop they are written so, on Lambda as one JSON object each with the
keys as its members. What holds for everything that runs inside, such as the turn's reference, is said once, with
``about``. Whatever a library writes goes through the same filters, tracebacks included: Telegram's token is part of
every URL, and an exception's text may quote what it could not digest.

``words`` is the logger of what people and the model say. It writes only where an owner switched that on.
"""

import json
import logging
import re
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

from bot.errors import KabarError

SECRET = re.compile(
    r"\d{6,}(?::|%3A)[\w-]{30,}"  # a Telegram bot token, also inside a quoted address
    r"|x(?:ox[a-z]|app)-[\w-]{6,}"  # Slack tokens
    r"|sk-[\w-]{8,}|tvly-[\w-]{8,}"  # keys of model providers, and of the web search
    r"|(?i:bearer\s+)[\w.~+/-]{8,}=*"
)
KEYED = re.compile(r"(\w+)=<([^<>]*)>")
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
    "mangum",
    "opentelemetry",
    "uvicorn",
)
SILENT = ("mcp",)
"""What they have to say may be people's words; that something went wrong we say ourselves."""
OURS = frozenset({"bot", "handlers", "simulator", "benchmarks", "chaos"})
PLAIN_SPOKEN = ("bot.", "botocore.")
"""Modules whose exceptions quote nobody's words: ours, and those that say which right is missing at AWS."""
OFF = logging.CRITICAL + 1

words = logging.getLogger("bot.words")
words.setLevel(OFF)  # until an owner wishes otherwise

_RAISED_ABOUT = "_kabar_about"
_about: ContextVar[Mapping[str, str]] = ContextVar("about", default=MappingProxyType({}))


@contextmanager
def about(**keys: str) -> Iterator[None]:
    """Each line of what runs inside carries these keys too; "" takes back what was said further out. So does the line
    in which somebody further out tells of an exception that came from inside."""
    token = _about.set({**_about.get(), **keys})
    try:
        yield
    except Exception as error:
        if not hasattr(error, _RAISED_ABOUT):
            setattr(error, _RAISED_ABOUT, _about.get())
        raise
    finally:
        _about.reset(token)


def set_up(
    level: str, *, as_json: bool = False, stack: str = "", all_metrics: bool = False, content: bool = False
) -> None:
    """Make the root logger write redacted lines; libraries only from WARNING on, whatever ``level`` is.

    ``as_json``: as CloudWatch reads them; with ``stack``, the name of a deployment, metrics come with them
    (bot/metrics.py), few or ``all_metrics``, at every level. ``content``: what people say and what exceptions quote is
    written too.
    """
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(logging.StreamHandler())
    for handler in root.handlers:  # on Lambda the runtime has put its own there, which adds no line's end
        end = "" if isinstance(handler, logging.StreamHandler) else "\n"
        handler.setFormatter(
            AsJson(stack, end, all_metrics=all_metrics, content=content) if as_json else AsText(content=content)
        )
    root.setLevel(level.upper())
    logging.getLogger("bot.metrics").setLevel(logging.INFO if as_json and stack else logging.NOTSET)
    words.setLevel(logging.INFO if content else OFF)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    for name in SILENT:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    if content:
        logging.getLogger(__name__).warning("KABAR_LOG_CONTENT=<on> | what people write is in this log")


def redact(text: str) -> str:
    return SECRET.sub("[secret]", text)


class _Discreet(logging.Formatter):
    """Takes a record apart: its keys, what it says, and what went wrong."""

    def __init__(self, *, content: bool = False) -> None:
        super().__init__()
        self._content = content

    def keys_and_words(self, record: logging.LogRecord) -> tuple[dict[str, Any], str]:
        if record.name.partition(".")[0] not in OURS:
            return {}, record.getMessage() if self._content else _without_words(record)
        keys, said = _taken_apart(record)
        around = {**_about.get(), **_raised_about(record)}
        return {**{name: value for name, value in around.items() if value}, **keys}, said

    def what_went_wrong(self, record: logging.LogRecord) -> str:
        if not record.exc_info or record.exc_info[1] is None:
            return ""
        if self._content:
            return self.formatException(record.exc_info)
        return "".join(_told(record.exc_info[1])).rstrip()


class AsText(_Discreet):
    """For a person's terminal."""

    def format(self, record: logging.LogRecord) -> str:
        keys, said = self.keys_and_words(record)
        told = ", ".join(f"{name}=<{value}>" for name, value in keys.items())
        line = f"{record.levelname} {self.formatTime(record)} {record.name} {f'{told} | ' if told else ''}{said}"
        line = line.replace("\n", "\\n")  # no value may look like a line of its own
        return redact("\n".join(filter(None, (line, self.what_went_wrong(record)))))


class AsJson(_Discreet):
    """For CloudWatch: one object a line, in the embedded metric format where the line measures something.

    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
    """

    def __init__(self, stack: str, end: str, *, all_metrics: bool = False, content: bool = False) -> None:
        super().__init__(content=content)
        self._stack = stack
        self._all_metrics = all_metrics
        self._end = end

    def format(self, record: logging.LogRecord) -> str:
        keys, said = self.keys_and_words(record)
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: dict[str, Any] = {
            "time": f"{seconds}.{int(record.msecs):03}Z",
            "level": record.levelname,
            "logger": record.name,
            "message": said,
            **keys,
        }
        if request := getattr(record, "aws_request_id", ""):  # the runtime's
            line["request"] = request
        if wrong := self.what_went_wrong(record):
            line["trace"] = wrong
        if self._stack and (measured := getattr(record, "measured", None)):
            line |= measured.as_members(self._stack, int(record.created * 1000), all_metrics=self._all_metrics)
        return redact(json.dumps(line, ensure_ascii=False, default=str)) + self._end


def _raised_about(record: logging.LogRecord) -> Mapping[str, str]:
    """Of the exception that the line tells of, if any."""
    told = record.args if isinstance(record.args, tuple) else ()
    errors = (record.exc_info[1] if record.exc_info else None, *told)
    found = (getattr(each, _RAISED_ABOUT, None) for each in errors if isinstance(each, Exception))
    return next(filter(None, found), {})


def _taken_apart(record: logging.LogRecord) -> tuple[dict[str, Any], str]:
    """``key=<value> | message`` by its template, so that no value, whatever is in it, is taken for a key."""
    head, bar, said = str(record.msg).partition(" | ")
    found = KEYED.findall(head)
    forms = [form for _, form in found if "%" in form]
    if not bar or not found or len(forms) != head.count("%") or not isinstance(record.args, tuple):
        return {}, record.getMessage()
    given = iter(record.args)
    keys = {name: _value(form, next(given)) if "%" in form else form for name, form in found}
    return keys, said % tuple(given) if record.args else said


def _value(form: str, value: object) -> object:
    """Numbers stay numbers: they are added up."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else form % (value,)


def _without_words(record: logging.LogRecord) -> str:
    """A library's line without what it was filled with, but for numbers, and without what stands below it."""
    template = str(record.msg).partition("\n")[0]
    given: Any = record.args
    try:
        if isinstance(given, Mapping):
            return template % {name: _number(value) for name, value in given.items()}
        return template % tuple(map(_number, given)) if given else template
    except (TypeError, ValueError):
        return template


def _number(value: object) -> object:
    return value if isinstance(value, int | float) else "…"


def _told(error: BaseException) -> Iterator[str]:
    """A traceback as Python prints it, without the texts of exceptions that may quote somebody."""
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None:
        yield from _told(before)
        yield "which led to:\n"
    yield "Traceback (most recent call last):\n"
    yield from traceback.format_tb(error.__traceback__)
    name = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    yield f"{name}: {error}\n" if _is_plain_spoken(error) else f"{name}\n"
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _told(each)


def _is_plain_spoken(error: BaseException) -> bool:
    return isinstance(error, KabarError) or type(error).__module__.startswith(PLAIN_SPOKEN)
