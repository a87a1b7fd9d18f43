"""What makes the packages quick to load leaves their libraries as they are: the same names, errors and addresses."""

import asyncio
import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

import botocore
import pytest
from botocore.session import get_session

from scripts.build import SERVICES
from scripts.lighten import ANTHROPIC, lighten
from simulator.model_reply import Break, Refusal
from simulator.script import overloaded, reply, scripted, text
from tests.agentdir.tree import tree
from tests.emulator import REGION, Account
from tests.packages.conftest import Packages
from tests.packages.libraries import LAMBDA_PYTHON, this_target

pytestmark = pytest.mark.packages

REGIONS = ("eu-central-1", "us-gov-west-1", "cn-north-1", "ap-southeast-3")

NAMES = """
import importlib, json, pkgutil
import anthropic

def is_plain(name):  # pydantic leaves there what it makes of a generic type
    return name.isidentifier() and name[0] != "_"

def told(value):  # of a stand-in for a library that is not installed nothing may be asked
    return value.__qualname__ if issubclass(type(value), type) else type(value).__qualname__

found = {}
for module in pkgutil.walk_packages(anthropic.__path__, "anthropic."):
    if module.ispkg and "_vendor" not in module.name:
        package = importlib.import_module(module.name)
        found[module.name] = {name: told(getattr(package, name)) for name in dir(package) if is_plain(name)}
"""

LOADED = """
import json, sys
import handlers.{function}
print(json.dumps(sorted(sys.modules)))
"""

ADDRESSES = """
import json, sys
from botocore.session import get_session

def address(service, region):
    client = get_session().create_client(service, region, aws_access_key_id="a", aws_secret_access_key="b")
    return client.meta.endpoint_url

services, regions = json.loads(sys.argv[1])
addresses = {f"{service} {region}": address(service, region) for service in services for region in regions}
"""

FAULTS = """
import asyncio, json, sys
from bot.adapters.anthropic_model import AnthropicModel, client
from bot.errors import ModelError
from bot.ports import Prompt

async def fault(model):
    try:
        await model.reply(prompt, lambda text: None)
    except ModelError as error:
        return f"{type(error).__name__} {error.retry_after if hasattr(error, 'retry_after') else ''}".strip()
    return "none"

async def faults():
    model = AnthropicModel(client("of-no-account", sys.argv[1]), "claude-sonnet-5-5")
    return [await fault(model) for _ in range(int(sys.argv[2]))]

prompt = Prompt(system=[], tools=[], messages=[{"role": "user", "content": [{"type": "text", "text": "hello"}]}],
                max_tokens=100, allow_tools=True)
print(json.dumps(asyncio.run(faults())))
"""


def run(package: Path, code: str, *arguments: str) -> Any:
    """What code says as JSON in an interpreter that has nothing but the package."""
    environment = {"PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [str(LAMBDA_PYTHON), "-c", code, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def worker(packages: Packages) -> Path:
    return packages("worker", this_target().arch).path


@pytest.fixture
def webhook(packages: Packages) -> Path:
    return packages("webhook", this_target().arch).path


def loaded(package: Path, function: str) -> list[str]:
    modules: list[str] = run(package, LOADED.format(function=function))
    return modules


def tops(modules: list[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


def test_the_webhook_loads_no_sdk_but_botocore_before_an_event_needs_one(webhook: Path) -> None:
    modules = loaded(webhook, "webhook")

    assert tops(modules) & {"boto3", "s3transfer", "slack_bolt", "slack_sdk", "pydantic", "markdown_it"} == set()
    assert {"botocore", "mangum"} <= tops(modules)


def test_the_worker_loads_no_platform_no_server_s_protocol_and_of_the_model_s_sdk_only_the_client(worker: Path) -> None:
    modules = loaded(worker, "worker")

    unused = {"boto3", "s3transfer", "telegram", "httpx", "slack_sdk", "aiohttp", "mcp", "PIL", "cryptography"}
    assert tops(modules) & unused == set()
    assert len([name for name in modules if name.startswith("anthropic.")]) < 60
    assert [name for name in modules if name.startswith(("anthropic.types.", "anthropic.resources."))] == []


def test_every_name_of_the_model_s_sdk_is_where_it_was_and_is_what_it_was(worker: Path) -> None:
    light = run(worker, f"{NAMES}\nprint(json.dumps(found))")
    whole: dict[str, Any] = {}
    exec(NAMES, whole)

    assert light.keys() == whole["found"].keys()
    for package, names in whole["found"].items():
        defined = {(name, what) for name, what in names.items() if what != "module"}  # those are there once imported
        assert defined <= light[package].items(), package


async def test_the_model_s_errors_are_told_apart_as_ever(worker: Path) -> None:
    """What makes them is loaded with the first of them."""
    steps = (
        overloaded("7"),
        Refusal(401, "authentication_error", "invalid x-api-key"),
        Refusal(400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum"),
        Refusal(404, "not_found_error", "File expired", code="file_expired"),
        reply(text("Half a word"), broken=Break("error", kind="overloaded_error")),
        text("Hello."),
    )
    async with scripted(*steps) as model:
        told = await asyncio.to_thread(run, worker, FAULTS, model.url, str(len(steps)))

    assert told == [
        "ModelUnavailable 7.0",
        "ModelRefusedRequest",
        "PromptTooLong",
        "ModelRefusedRequest",
        "ModelUnavailable None",
        "none",
    ]


def test_what_is_called_of_aws_is_described_as_it_was_but_for_the_words(webhook: Path) -> None:
    shipped, known = webhook / "botocore" / "data", Path(botocore.__file__).parent / "data"
    models = sorted(file.relative_to(shipped) for file in shipped.rglob("*/*/*.json"))

    assert {model.parts[0] for model in models} == SERVICES
    for model in models:
        light, whole = (shipped / model).read_bytes(), known / model
        packed = whole.with_name(f"{whole.name}.gz")
        source = gzip.decompress(packed.read_bytes()) if packed.exists() else whole.read_bytes()
        assert json.loads(light) == without_words(json.loads(source)), model


def without_words(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: "" if name == "documentation" and isinstance(each, str) else without_words(each)
            for name, each in value.items()
        }
    return [without_words(each) for each in value] if isinstance(value, list) else value


CALLS = """
import json, os, sys
from handlers.aws import Aws
os.environ.update(AWS_ACCESS_KEY_ID=sys.argv[2], AWS_SECRET_ACCESS_KEY="none", AWS_DEFAULT_REGION=sys.argv[3])
aws = Aws(sys.argv[1])
s3, bucket = aws.client("s3"), sys.argv[4]
s3.put_object(Bucket=bucket, Key="a", Body=b"words", ContentType="text/plain")
asked = {
    "s3": s3.get_object(Bucket=bucket, Key="a")["Body"].read().decode(),
    "dynamodb": aws.client("dynamodb").list_tables()["TableNames"],
    "sqs": aws.client("sqs").list_queues().get("QueueUrls", []),
    "ssm": aws.client("ssm").get_parameters_by_path(Path="/kabar")["Parameters"],
    "lambda": aws.client("lambda").list_functions()["Functions"],
    "scheduler": aws.client("scheduler").list_schedules()["Schedules"],
    "sts": aws.client("sts").get_caller_identity()["Account"],
    "kms": aws.client("kms").list_keys()["Keys"],
    "cloudformation": aws.client("cloudformation").list_stacks()["StackSummaries"],
}
print(json.dumps(asked, default=str))
"""


def test_every_service_answers_what_is_asked_with_the_lighter_library(worker: Path, aws: Account) -> None:
    account, bucket = aws.environment["AWS_ACCESS_KEY_ID"], aws.bucket()

    asked = run(worker, CALLS, aws.endpoint, account, REGION, bucket)

    assert asked.keys() == SERVICES
    assert (asked["s3"], asked["sts"]) == ("words", account)


def test_every_service_that_is_called_has_the_address_that_it_had(webhook: Path) -> None:
    asked = json.dumps([sorted(SERVICES), REGIONS])
    light = run(webhook, f"{ADDRESSES}\nprint(json.dumps(addresses))", asked)

    whole = {}
    for region in REGIONS:
        for service in SERVICES:
            client = get_session().create_client(service, region, aws_access_key_id="a", aws_secret_access_key="b")
            whole[f"{service} {region}"] = client.meta.endpoint_url
            client.close()
    assert light == whole


def test_a_library_that_changed_where_it_is_made_lighter_ends_the_build_with_what_to_look_at(tmp_path: Path) -> None:
    edit = ANTHROPIC[0]
    tree(tmp_path / "anthropic", {edit.file: "for __name in sorted(__all__):\n    pass\n"})

    with pytest.raises(ValueError, match=r"__init__\.py of anthropic is not as scripts/lighten\.py knows it"):
        lighten(tmp_path, SERVICES)
