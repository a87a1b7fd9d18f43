"""What is counted and measured, told together with the line of the log that it belongs to.

On AWS the line is in CloudWatch's embedded metric format (bot/logs.py), so that nothing is called and nothing can fail;
on a laptop it is a line like any other. A metric has the deployment for its dimension and at most one more, whose
values are few: each of them is a metric of its own and has its price. Never a person, a chat or a model's word.
"""

import logging
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from msgspec import Struct

from bot.messages import Turn, prompt_tokens

log = logging.getLogger(__name__)

NAMESPACE = "Kabar"

Unit = Literal["Count", "Milliseconds", "Percent", "None"]

METRICS: dict[str, tuple[Unit, str]] = {
    # what came in
    "Accepted": ("Count", ""),
    "Doubles": ("Count", ""),  # Slack sends each mention in a channel twice: as one, and as a message
    "Refused": ("Count", "Status"),
    # turns, and how long people wait: all from when the message reached us
    "Turns": ("Count", "Outcome"),
    "FailedShare": ("Percent", ""),  # of each turn 100 or 0: the average is the share
    "Waited": ("Milliseconds", ""),  # until a worker took it up
    "FirstSign": ("Milliseconds", ""),
    "FirstToken": ("Milliseconds", ""),
    "Answer": ("Milliseconds", ""),
    # the model
    "FreshTokens": ("Count", ""),
    "CacheReadTokens": ("Count", ""),
    "CacheWriteTokens": ("Count", ""),
    "OutputTokens": ("Count", ""),
    "CacheShare": ("Percent", ""),  # of what the model read in each turn
    "Cost": ("None", ""),  # US dollars
    "ModelRetries": ("Count", ""),
    # what else goes wrong, or waits
    "ToolErrors": ("Count", "Tool"),
    "Held": ("Count", "Platform"),  # a platform wanted no call for a while: 429
    "OverBudget": ("Count", "Limit"),
    "ApprovalsAsked": ("Count", ""),
    "ApprovalsDecided": ("Count", ""),
}
"""By name: the unit, and the dimension beside the deployment."""

FEW = frozenset(
    ("Accepted", "Refused", "Turns", "FailedShare", "Waited", "FirstSign", "Answer", "CacheShare", "Cost", "Held")
)
"""Those that CloudWatch counts unless it is to count all: what alarms ask for, and as many as it counts for nothing.
The others stand in the same lines, where the dashboard's queries find them. Only ``Refused`` is counted by its
dimension."""


class Measured(Struct, frozen=True):
    """What one line measures: ``values`` by the names in METRICS; ``by`` is the value of their other dimension."""

    values: Mapping[str, float]
    by: str = ""

    def as_members(self, stack: str, at_ms: int, *, all_metrics: bool = False) -> dict[str, Any]:
        """What makes a JSON line one of the embedded metric format. ``all_metrics``: not only the FEW are counted."""
        others = {METRICS[name][1] for name in self.values if self.by} - {""}
        if all_metrics:
            directives = [_directive(self.values), *(_directive(self.values, other) for other in others)]
        else:
            few = [name for name in self.values if name in FEW]
            plain = [name for name in few if name != "Refused"]
            directives = [_directive(plain), _directive(few, "Status")]
        counted = [each for each in directives if each["Metrics"]]
        return {
            **({"_aws": {"Timestamp": at_ms, "CloudWatchMetrics": counted}} if counted else {}),
            "Stack": stack,
            **dict.fromkeys(others, self.by),
            **self.values,
        }


def _directive(names: Iterable[str], other: str = "") -> dict[str, Any]:
    """Of these metrics all, or those that have that dimension too."""
    dimensions = ["Stack", other] if other else ["Stack"]
    metrics = [{"Name": name, "Unit": METRICS[name][0]} for name in names if other in ("", METRICS[name][1])]
    return {"Namespace": NAMESPACE, "Dimensions": [dimensions], "Metrics": metrics}


def tell(values: Mapping[str, float], line: str, *keys: object, by: str = "", level: int = logging.INFO) -> None:
    """A line of the log that measures: ``tell({"Refused": 1}, "status=<%d> | refused", 401, by="401")``. Without
    values it is a line like any other."""
    log.log(level, line, *keys, extra={"measured": Measured(values, by)} if values else None)


def refused(status: int) -> None:
    """A request that was not taken in, by HTTP's status."""
    tell({"Refused": 1}, "status=<%d> | refused", status, by=str(status))


def turn_ended(turn: Turn, outcome: str, now: float) -> None:
    """The last line of a turn: how it ended, how long it took, what it cost."""
    bill, times = turn.total, turn.times
    written = bill.cache_write + bill.cache_write_long
    prompt = prompt_tokens(bill)
    values: dict[str, float] = {"Turns": 1, "FailedShare": 100 if outcome == "failed" else 0}
    if bill.calls:
        values |= {
            "FreshTokens": bill.fresh,
            "CacheReadTokens": bill.cache_read,
            "CacheWriteTokens": written,
            "OutputTokens": bill.output,
            "CacheShare": round(100 * bill.cache_read / prompt, 1) if prompt else 0,
            "Cost": bill.cost / 1_000_000,
        }
    answer = sign = token = 0
    if times is not None:
        answer = times.since(now)
        sign, token = times.sign or answer, times.token
        values |= {} if turn.approvals else {"Answer": answer}  # a person may think for days
        values |= {} if times.signed else {"FirstSign": sign}
        values |= {"FirstToken": token} if token else {}
    tell(
        values,
        "outcome=<%s>, answer_ms=<%d>, sign_ms=<%d>, token_ms=<%d>, invocations=<%d>, model_calls=<%d>, fresh=<%d>, "
        "cache_write=<%d>, cache_read=<%d>, output=<%d>, cost=<%.6f> | ended",
        *(outcome, answer, sign, token, turn.invocations, bill.calls, bill.fresh),
        *(written, bill.cache_read, bill.output, bill.cost / 1_000_000),
        by=outcome,
    )
