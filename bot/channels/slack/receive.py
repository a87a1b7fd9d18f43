"""Prove that a request comes from Slack, and unwrap what it carries. Nothing is sent from here.

Slack's Bolt does the unwrapping. It is loaded with the first request, not with this module: a webhook function that
only ever serves Telegram does not pay for it. Source: docs.slack.dev/apis/events-api; slack-bolt 1.30.
"""

import logging
import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from bot.channels.slack.parse import Departed, departed, parse
from bot.messages import Inbound, Json

if TYPE_CHECKING:
    from slack_bolt import App
    from slack_sdk.signature import SignatureVerifier

ANY = re.compile("")
_TIMESTAMP = re.compile(r"[0-9]{1,12}")

logger = logging.getLogger(__name__)


class Received(Struct, frozen=True):
    """What to answer Slack once the inbounds are stored, and the inbounds: none or one, but for several taps.

    ``departed``: the app is no longer installed there, which is to be noted first as well.
    """

    status: int
    body: str = ""
    headers: dict[str, str] = {}
    inbounds: tuple[Inbound, ...] = ()
    departed: Departed | None = None


REFUSED = Received(401)
UNREADABLE = Received(400)


class SlackReceiver:
    """Events API, interactivity, slash commands and URL verification, all at one address."""

    def __init__(self, signing_secret: str) -> None:
        self._secret = signing_secret.strip()

    def receive(self, body: bytes, headers: Mapping[str, str]) -> Received:
        """``body`` is exactly what came, byte for byte, after any base64 of the gateway is undone.

        401 where it is not proved, also where no secret is configured. Raises nothing. Whether Slack repeats a request
        makes no difference: who stores the inbounds knows them by their ids.
        """
        sent = {name.lower(): value for name, value in headers.items()}
        if not self._proved(body, sent):
            return REFUSED
        return self._dispatch(body.decode(), sent)

    def _proved(self, body: bytes, headers: Mapping[str, str]) -> bool:
        """Whether Slack signed these bytes within the last five minutes.

        Asked before Bolt sees the request: Bolt would parse first, and answer a timestamp that is no number with 500.
        """
        timestamp, signature = headers.get("x-slack-request-timestamp", ""), headers.get("x-slack-signature", "")
        if not self._secret or not _TIMESTAMP.fullmatch(timestamp) or not signature.isascii():
            return False
        try:
            return self._verifier.is_valid(body, timestamp, signature)
        except UnicodeDecodeError:  # Slack sends UTF-8 only
            return False

    def _dispatch(self, body: str, headers: Mapping[str, str]) -> Received:
        from slack_bolt import BoltRequest

        inbounds: list[Inbound] = []
        departures: list[Departed] = []
        try:
            context = {
                "inbounds": inbounds,
                "departures": departures,
                "sent_at": int(headers["x-slack-request-timestamp"]),
            }
            request = BoltRequest(body=body, headers=dict(headers), context=context)
        except (ValueError, TypeError, AttributeError, RecursionError):
            return UNREADABLE  # signed, but not the JSON object that Slack sends
        response = self._app.dispatch(request)
        # Bolt answers 404 to what no listener takes. To Slack that is a failure: it would repeat it, and in the end
        # switch the subscription off.
        status = 200 if response.status == 404 else response.status
        headers = {name: values[0] for name, values in response.headers.items()}
        return Received(status, response.body, headers, tuple(inbounds), next(iter(departures), None))

    @cached_property
    def _verifier(self) -> "SignatureVerifier":
        from slack_sdk.signature import SignatureVerifier

        return SignatureVerifier(self._secret)

    @cached_property
    def _app(self) -> "App":
        return _collecting_app()


def _collecting_app() -> "App":
    """A Bolt app whose listeners parse what comes and put it into the request's context."""
    from slack_bolt import Ack, App, BoltContext
    from slack_bolt.authorization import AuthorizeResult
    from slack_sdk import WebClient

    def authorize(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult:
        """No API call, and no token: Bolt took both ids from the event's first authorization."""
        return AuthorizeResult(enterprise_id=enterprise_id, team_id=team_id)

    bolt_logger = logger.getChild("bolt")
    bolt_logger.setLevel(logging.ERROR)  # below that Bolt writes out whole requests
    app = App(
        name="kabar",
        logger=bolt_logger,
        client=WebClient(),  # keeps Bolt from looking for a token in the environment
        authorize=authorize,
        process_before_response=True,  # on Lambda nothing runs after the response
        request_verification_enabled=False,  # done above, over the raw bytes
        ssl_check_enabled=False,  # it answers before anything is proved
        ignoring_self_events_enabled=False,  # parse does, and knows the bot's user from the event
    )

    @app.event(ANY)
    def take_event(body: Json, context: BoltContext) -> None:
        _collect(body, context)

    @app.action(ANY)
    @app.message_shortcut(ANY)
    @app.command(ANY)
    def take(ack: Ack, body: Json, context: BoltContext) -> None:
        _collect(body, context)
        ack()

    return app


def _collect(body: Json, context: Any) -> None:
    inbound = parse(body, now=context["sent_at"])
    if inbound is not None:
        context["inbounds"].append(inbound)
    if (gone := departed(body)) is not None:
        context["departures"].append(gone)
