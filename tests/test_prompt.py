"""The prompt stays the same at its beginning, byte for byte, and the provider's cache finds it."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.adapters.anthropic_model import request
from bot.messages import Answered, Asked, Entry, Json, encode
from bot.models import facts_of
from bot.ports import Prompt
from bot.prompt import PromptBuilder
from bot.toolkit import Toolbox
from bot.tools.calculator import calculator
from bot.tools.current_time import current_time
from scripts.imports import ROOT
from simulator.model_cache import PromptCache, count
from simulator.model_rules import MAX_MARKS, faults
from tests.say import answered, asked, call, returned

MODEL = "claude-sonnet-5-5"
PROMPTS = PromptBuilder("Be kind.", Toolbox([calculator, current_time]), 1_000)


def prompt_of(entries: Sequence[Entry], turn: str = "t", prompts: PromptBuilder = PROMPTS) -> Prompt:
    return prompts.build(entries, turn, allow_tools=True)


def marks(prompt: Prompt) -> list[str]:
    """The lifetimes of all marks, in order."""
    blocks = [*prompt.tools, *prompt.system, *(block for message in prompt.messages for block in message["content"])]
    return [block["cache_control"].get("ttl", "5m") for block in blocks if "cache_control" in block]


def rounds(count: int, calls: int, *, thinking: bool = False, turn: str = "t") -> list[Entry]:
    """A turn of so many rounds of parallel calls, before its answer."""
    thought: list[Json] = [{"type": "thinking", "thinking": "hm", "signature": "s"}] if thinking else []
    entries = [asked("Compare the prices.", turn=turn)]
    for number in range(count):
        names = [f"{turn}_{number}_{each}" for each in range(calls)]
        entries += [answered(*thought, *(call(call_id=name) for name in names), turn=turn), returned(*names, turn=turn)]
    return entries


def requests_of(entries: Sequence[Entry]) -> list[Json]:
    """Every request this record came from, and the one that comes next."""
    ends = [at for at, entry in enumerate(entries) if isinstance(entry, Answered)]
    turns = [entry.turn for entry in entries if isinstance(entry, Asked)]
    prompts = [prompt_of(entries[:end], entries[end].turn) for end in ends]  # type: ignore[union-attr]
    return [request(prompt, MODEL) for prompt in (*prompts, prompt_of(entries, turns[-1]))]


def reads(requests: Sequence[Json]) -> list[int]:
    """Tokens that each request reads from the cache."""
    cache = PromptCache(smallest=0)
    return [cache.usage(each)["cache_read_input_tokens"] for each in requests]


@pytest.mark.parametrize("thinking", [False, True])
@pytest.mark.parametrize("calls", [1, 15, 25])
def test_every_round_of_a_long_turn_reads_all_of_the_round_before_from_the_cache(calls: int, thinking: bool) -> None:
    requests = requests_of(rounds(40, calls, thinking=thinking))
    assert reads(requests)[1:] == [count(before) for before in requests[:-1]]


def test_a_new_turn_reads_the_one_before_from_the_cache() -> None:
    requests = requests_of([*rounds(3, 15), answered("Done."), asked("And?", turn="t2")])
    assert reads(requests)[-1] == count(requests[-2])


def test_after_a_turn_that_thought_the_next_reads_up_to_the_first_thought() -> None:
    requests = requests_of([*rounds(3, 15, thinking=True), answered("Done."), asked("And?", turn="t2")])
    assert reads(requests)[-1] == count(requests[0])


def test_tools_and_system_are_kept_for_an_hour_and_the_messages_for_minutes() -> None:
    assert marks(prompt_of([asked()])) == ["1h", "5m"]
    assert marks(prompt_of(rounds(2, 1))) == ["1h", "5m", "5m"]


def test_another_conversation_reads_tools_and_system_from_the_cache() -> None:
    first, second = (request(prompt_of([asked(words)]), MODEL) for words in ("Hello.", "Good morning."))
    stable = count({**first, "messages": []})
    assert reads([first, second]) == [0, stable]


def test_what_is_stored_gets_no_mark() -> None:
    entries = rounds(2, 2)
    prompt_of(entries)
    assert "cache_control" not in str(entries)


def test_a_model_without_a_cache_gets_no_marks() -> None:
    unmarked = PromptBuilder("", Toolbox([calculator]), 1_000, caching=facts_of("a-model-of-your-own").caching)
    assert marks(prompt_of(rounds(2, 2), prompts=unmarked)) == []


Shape = tuple[int, int, bool]
"""Of a turn: its rounds of tools, the calls of each, and whether it thinks before them."""


def begun_with(shapes: Sequence[Shape]) -> list[int]:
    """For each request the number of the newest one before it whose messages it begins with."""
    numbers: list[int] = []
    first, thought = 0, False
    for length, _, thinking in shapes:
        numbers.append(first if thought else len(numbers) - 1)
        first, thought = len(numbers) - 1, thinking and length > 0
        numbers += range(first, first + length)
    return numbers


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 25), st.booleans()), min_size=2, max_size=4))
def test_any_request_keeps_to_the_rules_and_reads_what_can_be_read(shapes: list[Shape]) -> None:
    entries: list[Entry] = []
    for number, (length, calls, thinking) in enumerate(shapes):
        entries += [*rounds(length, calls, thinking=thinking, turn=f"t{number}"), answered("Done.", turn=f"t{number}")]
    *requests, _ = requests_of(entries)
    assert all(faults(each) == [] for each in requests)
    assert all(str(each).count("'cache_control'") <= MAX_MARKS for each in requests)
    assert reads(requests)[1:] == [count(requests[before]) for before in begun_with(shapes)[1:]]


# The same bytes in every process, at every time.

SHIFT = 61
"""Seconds between the clocks of two processes."""
CHILD = """
import json, sys, time

real, late = time.time, int(sys.argv[1])
time.time = lambda: real() + late
import datetime
class Late(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(time.time(), tz)
datetime.datetime = Late

from bot.messages import decode_entry
from bot.prompt import PromptBuilder
from bot.toolkit import Toolbox
from bot.tools.calculator import calculator
from bot.tools.current_time import current_time

entries = [decode_entry(json.dumps(each).encode()) for each in json.load(sys.stdin)]
prompts = PromptBuilder("Be kind.", Toolbox([current_time, calculator]), 1_000)
prompt = prompts.build(entries, entries[-1].turn, allow_tools=True)
print(json.dumps([prompt.tools, prompt.system, prompt.messages], ensure_ascii=True))
"""


def built_elsewhere(entries: Sequence[Entry], *, seed: int, late: int) -> list[str]:
    """Tools, system and messages as another process makes them, each part as JSON in its own order of keys."""
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(late)],
        input=b"[" + b",".join(map(encode, entries)) + b"]",
        env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        timeout=60,
        check=True,
    )
    return [json.dumps(part) for part in json.loads(child.stdout)]


def unmarked(messages: str) -> list[Json]:
    return [
        {
            **message,
            "content": [{k: v for k, v in block.items() if k != "cache_control"} for block in message["content"]],
        }
        for message in json.loads(messages)
    ]


def said_later(entry: Entry, late: int) -> Entry:
    """The same question, asked so many seconds later."""
    assert isinstance(entry, Asked)
    return replace(entry, said=tuple(replace(said, sent_at=said.sent_at + late) for said in entry.said))


def test_two_turns_built_in_two_processes_at_two_times_share_their_beginning_byte_for_byte() -> None:
    first = rounds(2, 3)
    second = [*first, answered("Done."), said_later(asked("And in euros?", turn="t2"), SHIFT)]
    tools, system, messages = built_elsewhere(first, seed=1, late=0)
    later_tools, later_system, later_messages = built_elsewhere(second, seed=2, late=SHIFT)
    assert (tools, system) == (later_tools, later_system)
    before, after = unmarked(messages), unmarked(later_messages)
    assert json.dumps(after[: len(before)]) == json.dumps(before)
    assert len(after) == len(before) + 2


def test_each_request_of_a_turn_begins_with_the_one_before() -> None:
    for before, after in pairwise(requests_of(rounds(3, 2, thinking=True))):
        shorter, longer = unmarked(json.dumps(before["messages"])), unmarked(json.dumps(after["messages"]))
        assert longer[: len(shorter)] == shorter
