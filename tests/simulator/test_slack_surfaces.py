"""What the local Slack shows and refuses beyond plain messages: streams with steps, files, commands, rights."""

import time
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qsl

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.models.blocks import Block
from slack_sdk.models.messages.chunk import MarkdownTextChunk, PlanUpdateChunk, TaskUpdateChunk
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web.async_client import AsyncWebClient

from simulator.app import Simulator, serve, slack_base_url
from simulator.deliver import QUICK
from simulator.slack import ANN_DM, BOT_TOKEN, GENERAL, SCOPES, SIGNING_SECRET, TEAM
from simulator.slack_rates import RATES
from simulator.world import File, Mistake
from tests.clock import FakeClock
from tests.simulator.recorder import Recorder
from tests.simulator.refused import refused


class Stage:
    def __init__(self, simulator: Simulator, url: str, clock: FakeClock) -> None:
        self.simulator = simulator
        self.slack = simulator.slack
        self.world = simulator.world
        self.clock = clock
        self.client = AsyncWebClient(BOT_TOKEN, base_url=slack_base_url(url), timeout=2)

    async def stream(self, chat: str = GENERAL, **more: Any) -> str:
        root = await self.slack.say(chat, "ann", "question")
        reader: dict[str, Any] = {} if chat == ANN_DM else {"recipient_team_id": TEAM, "recipient_user_id": "U0ANN"}
        started = await self.client.chat_startStream(channel=chat, thread_ts=root.id, **reader, **more)
        return str(started["ts"])


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    clock = FakeClock(time.time())
    simulator = Simulator(pace=QUICK, now=clock.now)
    simulator.slack.echo = False
    async with serve(simulator) as url:
        yield Stage(simulator, url, clock)


def text(words: str) -> MarkdownTextChunk:
    return MarkdownTextChunk(text=words)


def task(status: str, **more: Any) -> TaskUpdateChunk:
    return TaskUpdateChunk(id="1", title="Searching", status=status, **more)


# Streams.


async def test_steps_change_their_state_and_their_details_grow(stage: Stage) -> None:
    plan = PlanUpdateChunk(title="Working")
    ts = await stage.stream(chunks=[plan, task("in_progress", details="a")], task_display_mode="plan")
    await stage.client.chat_appendStream(channel=GENERAL, ts=ts, chunks=[task("complete", details="b"), text("Found")])

    shown = stage.slack.messages(GENERAL)[-1]
    assert (shown.plan, shown.markdown_text, shown.streaming) == ("Working", "Found", True)
    assert [(each.title, each.status, each.details) for each in shown.tasks] == [("Searching", "complete", "ab")]

    stopped = await stage.client.chat_stopStream(channel=GENERAL, ts=ts)
    assert [block["type"] for block in stopped["message"]["blocks"]] == ["plan", "markdown"]
    assert all(Block.parse(block) for block in stopped["message"]["blocks"])
    assert (stopped["message"]["streaming_state"], shown.blocks, len(shown.tasks)) == ("completed", [], 1)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"markdown_text": "x", "chunks": [text("y")]}, "cannot_provide_both_markdown_text_and_chunks"),
        ({"markdown_text": "x"}, "streaming_mode_mismatch"),
        ({"chunks": [{"type": "shout"}]}, "invalid_chunks"),
        ({"chunks": [{"type": "task_update", "id": "1", "title": "x" * 257, "status": "complete"}]}, "invalid_chunks"),
        ({"chunks": [{"type": "task_update", "id": "1", "title": "x", "status": "running"}]}, "invalid_chunks"),
        ({"chunks": [text("x" * 12_001)]}, "msg_too_long"),
        ({"chunks": []}, "no_text"),
    ],
)
async def test_an_addition_slack_would_refuse_adds_nothing(stage: Stage, fields: dict[str, Any], error: str) -> None:
    ts = await stage.stream(chunks=[text("Hello")])
    assert await refused(stage.client.chat_appendStream(channel=GENERAL, ts=ts, **fields)) == error
    assert stage.slack.messages(GENERAL)[-1].markdown_text == "Hello"


async def test_a_stream_holds_no_more_than_a_message(stage: Stage) -> None:
    ts = await stage.stream(chunks=[text("x" * 12_000)])
    addition = stage.client.chat_appendStream(channel=GENERAL, ts=ts, chunks=[text("x" * 1_001)])
    assert await refused(addition) == "msg_blocks_too_long"


async def test_a_person_who_stops_ends_the_streams_of_the_thread_and_the_bot_hears_which(
    stage: Stage, listener: Recorder
) -> None:
    ts = await stage.stream(chunks=[text("Hello")])
    await listener.wait_for(1)
    root = stage.slack.messages(GENERAL)[0].id
    await stage.slack.stop(GENERAL, "ann", root)

    stopped = (await listener.wait_for(2))[-1].json["event"]
    assert (stopped["type"], stopped["streaming_message_ts"]) == ("agent_session_stopped", [ts])
    assert not stage.slack.messages(GENERAL)[-1].streaming
    late = stage.client.chat_appendStream(channel=GENERAL, ts=ts, chunks=[text("!")])
    assert await refused(late) == "stopped_by_user"
    await stage.client.chat_update(channel=GENERAL, ts=ts, markdown_text="Hello!")


async def test_an_open_stream_is_not_edited_and_a_dead_one_is(stage: Stage) -> None:
    stage.slack.stream_seconds = 10
    ts = await stage.stream(chunks=[text("Hello")])
    assert await refused(stage.client.chat_update(channel=GENERAL, ts=ts, text="x")) == "streaming_state_conflict"
    stage.clock.advance(11)
    await stage.client.chat_update(channel=GENERAL, ts=ts, markdown_text="Hello!")
    assert not stage.slack.messages(GENERAL)[-1].streaming


async def test_a_stream_has_slacks_stop_button_beside_it_until_it_ends(stage: Stage) -> None:
    ts = await stage.stream(chunks=[text("Hello")])
    assert [sign.stop for sign in stage.world.signs.values()] == [True]
    await stage.client.chat_stopStream(channel=GENERAL, ts=ts, session_status="processing")
    assert [sign.stop for sign in stage.world.signs.values()] == [True]
    ts = await stage.stream(chunks=[text("Hello")])
    await stage.client.chat_stopStream(channel=GENERAL, ts=ts)
    assert len(stage.world.signs) == 1


async def test_outside_direct_messages_a_stream_needs_a_reader_and_everywhere_a_thread(stage: Stage) -> None:
    root = await stage.slack.say(GENERAL, "ann", "question")
    call = stage.client.chat_startStream(channel=GENERAL, thread_ts=root.id)
    assert await refused(call) == "missing_recipient_team_id"
    assert await refused(stage.client.chat_startStream(channel=ANN_DM, thread_ts="1.0")) == "invalid_thread_ts"
    assert stage.slack.messages(ANN_DM) == []


# Blocks.

THUMBS: dict[str, Any] = {
    "type": "feedback_buttons",
    "action_id": "vote",
    "positive_button": {"text": {"type": "plain_text", "text": "Good"}, "value": "vote:up:t1"},
    "negative_button": {"text": {"type": "plain_text", "text": "Bad"}, "value": "vote:down:t1"},
}


async def test_a_thumb_is_tapped_like_a_button(stage: Stage, listener: Recorder) -> None:
    blocks: list[dict[str, Any]] = [
        {"type": "markdown", "text": "**Done**"},
        {"type": "context_actions", "elements": [THUMBS]},
    ]
    sent = await stage.client.chat_postMessage(channel=GENERAL, text="Done", blocks=blocks)
    shown = stage.slack.messages(GENERAL)[-1]
    assert (shown.markdown_text, [[each.text for each in row] for row in shown.buttons]) == (
        "**Done**",
        [["Good", "Bad"]],
    )
    await stage.slack.tap(GENERAL, "ann", sent["ts"], "0.1")
    (action,) = (await listener.wait_for(1))[0].json["actions"]
    assert (action["type"], action["action_id"], action["value"]) == ("feedback_buttons", "vote", "vote:down:t1")


@pytest.mark.parametrize(
    "block",
    [
        {"type": "marquee"},
        {"type": "actions", "elements": [THUMBS]},
        {"type": "context_actions", "elements": [{"type": "button"}]},
        {"type": "context_actions", "elements": []},
        {"type": "context_actions", "elements": [{**THUMBS, "positive_button": {"value": "x"}}]},
        {"type": "plan", "title": "x", "tasks": [{"task_id": "1", "title": "x", "status": "running"}]},
        {"type": "context", "elements": [{"type": "markdown", "text": "x"}]},
        {"type": "divider", "block_id": "x" * 256},
    ],
)
async def test_a_block_slack_does_not_know_or_that_holds_what_it_can_not_is_refused(
    stage: Stage, block: dict[str, Any]
) -> None:
    call = stage.client.api_call("chat.postMessage", json={"channel": GENERAL, "text": "x", "blocks": [block]})
    assert await refused(call) == "invalid_blocks"


async def test_blocks_and_marks_stay_where_an_edit_names_none(stage: Stage) -> None:
    mark = {"event_type": "kabar_part", "event_payload": {"mark": "t1.0"}}
    blocks: list[dict[str, Any]] = [
        {"type": "markdown", "text": "one"},
        {"type": "context_actions", "elements": [THUMBS]},
    ]
    sent = await stage.client.chat_postMessage(channel=GENERAL, text="one", blocks=blocks, metadata=mark)
    await stage.client.chat_update(channel=GENERAL, ts=sent["ts"], markdown_text="two")

    shown = stage.slack.messages(GENERAL)[-1]
    assert (shown.markdown_text, len(shown.buttons)) == ("two", 1)
    history = await stage.client.conversations_history(channel=GENERAL, include_all_metadata=True)
    assert history["messages"][0]["metadata"] == mark


async def test_an_ephemeral_message_is_tapped_without_carrying_itself_along(stage: Stage, listener: Recorder) -> None:
    blocks = [{"type": "context_actions", "elements": [THUMBS]}]
    sent = await stage.client.chat_postEphemeral(channel=GENERAL, user="U0ANN", text="x", blocks=blocks)
    await stage.slack.tap(GENERAL, "ann", sent["message_ts"])
    payload = (await listener.wait_for(1))[0].json
    assert payload["container"]["is_ephemeral"] and "message" not in payload


# People.


async def test_a_slash_command_is_a_signed_form_that_nobody_sees(stage: Stage, listener: Recorder) -> None:
    await stage.slack.command(GENERAL, "ann", "usage & more")
    (received,) = await listener.wait_for(1)
    assert SignatureVerifier(SIGNING_SECRET).is_valid_request(received.body, received.headers)
    form = dict(parse_qsl(received.body.decode()))
    assert (form["command"], form["text"], form["channel_id"], form["user_id"]) == (
        "/kabar",
        "usage &amp; more",
        GENERAL,
        "U0ANN",
    )
    assert stage.slack.messages(GENERAL) == []


@pytest.mark.parametrize(("shown_to", "only_for"), [("ephemeral", "ann"), ("in_channel", "")])
async def test_a_slash_command_may_be_answered_with_a_message(
    stage: Stage, listener: Recorder, shown_to: str, only_for: str
) -> None:
    listener.reply = {"response_type": shown_to, "text": "On it."}
    await stage.slack.command(GENERAL, "ann", "what now?")
    shown = await stage.slack.wait_for(lambda seen: seen.is_bot)
    assert (shown.text, shown.only_for) == ("On it.", only_for)


async def test_the_shortcut_tells_of_the_message_it_was_chosen_on(stage: Stage, listener: Recorder) -> None:
    said = await stage.slack.say(GENERAL, "budi", "the key is here")
    await listener.wait_for(1)
    await stage.slack.shortcut(GENERAL, "ann", said.id)
    payload = (await listener.wait_for(2))[-1].json
    assert (payload["type"], payload["callback_id"], payload["user"]["id"]) == ("message_action", "ask_kabar", "U0ANN")
    assert (payload["message"]["text"], payload["message_ts"]) == ("the key is here", said.id)


async def test_a_message_is_shared_with_its_words_and_files(stage: Stage, listener: Recorder) -> None:
    said = await stage.slack.say(GENERAL, "budi", "look", file=File("a.txt", "text/plain", b"eggs"))
    await stage.slack.say(GENERAL, "ann", "@Kabar true?", share=said.id)
    shared = (await listener.wait_for(3))[-1].json["event"]["attachments"][0]
    assert (shared["is_share"], shared["author_name"], shared["text"]) == (True, "Budi", "look")
    assert shared["files"][0]["name"] == "a.txt"


async def test_what_can_not_be_done_is_said(stage: Stage) -> None:
    for attempt in (
        stage.slack.shortcut(GENERAL, "ann", "1.0"),
        stage.slack.say(GENERAL, "ann", "x", share="1.0"),
        stage.slack.command("D0BUDI", "ann"),
    ):
        with pytest.raises(Mistake):
            await attempt


async def test_suggested_prompts_are_shown_without_a_thread_only(stage: Stage) -> None:
    prompts = [{"title": "Plan", "message": "Plan a trip"}]
    await stage.client.assistant_threads_setSuggestedPrompts(channel_id=ANN_DM, thread_ts="1.0", prompts=prompts)
    assert stage.world.state()["prompts"] == {}
    await stage.client.assistant_threads_setSuggestedPrompts(channel_id=ANN_DM, title="Try", prompts=prompts)
    assert stage.world.state()["prompts"] == {ANN_DM: {"title": "Try", "prompts": prompts}}
    for wrong in (prompts * 5, [{"title": "x"}], []):
        call = stage.client.assistant_threads_setSuggestedPrompts(channel_id=ANN_DM, prompts=wrong)
        assert await refused(call) == "invalid_arguments"


async def test_a_person_is_told_with_locale_only_where_it_is_asked_for(stage: Stage) -> None:
    user = (await stage.client.users_info(user="U0BUDI"))["user"]
    assert (user["tz"], "locale" in user) == ("Asia/Jakarta", False)
    assert (await stage.client.users_info(user="U0BUDI", include_locale=True))["user"]["locale"] == "id"


# Files of the bot.


async def test_files_are_uploaded_in_three_steps_and_are_one_message(stage: Stage) -> None:
    root = await stage.slack.say(GENERAL, "ann", "question")
    uploads = [{"filename": "a.txt", "content": "eggs"}, {"filename": "b.csv", "content": "1,2", "title": "Table"}]
    await stage.client.files_upload_v2(
        file_uploads=uploads, channel=GENERAL, thread_ts=root.id, initial_comment="*two* files"
    )
    shown = stage.slack.messages(GENERAL)[-1]
    assert (shown.text, shown.thread, [file.name for file in shown.files]) == (
        "*two* files",
        root.id,
        ["a.txt", "b.csv"],
    )
    file_id = shown.files[0].url.rpartition("/")[2]
    shares = (await stage.client.files_info(file=file_id))["file"]["shares"]
    assert shares == {"public": {GENERAL: [{"ts": shown.id, "thread_ts": root.id}]}}


async def test_a_file_that_never_came_is_not_shared(stage: Stage) -> None:
    ticket = await stage.client.files_getUploadURLExternal(filename="a.txt", length=4)
    share = stage.client.files_completeUploadExternal(files=[{"id": ticket["file_id"]}], channel_id=GENERAL)
    assert await refused(share) == "file_not_found"
    assert await refused(stage.client.files_getUploadURLExternal(filename="a.txt", length=0)) == "invalid_arguments"


async def test_a_deleted_file_leaves_a_tombstone(stage: Stage) -> None:
    await stage.slack.say(ANN_DM, "ann", file=File("a.txt", "text/plain", b"eggs"))
    (file_id,) = stage.slack.file_objects
    stage.slack.tombstone(file_id)
    assert await refused(stage.client.files_info(file=file_id)) == "file_deleted"
    (native,) = (await stage.client.conversations_history(channel=ANN_DM))["messages"]
    assert native["files"] == [{"id": file_id, "mode": "tombstone", "deleted": True}]


# Rights.


@pytest.mark.parametrize(
    ("scope", "method", "fields"),
    [
        ("chat:write", "chat.postMessage", {"channel": GENERAL, "text": "x"}),
        ("chat:write", "chat.startStream", {"channel": GENERAL}),
        ("users:read", "users.info", {"user": "U0ANN"}),
        ("files:read", "files.info", {"file": "F1"}),
        ("files:write", "files.getUploadURLExternal", {"filename": "a", "length": 1}),
        ("im:history", "conversations.history", {"channel": ANN_DM}),
        ("channels:history", "conversations.replies", {"channel": GENERAL, "ts": "1.0"}),
        ("assistant:write", "assistant.threads.setSuggestedPrompts", {"channel_id": ANN_DM}),
    ],
)
async def test_a_call_without_its_scope_is_refused_and_says_which(
    stage: Stage, scope: str, method: str, fields: dict[str, Any]
) -> None:
    stage.slack.scopes = SCOPES - {scope}
    with pytest.raises(SlackApiError) as caught:
        await stage.client.api_call(method, params=fields)
    answer = caught.value.response
    assert (answer["error"], answer["needed"], scope in answer["provided"].split(",")) == (
        "missing_scope",
        scope,
        False,
    )


async def test_a_channel_the_bot_is_not_in_takes_nothing_from_it(stage: Stage) -> None:
    stage.slack.absent.add(GENERAL)
    assert await refused(stage.client.chat_postMessage(channel=GENERAL, text="x")) == "not_in_channel"
    call = stage.client.chat_postEphemeral(channel=GENERAL, user="U0ANN", text="x")
    assert await refused(call) == "channel_not_found"


# Rates.


async def test_one_call_too_many_is_told_how_long_to_wait_and_does_nothing(stage: Stage) -> None:
    stage.slack.rates = RATES
    for number in range(5):
        await stage.client.chat_postMessage(channel=GENERAL, text=f"{number}")
    with pytest.raises(SlackApiError) as caught:
        await stage.client.chat_postMessage(channel=GENERAL, text="too many")
    response = caught.value.response
    assert (response["error"], response.status_code, response.headers["Retry-After"]) == ("ratelimited", 429, "5")
    await stage.client.chat_postMessage(channel=ANN_DM, text="elsewhere")
    stage.clock.advance(5)
    await stage.client.chat_postMessage(channel=GENERAL, text="5")
    assert [message.text for message in stage.slack.messages(GENERAL)] == [f"{number}" for number in range(6)]
