"""One wake, one turn: through the real model client over HTTP and a real SQLite file."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.access import Access
from bot.adapters.sqlite_store import SQLiteStore
from bot.agent import Limits
from bot.budget import day_of
from bot.clock import SystemClock
from bot.errors import (
    ChatClosed,
    ChatMoved,
    LeaseLost,
    MessageGone,
    SendLater,
    SendRefused,
    SendUncertain,
    StoreUnavailable,
    TokenGone,
)
from bot.intake import sweep
from bot.messages import Answered, Arrival, Asked, Button, Counter, Ended, Person, Place, Returned
from bot.ports import Change, Receipt
from bot.toolkit import Toolbox, tool
from bot.turn import TOKEN_AGAIN, Outcome
from simulator.model_reply import Break, Refusal
from simulator.script import call, overloaded, rate_limited, reply, text, thinking
from tests.bots import (
    AnHourAhead,
    bot_on,
    edit,
    news,
    photo,
    results,
    tap,
    words,
)
from tests.recorder import WAIT
from tests.say import ANN, BUDI, GROUP, HERE, inbound


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kabar.sqlite3"


# The plain way.


async def test_a_message_is_answered_and_done(path: Path) -> None:
    async with bot_on(path, text("Hello Ann.")) as bot:
        await bot.hears(inbound("hi"))
        assert await bot.wakes() == Outcome()
        assert bot.channel.shown == ["Hello Ann."]
        assert await bot.store.inbox(HERE.conversation) == []
        assert await bot.store.receive(inbound("hi")) is Receipt.DONE


async def test_the_next_turn_remembers_the_one_before(path: Path) -> None:
    async with bot_on(path, text("Noted."), text("Ann.")) as bot:
        for number, line in enumerate(["my name is Ann", "what is my name?"], start=1):
            await bot.hears(inbound(line, number))
            await bot.wakes()
        said = words(bot.model.requests[1])
        assert {"my name is Ann", "Noted.", "what is my name?"} <= set(said)


async def test_a_wake_without_a_message_does_nothing(path: Path) -> None:
    async with bot_on(path) as bot:
        assert await bot.wakes() == Outcome()
        assert bot.channel.calls == []


async def test_messages_that_wait_together_become_one_turn(path: Path) -> None:
    async with bot_on(path, text("Both.")) as bot:
        await bot.hears(inbound("one", 1), inbound("two", 2))
        await bot.wakes()
        assert {"one", "two"} <= set(words(bot.model.requests[0]))
        assert bot.channel.shown == ["Both."]


async def test_in_a_group_the_answer_replies_to_the_question(path: Path) -> None:
    async with bot_on(path, text("Yes."), longest=3) as bot:
        await bot.hears(inbound("ok?", 7, place=GROUP))
        await bot.wakes(GROUP.conversation)
        assert bot.channel.replied_to == ["7", ""]


async def test_the_reply_grows_while_it_is_spoken(path: Path) -> None:
    async with bot_on(path, reply(text("one two three four five"), pace=0.02)) as bot:
        await bot.hears(inbound())
        await bot.wakes()
        edits = [said for method, said in bot.channel.calls if method in ("send", "edit")]
        assert len(edits) > 2
        assert all("one two three four five".startswith(said.rstrip()) for said in edits)
        assert bot.channel.shown == ["one two three four five"]
        assert bot.channel.calls[0][0] == "typing"
        assert bot.channel.calls[-1][0] == "quiet"


# Tools.


async def test_a_tool_is_used_and_its_result_read(path: Path) -> None:
    script = (call("calculator", {"expression": "12*7+3"}, id="A"), text("It is 87."))
    async with bot_on(path, *script) as bot:
        await bot.hears(inbound("12*7+3?"))
        await bot.wakes()
        (result,) = results(bot.model.requests[1])
        assert (result["tool_use_id"], result["content"]) == ("A", "87")
        assert bot.channel.shown == ["It is 87."]


async def test_parallel_calls_come_back_in_one_message_in_order_with_failures_marked(path: Path) -> None:
    calls = reply(
        call("look", {"at": "sea"}, id="A"),
        call("no_such_tool", {}, id="B"),
        call("look", {"wrong": 1}, id="C"),
        call("look", {"at": "hill"}, id="D"),
    )
    async with bot_on(path, calls, text("Fine.")) as bot:
        await bot.hears(inbound())
        await bot.wakes()
        found = results(bot.model.requests[1])
        assert [each["tool_use_id"] for each in found] == list("ABCD")
        assert [each.get("is_error", False) for each in found] == [False, True, True, False]


async def test_reads_of_one_reply_run_at_the_same_time_and_come_back_in_the_order_of_the_calls(path: Path) -> None:
    ended = [asyncio.Event() for _ in range(4)]
    ended[3].set()
    order: list[int] = []

    @tool(seconds=5)
    async def watch(number: int) -> str:
        """Look until the one that was called after this one has seen enough: alone, none of them comes to an end."""
        await ended[number + 1].wait()
        order.append(number)
        ended[number].set()
        return f"saw {number}"

    calls = reply(*(call("watch", {"number": number}, id=f"W{number}") for number in range(3)))
    async with bot_on(path, calls, text("All three."), tools=Toolbox([watch])) as bot:
        await bot.hears(inbound())
        await bot.wakes()
        found = results(bot.model.requests[1])
        assert order == [2, 1, 0]
        assert [(each["tool_use_id"], each["content"]) for each in found] == [
            ("W0", "saw 0"),
            ("W1", "saw 1"),
            ("W2", "saw 2"),
        ]


async def test_a_reply_of_reads_and_writes_keeps_the_order_of_its_results_when_a_write_fails(path: Path) -> None:
    calls = reply(
        call("book", {"what": "nothing left"}, id="A"),
        call("look", {"at": "sea"}, id="B"),
        call("book", {"what": "c"}, id="C"),
    )
    async with bot_on(path, calls, text("Nothing.")) as bot:
        await bot.hears(inbound())
        await bot.wakes()
        assert bot.deeds.done == ["sea", "nothing left"]
        found = results(bot.model.requests[1])
        assert [each["tool_use_id"] for each in found] == list("ABC")
        assert [each.get("is_error", False) for each in found] == [True, False, True]


async def test_writes_run_one_after_another_and_stop_at_the_first_failure(path: Path) -> None:
    calls = reply(*(call("book", {"what": what}, id=what[0]) for what in ("a", "nothing left", "c")))
    async with bot_on(path, calls, text("One.")) as bot:
        await bot.hears(inbound())
        await bot.wakes()
        assert bot.deeds.done == ["a", "nothing left"]
        assert results(bot.model.requests[1])[2]["content"].startswith("Not executed")


async def test_spoiled_arguments_are_not_run(path: Path) -> None:
    async with bot_on(path, call("book", '{"what": "a', id="A"), text("Sorry.")) as bot:
        await bot.hears(inbound())
        await bot.wakes()
        assert bot.deeds.done == []
        assert "not valid JSON" in results(bot.model.requests[1])[0]["content"]


async def test_what_is_added_while_a_tool_runs_steers_the_turn(path: Path) -> None:
    async with bot_on(path, call("look", {"at": "long"}, id="A"), text("In euros: 5.")) as bot:
        await bot.hears(inbound("price?", 1))
        await bot.wakes_and_hears(inbound("in euros please", 2))
        assert "in euros please" in words(bot.model.requests[1])
        assert await bot.store.receive(inbound("in euros please", 2)) is Receipt.DONE
        assert await bot.wakes() == Outcome()


async def test_what_is_added_before_the_first_word_joins_the_question(path: Path) -> None:
    async with bot_on(path, reply(text("For one."), pace=8), text("For two.")) as bot:
        await bot.hears(inbound("a table please", 1))
        running = asyncio.create_task(bot.wakes())
        await bot.channel.until(lambda channel: bool(channel.calls))
        await bot.hears(inbound("for two", 2))
        await running
        assert {"a table please", "for two"} <= set(words(bot.model.requests[1]))
        assert bot.channel.shown == ["For two."]
        assert await bot.wakes() == Outcome()
        assert bot.model.hangups == 1


async def test_what_is_added_after_the_first_word_is_the_next_turn(path: Path) -> None:
    slow = reply(text("one two three four five six seven eight nine ten " * 2), pace=0.1)
    async with bot_on(path, slow, text("Yes.")) as bot:
        await bot.hears(inbound("count", 1))
        running = asyncio.create_task(bot.wakes())
        await bot.channel.until(lambda channel: any("two" in said for said in channel.shown))
        await bot.hears(inbound("all of it?", 2))
        await running
        assert len(bot.model.requests) == 1
        await bot.wakes()
        assert bot.channel.shown[1] == "Yes."


# Stop reasons and limits.


async def test_a_call_cut_at_the_length_limit_is_not_run_and_may_be_made_again_with_more_room(path: Path) -> None:
    cut = reply(call("book", {}, id="A"), stop_reason="max_tokens")
    async with bot_on(path, cut, call("book", {"what": "a"}, id="B"), text("Booked.")) as bot:
        await bot.hears(inbound())
        await bot.wakes()
        first, second, _ = bot.model.requests
        assert bot.deeds.done == ["a"]
        assert results(second)[0]["is_error"]
        assert second["max_tokens"] == 2 * first["max_tokens"]


async def test_calls_cut_again_and_again_end_in_an_answer(path: Path) -> None:
    cuts = [reply(call("book", {}, id=str(number)), stop_reason="max_tokens") for number in range(3)]
    async with bot_on(path, *cuts, text("It does not fit.")) as bot:
        await bot.hears(inbound())
        await bot.wakes()
        assert bot.model.requests[-1]["tool_choice"] == {"type": "none"}
        assert bot.channel.shown == ["It does not fit."]


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded"])
async def test_an_answer_cut_at_the_length_limit_says_so(path: Path, reason: str) -> None:
    async with bot_on(path, reply(text("Once upon"), stop_reason=reason)) as bot:
        await bot.hears(inbound())
        await bot.wakes()
        assert bot.channel.shown[0].startswith("Once upon")
        assert "cut at its length limit" in bot.channel.shown[0]


async def test_a_pause_is_sent_back_unchanged_and_goes_on(path: Path) -> None:
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
    async with bot_on(path, reply(text("Searching."), search, stop_reason="pause_turn"), text("Found.")) as bot:
        await bot.hears(inbound())
        await bot.wakes()
        assert bot.model.requests[1]["messages"][-1]["content"][1] == search | {"cache_control": {"type": "ephemeral"}}
        assert bot.channel.shown == ["Searching.\n\nFound."]


async def test_a_refusal_is_said_plainly_and_does_not_poison_the_chat(path: Path) -> None:
    async with bot_on(path, reply(stop_reason="refusal"), text("Hello.")) as bot:
        await bot.hears(inbound("something bad", 1))
        await bot.wakes()
        await bot.hears(inbound("hi", 2))
        await bot.wakes()
        assert bot.channel.shown == ["I can't help with that. You can rephrase it or ask something else.", "Hello."]
        assert "something bad" not in words(bot.model.requests[1])


async def test_an_unknown_stop_reason_delivers_what_there_is(path: Path) -> None:
    async with bot_on(path, reply(text("Done."), stop_reason="something_new")) as bot:
        await bot.hears(inbound())
        await bot.wakes()
        assert bot.channel.shown == ["Done."]


async def test_an_empty_answer_becomes_a_sentence(path: Path) -> None:
    async with bot_on(path, reply(text("  \n"))) as bot:
        await bot.hears(inbound())
        await bot.wakes()
        assert bot.channel.shown == ["I have nothing to add. Ask me in other words if you expected more."]


async def test_a_model_that_repeats_one_call_is_made_to_answer(path: Path) -> None:
    calls = [call("look", {"at": "sea"}, id=str(number)) for number in range(3)]
    async with bot_on(path, *calls, text("I keep seeing the sea.")) as bot:
        await bot.hears(inbound())
        await bot.wakes()
        assert bot.model.requests[-1]["tool_choice"] == {"type": "none"}
        assert "a limit is reached" in words(bot.model.requests[-1])[-1]
        assert bot.channel.shown == ["I keep seeing the sea."]


async def test_the_number_of_model_calls_is_limited(path: Path) -> None:
    calls = [call("look", {"at": str(number)}, id=str(number)) for number in range(3)]
    async with bot_on(path, *calls, text("Enough."), limits=Limits(model_calls=4)) as bot:
        await bot.hears(inbound())
        await bot.wakes()
        assert bot.channel.shown == ["Enough."]


async def test_a_pause_before_the_last_call_leaves_that_one_for_an_answer(path: Path) -> None:
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
    pause = reply(text("Searching."), search, stop_reason="pause_turn")
    async with bot_on(path, pause, text("Enough."), limits=Limits(model_calls=2)) as bot:
        await bot.hears(inbound())
        await bot.wakes()
        assert bot.model.requests[1]["tool_choice"] == {"type": "none"}


async def test_thinking_goes_back_unchanged_with_the_results(path: Path) -> None:
    script = (reply(thinking("hm"), call("look", {"at": "sea"}, id="A")), text("Sea."))
    async with bot_on(path, *script) as bot:
        await bot.hears(inbound())
        await bot.wakes()
        thought = bot.model.requests[1]["messages"][1]["content"][0]
        assert thought["thinking"] == "hm"
        assert thought["signature"]


# When the model fails.


async def test_an_overload_in_mid_stream_is_tried_again_and_half_an_answer_never_stands(path: Path) -> None:
    half = reply(text("The answer is forty"), broken=Break("error"))
    async with bot_on(path, half, overloaded("0"), text("The answer is 42.")) as bot:
        await bot.hears(inbound())
        await bot.wakes()
        assert bot.channel.shown == ["The answer is 42."]
        assert [type(entry) for entry in await bot.entries()][1:] == [Answered]


async def test_a_second_reply_shorter_than_the_shown_first_leaves_nothing_behind(path: Path) -> None:
    first = reply(text("a long beginning " * 5), pace=0.01, broken=Break("cut", after=20))
    async with bot_on(path, first, text("Short."), longest=20) as bot:
        await bot.hears(inbound())
        await bot.wakes()
        assert bot.channel.shown == ["Short."]


async def test_a_model_that_stays_away_ends_in_a_plain_sentence(path: Path) -> None:
    busy = [overloaded("0")] * 3
    async with bot_on(path, *busy, limits=Limits(attempts=3)) as bot:
        await bot.hears(inbound(sender=BUDI))
        await bot.wakes()
        (shown,) = bot.channel.shown
        assert shown.startswith("Model sedang kelebihan beban")
        ended = (await bot.entries())[-1]
        assert isinstance(ended, Ended)
        assert ended.turn in shown  # the reference
        assert await bot.store.inbox(HERE.conversation) == []


async def test_a_wait_longer_than_the_invocation_is_left_to_another_one(path: Path) -> None:
    async with bot_on(path, rate_limited("33"), text("Hello.")) as bot:
        await bot.hears(inbound())
        assert await bot.wakes(seconds=20) == Outcome(again_in=33)
        assert await bot.wakes(seconds=60) == Outcome()
        assert bot.channel.shown == ["Hello."]


async def test_a_call_cut_by_the_end_of_the_invocation_goes_on_in_the_next(path: Path) -> None:
    slow = reply(text("word " * 200), pace=0.1)
    async with bot_on(path, slow, text("Quick."), limits=Limits(shortest_call=0)) as bot:
        await bot.hears(inbound())
        assert await bot.wakes(seconds=1) == Outcome()
        assert bot.wake.woken == [HERE.conversation]
        assert await bot.wakes() == Outcome()
        assert bot.channel.shown == ["Quick."]


async def test_a_fault_of_the_request_is_not_repeated(path: Path) -> None:
    async with bot_on(path, Refusal(400, "invalid_request_error", "no"), text("Hello.")) as bot:
        await bot.hears(inbound(number=1))
        await bot.wakes()
        assert bot.channel.shown[0].startswith("Something went wrong on my side")
        await bot.hears(inbound("again", 2))
        await bot.wakes()
        assert bot.channel.shown[1] == "Hello."


async def test_a_prompt_too_long_slides_the_window_and_goes_on(path: Path) -> None:
    too_long = Refusal(400, "invalid_request_error", "prompt is too long: 300000 tokens > 200000 maximum")
    async with bot_on(path, text("One."), too_long, text("Two.")) as bot:
        for number, line in enumerate(["first", "second"], start=1):
            await bot.hears(inbound(line, number))
            await bot.wakes()
        assert "first" not in words(bot.model.requests[2])
        assert bot.channel.shown == ["One.", "Two."]


# People in charge.


async def test_stop_ends_the_stream_and_what_was_said_stays(path: Path) -> None:
    slow = reply(text("one two three four five six seven eight nine ten " * 20), pace=0.05)
    async with bot_on(path, slow, text("Hello.")) as bot:
        await bot.hears(inbound("count", 1))
        running = asyncio.create_task(bot.wakes())
        await bot.channel.until(lambda channel: any("two" in said for said in channel.shown))
        await bot.hears(inbound("", 2, command="stop"))
        await running
        assert bot.channel.shown[0].startswith("one two")
        assert bot.channel.shown[0].endswith("(Stopped.)")
        assert bot.model.hangups == 1
        await bot.hears(inbound("hi", 3))
        await bot.wakes()
        assert bot.channel.shown[1] == "Hello."


async def test_stop_ends_a_tool(path: Path) -> None:
    async with bot_on(path, call("look", {"at": "long"}, id="A"), text("Hello.")) as bot:
        await bot.hears(inbound("look", 1))
        running = asyncio.create_task(bot.wakes())
        await asyncio.wait_for(bot.deeds.reached.wait(), WAIT)
        await bot.hears(inbound("", 2, command="stop"))
        await running
        assert bot.channel.shown == ["(Stopped.)"]
        await bot.hears(inbound("hi", 3))
        await bot.wakes()
        assert bot.channel.shown[1] == "Hello."


async def test_stop_with_nothing_running_says_so(path: Path) -> None:
    async with bot_on(path) as bot:
        await bot.hears(inbound("", command="stop"))
        await bot.wakes()
        assert bot.channel.shown == ["Nothing is running."]


async def test_new_begins_with_a_blank_page(path: Path) -> None:
    async with bot_on(path, text("Noted."), text("Who are you?")) as bot:
        await bot.hears(inbound("I am Ann", 1))
        await bot.wakes()
        await bot.hears(inbound("", 2, command="new"), inbound("who am I?", 3))
        await bot.wakes()
        await bot.wakes()
        assert "I am Ann" not in words(bot.model.requests[1])
        assert bot.channel.shown[1].startswith("New conversation")


async def test_a_command_that_is_not_ours_is_read_by_the_model(path: Path) -> None:
    async with bot_on(path, text("?")) as bot:
        await bot.hears(inbound("the moon", command="draw"))
        await bot.wakes()
        assert "/draw the moon" in words(bot.model.requests[0])


async def test_a_stranger_costs_nothing_and_hears_how_to_get_in(path: Path) -> None:
    async with bot_on(path, access=Access(owner="telegram:9")) as bot:
        await bot.hears(inbound("hi"))
        await bot.wakes()
        assert bot.channel.shown == [
            "This bot is private. I have asked its owner to let you in; your id is telegram:1."
        ]


# Crashes: what another process finds.


async def test_a_paid_reply_is_not_paid_for_twice(path: Path) -> None:
    async with bot_on(path, text("Hello.")) as bot:
        await bot.hears(inbound())
        bot.channel.faults["send"] = [SendUncertain("cut"), SendUncertain("cut")] * 3
        assert await bot.wakes() == Outcome(again_in=5)
    async with bot_on(path) as bot:
        assert await bot.wakes() == Outcome()
        assert bot.channel.shown == ["Hello."]


async def test_after_a_kill_finished_calls_are_used_again_and_an_unknown_one_is_not_repeated(path: Path) -> None:
    calls = reply(
        call("book", {"what": "a"}, id="A"),
        call("book", {"what": "stuck"}, id="B"),
        call("look", {"at": "sea"}, id="C"),
    )
    async with bot_on(path, calls) as bot:
        await bot.hears(inbound())
        running = asyncio.create_task(bot.wakes())
        await asyncio.wait_for(bot.deeds.reached.wait(), WAIT)
        running.cancel()
        await asyncio.wait([running])
        assert bot.deeds.done == ["sea", "a", "stuck"]
    async with bot_on(path, text("Done."), clock=AnHourAhead()) as bot:
        await bot.wakes()
        assert bot.deeds.done == []
        known, unknown, read = results(bot.model.requests[0])
        assert known["content"] == "booked a"
        assert "outcome is unknown" in unknown["content"]
        assert read["content"] == "saw sea"
        assert bot.channel.shown == ["Done."]


async def test_a_turn_goes_on_in_the_message_it_began(path: Path) -> None:
    half = reply(text("Hel"), pace=0.05, broken=Break("hang", after=2))
    async with bot_on(path, half, limits=Limits(shortest_call=0)) as bot:
        await bot.hears(inbound())
        await bot.wakes(seconds=1)
        message, *_ = bot.channel.messages
    async with bot_on(path, text("Hello.")) as bot:
        bot.channel.messages = {message: "Hel"}
        await bot.wakes()
        assert bot.channel.messages == {message: "Hello."}


async def test_another_worker_alive_means_later(path: Path) -> None:
    async with bot_on(path) as bot:
        await bot.hears(inbound())
        until = int((SystemClock().now() + 30) * 1000)
        await bot.store.claim(HERE.conversation, "other", until)
        assert (await bot.wakes()).again_in is not None
        assert bot.channel.calls == []


async def test_a_worker_that_lost_its_lease_writes_nothing_more(path: Path) -> None:
    async with bot_on(path, call("look", {"at": "long"}, id="A")) as bot:
        await bot.hears(inbound())
        running = asyncio.create_task(bot.wakes())
        await asyncio.wait_for(bot.deeds.reached.wait(), WAIT)
        head = await bot.store.claim(HERE.conversation, "nobody", 0)
        assert head is None
        await _steal(bot.store)
        bot.deeds.gate.set()
        with pytest.raises(LeaseLost):
            await running
        assert not any(isinstance(entry, Returned) for entry in await bot.entries())


async def _steal(store: SQLiteStore) -> None:
    """Take the lease as another worker does whose clock says it has run out."""
    late = SQLiteStore(store.path, AnHourAhead())
    head = await late.claim(HERE.conversation, "thief", 9_999_999_999_999)
    assert head is not None
    await late.commit(head, Change(turn=head.turn))
    late.close()


# Delivery.


async def test_flood_control_delays_the_end_and_loses_nothing(path: Path) -> None:
    async with bot_on(path, text("Hello.")) as bot:
        bot.channel.faults["send"] = [SendLater("429", 0.2)]
        await bot.hears(inbound())
        await bot.wakes()
        assert bot.channel.shown == ["Hello."]


async def test_flood_control_longer_than_the_invocation_is_waited_out_without_one(path: Path) -> None:
    async with bot_on(path, text("Hello.")) as bot:
        bot.channel.faults["send"] = [SendLater("429", 300)]
        await bot.hears(inbound())
        outcome = await bot.wakes(seconds=20)
        assert outcome.again_in is not None
        assert 299 < outcome.again_in <= 300
        before = len(bot.channel.calls)
        assert (await bot.wakes(seconds=20)).again_in is not None
        assert bot.channel.calls[before:] == []
    async with bot_on(path) as bot:
        assert await bot.wakes() == Outcome()
        assert bot.channel.shown == ["Hello."]


async def test_refused_markup_is_sent_once_as_plain_text(path: Path) -> None:
    async with bot_on(path, text("Hello.")) as bot:
        bot.channel.faults["send"] = [SendRefused("can't parse entities"), SendRefused("can't parse entities")]
        await bot.hears(inbound())
        await bot.wakes()
        assert bot.channel.shown == ["Hello."]


async def test_a_send_that_arrived_before_it_failed_is_found_by_its_mark(path: Path) -> None:
    async with bot_on(path, text("Hello."), marks=True) as bot:
        bot.channel.faults["send"] = [SendUncertain("cut")]
        bot.channel.arrives = True
        await bot.hears(inbound())
        await bot.wakes()
        assert bot.channel.shown == ["Hello."]


async def test_a_left_over_that_arrived_before_its_send_failed_is_found_and_taken_back(path: Path) -> None:
    first = reply(text("a long beginning " * 5), pace=0.01, broken=Break("cut", after=20))
    async with bot_on(path, first, text("Short."), longest=20, marks=True) as bot:
        bot.channel.arrives = True
        await bot.hears(inbound())
        running = asyncio.create_task(bot.wakes())
        await bot.channel.until(lambda channel: len(channel.shown) == 1)
        bot.channel.faults["send"] = [SendUncertain("cut")]
        await running
        assert bot.channel.shown == ["Short."]


async def test_a_message_the_person_deleted_is_sent_anew(path: Path) -> None:
    async with bot_on(path, reply(text("Hello there."), pace=0.05)) as bot:
        bot.channel.faults["edit"] = [MessageGone("gone")] * 5
        await bot.hears(inbound())
        await bot.wakes()
        assert bot.channel.shown[-1] == "Hello there."


async def test_what_failed_goes_on_with_the_next_wake_and_not_when_its_lease_is_over(path: Path) -> None:
    async with bot_on(path, text("Hello.")) as bot:
        bot.store.fails_at = lambda change: any(isinstance(entry, Asked) for entry in change.entries)
        await bot.hears(inbound())
        for _ in range(2):
            with pytest.raises(StoreUnavailable):
                await bot.wakes()
        bot.store.fails_at = lambda change: change.release
        with pytest.raises(StoreUnavailable):
            await bot.wakes()
        bot.store.fails_at = lambda change: False
        assert await bot.wakes() == Outcome()
        assert (bot.channel.shown, len(bot.model.requests)) == (["Hello."], 1)


async def test_a_closed_chat_ends_the_turn_without_more_cost(path: Path) -> None:
    async with bot_on(path, text("Hello.")) as bot:
        bot.channel.faults["send"] = [ChatClosed("blocked")] * 3
        await bot.hears(inbound())
        assert await bot.wakes() == Outcome()
        assert await bot.store.inbox(HERE.conversation) == []


async def test_an_answer_waits_for_the_owner_to_store_another_token_and_is_asked_for_once(path: Path) -> None:
    async with bot_on(path, reply(text("Hello there."), pace=0.05)) as bot:
        bot.channel.faults["send"] = [TokenGone("Unauthorized")] * 20
        await bot.hears(inbound("hi", 1))
        for _ in range(7):  # more often than a turn may fail
            assert await bot.wakes() == Outcome(again_in=TOKEN_AGAIN)
        assert await bot.turns.give_up(HERE.conversation) == Outcome(again_in=TOKEN_AGAIN)
        bot.channel.faults.clear()
        await bot.hears(inbound("still there?", 2, command="help"))
        await bot.wakes()
        assert (bot.channel.shown, len(bot.model.requests)) == (["Hello there."], 1)
        await bot.wakes()
        assert len(bot.channel.shown) == 2
        assert await bot.store.inbox(HERE.conversation) == []


# Corrections, buttons, albums.


async def test_an_edit_before_the_turn_replaces_the_text(path: Path) -> None:
    async with bot_on(path, text("87.")) as bot:
        await bot.hears(inbound("12*7", 1), edit("12*7+3", 1))
        await bot.wakes()
        assert "12*7+3" in words(bot.model.requests[0])
        assert "12*7" not in words(bot.model.requests[0])
        assert await bot.store.inbox(HERE.conversation) == []


async def test_an_edit_during_the_turn_steers_it(path: Path) -> None:
    async with bot_on(path, call("look", {"at": "long"}, id="A"), text("In euros: 5.")) as bot:
        await bot.hears(inbound("price in dollars?", 1))
        await bot.wakes_and_hears(edit("price in euros?", 1))
        assert "price in euros?" in words(bot.model.requests[1])
        assert any("They edited a message above" in said for said in words(bot.model.requests[1]))


async def test_an_edit_after_the_answer_offers_to_do_it_again_and_a_tap_rewinds_one_turn(path: Path) -> None:
    async with bot_on(path, text("Hi."), text("84."), text("87.")) as bot:
        for number, line in enumerate(["hello", "12*7"], start=1):
            await bot.hears(inbound(line, number))
            await bot.wakes()
        await bot.hears(edit("12*7+3", 2))
        await bot.wakes()
        (redo,) = bot.channel.buttons
        assert redo.label == "Redo"
        assert len(bot.model.requests) == 2
        await bot.hears(tap(redo.data))
        await bot.wakes()
        assert bot.channel.shown[-1] == "87."
        seen = words(bot.model.requests[2])
        assert {"hello", "Hi.", "12*7+3"} <= set(seen)
        assert not {"12*7", "84."} & set(seen)


async def test_an_edit_of_what_nobody_remembers_is_silent(path: Path) -> None:
    async with bot_on(path) as bot:
        await bot.hears(edit("what?", 99))
        assert await bot.wakes() == Outcome()
        assert bot.channel.calls == []
        assert await bot.store.inbox(HERE.conversation) == []


async def test_of_two_edits_either_button_answers_the_newer(path: Path) -> None:
    async with bot_on(path, text("84."), text("90.")) as bot:
        await bot.hears(inbound("12*7", 1))
        await bot.wakes()
        offers: list[Button] = []
        for at, words_now in enumerate(("12*7+3", "12*7+6"), 1):
            await bot.hears(replace(edit(words_now, 1), id=f"e1.{at}", order=f"{1:012d}.{at}"))
            await bot.wakes()
            offers += bot.channel.buttons
        await bot.hears(tap(offers[0].data))
        await bot.wakes()
        assert words(bot.model.requests[1])[-1] == "12*7+6"


async def test_an_edit_that_changes_nothing_is_none(path: Path) -> None:
    async with bot_on(path, text("84.")) as bot:
        await bot.hears(inbound("12*7", 1))
        await bot.wakes()
        await bot.hears(edit("12*7", 1))
        assert await bot.wakes() == Outcome()
        assert bot.channel.shown == ["84."]
        assert await bot.store.inbox(HERE.conversation) == []


async def test_a_question_that_an_edit_made_a_command_is_that_command_when_it_is_done_again(path: Path) -> None:
    async with bot_on(path, text("Do you mean /help?")) as bot:
        await bot.hears(inbound("", 1, command="hepl"))
        await bot.wakes()
        await bot.hears(replace(edit("", 1), command="help"))
        await bot.wakes()
        await bot.hears(tap(bot.channel.buttons[0].data))
        await bot.wakes()
        assert "/new" in bot.channel.shown[-1]


async def test_a_failed_turn_can_be_retried_by_who_asked_and_nobody_else(path: Path) -> None:
    async with bot_on(path, Refusal(400, "invalid_request_error", "no"), text("Hello.")) as bot:
        await bot.hears(inbound("hi", 1))
        await bot.wakes()
        (retry,) = bot.channel.buttons
        assert retry.label == "Retry"
        await bot.hears(tap(retry.data, 2, sender=BUDI))
        await bot.wakes()
        assert len(bot.model.requests) == 1
        await bot.hears(tap(retry.data, 3))
        await bot.wakes()
        assert bot.channel.shown[-1] == "Hello."
        assert words(bot.model.requests[1])[-1] == "hi"
        await bot.hears(tap(retry.data, 4))
        await bot.wakes()
        assert len(bot.model.requests) == 2  # it was done again already


async def test_a_button_whose_question_is_out_of_sight_says_so_to_who_asked_and_to_nobody_else(path: Path) -> None:
    async with bot_on(path, Refusal(400, "invalid_request_error", "no")) as bot:
        await bot.hears(inbound("hi", 1))
        await bot.wakes()
        (retry,) = bot.channel.buttons
        await bot.hears(inbound("", 2, command="new"))
        await bot.wakes()
        for number, sender in ((3, BUDI), (4, ANN)):
            await bot.hears(tap(retry.data, number, sender=sender))
            await bot.wakes()
        assert bot.channel.shown[2:] == ["That lies too far back for me to take it up again. Please send it once more."]


async def test_an_answer_cut_by_a_limit_can_be_continued(path: Path) -> None:
    async with bot_on(path, reply(text("Once upon"), stop_reason="max_tokens"), text("a time.")) as bot:
        await bot.hears(inbound("a tale", 1))
        await bot.wakes()
        (more,) = bot.channel.buttons
        await bot.hears(tap(more.data))
        await bot.wakes()
        assert bot.channel.shown[-1] == "a time."
        assert words(bot.model.requests[1])[-1] == "Please continue."


async def test_the_stop_button_of_whoever_asked_stops_and_another_persons_does_not(path: Path) -> None:
    async with bot_on(path, reply(text("one two three four five " * 40), pace=0.05)) as bot:
        bot.channel.stop_button = True
        await bot.hears(inbound("count", 1))
        running = asyncio.create_task(bot.wakes())
        await bot.channel.until(lambda channel: [button.label for button in channel.buttons] == ["Stop"])
        (stop,) = bot.channel.buttons
        await bot.hears(tap(stop.data, 2, sender=BUDI))
        await bot.looks_twice()
        assert not running.done()
        await bot.hears(tap(stop.data, 3))
        await running
        assert bot.channel.shown[0].endswith("(Stopped.)")
        assert bot.channel.buttons == ()


async def test_an_album_that_arrives_in_pieces_is_one_turn(path: Path) -> None:
    async with bot_on(path, text("Three photos.")) as bot:
        await bot.hears(photo(1, "before"))
        running = asyncio.create_task(bot.wakes())
        await bot.store.looked()
        await bot.hears(photo(2), photo(3, "after"))
        await running
        assert str(bot.model.requests[0]["messages"]).count("<attachment") == 3
        assert {"before", "after"} <= {line.splitlines()[-1] for line in words(bot.model.requests[0])}
        assert bot.channel.shown == ["Three photos."]


async def test_a_paste_split_by_the_app_is_one_turn(path: Path) -> None:
    async with bot_on(path, text("Long.")) as bot:
        await bot.hears(inbound("a" * 4_096, 1))
        running = asyncio.create_task(bot.wakes())
        await bot.store.looked()
        await bot.hears(inbound("the end", 2))
        await running
        assert "the end" in words(bot.model.requests[0])


async def test_in_queue_mode_a_message_waits_its_turn(path: Path) -> None:
    async with bot_on(path, call("look", {"at": "long"}, id="A"), text("One."), text("Two.")) as bot:
        await bot.hears(inbound("queue", 1, command="meanwhile"))
        await bot.wakes()
        await bot.hears(inbound("first", 2))
        await bot.wakes_and_hears(inbound("second", 3))
        assert "second" not in words(bot.model.requests[1])
        await bot.wakes()
        assert bot.channel.shown[-2:] == ["One.", "Two."]


async def test_in_interrupt_mode_a_message_ends_the_turn_and_comes_first(path: Path) -> None:
    async with bot_on(path, call("look", {"at": "long"}, id="A"), text("Two.")) as bot:
        await bot.hears(inbound("interrupt", 1, command="meanwhile"))
        await bot.wakes()
        await bot.hears(inbound("first", 2))
        running = asyncio.create_task(bot.wakes())
        await asyncio.wait_for(bot.deeds.reached.wait(), WAIT)
        await bot.hears(inbound("second", 3))
        await running
        await bot.wakes()
        assert bot.channel.shown[-2:] == ["(Stopped.)", "Two."]
        assert "second" in words(bot.model.requests[1])


async def test_in_interrupt_mode_an_edit_ends_the_turn_and_is_answered(path: Path) -> None:
    async with bot_on(path, call("look", {"at": "long"}, id="A"), text("In euros: 5.")) as bot:
        await bot.hears(inbound("interrupt", 1, command="meanwhile"))
        await bot.wakes()
        await bot.hears(inbound("price in dollars?", 2))
        running = asyncio.create_task(bot.wakes())
        await asyncio.wait_for(bot.deeds.reached.wait(), WAIT)
        await bot.hears(edit("price in euros?", 2))
        await running
        await bot.wakes()
        assert bot.channel.shown[-2:] == ["(Stopped.)", "In euros: 5."]
        assert words(bot.model.requests[1])[-1] == "price in euros?"


# The life of a chat.


async def test_messages_from_before_an_outage_get_one_notice(path: Path) -> None:
    async with bot_on(path, text("Yes."), clock=AnHourAhead()) as bot:
        await bot.hears(*(inbound(f"old {number}", number) for number in range(1, 6)))
        await bot.hears(replace(inbound("are you back?", 6), sent_at=int(AnHourAhead().now())))
        await bot.wakes()
        await bot.wakes()
        assert len(bot.channel.shown) == 2
        assert bot.channel.shown[0].startswith("I was away")
        assert bot.channel.shown[1] == "Yes."
        assert "old 1" not in words(bot.model.requests[0])


async def test_what_an_outage_held_up_gets_one_notice_however_slowly_it_comes_in(path: Path) -> None:
    ahead = AnHourAhead()
    async with bot_on(path, clock=ahead) as bot:
        for number in range(1, 4):
            await bot.hears(inbound(f"old {number}", number, arrival=Arrival(round(ahead.now() * 1000))))
            await bot.wakes()
        assert len(bot.channel.shown) == 1 and await bot.store.inbox(HERE.conversation) == []
    async with bot_on(path, clock=AnHourAhead(3)) as bot:
        await bot.hears(replace(inbound("are you back?", 4), sent_at=int(ahead.now()) + 60))
        await bot.wakes()
        assert len(bot.channel.shown) == 1


async def test_a_chat_that_blocked_the_bot_costs_nothing_until_it_comes_back(path: Path) -> None:
    async with bot_on(path, text("Hello."), text("Welcome back.")) as bot:
        bot.channel.faults["send"] = [ChatClosed("blocked")] * 2
        await bot.hears(inbound("hi", 1), inbound("", 2, command="help"))
        await bot.wakes()
        assert await bot.store.inbox(HERE.conversation) == []
        assert await bot.wakes() == Outcome()
        bot.channel.faults.clear()
        await bot.hears(inbound("hi again", 3))
        await bot.wakes()
        assert bot.channel.shown == ["Welcome back."]


async def test_being_thrown_out_drops_what_waits(path: Path) -> None:
    async with bot_on(path) as bot:
        await bot.hears(inbound("hi", 1), news("left"))
        await bot.wakes()
        assert bot.channel.calls == []
        assert await bot.store.inbox(HERE.conversation) == []
        await bot.hears(news("joined"))
        assert await bot.wakes() == Outcome()


async def test_a_group_that_became_a_supergroup_takes_everything_along_once(path: Path) -> None:
    new = Place(conversation="telegram:-1001", chat="-1001", group=True)
    async with bot_on(path, text("Noted."), text("Bromo.")) as bot:
        await bot.hears(inbound("queue", 1, command="meanwhile", place=GROUP))
        await bot.wakes(GROUP.conversation)
        await bot.hears(inbound("we go to Bromo", 2, place=GROUP))
        await bot.wakes(GROUP.conversation)
        await bot.hears(news("moved", "-1001", place=GROUP), inbound("where do we go?", 3, place=GROUP))
        await bot.wakes(GROUP.conversation)
        assert new.conversation in bot.wake.woken
        await bot.wakes(GROUP.conversation)
        await bot.wakes(new.conversation)
        assert "we go to Bromo" in words(bot.model.requests[1])
        assert bot.channel.places[-1] == new
        assert bot.channel.shown[-2:] == ["Noted.", "Bromo."]
        await bot.hears(news("moved", "-1001", place=GROUP))
        await bot.wakes(GROUP.conversation)
        assert await bot.wakes(new.conversation) == Outcome()
        head = await bot.store.claim(new.conversation, "test", 1)
        assert head is not None
        assert head.settings.meanwhile == "queue"
        day = day_of(SystemClock().now())
        spent = await bot.store.spent([Counter(f"chat:{each}", day) for each in (GROUP.conversation, new.conversation)])
        before, now = (spent[Counter(f"chat:{each}", day)].bill for each in (GROUP.conversation, new.conversation))
        assert (before.turns, now.turns) == (1, 2)  # what was spent went along, and was counted once


async def test_a_send_that_finds_the_group_moved_goes_to_the_new_chat(path: Path) -> None:
    async with bot_on(path, text("Hello.")) as bot:
        bot.channel.faults["send"] = [ChatMoved("upgraded", "-1001")] * 2
        await bot.hears(inbound("hi", 1, place=GROUP))
        await bot.wakes(GROUP.conversation)
        await bot.wakes(GROUP.conversation)
        assert bot.channel.shown == ["Hello."]
        assert bot.channel.places[-1].chat == "-1001"


async def test_a_wake_that_was_lost_is_made_up_for_by_the_sweep(path: Path) -> None:
    async with bot_on(path, clock=AnHourAhead()) as late, bot_on(path, text("Hello.")) as bot:
        await bot.hears(inbound("hi"))
        assert await sweep(120, bot.store, bot.wake, SystemClock()) == 0
        assert await sweep(120, late.store, late.wake, AnHourAhead()) == 1
        assert late.wake.woken == [HERE.conversation]
        await bot.wakes()
        assert await sweep(120, late.store, late.wake, AnHourAhead()) == 0


async def test_a_wake_given_up_tells_the_person_and_can_be_retried(path: Path) -> None:
    async with bot_on(path, text("Hello.")) as bot:
        await bot.hears(inbound("hi", 1))
        await bot.turns.give_up(HERE.conversation)
        assert bot.channel.shown[0].startswith("Something went wrong on my side")
        (retry,) = bot.channel.buttons
        await bot.hears(tap(retry.data))
        await bot.wakes()
        assert bot.channel.shown[-1] == "Hello."


async def test_a_turn_that_makes_no_progress_ends_by_itself(path: Path) -> None:
    async with bot_on(path, call("look", {"at": "long"}, id="A"), limits=Limits(attempts=2)) as bot:
        await bot.hears(inbound())
        running = asyncio.create_task(bot.wakes())
        await asyncio.wait_for(bot.deeds.reached.wait(), WAIT)
        running.cancel()
        await asyncio.wait([running])
    for hours in (1, 2):
        async with bot_on(path, limits=Limits(attempts=2), clock=AnHourAhead(hours)) as bot:
            running = asyncio.create_task(bot.wakes())
            await asyncio.wait([running, asyncio.create_task(bot.deeds.reached.wait())], return_when="FIRST_COMPLETED")
            running.cancel()
            await asyncio.wait([running])
            ended = bot.channel.shown
    assert ended
    assert "Reference" in ended[0]


async def test_after_an_outage_a_group_of_many_languages_and_strangers_gets_one_notice(path: Path) -> None:
    access = Access(owner=ANN.id, allowed=frozenset({BUDI.id}))
    people = (ANN, BUDI, Person("telegram:9", "Eve"))
    async with bot_on(path, clock=AnHourAhead(), access=access) as bot:
        old = (inbound(f"old {number}", number, sender=people[number % 3], place=GROUP) for number in range(12))
        await bot.hears(*old, inbound("", 20, place=GROUP, command="retry"))
        for _ in range(5):
            await bot.wakes(GROUP.conversation)
        assert sorted(each[:8] for each in bot.channel.shown) == ["I was aw", "This bot"]
        assert await bot.store.inbox(GROUP.conversation) == []


async def test_status_counts_the_questions_that_the_model_still_sees_and_no_commands(path: Path) -> None:
    async with bot_on(path, text("One."), text("Two.")) as bot:
        said = (inbound("?", 1), inbound("", 2, command="help"), inbound("?", 3), inbound("", 4, command="status"))
        for each in said:
            await bot.hears(each)
            await bot.wakes()
        assert "- Questions I still see: 2\n" in bot.channel.shown[-1]


async def test_a_button_under_an_old_message_does_what_it_says(path: Path) -> None:
    async with bot_on(path, clock=AnHourAhead()) as bot:
        await bot.hears(tap("do:status"))  # Telegram tells when the message was sent, not when it was tapped
        await bot.wakes()
        assert bot.channel.shown[-1].startswith("**Status**")
