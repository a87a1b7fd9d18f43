"""The local Slack, seen through slack_sdk over HTTP and websocket and by a bot that gets its events."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.signature import SignatureVerifier
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web import WebClient
from slack_sdk.web.async_client import AsyncWebClient

from simulator.app import Simulator, serve, slack_base_url
from simulator.deliver import QUICK
from simulator.slack import ANN_DM, APP_TOKEN, BOT_TOKEN, BOT_USER, BUDI_DM, GENERAL, SIGNING_SECRET, TEAM
from simulator.world import Fault, File, Message, Mistake
from tests.clock import FakeClock
from tests.simulator.recorder import Received, Recorder
from tests.simulator.refused import refused

MARK = {"event_type": "kabar_part", "event_payload": {"mark": "t1.0"}}
BUTTONS: list[dict[str, Any]] = [
    {"type": "section", "text": {"type": "mrkdwn", "text": "Shall I?"}},
    {
        "type": "actions",
        "elements": [
            {"type": "button", "action_id": "yes", "text": {"type": "plain_text", "text": "Yes"}, "value": "t-1"},
            {"type": "button", "action_id": "no", "text": {"type": "plain_text", "text": "No"}, "style": "danger"},
        ],
    },
]


class Stage:
    def __init__(self, simulator: Simulator, url: str, client: AsyncWebClient) -> None:
        self.simulator = simulator
        self.slack = simulator.slack
        self.world = simulator.world
        self.url = url
        self.client = client

    async def state_of(self, message: Message, state: str) -> None:
        await self.world.wait_until(lambda: message.delivery is not None and message.delivery.state == state)


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    simulator = Simulator(pace=QUICK)
    async with serve(simulator) as url:
        yield Stage(simulator, url, AsyncWebClient(BOT_TOKEN, base_url=slack_base_url(url), timeout=1))


def events(received: list[Received]) -> list[dict[str, Any]]:
    return [request.json["event"] for request in received]


# From a person to the bot.


async def test_a_direct_message_arrives_signed_and_in_its_envelope(stage: Stage, listener: Recorder) -> None:
    said = await stage.slack.say(ANN_DM, "ann", "a < b & see https://e.example")
    (received,) = await listener.wait_for(1)
    assert SignatureVerifier(SIGNING_SECRET).is_valid_request(received.body, received.headers)
    envelope = received.json
    assert (envelope["type"], envelope["team_id"], envelope["authorizations"][0]["user_id"]) == (
        "event_callback",
        TEAM,
        BOT_USER,
    )
    event = envelope["event"]
    assert (event["type"], event["channel_type"], event["user"], event["ts"]) == ("message", "im", "U0ANN", said.id)
    assert event["text"] == "a &lt; b &amp; see <https://e.example>"
    await stage.state_of(said, "accepted")


async def test_a_mention_in_a_channel_arrives_twice_with_one_ts(stage: Stage, listener: Recorder) -> None:
    said = await stage.slack.say(GENERAL, "ann", "@Kabar hi")
    received = await listener.wait_for(2)
    assert sorted(event["type"] for event in events(received)) == ["app_mention", "message"]
    assert {event["ts"] for event in events(received)} == {said.id}
    assert {event["text"] for event in events(received)} == {f"<@{BOT_USER}> hi"}
    assert len({request.json["event_id"] for request in received}) == 2
    await stage.state_of(said, "accepted")


async def test_the_two_events_of_a_mention_come_in_either_order(stage: Stage, listener: Recorder) -> None:
    firsts = set()
    for count in range(1, 60):
        await stage.slack.say(GENERAL, "ann", "@Kabar hi")
        received = await listener.wait_for(2 * count)
        firsts.add(events(received)[-2]["type"])
        if len(firsts) == 2:
            return
    pytest.fail(f"always {firsts} first")


async def test_an_event_is_repeated_three_times_with_the_reason_and_then_given_up(
    stage: Stage, listener: Recorder
) -> None:
    listener.statuses = [500] * 4
    said = await stage.slack.say(ANN_DM, "ann", "hi")
    await stage.state_of(said, "refused")
    numbers = [request.headers.get("x-slack-retry-num") for request in listener.received]
    assert numbers == [None, "1", "2", "3"]
    assert listener.received[1].headers["x-slack-retry-reason"] == "http_error"
    assert len({request.json["event_id"] for request in listener.received}) == 1
    assert said.delivery is not None and (said.delivery.status, said.delivery.attempts) == (500, 4)


async def test_a_bot_that_is_too_slow_gets_the_event_again(stage: Stage, listener: Recorder) -> None:
    stage.simulator.events.pace = QUICK.__class__(slack_timeout=0.1, slack_delays=(0.01,))
    listener.statuses = [0]
    said = await stage.slack.say(ANN_DM, "ann", "hi")
    received = await listener.wait_for(2)
    assert received[1].headers["x-slack-retry-reason"] == "http_timeout"
    await stage.state_of(said, "accepted")


async def test_edits_deletions_and_shared_files_come_as_subtypes(stage: Stage, listener: Recorder) -> None:
    said = await stage.slack.say(ANN_DM, "ann", "helo")
    await listener.wait_for(1)
    await stage.slack.edit(ANN_DM, "ann", said.id, "hello")
    await listener.wait_for(2)
    await stage.slack.delete(ANN_DM, "ann", said.id)
    await listener.wait_for(3)
    await stage.slack.say(ANN_DM, "ann", file=File("a.txt", "text/plain", b"eggs"))
    _, changed, deleted, shared = events(await listener.wait_for(4))
    assert (changed["subtype"], changed["message"]["text"]) == ("message_changed", "hello")
    assert changed["previous_message"]["text"] == "helo"
    assert (deleted["subtype"], deleted["deleted_ts"]) == ("message_deleted", said.id)
    assert (shared["subtype"], shared["files"][0]["name"], shared["text"]) == ("file_share", "a.txt", "")


async def test_the_bot_hears_its_own_messages_and_their_changes(stage: Stage, listener: Recorder) -> None:
    sent = await stage.client.chat_postMessage(channel=GENERAL, text="one")
    await listener.wait_for(1)
    await stage.client.chat_update(channel=GENERAL, ts=sent["ts"], text="two")
    posted, changed = events(await listener.wait_for(2))
    assert (posted["bot_id"], posted["user"], posted["text"]) == ("B0KABAR", BOT_USER, "one")
    assert (changed["subtype"], changed["message"]["text"]) == ("message_changed", "two")


async def test_a_tap_arrives_as_a_signed_form(stage: Stage, listener: Recorder) -> None:
    stage.slack.echo = False
    sent = await stage.client.chat_postMessage(channel=GENERAL, text="Shall I?", blocks=BUTTONS)
    shown = stage.slack.messages(GENERAL)[-1]
    assert [[button.text for button in row] for row in shown.buttons] == [["Yes", "No"]]
    await stage.slack.tap(GENERAL, "budi", sent["ts"], "0.1")
    (received,) = await listener.wait_for(1)
    assert SignatureVerifier(SIGNING_SECRET).is_valid_request(received.body, received.headers)
    payload = received.json
    assert (payload["type"], payload["user"]["id"], payload["container"]["message_ts"]) == (
        "block_actions",
        "U0BUDI",
        sent["ts"],
    )
    assert (payload["actions"][0]["action_id"], payload["actions"][0]["style"]) == ("no", "danger")


async def test_opening_the_home_is_told_and_its_view_is_shown(stage: Stage, listener: Recorder) -> None:
    await stage.slack.open_home("ann")
    (opened,) = events(await listener.wait_for(1))
    assert (opened["type"], opened["user"], opened["channel"]) == ("app_home_opened", "U0ANN", ANN_DM)
    await stage.client.views_publish(user_id="U0ANN", view={"type": "home", "blocks": BUTTONS})
    home = stage.world.homes["U0ANN"]
    assert [block["type"] for block in home["blocks"]] == [block["type"] for block in BUTTONS]
    await stage.slack.tap_home("ann", "0.1")
    payload = (await listener.wait_for(2))[1].json
    assert (payload["container"], payload["view"]["type"]) == ({"type": "view", "view_id": home["id"]}, "home")
    assert [action["block_id"] for action in payload["actions"]] == [home["blocks"][-1]["block_id"]]
    with pytest.raises(Mistake, match="no such button"):
        await stage.slack.tap_home("ann", "7.0")


async def test_a_person_can_not_do_what_slack_would_not_let_them(stage: Stage) -> None:
    for attempt in (
        stage.slack.say(ANN_DM, "ann", " "),
        stage.slack.say(BUDI_DM, "ann", "hi"),
        stage.slack.say("C9", "ann", "hi"),
        stage.slack.say(GENERAL, "ann", "hi", "1.0"),
        stage.slack.edit(GENERAL, "ann", "1.0", "hi"),
        stage.slack.tap(GENERAL, "ann", "1.0"),
    ):
        with pytest.raises(Mistake):
            await attempt


# Socket Mode.


async def test_events_go_through_an_open_socket_and_unanswered_ones_are_sent_again(stage: Stage) -> None:
    stage.simulator.events.pace = QUICK.__class__(slack_timeout=0.2, slack_delays=(0.01,))
    requests: asyncio.Queue[SocketModeRequest] = asyncio.Queue()

    async def listen(client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        await requests.put(request)
        if request.retry_attempt:
            await client.send_socket_mode_response(SocketModeResponse(envelope_id=request.envelope_id))

    web = AsyncWebClient(base_url=slack_base_url(stage.url))
    socket = SocketModeClient(app_token=APP_TOKEN, web_client=web, ping_interval=1)
    socket.socket_mode_request_listeners.append(listen)
    await socket.connect()
    try:
        await stage.world.wait_until(lambda: stage.simulator.events.sockets)
        said = await stage.slack.say(ANN_DM, "ann", "hi")
        first, second = [await asyncio.wait_for(requests.get(), 5) for _ in range(2)]
        await stage.state_of(said, "accepted")
    finally:
        await socket.close()
    assert (first.type, first.payload["event"]["text"], first.retry_attempt) == ("events_api", "hi", 0)
    assert (second.envelope_id, second.retry_attempt, second.retry_reason) == (first.envelope_id, 1, "timeout")
    await stage.world.wait_until(lambda: not stage.simulator.events.sockets)


async def test_a_socket_needs_an_address_that_was_handed_out(stage: Stage) -> None:
    bot = AsyncWebClient(BOT_TOKEN, base_url=slack_base_url(stage.url))
    assert await refused(bot.apps_connections_open(app_token=BOT_TOKEN)) == "not_allowed_token_type"
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(f"{stage.url}/slack/socket?ticket=made-up")


# From the bot to people.


async def test_both_clients_know_who_they_are(stage: Stage) -> None:
    sync = WebClient(BOT_TOKEN, base_url=slack_base_url(stage.url))
    assert (await stage.client.auth_test())["user_id"] == BOT_USER
    assert (await asyncio.to_thread(sync.auth_test))["team_id"] == TEAM
    assert (await stage.client.users_info(user="U0BUDI"))["user"]["real_name"] == "Budi"
    assert (await stage.client.conversations_open(users="U0ANN"))["channel"]["id"] == ANN_DM
    assert (await stage.client.conversations_info(channel=GENERAL))["channel"]["name"] == "general"


async def test_a_message_is_shown_as_mrkdwn_markdown_or_blocks(stage: Stage) -> None:
    await stage.client.chat_postMessage(channel=GENERAL, text="*mrkdwn*")
    await stage.client.chat_postMessage(channel=GENERAL, markdown_text="**Markdown**")
    await stage.client.chat_postMessage(channel=GENERAL, text="fallback", blocks=BUTTONS)
    shown = [
        (message.text, message.markdown_text, [block["type"] for block in message.blocks])
        for message in stage.slack.messages(GENERAL)
    ]
    assert shown == [("*mrkdwn*", "", []), ("", "**Markdown**", []), ("fallback", "", ["section", "actions"])]


async def test_an_answer_in_a_thread_is_found_again_by_its_mark(stage: Stage) -> None:
    root = await stage.slack.say(GENERAL, "ann", "question")
    sent = await stage.client.chat_postMessage(channel=GENERAL, thread_ts=root.id, text="answer", metadata=MARK)
    with_marks = await stage.client.conversations_replies(channel=GENERAL, ts=root.id, include_all_metadata=True)
    without = await stage.client.conversations_replies(channel=GENERAL, ts=root.id)
    assert [message.get("metadata") for message in with_marks["messages"]] == [None, MARK]
    assert [message.get("metadata") for message in without["messages"]] == [None, None]
    assert (without["messages"][0]["reply_count"], without["messages"][1]["ts"]) == (1, sent["ts"])
    history = await stage.client.conversations_history(channel=GENERAL)
    assert [message["text"] for message in history["messages"]] == ["question"]
    assert [message.text for message in stage.slack.messages(GENERAL, root.id)] == ["question", "answer"]


async def test_long_lists_come_in_pages_and_within_limits_of_time(stage: Stage) -> None:
    sent = [await stage.client.chat_postMessage(channel=GENERAL, text=f"{number}") for number in range(5)]
    texts: list[str] = []
    async for page in await stage.client.conversations_history(channel=GENERAL, limit=2):
        texts += [message["text"] for message in page["messages"]]
    assert texts == ["4", "3", "2", "1", "0"]
    since = await stage.client.conversations_history(channel=GENERAL, oldest=sent[3]["ts"], inclusive=True)
    assert [message["text"] for message in since["messages"]] == ["4", "3"]


async def test_an_update_replaces_a_message_and_a_deletion_removes_it(stage: Stage) -> None:
    sent = await stage.client.chat_postMessage(channel=GENERAL, text="one")
    await stage.client.chat_update(channel=GENERAL, ts=sent["ts"], markdown_text="**two**")
    (shown,) = stage.slack.messages(GENERAL)
    assert (shown.text, shown.markdown_text, shown.edits) == ("", "**two**", 1)
    await stage.client.chat_delete(channel=GENERAL, ts=sent["ts"])
    assert stage.slack.messages(GENERAL) == []
    assert await refused(stage.client.chat_update(channel=GENERAL, ts=sent["ts"], text="x")) == "message_not_found"


async def test_buttons_outlive_an_update_that_does_not_name_them(stage: Stage) -> None:
    sent = await stage.client.chat_postMessage(channel=GENERAL, text="Shall I?", blocks=BUTTONS)
    (shown,) = stage.slack.messages(GENERAL)
    await stage.client.chat_update(channel=GENERAL, ts=sent["ts"], text="Done")
    assert (shown.text, len(shown.buttons)) == ("Done", 1)
    await stage.client.chat_update(channel=GENERAL, ts=sent["ts"], text="Done", blocks=[])
    assert (shown.text, shown.buttons, shown.blocks) == ("Done", [], [])


async def test_an_ephemeral_message_is_for_one_person_and_not_kept(stage: Stage) -> None:
    await stage.client.chat_postEphemeral(channel=GENERAL, user="U0ANN", text="only you")
    (shown,) = stage.slack.messages(GENERAL)
    assert shown.only_for == "ann"
    assert (await stage.client.conversations_history(channel=GENERAL))["messages"] == []
    in_a_dm = stage.client.chat_postEphemeral(channel=ANN_DM, user="U0BUDI", text="x")
    assert await refused(in_a_dm) == "user_not_in_channel"


async def test_a_stream_grows_and_ends_as_one_message(stage: Stage) -> None:
    root = await stage.slack.say(GENERAL, "ann", "question")
    stream = await stage.client.chat_stream(
        channel=GENERAL, thread_ts=root.id, recipient_team_id=TEAM, recipient_user_id="U0ANN", buffer_size=1
    )
    await stream.append(markdown_text="Hel")
    shown = stage.slack.messages(GENERAL)[-1]
    assert (shown.markdown_text, shown.streaming, shown.thread) == ("Hel", True, root.id)
    await stream.append(markdown_text="lo")
    await stream.stop(markdown_text="!", blocks=BUTTONS, metadata=MARK)
    assert (shown.markdown_text, shown.streaming, len(shown.buttons)) == ("Hello!", False, 1)
    late = stage.client.chat_appendStream(channel=GENERAL, ts=shown.id, markdown_text="x")
    assert await refused(late) == "message_not_in_streaming_state"


async def test_a_stream_dies_after_five_minutes() -> None:
    clock = FakeClock()
    simulator = Simulator(pace=QUICK, now=clock.now)
    async with serve(simulator) as url:
        client = AsyncWebClient(BOT_TOKEN, base_url=slack_base_url(url))
        root = await simulator.slack.say(ANN_DM, "ann", "question")
        started = await client.chat_startStream(channel=ANN_DM, thread_ts=root.id, markdown_text="Hel")
        clock.advance(301)
        late = client.chat_stopStream(channel=ANN_DM, ts=started["ts"])
        assert await refused(late) == "message_not_in_streaming_state"
        await client.chat_update(channel=ANN_DM, ts=started["ts"], markdown_text="Hello")
        assert simulator.slack.messages(ANN_DM)[-1].markdown_text == "Hello"


async def test_a_status_is_shown_in_its_thread_until_the_answer_comes(stage: Stage) -> None:
    root = await stage.slack.say(ANN_DM, "ann", "question")
    await stage.client.assistant_threads_setStatus(channel_id=ANN_DM, thread_ts=root.id, status="is thinking…")
    assert [(sign.thread, sign.text) for sign in stage.world.signs.values()] == [(root.id, "is thinking…")]
    answer = await stage.client.chat_postMessage(channel=ANN_DM, thread_ts=root.id, text="answer")
    assert stage.world.signs == {}
    in_a_reply = stage.client.assistant_threads_setStatus(channel_id=ANN_DM, thread_ts=answer["ts"], status="x")
    assert await refused(in_a_reply) == "invalid_thread_ts"
    await stage.client.agents_sessions_setStatus(channel_id=ANN_DM, thread_ts=root.id, status="processing")
    await stage.client.agents_sessions_setStatus(channel_id=ANN_DM, thread_ts=root.id, status="active")
    assert stage.world.signs == {}


async def test_a_reaction_is_added_once(stage: Stage) -> None:
    said = await stage.slack.say(GENERAL, "ann", "hi")
    await stage.client.reactions_add(channel=GENERAL, timestamp=said.id, name="eyes")
    assert said.reactions == [":eyes:"]
    again = stage.client.reactions_add(channel=GENERAL, timestamp=said.id, name="eyes")
    assert await refused(again) == "already_reacted"


async def test_a_file_needs_the_token_and_answers_a_sign_in_page_without(stage: Stage) -> None:
    await stage.slack.say(ANN_DM, "ann", "look", file=File("a.txt", "text/plain", b"eggs"))
    (post,) = stage.slack.posts.values()
    file = (await stage.client.files_info(file=post.native["files"][0]["id"]))["file"]
    async with aiohttp.ClientSession() as session:
        stranger = await session.get(file["url_private"])
        ours = await session.get(file["url_private"], headers={"Authorization": f"Bearer {BOT_TOKEN}"})
        assert (stranger.status, stranger.content_type, await ours.read()) == (200, "text/html", b"eggs")


LONG_SECTION = [{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3001}}]
FIVE_SECTIONS = [{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 2900}}] * 5
REFUSALS: dict[str, tuple[dict[str, Any], str]] = {
    "nothing to say": ({"text": " "}, "no_text"),
    "nobody there": ({"channel": "C9"}, "channel_not_found"),
    "too much Markdown": ({"text": None, "markdown_text": "x" * 12_001}, "msg_too_long"),
    "Markdown and text": ({"markdown_text": "x"}, "markdown_text_conflict"),
    "a long section": ({"blocks": LONG_SECTION}, "invalid_blocks"),
    "51 blocks": ({"blocks": [{"type": "divider"}] * 51}, "invalid_blocks"),
    "no list of blocks": ({"blocks": '{"type": "divider"}'}, "invalid_blocks_format"),
    "too much in all blocks": ({"blocks": FIVE_SECTIONS}, "msg_blocks_too_long"),
    "a thread that is not there": ({"thread_ts": "1.000000"}, "invalid_thread_ts"),
    "metadata without a payload": ({"metadata": {"event_type": "x"}}, "invalid_metadata_format"),
}


@pytest.mark.parametrize("name", REFUSALS)
async def test_a_message_slack_would_refuse_is_refused_with_its_code(stage: Stage, name: str) -> None:
    changes, error = REFUSALS[name]
    # Not chat_postMessage: the SDK warns about some of these by itself.
    call = stage.client.api_call("chat.postMessage", json={"channel": GENERAL, "text": "hi", **changes})
    assert await refused(call) == error
    assert stage.world.messages == {}


async def test_a_long_text_is_cut_and_not_refused(stage: Stage) -> None:
    sent = await stage.client.chat_postMessage(channel=GENERAL, text="x" * 40_001)
    assert len(sent["message"]["text"]) == 40_000


async def test_people_s_messages_are_not_the_bot_s_to_change(stage: Stage) -> None:
    said = await stage.slack.say(GENERAL, "ann", "mine")
    assert await refused(stage.client.chat_update(channel=GENERAL, ts=said.id, text="x")) == "cant_update_message"
    assert await refused(stage.client.chat_delete(channel=GENERAL, ts=said.id)) == "cant_delete_message"


@pytest.mark.parametrize(("token", "error"), [("", "not_authed"), ("xoxb-other", "invalid_auth")])
async def test_a_call_needs_the_bot_s_token(stage: Stage, token: str, error: str) -> None:
    client = AsyncWebClient(token, base_url=slack_base_url(stage.url))
    assert await refused(client.chat_postMessage(channel=GENERAL, text="hi")) == error


async def test_the_token_may_come_as_a_form_field_and_is_never_logged(stage: Stage) -> None:
    async with aiohttp.ClientSession() as session:
        form = {"token": BOT_TOKEN, "channel": GENERAL, "text": "form"}
        answer = await (await session.post(f"{slack_base_url(stage.url)}chat.postMessage", data=form)).json()
        unknown = await (await session.post(f"{slack_base_url(stage.url)}chat.shout", data=form)).json()
    assert (answer["ok"], unknown) == (True, {"ok": False, "error": "unknown_method"})
    assert [call.params for call in stage.world.calls] == [{"channel": GENERAL, "text": "form"}] * 2


# Things that go wrong.


async def test_a_rate_limit_is_a_429_that_tells_how_long_to_wait(stage: Stage) -> None:
    stage.world.add_fault(Fault("slack", "chat.postMessage", "error", status=429, retry_after=10))
    with pytest.raises(SlackApiError) as caught:
        await stage.client.chat_postMessage(channel=GENERAL, text="one")
    assert caught.value.response["error"] == "ratelimited"
    assert (caught.value.response.status_code, caught.value.response.headers["Retry-After"]) == (429, "10")
    await stage.client.chat_postMessage(channel=GENERAL, text="two")
    assert [message.text for message in stage.slack.messages(GENERAL)] == ["two"]


async def test_any_refusal_can_be_ordered_for_any_method(stage: Stage) -> None:
    stage.world.add_fault(Fault("slack", "*", "error", times=2, status=200, error="is_archived"))
    assert await refused(stage.client.chat_postMessage(channel=GENERAL, text="one")) == "is_archived"
    assert await refused(stage.client.auth_test()) == "is_archived"
    assert (await stage.client.auth_test())["ok"]


@pytest.mark.parametrize(("kind", "arrived"), [("hang", []), ("mute", ["hi"]), ("cut", ["hi"])])
async def test_a_call_without_an_answer_may_or_may_not_have_arrived(
    stage: Stage, kind: Any, arrived: list[str]
) -> None:
    stage.world.add_fault(Fault("slack", "chat.postMessage", kind))
    client = AsyncWebClient(BOT_TOKEN, base_url=slack_base_url(stage.url), timeout=1, retry_handlers=[])
    with pytest.raises((TimeoutError, aiohttp.ClientError)):
        await client.chat_postMessage(channel=GENERAL, text="hi")
    assert [message.text for message in stage.slack.messages(GENERAL)] == arrived
