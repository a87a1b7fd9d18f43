"""Which of Slack's envelopes concern the bot, and what is made of them."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.channels.slack.parse import SHORTCUT, Departed, departed, parse, sign_reply
from bot.messages import Attachment, Inbound, Json, Person, Place, Quote
from tests.channels.odd_json import JSON, mutated, storable

AUTHORIZED = {"enterprise_id": None, "team_id": "T1", "user_id": "UBOT", "is_bot": True, "is_enterprise_install": False}


def envelope(event: Json, **more: Any) -> Json:
    return {
        "type": "event_callback",
        "team_id": "T1",
        "event_id": "Ev1",
        "authorizations": [AUTHORIZED],
        "event": event,
        **more,
    }


def direct(text: str = "hi", ts: str = "1700000000.000100", **more: Any) -> Json:
    return envelope(
        {"type": "message", "channel": "D1", "channel_type": "im", "user": "U1", "text": text, "ts": ts, **more}
    )


def said(text: str = "<@UBOT> hi", kind: str = "app_mention", ts: str = "1700000000.000100", **more: Any) -> Json:
    return envelope({"type": kind, "channel": "C1", "user": "U1", "text": text, "ts": ts, **more})


def parsed(update: Json) -> Inbound:
    inbound = parse(update)
    assert inbound is not None
    return inbound


def test_a_direct_message_is_for_us() -> None:
    assert parse(direct("hello")) == Inbound(
        place=Place("slack:T1:D1", "D1", team="T1"),
        id="1700000000.000100",
        order="1700000000.000100",
        sender=Person("slack:T1:U1"),
        sent_at=1_700_000_000,
        text="hello",
        native_id="1700000000.000100",
    )


def test_direct_messages_outside_threads_are_one_conversation() -> None:
    first, second = parsed(direct(ts="1700000001.000100")), parsed(direct(ts="1700000002.000100"))
    assert first.place == second.place == Place("slack:T1:D1", "D1", team="T1")
    assert first.key < second.key


def test_a_thread_in_a_direct_message_is_a_conversation_of_its_own() -> None:
    inbound = parsed(direct(ts="1700000002.000100", thread_ts="1700000001.000100"))
    assert inbound.place == Place("slack:T1:D1:1700000001.000100", "D1", "1700000001.000100", "T1")


# Channels: only what names us, in a thread.


def test_a_mention_opens_a_thread_and_a_mention_in_a_thread_stays_there() -> None:
    opening, later = parsed(said(ts="5.0")), parsed(said(ts="6.0", thread_ts="5.0"))
    assert opening.place == later.place == Place("slack:T1:C1:5.0", "C1", "5.0", "T1", group=True)


def test_the_two_events_of_one_mention_are_the_same_message() -> None:
    as_mention, as_message = parsed(said()), parsed(said(kind="message", channel_type="channel"))
    assert as_mention == as_message


@pytest.mark.parametrize("text", ["lunch?", "<@U222> hi", "UBOT hi", "<@UBOT2> hi"])
def test_a_channels_own_talk_is_not_for_us(text: str) -> None:
    assert parse(said(text, "message", channel_type="channel")) is None


def test_a_group_direct_message_needs_a_mention_as_well() -> None:
    assert parse(said("hi", "message", channel_type="mpim")) is None


def test_a_mention_alone_is_still_a_message() -> None:
    assert parsed(said("<@UBOT>")).text == "<@UBOT>"


# Which workspace.


def test_in_a_shared_channel_the_workspace_is_the_one_we_are_installed_in() -> None:
    shared = said()
    shared |= {"team_id": "T_other", "enterprise_id": "E9", "is_ext_shared_channel": True}
    assert parsed(shared).place.team == "T1"
    assert parsed(shared).sender.id == "slack:T1:U1"


def test_an_installation_for_the_whole_organisation_is_known_by_it() -> None:
    update = said()
    update["authorizations"] = [{**AUTHORIZED, "team_id": None, "enterprise_id": "E9", "is_enterprise_install": True}]
    assert parsed(update).conversation == "slack:E9:C1:1700000000.000100"


def test_an_event_of_one_of_its_workspaces_is_the_organisation_s_too() -> None:
    update = said()
    update["authorizations"] = [{**AUTHORIZED, "team_id": "T7", "enterprise_id": "E9", "is_enterprise_install": True}]
    assert parsed(update).conversation == "slack:E9:C1:1700000000.000100"


def test_where_no_authorization_is_named_the_context_is_the_installation_s() -> None:
    shared = {**said(), "authorizations": [], "team_id": "T_other", "context_team_id": "T1"}
    assert parsed(shared).place.team == "T1"
    assert parsed({**shared, "context_team_id": None}).place.team == "T_other"


GONE = {"type": "event_callback", "team_id": "T1", "event": {"type": "app_uninstalled"}, "event_time": 5}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, Departed("T1", 5)),
        ({"event": {"type": "tokens_revoked", "tokens": {"oauth": ["U1"], "bot": ["UBOT"]}}}, Departed("T1", 5)),
        ({"event": {"type": "tokens_revoked", "tokens": {"oauth": ["U1"]}}}, None),
        ({"event": {"type": "tokens_revoked", "tokens": "all"}}, None),
        ({"enterprise_id": "E9", "is_enterprise_install": True}, Departed("E9", 5)),
        ({"team_id": None, "enterprise_id": "E9"}, Departed("E9", 5)),
        ({"enterprise_id": "E9"}, Departed("T1", 5)),
        ({"team_id": ""}, None),
        ({"event_time": None}, Departed("T1", 0)),
        ({"type": "block_actions"}, None),
        ({"event": {"type": "message"}}, None),
    ],
)
def test_the_end_of_an_installation_is_told_of_whom_and_when(changed: Json, told: Departed | None) -> None:
    assert departed({**GONE, **changed}) == told
    assert parse({**GONE, **changed}) is None


def test_without_a_workspace_there_is_no_conversation() -> None:
    assert parse({"type": "event_callback", "event": direct()["event"]}) is None


@pytest.mark.parametrize("missing", ["channel", "ts", "user"])
def test_an_event_that_does_not_say_where_or_who_is_ignored(missing: str) -> None:
    update = direct()
    del update["event"][missing]
    assert parse(update) is None


# Who is not answered.


@pytest.mark.parametrize(
    "fields",
    [
        {"bot_id": "B_SELF", "user": "UBOT"},
        {"user": "UBOT"},
        {"bot_id": "B_OTHER"},
        {"subtype": "bot_message", "bot_id": "B1"},
        {"bot_profile": {"id": "B1"}},
        {"subtype": "channel_join"},
        {"subtype": "message_deleted", "previous_message": {"text": "x"}},
        {"subtype": "message_replied"},
    ],
)
def test_bots_and_announcements_are_not_answered(fields: Json) -> None:
    assert parse(direct("<@UBOT> answer", **fields)) is None
    assert parse(said("<@UBOT> answer", **fields)) is None


@pytest.mark.parametrize("kind", ["reaction_added", "app_home_opened", "member_joined_channel", "link_shared", 7])
def test_other_kinds_of_event_are_none_of_our_business(kind: object) -> None:
    assert parse(envelope({"type": kind, "user": "U1", "channel": "D1", "ts": "1.1"})) is None


@pytest.mark.parametrize("subtype", ["file_share", "thread_broadcast", "me_message"])
def test_what_people_write_in_other_ways_is_a_message(subtype: str) -> None:
    assert parsed(direct("what is wrong here?", subtype=subtype)).text == "what is wrong here?"


# Edits.


def changed(old: str, new: str, channel: Json | None = None, **fields: Any) -> Json:
    message = {
        "type": "message",
        "user": "U1",
        "ts": "1.1",
        "text": new,
        "edited": {"user": "U1", "ts": "9.0"},
        **fields,
    }
    where = channel or {"channel": "D1", "channel_type": "im"}
    event = {"type": "message", "subtype": "message_changed", "hidden": True, "ts": "9.1", **where}
    return envelope({**event, "message": message, "previous_message": {"text": old, "ts": "1.1"}})


def test_an_edit_has_its_own_id_and_sorts_right_after_what_it_edits() -> None:
    original, edit, later = parsed(direct("old", "1.1")), parsed(changed("old", "new")), parsed(direct("next", "1.2"))

    assert (edit.kind, edit.id, edit.native_id, edit.text) == ("edit", "e1.1.9.0", "1.1", "new")
    assert edit.place == original.place
    assert sorted([later.key, edit.key, original.key]) == [original.key, edit.key, later.key]


def test_an_edit_without_its_time_is_told_apart_by_the_events_time() -> None:
    assert parsed(changed("old", "new", edited={})).id == "e1.1.9.1"


def test_a_link_that_slack_unfolds_is_no_edit() -> None:
    assert parse(changed("see <https://e.example>", "see <https://e.example>", attachments=[{"title": "E"}])) is None


def test_our_own_streaming_edits_are_no_edits_of_a_person() -> None:
    assert parse(changed("ans", "answer", bot_id="B1", user="UBOT")) is None


def test_an_edit_in_a_channel_is_for_us_where_it_names_us() -> None:
    channel = {"channel": "C1", "channel_type": "channel"}
    assert parse(changed("<@UBOT> a", "b", channel)) is None
    assert parsed(changed("<@UBOT> a", "<@UBOT> b", channel, thread_ts="1.0")).place.thread == "1.0"


# What was said.


@pytest.mark.parametrize(
    ("text", "readable"),
    [
        ("<@UBOT> ask <@U111> and <@U222|ann> in <#C1|general>", "ask @U111 and @ann (U222) in #general"),
        ("hey <@UBOT|kabar>, hi", "hey, hi"),
        ("<@UBOT> in <#C2>", "in #C2"),
        ("<@UBOT> <!here> <!subteam^S1> <!subteam^S1|@ops> <!date^1^{date}|today>", "@here @S1 @ops today"),
        ("<@UBOT> <https://e.example/?a=1&amp;b=2|the docs>", "the docs (https://e.example/?a=1&b=2)"),
        ("<@UBOT> <https://e.example> <mailto:a@e.example|a@e.example>", "https://e.example a@e.example"),
        ("<@UBOT> a &lt; b &amp;&amp; c &gt; d, &amp;lt;", "a < b && c > d, &lt;"),
        ("<@UBOT> &lt;@U1&gt;", "<@U1>"),
    ],
)
def test_the_model_reads_names_and_links_in_place_of_slacks_markup(text: str, readable: str) -> None:
    assert parsed(said(text)).text == readable


@pytest.mark.parametrize(
    ("text", "command", "rest"),
    [
        ("<@UBOT> /new", "new", ""),
        (" /New please", "new", "please"),
        ("/usr/bin", "", "/usr/bin"),
        ("see /new", "", "see /new"),
    ],
)
def test_a_command_is_typed_as_text(text: str, command: str, rest: str) -> None:
    inbound = parsed(direct(text))
    assert (inbound.command, inbound.text) == (command, rest)


def test_shared_files_come_along_also_without_a_word() -> None:
    files = [
        {"id": "F1", "name": "shot.png", "mimetype": "image/png", "size": 2048},
        {"id": "F2", "title": "Notes", "mimetype": "application/pdf"},
    ]
    inbound = parsed(direct("", subtype="file_share", files=files))
    assert inbound.attachments == (
        Attachment("photo", "F1", "shot.png", "image/png", 2048),
        Attachment("document", "F2", "Notes", "application/pdf"),
    )


def test_a_message_without_words_or_files_is_nothing() -> None:
    assert parse(direct("")) is None


def test_a_shared_message_is_a_quotation() -> None:
    shared = {"is_msg_unfurl": True, "text": "we &lt;3 <@U2|bo>", "author_name": "Ann", "author_id": "U9"}
    assert parsed(direct("is it true?", attachments=[{"title": "a link"}, shared])).quote == Quote(
        "we <3 @bo (U2)", "Ann"
    )
    assert parsed(direct("?", attachments=[{**shared, "author_id": "UBOT"}])).quote == Quote(
        "we <3 @bo (U2)", "Ann", ours=True
    )


# Taps.


def tap(**more: Any) -> Json:
    return {
        "type": "block_actions",
        "team": {"id": "T1", "domain": "w"},
        "user": {"id": "U1", "name": "ann", "team_id": "T1"},
        "channel": {"id": "C1", "name": "general"},
        "message": {"ts": "7.0", "thread_ts": "5.0", "bot_id": "B1"},
        "container": {"type": "message", "message_ts": "7.0", "channel_id": "C1", "thread_ts": "5.0"},
        "actions": [{"action_id": "approve", "value": "ok:7f", "action_ts": "1700000009.5", "type": "button"}],
        **more,
    }


def test_a_tap_carries_the_buttons_token_into_the_buttons_thread() -> None:
    assert parse(tap()) == Inbound(
        place=Place("slack:T1:C1:5.0", "C1", "5.0", "T1", group=True),
        id="c7.0.U1.approve.ok:7f",
        order="7.0",
        sender=Person("slack:T1:U1", "ann"),
        sent_at=1_700_000_009,
        kind="tap",
        native_id="7.0",
        data="ok:7f",
    )


def test_a_tap_in_a_direct_message_stays_outside_threads() -> None:
    inbound = parsed(tap(channel={"id": "D1"}, message={"ts": "7.0"}, container={}))
    assert inbound.conversation == "slack:T1:D1"


@pytest.mark.parametrize(("thread", "conversation"), [({}, "slack:T1:C1"), ({"thread_ts": "5.0"}, "slack:T1:C1:5.0")])
def test_a_tap_in_what_one_person_sees_is_answered_there_for_that_person(thread: Json, conversation: str) -> None:
    where = {"type": "message", "message_ts": "7.0", "channel_id": "C1", "is_ephemeral": True, **thread}
    inbound = parsed(tap(message=None, container=where))
    assert (inbound.conversation, inbound.place.thread) == (conversation, thread.get("thread_ts", ""))
    assert inbound.quiet and inbound.native_id == ""  # nobody can edit it


def test_a_choice_from_a_menu_is_a_tap_with_the_choice() -> None:
    assert parsed(tap(actions=[{"action_id": "pick", "selected_option": {"value": "b"}}])).data == "b"


def test_a_thumb_that_is_pressed_again_after_the_other_one_counts_again() -> None:
    def thumb(way: str, at: str) -> Json:
        return tap(
            actions=[{"type": "feedback_buttons", "action_id": "vote", "value": f"vote:{way}:t1", "action_ts": at}]
        )

    presses = [parsed(thumb(way, at)) for way, at in (("up", "1.5"), ("down", "2.5"), ("up", "3.5"))]
    assert len({press.key for press in presses}) == 3
    assert parsed(thumb("up", "1.5")).key == presses[0].key


def test_a_long_value_does_not_make_a_long_id() -> None:
    action = {"action_id": "pick", "value": "v" * 2_000}
    assert len(parsed(tap(actions=[action])).id) < 120
    assert parsed(tap(actions=[action])).id != parsed(tap(actions=[{**action, "value": "v" * 1_999}])).id


@pytest.mark.parametrize("missing", ["user", "team", "actions"])
def test_a_tap_that_does_not_say_who_where_or_what_is_ignored(missing: str) -> None:
    assert parse(tap(**{missing: None})) is None


# Outside data.

REAL = [
    direct("<@U1|a> <!here> &lt;", files=[{"id": "F1", "size": 3}], attachments=[{"is_share": True, "text": "x"}]),
    said("<@UBOT> /new", thread_ts="1.0"),
    changed("a", "b"),
    tap(),
    {**tap(), "type": "message_action", "callback_id": SHORTCUT, "action_ts": "1700000009.5"},
    {"command": "/kabar", "text": "usage", "team_id": "T1", "channel_id": "C1", "user_id": "U1", "trigger_id": "1.2.a"},
]


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(["type", "event", "authorizations", "team_id", "actions"]), JSON))
def test_any_json_object_is_understood_or_ignored(update: Json) -> None:
    assert storable(parse(update))


@settings(deadline=None)
@given(mutated(REAL))
def test_an_odd_envelope_is_understood_or_ignored_and_can_be_stored(update: Json) -> None:
    assert storable(parse(update))


def test_half_a_surrogate_pair_in_a_text_can_be_stored() -> None:
    update = json.loads(json.dumps(direct("cut \ud83d")))
    assert storable(parse(update)) and parsed(update).text == "cut \ufffd"


STOPPED: Json = {
    "type": "agent_session_stopped",
    "channel": "C1",
    "thread_ts": "1.0",
    "user": "U1",
    "event_ts": "1783536983.783769",
    "streaming_message_ts": [],
}


def test_slacks_own_stop_button_stops_in_its_thread() -> None:
    stop = parsed(envelope(STOPPED))
    assert (stop.kind, stop.conversation, stop.sender.id) == ("stop", "slack:T1:C1:1.0", "slack:T1:U1")


def test_a_stop_that_does_not_say_where_is_ignored() -> None:
    assert parse(envelope({**STOPPED, "channel": ""})) is None


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("what is a &lt;b&gt; &amp; c", "⏳ what is a &lt;b&gt; &amp; c"),
        ("why " * 200, f"⏳ {('why ' * 200)[:300]}…"),
        ("settings", None),
        ("/help me", None),
        ("", None),
    ],
)
def test_who_asks_by_a_slash_command_sees_at_once_what_was_asked(typed: str, shown: str | None) -> None:
    form = {"team_id": "T1", "channel_id": "C1", "user_id": "U1", "trigger_id": "1.2", "command": "/kabar"}
    reply = sign_reply(parsed({**form, "text": typed}))
    assert (reply and reply["text"]) == shown
    assert reply is None or reply["response_type"] == "ephemeral"


@pytest.mark.parametrize("update", [direct(), said(), tap(), tap(container={"is_ephemeral": True, "channel_id": "C1"})])
def test_nothing_else_is_answered_with_a_message(update: Json) -> None:
    assert sign_reply(parsed(update)) is None
