"""What is measured of a run, and what many runs say together. Pure."""

import json
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import asdict

from bot.budget import bill_of
from bot.cli.evals.transcript import calls_in
from bot.history import tool_calls
from bot.messages import Answered, Asked, Bill, Ended, Entry, Json, Returned, prompt_tokens
from bot.toolkit import is_wrong

NOT_RUN = "Not run: "
"""How the result of a call begins that nobody allowed (bot/approvals.py)."""


class Measures(Struct, frozen=True):
    """Of one run. ``wrong``: calls that could not be made, for their name or their arguments; ``repeated``: the same
    call again within a turn; ``denied``: not allowed by a person; ``tool_errors``: what else failed of those that were
    made. ``prompt`` and ``output`` are tokens, ``cached`` is the share of the prompt that came from the cache. ``cost``
    is in dollars, None where a model's price is not known. ``failed``: turns that ended in a technical fault.
    Model calls, tokens and cost are also those of summaries and subagents."""

    turns: int = 0
    model_calls: int = 0
    tool_calls: int = 0
    wrong: int = 0
    repeated: int = 0
    denied: int = 0
    tool_errors: int = 0
    prompt: int = 0
    output: int = 0
    cached: float = 0.0
    cost: float | None = 0.0
    failed: int = 0
    seconds: float = 0.0


def measured(entries: Sequence[Entry], seconds: float) -> Measures:
    """Of everything a run left in its records. What a check or a judge costs is not in it."""
    answers = [entry for entry in entries if isinstance(entry, Answered)]
    results = [result for entry in entries if isinstance(entry, Returned) for result in entry.results]
    errors = [result for result in results if result.get("is_error")]
    wrong = sum(map(is_wrong, errors))
    denied = sum(_is_denied(result) for result in errors)
    bill = sum(map(bill_of, entries), start=Bill())
    prompt = prompt_tokens(bill)
    return Measures(
        turns=sum(isinstance(entry, Asked) for entry in entries),
        model_calls=bill.calls,
        tool_calls=len(calls_in(answers)),
        wrong=wrong,
        repeated=_repeated(answers),
        denied=denied,
        tool_errors=len(errors) - wrong - denied,
        prompt=prompt,
        output=bill.output,
        cached=round(bill.cache_read / prompt, 4) if prompt else 0.0,
        cost=None if bill.unpriced else bill.cost / 1_000_000,
        failed=sum(isinstance(entry, Ended) and entry.why == "failed" for entry in entries),
        seconds=round(seconds, 2),
    )


def _is_denied(result: Json) -> bool:
    return str(result.get("content")).startswith(NOT_RUN) and not is_wrong(result)


def _repeated(answers: Iterable[Answered]) -> int:
    calls = [
        json.dumps([answer.turn, call["name"], call["input"]], sort_keys=True)
        for answer in answers
        for call in tool_calls(answer)
    ]
    return len(calls) - len(set(calls))


# Many runs


class Spread(Struct, frozen=True):
    """Mean and sample standard deviation; the latter 0 where there is one value only."""

    mean: float
    sd: float


def spread(values: Sequence[float]) -> Spread:
    mean = statistics.fmean(values) if values else 0.0
    sd = statistics.stdev(values) if len(values) > 1 else 0.0
    return Spread(round(mean, 6), round(sd, 6))


def pass_hat(passed: Sequence[bool], k: int) -> float:
    """pass^k: how likely k runs of a task, drawn from these, all pass (Yao et al. 2024, tau-bench)."""
    return math.comb(sum(passed), k) / math.comb(len(passed), k)


def summarised(runs: Mapping[str, Sequence[tuple[bool, Measures]]]) -> Json:
    """Figures over the runs of each task: the spread of the pass rate is over repeats, that of measures over runs."""
    every = [run for each in runs.values() for run in each]
    repeats = min((len(each) for each in runs.values()), default=0)
    rates = [statistics.fmean(each[n][0] for each in runs.values()) for n in range(repeats)]
    hats = {
        str(k): [pass_hat([passed for passed, _ in each], k) for each in runs.values()] for k in range(1, repeats + 1)
    }
    return {
        "tasks": len(runs),
        "runs": len(every),
        "passed": sum(passed for passed, _ in every),
        "pass_rate": asdict(spread(rates)),
        "pass_hat": {k: round(statistics.fmean(values), 4) for k, values in hats.items()},
        "measures": measures_over([measures for _, measures in every]),
    }


def measures_over(runs: Sequence[Measures]) -> Json:
    """Mean, sd and total of each measure. A cost that is not known of one run is not known of all."""
    figures: Json = {}
    for name in Measures.__struct_fields__:
        values = [getattr(each, name) for each in runs]
        if None in values:
            figures[name] = None
            continue
        total = {} if name == "cached" else {"total": round(sum(values), 6)}
        figures[name] = asdict(spread(values)) | total
    return figures
