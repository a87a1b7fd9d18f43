"""What is in an AWS account: to see what a stack leaves behind, and what its functions logged."""

from collections.abc import Iterator
from typing import Any

from tests.emulator import Account


def everything(account: Account) -> set[str]:
    """All that a stack of ours could make, as "kind: name"."""
    listed = (
        ("table", "dynamodb", "list_tables", "TableNames", ""),
        ("bucket", "s3", "list_buckets", "Buckets", "Name"),
        ("queue", "sqs", "list_queues", "QueueUrls", ""),
        ("function", "lambda", "list_functions", "Functions", "FunctionName"),
        ("event source", "lambda", "list_event_source_mappings", "EventSourceMappings", "UUID"),
        ("role", "iam", "list_roles", "Roles", "RoleName"),
        ("log group", "logs", "describe_log_groups", "logGroups", "logGroupName"),
        ("schedule", "scheduler", "list_schedules", "Schedules", "Name"),
        ("rule", "events", "list_rules", "Rules", "Name"),
        ("topic", "sns", "list_topics", "Topics", "TopicArn"),
        ("alarm", "cloudwatch", "describe_alarms", "MetricAlarms", "AlarmName"),
        ("dashboard", "cloudwatch", "list_dashboards", "DashboardEntries", "DashboardName"),
        ("secret", "ssm", "describe_parameters", "Parameters", "Name"),
    )
    found = {
        f"{kind}: {each[name] if name else each}"
        for kind, service, call, key, name in listed
        for each in getattr(account.client(service), call)().get(key, ())
    }
    policies = account.client("iam").list_policies(Scope="Local")["Policies"]
    groups = account.client("scheduler").list_schedule_groups()["ScheduleGroups"]
    found |= {f"policy: {each['PolicyName']}" for each in policies}
    return found | {f"schedule group: {each['Name']}" for each in groups if each["Name"] != "default"}


def resources(account: Account, stack: str) -> dict[str, str]:
    """Physical names by the template's."""
    described = account.client("cloudformation").describe_stack_resources(StackName=stack)["StackResources"]
    return {each["LogicalResourceId"]: each["PhysicalResourceId"] for each in described}


def failures(account: Account, stack: str) -> list[str]:
    """What CloudFormation could not do, and why; [] where there is no such stack."""
    cloudformation = account.client("cloudformation")
    try:
        events = cloudformation.describe_stack_events(StackName=stack)["StackEvents"]
    except cloudformation.exceptions.ClientError:
        return []
    failed = [each for each in events if each["ResourceStatus"].endswith("_FAILED")]
    return [f"{each['LogicalResourceId']}: {each.get('ResourceStatusReason', '')}" for each in failed]


def log_lines(account: Account, groups: list[str]) -> Iterator[str]:
    logs: Any = account.client("logs")
    for group in groups:
        for page in logs.get_paginator("filter_log_events").paginate(logGroupName=group):
            yield from (f"{group}: {event['message'].rstrip()}" for event in page["events"])
