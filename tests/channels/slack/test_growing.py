"""Answers that grow in Slack: one message, nothing twice, nothing lost, whatever ends a stream."""

from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.channels.slack.send import SlackChannel
from bot.errors import MessageGone, SendLater, SendUncertain
from bot.messages import Button, Place, Task
from bot.ports import Rendered
from simulator.slack import ANN_DM, BOT_USER, GENERAL, TEAM
from simulator.slack_rates import RATES
from simulator.world import Fault
from tests.channels.slack.stage import DIRECT, Stage, manner, staged

MORE = (Button("Continue", "more:t1"),)
THUMBS = (Button("Good", "vote:up:t1", 1), Button("Bad", "vote:down:t1", 1))
GROWING = manner(growing=True)


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with staged() as stage:
        yield stage


async def grown(channel: SlackChannel, place: Place, *texts: str) -> str:
    """A message that has come to show the last of these."""
    first, *rest = texts
    message_id = await channel.send(place, Rendered(first), GROWING)
    for text in rest:
        await channel.edit(place, message_id, Rendered(text), growing=True)
    return message_id


@pytest.mark.parametrize("chat", [GENERAL, ANN_DM])
async def test_an_answer_in_a_thread_grows_as_a_stream_and_ends_with_its_buttons(stage: Stage, chat: str) -> None:
    channel, place = stage.channel(), await stage.thread(chat)
    message_id = await grown(channel, place, "Hello", "Hello Ann", "Hello Ann, how")
    (shown,) = stage.ours(chat)
    assert (shown.streaming, shown.markdown_text, shown.thread) == (True, "Hello Ann, how", place.thread)

    await channel.edit(place, message_id, Rendered("Hello Ann, how are you?", buttons=MORE + THUMBS))

    assert (shown.streaming, shown.markdown_text, shown.edits) == (False, "Hello Ann, how are you?", 0)
    assert [[button.text for button in row] for row in shown.buttons] == [["Continue"], ["Good", "Bad"]]
    assert stage.calls() == ["chat.startStream", "chat.appendStream", "chat.appendStream", "chat.stopStream"]
    added = [chunk["text"] for call in stage.params("chat.appendStream") for chunk in call["chunks"]]
    assert added == [" Ann", ", how"]


async def test_outside_direct_messages_the_reader_is_named(stage: Stage) -> None:
    channel = stage.channel()
    await channel.send(await stage.thread(), Rendered("Hello"), GROWING)
    await channel.send(await stage.thread(ANN_DM), Rendered("Hello"), GROWING)

    in_channel, direct = stage.params("chat.startStream")
    assert (in_channel["recipient_team_id"], in_channel["recipient_user_id"]) == (TEAM, "U0ANN")
    assert "recipient_user_id" not in direct
    assert (in_channel["unfurl_links"], in_channel["unfurl_media"]) == (False, False)


async def test_at_top_level_of_a_direct_message_a_plain_message_is_edited(stage: Stage) -> None:
    channel = stage.channel()
    message_id = await grown(channel, DIRECT, "Hel", "Hello")
    await channel.edit(DIRECT, message_id, Rendered("Hello.", buttons=MORE))

    (shown,) = stage.ours(ANN_DM)
    assert (shown.markdown_text, shown.thread, len(shown.buttons)) == ("Hello.", "", 1)
    assert stage.calls() == ["chat.postMessage", "chat.update", "chat.update"]


async def test_what_is_already_shown_is_not_sent_again(stage: Stage) -> None:
    channel, place = stage.channel(), await stage.thread()
    message_id = await grown(channel, place, "Hello", "Hello", "Hello ")
    await channel.edit(place, message_id, Rendered("Hello"))
    await channel.edit(place, message_id, Rendered("Hello"))

    assert stage.calls() == ["chat.startStream", "chat.stopStream"]


async def test_code_that_is_closed_only_for_now_goes_on_in_the_stream(stage: Stage) -> None:
    channel, place = stage.channel(), await stage.thread()
    texts = ["Look:", "Look:\n```py\n```", "Look:\n```py\nx = 1\n```", "Look:\n```py\nx = 1\ny = **2**\n```", "*"]
    message_id = await grown(channel, place, *texts[:-1])
    (shown,) = stage.ours()
    assert shown.markdown_text == "Look:\n```py\nx = 1\ny = **2"
    await channel.edit(place, message_id, Rendered("Look:\n```py\nx = 1\ny = **2**\n```\nDone."))

    assert shown.markdown_text == "Look:\n```py\nx = 1\ny = **2**\n```\nDone."
    assert "chat.update" not in stage.calls()


# Steps.


async def test_each_change_of_a_step_is_told_once_and_the_folded_line_says_what_is_at_work(stage: Stage) -> None:
    channel, place = stage.channel(), await stage.thread()
    search, read = Task("1", "Searching", "running"), Task("2", "Reading", "running")
    message_id = await channel.send(place, Rendered("", tasks=(search,)), GROWING)
    (shown,) = stage.ours()
    assert (shown.plan, [(task.title, task.status) for task in shown.tasks]) == (
        "Searching",
        [("Searching", "in_progress")],
    )
    done = Task("1", "Searching", "done")
    await channel.edit(place, message_id, Rendered("", tasks=(done, read)), growing=True)
    await channel.edit(place, message_id, Rendered("So", tasks=(done, read)), growing=True)
    failed = Task("2", "Reading", "failed")
    await channel.edit(place, message_id, Rendered("So it is.", tasks=(done, failed)))

    assert [(task.title, task.status) for task in shown.tasks] == [("Searching", "complete"), ("Reading", "error")]
    assert (shown.plan, shown.markdown_text) == ("Searching · Reading", "So it is.")
    calls = [*stage.params("chat.startStream"), *stage.params("chat.appendStream"), *stage.params("chat.stopStream")]
    told = [chunk["status"] for call in calls for chunk in call["chunks"] if chunk["type"] == "task_update"]
    assert told == ["in_progress", "complete", "in_progress", "error"]


async def test_a_step_that_nobody_ended_is_over_when_the_answer_is(stage: Stage) -> None:
    channel, place = stage.channel(), await stage.thread()
    message_id = await channel.send(place, Rendered("", tasks=(Task("1", "Searching", "running"),)), GROWING)
    await channel.edit(place, message_id, Rendered("Stopped."))

    assert [task.status for task in stage.ours()[0].tasks] == ["complete"]


async def test_steps_stay_in_an_answer_whose_later_parts_go_on(stage: Stage) -> None:
    channel, place = stage.channel(), await stage.thread()
    running, done = (Task("1", "Searching", state) for state in ("running", "done"))
    first = await channel.send(place, Rendered("One", tasks=(running,)), GROWING)
    await channel.edit(place, first, Rendered("One.", tasks=(running,)))
    await channel.send(place, Rendered("Two"), manner("t1.1", growing=True))
    await channel.edit(place, first, Rendered("One.", tasks=(done,)))

    assert [(message.markdown_text, len(message.tasks)) for message in stage.ours()] == [("One.", 1), ("Two", 0)]


async def test_a_long_title_is_cut_to_what_slack_takes(stage: Stage) -> None:
    channel, place = stage.channel(), await stage.thread()
    await channel.send(place, Rendered("", tasks=(Task("1", "x" * 900, "running"),)), GROWING)

    assert stage.calls() == ["chat.startStream"] and len(stage.ours()[0].tasks[0].title) == 250


# What ends a stream.


async def test_a_text_that_changed_in_the_middle_is_an_edit_of_the_same_message(stage: Stage) -> None:
    channel, place = stage.channel(), await stage.thread()
    message_id = await grown(channel, place, "Hello Ann", "Goodbye Ann", "Goodbye Ann, see you")
    await channel.edit(place, message_id, Rendered("Goodbye Ann, see you soon.", buttons=MORE))

    (shown,) = stage.ours()
    assert (shown.id, shown.markdown_text, shown.streaming) == (message_id, "Goodbye Ann, see you soon.", False)
    assert len(shown.buttons) == 1
    assert stage.calls() == ["chat.startStream", "chat.stopStream", "chat.update", "chat.update", "chat.update"]


async def test_slacks_stop_button_stays_while_the_turn_goes_on(stage: Stage) -> None:
    channel, place = stage.channel(), await stage.thread()
    message_id = await grown(channel, place, "Hello Ann")
    signs = stage.simulator.world.signs
    assert signs["slack", GENERAL, place.thread].stop
    await channel.edit(place, message_id, Rendered("Goodbye"), growing=True)
    assert signs["slack", GENERAL, place.thread].stop
    await channel.edit(place, message_id, Rendered("Goodbye."))
    await channel.typing(place, active=False)
    assert signs == {}


async def test_a_stream_is_ended_before_slack_does_and_the_message_goes_on(stage: Stage) -> None:
    channel, place = stage.channel(), await stage.thread()
    message_id = await grown(channel, place, "one")
    stage.clock.advance(271)
    await channel.edit(place, message_id, Rendered("one two"), growing=True)
    await channel.edit(place, message_id, Rendered("one two three"))

    (shown,) = stage.ours()
    assert shown.markdown_text == "one two three"
    assert stage.calls() == ["chat.startStream", "chat.stopStream", "chat.update", "chat.update"]


@pytest.mark.parametrize("last", [False, True])
async def test_a_stream_that_slack_ended_early_goes_on_as_the_same_message(stage: Stage, last: bool) -> None:
    stage.slack.stream_seconds = 60
    channel, place = stage.channel(), await stage.thread()
    message_id = await grown(channel, place, "one")
    stage.clock.advance(61)
    if not last:
        await channel.edit(place, message_id, Rendered("one two"), growing=True)
    await channel.edit(place, message_id, Rendered("one two three", buttons=MORE))

    (shown,) = stage.ours()
    assert (shown.markdown_text, shown.streaming, len(shown.buttons)) == ("one two three", False, 1)
    assert await stage.channel().find(place, "t1.0") == message_id


@pytest.mark.parametrize("last", [False, True])
async def test_after_the_persons_stop_the_message_still_gets_its_whole_text(stage: Stage, last: bool) -> None:
    channel, place = stage.channel(), await stage.thread()
    message_id = await grown(channel, place, "one")
    await stage.slack.stop(GENERAL, "ann", place.thread)
    if not last:
        await channel.edit(place, message_id, Rendered("one two"), growing=True)
    await channel.edit(place, message_id, Rendered("one two (Stopped.)"))

    (shown,) = stage.ours()
    assert (shown.markdown_text, shown.streaming) == ("one two (Stopped.)", False)
    assert "chat.stopStream stopped_by_user" in stage.calls() or "chat.appendStream stopped_by_user" in stage.calls()


@pytest.mark.parametrize("last", [False, True])
async def test_another_process_finds_the_open_stream_and_finishes_it(stage: Stage, last: bool) -> None:
    place = await stage.thread()
    message_id = await grown(stage.channel(), place, "one", "one two")
    later = stage.channel()
    assert await later.find(place, "t1.0") == message_id
    if not last:
        await later.edit(place, message_id, Rendered("one two three"), growing=True)
    await later.edit(place, message_id, Rendered("one two three four", buttons=THUMBS))

    (shown,) = stage.ours()
    assert (shown.markdown_text, shown.streaming, len(shown.buttons)) == ("one two three four", False, 1)
    assert await stage.channel().find(place, "t1.0") == message_id


async def test_another_process_that_knows_the_message_finishes_it_without_looking(stage: Stage) -> None:
    place = await stage.thread()
    message_id = await grown(stage.channel(), place, "one")
    await stage.channel().edit(place, message_id, Rendered("one two"))

    (shown,) = stage.ours()
    assert (shown.markdown_text, shown.streaming) == ("one two", False)
    assert stage.calls() == [
        "chat.startStream",
        "chat.update streaming_state_conflict",
        "chat.stopStream",
        "chat.update",
    ]


async def test_a_text_near_the_limit_of_all_blocks_leaves_the_stream(stage: Stage) -> None:
    channel, place = stage.channel(), await stage.thread()
    tasks = tuple(Task(str(number), f"{number}" + "x" * 240, "done") for number in range(6))
    message_id = await channel.send(place, Rendered("", tasks=tasks), GROWING)
    text = "word " * 2_190
    await channel.edit(place, message_id, Rendered(text, tasks=tasks), growing=True)
    await channel.edit(place, message_id, Rendered(text + "end.", tasks=tasks, buttons=THUMBS))

    (shown,) = stage.ours()
    assert shown.markdown_text == text + "end."
    assert not [call for call in stage.calls() if "too_long" in call or "invalid" in call]


# Faults on the way.


@pytest.mark.parametrize(
    "error", ["missing_scope", "channel_type_not_supported", "missing_recipient_user_id", "invalid_thread_ts"]
)
async def test_where_slack_refuses_a_stream_the_answer_is_an_ordinary_message(stage: Stage, error: str) -> None:
    stage.fault("chat.startStream", error)
    channel, place = stage.channel(), await stage.thread()
    message_id = await grown(channel, place, "one", "one two")
    await channel.edit(place, message_id, Rendered("one two three"))

    assert [message.markdown_text for message in stage.ours()] == ["one two three"]


async def test_a_workspace_that_refuses_streams_is_asked_again_only_after_a_while(stage: Stage) -> None:
    stage.fault("chat.startStream", "missing_scope")
    channel = stage.channel()
    for _ in range(3):
        await grown(channel, await stage.thread(), "one")
    stage.clock.advance(601)
    await grown(channel, await stage.thread(), "one")

    assert [call.partition(" ")[0] for call in stage.calls()] == [
        "chat.startStream",
        *["chat.postMessage"] * 3,
        "chat.startStream",
    ]


async def test_a_rate_limit_in_the_middle_loses_nothing(stage: Stage) -> None:
    channel, place = stage.channel(), await stage.thread()
    message_id = await grown(channel, place, "one")
    for method in ("chat.appendStream", "chat.stopStream"):
        stage.fault(method, "ratelimited", status=429, retry_after=7)
    with pytest.raises(SendLater) as later:
        await channel.edit(place, message_id, Rendered("one two"), growing=True)
    assert later.value.retry_after == 7
    with pytest.raises(SendLater):
        await channel.edit(place, message_id, Rendered("one two three"))
    await channel.edit(place, message_id, Rendered("one two three"))

    (shown,) = stage.ours()
    assert (shown.markdown_text, shown.streaming) == ("one two three", False)


@pytest.mark.parametrize("kind", ["cut", "error"])
@pytest.mark.parametrize("last", [False, True])
async def test_an_addition_that_may_have_arrived_is_not_made_twice(stage: Stage, kind: str, last: bool) -> None:
    channel, place = stage.channel(), await stage.thread()
    message_id = await grown(channel, place, "one")
    method = "chat.stopStream" if last else "chat.appendStream"
    fault = Fault("slack", method, "cut") if kind == "cut" else Fault("slack", method, "error", status=500)
    stage.simulator.world.add_fault(fault)
    with pytest.raises(SendUncertain):
        await channel.edit(place, message_id, Rendered("one two"), growing=not last)
    await channel.edit(place, message_id, Rendered("one two three"))

    (shown,) = stage.ours()
    assert (shown.markdown_text, shown.streaming) == ("one two three", False)


async def test_a_stream_whose_start_was_cut_is_found_and_used(stage: Stage) -> None:
    channel, place = stage.channel(), await stage.thread()
    stage.simulator.world.add_fault(Fault("slack", "chat.startStream", "cut"))
    with pytest.raises(SendUncertain):
        await channel.send(place, Rendered("one"), GROWING)
    message_id = await channel.find(place, "t1.0")
    assert message_id is not None
    await channel.edit(place, message_id, Rendered("one two"))

    assert [message.markdown_text for message in stage.ours()] == ["one two"]


async def test_a_message_that_somebody_deleted_is_gone(stage: Stage) -> None:
    channel, place = stage.channel(), await stage.thread()
    message_id = await grown(channel, place, "one")
    stage.slack.retract(GENERAL, message_id)
    with pytest.raises(MessageGone):
        await channel.edit(place, message_id, Rendered("one two"), growing=True)
    assert await channel.find(place, "t1.0") is None


async def test_a_lost_stream_is_never_taken_for_an_older_answer_or_another_bots(stage: Stage) -> None:
    channel, place = stage.channel(), await stage.thread()
    ended = await grown(channel, place, "one")
    await channel.edit(place, ended, Rendered("one."))
    dead = await grown(channel, place, "two")
    stage.slack.posts[(GENERAL, dead)].native["bot_id"] = "B0OTHER"
    assert await stage.channel().find(place, "t9.0") is None

    stage.slack.posts[(GENERAL, dead)].native["bot_id"] = "B0KABAR"
    assert await stage.channel().find(place, "t9.0") == dead
    stage.clock.advance(901)
    assert await stage.channel().find(place, "t9.0") is None


async def test_a_thread_has_one_open_stream_at_most_so_that_a_lost_one_is_known(stage: Stage) -> None:
    channel, place = stage.channel(), await stage.thread()
    first = await channel.send(place, Rendered("one"), manner("t1.0", growing=True))
    second = await channel.send(place, Rendered("two"), manner("t1.1", growing=True))

    assert [message.streaming for message in stage.ours()] == [False, True]
    later = stage.channel()
    assert (await later.find(place, "t1.0"), await later.find(place, "t1.1")) == (first, second)


async def test_taking_back_a_growing_message_forgets_its_stream(stage: Stage) -> None:
    channel, place = stage.channel(), await stage.thread()
    message_id = await grown(channel, place, "one")
    await channel.delete(place, message_id)
    await channel.delete(place, message_id)

    assert stage.ours() == []


# Names.


async def test_only_people_seen_in_the_conversation_are_called_by_the_model(stage: Stage) -> None:
    channel, place = stage.channel(), await stage.thread()
    (part,) = channel.render("<@U0ANN> and <@U0BUDI>, <!channel> <@U0ANN|x>")
    await channel.send(place, part, manner())
    (shown,) = stage.ours()
    assert shown.markdown_text == "<@U0ANN> and &lt;@U0BUDI&gt;, &lt;!channel&gt; &lt;@U0ANN|x&gt;"

    await stage.slack.say(GENERAL, "budi", "me too", place.thread)
    await channel.earlier(place, "9999999999.000000")
    await channel.edit(place, shown.id, part)
    assert shown.markdown_text.startswith("<@U0ANN> and <@U0BUDI>, &lt;!channel&gt;")
    assert f"<@{BOT_USER}>" not in shown.markdown_text


# Any text, any way.

WORDS = ["word ", "**bold** ", "`code` ", "\n\n", "\n- item", "<@U0ANN> ", "[a](https://e.x) "]
PIECES = st.sampled_from([*WORDS, "\n```py\nx = 1\n", "\n```\n"])


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PIECES, min_size=1, max_size=20), st.data())
async def test_whatever_happens_on_the_way_the_end_is_one_whole_text(pieces: list[str], data: st.DataObject) -> None:
    async with staged() as stage:
        channel, place = stage.channel(), await stage.thread()
        text, message_id = "start ", ""
        for piece in pieces:
            text += piece
            (part,) = channel.render(text)
            if not message_id:
                message_id = await channel.send(place, part, GROWING)
                continue
            match data.draw(st.sampled_from(["grow", "grow", "grow", "stop", "die", "restart", "cut"])):
                case "stop":
                    await stage.slack.stop(GENERAL, "ann", place.thread)
                case "die":
                    stage.clock.advance(301)
                case "restart":
                    channel = stage.channel()
                case "cut":
                    stage.simulator.world.add_fault(Fault("slack", "chat.appendStream", "cut"))
            with suppress(SendUncertain):
                await channel.edit(place, message_id, part, growing=True)
            stage.simulator.world.clear_faults()
        (part,) = channel.render(text)
        await channel.edit(place, message_id or await channel.send(place, part, GROWING), part)

        (shown,) = stage.ours()
        named = part.text.replace("&lt;@U0ANN&gt;", "<@U0ANN>")
        assert shown.markdown_text in (part.text, named) and not shown.streaming


async def test_an_answer_of_two_minutes_stays_within_what_slack_allows(stage: Stage) -> None:
    stage.slack.rates = RATES
    channel, place = stage.channel(), await stage.thread()
    message_id = await channel.send(place, Rendered("start"), GROWING)
    text = "start"
    for _ in range(100):
        stage.clock.advance(channel.pace.interval)
        text += " word"
        await channel.edit(place, message_id, Rendered(text), growing=True)
    await channel.edit(place, message_id, Rendered(f"{text}."))

    assert stage.ours()[0].markdown_text == f"{text}."
    assert not [call for call in stage.calls() if "ratelimited" in call]
