"""The whole template, deployed on the emulator: CloudFormation, roles that are enforced, and AWS's own runtime client.

Four things are not as on AWS. The functions run as ``provided.al2023``, whose bootstrap starts awslambdaric, since the
emulator's own Python would bring its own libraries. GetParametersByPath is granted on everything, since the emulator
sees no path in it. Schedules are granted in the default group, since it takes every group for that one. And the
function URL is a path of the emulator's address.
"""

import asyncio
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3

from tests.emulator import REGION, Account
from tests.packages.libraries import LAMBDA_PYTHON
from tests.packages.template import read_template

CODE = "code-of-the-functions"
DEPLOY_WAIT = 60.0

BOOTSTRAP = f"""#!/bin/sh
cd "$LAMBDA_TASK_ROOT"
PYTHONPATH="$LAMBDA_TASK_ROOT" exec {LAMBDA_PYTHON} -m awslambdaric "$_HANDLER"
"""


SESSION = "seen-from-outside"


async def deploy(account: Account, packages: Mapping[str, Path], parameters: Mapping[str, str]) -> str:
    """Create the stack from these packages, by the functions' names in the template; returns the function URL."""
    return await asyncio.to_thread(_deploy, account, packages, parameters)


def wearing(account: Account, role: str) -> boto3.session.Session:
    """AWS as one of the deployed functions sees it, by its role's name in the template. The role stays as it is but for
    who may wear it."""
    stack = account.client("cloudformation").describe_stack_resource(StackName="kabar", LogicalResourceId=role)
    name = stack["StackResourceDetail"]["PhysicalResourceId"]
    number = account.client("sts").get_caller_identity()["Account"]
    may_wear = {"Effect": "Allow", "Principal": {"AWS": number}, "Action": "sts:AssumeRole"}
    account.client("iam").update_assume_role_policy(
        RoleName=name, PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [may_wear]})
    )
    arn = account.client("iam").get_role(RoleName=name)["Role"]["Arn"]
    worn = account.client("sts").assume_role(RoleArn=arn, RoleSessionName=SESSION)["Credentials"]
    return boto3.session.Session(worn["AccessKeyId"], worn["SecretAccessKey"], worn["SessionToken"], REGION)


@contextmanager
def http_let_in(account: Account) -> Iterator[None]:
    """The emulator speaks no TLS, and the bucket's policy lets in nothing else: for as long as the block runs."""
    s3, bucket = account.client("s3"), outputs_of(account)["FilesName"]
    policy = s3.get_bucket_policy(Bucket=bucket)["Policy"]
    s3.delete_bucket_policy(Bucket=bucket)
    try:
        yield
    finally:
        s3.put_bucket_policy(Bucket=bucket, Policy=policy)


def outputs_of(account: Account) -> dict[str, str]:
    stack = account.client("cloudformation").describe_stacks(StackName="kabar")["Stacks"][0]
    return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}


def _deploy(account: Account, packages: Mapping[str, Path], parameters: Mapping[str, str]) -> str:
    template = for_the_emulator(read_template())
    s3 = account.client("s3")
    s3.create_bucket(Bucket=CODE, CreateBucketConfiguration={"LocationConstraint": REGION})
    for function, package in packages.items():
        s3.put_object(Bucket=CODE, Key=function, Body=_zipped(package))
        template["Resources"][function]["Properties"]["CodeUri"] = {"Bucket": CODE, "Key": function}
    create_stack(account, template, parameters)
    return function_url(account)


def function_url(account: Account) -> str:
    """The webhook's, where the emulator has it."""
    url_id = outputs_of(account)["TelegramWebhook"].removeprefix("https://").partition(".")[0]
    return f"{account.endpoint}/_aws/lambda-url/{url_id}"


def for_the_emulator(template: dict[str, Any]) -> dict[str, Any]:
    """What is said above of its functions, secrets and schedules."""
    template["Globals"]["Function"]["Runtime"] = "provided.al2023"
    secrets = template["Resources"]["ReadSecrets"]["Properties"]["PolicyDocument"]["Statement"][0]
    secrets["Resource"] = "*"
    schedules = template["Resources"]["KeepSchedules"]["Properties"]["PolicyDocument"]["Statement"][0]
    schedules["Resource"]["Fn::Sub"] = schedules["Resource"]["Fn::Sub"].replace("${Schedules}", "default")
    return template


def create_stack(account: Account, template: dict[str, Any], parameters: Mapping[str, str]) -> None:
    """Named kabar; returns once it is made."""
    cloudformation, bucket = account.client("cloudformation"), account.bucket()
    account.client("s3").put_object(Bucket=bucket, Key="template", Body=json.dumps(template).encode())
    cloudformation.create_stack(
        StackName="kabar",
        TemplateURL=f"{account.endpoint}/{bucket}/template",  # it is too long to be sent along
        Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
        Parameters=[{"ParameterKey": name, "ParameterValue": value} for name, value in parameters.items()],
    )
    wait = {"Delay": 1, "MaxAttempts": int(DEPLOY_WAIT)}
    cloudformation.get_waiter("stack_create_complete").wait(StackName="kabar", WaiterConfig=wait)


def _zipped(package: Path) -> bytes:
    """Uncompressed: it travels from memory to memory."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for file in package.rglob("*"):
            archive.write(file, file.relative_to(package))
        bootstrap = zipfile.ZipInfo("bootstrap")
        bootstrap.external_attr = 0o755 << 16
        archive.writestr(bootstrap, BOOTSTRAP)
    return buffer.getvalue()
