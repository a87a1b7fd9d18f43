"""``kabar serve``: the webhook app and the worker in one process, behind any HTTPS proxy or tunnel."""

import asyncio
import signal
from typing import Any

from bot.cli.wiring import INVOCATION, local
from handlers.aws import Aws
from handlers.door import Door, aws_doors
from handlers.settings import Settings
from handlers.webhook import DoorSource, application
from handlers.worker import Worker
from simulator.serving import serve

CONSUMERS = 8


class OneDoor:
    """Settings that do not change while the process lives."""

    def __init__(self, door: Door) -> None:
        self._door = door

    async def current(self) -> Door:
        return self._door

    async def renewed(self) -> Door:
        return self._door


async def serve_webhooks(settings: Settings, host: str, port: int) -> None:
    if settings.kabar_table or settings.kabar_queue_url:
        await _on_aws(settings, host, port)
        return
    async with local(settings) as bot:
        await _until_stopped(OneDoor(bot.door), host, port)


async def _on_aws(settings: Settings, host: str, port: int) -> None:
    """DynamoDB and SQS as on Lambda, with this process in Lambda's place."""
    aws = Aws(settings.aws_endpoint_url)
    worker = Worker(settings)
    consumers = [asyncio.create_task(_consume(aws, settings.kabar_queue_url, worker)) for _ in range(CONSUMERS)]
    try:
        await _until_stopped(aws_doors(settings, aws), host, port)
    finally:
        for consumer in consumers:
            consumer.cancel()
        await asyncio.gather(*consumers, return_exceptions=True)


async def _until_stopped(doors: DoorSource, host: str, port: int) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, stopped.set)
    async with serve(application(doors), host, port) as address:
        print(f"Listening on {address}/telegram and {address}/slack/events", flush=True)
        await stopped.wait()


async def _consume(aws: Aws, queue_url: str, worker: Worker) -> None:
    """Poll the queue as Lambda's event source does: one message at a time, deleted only when its wake was answered."""
    sqs = aws.client("sqs")
    while True:
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
