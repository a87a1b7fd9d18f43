"""AWS: who we are there, and whether what infra/template.yaml makes is there and as it made it. Nothing is changed.

Everything else is found from the queue: the function that takes from it, that function's role, the dead letters.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from bot.cli.doctor.rights import lacking, webhook_needs, worker_needs
from bot.examining import Check, green, red, yellow
from handlers.doctor import cloud as inside
from handlers.doctor.cloud import DEPLOY, Cloud, Exams, attributes_of, carefully
from handlers.doctor.situation import Situation
from handlers.settings import Settings


async def examine(settings: Settings, situation: Situation) -> Sequence[Check]:
    return await inside.examine(settings, situation, EXAMS)


# The queue, what takes from it, and what it gives up


def _queue(cloud: Cloud) -> list[Check]:
    return [*inside.queue(cloud), *_worker(cloud, attributes_of(cloud, cloud.settings.kabar_queue_url))]


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

    return carefully(name, "", rights, cloud)


# Schedules, and the webhook that they call


def _schedules(cloud: Cloud) -> list[Check]:
    settings, found = cloud.settings, inside.schedules(cloud)
    if found[0].state != "green":
        return found
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


EXAMS: Exams = (
    ("table", "kabar_table", inside.table),
    ("queue", "kabar_queue_url", _queue),
    ("bucket", "kabar_bucket", inside.bucket),
    ("secrets", "kabar_secrets_path", inside.secrets),
    ("schedules", "kabar_schedule_group", _schedules),
    ("webhook", "kabar_schedule_target", _webhook),
)
