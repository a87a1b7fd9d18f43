"""What Kabar keeps on AWS, as far as the worker itself may look: the table, the queue and what it gives up, files,
secrets, schedules. Nothing is changed.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from difflib import get_close_matches
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, ProfileNotFound
from msgspec import Struct

from bot.adapters.dynamodb_store import KEYS
from bot.examining import Check, green, red, yellow
from handlers.aws import Aws
from handlers.doctor.situation import Situation
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


Exams = Sequence[tuple[str, str, Exam]]
"""Of each the check's name, the setting without which it is not made, and how."""


async def examine(settings: Settings, situation: Situation, exams: Exams | None = None) -> Sequence[Check]:
    """These ``exams``, or those that the worker's own rights are enough for."""
    wanted = [(name, setting, exam) for name, setting, exam in exams or INSIDE if getattr(settings, setting)]
    if not wanted:
        return []
    with closing(Aws(settings.aws_endpoint_url)) as aws:
        cloud = Cloud(aws, settings, situation.deployed)
        account = await asyncio.to_thread(carefully, "aws account", "", _account, cloud)
        if any(check.state == "red" for check in account):
            return account
        found = await asyncio.gather(*(asyncio.to_thread(carefully, *each, cloud) for each in wanted))
        return [*account, *(check for checks in found for check in checks)]


def carefully(name: str, setting: str, exam: Exam, cloud: Cloud) -> list[Check]:
    """What AWS refuses, as a check."""
    try:
        return exam(cloud)
    except NoCredentialsError:
        return [red(name, "There are no AWS credentials here.", "Set AWS_PROFILE, or run: aws configure")]
    except ProfileNotFound as error:
        says = f"The config profile ({error.kwargs['profile']}) could not be found."
        return [red(name, says, "Set AWS_PROFILE to one of `aws configure list-profiles`.")]
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


def table(cloud: Cloud) -> list[Check]:
    name, dynamodb = cloud.settings.kabar_table, cloud.client("dynamodb")
    checks = [_shape(dynamodb.describe_table(TableName=name)["Table"])]
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


# The queue, and what it gives up


def queue(cloud: Cloud) -> list[Check]:
    attributes = attributes_of(cloud, cloud.settings.kabar_queue_url)
    return [_kind(attributes), _waiting(attributes), *_dead_letters(cloud, attributes)]


def attributes_of(cloud: Cloud, url: str) -> dict[str, str]:
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
    lying = int(attributes_of(cloud, url).get("ApproximateNumberOfMessages", 0))
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


# Files, secrets, schedules


def bucket(cloud: Cloud) -> list[Check]:
    name, s3 = cloud.settings.kabar_bucket, cloud.client("s3")
    s3.head_bucket(Bucket=name)
    try:
        block = s3.get_public_access_block(Bucket=name)["PublicAccessBlockConfiguration"]
    except ClientError as error:
        if error.response["Error"]["Code"] != "NoSuchPublicAccessBlockConfiguration":
            raise
        block = {}
    if not block or not all(block.values()):
        says = "Nothing keeps its files from being made public."
        return [yellow("bucket", says, f"Block all public access of {name}. {DEPLOY}")]
    return [green("bucket", "It is there, and all public access is blocked.")]


def secrets(cloud: Cloud) -> list[Check]:
    """The names and kinds of the bot's own; no value is asked for here."""
    settings = cloud.settings
    path = f"{settings.kabar_secrets_path}/{settings.kabar_bot}" if settings.kabar_bot else settings.kabar_secrets_path
    pages = cloud.client("ssm").get_paginator("get_parameters_by_path").paginate(Path=path, WithDecryption=False)
    kinds = {each["Name"].rpartition("/")[2]: each["Type"] for page in pages for each in page["Parameters"]}
    put = f"aws ssm put-parameter --type SecureString --name {path}/<NAME> --value ..."
    if not {"TELEGRAM_BOT_TOKEN", "SLACK_BOT_TOKEN", "SLACK_CLIENT_ID"} & kinds.keys():
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


def schedules(cloud: Cloud) -> list[Check]:
    settings = cloud.settings
    if not settings.kabar_schedule_role or not settings.kabar_schedule_target:
        says = "Reminders can be kept but not called: KABAR_SCHEDULE_ROLE or KABAR_SCHEDULE_TARGET is missing."
        return [red("schedules", says, f"Set both to their ARNs. {DEPLOY}")]
    state = cloud.client("scheduler").get_schedule_group(Name=settings.kabar_schedule_group)["State"]
    if state != "ACTIVE":
        return [red("schedules", f"The group of reminders is {state}.", DEPLOY)]
    return [green("schedules", "The group of reminders is active.")]


INSIDE: Exams = (
    ("table", "kabar_table", table),
    ("queue", "kabar_queue_url", queue),
    ("bucket", "kabar_bucket", bucket),
    ("secrets", "kabar_secrets_path", secrets),
    ("schedules", "kabar_schedule_group", schedules),
)
