"""The webhook function: one ASGI app, behind Mangum on Lambda and uvicorn on a laptop.

Answers: 200 stored, or nothing of ours; 400, 413 and 415 what no platform sends; 401 unproved; 503 not stored: send it
again.
"""

import logging
import os
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, cast

import msgspec
from mangum import Mangum
from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route

from bot.channels.telegram.parse import parse, tap_reply, typing_reply
from bot.channels.telegram.receive import SECRET_HEADER, proved
from bot.errors import ConfigError, KabarError, StoreUnavailable
from bot.intake import accept, sweep, sweep_unused
from bot.keeping import DAY
from bot.logs import about
from bot.messages import Arrival, Json
from bot.metrics import refused, tell
from bot.ports import Receipt
from handlers.aws import Aws
from handlers.bots import every_bot
from handlers.door import AwsParts, Door, Doors, DoorSource, aws_parts, aws_seal, aws_secrets
from handlers.installs import install_routes
from handlers.loop import close_loop, event_loop, run
from handlers.settings import Settings
from handlers.snapshot import prepare
from handlers.watching import begin_watching, watched

log = logging.getLogger(__name__)

OVERDUE = 120.0
"""Seconds after which a message that nobody took is woken again: SQS loses nothing, but a bug of ours may."""

MAX_BODY = 1_000_000  # bytes; an update or event with every field full is far below


def application(doors: DoorSource, others: Mapping[str, DoorSource] = MappingProxyType({})) -> Starlette:
    """``others`` are the doors of bots with a name: theirs is at ``/<name>/telegram`` and ``/<name>/slack/events``."""

    named = [Mount(f"/{name}", routes=_routes(each, name)) for name, each in others.items()]
    return Starlette(
        routes=[*named, *_routes(doors)],
        exception_handlers={StoreUnavailable: _try_again, ConfigError: _try_again, HTTPException: _refuse},
    )


def _routes(doors: DoorSource, bot: str = "") -> list[Route]:
    """One bot's; its name is in the lines of its log."""

    async def telegram(request: Request) -> Response:
        began = time.monotonic()
        door = await _proved_door(doors, request.headers.get(SECRET_HEADER))
        update = _json_object(await _body(request), request.headers.get("content-type", ""))
        inbound = parse(update, await door.telegram.me()) if door.telegram else None
        signs = inbound is not None and await door.signs(inbound)
        receipt = Receipt.IGNORED
        if inbound:
            inbound = replace(inbound, arrival=Arrival(round(door.clock.now() * 1000), signed=signs))
            with about(bot=bot):
                receipt = await accept(inbound, door.store, door.wake, door.clock)
        # The reply's own body is a method call: it ends a button's spinner, or is the first sign of life.
        if "callback_query" in update:
            return JSONResponse(tap_reply(update))
        if inbound and signs and receipt is Receipt.NEW:
            took = max(round((time.monotonic() - began) * 1000), 1)
            with about(bot=bot, turn=inbound.reference, conversation=inbound.conversation):
                tell({"FirstSign": took}, "ms=<%d> | typing is shown", took)
            return JSONResponse(typing_reply(inbound))
        return Response()

    async def slack(request: Request) -> Response:
        from bot.channels.slack.parse import sign_reply  # as all of Slack's, with its first event

        body = await _body(request)
        headers = dict(request.headers)
        for source in (doors.current, doors.renewed):
            door = await source()
            if door.slack is None:
                continue
            received = door.slack.receive(body, headers)
            if received.status != 401:
                for inbound in received.inbounds:
                    with about(bot=bot):
                        await accept(inbound, door.store, door.wake, door.clock)
                    if (sign := sign_reply(inbound)) and await door.signs(inbound):
                        return JSONResponse(sign)
                if (gone := received.departed) and door.installing:
                    await door.store.uninstall(gone.team, gone.at)
                    log.info("team=<%s> | uninstalled", gone.team)
                if received.status >= 400:
                    refused(received.status)
                return Response(received.body, received.status, received.headers)
        raise HTTPException(401)

    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok")

    return [
        Route("/telegram", telegram, methods=["POST"]),
        Route("/slack/events", slack, methods=["POST"]),
        *install_routes(doors),
        Route("/healthz", healthz),
    ]


async def _proved_door(doors: DoorSource, secret: str | None) -> Door:
    for source in (doors.current, doors.renewed):
        door = await source()
        if door.telegram is not None and proved(door.telegram_secret, secret):
            return door
    raise HTTPException(401)


async def _body(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise HTTPException(413)
    return body


def _json_object(body: bytes, content_type: str) -> Json:
    if content_type.partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415)
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise HTTPException(400) from None
    if not isinstance(value, dict):
        raise HTTPException(400)
    return value


async def _try_again(_: Request, error: Exception) -> Response:
    log.error("error=<%s> | not stored, the platform will send it again", error)
    refused(503)
    return Response(status_code=503)


async def _refuse(_: Request, refusal: Exception) -> Response:
    if not isinstance(refusal, HTTPException):
        raise TypeError("Registered for HTTPException alone.")
    refused(refusal.status_code)
    return Response(status_code=refusal.status_code, headers=refusal.headers)


class Bot(NamedTuple):
    """One of those that this execution environment serves."""

    settings: Settings
    doors: Doors
    parts: AwsParts


class Function(NamedTuple):
    """What this execution environment keeps between events; the bot without a name is called ""."""

    http: Mangum
    aws: Aws
    bots: dict[str, Bot]


_function: list[Function] = []


class Invocation(Protocol):
    """Of Lambda's context, what is used here."""

    invoked_function_arn: str


@watched
def handler(event: Any, context: Invocation) -> Any:
    """Lambda's entry point: function URL and HTTP API events, and the schedule's ``{"sweep": true}``.

    All is made at the first event: importing this module asks nobody anything, and reads the environment only where a
    snapshot is taken.
    """
    event_loop()
    function = _made()
    if due := event.get("due"):
        return run(_fire(function, due.get("bot", ""), due, context.invoked_function_arn))
    if event.get("sweep"):
        return run(_sweep(function, context.invoked_function_arn))
    event = {**event, "headers": event.get("headers") or {}}  # a REST API sends null for none
    return function.http(event, cast(Any, context))


def _made() -> Function:
    if not _function:
        _function.append(_for(os.environ))
    return _function[0]


def _for(environment: Mapping[str, str]) -> Function:
    every = every_bot(environment)
    common = every[""]
    begin_watching(common)
    aws = Aws(common.aws_endpoint_url)
    secrets = aws_secrets(common, aws)
    bots = {}
    for name, settings in every.items():
        parts = aws_parts(settings, aws)
        bots[name] = Bot(settings, Doors(settings, secrets, *parts, aws_seal(settings, aws)), parts)
    others = {name: bot.doors for name, bot in bots.items() if name}
    return Function(Mangum(application(bots[""].doors, others), lifespan="off"), aws, bots)


async def _sweep(function: Function, arn: str) -> Json:
    """Every bot's. What keeps one from being swept keeps no other. Needs no secret: to read them every few minutes
    while nobody talks would be paid for."""
    swept = {"woken": 0, "late": 0, "unused": 0}
    failed: Exception | None = None
    for name, (settings, _, (store, wake, clock)) in function.bots.items():
        try:
            swept["woken"] += await sweep(OVERDUE, store, wake, clock)
            now = int(clock.now())
            late = await store.overdue_reminders(now - DAY, now - int(OVERDUE))
            for conversation, id, at in late:  # its schedule was lost, or it failed too often
                await _fire(function, name, {"conversation": conversation, "id": id, "at": at}, arn)
            swept["late"] += len(late)
            if keep := settings.kabar_keep_days * DAY:
                swept["unused"] += await sweep_unused(keep, store, wake, clock)
        except KabarError as error:
            log.error("bot=<%s> | not swept: %s", name, error)
            failed = error
    if failed:
        raise failed
    return swept


async def _fire(function: Function, name: str, due: Json, arn: str) -> Json:
    """A schedule calls this function itself, whose name is ``arn``: the next time of a reminder calls it again."""
    from bot.adapters.eventbridge_scheduler import EventBridgeScheduler  # not loaded where a message comes in
    from bot.reminding import fire

    bot = function.bots.get(name)
    if bot is None:
        log.error("bot=<%s> | a reminder of a bot that is not configured", name)
        return {"receipt": "no such bot"}
    settings, _, (store, wake, clock) = bot
    group, role = settings.kabar_schedule_group, settings.kabar_schedule_role
    scheduler = EventBridgeScheduler(lambda: function.aws.client("scheduler"), group, role, arn, clock, name)
    receipt = await fire(due["conversation"], due["id"], due["at"], store, scheduler, wake, clock)
    return {"receipt": receipt.value if receipt else "nothing to be said"}


def forget() -> None:
    """Be as new at the next event: connections, secrets and loop end. For the thread that calls ``handler``."""
    while _function:
        _function.pop().aws.close()
    close_loop()


def _warm() -> Aws:
    import bot.adapters.eventbridge_scheduler
    import bot.channels.slack.receive
    import bot.reminding  # noqa: F401  # what some events load

    aws = _made().aws
    for service in ("ssm", "scheduler"):
        aws.client(service)
    return aws


prepare(_warm)
