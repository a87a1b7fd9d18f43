"""AWS: who we are there, and whether what infra/template.yaml makes is there and as it made it. Nothing is changed.

Everything else is found from the queue: the function that takes from it, that function's role, the dead letters.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from difflib import get_close_matches
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError
from msgspec import Struct

from bot.adapters.dynamodb_store import KEYS
from bot.cli.doctor.check import Check, green, red, yellow
from bot.cli.doctor.rights import lacking, webhook_needs, worker_needs
from bot.cli.doctor.situation import Situation
from handlers.aws import Aws
from handlers.settings import SECRETS, Settings

DEPLOY = "Deploy the stack again: sam build --template infra/template.yaml && sam deploy"
MANY = 100
"""Wakes that wait: five times what WorkerConcurrency answers at once."""
FEWEST_RECEIPTS = 20
"""A wake is received every 15 seconds while another worker holds its conversation: five minutes of that."""
REFUSALS = {"AccessDenied", "AccessDeniedException", "AuthorizationError", "403", "UnauthorizedOperation"}
MISSING = {
    *("ResourceNotFoundException", "AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist"),
    *("404", "NoSuchBucket", "NoSuchEntity"),
}


class Cloud(Struct, frozen=True):
    aws: Aws
    settings: Settings
    deployed: bool

    def client(self, service: str) -> Any:
        return self.aws.client(service)


Exam = Callable[[Cloud], list[Check]]


async def examine(settings: Settings, situation: Situation) -> Sequence[Check]:
    wanted = [(name, setting, exam) for name, setting, exam in EXAMS if getattr(settings, setting)]
    if not wanted:
        return []
    try:
        aws = Aws(settings.aws_endpoint_url)
    except BotoCoreError as error:
        return [red("aws account", f"{error}.", "Set AWS_PROFILE to one of `aws configure list-profiles`.")]
    with closing(aws):
        cloud = Cloud(aws, settings, situation.deployed)
        account = await asyncio.to_thread(_carefully, "aws account", "", _account, cloud)
        if any(check.state == "red" for check in account):
            return account
        exams = (asyncio.to_thread(_carefully, *each, cloud) for each in wanted)
        return [*account, *(check for checks in await asyncio.gather(*exams) for check in checks)]


def _carefully(name: str, setting: str, exam: Exam, cloud: Cloud) -> list[Check]:
    """What AWS refuses, as a check."""
    try:
        return exam(cloud)
    except NoCredentialsError:
        return [red(name, "There are no AWS credentials here.", "Set AWS_PROFILE, or run: aws configure")]
    except ClientError as error:
        code, operation = error.response["Error"]["Code"], error.operation_name
        if code in REFUSALS:
            says = f"These credentials may not look ({operation})."
            return [yellow(name, says, f"Allow {operation} to whoever runs kabar doctor.")]
        if code in MISSING:
            says = f"What {setting.upper()} names is not there."
            return [red(name, says, f"Correct {setting.upper()} or AWS_REGION, or deploy the stack.")]
        return [
            red(name, f"AWS refuses {operation} ({code}).", "Sign in again, and look at AWS_PROFILE and AWS_REGION.")
        ]
    except BotoCoreError as error:
        says = f"AWS can not be asked ({type(error).__name__})."
        return [red(name, says, "Look at AWS_REGION, AWS_ENDPOINT_URL and the network.")]


def _account(cloud: Cloud) -> list[Check]:
    who = cloud.client("sts").get_caller_identity()
    region = cloud.client("sts").meta.region_name
    return [green("aws account", f"Account {who['Account']}, region {region}.")]


# The table


def _table(cloud: Cloud) -> list[Check]:
    name, dynamodb = cloud.settings.kabar_table, cloud.client("dynamodb")
    table = dynamodb.describe_table(TableName=name)["Table"]
    checks = [_shape(table)]
    ttl = dynamodb.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    if ttl.get("TimeToLiveStatus") not in ("ENABLED", "ENABLING") or ttl.get("AttributeName") != "expires_at":
        says = "Time to live on expires_at is off: what is done with is never deleted."
        checks.append(yellow("table time to live", says, f"Turn it on for expires_at of {name}. {DEPLOY}"))
    else:
        checks.append(green("table time to live", "It is on, on expires_at."))
    backups = dynamodb.describe_continuous_backups(TableName=name)["ContinuousBackupsDescription"]
    kept = backups.get("PointInTimeRecoveryDescription", {}).get("PointInTimeRecoveryStatus")
    if kept != "ENABLED":
        says = "Point-in-time recovery is off: what is lost is lost."
        checks.append(yellow("table backups", says, f"Turn it on for {name}. {DEPLOY}"))
    else:
        checks.append(green("table backups", "Point-in-time recovery is on."))
    return checks


def _shape(table: Any) -> Check:
    if table["TableStatus"] not in ("ACTIVE", "UPDATING"):
        return red("table", f"It is {table['TableStatus']}.", "Wait until it is ACTIVE.")
    indexes = ("LocalSecondaryIndexes", "GlobalSecondaryIndexes")
    wanted = {index["IndexName"] for kind in indexes for index in KEYS[kind]}
    there = {index["IndexName"] for kind in indexes for index in table.get(kind) or ()}
    if _keys(table["KeySchema"]) != _keys(KEYS["KeySchema"]) or not wanted <= there:
        says = "It has not the keys and indexes that Kabar reads by."
        return red("table", says, f"Name another one in KABAR_TABLE. {DEPLOY}")
    return green("table", "It is active and has the keys and indexes.")


def _keys(schema: Iterable[Any]) -> dict[str, str]:
    return {key["AttributeName"]: key["KeyType"] for key in schema}


# The queue, what takes from it, and what it gives up


def _queue(cloud: Cloud) -> list[Check]:
    attributes = _attributes(cloud, cloud.settings.kabar_queue_url)
    return [_kind(attributes), _waiting(attributes), *_dead_letters(cloud, attributes), *_worker(cloud, attributes)]


def _attributes(cloud: Cloud, url: str) -> dict[str, str]:
    found: dict[str, str] = cloud.client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    return found


def _kind(attributes: dict[str, str]) -> Check:
    if attributes.get("FifoQueue") != "true":
        says = "It is no FIFO queue: two turns of one chat may run at once."
        return red("queue", says, f"Name a FIFO queue in KABAR_QUEUE_URL. {DEPLOY}")
    if attributes.get("FifoThroughputLimit") != "perMessageGroupId":
        says = "Its throughput is limited for all conversations together."
        return yellow(
            "queue", says, f"Set FifoThroughputLimit=perMessageGroupId and DeduplicationScope=messageGroup. {DEPLOY}"
        )
    return green("queue", "It is FIFO, with high throughput.")


def _waiting(attributes: dict[str, str]) -> Check:
    waiting = int(attributes.get("ApproximateNumberOfMessages", 0))
    if waiting > MANY:
        says = f"{waiting} wakes wait."
        return yellow("queue depth", says, "Raise WorkerConcurrency, or look into the worker's log for why it is slow.")
    return green("queue depth", f"{waiting} wakes wait.")


def _dead_letters(cloud: Cloud, attributes: dict[str, str]) -> list[Check]:
    redrive = json.loads(attributes.get("RedrivePolicy") or "{}")
    if not redrive:
        says = "The queue has no dead letters: a wake that always fails is repeated for days."
        return [red("dead letters", says, f"Give it a RedrivePolicy. {DEPLOY}")]
    receipts = int(redrive["maxReceiveCount"])
    if receipts < FEWEST_RECEIPTS:
        says = f"maxReceiveCount is {receipts}: a wake that only waits for its conversation is given up."
        return [yellow("dead letters", says, f"Set maxReceiveCount to 40. {DEPLOY}")]
    arn = redrive["deadLetterTargetArn"]
    url = cloud.client("sqs").get_queue_url(QueueName=arn.rpartition(":")[2])["QueueUrl"]
    lying = int(_attributes(cloud, url).get("ApproximateNumberOfMessages", 0))
    if lying:
        says = f"{lying} wakes were given up, and nobody was told."
        return [
            red(
                "dead letters",
                says,
                "Look into the logs of the worker and of DeadLetterFunction, then redrive the queue.",
            )
        ]
    return [green("dead letters", "There are none.")]


def _worker(cloud: Cloud, attributes: dict[str, str]) -> list[Check]:
    functions = cloud.client("lambda")
    mappings = functions.list_event_source_mappings(EventSourceArn=attributes["QueueArn"])["EventSourceMappings"]
    if not mappings:
        says = "No function takes wakes from the queue."
        if cloud.deployed:
            return [red("worker", says, DEPLOY)]
        return [yellow("worker", says, f"Keep `kabar serve` running. To have AWS do it: {DEPLOY}")]
    mapping = mappings[0]
    function = functions.get_function_configuration(FunctionName=mapping["FunctionArn"])
    return [
        _source(mapping),
        _function("worker", function, _reserved(functions, mapping["FunctionArn"])),
        _visibility(attributes, function["Timeout"]),
        *_rights(cloud, "worker", function["Role"], worker_needs(cloud.settings, attributes["QueueArn"])),
    ]


def _source(mapping: Any) -> Check:
    if mapping["State"] in ("Disabled", "Disabling"):
        return red(
            "event source", "The worker is not given wakes: the mapping is disabled.", "Enable it in Lambda's triggers."
        )
    if "ReportBatchItemFailures" not in mapping.get("FunctionResponseTypes", ()):
        says = "A wake that is to come again is taken for done."
        return red("event source", says, f"Set FunctionResponseTypes to ReportBatchItemFailures. {DEPLOY}")
    if mapping.get("BatchSize") != 1:
        says = f"It hands over {mapping.get('BatchSize')} wakes at once: an innocent one ages with a failing one."
        return yellow("event source", says, f"Set BatchSize to 1. {DEPLOY}")
    return green("event source", "The worker is given one wake at a time.")


def _reserved(functions: Any, arn: str) -> int | None:
    """Of the function itself: Lambda refuses to tell it of an alias."""
    function = ":".join(arn.split(":")[:7])
    reserved: int | None = functions.get_function_concurrency(FunctionName=function).get("ReservedConcurrentExecutions")
    return reserved


def _function(name: str, function: Any, reserved: int | None) -> Check:
    if reserved == 0:
        says = "Its reserved concurrency is 0: it never runs."
        return red(name, says, "Remove the reservation: aws lambda delete-function-concurrency")
    if function.get("State") == "Failed" or function.get("LastUpdateStatus") == "Failed":
        says = (
            f"The function is broken ({function.get('StateReasonCode') or function.get('LastUpdateStatusReasonCode')})."
        )
        return red(name, says, DEPLOY)
    return green(name, f"{function['FunctionName']} is there, with {function['Timeout']} seconds for one call.")


def _visibility(attributes: dict[str, str], timeout: int) -> Check:
    hidden = int(attributes["VisibilityTimeout"])
    if hidden < timeout:
        says = f"A wake is hidden for {hidden} seconds, but the worker may run {timeout}."
        return red("queue visibility", says, f"Set the queue's VisibilityTimeout to {timeout}. {DEPLOY}")
    return green("queue visibility", f"A wake is hidden for {hidden} seconds, no less than the worker runs.")


def _rights(cloud: Cloud, whose: str, role: str, needs: Mapping[str, Sequence[str]]) -> list[Check]:
    name = f"{whose} rights"

    def rights(cloud: Cloud) -> list[Check]:
        missing = lacking(cloud.client("iam"), role, needs)
        if missing:
            says = f"The {whose}'s role may not {', '.join(missing)}."
            return [red(name, says, f"Allow it in {whose.capitalize()}Role of infra/template.yaml. {DEPLOY}")]
        return [green(name, f"The {whose}'s role has what it needs.")]

    return _carefully(name, "", rights, cloud)


# Files, secrets, schedules


def _bucket(cloud: Cloud) -> list[Check]:
    bucket, s3 = cloud.settings.kabar_bucket, cloud.client("s3")
    s3.head_bucket(Bucket=bucket)
    try:
        block = s3.get_public_access_block(Bucket=bucket)["PublicAccessBlockConfiguration"]
    except ClientError as error:
        if error.response["Error"]["Code"] != "NoSuchPublicAccessBlockConfiguration":
            raise
        block = {}
    if not block or not all(block.values()):
        says = "Nothing keeps its files from being made public."
        return [yellow("bucket", says, f"Block all public access of {bucket}. {DEPLOY}")]
    return [green("bucket", "It is there, and all public access is blocked.")]


def _secrets(cloud: Cloud) -> list[Check]:
    """Their names and kinds; no value is asked for here."""
    path = cloud.settings.kabar_secrets_path
    pages = cloud.client("ssm").get_paginator("get_parameters_by_path").paginate(Path=path, WithDecryption=False)
    kinds = {each["Name"].rpartition("/")[2]: each["Type"] for page in pages for each in page["Parameters"]}
    put = f"aws ssm put-parameter --type SecureString --name {path}/<NAME> --value ..."
    if not {"TELEGRAM_BOT_TOKEN", "SLACK_BOT_TOKEN"} & kinds.keys():
        says = f"Under {path} lies neither TELEGRAM_BOT_TOKEN nor SLACK_BOT_TOKEN."
        return [red("secrets", says, f"Put what you have there: {put}")]
    if plain := sorted(name for name in kinds if name in SECRETS and kinds[name] != "SecureString"):
        says = f"{', '.join(plain)} can be read by whoever may see parameters."
        return [yellow("secrets", says, f"Put it again, encrypted: {put} --overwrite")]
    for name in sorted(kinds.keys() - set(SECRETS)):
        if near := get_close_matches(name, SECRETS, 1, 0.8):
            return [
                yellow("secrets", f"Nothing reads {name}.", f"If it is meant to be {near[0]}, put it under that name.")
            ]
    return [green("secrets", f"Under {path} lie {', '.join(sorted(kinds))}.")]


def _schedules(cloud: Cloud) -> list[Check]:
    settings = cloud.settings
    if not settings.kabar_schedule_role or not settings.kabar_schedule_target:
        says = "Reminders can be kept but not called: KABAR_SCHEDULE_ROLE or KABAR_SCHEDULE_TARGET is missing."
        return [red("schedules", says, f"Set both to their ARNs. {DEPLOY}")]
    state = cloud.client("scheduler").get_schedule_group(Name=settings.kabar_schedule_group)["State"]
    if state != "ACTIVE":
        return [red("schedules", f"The group of reminders is {state}.", DEPLOY)]
    role = settings.kabar_schedule_role
    trusted = cloud.client("iam").get_role(RoleName=role.rpartition("/")[2])["Role"]["AssumeRolePolicyDocument"]
    if "scheduler.amazonaws.com" not in str(trusted):
        says = "EventBridge Scheduler may not use KABAR_SCHEDULE_ROLE, so no reminder comes."
        return [red("schedules", says, f"Let scheduler.amazonaws.com assume it. {DEPLOY}")]
    if lacking(cloud.client("iam"), role, {settings.kabar_schedule_target: ("lambda:InvokeFunction",)}):
        says = "KABAR_SCHEDULE_ROLE may not call the webhook function, so no reminder comes."
        return [red("schedules", says, f"Allow it lambda:InvokeFunction on KABAR_SCHEDULE_TARGET. {DEPLOY}")]
    return [green("schedules", "The group is active, and its role may call the webhook function.")]


def _webhook(cloud: Cloud) -> list[Check]:
    """It is what schedules call, and so is known by KABAR_SCHEDULE_TARGET."""
    settings, arn = cloud.settings, cloud.settings.kabar_schedule_target
    functions = cloud.client("lambda")
    function = functions.get_function_configuration(FunctionName=arn)
    checks = [_function("webhook", function, _reserved(functions, arn))]
    if cloud.client("events").list_rule_names_by_target(TargetArn=arn)["RuleNames"]:
        checks.append(green("sweep", "A schedule looks for messages whose wake was lost."))
    else:
        says = "No schedule looks for messages whose wake was lost."
        checks.append(yellow("sweep", says, DEPLOY))
    if settings.kabar_table and settings.kabar_queue_url:
        _, partition, _, region, account, *_ = arn.split(":")
        queue = f"arn:{partition}:sqs:{region}:{account}:{settings.kabar_queue_url.rpartition('/')[2]}"
        checks += _rights(cloud, "webhook", function["Role"], webhook_needs(settings, queue))
    return checks


EXAMS: tuple[tuple[str, str, Exam], ...] = (
    ("table", "kabar_table", _table),
    ("queue", "kabar_queue_url", _queue),
    ("bucket", "kabar_bucket", _bucket),
    ("secrets", "kabar_secrets_path", _secrets),
    ("schedules", "kabar_schedule_group", _schedules),
    ("webhook", "kabar_schedule_target", _webhook),
)
"""The check's name, the setting without which it is not made, and how."""
