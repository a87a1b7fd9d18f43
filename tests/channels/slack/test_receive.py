"""Who may speak as Slack, and what Slack is answered."""

import hashlib
import hmac
import json
import logging
import time
from urllib.parse import urlencode

import pytest

from bot.channels.slack.receive import Received, SlackReceiver
from bot.messages import Json

SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
DIRECT: Json = {
    "type": "event_callback",
    "team_id": "T1",
    "event_id": "Ev1",
    "authorizations": [{"team_id": "T1", "user_id": "UBOT", "is_bot": True}],
    "event": {"type": "message", "channel": "D1", "channel_type": "im", "user": "U1", "text": "café  x", "ts": "1.1"},
}
TAP: Json = {
    "type": "block_actions",
    "team": {"id": "T1"},
    "user": {"id": "U1"},
    "channel": {"id": "D1"},
    "message": {"ts": "7.0"},
    "actions": [{"action_id": "approve", "block_id": "b", "value": "ok:7f", "type": "button"}],
}
COMMAND = {
    "command": "/kabar",
    "text": "usage",
    "team_id": "T1",
    "channel_id": "C1",
    "user_id": "U1",
    "trigger_id": "1.2.a",
}
SHORTCUT: Json = {**TAP, "type": "message_action", "callback_id": "ask_kabar", "action_ts": "9.5", "actions": None}
JSON_TYPE = "application/json"
FORM_TYPE = "application/x-www-form-urlencoded"


@pytest.fixture
def receiver() -> SlackReceiver:
    return SlackReceiver(SECRET)


def signed(
    body: bytes, content_type: str = JSON_TYPE, timestamp: str | None = None, secret: str = SECRET
) -> dict[str, str]:
    stamp = str(int(time.time())) if timestamp is None else timestamp
    digest = hmac.new(secret.encode(), b"v0:" + stamp.encode() + b":" + body, hashlib.sha256).hexdigest()
    return {"Content-Type": content_type, "X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest}"}


def encoded(payload: object) -> bytes:
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()


def form(payload: object) -> bytes:
    return urlencode({"payload": json.dumps(payload)}).encode()


def received(receiver: SlackReceiver, payload: object) -> Received:
    body = encoded(payload)
    return receiver.receive(body, signed(body))


def test_a_signed_message_is_taken_over_exactly(receiver: SlackReceiver) -> None:
    answer = received(receiver, DIRECT)

    assert (answer.status, answer.body) == (200, "")
    assert [inbound.text for inbound in answer.inbounds] == ["café  x"]


def test_a_signed_tap_comes_as_a_form(receiver: SlackReceiver) -> None:
    body = form(TAP)
    answer = receiver.receive(body, signed(body, FORM_TYPE))

    assert (answer.status, answer.body) == (200, "")
    assert [inbound.data for inbound in answer.inbounds] == ["ok:7f"]


def test_a_slash_command_is_acknowledged_with_nothing_to_show(receiver: SlackReceiver) -> None:
    body = urlencode(COMMAND).encode()
    sent = signed(body, FORM_TYPE)
    answer = receiver.receive(body, sent)

    assert (answer.status, answer.body) == (200, "")
    assert [(inbound.command, inbound.quiet, inbound.sent_at) for inbound in answer.inbounds] == [
        ("usage", True, int(sent["X-Slack-Request-Timestamp"]))
    ]


def test_a_message_shortcut_is_acknowledged_with_nothing_to_show(receiver: SlackReceiver) -> None:
    body = form(SHORTCUT)
    answer = receiver.receive(body, signed(body, FORM_TYPE))

    assert (answer.status, answer.body) == (200, "")
    assert [inbound.native_id for inbound in answer.inbounds] == ["7.0"]


@pytest.mark.parametrize("body", [form(SHORTCUT), urlencode(COMMAND).encode()])
def test_neither_is_taken_without_a_signature(receiver: SlackReceiver, body: bytes) -> None:
    assert receiver.receive(body, {"Content-Type": FORM_TYPE}) == Received(401)


@pytest.mark.parametrize(("body", "content_type"), [(encoded(DIRECT), JSON_TYPE), (form(TAP), FORM_TYPE)])
def test_one_changed_byte_is_refused(receiver: SlackReceiver, body: bytes, content_type: str) -> None:
    headers = signed(body, content_type)
    assert receiver.receive(body.replace(b"U1", b"U2"), headers) == Received(401)


@pytest.mark.parametrize("age", [-301, 301])
def test_a_signature_from_another_time_is_refused(receiver: SlackReceiver, age: int) -> None:
    body = encoded(DIRECT)
    assert receiver.receive(body, signed(body, timestamp=str(int(time.time()) + age))) == Received(401)


@pytest.mark.parametrize("timestamp", ["", "abc", "1e9", "-5", "²", "9" * 5_000, "17 00"])
def test_a_timestamp_that_is_no_number_is_refused(receiver: SlackReceiver, timestamp: str) -> None:
    body = encoded(DIRECT)
    assert receiver.receive(body, signed(body, timestamp=timestamp)) == Received(401)


@pytest.mark.parametrize("missing", ["X-Slack-Signature", "X-Slack-Request-Timestamp"])
def test_a_request_without_a_signature_is_refused(receiver: SlackReceiver, missing: str) -> None:
    body = encoded(DIRECT)
    headers = signed(body)
    del headers[missing]
    assert receiver.receive(body, headers) == Received(401)


@pytest.mark.parametrize("signature", ["", "v0=", "v0=é", "nonsense"])
def test_an_odd_signature_is_refused(receiver: SlackReceiver, signature: str) -> None:
    body = encoded(DIRECT)
    assert receiver.receive(body, {**signed(body), "X-Slack-Signature": signature}) == Received(401)


@pytest.mark.parametrize("body", [b"\xff\xfe", b"", b"{", b"[]", b"payload=%7B", b"ssl_check=1&token=x"])
def test_whatever_is_not_signed_is_refused_before_it_is_read(receiver: SlackReceiver, body: bytes) -> None:
    assert receiver.receive(body, {"Content-Type": JSON_TYPE}) == Received(401)
    assert receiver.receive(body, signed(body, secret="another")) == Received(401)


@pytest.mark.parametrize("secret", ["", "  "])
def test_without_a_configured_secret_everything_is_refused(secret: str) -> None:
    body = encoded(DIRECT)
    assert SlackReceiver(secret).receive(body, signed(body, secret=secret)) == Received(401)


def test_the_address_can_be_saved_in_slack(receiver: SlackReceiver) -> None:
    answer = received(receiver, {"type": "url_verification", "challenge": "abc", "token": "x"})

    assert (answer.status, json.loads(answer.body), answer.inbounds) == (200, {"challenge": "abc"}, ())
    assert answer.headers["content-type"].startswith("application/json")


def test_an_unsigned_challenge_is_not_answered(receiver: SlackReceiver) -> None:
    body = encoded({"type": "url_verification", "challenge": "abc"})
    assert receiver.receive(body, {"Content-Type": JSON_TYPE}) == Received(401)


@pytest.mark.parametrize(
    "payload",
    [
        {**DIRECT, "event": {"type": "reaction_added", "user": "U1"}},
        {
            **DIRECT,
            "event": {"type": "message", "subtype": "message_changed", "channel": "D1", "message": {"text": "x"}},
        },
        {
            **DIRECT,
            "event": {"type": "message", "bot_id": "B1", "user": "UBOT", "channel": "D1", "ts": "1.2", "text": "a"},
        },
        {"type": "app_rate_limited", "team_id": "T1"},
        {"type": "something_new"},
    ],
)
def test_events_that_do_not_concern_us_are_acknowledged(receiver: SlackReceiver, payload: Json) -> None:
    answer = received(receiver, payload)
    assert (answer.status, answer.inbounds) == (200, ())


@pytest.mark.parametrize(
    "payload", [{"type": "view_submission", "team": {"id": "T1"}, "user": {"id": "U1"}, "view": {}}, {}]
)
def test_other_interactions_are_acknowledged(receiver: SlackReceiver, payload: Json) -> None:
    body = form(payload)
    answer = receiver.receive(body, signed(body, FORM_TYPE))
    assert (answer.status, answer.inbounds) == (200, ())


@pytest.mark.parametrize("body", [b"{", b"[]", b"1", b"payload=%7B", b"[" * 100_000])
def test_a_signed_body_that_is_not_slacks_is_our_correspondents_fault(receiver: SlackReceiver, body: bytes) -> None:
    assert receiver.receive(body, signed(body)).status == 400


@pytest.mark.parametrize("retry", [1, 2, 3])
def test_a_repeat_is_taken_like_the_first_and_is_the_same_message(receiver: SlackReceiver, retry: int) -> None:
    body = encoded(DIRECT)
    repeat = {**signed(body), "X-Slack-Retry-Num": str(retry), "X-Slack-Retry-Reason": "http_timeout"}

    assert receiver.receive(body, repeat) == receiver.receive(body, signed(body))


def test_the_workspace_of_a_shared_channel_is_ours(receiver: SlackReceiver) -> None:
    (inbound,) = received(receiver, {**DIRECT, "team_id": "T_other", "is_ext_shared_channel": True}).inbounds
    assert inbound.place.team == "T1"


def test_one_request_leaves_nothing_behind_for_the_next(receiver: SlackReceiver) -> None:
    received(receiver, DIRECT)
    assert received(receiver, {**DIRECT, "event": {"type": "reaction_added"}}).inbounds == ()


def test_neither_words_nor_signatures_are_logged(receiver: SlackReceiver, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    body = encoded(DIRECT)
    headers = signed(body)
    receiver.receive(body, headers)
    receiver.receive(body + b" ", headers)
    received(receiver, {**DIRECT, "type": "something_new"})

    assert "café" not in caplog.text
    assert headers["X-Slack-Signature"] not in caplog.text
