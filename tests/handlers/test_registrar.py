"""The registrar between CloudFormation, SSM and both platforms: each spoken to as on AWS, over HTTP."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.channels.telegram.parse import KINDS
from bot.commands import menu
from handlers.registrar import SPARE, handler
from scripts.imports import ROOT
from simulator import slack, telegram
from simulator.app import Simulator, serve, slack_base_url, telegram_base_url
from simulator.serving import serve as serve_app
from simulator.world import Fault
from tests.emulator import Account

ADDRESS = "https://abc.lambda-url.eu-central-1.on.aws/"
PATH = "/kabar/test"
NOWHERE = "http://127.0.0.1:9"
LARGEST_ANSWER = 4096
"""Bytes that CloudFormation reads of one."""


class Context:
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def get_remaining_time_in_millis(self) -> int:
        return int(self._seconds * 1000)


class Stack:
    """Sends events as CloudFormation does, and takes the answers; the first ``deaf`` of them do not arrive."""

    def __init__(self, simulator: Simulator, aws: Account, url: str) -> None:
        self.simulator = simulator
        self.aws = aws
        self.deaf = 0
        self.bodies: list[bytes] = []
        self.kinds: list[str | None] = []
        self.app = Starlette(routes=[Route("/answer", self._answer, methods=["PUT"])])
        self.url = ""
        self._platforms = url

    def store(self, bot: str = "", **secrets: str) -> None:
        for name, value in secrets.items():
            path = f"{PATH}/{bot}/{name}" if bot else f"{PATH}/{name}"
            self.aws.client("ssm").put_parameter(Name=path, Value=value, Type="SecureString", Overwrite=True)

    def stored(self, name: str) -> str:
        found = self.aws.client("ssm").get_parameter(Name=f"{PATH}/{name}", WithDecryption=True)
        return str(found["Parameter"]["Value"])

    async def send(
        self,
        kind: str,
        *,
        seconds: float = 60,
        type: str = "Custom::Registration",
        before: dict[str, str] | None = None,
        **changed: Any,
    ) -> Any:
        """The answer to one event; ``changed`` are properties, ``before`` those of the last deployment."""
        properties = {
            "ServiceToken": "arn",
            "Address": ADDRESS,
            "MaxConnections": "20",
            "SecretsPath": PATH,
            "TelegramApiBaseUrl": telegram_base_url(self._platforms),
            "SlackApiBaseUrl": slack_base_url(self._platforms),
        }
        event = {
            "RequestType": kind,
            "ResponseURL": f"{self.url}/answer?signature=very-secret",
            "StackId": "arn:aws:cloudformation:eu-central-1:000000000000:stack/kabar/1234",
            "RequestId": "r1",
            "ResourceType": type,
            "LogicalResourceId": "Registration",
            "ResourceProperties": {**properties, **changed},
        }
        if kind != "Create":
            event["PhysicalResourceId"] = "Registration-1234"
        if kind == "Update":
            event["OldResourceProperties"] = {**properties, **(before or {})}
        await asyncio.to_thread(handler, event, Context(SPARE + seconds))
        return json.loads(self.bodies[-1])

    async def _answer(self, request: Request) -> Response:
        if self.deaf:
            self.deaf -= 1
            return Response(status_code=503)
        self.bodies.append(await request.body())
        self.kinds.append(request.headers.get("content-type"))
        return Response()


TOKENS = {
    "TELEGRAM_BOT_TOKEN": telegram.TOKEN,
    "SLACK_BOT_TOKEN": slack.BOT_TOKEN,
    "SLACK_SIGNING_SECRET": slack.SIGNING_SECRET,
}


@pytest.fixture
async def stack(aws: Account, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stack]:
    for name, value in {**aws.environment, "AWS_LAMBDA_FUNCTION_NAME": "kabar-registrar"}.items():
        monkeypatch.setenv(name, value)
    simulator = Simulator()
    async with serve(simulator) as url:
        stack = Stack(simulator, aws, url)
        async with serve_app(stack.app) as stack.url:
            yield stack


async def test_a_first_deployment_tells_telegram_where_the_bot_is_and_makes_the_secret_between_them(
    stack: Stack,
) -> None:
    stack.store(**TOKENS)

    answer = await stack.send("Create")

    webhook = stack.simulator.webhook
    assert (answer["Status"], answer["PhysicalResourceId"]) == ("SUCCESS", "Registration-1234")
    assert (webhook.url, webhook.max_connections) == (f"{ADDRESS}telegram", 20)
    assert webhook.secret == stack.stored("TELEGRAM_WEBHOOK_SECRET")
    assert len(webhook.secret) >= 32
    assert stack.simulator.telegram.allowed_updates == frozenset(KINDS)
    offered = {
        language: [(each["command"], each["description"]) for each in commands]
        for language, commands in stack.simulator.telegram.commands.items()
    }
    assert offered == {"": menu("en"), "id": menu("id")}
    assert answer["Data"]["Telegram"] == "Telegram delivers to this bot: write to @kabar_simulator_bot."
    assert answer["Data"]["Slack"].startswith("Slack knows the bot: ")
    assert stack.kinds == [""]


async def test_the_same_again_ends_the_same_and_a_secret_that_is_there_is_used(stack: Stack) -> None:
    stack.store(**TOKENS, TELEGRAM_WEBHOOK_SECRET="my-own-secret")

    first = await stack.send("Create")
    second = await stack.send("Update")

    assert first == second
    assert stack.simulator.webhook.secret == stack.stored("TELEGRAM_WEBHOOK_SECRET") == "my-own-secret"


async def test_without_tokens_a_deployment_succeeds_and_says_what_is_left_to_do(stack: Stack) -> None:
    answer = await stack.send("Create")

    assert answer["Status"] == "SUCCESS"
    command = "aws lambda invoke --function-name kabar-registrar /dev/stdout"
    for platform, token in (("Telegram", "TELEGRAM_BOT_TOKEN"), ("Slack", "SLACK_BOT_TOKEN and SLACK_SIGNING_SECRET")):
        assert f"{token} under {PATH}, then run: {command}" in answer["Data"][platform]
    assert stack.simulator.webhook.url == ""


@pytest.fixture
async def lola(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Simulator]:
    """Another bot's Telegram."""
    simulator = Simulator()
    async with serve(simulator) as url:
        monkeypatch.setenv("LOLA__TELEGRAM_API_BASE_URL", telegram_base_url(url))
        yield simulator


async def test_each_of_several_bots_is_told_to_telegram_with_a_secret_of_its_own(stack: Stack, lola: Simulator) -> None:
    stack.store(**TOKENS)
    stack.store("lola", TELEGRAM_BOT_TOKEN=telegram.TOKEN)

    answer = await stack.send("Create", Bots="lola,news-desk")

    assert answer["Status"] == "SUCCESS"
    assert (stack.simulator.webhook.url, lola.webhook.url) == (f"{ADDRESS}telegram", f"{ADDRESS}lola/telegram")
    assert stack.simulator.webhook.secret == stack.stored("TELEGRAM_WEBHOOK_SECRET") != lola.webhook.secret
    assert lola.webhook.secret == stack.stored("lola/TELEGRAM_WEBHOOK_SECRET")
    assert "lola: Telegram delivers to this bot: write to @" in answer["Data"]["Telegram"]
    assert (
        f"news-desk: Telegram is not set up. Store TELEGRAM_BOT_TOKEN under {PATH}/news-desk"
        in (answer["Data"]["Telegram"])
    )


async def test_a_bot_that_is_refused_keeps_no_other_from_being_told(stack: Stack, lola: Simulator) -> None:
    stack.store(TELEGRAM_BOT_TOKEN="1:wrong")
    stack.store("lola", TELEGRAM_BOT_TOKEN=telegram.TOKEN)

    answer = await stack.send("Update", Bots="lola")

    assert answer["Reason"].startswith("Telegram does not know TELEGRAM_BOT_TOKEN.")
    assert lola.webhook.url == f"{ADDRESS}lola/telegram"


@pytest.mark.parametrize(
    ("kind", "changed"),
    [("Delete", {"Bots": "lola"}), ("Update", {"Bots": "", "before": {"Bots": "lola"}})],
)
async def test_a_bot_that_goes_takes_its_webhook_back(
    stack: Stack, lola: Simulator, kind: str, changed: dict[str, Any]
) -> None:
    stack.store(**TOKENS)
    stack.store("lola", TELEGRAM_BOT_TOKEN=telegram.TOKEN)
    await stack.send("Create", Bots="lola")

    await stack.send(kind, **changed)

    assert lola.webhook.url == ""
    assert bool(stack.simulator.webhook.url) is (kind == "Update")


async def test_a_name_that_no_bot_can_have_is_said_to_be_so(stack: Stack) -> None:
    answer = await stack.send("Create", Bots="slack")
    assert (answer["Status"], "slack can not be the name of a bot" in answer["Reason"]) == ("FAILED", True)


async def test_what_is_said_of_many_bots_fits_into_an_answer(stack: Stack) -> None:
    names = [f"{'bot' * 6}{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    answer = await stack.send("Create", Bots=",".join(names))
    assert answer["Data"]["Telegram"].endswith(" ...")
    assert len(stack.bodies[-1]) < LARGEST_ANSWER


async def test_an_app_of_many_workspaces_is_installed_at_its_page(stack: Stack) -> None:
    stack.store(SLACK_CLIENT_ID="1.2", SLACK_CLIENT_SECRET="x", SLACK_SIGNING_SECRET="y")
    answer = await stack.send("Create")
    assert answer["Data"]["Slack"] == f"Workspaces install the app at {ADDRESS}slack/install."


@pytest.mark.parametrize(
    ("tokens", "reason"),
    [
        (
            {"TELEGRAM_BOT_TOKEN": "1:wrong"},
            "Telegram does not know TELEGRAM_BOT_TOKEN. Copy it from @BotFather again.",
        ),
        ({**TOKENS, "SLACK_BOT_TOKEN": "xoxb-wrong"}, "Slack refuses SLACK_BOT_TOKEN (invalid_auth)."),
        ({**TOKENS, "TELEGRAM_WEBHOOK_SECRET": "not allowed!"}, "secret token contains unallowed characters"),
    ],
)
async def test_what_a_platform_refuses_fails_the_first_deployment_with_one_reason_but_never_an_update(
    stack: Stack, tokens: dict[str, str], reason: str
) -> None:
    """A failed update is rolled back through the same function: a second failure would leave the stack stuck."""
    stack.store(**tokens)

    created, updated = await stack.send("Create"), await stack.send("Update")

    assert (created["Status"], updated["Status"]) == ("FAILED", "SUCCESS")
    assert reason in created["Reason"]
    assert reason in " ".join(updated["Data"].values())


async def test_a_rollback_is_an_update_with_the_old_properties_and_sets_back_what_was(stack: Stack) -> None:
    stack.store(**TOKENS)
    await stack.send("Create")
    await stack.send("Update", Address="https://new.example/", MaxConnections="0")
    assert (stack.simulator.webhook.url, stack.simulator.webhook.max_connections) == (
        "https://new.example/telegram",
        40,
    )

    await stack.send("Update")

    assert (stack.simulator.webhook.url, stack.simulator.webhook.max_connections) == (f"{ADDRESS}telegram", 20)


@pytest.mark.parametrize(
    ("now", "left"), [(f"{ADDRESS}telegram", ""), ("https://other/telegram", "https://other/telegram")]
)
async def test_a_stack_that_goes_takes_back_its_own_webhook_and_nobody_else_s(
    stack: Stack, now: str, left: str
) -> None:
    stack.store(**TOKENS)
    await stack.send("Create")
    stack.simulator.webhook.set(now, "secret")

    answer = await stack.send("Delete")

    assert (answer["Status"], stack.simulator.webhook.url) == ("SUCCESS", left)


@pytest.mark.parametrize("changed", [{"TelegramApiBaseUrl": NOWHERE}, {"SecretsPath": "no path"}, {"Address": None}])
async def test_a_stack_can_be_deleted_whatever_can_not_be_reached(stack: Stack, changed: dict[str, Any]) -> None:
    stack.store(**TOKENS)

    assert (await stack.send("Delete", seconds=0.5, **changed))["Status"] == "SUCCESS"


async def test_slack_that_does_not_answer_holds_nobody_up(stack: Stack) -> None:
    stack.store(**TOKENS)

    answer = await stack.send("Create", SlackApiBaseUrl=NOWHERE)

    assert answer["Status"] == "SUCCESS"
    assert answer["Data"]["Slack"].startswith("Slack can not be reached")


async def test_an_answer_that_does_not_arrive_is_given_again(stack: Stack) -> None:
    stack.deaf = 1

    assert (await stack.send("Create"))["Status"] == "SUCCESS"


@pytest.mark.parametrize(
    ("hang", "changed", "reason"),
    [
        (True, {}, "was not ready within"),
        (False, {"MaxConnections": "many"}, "The registrar failed (ValueError)"),
    ],
)
async def test_what_hangs_or_breaks_is_answered_too(
    stack: Stack, hang: bool, changed: dict[str, Any], reason: str
) -> None:
    stack.store(**TOKENS)
    if hang:
        stack.simulator.world.add_fault(Fault("telegram", "getMe", "hang"))

    created = await stack.send("Create", seconds=0.5 if hang else 20, **changed)

    assert (created["Status"], reason in created["Reason"]) == ("FAILED", True)


async def test_no_secret_is_answered_or_logged_nor_the_address_of_the_answer(
    stack: Stack, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    stack.store(**TOKENS)
    stack.deaf = 1
    stack.simulator.world.add_fault(Fault("telegram", "setWebhook", "error", status=500, error="Internal Server Error"))

    await stack.send("Create")

    secrets = [*TOKENS.values(), stack.stored("TELEGRAM_WEBHOOK_SECRET"), "very-secret"]
    told = stack.bodies[-1].decode() + "".join(
        record.getMessage() for record in caplog.records if record.name.startswith(("bot.", "handlers."))
    )
    assert "setWebhook" in told
    assert [secret for secret in secrets if secret in told] == []


async def test_the_manifest_is_the_one_of_the_docs_with_this_bot_s_addresses_and_fits_into_an_answer(
    stack: Stack,
) -> None:
    host = f"https://{'a' * 63}.lambda-url.ap-southeast-1.on.aws/"
    answer = await stack.send("Create", Address=host)

    manifest = json.loads(answer["Data"]["SlackManifest"])
    url = f"{host}slack/events"
    settings = manifest["settings"]
    assert settings["event_subscriptions"].pop("request_url") == url
    assert settings["interactivity"].pop("request_url") == url
    assert [command.pop("url") for command in manifest["features"]["slash_commands"]] == [url]
    assert settings["socket_mode_enabled"] is False
    shown = json.loads((ROOT / "docs/slack-manifest.json").read_bytes())
    assert manifest == {**shown, "settings": {**shown["settings"], "socket_mode_enabled": False}}
    assert len(stack.bodies[-1]) < LARGEST_ANSWER


async def test_called_by_hand_it_does_what_the_last_deployment_did_with_the_secrets_of_now(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stack.send("Create")
    monkeypatch.setenv("KABAR_STACK", "kabar")
    chosen = {
        "SecretsPath": PATH,
        "TelegramApiBaseUrl": telegram_base_url(stack._platforms),
        "SlackApiBaseUrl": slack_base_url(stack._platforms),
        "WebhookConcurrency": "7",
    }
    template = {
        "Parameters": {name: {"Type": "String"} for name in chosen},
        "Resources": {"Topic": {"Type": "AWS::SNS::Topic"}},
        "Outputs": {"TelegramWebhook": {"Value": f"{ADDRESS}telegram"}},
    }
    stack.aws.client("cloudformation").create_stack(
        StackName="kabar",
        TemplateBody=json.dumps(template),
        Parameters=[{"ParameterKey": name, "ParameterValue": value} for name, value in chosen.items()],
    )
    stack.store(**TOKENS)

    said = await asyncio.to_thread(handler, {}, Context(60))

    assert said["Telegram"].startswith("Telegram delivers to this bot")
    assert (stack.simulator.webhook.url, stack.simulator.webhook.max_connections) == (f"{ADDRESS}telegram", 7)


async def test_another_choice_of_parameters_has_another_digest_and_the_same_one_the_same(stack: Stack) -> None:
    async def digest(**properties: Any) -> str:
        answer = await stack.send("Update", type="Custom::Digest", **properties)
        assert answer["Status"] == "SUCCESS"
        return str(answer["Data"]["Digest"])

    first = await digest(Model="a", Owner="b")
    assert await digest(Owner="b", Model="a", ServiceToken="another") == first
    assert await digest(Model="b", Owner="a") != first
