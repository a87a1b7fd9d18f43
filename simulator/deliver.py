"""The platforms' way to a bot: HTTP requests, repeated as Telegram and Slack repeat them.

Telegram keeps each update until the bot answers 2xx, one after the other within a chat, several chats at once. Slack
sends each event on its own, waits three seconds, and repeats it three times. Slack's Socket Mode does the same over a
websocket the bot opened.
"""

import asyncio
import hashlib
import hmac
import json
import secrets
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, Literal, Protocol
from urllib.parse import urlencode

import aiohttp
from msgspec import Struct
from msgspec.structs import replace

from simulator.world import Delivery, Json, Message, World


class Pace(Struct, frozen=True):
    """How long the platforms wait, in seconds. The defaults are theirs, where they publish them.

    ``telegram_delays`` come between repeats, the last one over and over, until ``telegram_patience`` has passed.
    ``slack_delays`` come before each repeat; there are as many repeats as delays.
    """

    telegram_timeout: float = 60
    telegram_delays: tuple[float, ...] = (1, 2, 4, 8, 16, 32, 60)
    telegram_patience: float = 24 * 3600
    slack_timeout: float = 3
    slack_delays: tuple[float, ...] = (1, 60, 300)


QUICK = Pace(
    telegram_timeout=2,
    telegram_delays=(0.02, 0.05, 0.1),
    telegram_patience=10,
    slack_timeout=1,
    slack_delays=(0.02, 0.05, 0.1),
)
"""For tests: the same behaviour without the waiting."""
PATIENT = replace(QUICK, slack_timeout=60)
"""For tests of what Slack sends once: on a machine that is busy the answer may take longer than Slack would wait."""


class Outcome(Struct, frozen=True):
    """What became of one request. ``status`` 0 is no answer; ``reason`` is then Slack's word for why."""

    status: int
    body: bytes = b""
    reason: str = "http_error"
    final: bool = False
    """The bot asked not to be sent this again."""

    @property
    def accepted(self) -> bool:
        return 200 <= self.status < 300

    @property
    def detail(self) -> str:
        if self.accepted:
            return ""
        return f"the bot answered {self.status}" if self.status else _REASONS[self.reason]


_REASONS = {
    "http_timeout": "the bot did not answer in time",
    "connection_failed": "the bot can not be reached",
}


class Tasks:
    """What runs beside the requests, held so that it is neither forgotten nor left behind."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def close(self) -> None:
        """Cancel everything and wait for its end. A bug in a task is raised here."""
        running = tuple(self._running)
        for task in running:
            task.cancel()
        for task in running:
            with suppress(asyncio.CancelledError):
                await task


class Courier:
    """One HTTP client for all requests to the bot."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    async def post(self, url: str, body: bytes, headers: dict[str, str], timeout: float) -> Outcome:
        if self._session is None:
            self._session = aiohttp.ClientSession()
        limit = aiohttp.ClientTimeout(total=timeout)
        try:
            async with self._session.post(url, data=body, headers=headers, timeout=limit) as response:
                final = response.headers.get("X-Slack-No-Retry") == "1"
                return Outcome(response.status, await response.read(), final=final)
        except TimeoutError:
            return Outcome(0, reason="http_timeout")
        except aiohttp.ClientError:
            return Outcome(0, reason="connection_failed")

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None


def note_outcome(world: World, outcome: Outcome) -> None:
    """Any HTTP answer shows that the bot is there."""
    if outcome.status:
        world.set_bot("connected")
    elif world.bot.status != "restarting":
        world.set_bot("down", outcome.detail)


# Telegram.


class Update(Struct, frozen=True):
    """``body`` is the Update object. ``message`` is what a person sees the delivery of, if anything."""

    id: int
    chat: str
    body: Json
    message: Message | None
    at: float


class TelegramWebhook:
    """Posts pending updates to the webhook: one lane per chat, lanes side by side.

    ``pending`` is shared with the long poll: an update leaves it when it is accepted or given up.
    """

    def __init__(self, world: World, tasks: Tasks, courier: Courier, pace: Pace) -> None:
        self.pace = pace
        self.reply: Callable[[Json], Awaitable[object]] | None = None
        """Carries out a method call that came as the answer to an update."""
        self.pending: dict[int, Update] = {}
        self.url = ""
        self.secret = ""
        self.max_connections = 40
        self.last_error = ""
        self.last_error_at = 0.0
        self._world = world
        self._tasks = tasks
        self._courier = courier
        self._lanes: dict[str, asyncio.Task[None]] = {}
        self._slots = asyncio.Semaphore(self.max_connections)

    def set(self, url: str, secret: str, max_connections: int = 40) -> None:
        """Deliver there from now on, what is pending first. An empty url stops it; nothing pending is lost."""
        for lane in self._lanes.values():
            lane.cancel()
        self._lanes.clear()
        self.url, self.secret, self.max_connections = url, secret, max_connections
        self._slots = asyncio.Semaphore(max_connections)
        for update in self.pending.values():
            self._open_lane(update.chat)

    def add(self, update: Update) -> None:
        self.pending[update.id] = update
        self._open_lane(update.chat)

    def _open_lane(self, chat: str) -> None:
        lane = self._lanes.get(chat)
        if self.url and (lane is None or lane.done()):
            self._lanes[chat] = self._tasks.start(self._run_lane(chat))

    async def _run_lane(self, chat: str) -> None:
        while update := next((update for update in self.pending.values() if update.chat == chat), None):
            await self._deliver(update)
            self.pending.pop(update.id, None)
            self._world.wake()

    async def _deliver(self, update: Update) -> None:
        attempts = 0
        while update.id in self.pending:
            outcome = await self._post(update)
            note_outcome(self._world, outcome)
            attempts += 1
            delay = self.pace.telegram_delays[min(attempts, len(self.pace.telegram_delays)) - 1]
            state = self._judge(update, outcome, delay)
            if update.message:
                self._world.deliver(update.message, Delivery(state, outcome.status, attempts, outcome.detail))
            if state != "repeating":
                await self._obey(outcome)
                return
            await asyncio.sleep(delay)

    def _judge(self, update: Update, outcome: Outcome, delay: float) -> Literal["accepted", "repeating", "refused"]:
        if outcome.accepted:
            return "accepted"
        self.last_error, self.last_error_at = outcome.detail, self._world.now()
        late = self._world.now() + delay > update.at + self.pace.telegram_patience
        return "refused" if late else "repeating"

    async def _post(self, update: Update) -> Outcome:
        headers = {"Content-Type": "application/json"}
        if self.secret:
            headers["X-Telegram-Bot-Api-Secret-Token"] = self.secret
        async with self._slots:
            body = json.dumps(update.body).encode()
            return await self._courier.post(self.url, body, headers, self.pace.telegram_timeout)

    async def _obey(self, outcome: Outcome) -> None:
        """The answer to an update may be a method call. Its result is lost, as on the real platform."""
        call = _json_object(outcome.body) if outcome.accepted else {}
        if self.reply and isinstance(call.get("method"), str):
            await self.reply(call)


def _json_object(body: bytes) -> Json:
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


# Slack.


class Socket(Protocol):
    """A bot's open Socket Mode connection."""

    async def ask(self, envelope: Json, timeout: float) -> Outcome:
        """Send an envelope and wait for its acknowledgement."""


class SlackEvents:
    """Sends events and interactions to the bot's request URL, or through its socket where one is open."""

    def __init__(self, world: World, tasks: Tasks, courier: Courier, pace: Pace) -> None:
        self.pace = pace
        self.url = ""
        self.signing_secret = ""
        self.sockets: list[Socket] = []
        self.reply: Callable[[Json, Json], None] | None = None
        """Shows what a slash command, by its form, is answered with."""
        self.held: asyncio.Event | None = None
        """Nothing is sent before this is set: of a bot that we start ourselves we know when it listens."""
        self._world = world
        self._tasks = tasks
        self._courier = courier
        self._parts: dict[tuple[str, str], list[Delivery]] = {}
        """The deliveries of one message: a mention in a channel has two."""

    def send_event(self, payload: Json, message: Message | None) -> None:
        """Send an ``event_callback`` payload, repeated until accepted or given up."""
        self._tasks.start(self._deliver("events_api", payload, self._track(message), message))

    def send_interaction(self, payload: Json) -> None:
        """Send an interaction payload. Slack does not repeat these."""
        self._tasks.start(self._deliver("interactive", payload, Delivery(), None))

    def send_command(self, form: Json) -> None:
        """Send a slash command, whose fields are all text. Slack does not repeat these either."""
        self._tasks.start(self._deliver("slash_commands", form, Delivery(), None))

    def _track(self, message: Message | None) -> Delivery:
        delivery = Delivery()
        if message:
            self._parts.setdefault((message.chat, message.id), []).append(delivery)
            self._show(message)
        return delivery

    async def _deliver(self, kind: str, payload: Json, delivery: Delivery, message: Message | None) -> None:
        if self.held:
            await self.held.wait()
        delays = self.pace.slack_delays if kind == "events_api" else ()
        envelope_id = secrets.token_hex(16)
        reason = ""
        for retry, delay in enumerate((0.0, *delays)):
            if delay:
                await asyncio.sleep(delay)
            outcome = await self._attempt(kind, payload, envelope_id, retry, reason)
            note_outcome(self._world, outcome)
            reason = outcome.reason
            delivery.attempts += 1
            delivery.status, delivery.detail = outcome.status, outcome.detail
            over = outcome.final or retry == len(delays)
            delivery.state = "accepted" if outcome.accepted else "refused" if over else "repeating"
            self._show(message)
            if delivery.state != "repeating":
                break
        if kind == "slash_commands" and outcome.accepted and self.reply:
            self.reply(payload, _json_object(outcome.body))
        if kind != "events_api" and not outcome.accepted:
            what = "tap" if kind == "interactive" else "command"
            self._world.notice(f"The {what} had no effect: {outcome.detail}.", level="error")

    async def _attempt(self, kind: str, payload: Json, envelope_id: str, retry: int, reason: str) -> Outcome:
        if self.sockets:
            envelope: Json = {"envelope_id": envelope_id, "type": kind, "payload": payload}
            envelope["accepts_response_payload"] = kind != "events_api"
            if kind == "events_api":
                envelope |= {"retry_attempt": retry, "retry_reason": "timeout" if retry else ""}
            return await self.sockets[-1].ask(envelope, self.pace.slack_timeout)
        if not self.url:
            return Outcome(0, reason="connection_failed", final=True)
        retries = {"X-Slack-Retry-Num": str(retry), "X-Slack-Retry-Reason": reason} if retry else {}
        body, content_type = _encoded(kind, payload)
        headers = {"Content-Type": content_type, **self.signature(body), **retries}
        return await self._courier.post(self.url, body, headers, self.pace.slack_timeout)

    def signature(self, body: bytes) -> dict[str, str]:
        """The headers that prove Slack sent this body now."""
        timestamp = str(int(self._world.now()))
        base = b"v0:" + timestamp.encode() + b":" + body
        digest = hmac.new(self.signing_secret.encode(), base, hashlib.sha256).hexdigest()
        return {"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": f"v0={digest}"}

    def _show(self, message: Message | None) -> None:
        """A message is as far as its slowest event."""
        if message is None:
            return
        order = ("refused", "repeating", "pending", "accepted")
        key = (message.chat, message.id)
        worst = min(self._parts[key], key=lambda delivery: order.index(delivery.state))
        self._world.deliver(message, worst)
        if all(delivery.state in ("refused", "accepted") for delivery in self._parts[key]):
            del self._parts[key]


def _encoded(kind: str, payload: Json) -> tuple[bytes, str]:
    if kind == "slash_commands":
        return urlencode(payload).encode(), "application/x-www-form-urlencoded"
    text = json.dumps(payload, separators=(",", ":"), ensure_ascii=False)
    if kind == "interactive":
        return urlencode({"payload": text}).encode(), "application/x-www-form-urlencoded"
    return text.encode(), "application/json"
