"""What reaches Slack, and what is made of its answers: the real SDK over HTTP."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.responses import Response

from bot.channels.slack.calls import OneToken
from bot.channels.slack.send import SlackChannel
from bot.errors import ChatClosed, MessageGone, SendError, SendLater, SendRefused, SendUncertain, TokenGone
from bot.messages import Button, File, Json, Person, Place, Task
from bot.ports import Channel, Manner, Rendered
from tests.channels.canned import Canned, canned_platform, cutting_platform, unreachable

TOKEN = "xoxb-" + "1234567890-abcdefghij"
DIRECT = Place("slack:T1:D1", "D1", team="T1")
THREAD = Place("slack:T1:C1:5.0", "C1", "5.0", "T1", group=True)
HELLO = Rendered("**hello**")
ANN = Person("slack:T1:U1")
NO_MARK = Manner(ANN, "")
MARKED = Manner(ANN, "t1.0", reply_to="7.0")


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[SlackChannel]:
    channel = SlackChannel(OneToken(TOKEN), f"{url}/api/")
    try:
        yield channel
    finally:
        await channel.close()


@pytest.fixture
async def slack() -> AsyncIterator[Canned]:
    async with canned_platform({"ok": True, "channel": "C1", "ts": "9.0"}) as canned:
        yield canned


@pytest.fixture
async def channel(slack: Canned) -> AsyncIterator[SlackChannel]:
    async with connected(slack.url) as channel:
        yield channel


async def test_it_is_a_channel(channel: SlackChannel) -> None:
    port: Channel = channel
    assert port.render("**hello**") == [HELLO]


async def test_a_message_goes_to_its_thread_marked_and_without_previews(slack: Canned, channel: SlackChannel) -> None:
    assert await channel.send(THREAD, HELLO, MARKED) == "9.0"

    (call,) = slack.calls
    assert call.method == "chat.postMessage"
    assert call.fields == {
        "channel": "C1",
        "thread_ts": "5.0",
        "markdown_text": "**hello**",
        "metadata": {"event_type": "kabar_part", "event_payload": {"mark": "t1.0"}},
        "unfurl_links": False,
        "unfurl_media": False,
    }


async def test_a_direct_message_outside_threads_names_no_thread(slack: Canned, channel: SlackChannel) -> None:
    await channel.send(DIRECT, HELLO, MARKED)

    assert slack.calls[0].fields["channel"] == "D1"
    assert "thread_ts" not in slack.calls[0].fields


async def test_an_edit_replaces_everything_without_previews(slack: Canned, channel: SlackChannel) -> None:
    await channel.edit(THREAD, "9.0", HELLO)

    (call,) = slack.calls
    assert call.method == "chat.update"
    assert call.fields == {
        "channel": "C1",
        "ts": "9.0",
        # Blocks, not markdown_text: those of before would stay where an edit names none.
        "blocks": [{"type": "markdown", "text": "**hello**"}],
        "text": "**hello**",
        "unfurl_links": False,
        "unfurl_media": False,
    }


def button(label: str, data: str, row: int = 0) -> Button:
    return Button(label, data, row)


async def test_buttons_stand_in_their_rows_and_thumbs_below_them(slack: Canned, channel: SlackChannel) -> None:
    buttons = (
        button("Yes", "approve:a"),
        button("Good", "vote:up:t1", 2),
        button("Never", "approve:n", 1),
        button("No", "approve:b"),
        button("Bad", "vote:down:t1", 2),
    )
    await channel.send(THREAD, Rendered("Shall I?", buttons=buttons), MARKED)

    text, first, second, thumbs = slack.calls[0].fields["blocks"]
    assert text == {"type": "markdown", "text": "Shall I?"}
    assert [(each["text"]["text"], each["value"]) for each in first["elements"]] == [
        ("Yes", "approve:a"),
        ("No", "approve:b"),
    ]
    assert [each["text"]["text"] for each in second["elements"]] == ["Never"]
    assert len({each["action_id"] for each in first["elements"]}) == 2
    assert thumbs == {
        "type": "context_actions",
        "elements": [
            {
                "type": "feedback_buttons",
                "action_id": "vote",
                "positive_button": {"text": {"type": "plain_text", "text": "Good"}, "value": "vote:up:t1"},
                "negative_button": {"text": {"type": "plain_text", "text": "Bad"}, "value": "vote:down:t1"},
            }
        ],
    }


async def test_a_single_thumb_is_an_ordinary_button(slack: Canned, channel: SlackChannel) -> None:
    await channel.send(THREAD, Rendered("ok", buttons=(button("Good " * 20, "vote:up:t1"),)), MARKED)

    assert [block["type"] for block in slack.calls[0].fields["blocks"]] == ["markdown", "actions"]
    assert len(slack.calls[0].fields["blocks"][1]["elements"][0]["text"]["text"]) == 75


async def test_steps_at_work_stand_above_the_text_until_it_is_done(slack: Canned, channel: SlackChannel) -> None:
    tasks = (Task("1", "Searching", "done"), Task("2", "Reading", "failed"), Task("3", "Counting", "running"))
    growing = Manner(ANN, "t1.0", growing=True)
    await channel.send(DIRECT, Rendered("", tasks=tasks), growing)
    await channel.edit(DIRECT, "9.0", Rendered("So far", tasks=tasks), growing=True)
    await channel.edit(DIRECT, "9.0", Rendered("All of it", tasks=tasks))

    begun, grown, done = (call.fields for call in slack.calls)
    steps = {
        "type": "context",
        "elements": [
            {"type": "plain_text", "text": "✓ Searching"},
            {"type": "plain_text", "text": "✗ Reading"},
            {"type": "plain_text", "text": "… Counting"},
        ],
    }
    assert begun["blocks"] == [steps]
    assert grown["blocks"] == [steps, {"type": "markdown", "text": "So far"}]
    assert done["blocks"] == [{"type": "markdown", "text": "All of it"}]


def test_files_go_ten_to_a_message() -> None:
    files = [File(f"b{number}", f"{number}.txt", "text/plain") for number in range(23)]
    batches = SlackChannel(OneToken(""), "").batches(files)

    assert [len(batch) for batch in batches] == [10, 10, 3]
    assert [file for batch in batches for file in batch] == files


async def test_the_sign_of_life_is_shown_and_ended_in_its_own_thread(slack: Canned, channel: SlackChannel) -> None:
    await channel.typing(THREAD)
    await channel.typing(THREAD, active=False)
    await channel.typing(DIRECT)

    assert [call.method for call in slack.calls] == ["agents.sessions.setStatus"] * 2
    assert [(call.fields["thread_ts"], call.fields["status"]) for call in slack.calls] == [
        ("5.0", "processing"),
        ("5.0", "active"),
    ]


async def test_an_app_that_is_no_agent_has_the_older_sign(slack: Canned, channel: SlackChannel) -> None:
    for _ in range(2):
        slack.say("agents.sessions.setStatus", {"ok": False, "error": "not_allowed"})

    await channel.typing(THREAD)
    await channel.typing(THREAD, active=False)

    older = [call.fields["status"] for call in slack.calls if call.method == "assistant.threads.setStatus"]
    assert older == ["is thinking…", ""]


async def test_a_sign_of_life_that_can_not_be_shown_raises_nothing(slack: Canned, channel: SlackChannel) -> None:
    for method in ("agents.sessions.setStatus", "assistant.threads.setStatus"):
        slack.say(method, {"ok": False, "error": "missing_scope"})
    await channel.typing(THREAD)

    async with connected(unreachable()) as lost:
        await lost.typing(THREAD)


@pytest.mark.parametrize("status", [200, 429])
async def test_rate_limits_say_how_long_to_wait_and_nothing_is_repeated_meanwhile(
    slack: Canned, channel: SlackChannel, status: int
) -> None:
    for method in ("chat.postMessage", "chat.update"):
        slack.say(method, {"ok": False, "error": "ratelimited"}, status, {"Retry-After": "10"})

    with pytest.raises(SendLater) as sending:
        await channel.send(THREAD, HELLO, NO_MARK)
    with pytest.raises(SendLater) as editing:
        await channel.edit(THREAD, "9.0", HELLO)

    assert (sending.value.retry_after, editing.value.retry_after) == (10, 10)
    assert len(slack.calls) == 2


async def test_a_rate_limit_without_a_number_waits_a_little(slack: Canned, channel: SlackChannel) -> None:
    slack.say_raw("chat.postMessage", Response("slow down", 429))

    with pytest.raises(SendLater) as raised:
        await channel.send(THREAD, HELLO, NO_MARK)

    assert raised.value.retry_after > 0


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("channel_not_found", ChatClosed),
        ("is_archived", ChatClosed),
        ("not_in_channel", ChatClosed),
        ("account_inactive", TokenGone),
        ("token_revoked", TokenGone),
        ("invalid_auth", TokenGone),
        ("msg_too_long", SendRefused),
        ("msg_blocks_too_long", SendRefused),
        ("invalid_blocks", SendRefused),
        ("no_text", SendRefused),
        ("message_not_found", MessageGone),
        ("cant_update_message", MessageGone),
        ("edit_window_closed", MessageGone),
        ("fatal_error", SendUncertain),
        ("internal_error", SendUncertain),
    ],
)
async def test_each_refusal_with_status_200_says_what_to_do_about_it(
    slack: Canned, channel: SlackChannel, code: str, error: type[SendError]
) -> None:
    for method in ("chat.postMessage", "chat.update"):
        slack.say(method, {"ok": False, "error": code})

    with pytest.raises(SendError) as sending:
        await channel.send(THREAD, HELLO, NO_MARK)
    with pytest.raises(SendError) as editing:
        await channel.edit(THREAD, "9.0", HELLO)

    assert (type(sending.value), type(editing.value)) == (error, error)


@pytest.mark.parametrize(
    "answer",
    [
        Response("<html>busy</html>", 503, media_type="text/html"),
        Response("<html>log in</html>", 200, media_type="text/html"),
        Response("busy", 200, media_type="text/plain"),
        Response("{", 200, media_type="application/json"),
        Response("", 500),
    ],
)
async def test_an_answer_that_is_not_slacks_leaves_it_uncertain(
    slack: Canned, channel: SlackChannel, answer: Response
) -> None:
    slack.say_raw("chat.postMessage", answer)

    with pytest.raises(SendUncertain):
        await channel.send(THREAD, HELLO, NO_MARK)


async def test_a_connection_cut_after_the_request_leaves_it_uncertain_and_is_not_repeated() -> None:
    async with cutting_platform() as (url, received), connected(url) as channel:
        with pytest.raises(SendUncertain):
            await channel.send(THREAD, HELLO, NO_MARK)

    assert len(received) == 1


async def test_a_slack_that_was_never_reached_is_tried_later() -> None:
    async with connected(unreachable()) as channel:
        with pytest.raises(SendLater) as raised:
            await channel.send(THREAD, HELLO, NO_MARK)

    assert raised.value.retry_after > 0


def posted(ts: str, mark: str, **more: object) -> Json:
    metadata = {"event_type": "kabar_part", "event_payload": {"mark": mark}}
    return {"ts": ts, "bot_id": "B1", "text": "x", "metadata": metadata, **more}


async def test_a_marked_message_is_found_in_its_thread_over_several_pages(slack: Canned, channel: SlackChannel) -> None:
    slack.say(
        "conversations.replies",
        {"ok": True, "messages": [{"ts": "5.0", "user": "U1"}], "response_metadata": {"next_cursor": "more"}},
    )
    slack.say("conversations.replies", {"ok": True, "messages": [posted("6.0", "t1.0"), posted("7.0", "t1.1")]})

    assert await channel.find(THREAD, "t1.1") == "7.0"
    assert [(call.fields["ts"], call.fields.get("cursor")) for call in slack.calls] == [(5.0, None), (5.0, "more")]
    assert all(call.fields["include_all_metadata"] == 1 for call in slack.calls)


async def test_in_a_direct_message_the_newest_messages_are_looked_through(slack: Canned, channel: SlackChannel) -> None:
    slack.say("conversations.history", {"ok": True, "messages": [posted("6.0", "t1.0")]})

    assert await channel.find(DIRECT, "t1.0") == "6.0"


@pytest.mark.parametrize(
    "message",
    [
        posted("6.0", "another"),
        posted("6.0", "t1.0", bot_id=None),
        posted("6.0", "t1.0", metadata={"event_type": "theirs", "event_payload": {"mark": "t1.0"}}),
        {"ts": "6.0", "bot_id": "B1"},
    ],
)
async def test_only_our_own_mark_on_a_bots_message_counts(slack: Canned, channel: SlackChannel, message: Json) -> None:
    slack.say("conversations.replies", {"ok": True, "messages": [message]})

    assert await channel.find(THREAD, "t1.0") is None


async def test_the_search_for_a_mark_has_an_end(slack: Canned, channel: SlackChannel) -> None:
    slack.usually = {"ok": True, "messages": [], "response_metadata": {"next_cursor": "more"}}

    assert await channel.find(THREAD, "t1.0") is None
    assert len(slack.calls) == 5


async def test_where_slack_may_not_be_asked_nothing_is_found(slack: Canned, channel: SlackChannel) -> None:
    slack.say("conversations.replies", {"ok": False, "error": "missing_scope"})

    assert await channel.find(THREAD, "t1.0") is None


async def test_a_search_that_was_cut_is_simply_made_later() -> None:
    async with cutting_platform() as (url, _), connected(url) as channel:
        with pytest.raises(SendLater):
            await channel.find(THREAD, "t1.0")


async def test_taking_a_message_back_twice_is_taking_it_back(slack: Canned, channel: SlackChannel) -> None:
    slack.say("chat.delete", {"ok": True})
    slack.say("chat.delete", {"ok": False, "error": "message_not_found"})
    slack.say("chat.delete", {"ok": False, "error": "cant_delete_message"})

    await channel.delete(THREAD, "9.0")
    await channel.delete(THREAD, "9.0")
    with pytest.raises(MessageGone):
        await channel.delete(THREAD, "9.0")

    assert [call.fields for call in slack.calls] == [{"channel": "C1", "ts": 9.0}] * 3


async def test_the_token_is_in_no_log_line_even_where_everything_is_logged(
    slack: Canned, channel: SlackChannel, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    slack.say("chat.update", {"ok": False, "error": "channel_not_found"})

    await channel.send(THREAD, HELLO, NO_MARK)
    with pytest.raises(ChatClosed):
        await channel.edit(THREAD, "9.0", HELLO)

    assert caplog.records
    assert TOKEN not in caplog.text and "hello" not in caplog.text
