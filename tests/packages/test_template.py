"""What infra/template.yaml promises. Whether AWS would take it is asked by ``make validate``."""

import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from fnmatch import fnmatch, fnmatchcase
from statistics import fmean
from typing import Any

import pytest

from bot.adapters import lambda_sandbox
from bot.adapters.dynamodb_store import KEYS
from bot.channels.a2a.handler import WAIT
from bot.errors import ConfigError
from bot.keeping import blob_folder
from bot.metrics import FEW, METRICS, NAMESPACE
from bot.sandbox import wire
from bot.sandbox.box import PATIENCE
from handlers import registrar, sandbox
from handlers.bots import bot_names
from handlers.settings import PYTHONS, SECRETS, Settings
from scripts import parameters
from scripts.imports import ROOT, source_of
from tests.packages.template import Node, read_template

TEMPLATE = read_template()
RESOURCES: Node = TEMPLATE["Resources"]
PARAMETERS: Node = TEMPLATE["Parameters"]


def properties(name: str) -> Node:
    found: Node = RESOURCES[name]["Properties"]
    return found


KEPT = ("RetainExceptOnCreate", "Retain")
"""When its stack is deleted, and when an update replaces it; only a first deployment that fails takes it along."""


def policies(name: str) -> tuple[str, str]:
    return RESOURCES[name]["DeletionPolicy"], RESOURCES[name]["UpdateReplacePolicy"]


def of_type(kind: str) -> dict[str, Node]:
    return {name: resource["Properties"] for name, resource in RESOURCES.items() if resource["Type"] == kind}


def variables(name: str) -> Node:
    common: Node = TEMPLATE["Globals"]["Function"]["Environment"]["Variables"]
    ignored = RESOURCES[name].get("IgnoreGlobals", [])
    return {
        **({} if "Environment" in ignored else common),
        **properties(name).get("Environment", {}).get("Variables", {}),
    }


def statements() -> list[Node]:
    roles = of_type("AWS::IAM::Role").values()
    documents = [policy["PolicyDocument"] for role in roles for policy in role.get("Policies", [])]
    kinds = ("AWS::IAM::ManagedPolicy", "AWS::IAM::Policy")
    shared = [policy["PolicyDocument"] for kind in kinds for policy in of_type(kind).values()]
    return [statement for document in [*documents, *shared] for statement in document["Statement"]]


def of_role(name: str, service: str) -> dict[str, Node]:
    """The statement that allows each action."""
    return {
        action: statement
        for policy in properties(name).get("Policies", [])
        for statement in policy["PolicyDocument"]["Statement"]
        for action in as_list(statement["Action"])
        if action.startswith(service)
    }


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
    names = set(variables(name))

    assert {each.lower() for each in names} <= set(Settings.__struct_fields__)
    assert names.isdisjoint(SECRETS)
    keeps_nothing = name in ("SandboxFunction", "RegistrarFunction")
    assert {"KABAR_TABLE", "KABAR_QUEUE_URL", "KABAR_SECRETS_PATH"} <= names or keeps_nothing


def test_the_sandbox_is_told_nothing_may_do_nothing_and_is_never_shared_by_two_conversations() -> None:
    function, role = properties("SandboxFunction"), properties("SandboxRole")

    assert variables("SandboxFunction") == {}
    assert "VpcConfig" not in function
    assert function["TenancyConfig"] == {"TenantIsolationMode": "PER_TENANT"}
    assert function["Role"] == {"Fn::GetAtt": ["SandboxRole", "Arn"]}
    assert "ManagedPolicyArns" not in role
    assert set(of_role("SandboxRole", "")) == {"logs:CreateLogStream", "logs:PutLogEvents"}
    assert {statement["Resource"]["Fn::GetAtt"][0] for statement in of_role("SandboxRole", "").values()} == {
        "SandboxLog"
    }


def test_a_script_ends_before_the_sandbox_does_and_the_worker_waits_for_both() -> None:
    assert lambda_sandbox.LambdaSandbox.seconds == wire.SECONDS
    assert wire.SECONDS + PATIENCE < properties("SandboxFunction")["Timeout"] < lambda_sandbox.CONFIG.read_timeout
    assert lambda_sandbox.CONFIG.retries["total_max_attempts"] == 1
    assert properties("SandboxFunction")["MemorySize"] * 1024 * 1024 / 3 > sandbox.SPARE


def test_the_worker_alone_may_call_the_sandbox_and_no_other_function() -> None:
    roles = [name for name in RESOURCES if RESOURCES[name]["Type"] == "AWS::IAM::Role"]
    allowed = {name: found for name in roles if (found := of_role(name, "lambda:"))}

    assert {name: set(found) for name, found in allowed.items()} == {"WorkerRole": {"lambda:InvokeFunction"}}
    assert allowed["WorkerRole"]["lambda:InvokeFunction"]["Resource"] == {"Fn::GetAtt": ["SandboxFunction", "Arn"]}
    assert variables("WorkerFunction")["KABAR_SANDBOX_FUNCTION"] == {"Ref": "SandboxFunction"}


def test_the_defaults_agree_with_the_settings() -> None:
    assert PARAMETERS["Model"]["Default"] == Settings().kabar_model
    assert PARAMETERS["MaxTokens"]["Default"] == Settings().kabar_max_tokens
    assert PARAMETERS["MaxModelCalls"]["Default"] == Settings().kabar_max_model_calls
    assert PARAMETERS["BudgetGuestDay"]["Default"] == Settings().kabar_budget_guest_day
    assert PARAMETERS["LogLevel"]["Default"] == Settings().kabar_log_level
    assert PARAMETERS["CheaperModel"]["Default"] == Settings().kabar_cheaper_model
    assert PARAMETERS["MessagesPerMinute"]["Default"] == Settings().kabar_messages_per_minute
    assert [PARAMETERS[f"Budget{each}"]["Default"] for each in ("PersonDay", "ChatDay", "Day", "Month")] == [
        Settings().kabar_budget_person_day,
        Settings().kabar_budget_chat_day,
        Settings().kabar_budget_day,
        Settings().kabar_budget_month,
    ]
    assert PARAMETERS["BudgetShards"]["Default"] == Settings().kabar_budget_shards
    assert PARAMETERS["TranscriptionModel"]["Default"] == Settings().kabar_transcription_model
    assert PARAMETERS["Python"]["Default"] == Settings().kabar_python
    assert PARAMETERS["Python"]["AllowedValues"] == ["", *PYTHONS]
    assert PARAMETERS["LogContent"]["Default"] == Settings().kabar_log_content == "off"
    assert PARAMETERS["CostAlarm"]["Default"] == 0.8 * Settings().kabar_budget_day
    assert PARAMETERS["FollowThreads"]["Default"] == Settings().kabar_follow_threads
    assert PARAMETERS["TelegramDrafts"]["Default"] == Settings().kabar_telegram_drafts
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


def test_a_turn_may_go_on_in_any_number_of_invocations() -> None:
    """Lambda stops what it takes for a loop, a function that is called by its own message, after sixteen calls."""
    assert FUNCTIONS["WorkerFunction"]["RecursiveLoop"] == "Allow"
    assert [name for name in FUNCTIONS if FUNCTIONS[name].get("RecursiveLoop")] == ["WorkerFunction"]


def test_who_gives_a_turn_up_knows_all_that_decides_what_becomes_of_it() -> None:
    """What waits may be an approver's word, or a voice that is yet to be heard: taken, it does not come again."""
    worker, last = variables("WorkerFunction"), variables("DeadLetterFunction")
    decides = ("KABAR_APPROVERS", "KABAR_TRANSCRIPTION_URL", "KABAR_TRANSCRIPTION_MODEL")

    assert {name: last.get(name) for name in decides} == {name: worker[name] for name in decides}


def test_the_table_has_the_keys_that_the_store_uses_and_survives_the_stack() -> None:
    table = properties("Table")

    assert {name: table[name] for name in KEYS} == KEYS
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert policies("Table") == KEPT


def test_what_lies_in_the_table_and_the_queues_is_encrypted() -> None:
    assert properties("Table")["SSESpecification"] == {"SSEEnabled": True}
    queues = [name for name, resource in RESOURCES.items() if resource["Type"] == "AWS::SQS::Queue"]
    assert {name: properties(name)["SqsManagedSseEnabled"] for name in queues} == dict.fromkeys(queues, True)


def test_files_are_private_encrypted_and_forgotten_in_the_end_and_survive_the_stack() -> None:
    bucket = properties("Files")

    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert len(bucket["PublicAccessBlockConfiguration"]) == 4
    assert bucket["OwnershipControls"] == {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}
    assert bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert "VersioningConfiguration" not in bucket
    assert {rule["ExpirationInDays"]["Ref"] for rule in EXPIRING} == {"FileDays"}
    assert {rule["Status"] for rule in bucket["LifecycleConfiguration"]["Rules"]} == {"Enabled"}
    assert PARAMETERS["FileDays"]["Default"] > 366
    (over_tls,) = properties("FilesPolicy")["PolicyDocument"]["Statement"]
    assert (over_tls["Effect"], over_tls["Principal"], over_tls["Action"]) == ("Deny", "*", "s3:*")
    assert over_tls["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    for name in ("Files", "FilesPolicy"):
        assert policies(name) == KEPT


EXPIRING = [rule for rule in properties("Files")["LifecycleConfiguration"]["Rules"] if "ExpirationInDays" in rule]


@pytest.mark.parametrize("conversation", ["telegram:1", "slack:T1:C1:9.1", "a2a:c1", f"telegram:{'9' * 200}"])
def test_the_files_of_every_conversation_are_forgotten_in_the_end(conversation: str) -> None:
    for bot in ("", "bots/lola/"):
        assert any(f"{bot}{blob_folder(conversation)}".startswith(rule["Prefix"]) for rule in EXPIRING)


def test_the_owners_folder_in_the_bucket_stays_is_read_by_the_worker_and_written_by_no_function() -> None:
    pattern = re.compile(PARAMETERS["AgentPrefix"]["AllowedPattern"])
    (statement,) = properties("KeepInstructions")["PolicyDocument"]["Statement"]

    assert PARAMETERS["AgentPrefix"]["Default"] == Settings().kabar_agent_prefix == ""
    assert variables("WorkerFunction")["KABAR_AGENT_PREFIX"] == {"Ref": "AgentPrefix"}
    assert all(pattern.fullmatch(prefix) for prefix in ("", "agent/", "agent-2/"))
    assert not any(pattern.fullmatch(prefix) for prefix in ("telegram_3a1/", "/", "agent", "~x/", "slack_/"))
    assert (statement["Effect"], set(statement["Action"])) == ("Deny", {"s3:DeleteObject", "s3:PutObject"})
    assert statement["Resource"] == {"Fn::Sub": "${Files.Arn}/agent*"}
    assert RESOURCES["KeepInstructions"]["Condition"] == "HasAgentPrefix"
    puts = {role: of_role(role, "s3:").get("s3:PutObject", {"Resource": []}) for role in of_type("AWS::IAM::Role")}
    keys = {
        role: [each["Fn::Sub"].partition("/")[2] for each in as_list(put["Resource"])] for role, put in puts.items()
    }
    writers = {role for role, patterns in keys.items() if any(fnmatch("agent/AGENTS.md", each) for each in patterns)}
    assert {role["Ref"] for role in properties("KeepInstructions")["Roles"]} == writers


def test_only_who_works_on_a_conversation_knows_where_its_files_are() -> None:
    functions = {name: variables(name).get("KABAR_BUCKET") for name in FUNCTIONS}
    allowed = {name: set(of_role(name, "s3:")) for name in ("WebhookRole", "WorkerRole", "DeadLetterRole", "A2ARole")}

    bucket = {"Ref": "Files"}
    assert functions == {
        "WebhookFunction": None,
        "WorkerFunction": bucket,
        "SandboxFunction": None,
        "DeadLetterFunction": bucket,
        "A2AFunction": bucket,
        "RegistrarFunction": None,
    }
    assert allowed == {
        "WebhookRole": set(),
        "WorkerRole": {
            *("s3:DeleteObject", "s3:GetObject", "s3:ListBucket", "s3:PutObject"),
            "s3:GetBucketPublicAccessBlock",  # for /doctor: whether they are private, not one of them
        },
        "DeadLetterRole": {"s3:DeleteObject", "s3:GetObject", "s3:ListBucket", "s3:PutObject"},
        "A2ARole": {"s3:GetObject", "s3:ListBucket", "s3:PutObject"},
    }


def test_no_function_may_do_everything_or_touch_what_is_not_the_bot_s() -> None:
    actions = [action for statement in statements() for action in as_list(statement["Action"])]
    resources = [resource for statement in statements() for resource in as_list(statement["Resource"])]

    assert [action for action in actions if "*" in action] == []
    assert [resource for resource in resources if resource == "*"] == []
    keys = [statement for statement in statements() if "kms:Decrypt" in as_list(statement["Action"])]
    others = [statement for statement in keys if statement["Resource"] != {"Fn::GetAtt": ["SealKey", "Arn"]}]
    assert others and all("kms:ViaService" in statement["Condition"]["StringEquals"] for statement in others)


def test_the_webhook_seals_tokens_and_opens_none_and_deletes_nothing_but_installations() -> None:
    (take,) = [policy for policy in of_type("AWS::IAM::Policy").values() if policy["PolicyName"] == "installations"]
    seal, uninstall = take["PolicyDocument"]["Statement"]
    assert take["Roles"] == [{"Ref": "WebhookRole"}]
    assert (seal["Action"], uninstall["Action"]) == ("kms:Encrypt", "dynamodb:DeleteItem")
    patterns = uninstall["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
    keys = {
        "I#T1": True,
        "lola/I#T1": True,
        "C#slack:T1:C1": False,
        "lola/C#slack:T1:C1": False,
        "U#slack:T1:U1": False,
    }
    assert {key: any(fnmatchcase(key, pattern) for pattern in patterns) for key in keys} == keys
    tokens = ("SealKey", "TakeInstallations", "UseInstallations")
    assert {RESOURCES[name]["Condition"] for name in tokens} == {"HasInstalls"}
    assert PARAMETERS["SlackInstalls"]["Default"] == "off"


@pytest.mark.parametrize("names", ["", "lola", "lola,news-desk", "Lola", "1st", "lola,", "a" * 21, "a b", "a_b"])
def test_the_template_takes_the_names_of_bots_that_the_functions_take(names: str) -> None:
    taken = re.fullmatch(PARAMETERS["Bots"]["AllowedPattern"], names) is not None
    try:
        bot_names(names)
    except ConfigError:
        assert not taken
    else:
        assert taken or names.endswith(",")


def test_the_webhook_can_add_messages_but_read_none() -> None:
    """What it may query is an index of keys: whose message waits, not what it says; and reminders, whose attribute no
    other item has. What it may get is one number."""
    own = of_role("WebhookRole", "dynamodb:") | of_role("WebhookRole", "sqs:")

    assert set(own) == {"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "sqs:SendMessage"}
    (policy,) = properties("WebhookRole")["Policies"]
    queries = [each for each in policy["PolicyDocument"]["Statement"] if each["Action"] == "dynamodb:Query"]
    assert {each["Sid"]: each["Resource"] for each in queries} == {
        "Sweep": {"Fn::Sub": "${Table.Arn}/index/due"},
        "Remind": {"Fn::GetAtt": ["Table", "Arn"]},
    }
    assert own["dynamodb:Query"]["Condition"] == {
        "ForAllValues:StringEquals": {"dynamodb:Attributes": ["pk", "sk", "reminder"]},
        "StringEqualsIfExists": {"dynamodb:Select": "SPECIFIC_ATTRIBUTES"},
    }
    assert own["dynamodb:GetItem"]["Condition"] == {
        "ForAllValues:StringEquals": {"dynamodb:Attributes": ["pk", "sk", "last_seq", "given_role"]},
        "StringEqualsIfExists": {"dynamodb:Select": "SPECIFIC_ATTRIBUTES"},
    }
    (due,) = properties("Table")["GlobalSecondaryIndexes"]
    assert (due["IndexName"], due["Projection"]["ProjectionType"]) == ("due", "KEYS_ONLY")


def test_other_agents_have_a_function_only_where_it_is_wanted_which_reaches_no_conversation_but_theirs() -> None:
    own = of_role("A2ARole", "dynamodb:")

    assert PARAMETERS["AgentToAgent"]["Default"] == "off"
    assert [RESOURCES[name]["Condition"] for name in ("A2AFunction", "A2ARole", "A2ALog")] == ["HasAgents"] * 3
    assert set(own) == {"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"}
    assert own["dynamodb:Query"]["Condition"] == {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["C#a2a:*"]}}
    assert properties("A2AFunction")["Timeout"] > WAIT
    assert properties("A2ARole")["ManagedPolicyArns"] == [{"Ref": "ReadSecrets"}]


def test_schedules_are_the_bot_s_own_group_and_may_do_nothing_but_call_the_webhook() -> None:
    (keeps, lends) = properties("KeepSchedules")["PolicyDocument"]["Statement"]
    (trust,) = properties("ScheduleRole")["AssumeRolePolicyDocument"]["Statement"]
    (calls,) = properties("CallWebhook")["PolicyDocument"]["Statement"]

    assert keeps["Resource"]["Fn::Sub"].endswith(":schedule/${Schedules}/*")
    assert (lends["Action"], lends["Resource"]) == ("iam:PassRole", {"Fn::GetAtt": ["ScheduleRole", "Arn"]})
    assert trust["Condition"]["StringEquals"]["aws:SourceArn"] == {"Fn::GetAtt": ["Schedules", "Arn"]}
    assert properties("CallWebhook")["Roles"] == [{"Ref": "ScheduleRole"}]
    assert (calls["Action"], calls["Resource"]) == ("lambda:InvokeFunction", {"Ref": "WebhookFunction.Alias"})
    for name in ("WebhookRole", "WorkerRole", "DeadLetterRole"):
        assert {"Ref": "KeepSchedules"} in properties(name)["ManagedPolicyArns"]


def test_whoever_schedules_knows_whom_the_schedule_calls() -> None:
    """The webhook learns its own name when it is called: it can not be told, as it does not exist before."""
    targets = {name: variables(name).get("KABAR_SCHEDULE_TARGET") for name in FUNCTIONS}

    webhook = {"Ref": "WebhookFunction.Alias"}
    assert {name for name, target in targets.items() if target == webhook} == {"WorkerFunction", "DeadLetterFunction"}
    assert {name for name, target in targets.items() if target is None} >= {"WebhookFunction"}


PUBLISHED = ("WebhookFunction", "WorkerFunction")


def parameters_in(node: Any) -> set[str]:
    """Those that this part of the template is made of, through conditions too."""
    match node:
        case {"Ref": str(name)}:
            return {name} & set(PARAMETERS)
        case {"Fn::If": [condition, *branches]}:
            return parameters_in(TEMPLATE["Conditions"][condition]) | parameters_in(branches)
        case {"Fn::Sub": str(text)}:
            return set(re.findall(r"\$\{(\w+)\}", text)) & set(PARAMETERS)
        case dict():
            return parameters_in(list(node.values()))
        case list():
            return {name for each in node for name in parameters_in(each)}
    return set()


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_changed_parameter_publishes_a_new_version_and_an_old_one_goes(name: str) -> None:
    """SAM names a version by what stands in the template, where a parameter is only its name; and Lambda makes none
    where the function itself did not change."""
    function, digest = properties(name), properties("Digest")
    made_of = parameters_in(TEMPLATE["Globals"]) | parameters_in(function)

    assert made_of <= {each["Ref"] for each in digest.values() if isinstance(each, dict) and "Ref" in each}
    assert "${Digest.Digest}" in function["Description"]["Fn::Sub"]
    assert function["VersionDescription"] == {"Fn::GetAtt": ["Digest", "Digest"]}
    assert function["AutoPublishAliasAllProperties"] is True
    assert function["VersionDeletionPolicy"] == "Delete"


def test_snapstart_is_off_unless_wanted_and_changes_no_address() -> None:
    """The address belongs to the alias, which is there with and without."""
    assert PARAMETERS["SnapStart"]["Default"] == "off"
    for name in PUBLISHED:
        function = properties(name)
        assert function["AutoPublishAlias"] == "live"
        assert function["SnapStart"] == {"ApplyOn": {"Fn::If": ["HasSnapStart", "PublishedVersions", "None"]}}
        assert function.get("EphemeralStorage") is None  # SnapStart takes no more than the 512 MB that are there


# What CloudFormation replaces a resource for (its resource types' createOnlyProperties and conditionalCreateOnly-).
REPLACED_FOR = {
    "Table": {"TableName", "ImportSourceSpecification", "KeySchema", "LocalSecondaryIndexes"},
    "Files": {"BucketName", "BucketNamePrefix", "BucketNamespace"},
    "FilesPolicy": {"Bucket"},
    "WakeQueue": {"FifoQueue", "QueueName"},
    "DeadLetters": {"FifoQueue", "QueueName"},
    "Schedules": {"Name"},
    "SandboxFunction": {"FunctionName", "PackageType", "TenancyConfig"},
    "WebhookFunction": {"FunctionName", "PackageType", "AutoPublishAlias"},
}


@pytest.mark.parametrize("name", REPLACED_FOR)
def test_no_parameter_replaces_what_holds_words_or_is_known_by_its_name(name: str) -> None:
    given = {
        key: value for key, value in (RESOURCES[name].get("Properties") or {}).items() if key in REPLACED_FOR[name]
    }

    assert parameters_in(given) == set()
    assert "Condition" not in RESOURCES[name]
    assert not {key for key in given if key.endswith("Name")}  # an update that does replace it needs the name anew


NOT_ON_AWS = {
    "kabar_data",  # the SQLite file
    "kabar_files",
    "kabar_python_packages",
    "kabar_concurrency",  # WorkerConcurrency
    "kabar_agent_dir",  # the packaged one, or AgentPrefix
    "aws_region",  # set by Lambda
    "kabar_bot",  # which of several: told by what comes in
    "otel_exporter_otlp_traces_endpoint",  # TracesEndpoint, a collector in the layer, which knows where to and by whom
    "otel_exporter_otlp_headers",
    "otel_instrumentation_genai_capture_message_content",  # LogContent
    "otel_sdk_disabled",
}


def test_every_setting_can_be_set_by_a_parameter_or_is_a_secret_or_no_matter_of_aws() -> None:
    given = {name.lower() for function in FUNCTIONS for name in variables(function)}

    assert set(Settings.__struct_fields__) - given == {name.lower() for name in SECRETS} | NOT_ON_AWS


def test_the_registrar_reads_secrets_makes_the_one_that_is_ours_and_overwrites_none() -> None:
    (policy,) = properties("RegistrarRole")["Policies"]
    rights = {each["Sid"]: each for each in policy["PolicyDocument"]["Statement"]}

    assert set(rights) == {"MakeSecret", "KeepSecret", "KnowAddress", "Log"}
    assert properties("RegistrarRole")["ManagedPolicyArns"] == [{"Ref": "ReadSecrets"}]
    for sid in ("MakeSecret", "KeepSecret"):
        secrets = [each["Fn::Sub"].partition(":parameter${SecretsPath}")[2] for each in rights[sid]["Resource"]]
        assert secrets == ["/TELEGRAM_WEBHOOK_SECRET", "/*/TELEGRAM_WEBHOOK_SECRET"]
    assert (rights["KeepSecret"]["Effect"], rights["KeepSecret"]["Condition"]) == (
        "Deny",
        {"StringEquals": {"ssm:Overwrite": "true"}},
    )


def test_a_registrar_that_never_answers_holds_a_deployment_up_for_no_longer_than_it_may_run() -> None:
    for name in ("Registration", "Digest"):
        assert properties(name)["ServiceTimeout"] == properties("RegistrarFunction")["Timeout"] > registrar.SPARE
    assert set(registrar.TOLD) == {
        output["Value"]["Fn::GetAtt"][1]
        for output in TEMPLATE["Outputs"].values()
        if output["Value"].get("Fn::GetAtt", [""])[0] == "Registration"
    }
    assert properties("Registration")["Code"] == {"Ref": "RegistrarFunction.Version"}


def test_the_page_about_deploying_lists_every_parameter_with_its_default() -> None:
    shown = (ROOT / "docs/deploy.md").read_text()

    assert shown == parameters.page(shown), "python -m scripts.parameters"
    assert all(f"| `{name}` |" in shown for name in PARAMETERS)


def test_sam_finds_the_template_and_asks_for_no_more_rights_than_it_needs() -> None:
    config = tomllib.loads((ROOT / "samconfig.toml").read_text())["default"]

    assert (ROOT / config["build"]["parameters"]["template_file"]).samefile(ROOT / "infra/template.yaml")
    assert config["deploy"]["parameters"]["capabilities"] == "CAPABILITY_IAM"


def test_every_alarm_reaches_somebody() -> None:
    alarms = of_type("AWS::CloudWatch::Alarm")

    assert {alarm["MetricName"] for alarm in alarms.values()} >= {
        "ApproximateAgeOfOldestMessage",
        "Invocations",
    }
    assert [name for name, alarm in alarms.items() if alarm["AlarmActions"] != [{"Ref": "AlarmTopic"}]] == []


def rings(name: str, seen: Iterable[tuple[int, float]]) -> bool:
    """Whether an alarm goes off at some time, where its metric was told these values at these seconds."""
    alarm, points = properties(name), defaultdict[int, list[float]](list)
    for at, value in seen:
        points[at // alarm["Period"]].append(value)
    told = {period: sum(each) if alarm["Statistic"] == "Sum" else fmean(each) for period, each in points.items()}
    breaching = sorted(period for period, value in told.items() if value >= alarm["Threshold"])
    assert (alarm["ComparisonOperator"], alarm["TreatMissingData"]) == (
        "GreaterThanOrEqualToThreshold",
        "notBreaching",
    )
    among: int = alarm["EvaluationPeriods"]
    wanted = int(alarm.get("DatapointsToAlarm") or among)
    ends = breaching[wanted - 1 :]
    return any(end - begin < among for begin, end in zip(breaching, ends, strict=False))


TRIES = (0, 1, 60, 300)
"""Seconds after which Slack sends a message that is not taken."""
SELDOM = range(1_000, 12_000, 2_400)
"""When somebody writes to a bot that few people have."""


@pytest.mark.parametrize("name", ["WebhookRefusalAlarm", "WrongSecretAlarm"])
def test_a_bot_that_few_write_to_is_not_deaf_without_an_alarm_nor_is_there_one_for_each_message(name: str) -> None:
    assert rings(name, ((at + later, 1) for at in SELDOM for later in TRIES))
    assert not rings(name, [(1_000, 1)])
    assert not rings(name, ((1_000 + later, 1) for later in TRIES))


def test_a_bot_that_fails_every_few_who_ask_has_an_alarm_and_one_unlucky_question_has_none() -> None:
    assert rings("FailedTurnsAlarm", ((at, 100) for at in SELDOM))
    assert not rings("FailedTurnsAlarm", [(1_000, 100)])
    assert not rings("FailedTurnsAlarm", ((at, 0 if at % 60 else 100) for at in range(0, 20_000, 3)))


def test_two_stacks_of_one_name_in_two_regions_have_a_dashboard_each() -> None:
    """An account's dashboards are one list for all regions: the later would take the place of the earlier."""
    (dashboard,) = of_type("AWS::CloudWatch::Dashboard").values()

    assert dashboard["DashboardName"] == {"Fn::Sub": "${AWS::StackName}-${AWS::Region}"}


def test_what_alarms_and_dashboard_read_is_measured() -> None:
    alarms = [each for each in of_type("AWS::CloudWatch::Alarm").values() if each["Namespace"] == NAMESPACE]
    (dashboard,) = of_type("AWS::CloudWatch::Dashboard").values()
    shown = json.dumps(json.loads(dashboard["DashboardBody"]["Fn::Sub"].replace("${BudgetDay}", "20")))

    assert {alarm["MetricName"] for alarm in alarms} <= set(METRICS)
    for alarm in alarms:
        dimensions = [each["Name"] for each in alarm["Dimensions"]]
        assert dimensions in (["Stack"], ["Stack", METRICS[alarm["MetricName"]][1]])
        assert (alarm["Dimensions"][0]["Value"], RESOURCES["Dashboard"]["Condition"]) == (
            {"Ref": "AWS::StackName"},
            "HasMetrics",
        )
    assert [name for name in METRICS if name not in shown and name != "FailedShare"] == []
    comments = (ROOT / "infra/template.yaml").read_text()
    assert f"those are {len(FEW) - 1} metrics" in comments  # Refused is counted by its status
    assert f"with all {len(METRICS)}, and" in comments
    assert {alarm["MetricName"] for alarm in alarms} <= FEW
    charts = [each for each in json.loads(shown)["widgets"] if each["type"] == "metric"]
    assert [name for name in METRICS if f'"{name}"' in json.dumps(charts) and name not in FEW] == []
    assert len(of_type("AWS::CloudWatch::Alarm")) == 10  # as many are free


def test_every_parameter_is_explained() -> None:
    grouped = TEMPLATE["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]

    assert [name for name, parameter in PARAMETERS.items() if not parameter.get("Description")] == []
    assert sorted(name for group in grouped for name in group["Parameters"]) == sorted(PARAMETERS)
