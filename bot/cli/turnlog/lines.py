"""The lines of the log that name a reference: read from files, or from a stack's log groups on AWS."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from bot.errors import ConfigError
from bot.logs import KEYED

DAY_MS = 24 * 3600 * 1000

# LEVEL 2026-12-01 10:02:03,456 logger key=<value>, ... | message
TEXT = re.compile(
    r"(?P<level>[A-Z]+) (?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) (?P<logger>[\w.]+) (?P<rest>.*)", re.DOTALL
)
# [LEVEL]\ttime\trequest\tmessage, as Lambda's runtime wrote what older versions logged
RUNTIME = re.compile(r"\[(?P<level>[A-Z]+)\]\t(?P<time>[\d:.TZ-]+)\t(?P<request>[\w-]*)\t(?P<rest>.*)", re.DOTALL)
OF_EVERY_LINE = {"time", "level", "logger", "message", "trace", "request", "turn", "conversation", "_aws"}


class Line(Struct, frozen=True):
    """``at`` is ISO 8601, UTC on AWS; ``where`` the function or the file; ``keys`` are what it says of itself."""

    at: str
    where: str
    level: str
    said: str
    turn: str
    conversation: str
    keys: dict[str, Any]
    trace: str = ""

    def names(self, reference: str) -> bool:
        """Whether it is about that turn, or about the turn that answers that message."""
        return self.turn == reference or reference in str(self.keys.get("others", "")).split()


def read_line(text: str, where: str, at_ms: int = 0) -> Line:
    """A line of any version: one JSON object, or ``key=<value> | message``."""
    try:
        told = json.loads(text)
    except ValueError:
        return _from_text(text.rstrip(), where, at_ms)
    if not isinstance(told, dict):
        return _from_text(text.rstrip(), where, at_ms)
    metrics = {name for each in told.get("_aws", {}).get("CloudWatchMetrics", ()) for name in _members(each)}
    return Line(
        at=str(told.get("time", "")) or _iso(at_ms),
        where=where,
        level=str(told.get("level", "")),
        said=str(told.get("message", "")),
        turn=str(told.get("turn", "")),
        conversation=str(told.get("conversation", "")),
        keys={name: value for name, value in told.items() if name not in OF_EVERY_LINE | metrics},
        trace=str(told.get("trace", "")),
    )


def in_files(paths: Sequence[Path], references: Iterable[str]) -> list[Line]:
    """Raises ConfigError where one can not be read."""
    wanted = set(references)
    found: list[Line] = []
    for path in paths:
        try:
            whole = list(_whole_lines(path.read_text(errors="replace").splitlines()))
        except OSError as error:
            raise ConfigError(f"{path} can not be read: {error.strerror}.") from error
        lines = (read_line(text, path.name) for text in whole if any(each in text for each in wanted))
        found += [line for line in lines if any(map(line.names, wanted))]
    return found


def on_aws(endpoint_url: str, stack: str, references: Iterable[str], *, since_ms: int, until_ms: int) -> list[Line]:
    """What the stack's functions said of these references in that time, in its order. Raises ConfigError."""
    from botocore.exceptions import BotoCoreError, ClientError

    from handlers.aws import Aws

    try:
        with closing(Aws(endpoint_url)) as aws:
            groups = _groups(aws.client("cloudformation"), stack)
            logs = aws.client("logs")
            found = [
                line
                for reference in references
                for where, group in groups
                for line in _filtered(logs, group, where, reference, since_ms, until_ms)
            ]
    except (BotoCoreError, ClientError) as error:
        code = error.response["Error"]["Code"] if isinstance(error, ClientError) else type(error).__name__
        do = "Set AWS_PROFILE and AWS_REGION to its account and region, and name one that is there."
        raise ConfigError(f"The log of the stack {stack} can not be read ({code}). {do}") from error
    return sorted(found, key=lambda line: line.at)


def _groups(stacks: Any, stack: str) -> list[tuple[str, str]]:
    """Each function's own name, and its log group."""
    pages = stacks.get_paginator("list_stack_resources").paginate(StackName=stack)
    resources = (each for page in pages for each in page["StackResourceSummaries"])
    return [
        (each["LogicalResourceId"].removesuffix("Log").lower(), each["PhysicalResourceId"])
        for each in resources
        if each["ResourceType"] == "AWS::Logs::LogGroup"
    ]


def _filtered(logs: Any, group: str, where: str, reference: str, since_ms: int, until_ms: int) -> Iterator[Line]:
    pages = logs.get_paginator("filter_log_events").paginate(
        logGroupName=group, filterPattern=f'"{reference}"', startTime=since_ms, endTime=until_ms
    )
    for page in pages:
        for event in page["events"]:
            line = read_line(event["message"], where, event["timestamp"])
            if line.names(reference):
                yield line


def _from_text(text: str, where: str, at_ms: int) -> Line:
    match = TEXT.match(text) or RUNTIME.match(text)
    parts = match.groupdict() if match else {"rest": text}
    first, _, trace = parts["rest"].partition("\n")
    head, bar, said = first.partition(" | ")
    keys = dict(KEYED.findall(head)) if bar else {}
    return Line(
        at=_of_text(parts["time"]) if "time" in parts else _iso(at_ms),
        where=where,
        level=parts.get("level", ""),
        said=said if bar else first,
        turn=keys.pop("turn", ""),
        conversation=keys.pop("conversation", ""),
        keys=keys,
        trace=trace,
    )


def _whole_lines(lines: Iterable[str]) -> Iterator[str]:
    """A traceback belongs to the line above it."""
    current: list[str] = []
    for line in lines:
        if current and (line.startswith("{") or TEXT.match(line) or RUNTIME.match(line)):
            yield "\n".join(current)
            current = []
        current.append(line)
    if current:
        yield "\n".join(current)


def _members(directive: Any) -> Iterator[str]:
    yield from (metric["Name"] for metric in directive["Metrics"])
    yield from (name for names in directive["Dimensions"] for name in names)


def _of_text(time: str) -> str:
    return time.replace(" ", "T").replace(",", ".")


def _iso(at_ms: int) -> str:
    if not at_ms:
        return ""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at_ms % 1000:03}Z"
