"""What infra/template.yaml promises. Whether AWS would take it is asked by ``make validate``."""

from typing import Any

import pytest

from bot.adapters.dynamodb_store import KEYS
from handlers.settings import SECRETS, Settings
from scripts.imports import ROOT, source_of
from tests.packages.template import Node, read_template

TEMPLATE = read_template()
RESOURCES: Node = TEMPLATE["Resources"]
PARAMETERS: Node = TEMPLATE["Parameters"]


def properties(name: str) -> Node:
    found: Node = RESOURCES[name]["Properties"]
    return found


def of_type(kind: str) -> dict[str, Node]:
    return {name: resource["Properties"] for name, resource in RESOURCES.items() if resource["Type"] == kind}


def variables(function: Node) -> Node:
    common: Node = TEMPLATE["Globals"]["Function"]["Environment"]["Variables"]
    return {**common, **function.get("Environment", {}).get("Variables", {})}


def statements() -> list[Node]:
    roles = of_type("AWS::IAM::Role").values()
    documents = [policy["PolicyDocument"] for role in roles for policy in role["Policies"]]
    shared = [policy["PolicyDocument"] for policy in of_type("AWS::IAM::ManagedPolicy").values()]
    return [statement for document in [*documents, *shared] for statement in document["Statement"]]


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


FUNCTIONS = of_type("AWS::Serverless::Function")
every_function = pytest.mark.parametrize("name", FUNCTIONS)


@every_function
def test_every_function_is_one_that_the_build_makes(name: str) -> None:
    module, _, attribute = FUNCTIONS[name]["Handler"].rpartition(".")

    file = source_of(module)
    assert file is not None
    assert f"def {attribute}(" in file.read_text()
    assert RESOURCES[name]["Metadata"]["BuildMethod"] == "makefile"
    assert f"\nbuild-{name}: " in (ROOT / "Makefile").read_text()


@every_function
def test_every_variable_is_a_setting_and_none_is_a_secret(name: str) -> None:
    names = set(variables(FUNCTIONS[name]))

    assert {each.lower() for each in names} <= set(Settings.__struct_fields__)
    assert names.isdisjoint(SECRETS)
    assert {"KABAR_TABLE", "KABAR_QUEUE_URL", "KABAR_SECRETS_PATH"} <= names


def test_the_defaults_agree_with_the_settings() -> None:
    assert PARAMETERS["Model"]["Default"] == Settings().kabar_model
    assert PARAMETERS["LogLevel"]["Default"] == Settings().kabar_log_level
    assert PARAMETERS["CheaperModel"]["Default"] == Settings().kabar_cheaper_model
    assert PARAMETERS["MessagesPerMinute"]["Default"] == Settings().kabar_messages_per_minute
    assert [PARAMETERS[f"Budget{each}"]["Default"] for each in ("PersonDay", "ChatDay", "Day", "Month")] == [
        Settings().kabar_budget_person_day,
        Settings().kabar_budget_chat_day,
        Settings().kabar_budget_day,
        Settings().kabar_budget_month,
    ]
    assert (PARAMETERS["Owner"]["Default"], PARAMETERS["AllowedUsers"]["Default"]) == ("", "")


def test_a_wake_stays_hidden_for_as_long_as_its_worker_may_run() -> None:
    assert (
        properties("WakeQueue")["VisibilityTimeout"]
        == FUNCTIONS["WorkerFunction"]["Timeout"]
        == {"Ref": "WorkerTimeout"}
    )
    assert (PARAMETERS["WorkerTimeout"]["MinValue"], PARAMETERS["WorkerTimeout"]["MaxValue"]) == (30, 900)


def test_wakes_come_one_at_a_time_and_fail_one_by_one() -> None:
    source = FUNCTIONS["WorkerFunction"]["Events"]["Wakes"]["Properties"]

    assert source["Queue"] == {"Fn::GetAtt": ["WakeQueue", "Arn"]}
    assert source["BatchSize"] == 1
    assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert source["ScalingConfig"] == {"MaximumConcurrency": {"Ref": "WorkerConcurrency"}}


def test_conversations_do_not_wait_for_each_other_and_no_wake_is_thrown_away() -> None:
    queue = properties("WakeQueue")

    assert queue["FifoQueue"] is properties("DeadLetters")["FifoQueue"] is True
    assert (queue["DeduplicationScope"], queue["FifoThroughputLimit"]) == ("messageGroup", "perMessageGroupId")
    assert queue["RedrivePolicy"]["deadLetterTargetArn"] == {"Fn::GetAtt": ["DeadLetters", "Arn"]}
    assert properties("DeadLetters")["MessageRetentionPeriod"] > queue["MessageRetentionPeriod"]


def test_the_table_has_the_keys_that_the_store_uses_and_survives_the_stack() -> None:
    table = properties("Table")

    assert {name: table[name] for name in KEYS} == KEYS
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert (RESOURCES["Table"]["DeletionPolicy"], RESOURCES["Table"]["UpdateReplacePolicy"]) == ("Retain", "Retain")


def test_no_function_may_do_everything_or_touch_what_is_not_the_bot_s() -> None:
    actions = [action for statement in statements() for action in as_list(statement["Action"])]
    resources = [resource for statement in statements() for resource in as_list(statement["Resource"])]

    assert [action for action in actions if "*" in action] == []
    assert [resource for resource in resources if resource == "*"] == []
    keys = [statement for statement in statements() if "kms:Decrypt" in as_list(statement["Action"])]
    assert all("kms:ViaService" in statement["Condition"]["StringEquals"] for statement in keys)


def test_the_webhook_can_add_messages_but_read_none() -> None:
    """What it may query is an index of keys: whose message waits, not what it says."""
    own = {
        action: statement["Resource"]
        for policy in properties("WebhookRole")["Policies"]
        for statement in policy["PolicyDocument"]["Statement"]
        for action in as_list(statement["Action"])
        if not action.startswith("logs:")
    }

    assert set(own) == {"dynamodb:PutItem", "dynamodb:Query", "sqs:SendMessage"}
    assert own["dynamodb:Query"] == {"Fn::Sub": "${Table.Arn}/index/due"}
    (due,) = properties("Table")["GlobalSecondaryIndexes"]
    assert (due["IndexName"], due["Projection"]["ProjectionType"]) == ("due", "KEYS_ONLY")


def test_every_alarm_reaches_somebody() -> None:
    alarms = of_type("AWS::CloudWatch::Alarm")

    assert {alarm["MetricName"] for alarm in alarms.values()} >= {
        "ApproximateAgeOfOldestMessage",
        "Invocations",
    }
    assert [name for name, alarm in alarms.items() if alarm["AlarmActions"] != [{"Ref": "AlarmTopic"}]] == []


def test_every_parameter_is_explained() -> None:
    grouped = TEMPLATE["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]

    assert [name for name, parameter in PARAMETERS.items() if not parameter.get("Description")] == []
    assert sorted(name for group in grouped for name in group["Parameters"]) == sorted(PARAMETERS)
