"""``kabar serve``: the webhook app and the worker in one process, behind any HTTPS proxy or tunnel."""

import asyncio
import logging
import signal
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

from starlette.applications import Starlette

from bot.cli.environment import environment
from bot.cli.menu import offering_commands
from bot.cli.missing import missing_for_all, missing_for_serve
from bot.cli.wiring import GRACE, INVOCATION, local, retire_unused
from bot.errors import ConfigError
from bot.ports import Blobs, Clock, Store, Wake
from bot.toolkit import Tool
from handlers.aws import Aws, Secrets
from handlers.door import Door, aws_doors, aws_parts, aws_secrets
from handlers.settings import Settings, many_workspaces
from handlers.webhook import application
from handlers.worker import Worker, kept_blobs
from simulator.serving import serve

log = logging.getLogger(__name__)

CONSUMERS = 8
PAUSE = 5.0
"""Seconds until the queue is asked again after it failed."""


class OneDoor:
    """Settings that do not change while the process lives."""

    def __init__(self, door: Door) -> None:
        self._door = door

    async def current(self) -> Door:
        return self._door

    async def renewed(self) -> Door:
        return self._door


async def serve_webhooks(
    every: Mapping[str, Settings], host: str, port: int, tools: Sequence[Tool] = (), *, a2a: bool = False
) -> None:
    """``every`` bot by its name, "" for the one without. ``tools`` are offered beside the built-in ones, by the process
    that is webhook and worker at once; ``a2a``: other agents may call too, the bot without a name."""
    if missing := missing_for_all(every, lambda settings: missing_for_serve(settings, a2a=a2a)):
        raise ConfigError("\n".join(missing))
    settings = every[""]
    if settings.kabar_table or settings.kabar_queue_url:
        await _on_aws(every, host, port, a2a=a2a)
        return
    async with AsyncExitStack() as stack:
        bots = {name: await stack.enter_async_context(local(each, tools=tools)) for name, each in every.items()}
        for each in every.values():
            await stack.enter_async_context(offering_commands(each))
        app = application(OneDoor(bots[""].door), {name: OneDoor(bot.door) for name, bot in bots.items() if name})
        if a2a:
            bot = bots[""]
            _add_agents(app, settings, bot.store, bot.wake, bot.clock, bot.blobs, None)
        await _until_stopped(app, host, port, every)


def _add_agents(
    app: Starlette, settings: Settings, store: Store, wake: Wake, clock: Clock, blobs: Blobs, secrets: Secrets | None
) -> None:
    """``/a2a`` and the card of this agent, behind what is there. Raises ConfigError."""
    try:
        from bot.channels.a2a.server import PATH
        from bot.channels.a2a.server import application as agents
        from handlers.a2a import SecretKeys, SetKeys, make_desk
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"{error.name} is missing. For --a2a install it, in Kabar's folder: pip install --editable '.[a2a]'"
        ) from error
    keys = SecretKeys(settings, secrets) if secrets else SetKeys(settings)
    app.mount("/", agents(make_desk(settings, store, wake, clock, blobs, streams=True), keys))
    print(f"Other agents: {PATH}", flush=True)


async def _on_aws(every: Mapping[str, Settings], host: str, port: int, *, a2a: bool) -> None:
    """DynamoDB and SQS as on Lambda, with this process in Lambda's place."""
    settings = every[""]
    aws = Aws(settings.aws_endpoint_url)
    worker = Worker(environment())
    doors = {name: aws_doors(each, aws) for name, each in every.items()}
    app = application(doors[""], {name: each for name, each in doors.items() if name})
    if a2a:
        store, wake, clock = aws_parts(settings, aws)
        secrets = aws_secrets(settings, aws)
        _add_agents(app, settings, store, wake, clock, kept_blobs(settings, aws), secrets)
    stopping = asyncio.Event()
    queue = settings.kabar_queue_url
    consumers = [asyncio.create_task(_consume(aws, queue, worker, stopping)) for _ in range(CONSUMERS)]
    sweeps = [asyncio.create_task(retire_unused(each, *aws_parts(each, aws))) for each in every.values()]
    try:
        async with AsyncExitStack() as stack:
            for each in every.values():
                await stack.enter_async_context(offering_commands(each))
            await _until_stopped(app, host, port, every)
    finally:
        stopping.set()
        await asyncio.wait(consumers, timeout=GRACE)
        for task in (*consumers, *sweeps):
            task.cancel()
        await asyncio.gather(*consumers, *sweeps, return_exceptions=True)
        await worker.close()
        aws.close()


async def _until_stopped(app: Starlette, host: str, port: int, every: Mapping[str, Settings]) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, stopped.set)
    try:
        async with serve(app, host, port) as address:
            for name, settings in every.items():
                way = f"{address}/{name}" if name else address
                page = f", {way}/slack/install" if many_workspaces(settings) else ""
                print(f"Listening on {way}/telegram and {way}/slack/events{page}", flush=True)
            await stopped.wait()
    except OSError as error:
        raise ConfigError(f"Port {port} of {host} can not be used: {error.strerror}. Name another: --port.") from error


async def _consume(aws: Aws, queue_url: str, worker: Worker, stopping: asyncio.Event) -> None:
    """Answer wakes until ``stopping``, whatever fails meanwhile."""
    while not stopping.is_set():
        try:
            await _take_one(aws.client("sqs"), queue_url, worker)
        except Exception as error:  # where a wake begins: one fault must not make the bot deaf
            log.warning("error=<%s> | the queue is asked again in a moment", type(error).__name__)
            await asyncio.sleep(PAUSE)


async def _take_one(sqs: Any, queue_url: str, worker: Worker) -> None:
    """As Lambda's event source does: one message at a time, deleted only when its wake was answered."""
    received = await asyncio.to_thread(
        sqs.receive_message,
        QueueUrl=queue_url,
        WaitTimeSeconds=2,
        MessageSystemAttributeNames=["All"],
    )
    for message in received.get("Messages", []):
        if not await worker.work([_record(message)], INVOCATION):
            await asyncio.to_thread(sqs.delete_message, QueueUrl=queue_url, ReceiptHandle=message["ReceiptHandle"])


def _record(message: dict[str, Any]) -> dict[str, Any]:
    """A received message in the shape Lambda hands it on."""
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message["Attributes"],
    }
