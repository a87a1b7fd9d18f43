"""Every kind of thing Slack sends, in the shape it sends it, and all that is made of it."""

from typing import Any

import pytest
from msgspec.structs import replace

from bot.channels.slack.parse import parse
from bot.messages import Attachment, Inbound, Json, Person, Place, Quote

NOW = 1_700_000_900
TS = "1700000000.000100"
ROOT = "1699999999.000100"
ANN = Person("slack:T1:U1")
DIRECT = Place("slack:T1:D1", "D1", team="T1")
DIRECT_THREAD = Place(f"slack:T1:D1:{ROOT}", "D1", ROOT, "T1")
CHANNEL = Place(f"slack:T1:C1:{TS}", "C1", TS, "T1", group=True)
THREAD = Place(f"slack:T1:C1:{ROOT}", "C1", ROOT, "T1", group=True)
AUTHORIZATION = {
    "enterprise_id": None,
    "team_id": "T1",
    "user_id": "UBOT",
    "is_bot": True,
    "is_enterprise_install": False,
}
PICTURE = {
    "id": "F1",
    "created": 1_700_000_000,
    "name": "shot.png",
    "title": "shot.png",
    "mimetype": "image/png",
    "filetype": "png",
    "user": "U1",
    "size": 2_048,
    "mode": "hosted",
    "is_external": False,
    "file_access": "visible",
    "url_private": "https://files.slack.com/files-pri/T1-F1/shot.png",
}


def event(**fields: Any) -> Json:
    return {
        "token": "verification",
        "team_id": "T1",
        "api_app_id": "A1",
        "event": {"event_ts": TS, **fields},
        "type": "event_callback",
        "event_id": "Ev1",
        "event_time": 1_700_000_000,
        "authorizations": [AUTHORIZATION],
        "is_ext_shared_channel": False,
        "event_context": "4-x",
    }


def direct(text: str = "hi", **more: Any) -> Json:
    words = {"user": "U1", "text": text, "ts": TS, "team": "T1", "client_msg_id": "m-1"}
    return event(type="message", channel="D1", channel_type="im", **{**words, **more})


def channel(text: str, kind: str = "message", **more: Any) -> Json:
    where = {"channel": "C1"} if kind == "app_mention" else {"channel": "C1", "channel_type": "channel"}
    return event(type=kind, text=text, ts=TS, team="T1", **{"user": "U1", **where, **more})


def changed(old: str, new: str, where: Json, **more: Any) -> Json:
    after = {"type": "message", "user": "U1", "text": new, "ts": TS, "edited": {"user": "U1", "ts": "1700000060.0"}}
    before = {"type": "message", "user": "U1", "text": old, "ts": TS}
    change = {"subtype": "message_changed", "hidden": True, "ts": "1700000060.000200", "event_ts": "1700000060.000200"}
    return event(type="message", message={**after, **more}, previous_message=before, **{**where, **change})


def interaction(kind: str, **fields: Any) -> Json:
    return {
        "type": kind,
        "token": "verification",
        "api_app_id": "A1",
        "team": {"id": "T1", "domain": "w"},
        "enterprise": None,
        "is_enterprise_install": False,
        "user": {"id": "U1", "username": "ann", "name": "ann", "team_id": "T1"},
        "trigger_id": "1.2.abc",
        "channel": {"id": "C1", "name": "general"},
        **fields,
    }


def tapped(action: Json, **more: Any) -> Json:
    container = {"type": "message", "message_ts": TS, "channel_id": "C1", "is_ephemeral": False, "thread_ts": ROOT}
    message = {"type": "message", "user": "UBOT", "bot_id": "B1", "app_id": "A1", "ts": TS, "thread_ts": ROOT}
    actions = [{"block_id": "b", "action_ts": "1700000009.5", **action}]
    return interaction("block_actions", **{"container": container, "message": message, "actions": actions, **more})


def pointed(message: Json, **more: Any) -> Json:
    about = {"callback_id": "ask_kabar", "action_ts": "1700000009.500000", "message_ts": TS}
    return interaction("message_action", **{**about, "message": {"type": "message", "ts": TS, **message}, **more})


def command(text: str = "", **more: Any) -> Json:
    form = {
        "token": "verification",
        "team_id": "T1",
        "team_domain": "w",
        "channel_id": "C1",
        "channel_name": "general",
        "user_id": "U1",
        "user_name": "ann",
        "command": "/kabar",
        "text": text,
        "api_app_id": "A1",
        "is_enterprise_install": "false",
        "response_url": "https://hooks.slack.com/commands/T1/1/x",
        "trigger_id": "1.2.abc",
        **more,
    }
    return {name: value for name, value in form.items() if value}  # what is empty is left out of a parsed form


def said(place: Place = DIRECT, text: str = "hi", **more: Any) -> Inbound:
    when = {"id": TS, "order": TS, "sent_at": 1_700_000_000, "native_id": TS}
    return Inbound(**{"place": place, "sender": ANN, "text": text, **when, **more})


def edit(place: Place, text: str, **more: Any) -> Inbound:
    when = {"id": f"e{TS}.1700000060.0", "order": f"{TS}.1700000060.0", "sent_at": 1_700_000_060}
    return said(place, text, kind="edit", **when, **more)


def tap(data: str, action: str, place: Place = THREAD, **more: Any) -> Inbound:
    return Inbound(
        **{
            "place": place,
            "id": f"c{TS}.U1.{action}.{data}",
            "order": TS,
            "sender": Person("slack:T1:U1", "ann"),
            "sent_at": 1_700_000_009,
            "kind": "tap",
            "native_id": TS,
            "data": data,
            **more,
        }
    )


def asked(quote: Quote, place: Place = CHANNEL) -> Inbound:
    return Inbound(
        place=place,
        id=f"a{TS}.U1.1700000009.500000",
        order="1700000009.500000",
        sender=Person("slack:T1:U1", "ann"),
        sent_at=1_700_000_009,
        native_id=TS,
        quote=quote,
    )


def used(name: str, text: str = "", place: Place | None = None) -> Inbound:
    return Inbound(
        place=place or Place("slack:T1:C1", "C1", team="T1", group=True),
        id="x1.2.abc",
        order=f"{NOW}.000000",
        sender=Person("slack:T1:U1", "ann"),
        sent_at=NOW,
        text=text,
        command=name,
        quiet=True,
    )


def opened(place: Place = DIRECT, at: str = TS) -> Inbound:
    return Inbound(place=place, id=f"o{at}", order=at, sender=ANN, sent_at=1_700_000_000, kind="opened")


SHOT = Attachment("photo", "F1", "shot.png", "image/png", 2_048)
SHARE = {
    "is_msg_unfurl": True,
    "is_share": True,
    "ts": ROOT,
    "author_id": "U2",
    "author_name": "Budi",
    "channel_id": "C9",
    "text": "the key is <https://e.example|here>",
    "fallback": "[…] Budi: the key is here",
}
CLIP = {**PICTURE, "id": "F2", "name": "audio_message.m4a", "mimetype": "audio/mp4", "subtype": "slack_audio"}
IN_CHANNEL = {"channel": "C1", "channel_type": "channel"}
IN_DIRECT = {"channel": "D1", "channel_type": "im"}
SHARED_CHANNEL = {"team_id": "T_OTHER", "is_ext_shared_channel": True}
GRID = {**AUTHORIZATION, "enterprise_id": "E9", "team_id": None, "is_enterprise_install": True}
EPHEMERAL = {"type": "message", "message_ts": TS, "channel_id": "C1", "is_ephemeral": True, "thread_ts": ROOT}
MENU = {"type": "static_select", "action_id": "pick", "selected_option": {"text": {}, "value": "b"}}
OVERFLOW = {"type": "overflow", "action_id": "more", "selected_option": {"text": {}, "value": "delete:3"}}
CHECKED = {"type": "checkboxes", "action_id": "pick", "selected_options": [{"value": "a"}, {"value": "c"}]}
FEEDBACK = {"type": "feedback_buttons", "action_id": "vote", "value": "vote:up:t1"}
BUTTON = {"type": "button", "action_id": "approve.0", "value": "approve:7f"}
ASSISTANT = {"user_id": "U1", "channel_id": "D1", "thread_ts": ROOT, "context": {"channel_id": "C1"}}
STOP = {"type": "agent_session_stopped", "user": "U1", "thread_ts": ROOT, "streaming_message_ts": [TS]}
BOTS_OWN = {"bot_id": "B1", "app_id": "A1", "user": "UBOT", "bot_profile": {"id": "B1", "name": "Kabar"}}

KINDS: dict[str, tuple[Json, Inbound | None]] = {
    # Direct messages.
    "a direct message": (direct(), said()),
    "a reply in a thread of a direct message": (direct(thread_ts=ROOT), said(DIRECT_THREAD)),
    "a message of which a thread begins": (direct(thread_ts=TS), said()),
    "a typed command": (direct(" /Usage today"), said(command="usage", text="today")),
    "an exclamation mark in a thread is a command": (
        direct("!stop now", thread_ts=ROOT),
        said(DIRECT_THREAD, "now", command="stop"),
    ),
    "an exclamation mark outside threads is one": (direct("!stop"), said(text="!stop")),
    "a message to be read aloud": (direct("waves", subtype="me_message"), said(text="waves")),
    "a picture with a question": (
        direct("what is this?", subtype="file_share", files=[PICTURE]),
        said(text="what is this?", attachments=(SHOT,)),
    ),
    "a picture alone": (direct("", subtype="file_share", files=[PICTURE]), said(text="", attachments=(SHOT,))),
    "a voice message": (
        direct("", subtype="file_share", files=[CLIP]),
        said(text="", attachments=(Attachment("voice", "F2", "audio_message.m4a", "audio/mp4", 2_048),)),
    ),
    "a file that was deleted": (
        direct("see", subtype="file_share", files=[{"id": "F1", "mode": "tombstone"}]),
        said(text="see", attachments=(Attachment("document", "F1", problem="The file was deleted."),)),
    ),
    "a file of another workspace, of which only the id is told": (
        direct("see", subtype="file_share", files=[{"id": "F1", "file_access": "check_file_info"}]),
        said(text="see", attachments=(Attachment("document", "F1"),)),
    ),
    "a message shared with a question": (
        direct("is it true?", attachments=[SHARE]),
        said(text="is it true?", quote=Quote("the key is here (https://e.example)", "Budi")),
    ),
    "a message shared without a word": (
        direct("", attachments=[SHARE]),
        said(text="", quote=Quote("the key is here (https://e.example)", "Budi")),
    ),
    "a picture shared from elsewhere": (
        direct("?", attachments=[{**SHARE, "text": "", "files": [PICTURE]}]),
        said(text="?", quote=Quote("", "Budi", attachments=(SHOT,))),
    ),
    "an answer of ours shared": (
        direct("?", attachments=[{**SHARE, "author_id": "UBOT", "author_name": "Kabar", "text": "yes"}]),
        said(text="?", quote=Quote("yes", "Kabar", ours=True)),
    ),
    "a link that is unfolded": (
        direct("<https://e.example>", attachments=[{"title": "E"}]),
        said(text="https://e.example"),
    ),
    # Channels.
    "a mention": (channel("<@UBOT> hi", "app_mention"), said(CHANNEL)),
    "the same mention as a message": (channel("<@UBOT> hi"), said(CHANNEL)),
    "a mention in a thread": (channel("<@UBOT> hi", thread_ts=ROOT), said(THREAD)),
    "a command in a thread": (
        channel("<@UBOT> !context", "app_mention", thread_ts=ROOT),
        said(THREAD, "", command="context"),
    ),
    "a reply in a thread that names nobody": (
        channel("and then?", thread_ts=ROOT),
        said(THREAD, "and then?", addressed=False),
    ),
    "a reply in a thread that names somebody else": (
        channel("<@U2> you?", thread_ts=ROOT),
        said(THREAD, "@U2 you?", addressed=False),
    ),
    "a picture in a thread": (
        channel("", thread_ts=ROOT, subtype="file_share", files=[PICTURE]),
        said(THREAD, "", attachments=(SHOT,), addressed=False),
    ),
    "a reply that is also sent to the channel": (
        channel("<@UBOT> hi", thread_ts=ROOT, subtype="thread_broadcast"),
        said(THREAD),
    ),
    "a channel's own talk": (channel("lunch?"), None),
    "talk in a group direct message": (channel("lunch?", channel="G1", channel_type="mpim"), None),
    "a mention in a group direct message": (
        channel("<@UBOT> hi", channel="G1", channel_type="mpim"),
        said(Place(f"slack:T1:G1:{TS}", "G1", TS, "T1", group=True)),
    ),
    "a mention in a channel shared with another company": (
        channel("<@UBOT> hi", user="U_THEIRS", user_team="T_OTHER") | SHARED_CHANNEL,
        said(CHANNEL, sender=Person("slack:T1:U_THEIRS")),
    ),
    "a mention where the whole organisation has the app": (
        channel("<@UBOT> hi") | {"authorizations": [GRID]},
        said(Place(f"slack:E9:C1:{TS}", "C1", TS, "E9", group=True), sender=Person("slack:E9:U1")),
    ),
    # Changes.
    "an edit in a direct message": (changed("old", "new", IN_DIRECT), edit(DIRECT, "new")),
    "an edit of what begins a thread": (changed("old", "new", IN_DIRECT, thread_ts=TS), edit(DIRECT, "new")),
    "an edit that still names us": (changed("<@UBOT> a", "<@UBOT> b", IN_CHANNEL), edit(CHANNEL, "b")),
    "an edit in a thread": (changed("a", "b", IN_CHANNEL, thread_ts=ROOT), edit(THREAD, "b", addressed=False)),
    "a link that unfolds later": (changed("<https://e.example>", "<https://e.example>", IN_DIRECT), None),
    "our own edit": (changed("a", "ab", IN_DIRECT, **BOTS_OWN), None),
    "our own stream": (
        changed("a", "ab", IN_CHANNEL, **BOTS_OWN, thread_ts=ROOT, streaming_state="completed"),
        None,
    ),
    "a deletion": (direct(subtype="message_deleted", deleted_ts=TS, user=None), None),
    # Who is not answered.
    "our own message": (direct("hi", **BOTS_OWN), None),
    "another bot in a thread": (channel("hi", thread_ts=ROOT, bot_id="B9", user="U9"), None),
    "a bot of old": (channel("<@UBOT> hi", subtype="bot_message", bot_id="B9"), None),
    "Slackbot": (direct("Reminder: stand up", user="USLACKBOT"), None),
    "somebody joins": (channel("<@U2> has joined", subtype="channel_join", user="U2"), None),
    "the root of an assistant's thread": (direct("New chat", subtype="assistant_app_thread"), None),
    "a reaction": (event(type="reaction_added", user="U1", reaction="eyes", item={"channel": "C1", "ts": TS}), None),
    # Other events.
    "the home tab is opened": (event(type="app_home_opened", user="U1", channel="D1", tab="home", view={}), opened()),
    "the messages tab is opened": (
        event(type="app_home_opened", user="U1", channel="D1", tab="messages", event_ts="1700000000000100"),
        opened(),
    ),
    "the about tab is opened": (event(type="app_home_opened", user="U1", channel="D1", tab="about"), None),
    "an assistant's thread begins": (
        event(type="assistant_thread_started", assistant_thread=ASSISTANT),
        opened(DIRECT_THREAD),
    ),
    "Slack's own Stop": (
        event(channel="C1", **STOP),
        Inbound(place=THREAD, id=f"s{TS}", order=TS, sender=ANN, sent_at=1_700_000_000, kind="stop"),
    ),
    # Interactions.
    "a button": (tapped(BUTTON), tap("approve:7f", "approve.0")),
    "a thumb": (tapped(FEEDBACK), tap("vote:up:t1", "vote", id=f"c{TS}.U1.vote.vote:up:t1.1700000009.5")),
    "a menu": (tapped(MENU), tap("b", "pick")),
    "an overflow menu": (tapped(OVERFLOW), tap("delete:3", "more")),
    "several choices": (tapped(CHECKED), tap("a,c", "pick")),
    "a choice of a person": (
        tapped({"type": "users_select", "action_id": "who", "selected_user": "U2"}),
        tap("U2", "who"),
    ),
    "a button in a message that only one person sees": (
        tapped(BUTTON, message=None, container=EPHEMERAL),
        replace(tap("approve:7f", "approve.0"), native_id="", quiet=True),
    ),
    "a button in a direct message": (
        tapped(BUTTON, channel={"id": "D1", "name": "directmessage"}, message={"ts": TS}, container={}),
        tap("approve:7f", "approve.0", DIRECT),
    ),
    "a button in an answer of which a thread begins": (
        tapped(BUTTON, channel={"id": "D1"}, message={"ts": TS, "thread_ts": TS}, container={}),
        tap("approve:7f", "approve.0", DIRECT),
    ),
    "a button on the home tab": (
        tapped(BUTTON, channel=None, message=None, container={"type": "view", "view_id": "V1"}, view={"type": "home"}),
        None,
    ),
    "the message shortcut": (pointed({"user": "U2", "text": "a &lt; b"}), asked(Quote("a < b", "U2"))),
    "the message shortcut in a thread": (
        pointed({"user": "U2", "text": "why?", "thread_ts": ROOT}),
        asked(Quote("why?", "U2"), THREAD),
    ),
    "the message shortcut on a picture": (
        pointed({"user": "U2", "text": "", "files": [PICTURE]}),
        asked(Quote("", "U2", attachments=(SHOT,))),
    ),
    "the message shortcut on our own answer": (
        pointed({**BOTS_OWN, "text": "yes"}, channel={"id": "D1", "name": "directmessage"}),
        asked(Quote("yes", "Kabar", ours=True), DIRECT),
    ),
    "another shortcut": (pointed({"user": "U2", "text": "x"}, callback_id="theirs"), None),
    "a global shortcut": (interaction("shortcut", callback_id="ask_kabar", channel=None), None),
    "a form that was sent": (interaction("view_submission", view={"id": "V1"}), None),
    # Slash commands.
    "the slash command alone": (command(), used("help")),
    "a slash command with a word": (command("usage"), used("usage")),
    "a slash command with more": (command("Meanwhile queue &amp; more"), used("meanwhile", "queue & more")),
    "a slash command with a command typed out": (command("/new"), used("new")),
    "a slash command with a sentence": (command("what's up?"), used("", "what's up?")),
    "a slash command in a direct message": (
        command("usage", channel_id="D1", channel_name="directmessage"),
        used("usage", place=DIRECT),
    ),
    "a slash command of an organisation": (
        command("usage", team_id="", enterprise_id="E9", is_enterprise_install="true"),
        Inbound(
            place=Place("slack:E9:C1", "C1", team="E9", group=True),
            id="x1.2.abc",
            order=f"{NOW}.000000",
            sender=Person("slack:E9:U1", "ann"),
            sent_at=NOW,
            command="usage",
            quiet=True,
        ),
    ),
    # Not to be answered at all.
    "too many events": ({"type": "app_rate_limited", "team_id": "T1", "minute_rate_limited": 1_700_000_000}, None),
    "the check of the address": ({"type": "url_verification", "challenge": "abc"}, None),
}


@pytest.mark.parametrize("kind", KINDS)
def test_everything_that_slack_sends_is_understood_or_left_alone(kind: str) -> None:
    payload, inbound = KINDS[kind]
    assert parse(payload, now=NOW) == inbound
