"""The deployed bot in miniature: the real handlers, called as Lambda calls them, on the emulator's DynamoDB and SQS.

A small HTTP front stands where the function URL is, a loop stands where the event source mapping is. Each function runs
in a thread of its own, its execution environment.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.adapters.dynamodb_store import create_table
from handlers import deadletter, webhook, worker
from simulator import slack, telegram
from simulator.app import slack_base_url, telegram_base_url
from simulator.serving import serve
from tests.emulator import Account
from tests.packages.events import http_event, sqs_event

TABLE = "conversations"
QUEUE = {"FifoQueue": "true", "VisibilityTimeout": "60", "DeduplicationScope": "messageGroup",
         "FifoThroughputLimit": "perMessageGroupId"}  # fmt: skip


class Context:
    """What a handler is given of its invocation."""

    invoked_function_arn = "arn:aws:lambda:eu-central-1:000000000000:function:kabar"

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def get_remaining_time_in_millis(self) -> int:
        return int(self._seconds * 1000)


class Cloud:
    """``url`` is the function URL, ``answers`` what the worker said to its events. While ``deaf`` it is given none."""

    def __init__(self, account: Account, queue_url: str, seconds: float) -> None:
        self.account = account
        self.queue_url = queue_url
        self.url = ""
        self.answers: list[Any] = []
        self.deaf = False
        self._seconds = seconds
        self._stirred = asyncio.Event()
        self._webhook = ThreadPoolExecutor(1, "webhook")
        self._worker = ThreadPoolExecutor(1, "worker")
        self._sqs = account.client("sqs")
        self.app = Starlette(routes=[Route("/{path:path}", self._request, methods=["GET", "POST"])])

    async def call_webhook(self, event: dict[str, Any]) -> Any:
        loop = asyncio.get_running_loop()
        answer = await loop.run_in_executor(self._webhook, webhook.handler, event, Context(10))
        self._stirred.set()
        return answer

    async def call_worker(self, event: dict[str, Any]) -> Any:
        loop = asyncio.get_running_loop()
        answer = await loop.run_in_executor(self._worker, worker.handler, event, Context(self._seconds))
        self.answers.append(answer)
        return answer

    async def receive(self, wait: int = 1) -> list[dict[str, Any]]:
        received = await asyncio.to_thread(
            self._sqs.receive_message, QueueUrl=self.queue_url, WaitTimeSeconds=wait, AttributeNames=["All"]
        )
        messages: list[dict[str, Any]] = received.get("Messages", [])
        return messages

    async def consume(self) -> None:
        """Hand each message to the worker, and delete it where the worker did not fail it, until cancelled."""
        while True:
            self._stirred.clear()
            received = [] if self.deaf else await self.receive(0)
            for message in received:
                answer = await self.call_worker(sqs_event(message))
                if not answer["batchItemFailures"]:
                    await asyncio.to_thread(self.delete, message)
            if not received:  # what the webhook wakes comes at once, what becomes visible again a moment later
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(0.1):
                        await self._stirred.wait()

    async def call_deadletter(self, event: dict[str, Any]) -> Any:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._worker, deadletter.handler, event, Context(self._seconds))

    def delete(self, message: dict[str, Any]) -> None:
        self._sqs.delete_message(QueueUrl=self.queue_url, ReceiptHandle=message["ReceiptHandle"])

    def items(self) -> list[dict[str, Any]]:
        stored: list[dict[str, Any]] = self.account.client("dynamodb").scan(TableName=TABLE, ConsistentRead=True)[
            "Items"
        ]
        return stored

    async def close(self) -> None:
        """End both execution environments, each in its own thread, after what they are at."""
        for executor, function in ((self._webhook, webhook), (self._worker, worker)):
            await asyncio.get_running_loop().run_in_executor(executor, function.forget)
            executor.shutdown()

    async def _request(self, request: Request) -> Response:
        event = http_event(request.url.path, await request.body(), dict(request.headers), method=request.method)
        event["rawQueryString"] = request.url.query
        if cookies := event["headers"].pop("cookie", ""):
            event["cookies"] = cookies.split("; ")
        answer = json.loads(json.dumps(await self.call_webhook(event)))
        response = Response(answer["body"], answer["statusCode"], answer["headers"])
        for cookie in answer.get("cookies") or ():
            response.headers.append("Set-Cookie", cookie.replace("; Secure", ""))  # this front speaks plain HTTP
        return response


@contextlib.asynccontextmanager
async def cloud_for(
    account: Account,
    simulator_url: str,
    model_url: str,
    patch: pytest.MonkeyPatch,
    *,
    seconds: float = 60,
    secrets: Mapping[str, str | None] = MappingProxyType({}),
    more: Mapping[str, str] = MappingProxyType({}),
) -> AsyncIterator[Cloud]:
    """A fresh deployment whose platforms and model are at these addresses; its secrets lie in SSM. ``secrets`` are
    others, or None for one that is not there; ``more`` are settings of the functions."""
    create_table(account.client("dynamodb"), TABLE)
    queue_url = account.client("sqs").create_queue(QueueName="wakes.fifo", Attributes=QUEUE)["QueueUrl"]
    usual = {
        "TELEGRAM_BOT_TOKEN": telegram.TOKEN,
        "TELEGRAM_WEBHOOK_SECRET": telegram.SECRET,
        "SLACK_BOT_TOKEN": slack.BOT_TOKEN,
        "SLACK_SIGNING_SECRET": slack.SIGNING_SECRET,
        "ANTHROPIC_API_KEY": "of-no-account",
    }
    for name, value in {**usual, **secrets}.items():
        if value is None:
            continue
        account.client("ssm").put_parameter(Name=f"/kabar/test/{name}", Value=value, Type="SecureString")
    environment = {
        **account.environment,
        "KABAR_TABLE": TABLE,
        "KABAR_QUEUE_URL": queue_url,
        "KABAR_BUCKET": account.bucket(),
        "KABAR_SECRETS_PATH": "/kabar/test",
        "KABAR_ALLOWED_USERS": "*",
        "TELEGRAM_API_BASE_URL": telegram_base_url(simulator_url),
        "SLACK_API_BASE_URL": slack_base_url(simulator_url),
        "ANTHROPIC_BASE_URL": model_url,
        **more,
    }
    for name, value in environment.items():
        patch.setenv(name, value)
    cloud = Cloud(account, queue_url, seconds)
    try:
        async with serve(cloud.app) as cloud.url:
            consuming = asyncio.create_task(cloud.consume())
            try:
                yield cloud
            finally:
                consuming.cancel()
                await asyncio.gather(consuming, return_exceptions=True)
    finally:
        await cloud.close()  # after the last request: one more would begin a new environment
