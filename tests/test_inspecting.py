"""What a turn did, read off its record: of every kind of entry, of old records, of what runs and of what ended."""

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from bot.clock import SystemClock
from bot.history import build_messages
from bot.inspecting import (
    DETAIL,
    Call,
    FilesStep,
    ModelStep,
    NoteStep,
    SaidStep,
    SummaryStep,
    Tokens,
    Totals,
    TurnView,
    turns,
)
from bot.messages import (
    Answered,
    Approval,
    Asked,
    Attachment,
    Bill,
    Ended,
    Entry,
    Fetched,
    File,
    Numbered,
    Returned,
    Summary,
    Turn,
    Usage,
    Voted,
    decode_entry,
    encode,
)
from bot.nested import names_in, records_in
from bot.toolkit import Toolbox, tool
from simulator.model_rules import Json
from simulator.script import call as called
from simulator.script import reply, text
from tests.bots import Scout, bot_on
from tests.say import ANN, HERE, NOW, answered, asked, call, inbound, numbered, returned

CHAT = HERE.conversation
SONNET = "claude-sonnet-5-5"
PAID = Usage(fresh=100, cache_write=200, cache_write_long=100, cache_read=600, output=50)


def seen(*entries: Entry, running: Turn | None = None, **nested: list[Numbered]) -> TurnView:
    """The only turn of these entries."""
    [turn] = turns(CHAT, numbered(*entries), nested, running)
    return turn


def calls(turn: TurnView) -> list[Call]:
    return [each for step in turn.steps if isinstance(step, ModelStep) for each in step.calls]


def at_work(**more: Any) -> Turn:
    return Turn("t", HERE, ANN, began=NOW, first=1, **more)


def test_a_turn_says_who_asked_what_and_how_each_step_went() -> None:
    turn = seen(
        asked("what is 2+2?"),
        answered(call(expression="2+2"), usage=PAID, model=SONNET, missed="expired", took_ms=1_200),
        returned("A", content="4", took_ms={"A": 30}),
        answered("Four.", usage=Usage(output=10), model=SONNET, took_ms=800),
    )
    assert (turn.who, turn.text, turn.at, turn.state) == ("Ann", "what is 2+2?", NOW, "answered")
    assert turn.steps == (
        ModelStep(
            model=SONNET,
            stop_reason="tool_use",
            tokens=Tokens(fresh=100, written=300, read=600, output=50, cached=60),
            cost=1_660,
            missed="expired",
            took_ms=1_200,
            text="",
            calls=(Call("calculator", '{\n "expression": "2+2"\n}', "done", "4", took_ms=30),),
        ),
        ModelStep(SONNET, "end_turn", Tokens(0, 0, 0, 10, 0), 100, "", 800, "Four.", ()),
    )
    assert turn.totals == Totals(2, 1, Tokens(100, 300, 600, 60, 60), 1_760, 0, model_ms=2_000, tool_ms=30)


def test_what_an_older_version_stored_has_no_times_and_is_told_all_the_same() -> None:
    old = (
        b'{"type":"answered","turn":"t","reply":{"content":[{"type":"tool_use","id":"A","name":"calculator",'
        b'"input":{}}],"stop_reason":"tool_use"}}',
        b'{"type":"returned","turn":"t","results":[{"type":"tool_result","tool_use_id":"A","content":"4"}]}',
    )
    entries = [decode_entry(each) for each in old]
    assert tuple(encode(each) for each in entries) == old  # nothing is added where there is nothing to say
    turn = seen(asked(), *entries, answered("Four."))
    assert [each.took_ms for each in calls(turn)] == [0]
    assert (turn.totals.model_ms, turn.totals.tool_ms, turn.totals.unpriced) == (0, 0, 2)
    assert [step.cost for step in turn.steps if isinstance(step, ModelStep)] == [None, None]


def test_how_long_something_took_comes_back_and_is_in_no_prompt() -> None:
    timed = [answered(call(), took_ms=5), returned("A", took_ms={"A": 7}), answered("Four.", took_ms=9)]
    assert [decode_entry(encode(each)) for each in timed] == timed
    assert build_messages([asked(), *timed], "t") == build_messages(
        [asked(), answered(call()), returned("A"), answered("Four.")], "t"
    )


def test_every_other_kind_of_entry_is_a_step_or_an_end() -> None:
    photo = replace(inbound("and this?"), attachments=(Attachment("photo", name="sea.png"),))
    turn = seen(
        asked(),
        Summary("Long ago.", 3, model=SONNET, usage=Usage(output=10)),
        answered(call(), call(call_id="B")),
        returned(
            "A", said=(photo,), note="No more tools.", files=(File("k", "plot.png", "image/png"),), bill=Bill(calls=1)
        ),
        answered("Done.", stop="max_tokens"),
        Fetched("t", ("f",), (File("k", "out.csv", "text/csv"),), ("gone.csv",)),
        Voted("t", ANN.id, False),
        Voted("t", ANN.id, True),
        Ended("t", "stopped", "Half a"),
    )
    assert turn.steps[0] == SummaryStep("Long ago.", SONNET, Tokens(0, 0, 0, 10, 0), 100)
    assert turn.steps[2:5] == (
        FilesStep(("plot.png",), ()),
        SaidStep("Ann", "[sea.png] and this?"),
        NoteStep("No more tools."),
    )
    assert turn.steps[6] == FilesStep(("out.csv",), ("gone.csv",))
    assert (turn.state, turn.shown, turn.good, turn.bad) == ("stopped", "Half a", 1, 0)
    assert [each.state for each in calls(turn)] == ["done", "unfinished"]
    assert turn.totals.model_calls == 4  # two replies, the summary, a subagent's


def test_what_nobody_wrote_is_nobodys_words() -> None:
    knock = replace(inbound("knock"), kind="note", data="telegram:9")
    turn = seen(Asked("t", (knock,)), Ended("t", "told", "Eve wrote to me."))
    assert (turn.who, turn.text) == ("Kabar", "(a stranger wrote: telegram:9)")


def test_turns_are_told_apart_also_where_a_later_one_takes_one_back() -> None:
    record = numbered(
        Ended("gone", "stopped"),
        asked("first", "a"),
        answered("One.", turn="a"),
        Ended("a", "undone"),
        asked("second", "b"),
        Summary("", 3),
        answered("Two.", turn="b"),
        asked("/usage", "c"),
        Ended("c", "told", "Usage: …"),
    )
    found = turns(CHAT, record, {})
    assert [(each.text, each.state) for each in found] == [
        ("first", "undone"),
        ("second", "answered"),
        ("/usage", "told"),
    ]
    assert [len(each.steps) for each in found] == [1, 2, 0]


def test_a_running_turn_shows_what_runs_and_what_waits_for_a_person() -> None:
    entries = asked(), answered(call("look"), call("send", "B"), call("send", "C"))
    asks = Approval("B", 2, "send", NOW + 60)
    waiting = at_work(approvals=(asks, Approval("C", 2, "send", NOW + 60, decision="no", by="telegram:2")))
    turn = seen(*entries, running=waiting)
    assert turn.state == "waiting"
    assert [(each.state, each.asked, each.by) for each in calls(turn)] == [
        ("running", "", ""),
        ("waiting", "waiting", ""),
        ("running", "no", "telegram:2"),
    ]
    assert seen(*entries, running=at_work()).state == "running"
    assert seen(*entries, running=replace(waiting, id="another")).state == "unfinished"


def test_what_subagents_cost_so_far_counts_while_they_are_at_work() -> None:
    running = at_work(delegated={"A": Bill(calls=2, cost=7, output=5), "B": Bill(calls=1, cost=3)})
    turn = seen(asked(), answered(call("delegate")), running=running)
    assert (turn.totals.model_calls, turn.totals.cost, turn.totals.tokens.output) == (4, 10, 5)


def test_what_the_provider_ran_is_a_call_too_without_what_it_encrypted() -> None:
    search = {"type": "server_tool_use", "id": "S", "name": "web_search", "input": {"query": "trains"}}
    page = {"type": "web_search_result", "title": "Night trains", "encrypted_content": "xyz"}
    found = {"type": "web_search_tool_result", "tool_use_id": "S", "content": [page]}
    error = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}
    refused = {"type": "web_search_tool_result", "tool_use_id": "T", "content": error}
    lost = {**search, "id": "U"}
    turn = seen(asked(), answered(search, found, {**search, "id": "T"}, refused, lost, "Here."))
    assert [(each.state, each.provided) for each in calls(turn)] == [
        ("done", True),
        ("failed", True),
        ("unfinished", True),
    ]
    assert "Night trains" in calls(turn)[0].result
    assert "xyz" not in calls(turn)[0].result


def test_errors_and_broken_arguments_are_seen_and_long_results_are_shortened() -> None:
    block = {"type": "tool_result", "tool_use_id": "A", "content": "x" * 9_000, "is_error": True}
    turn = seen(asked(), answered(call(), spoiled={"A": '{"half'}), Returned("t", (block,)), answered("Sorry."))
    [failed] = calls(turn)
    assert (failed.state, failed.arguments, len(failed.result)) == ("failed", '{"half', DETAIL)


def test_a_subagents_own_steps_stand_inside_its_call() -> None:
    record = numbered(asked("go"), answered(call("delegate", agent="scout", task="north")), returned("A"))
    [name] = names_in(CHAT, record)
    nested = numbered(asked("north", "n"), answered(call("look"), turn="n"), returned("A", turn="n"))
    [turn] = turns(CHAT, record, {name: nested})
    [inside] = [each.inside for each in calls(turn)]
    assert inside
    assert (inside.text, inside.state, [each.name for each in calls(inside)]) == ("north", "unfinished", ["look"])
    assert turn.totals.tool_calls == 2


class Ahead(SystemClock):
    """Time that a test moves on."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> float:
        return super().now() + self.seconds


async def test_a_real_turn_keeps_how_long_each_model_call_and_each_tool_took(tmp_path: Path) -> None:
    clock = Ahead()

    @tool()
    async def look() -> str:
        """Look around."""
        clock.seconds += 2
        return "Sea."

    def slowly(request: Json) -> Json:
        clock.seconds += 3
        return text("The sea.")

    async with bot_on(
        tmp_path / "kabar.sqlite3", reply(called("look", {}, id="L")), slowly, tools=Toolbox([look]), clock=clock
    ) as bot:
        await bot.hears(inbound("go"))
        await bot.wakes()
        [turn] = turns(CHAT, await bot.store.record(CHAT, 1), {})
        assert turn.totals.tool_ms >= 2_000
        assert turn.totals.model_ms >= 3_000
        [_, last] = [step for step in turn.steps if isinstance(step, ModelStep)]
        assert (last.text, last.took_ms >= 3_000) == ("The sea.", True)
        assert "took" not in str(bot.model.requests)


async def test_a_real_subagents_turn_is_told_with_what_it_cost(tmp_path: Path) -> None:
    task = {"agent": "scout", "task": "north"}
    script = reply(called("delegate", task, id="D")), text("Ice."), text("It is icy.")
    async with bot_on(tmp_path / "kabar.sqlite3", *script, scout=Scout()) as bot:
        await bot.hears(inbound("go"))
        await bot.wakes()
        record = await bot.store.record(CHAT, 1)
        [turn] = turns(CHAT, record, await records_in(bot.store, CHAT, record))
    [inside] = [each.inside for each in calls(turn)]
    assert inside
    assert (inside.text, inside.state) == ("north", "answered")
    own = [each.entry for each in record if isinstance(each.entry, Answered)]
    assert turn.totals.model_calls == len(own) + inside.totals.model_calls == 3
    assert turn.totals.cost > inside.totals.cost > 0
