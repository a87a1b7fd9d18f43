"""The worker function: SQS wakes in, turns out, a partial batch response back.

The queue's visibility timeout must be longer than the function's own, so a dead worker's wake would stay hidden for
minutes. Each wake is therefore made visible again after HIDE seconds unless the living worker hides it further.
"""

import asyncio
import logging
import math
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from botocore.exceptions import BotoCoreError, ClientError
from msgspec.structs import replace

from bot.adapters.eventbridge_scheduler import EventBridgeScheduler
from bot.adapters.file_blobs import FileBlobs
from bot.adapters.lambda_sandbox import CONFIG as PATIENT
from bot.adapters.lambda_sandbox import LambdaSandbox
from bot.adapters.s3_blobs import S3Blobs
from bot.adapters.s3_folder import NotCopied, S3Folder
from bot.deadline import Deadline
from bot.errors import Retry
from bot.logs import about
from bot.mcp.servers import Servers
from bot.ports import Blobs
from bot.sandbox.port import Sandbox
from bot.tasks import first_of, uncut
from bot.toolkit import Tool
from bot.turn import Outcome, Turns
from handlers.aws import CONFIG, Aws, Secrets
from handlers.bots import bot_settings, current_settings, environment_of, every_bot, secrets_of
from handlers.door import aws_parts, aws_seal, aws_secrets
from handlers.loop import close_loop, run
from handlers.provider import load_client
from handlers.servers import make_servers
from handlers.settings import Settings
from handlers.snapshot import prepare
from handlers.watching import begin_watching, watched
from handlers.workshop import Parts, Workshop, local_sandbox, make_workshop

log = logging.getLogger(__name__)

HIDE = 60  # seconds
HIDE_AGAIN_EVERY = 20.0
LONGEST_HIDE = 12 * 3600 - 900  # SQS counts twelve hours from when a wake was received, an invocation ago
RETRY_AFTER = 5.0


class WakeBody(msgspec.Struct, frozen=True):
    """``bot`` is "" for the one without a name."""

    conversation: str
    reason: str = ""
    bot: str = ""


Do = Callable[[Turns, str], Awaitable[Outcome]]
"""What is to be done with the conversation of a wake."""


@dataclass
class _Made:
    """A workshop, what it was made of, and how many turns run in it."""

    made_of: tuple[Settings, Servers, int]
    workshop: Workshop
    turns: int


class Bench:
    """One bot's place in an execution environment. Its workshop is made again when a secret was rotated, or a server
    offers something else.

    ``values`` is its environment. ``tools`` are offered beside the built-in ones.
    """

    def __init__(
        self, settings: Settings, aws: Aws, secrets: Secrets, values: Mapping[str, str], tools: Sequence[Tool] = ()
    ) -> None:
        self._settings = settings
        self._tools = tools
        self._aws = aws
        self._secrets = secrets
        self._values = values
        self._store, self._wake, self._clock = aws_parts(settings, aws)
        self._blobs = kept_blobs(settings, aws)
        self._sandbox = _sandbox(settings, aws)
        self._scheduler = EventBridgeScheduler(
            lambda: aws.client("scheduler"),
            settings.kabar_schedule_group,
            settings.kabar_schedule_role,
            settings.kabar_schedule_target,
            self._clock,
            settings.kabar_bot,
        )
        self._servers: tuple[Mapping[str, str], Servers] | None = None
        self._made: _Made | None = None
        self._agent_dir = ""
        self._copied: Path | None = None

    @asynccontextmanager
    async def workshop(self) -> AsyncIterator[Workshop]:
        """For one turn, which keeps it to its end whatever others, beside it in this process, have made anew."""
        mine = await self._taken()
        try:
            yield mine.workshop
        finally:
            mine.turns -= 1
            if mine is not self._made and not mine.turns:
                await mine.workshop.close()

    async def rest(self) -> None:
        """Nothing stays open while this environment is frozen."""
        if self._servers:
            await self._servers[1].rest()

    async def _taken(self) -> _Made:
        """The newest, with one turn more in it."""
        self._agent_dir = self._agent_dir or await self._own_folder()
        secrets = await self._secrets.read()
        values = {**self._values, **secrets_of(secrets, self._settings.kabar_bot)}
        settings = replace(current_settings(self._settings, secrets), kabar_agent_dir=self._agent_dir)
        servers = await self._current_servers(values)
        made_of = (settings, servers, servers.version)
        if (old := self._made) and old.made_of == made_of:
            old.turns += 1
            return old
        parts = Parts(
            store=self._store,
            blobs=self._blobs,
            wake=self._wake,
            scheduler=self._scheduler,
            sandbox=self._sandbox,
            clock=self._clock,
            values=values,
            servers=servers,
            seal=aws_seal(settings, self._aws),
        )
        made = self._made = _Made(made_of, make_workshop(settings, parts, more_tools=self._tools), turns=1)
        if old and not old.turns:
            await old.workshop.close()
        return made

    async def _own_folder(self) -> str:
        """The owner's folder: a copy of what lies under the prefix of this deployment's bucket, once for each execution
        environment, so that no prompt changes while it lives; the packaged one where there is none or it can not be
        had."""
        bucket, prefix = self._settings.kabar_bucket, self._settings.kabar_agent_prefix
        if not (bucket and prefix):
            return self._settings.kabar_agent_dir
        copy = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="kabar-agent-"))
        try:
            await asyncio.to_thread(S3Folder(lambda: self._aws.client("s3"), bucket, prefix).copy, copy)
        except NotCopied as why:
            log.warning("prefix=<%s> | the packaged instructions and skills are used: %s", prefix, why)
            await asyncio.to_thread(shutil.rmtree, copy, ignore_errors=True)
            return self._settings.kabar_agent_dir
        self._copied = copy
        return str(copy)

    async def _current_servers(self, values: Mapping[str, str]) -> Servers:
        if self._servers is None or self._servers[0] != values:
            before, servers = self._servers, make_servers(self._agent_dir, values, self._store, self._clock, idle=0)
            self._servers = (values, servers)
            if before:
                await before[1].close()
        await self._servers[1].load()
        return self._servers[1]

    async def close(self) -> None:
        if self._made is not None:
            await self._made.workshop.close()
        if self._servers:
            await self._servers[1].close()
        if self._copied is not None:
            await asyncio.to_thread(shutil.rmtree, self._copied, ignore_errors=True)


class Worker:
    """One execution environment's worker, for every bot of ``environment``. ``tools`` are as for ``Bench``."""

    def __init__(self, environment: Mapping[str, str], tools: Sequence[Tool] = ()) -> None:
        every = every_bot(environment)
        settings = every[""]
        self._queue_url = settings.kabar_queue_url
        self._aws = Aws(settings.aws_endpoint_url)
        secrets = aws_secrets(settings, self._aws)
        self._benches = {
            name: Bench(each, self._aws, secrets, environment_of(environment, name), tools)
            for name, each in every.items()
        }

    async def work(self, records: list[dict[str, Any]], seconds: float) -> list[str]:
        """Answer each wake in order; returns the ids of the messages to be delivered again."""
        deadline = Deadline(seconds)
        return await self.each(records, lambda turns, conversation: turns.handle(conversation, deadline))

    async def each(self, records: list[dict[str, Any]], do: Do, *, hide: bool = True) -> list[str]:
        """FIFO: behind a failed message nothing of its group is done; other groups go on.

        ``hide`` is for wakes of our own queue; those of another come back when that one's visibility timeout ends.
        """
        failed: list[str] = []
        blocked: set[str] = set()
        for record in records:
            group = record["attributes"]["MessageGroupId"]
            if group in blocked or not await self._one(record, do, hide):
                blocked.add(group)
                failed.append(record["messageId"])
        return failed

    async def _one(self, record: dict[str, Any], do: Do, hide: bool) -> bool:
        try:
            wake = msgspec.json.decode(record["body"], type=WakeBody)
        except msgspec.DecodeError:
            log.error("wake=<%s> | not a wake of ours, dropped", record["messageId"])
            return True
        bench = self._benches.get(wake.bot)
        if bench is None:  # the message stays in the store, and its sweep wakes again once the bot is back
            log.error("bot=<%s> | a wake for a bot that KABAR_BOTS does not name, dropped", wake.bot)
            return True
        with about(bot=wake.bot):
            return await self._answered(wake, bench, record["receiptHandle"] if hide else None, do)

    async def _answered(self, wake: WakeBody, bench: Bench, receipt: str | None, do: Do) -> bool:
        try:
            async with bench.workshop() as workshop:
                outcome = await first_of(do(workshop.turns, wake.conversation), self._keep_hidden(receipt))
        except Retry as error:
            log.warning("conversation=<%s> | again in a moment: %s", wake.conversation, error)
            outcome = Outcome(again_in=RETRY_AFTER)
        except Exception:  # a record begins here: the batch goes on, the queue counts this one's tries
            log.exception("conversation=<%s> | the wake failed", wake.conversation)
            outcome = Outcome(again_in=RETRY_AFTER)
        await bench.rest()
        if outcome.again_in is None:
            return True
        await self._hide(receipt, min(math.ceil(outcome.again_in), LONGEST_HIDE))
        return False

    async def close(self) -> None:
        for bench in self._benches.values():
            await bench.close()
        self._aws.close()

    def clients(self, services: Sequence[str]) -> Aws:
        """Those of these services made too, although nobody needs them yet."""
        for service in services:
            self._aws.client(service, PATIENT if service == "lambda" else CONFIG)
        return self._aws

    async def _keep_hidden(self, receipt: str | None) -> None:
        while True:
            await uncut(self._hide(receipt, HIDE))  # or it might come after the last word on when the wake returns
            await asyncio.sleep(HIDE_AGAIN_EVERY)

    async def _hide(self, receipt: str | None, seconds: int) -> None:
        """Best effort: where it fails, the wake comes back early or late, and the lease keeps order."""
        if receipt is None:
            return
        try:
            await asyncio.to_thread(
                self._aws.client("sqs").change_message_visibility,
                QueueUrl=self._queue_url,
                ReceiptHandle=receipt,
                VisibilityTimeout=seconds,
            )
        except (BotoCoreError, ClientError) as error:
            log.warning("error=<%s> | a wake's visibility could not be changed", type(error).__name__)


def kept_blobs(settings: Settings, aws: Aws) -> Blobs:
    if settings.kabar_bucket:
        return S3Blobs(lambda: aws.client("s3"), settings.kabar_bucket, settings.kabar_bot)
    return FileBlobs(settings.kabar_files)


def _sandbox(settings: Settings, aws: Aws) -> Sandbox:
    if settings.kabar_sandbox_function:
        return LambdaSandbox(lambda: aws.client("lambda", PATIENT), settings.kabar_sandbox_function, settings.kabar_bot)
    return local_sandbox(settings)


_worker: list[Worker] = []


def environment_worker() -> Worker:
    """This execution environment's worker, made of its settings at the first event."""
    if not _worker:
        begin_watching(bot_settings(os.environ))
        _worker.append(Worker(os.environ))
    return _worker[0]


@watched
def handler(event: Any, context: Any) -> dict[str, Any]:
    """Lambda's entry point, for SQS FIFO events with ReportBatchItemFailures."""
    seconds = context.get_remaining_time_in_millis() / 1000
    return batch_response(run(environment_worker().work(event["Records"], seconds)))


def batch_response(failed: list[str]) -> dict[str, Any]:
    return {"batchItemFailures": [{"itemIdentifier": each} for each in failed]}


def forget() -> None:
    """Be as new at the next event: connections, secrets and loop end. For the thread that calls ``handler``."""
    while _worker:
        run(_worker.pop().close())
    close_loop()


def _warm() -> Aws:
    import bot.channels.slack.home
    import bot.channels.slack.send
    import bot.channels.telegram.send  # what some events load

    if any(Path(each.kabar_agent_dir, "mcp.json").is_file() for each in every_bot(os.environ).values()):
        import bot.adapters.mcp_client  # noqa: F401
    load_client()
    return environment_worker().clients(("ssm", "s3", "scheduler", "lambda"))


prepare(_warm)
