"""The webhook function: one ASGI app, behind Mangum on Lambda and uvicorn on a laptop.

Answers: 200 stored, or nothing of ours; 400, 413 and 415 what no platform sends; 401 unproved; 503 not stored: send it
again.
"""

import logging
import os
from typing import Any, NamedTuple, Protocol, cast

import msgspec
from mangum import Mangum
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from bot import logs
from bot.adapters.dynamodb_store import DynamoDBStore
from bot.channels.telegram.parse import parse, tap_reply, typing_reply
from bot.channels.telegram.receive import SECRET_HEADER, proved
from bot.errors import ConfigError, StoreUnavailable
from bot.intake import accept, sweep
from bot.messages import Inbound, Json
from bot.ports import Receipt
from handlers.aws import Aws, Secrets
from handlers.door import Door, Doors, aws_parts
from handlers.loop import close_loop, event_loop, run
from handlers.settings import Settings, read_settings
from handlers.snapshot import prepare

log = logging.getLogger(__name__)

OVERDUE = 120.0
"""Seconds after which a message that nobody took is woken again: SQS loses nothing, but a bug of ours may."""

DAY = 24 * 3600

MAX_BODY = 1_000_000  # bytes; an update or event with every field full is far below


class DoorSource(Protocol):
    async def current(self) -> Door: ...

    async def renewed(self) -> Door: ...


def application(doors: DoorSource) -> Starlette:
    async def telegram(request: Request) -> Response:
        door = await _proved_door(doors, request.headers.get(SECRET_HEADER))
        update = _json_object(await _body(request), request.headers.get("content-type", ""))
        inbound = parse(update, await door.telegram.me()) if door.telegram else None
        receipt = await _accept(inbound, door) if inbound else Receipt.IGNORED
        # The reply's own body is a method call: it ends a button's spinner, or is the first sign of life.
        if "callback_query" in update:
            return JSONResponse(tap_reply(update))
        if inbound and inbound.kind == "message" and inbound.addressed and receipt is Receipt.NEW:
            return JSONResponse(typing_reply(inbound))
        return Response()

    async def slack(request: Request) -> Response:
        body = await _body(request)
        headers = dict(request.headers)
        for source in (doors.current, doors.renewed):
            door = await source()
            if door.slack is None:
                continue
            received = door.slack.receive(body, headers)
            if received.status != 401:
                for inbound in received.inbounds:
                    await _accept(inbound, door)
                return Response(received.body, received.status, received.headers)
        raise HTTPException(401)

    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok")

    return Starlette(
        routes=[
            Route("/telegram", telegram, methods=["POST"]),
            Route("/slack/events", slack, methods=["POST"]),
            Route("/healthz", healthz),
        ],
        exception_handlers={StoreUnavailable: _try_again, ConfigError: _try_again},
    )


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


async def _accept(inbound: Inbound, door: Door) -> Receipt:
    receipt = await accept(inbound, door.store, door.wake, door.clock)
    log.info("conversation=<%s>, id=<%s>, receipt=<%s> | inbound", inbound.conversation, inbound.id, receipt.value)
    return receipt


async def _try_again(_: Request, error: Exception) -> Response:
    log.error("%s | not stored, the platform will send it again", error)
    return Response(status_code=503)


class Function(NamedTuple):
    """What this execution environment keeps between events."""

    http: Mangum
    doors: Doors
    aws: Aws
    settings: Settings
    store: DynamoDBStore


_function: list[Function] = []


class Invocation(Protocol):
    """Of Lambda's context, what is used here."""

    invoked_function_arn: str


def handler(event: Any, context: Invocation) -> Any:
    """Lambda's entry point: function URL and HTTP API events, and the schedule's ``{"sweep": true}``.

    All is made at the first event: importing this module asks nobody anything, and reads the environment only where a
    snapshot is taken.
    """
    event_loop()
    function = _made()
    if due := event.get("due"):
        return run(_fire(function, due, context.invoked_function_arn))
    if event.get("sweep"):
        return run(_sweep(function, context.invoked_function_arn))
    return function.http(event, cast(Any, context))


def _made() -> Function:
    if not _function:
        settings = read_settings(os.environ)
        logs.set_up(settings.kabar_log_level)
        aws = Aws(settings.aws_endpoint_url)
        store, wake, clock = aws_parts(settings, aws)
        doors = Doors(settings, Secrets(aws, settings.kabar_secrets_path, clock), store, wake, clock)
        _function.append(Function(Mangum(application(doors), lifespan="off"), doors, aws, settings, store))
    return _function[0]


async def _sweep(function: Function, arn: str) -> Json:
    door = await function.doors.current()
    woken = await sweep(OVERDUE, door.store, door.wake, door.clock)
    now = int(door.clock.now())
    late = await function.store.overdue_reminders(now - DAY, now - int(OVERDUE))
    for conversation, id, at in late:  # its schedule was lost, or it failed too often
        await _fire(function, {"conversation": conversation, "id": id, "at": at}, arn)
    return {"woken": woken, "late": len(late)}


async def _fire(function: Function, due: Json, arn: str) -> Json:
    """A schedule calls this function itself, whose name is ``arn``: the next time of a reminder calls it again."""
    from bot.adapters.eventbridge_scheduler import EventBridgeScheduler  # not loaded where a message comes in
    from bot.reminding import fire

    door, settings = await function.doors.current(), function.settings
    group, role = settings.kabar_schedule_group, settings.kabar_schedule_role
    scheduler = EventBridgeScheduler(lambda: function.aws.client("scheduler"), group, role, arn, door.clock)
    receipt = await fire(due["conversation"], due["id"], due["at"], door.store, scheduler, door.wake, door.clock)
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
