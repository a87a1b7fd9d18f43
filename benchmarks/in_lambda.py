"""What measurements of the built functions share: packages, and an AWS, the platforms and a model on this machine.

async with surroundings(emulator, brain) as around:
    with around.start(packages.worker) as worker: ...
"""

import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct

from bot.adapters.dynamodb_store import create_table
from scripts.build import Package, build, libraries
from scripts.pythons import find_python
from simulator import slack, telegram
from simulator.app import Simulator, serve, slack_base_url, telegram_base_url
from simulator.deliver import QUICK
from simulator.model import Brain, ModelServer
from simulator.serving import serve as serve_app
from tests.cloud import QUEUE, TABLE
from tests.emulator import Account, Emulator
from tests.packages.libraries import LAMBDA_PYTHON, this_target
from tests.packages.runtime_api import Runtime

FUNCTION_TIMEOUT = 60.0
PLAIN = Path(__file__).with_name("plain_handler.py")


class Function(Struct, frozen=True):
    """``path`` is what stands on its PYTHONPATH."""

    handler: str
    path: tuple[Path, ...]


def functions(folder: Path) -> tuple[dict[str, Function], dict[str, Package]]:
    """All that is measured, by name, and what was built of it; ``plain_sources`` is what `sam build` leaves."""
    target = this_target()
    packages = {name: build(name, target, folder / name) for name in ("webhook", "worker")}
    webhook, worker = packages["webhook"].path, packages["worker"].path
    whole = libraries(["webhook", "worker"], target, find_python(target.python), as_they_are=True)
    sources = folder / "sources"
    shutil.copytree(whole, sources, ignore=shutil.ignore_patterns("__pycache__"))
    small = folder / "small"
    small.mkdir()
    shutil.copyfile(PLAIN, small / PLAIN.name)
    (small / "empty.py").write_text("def handler(event, context): pass\n")
    (small / "only_boto3.py").write_text("import boto3\ndef handler(event, context): pass\n")
    found = {
        "empty": Function("empty.handler", (small,)),
        "boto3": Function("only_boto3.handler", (small, whole)),
        "webhook": Function("handlers.webhook.handler", (webhook,)),
        "worker": Function("handlers.worker.handler", (worker,)),
        "plain": Function(f"{PLAIN.stem}.handler", (small, whole)),
        "plain_sources": Function(f"{PLAIN.stem}.handler", (small, sources)),
    }
    return found, packages


class Surroundings(Struct):
    account: Account
    simulator: Simulator
    model: ModelServer
    queue_url: str
    environment: Mapping[str, str]
    """What the template gives our functions, and the plain one its settings; the secrets of ours lie in SSM."""

    def start(self, function: Function, more: Mapping[str, str] | None = None) -> Runtime:
        """Not yet started: that is what ``with`` does."""
        path = {"PYTHONPATH": ":".join(map(str, function.path))}
        environment = {**self.environment, **path, **(more or {})}
        return Runtime(function.path[0], function.handler, LAMBDA_PYTHON, environment, FUNCTION_TIMEOUT)


@asynccontextmanager
async def surroundings(emulator: Emulator, brain: Brain) -> AsyncIterator[Surroundings]:
    """Of one owner, who has stored nothing yet but the secrets."""
    simulator, model = Simulator(pace=QUICK), ModelServer(brain)
    with emulator.account() as account:
        create_table(account.client("dynamodb"), TABLE)
        queue_url = account.client("sqs").create_queue(QueueName="wakes.fifo", Attributes=QUEUE)["QueueUrl"]
        secrets = {
            "TELEGRAM_BOT_TOKEN": telegram.TOKEN,
            "TELEGRAM_WEBHOOK_SECRET": telegram.SECRET,
            "SLACK_BOT_TOKEN": slack.BOT_TOKEN,
            "SLACK_SIGNING_SECRET": slack.SIGNING_SECRET,
            "ANTHROPIC_API_KEY": "of-no-account",
        }
        for name, value in secrets.items():
            account.client("ssm").put_parameter(Name=f"/kabar/bench/{name}", Value=value, Type="SecureString")
        async with serve(simulator) as url, serve_app(model.app) as model_url:
            ours = {
                "KABAR_TABLE": TABLE,
                "KABAR_QUEUE_URL": queue_url,
                "KABAR_BUCKET": account.bucket(),
                "KABAR_SECRETS_PATH": "/kabar/bench",
                "KABAR_ALLOWED_USERS": "*",
                "KABAR_LOG_LEVEL": "WARNING",
                "TELEGRAM_BOT_USERNAME": telegram.USERNAME,
                "SLACK_API_BASE_URL": slack_base_url(url),
            }
            shared = {"TELEGRAM_API_BASE_URL": telegram_base_url(url), "ANTHROPIC_BASE_URL": model_url}
            environment = {**account.environment, **ours, **shared}
            yield Surroundings(account, simulator, model, queue_url, environment)


def plain_settings() -> dict[str, str]:
    """The plain function's own, which stand in its environment."""
    return {
        "TELEGRAM_BOT_TOKEN": telegram.TOKEN,
        "SLACK_BOT_TOKEN": slack.BOT_TOKEN,
        "SLACK_SIGNING_SECRET": slack.SIGNING_SECRET,
        "ANTHROPIC_API_KEY": "of-no-account",
        "TABLE": TABLE,
        "MODEL": "claude-sonnet-5-5",
    }
