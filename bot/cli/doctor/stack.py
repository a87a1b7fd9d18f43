"""A deployed stack as settings: what its worker is given, and its public address."""

from contextlib import closing
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from bot.errors import ConfigError
from handlers.aws import Aws

ADDRESS, WORKER = "TelegramWebhook", "WorkerFunction"
"""An output and a resource of infra/template.yaml."""


def read_stack(endpoint_url: str, name: str) -> tuple[dict[str, str], str]:
    """The worker's environment and the address without its path. Raises ConfigError where they can not be had."""
    try:
        with closing(Aws(endpoint_url)) as aws:
            return _read(aws, name)
    except (BotoCoreError, ClientError) as error:
        code = error.response["Error"]["Code"] if isinstance(error, ClientError) else type(error).__name__
        do = "Set AWS_PROFILE and AWS_REGION to its account and region, and name one that is there."
        raise ConfigError(f"The stack {name} can not be read ({code}). {do}") from error


def _read(aws: Aws, name: str) -> tuple[dict[str, str], str]:
    stacks = aws.client("cloudformation")
    found: Any = stacks.describe_stacks(StackName=name)["Stacks"][0]
    outputs = {each["OutputKey"]: each["OutputValue"] for each in found.get("Outputs", ())}
    resource = stacks.describe_stack_resource(StackName=name, LogicalResourceId=WORKER)
    worker = resource["StackResourceDetail"]["PhysicalResourceId"]
    function: Any = aws.client("lambda").get_function_configuration(FunctionName=worker)
    return dict(function.get("Environment", {}).get("Variables", {})), outputs.get(ADDRESS, "").removesuffix(
        "/telegram"
    )
