"""What Lambda's event source mapping does for the wakes: the emulator's own runs a FIFO queue one message at a time."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import boto3
from botocore.config import Config

from tests.emulator import REGION, Account
from tests.packages.events import sqs_event

AT_ONCE = 8
PATIENT = Config(read_timeout=900, connect_timeout=5, retries={"total_max_attempts": 1}, max_pool_connections=AT_ONCE)
"""An invocation is waited for to its end and never made twice."""


class EventSource:
    """One message to one invocation of ``function``, deleted where it was answered; else it comes again in its time.

    ``worn`` is the function's role, with which Lambda reads the queue. ``failed`` is what invocations raised.
    """

    def __init__(self, account: Account, worn: boto3.session.Session, queue_url: str, function: str) -> None:
        self._sqs: Any = worn.client("sqs", endpoint_url=account.endpoint, region_name=REGION, config=PATIENT)
        self._lambda = boto3.session.Session(
            account.environment["AWS_ACCESS_KEY_ID"], "none", region_name=REGION
        ).client("lambda", endpoint_url=account.endpoint, config=PATIENT)
        self._queue_url = queue_url
        self._function = function
        self.failed: list[str] = []

    async def consume(self) -> None:
        """Until cancelled."""
        places = asyncio.Semaphore(AT_ONCE)
        async with asyncio.TaskGroup() as invocations:
            while True:
                await places.acquire()
                message = await self._receive()
                if message is None:
                    places.release()
                else:
                    invocations.create_task(self._hand_over(message, places))

    async def _receive(self) -> dict[str, Any] | None:
        asked = {"QueueUrl": self._queue_url, "WaitTimeSeconds": 1, "AttributeNames": ["All"]}
        messages = (await asyncio.to_thread(self._sqs.receive_message, **asked)).get("Messages", [])
        return messages[0] if messages else None

    async def _hand_over(self, message: dict[str, Any], places: asyncio.Semaphore) -> None:
        try:
            payload = json.dumps(sqs_event(message))
            answer = await asyncio.to_thread(self._lambda.invoke, FunctionName=self._function, Payload=payload)
            said = json.loads(answer["Payload"].read() or "null")
            if "FunctionError" in answer:
                self.failed.append(json.dumps(said)[:500])
            elif not said["batchItemFailures"]:
                receipt = message["ReceiptHandle"]
                await asyncio.to_thread(self._sqs.delete_message, QueueUrl=self._queue_url, ReceiptHandle=receipt)
        finally:
            places.release()

    def close(self) -> None:
        self._sqs.close()
        self._lambda.close()


@asynccontextmanager
async def consuming(source: EventSource) -> AsyncIterator[None]:
    """For as long as the block runs."""
    task = asyncio.create_task(source.consume())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        source.close()
