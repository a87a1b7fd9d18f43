"""The template itself, deployed on the emulator, is green; each thing that is changed in it afterwards is named."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from bot.cli.doctor import aws as examination
from bot.cli.doctor.command import Wanted
from bot.cli.doctor.rights import lacking
from bot.examining import Check, State
from handlers.aws import Aws
from handlers.doctor import cloud as own_examination
from handlers.doctor.situation import situation
from handlers.door import aws_doors
from handlers.settings import read_settings
from handlers.webhook import application
from simulator import serving, slack, telegram
from tests.cli.doctor.stage import KEY, english_in, polling
from tests.emulator import Account, running_emulator
from tests.packages.stack import create_stack
from tests.packages.template import read_template

PATH = "/kabar/prod"
TRUSTED = ("TELEGRAM_API_BASE_URL", "SLACK_API_BASE_URL", "ANTHROPIC_BASE_URL", "AWS_ENDPOINT_URL")


ANSWERS = """
import json, urllib.request
def handler(event, context):
    names = ("Digest", "Telegram", "Slack", "SlackManifest")
    told = {"Status": "SUCCESS", "PhysicalResourceId": "x", "Data": dict.fromkeys(names, "x")}
    told |= {name: event[name] for name in ("StackId", "RequestId", "LogicalResourceId")}
    urllib.request.urlopen(urllib.request.Request(event["ResponseURL"], json.dumps(told).encode(), method="PUT"))
"""
"""A registrar that says that all is well: the secrets come later here."""


def deployed(account: Account, values: dict[str, str]) -> dict[str, str]:
    """The stack of infra/template.yaml with functions that do nothing, and its secrets; returns the worker's values."""
    template = read_template()
    for name, resource in template["Resources"].items():
        if resource["Type"] == "AWS::Serverless::Function":
            del resource["Metadata"], resource["Properties"]["CodeUri"]
            code = ANSWERS if name == "RegistrarFunction" else "def handler(event, context): pass"
            resource["Properties"] |= {"InlineCode": code, "Handler": "index.handler"}
    names = {"TelegramApiBaseUrl", "SlackApiBaseUrl", "AnthropicBaseUrl", "AwsEndpointUrl"}
    parameters = {name: values[setting] for name, setting in zip(sorted(names), sorted(TRUSTED), strict=True)}
    parameters |= {"Owner": "telegram:1001", "Provider": "anthropic"}
    create_stack(account, template, parameters)
    secrets = {
        "TELEGRAM_BOT_TOKEN": telegram.TOKEN,
        "TELEGRAM_WEBHOOK_SECRET": telegram.SECRET,
        "SLACK_BOT_TOKEN": slack.BOT_TOKEN,
        "SLACK_SIGNING_SECRET": slack.SIGNING_SECRET,
        "ANTHROPIC_API_KEY": KEY,
    }
    for name, value in secrets.items():
        account.client("ssm").put_parameter(Name=f"{PATH}/{name}", Value=value, Type="SecureString")
    found: dict[str, str] = function(account, "WorkerFunction")["Environment"]["Variables"]
    time_to_live(account, found, on=True)
    recovery(account, found, on=True)
    return found


# Both are in the template, but the emulator leaves them out.


def time_to_live(account: Account, worker: dict[str, str], *, on: bool) -> None:
    account.client("dynamodb").update_time_to_live(
        TableName=worker["KABAR_TABLE"],
        TimeToLiveSpecification={"Enabled": on, "AttributeName": "expires_at"},
    )


def recovery(account: Account, worker: dict[str, str], *, on: bool) -> None:
    account.client("dynamodb").update_continuous_backups(
        TableName=worker["KABAR_TABLE"], PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": on}
    )


def physical(account: Account, resource: str) -> str:
    """The name that a resource of the template got."""
    found = account.client("cloudformation").describe_stack_resource(StackName="kabar", LogicalResourceId=resource)
    name: str = found["StackResourceDetail"]["PhysicalResourceId"]
    return name


def function(account: Account, name: str) -> Any:
    return account.client("lambda").get_function_configuration(FunctionName=physical(account, name))


@pytest.fixture
def cloud(aws: Account, monkeypatch: pytest.MonkeyPatch) -> Account:
    for name, value in aws.environment.items():
        monkeypatch.setenv(name, value)
    return aws


async def test_a_stack_as_the_template_makes_it_is_green_through_its_own_address(
    cloud: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with polling(tmp_path) as stage:
        values = {**stage.values, "AWS_ENDPOINT_URL": cloud.endpoint}
        worker = deployed(cloud, values)
        async with webhook(worker) as url:
            stage.simulator.connect(url)
            stage.values = {"AWS_ENDPOINT_URL": cloud.endpoint}
            stage.wanted = Wanted(url=url, stack="kabar")
            checks = await stage.checks()
        settings = read_settings({**worker, "AWS_ENDPOINT_URL": cloud.endpoint})
        inside = await own_examination.examine(settings, situation(settings, "", deployed=True, now=0))
    assert [check for check in checks if check.state != "green"] == []
    assert [check for check in checks if english_in(check)] == []
    assert {check.name for check in inside if check.state == "green"} == {
        *("aws account", "table", "table time to live", "table backups", "queue", "queue depth", "dead letters"),
        *("bucket", "secrets", "schedules"),
    }
    assert lacking(cloud.client("iam"), function(cloud, "WorkerFunction")["Role"], looking(cloud, worker)) == []
    assert {"table", "queue visibility", "dead letters", "worker rights", "webhook rights", "bucket", "secrets",
            "schedules", "sweep", "slack through the address"} <= {check.name for check in checks}  # fmt: skip


def looking(account: Account, worker: dict[str, str]) -> dict[str, Sequence[str]]:
    """What the worker's own /doctor asks AWS, by resource, but for what it may do anyway."""
    table = account.client("dynamodb").describe_table(TableName=worker["KABAR_TABLE"])["Table"]["TableArn"]
    queue = {"QueueUrl": physical(account, "DeadLetters"), "AttributeNames": ["QueueArn"]}
    letters = account.client("sqs").get_queue_attributes(**queue)["Attributes"]["QueueArn"]
    schedules = account.client("scheduler").get_schedule_group(Name=worker["KABAR_SCHEDULE_GROUP"])["Arn"]
    return {
        table: ("dynamodb:DescribeTable", "dynamodb:DescribeTimeToLive", "dynamodb:DescribeContinuousBackups"),
        letters: ("sqs:GetQueueAttributes", "sqs:GetQueueUrl"),
        f"arn:aws:s3:::{worker['KABAR_BUCKET']}": ("s3:GetBucketPublicAccessBlock", "s3:ListBucket"),
        schedules: ("scheduler:GetScheduleGroup",),
    }


@asynccontextmanager
async def webhook(worker: dict[str, str]) -> AsyncIterator[str]:
    """The real webhook over the stack's own table, queue and secrets."""
    settings = read_settings(worker)
    aws = Aws(settings.aws_endpoint_url)
    try:
        async with serving.serve(application(aws_doors(settings, aws))) as url:
            yield url
    finally:
        aws.close()


class Broken:
    """A stack that is about to be changed: ``worker`` are the values that its worker is given, to be changed too."""

    def __init__(self, account: Account) -> None:
        self.account = account
        nowhere = dict.fromkeys(("TELEGRAM_API_BASE_URL", "SLACK_API_BASE_URL", "ANTHROPIC_BASE_URL"), "")
        self.worker = deployed(account, {**nowhere, "AWS_ENDPOINT_URL": account.endpoint})

    def client(self, service: str) -> Any:
        return self.account.client(service)

    def queue(self, **attributes: str) -> None:
        self.client("sqs").set_queue_attributes(QueueUrl=self.worker["KABAR_QUEUE_URL"], Attributes=attributes)

    def mapping(self, queue: str) -> Any:
        """The event source that gives a queue's messages to its function."""
        url = physical(self.account, queue)
        found = self.client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]
        return self.client("lambda").list_event_source_mappings(EventSourceArn=found["QueueArn"])[
            "EventSourceMappings"
        ][0]

    def source(self, queue: str = "WakeQueue", **values: Any) -> None:
        self.client("lambda").update_event_source_mapping(UUID=self.mapping(queue)["UUID"], **values)

    def give_up(self) -> None:
        """A wake among the dead letters that nobody takes from there."""
        self.source("DeadLetters", Enabled=False)
        self.client("sqs").send_message(
            QueueUrl=physical(self.account, "DeadLetters"),
            MessageBody="{}",
            MessageGroupId="g",
            MessageDeduplicationId="d",
        )

    def receipts(self, count: int) -> None:
        url = self.worker["KABAR_QUEUE_URL"]
        found = self.client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=["RedrivePolicy"])["Attributes"]
        self.queue(RedrivePolicy=json.dumps({**json.loads(found["RedrivePolicy"]), "maxReceiveCount": count}))

    def reserve(self, function: str) -> None:
        """Nothing at all."""
        self.client("lambda").put_function_concurrency(
            FunctionName=physical(self.account, function), ReservedConcurrentExecutions=0
        )

    def timeout(self, seconds: int) -> None:
        """Changed by hand, and published: what was published before stays as it is."""
        functions, worker = self.client("lambda"), physical(self.account, "WorkerFunction")
        functions.update_function_configuration(FunctionName=worker, Timeout=seconds)
        version = functions.publish_version(FunctionName=worker)["Version"]
        functions.update_alias(FunctionName=worker, Name="live", FunctionVersion=version)

    def forbid(self, role: str, action: str) -> None:
        denied = {"Effect": "Deny", "Action": action, "Resource": "*"}
        self.client("iam").put_role_policy(
            RoleName=physical(self.account, role),
            PolicyName="forbidden",
            PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [denied]}),
        )

    def distrust(self) -> None:
        trust = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
        self.client("iam").update_assume_role_policy(
            RoleName=physical(self.account, "ScheduleRole"),
            PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [trust]}),
        )

    def unsweep(self) -> None:
        events, target = self.client("events"), self.worker["KABAR_SCHEDULE_TARGET"]
        for rule in events.list_rule_names_by_target(TargetArn=target)["RuleNames"]:
            ids = [each["Id"] for each in events.list_targets_by_rule(Rule=rule)["Targets"]]
            events.remove_targets(Rule=rule, Ids=ids)

    def secret(self, name: str, kind: str = "SecureString") -> None:
        self.client("ssm").put_parameter(Name=f"{PATH}/{name}", Value="x", Type=kind, Overwrite=True)

    def another_table(self) -> None:
        self.client("dynamodb").create_table(
            TableName="other",
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        )
        self.worker["KABAR_TABLE"] = "other"

    def standard_queue(self) -> None:
        self.worker["KABAR_QUEUE_URL"] = self.client("sqs").create_queue(QueueName="plain")["QueueUrl"]

    def another_queue(self) -> None:
        self.worker["KABAR_QUEUE_URL"] += "x"

    def keep_for_ever(self) -> None:
        time_to_live(self.account, self.worker, on=False)

    def slow_down(self) -> None:
        self.queue(FifoThroughputLimit="perQueue", DeduplicationScope="queue")

    def hide_briefly(self) -> None:
        self.queue(VisibilityTimeout="30")

    def unblock(self) -> None:
        self.client("s3").delete_public_access_block(Bucket=self.worker["KABAR_BUCKET"])

    async def checks(self) -> dict[str, Check]:
        settings = read_settings(self.worker)
        found = await examination.examine(settings, situation(settings, "", deployed=True, now=0))
        return {check.name: check for check in found}


class Case(NamedTuple):
    id: str
    do: Callable[[Broken], None]
    check: str
    state: State
    next: str


def value(**values: str) -> Callable[[Broken], None]:
    return lambda stack: stack.worker.update({name.upper(): text for name, text in values.items()})


ROUNDS = (
    (
        Case("no such table", value(kabar_table="gone"), "table", "red", "Correct KABAR_TABLE"),
        Case("no such queue", Broken.another_queue, "queue", "red", "Correct KABAR_QUEUE_URL"),
        Case("no such bucket", value(kabar_bucket="kabar-gone-1"), "bucket", "red", "Correct KABAR_BUCKET"),
        Case("no secrets", value(kabar_secrets_path="/kabar/none"), "secrets", "red", "put-parameter"),
        Case("no such group", value(kabar_schedule_group="gone"), "schedules", "red", "Correct KABAR_SCHEDULE_GROUP"),
    ),
    (
        Case("another's table", Broken.another_table, "table", "red", "Name another one in KABAR_TABLE"),
        Case("no FIFO queue", Broken.standard_queue, "queue", "red", "FIFO queue in KABAR_QUEUE_URL"),
        Case("from which nobody takes", value(), "worker", "red", "Deploy the stack"),
        Case("webhook never runs", lambda stack: stack.reserve("WebhookFunction"), "webhook", "red", "reservation"),
        Case("plain secret", lambda stack: stack.secret("SLACK_APP_TOKEN", "String"), "secrets", "yellow", "encrypted"),
        Case("no role for schedules", value(kabar_schedule_role=""), "schedules", "red", "Set both to their ARNs"),
    ),
    (
        Case("no time to live", Broken.keep_for_ever, "table time to live", "yellow", "expires_at"),
        Case("low throughput", Broken.slow_down, "queue", "yellow", "FifoThroughputLimit=perMessageGroupId"),
        Case("hidden too short", Broken.hide_briefly, "queue visibility", "red", "VisibilityTimeout to 600"),
        Case("no dead letters", lambda stack: stack.queue(RedrivePolicy=""), "dead letters", "red", "RedrivePolicy"),
        Case("wakes switched off", lambda stack: stack.source(Enabled=False), "event source", "red", "Enable it"),
        Case("worker never runs", lambda stack: stack.reserve("WorkerFunction"), "worker", "red", "reservation"),
        Case("may not wake", lambda stack: stack.forbid("WebhookRole", "sqs:SendMessage"), "webhook rights", "red",
             "WebhookRole"),
        Case("open bucket", Broken.unblock, "bucket", "yellow", "Block all public access"),
        Case("misspelled secret", lambda stack: stack.secret("ANTHROPIC_APIKEY"), "secrets", "yellow",
             "meant to be ANTHROPIC_API_KEY"),
        Case("a role of no use", Broken.distrust, "schedules", "red", "scheduler.amazonaws.com"),
        Case("nothing sweeps", Broken.unsweep, "sweep", "yellow", "Deploy the stack"),
    ),
    (
        Case("no recovery", lambda stack: recovery(stack.account, stack.worker, on=False), "table backups", "yellow",
             "Turn it on"),
        Case("worker runs too long", lambda stack: stack.timeout(900), "queue visibility", "red",
             "VisibilityTimeout to 900"),
        Case("given up too soon", lambda stack: stack.receipts(3), "dead letters", "yellow", "maxReceiveCount to 40"),
        Case("batches", lambda stack: stack.source(BatchSize=5), "event source", "yellow", "BatchSize to 1"),
        Case("may not write", lambda stack: stack.forbid("WorkerRole", "dynamodb:UpdateItem"), "worker rights", "red",
             "WorkerRole"),
        Case("may not call", lambda stack: stack.forbid("ScheduleRole", "lambda:InvokeFunction"), "schedules", "red",
             "lambda:InvokeFunction"),
    ),
    (
        Case("given up", Broken.give_up, "dead letters", "red", "redrive"),
        Case("may not run Python", lambda stack: stack.forbid("WorkerRole", "lambda:InvokeFunction"), "worker rights",
             "red", "WorkerRole"),
        Case("failures taken for done", lambda stack: stack.source(FunctionResponseTypes=[]), "event source", "red",
             "ReportBatchItemFailures"),
    ),
)  # fmt: skip
"""What is wrong at the same time in one stack: making one takes seconds."""


@pytest.mark.parametrize("cases", ROUNDS, ids=lambda cases: ", ".join(case.id for case in cases))
async def test_what_is_changed_in_a_stack_is_named_with_what_to_do(cases: tuple[Case, ...], cloud: Account) -> None:
    stack = Broken(cloud)
    for case in cases:
        case.do(stack)
    found = await stack.checks()
    for case in cases:
        check = found[case.check]
        assert (case.id, check.state, case.next in check.next) == (case.id, case.state, True), check
        assert english_in(check) == [], check


async def test_what_these_credentials_may_not_see_is_yellow_and_says_what_to_allow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with running_emulator(AUTH="true") as strict, strict.account() as account:
        worn = account.client("iam")
        worn.create_user(UserName="ann")
        key = worn.create_access_key(UserName="ann")["AccessKey"]
        for name, text in {
            **account.environment,
            "AWS_ACCESS_KEY_ID": key["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"],
        }.items():
            monkeypatch.setenv(name, text)
        settings = read_settings({"KABAR_TABLE": "conversations", "AWS_ENDPOINT_URL": account.endpoint})
        found = await examination.examine(settings, situation(settings, "", deployed=False, now=0))
    table = found[-1]
    assert (table.name, table.state, table.next) == (
        "table",
        "yellow",
        "Allow DescribeTable to whoever runs kabar doctor.",
    )


async def test_a_profile_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    async with polling(tmp_path) as stage:
        stage.values |= {"KABAR_TABLE": "conversations", "KABAR_SECRETS_PATH": PATH}
        found = {check.name: check for check in await stage.checks()}
    assert (found["aws account"].state, "AWS_PROFILE" in found["aws account"].next) == ("red", True)
    assert (found["secrets"].state, "Sign in to AWS" in found["secrets"].next) == ("red", True)


@pytest.mark.parametrize(("name", "state"), [("SLACK_CLIENT_ID", "green"), ("lola/TELEGRAM_BOT_TOKEN", "red")])
async def test_an_app_of_many_workspaces_needs_no_token_and_another_bot_s_is_none(
    cloud: Account, name: str, state: str
) -> None:
    cloud.client("ssm").put_parameter(Name=f"{PATH}/{name}", Value="x", Type="SecureString")
    assert (await secrets_check(cloud, "")).state == state


async def test_one_of_several_bots_has_secrets_of_its_own(cloud: Account) -> None:
    cloud.client("ssm").put_parameter(Name=f"{PATH}/TELEGRAM_BOT_TOKEN", Value="x", Type="SecureString")
    found = await secrets_check(cloud, "lola")
    assert (found.state, f"--name {PATH}/lola/<NAME>" in found.next) == ("red", True)
    cloud.client("ssm").put_parameter(Name=f"{PATH}/lola/TELEGRAM_BOT_TOKEN", Value="x", Type="SecureString")
    assert (await secrets_check(cloud, "lola")).state == "green"


async def secrets_check(account: Account, bot: str) -> Check:
    values = {"KABAR_SECRETS_PATH": PATH, "KABAR_BOT": bot, "AWS_ENDPOINT_URL": account.endpoint}
    settings = read_settings(values)
    found = await own_examination.examine(settings, situation(settings, "", deployed=True, now=0))
    return next(check for check in found if check.name == "secrets")
