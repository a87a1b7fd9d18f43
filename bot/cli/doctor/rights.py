"""What a role may do, by IAM's own simulation of its policies: nothing is done for it."""

from collections.abc import Mapping, Sequence
from typing import Any

from handlers.settings import Settings

CONVERSE = (
    *("dynamodb:BatchGetItem", "dynamodb:ConditionCheckItem", "dynamodb:DeleteItem", "dynamodb:GetItem"),
    *("dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem"),
)
WAKE = (
    *("sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"),
    "sqs:SendMessage",
)
FILES = ("s3:DeleteObject", "s3:GetObject", "s3:PutObject")


def worker_needs(settings: Settings, queue: str) -> dict[str, Sequence[str]]:
    """Actions by resource, as infra/template.yaml grants them to the worker. ``queue`` is the queue's ARN, which says
    the partition, the region and the account of the others."""
    here = _here(queue)
    needs: dict[str, Sequence[str]] = {queue: WAKE}
    if settings.kabar_table:
        needs[f"{here.format('dynamodb')}table/{settings.kabar_table}"] = CONVERSE
    if settings.kabar_bucket:
        needs[f"arn:{queue.split(':')[1]}:s3:::{settings.kabar_bucket}/x"] = FILES
    if settings.kabar_secrets_path:
        needs[f"{here.format('ssm')}parameter{settings.kabar_secrets_path}"] = ("ssm:GetParametersByPath",)
    if settings.kabar_schedule_group:
        schedule = f"{here.format('scheduler')}schedule/{settings.kabar_schedule_group}/x"
        needs[schedule] = ("scheduler:CreateSchedule", "scheduler:DeleteSchedule", "scheduler:UpdateSchedule")
    if settings.kabar_sandbox_function:
        needs[f"{here.format('lambda')}function:{settings.kabar_sandbox_function}"] = ("lambda:InvokeFunction",)
    return needs


def webhook_needs(settings: Settings, queue: str) -> dict[str, Sequence[str]]:
    """The same for the webhook, but for what depends on what it reads."""
    table = f"{_here(queue).format('dynamodb')}table/{settings.kabar_table}"
    return {queue: ("sqs:SendMessage",), table: ("dynamodb:PutItem",)}


def _here(queue: str) -> str:
    _, partition, _, region, account, _ = queue.split(":")
    return f"arn:{partition}:{{}}:{region}:{account}:"


def lacking(iam: Any, role: str, needs: Mapping[str, Sequence[str]]) -> list[str]:
    """The actions that the role, by its ARN, has not on the resource. Raises what boto3 raises."""
    missing = []
    for resource, actions in needs.items():
        answer = iam.simulate_principal_policy(
            PolicySourceArn=role, ActionNames=list(actions), ResourceArns=[resource], MaxItems=100
        )
        decided = {each["EvalActionName"]: each["EvalDecision"] for each in answer["EvaluationResults"]}
        missing += [action for action in actions if decided.get(action) != "allowed"]
    return missing
