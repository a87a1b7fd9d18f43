"""One bot as it is deployed, with everything around it: AWS from the emulator, both platforms, the model.

                   ┌── platforms ──http──> front ──event──> webhook process ──┐
    plan decides ──┤                                                          ├──> observer ──> the world
                   └── queue ──> event source ──event──> worker processes ────┘

The event source does what Lambda's mapping does for this queue: one message at a time to an idle execution environment,
deleted where it was answered, and otherwise left to come back when its visibility timeout ends.
"""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from bot.adapters.anthropic_model import request as model_request
from bot.adapters.dynamodb_store import DynamoDBStore, create_table
from bot.clock import SystemClock
from bot.messages import Asked, Inbound, Person, Place
from bot.prompt import PromptBuilder
from bot.toolkit import Toolbox
from chaos.conversation import Conversation, Verdict
from chaos.inside import TOOLS, TOOLS_URL, Jump, Role
from chaos.observer import Forward, Judge, Observer
from chaos.plan import Plan
from chaos.process import Killed, Process
from chaos.scripts import CASE
from simulator import slack, telegram
from simulator.app import Simulator
from simulator.model import ModelServer
from simulator.model_reply import Step
from simulator.model_rules import faults
from simulator.serving import serve
from tests.cloud import QUEUE, TABLE
from tests.emulator import Account, Emulator
from tests.packages.events import http_event, sqs_event

SECRETS = {
    "TELEGRAM_BOT_TOKEN": telegram.TOKEN,
    "TELEGRAM_WEBHOOK_SECRET": telegram.SECRET,
    "SLACK_BOT_TOKEN": slack.BOT_TOKEN,
    "SLACK_SIGNING_SECRET": slack.SIGNING_SECRET,
    "ANTHROPIC_API_KEY": "of-no-account",
}
SECRETS_PATH = "/kabar/chaos"

AGENT = Path(__file__).parent / "agent"
"""The folder that an owner writes: one subagent."""

WEBHOOK_SECONDS = 10
"""What infra/template.yaml gives the webhook function."""
SETTLE_WAIT = 480.0
"""Seconds for a conversation to come to rest: several recoveries of a minute each, on a busy machine."""
EMPTY_WAIT = 90.0
"""Seconds for what is left in the queue when all conversations are at rest."""


class Deployment:
    """``log`` is the folder of what the processes print. Made by ``deployed``."""

    def __init__(self, account: Account, plan: Plan, log: Path) -> None:
        self.simulator = Simulator()
        self.url = ""
        """Of the observer."""
        self.front = Starlette(routes=[Route("/{path:path}", self._request, methods=["GET", "POST"])])
        self._account = account
        self._plan = plan
        self._log = log
        self._sqs = account.client("sqs", attempts=3)
        self._dynamodb = account.client("dynamodb", attempts=3)
        self._numbers = itertools.count(1)
        self._processes: dict[int, Process] = {}
        self._conversations: dict[int, Conversation] = {}
        self._idle: list[Process] = []
        self._places = asyncio.Semaphore(plan.at_once)
        self._webhook: Process | None = None
        self._webhook_free = asyncio.Lock()
        self._tasks = asyncio.TaskGroup()
        self._queue_url = ""
        self._bucket = ""

    # Setting up

    def set_up(self) -> None:
        """Make what infra/template.yaml makes."""
        create_table(self._dynamodb, TABLE)
        self._bucket = self._account.bucket()
        self._queue_url = self._sqs.create_queue(QueueName="wakes.fifo", Attributes=QUEUE)["QueueUrl"]
        ssm = self._account.client("ssm")
        for name, value in SECRETS.items():
            ssm.put_parameter(Name=f"{SECRETS_PATH}/{name}", Value=value, Type="SecureString")

    def observer(self, aws: Forward, judge: Judge) -> Observer:
        model = ModelServer(self._reply, smallest_prefix=0)
        tools = Starlette(routes=[Route("/{name}", self._tool, methods=["POST"])])
        platforms = self.simulator.app
        services: dict[str, ASGIApp] = {
            "aws": aws, "telegram": platforms, "slack": platforms, "model": model.app, "tools": tools
        }  # fmt: skip
        return Observer(services, judge, self._processes.__getitem__)

    def _start(self, role: Role, jump: Jump | None = None) -> Process:
        number = next(self._numbers)
        base = f"{self.url}/{number}"
        environment = {
            **self._account.environment,
            "AWS_ENDPOINT_URL": f"{base}/aws",
            "KABAR_TABLE": TABLE,
            "KABAR_QUEUE_URL": self._queue_url,
            "KABAR_BUCKET": self._bucket,
            "KABAR_SECRETS_PATH": SECRETS_PATH,
            "KABAR_ALLOWED_USERS": "*",
            "KABAR_AGENT_DIR": str(AGENT),
            "TELEGRAM_API_BASE_URL": f"{base}/telegram",
            "SLACK_API_BASE_URL": f"{base}/slack/api/",
            "ANTHROPIC_BASE_URL": f"{base}/model",
            TOOLS_URL: f"{base}/tools",
        }
        process = self._processes[number] = Process(role, environment, self._log / f"{role}-{number}.log", jump)
        return process

    # The world's answers

    def _reply(self, request: dict[str, Any]) -> Step:
        words = json.dumps([message for message in request["messages"] if message["role"] == "user"])
        (case, *_) = CASE.findall(words)
        return self._conversations[int(case.removeprefix("case-"))].answer(request)

    async def _tool(self, request: Request) -> Response:
        return PlainTextResponse(f"{request.path_params['name']}: done")

    # Platforms to webhook

    async def _request(self, request: Request) -> Response:
        """The function URL. A plan may hand the same request over again later."""
        event = http_event(request.url.path, await request.body(), dict(request.headers), method=request.method)
        now, *later = self._plan.deliveries()
        await asyncio.sleep(now)
        for seconds in later:
            self._tasks.create_task(self._call_webhook_in(seconds, event))
        answer = await self._call_webhook(event)
        return Response(answer["body"], answer["statusCode"], answer["headers"])

    async def _call_webhook_in(self, seconds: float, event: dict[str, Any]) -> None:
        await asyncio.sleep(seconds)
        await self._call_webhook(event)

    async def _call_webhook(self, event: dict[str, Any]) -> Any:
        async with self._webhook_free:
            if self._webhook is None:
                self._webhook = self._start("webhook")
            return await self._webhook.call(event, WEBHOOK_SECONDS)

    # Queue to workers

    async def consume(self) -> None:
        """The event source, until cancelled."""
        async with self._tasks:
            if self._plan.sweep_every:
                self._tasks.create_task(self._sweep())
            while True:
                await self._places.acquire()
                message = await self._receive()
                if message is None:
                    self._places.release()
                else:
                    self._tasks.create_task(self._hand_over(message))

    async def _receive(self) -> dict[str, Any] | None:
        received = await asyncio.to_thread(
            self._sqs.receive_message, QueueUrl=self._queue_url, WaitTimeSeconds=1, AttributeNames=["All"]
        )
        messages: list[dict[str, Any]] = received.get("Messages", [])
        return messages[0] if messages else None

    async def _hand_over(self, message: dict[str, Any]) -> None:
        conversation = self._conversation_of(json.loads(message["Body"])["conversation"])
        times = self._plan.handovers(conversation)
        try:
            if not times:
                await self._delete(message)
                return
            first, *more = times
            await asyncio.sleep(first)
            for seconds in more:
                self._tasks.create_task(self._invoke_in(seconds, message, conversation))
            await self._invoke(message, conversation)
        finally:
            self._places.release()

    async def _invoke_in(self, seconds: float, message: dict[str, Any], conversation: Conversation) -> None:
        await asyncio.sleep(seconds)
        await self._invoke(message, conversation)

    async def _invoke(self, message: dict[str, Any], conversation: Conversation) -> None:
        """One message to one execution environment, as Lambda's mapping does it with ReportBatchItemFailures."""
        process = self._idle.pop() if self._idle else self._start("worker", self._plan.jump(conversation))
        process.serving = conversation
        conversation.invocations += 1
        try:
            answer = await process.call(sqs_event(message), self._plan.seconds)
        except Killed:
            if not process.killed:
                conversation.remarks.append("a worker ended by itself")
            self._tasks.create_task(process.close())
            return
        finally:
            conversation.first_over.set()
        process.serving = None
        self._put_away(process)
        if answer is not None and not answer["batchItemFailures"]:
            await self._delete(message)
        if conversation.said_all and await self._is_at_rest(conversation):
            conversation.settled.set()

    def _put_away(self, process: Process) -> None:
        if self._plan.fresh:
            self._tasks.create_task(process.close())
        else:
            self._idle.append(process)

    async def _delete(self, message: dict[str, Any]) -> None:
        with suppress(self._sqs.exceptions.ReceiptHandleIsInvalid):  # it was handed over twice, and is gone
            await asyncio.to_thread(
                self._sqs.delete_message, QueueUrl=self._queue_url, ReceiptHandle=message["ReceiptHandle"]
            )

    async def _sweep(self) -> None:
        """The schedule's event."""
        while True:
            await asyncio.sleep(self._plan.sweep_every)
            await self._call_webhook({"sweep": True})

    # Conversations

    def add(self, conversation: Conversation) -> None:
        conversation.join(self.simulator)
        self._conversations[conversation.number] = conversation

    async def hold(self, conversation: Conversation) -> None:
        """From the first question until everything is at rest, or never will be."""
        await conversation.say()
        try:
            async with asyncio.timeout(SETTLE_WAIT):
                await conversation.settled.wait()
        except TimeoutError:
            conversation.remarks.append(f"not at rest within {SETTLE_WAIT:.0f} s")

    async def empty(self) -> None:
        """Until no wake is left: what comes late may still do harm."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        try:
            async with asyncio.timeout(EMPTY_WAIT):
                while any(int(count) for count in (await self._attributes(names)).values()):  # noqa: ASYNC110
                    await asyncio.sleep(1)  # a queue can only be asked again
        except TimeoutError:
            return  # the verdicts say what became of it

    async def _attributes(self, names: Sequence[str]) -> dict[str, str]:
        answer = await asyncio.to_thread(self._sqs.get_queue_attributes, QueueUrl=self._queue_url, AttributeNames=names)
        attributes: dict[str, str] = answer["Attributes"]
        return attributes

    async def verdict(self, conversation: Conversation) -> Verdict:
        return conversation.verdict(await self._unsendable(conversation))

    async def _unsendable(self, conversation: Conversation) -> list[str]:
        """What the model would refuse of the next request, made of the record as it is now."""
        entries = [each.entry for each in await self._store().record(conversation.key, 1)]
        place = Place(conversation.key, conversation.chat)
        asked = Asked(turn="next", said=(Inbound(place, "next", "next", Person("next"), 0, text="And now?"),))
        prompt = PromptBuilder("", Toolbox(TOOLS), 1_000).build([*entries, asked], "next", allow_tools=True)
        return faults(model_request(prompt, "any"))

    async def _is_at_rest(self, conversation: Conversation) -> bool:
        key = {"pk": {"S": f"C#{conversation.key}"}, "sk": {"S": "HEAD"}}
        head = await asyncio.to_thread(self._dynamodb.get_item, TableName=TABLE, Key=key, ConsistentRead=True)
        return "turn" not in head.get("Item", {}) and not await self._store().inbox(conversation.key)

    def _store(self) -> DynamoDBStore:
        return DynamoDBStore(self._dynamodb, TABLE, SystemClock())

    def _conversation_of(self, key: str) -> Conversation:
        return next(each for each in self._conversations.values() if each.key == key)

    async def close(self) -> None:
        await asyncio.gather(*(process.close() for process in self._processes.values()))


@asynccontextmanager
async def deployed(emulator: Emulator, plan: Plan, log: Path) -> AsyncIterator[Deployment]:
    """A fresh deployment in an account of its own, for as long as the block runs."""
    with emulator.account() as account:
        deployment = Deployment(account, plan, log)
        await asyncio.to_thread(deployment.set_up)
        aws = Forward(emulator.endpoint)
        async with serve(deployment.observer(aws, plan)) as deployment.url, serve(deployment.front) as front:
            deployment.simulator.connect(front)
            try:
                async with asyncio.TaskGroup() as group:  # a fault of ours in the event source ends everything
                    consuming = group.create_task(deployment.consume())
                    yield deployment
                    consuming.cancel()
            finally:
                await deployment.close()
                await deployment.simulator.close()
                await aws.close()
