"""Where the bot is, told to Telegram and Slack: what the registrar function does.

Everything may be done again and ends the same. The secrets are read where they lie, and stay there: neither properties
nor answers nor logs hold one.
"""

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from contextlib import closing
from secrets import token_urlsafe
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from bot import logs
from bot.channels.slack.manifest import manifest
from bot.channels.slack.registration import named
from bot.channels.telegram.webhook import Webhook
from bot.clock import SystemClock
from bot.commands import menu
from bot.errors import ConfigError, KabarError, SendUncertain, StoreUnavailable
from handlers.aws import Aws, Secrets
from handlers.registrar import Answer
from handlers.settings import Settings, read_settings, with_secrets

SECRET = "TELEGRAM_WEBHOOK_SECRET"  # noqa: S105  # its name

Properties = Mapping[str, Any]
"""Of the custom resource: Address, the webhook's with a slash at its end; MaxConnections; SecretsPath;
TelegramApiBaseUrl; SlackApiBaseUrl. CloudFormation makes text of all of them."""


def register(properties: Properties) -> Answer:
    """Both platforms, one sentence for each; where one refuses, its sentence says so and is a fault."""
    faults: list[str] = []

    def told(tell: Callable[[Settings, Properties, Aws], str]) -> str:
        try:
            return tell(settings, properties, aws)
        except KabarError as error:
            faults.append(str(error))
            return str(error)

    settings, manifest = _settings(properties), _manifest(properties)
    with closing(Aws(settings.aws_endpoint_url)) as aws:
        try:
            settings = _read_secrets(settings, aws)
        except KabarError as error:
            return Answer({"Telegram": str(error), "Slack": str(error), "SlackManifest": manifest}, str(error))
        data = {"Telegram": told(_telegram), "Slack": told(_slack), "SlackManifest": manifest}
    return Answer(data, " ".join(faults))


def unregister(properties: Properties) -> Answer:
    """Telegram no longer delivers here. Where it delivers elsewhere by now, that stays."""
    settings = _settings(properties)
    with closing(Aws(settings.aws_endpoint_url)) as aws:
        try:
            settings = _read_secrets(settings, aws)
            if settings.telegram_bot_token:
                webhook = _webhook(settings)
                if webhook.address() == _address(properties):
                    webhook.remove()
        except KabarError as error:
            return Answer({}, str(error))
    return Answer({})


def register_again() -> dict[str, str]:
    """What the stack's last deployment did, with the secrets as they are now. For a person who calls the function."""
    settings = read_settings(os.environ)
    with closing(Aws(settings.aws_endpoint_url)) as aws:
        stack = aws.client("cloudformation").describe_stacks(StackName=settings.kabar_stack)["Stacks"][0]
    outputs = {each["OutputKey"]: each["OutputValue"] for each in stack["Outputs"]}
    chosen = {each["ParameterKey"]: each["ParameterValue"] for each in stack["Parameters"]}
    return register({
        **{name: chosen[name] for name in ("SecretsPath", "TelegramApiBaseUrl", "SlackApiBaseUrl")},
        "MaxConnections": chosen["WebhookConcurrency"],
        "Address": outputs["TelegramWebhook"].removesuffix("telegram"),
    }).data  # fmt: skip


def _settings(properties: Properties) -> Settings:
    settings = read_settings(
        {
            **os.environ,
            "KABAR_SECRETS_PATH": properties["SecretsPath"],
            "TELEGRAM_API_BASE_URL": properties["TelegramApiBaseUrl"],
            "SLACK_API_BASE_URL": properties["SlackApiBaseUrl"],
        }
    )
    logs.set_up(settings.kabar_log_level)
    return settings


def _read_secrets(settings: Settings, aws: Aws) -> Settings:
    """Raises ConfigError, StoreUnavailable."""
    secrets = Secrets(aws, settings.kabar_secrets_path, SystemClock())
    return with_secrets(settings, asyncio.run(secrets.read()))


def _address(properties: Properties) -> str:
    return f"{properties['Address']}telegram"


def _webhook(settings: Settings) -> Webhook:
    return Webhook(settings.telegram_bot_token, settings.telegram_api_base_url)


def _telegram(settings: Settings, properties: Properties, aws: Aws) -> str:
    path = settings.kabar_secrets_path
    if not settings.telegram_bot_token:
        return f"Telegram is not set up. Store TELEGRAM_BOT_TOKEN under {path}, {_again()}"
    webhook = _webhook(settings)
    name = webhook.username()
    webhook.set(_address(properties), _own_secret(settings, aws), int(properties["MaxConnections"]))
    webhook.offer({"": menu("en"), "id": menu("id")})
    return f"Telegram delivers to this bot: write to @{name}."


def _own_secret(settings: Settings, aws: Aws) -> str:
    """The one that lies there, or one made now. Raises ConfigError, StoreUnavailable."""
    if settings.telegram_webhook_secret:
        return settings.telegram_webhook_secret
    made, ssm = token_urlsafe(48), aws.client("ssm")
    try:
        ssm.put_parameter(Name=f"{settings.kabar_secrets_path}/{SECRET}", Value=made, Type="SecureString")
    except ssm.exceptions.ParameterAlreadyExists:  # somebody was quicker
        return _read_secrets(settings, aws).telegram_webhook_secret
    except ClientError as error:
        code = error.response["Error"]["Code"]
        raise ConfigError(f"{SECRET} can not be stored under {settings.kabar_secrets_path}: {code}.") from None
    except BotoCoreError as error:
        raise StoreUnavailable(f"SSM did not answer: {type(error).__name__}") from None
    return made


def _slack(settings: Settings, properties: Properties, aws: Aws) -> str:
    lacks = [name for name in ("SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET") if not getattr(settings, name.lower())]
    if lacks:
        how = "Make an app from the output SlackManifest, install it, store"
        return f"Slack is not set up. {how} {' and '.join(lacks)} under {settings.kabar_secrets_path}, {_again()}"
    try:
        return f"Slack knows the bot: {named(settings.slack_bot_token, settings.slack_api_base_url)}."
    except SendUncertain as error:  # nothing is set there, so nothing is missing
        return f"{error} For whether the token is good, {_again()}"


def _again() -> str:
    """A deployment that changes nothing does not call this function."""
    return f"then run: aws lambda invoke --function-name {os.environ['AWS_LAMBDA_FUNCTION_NAME']} /dev/stdout"


def _manifest(properties: Properties) -> str:
    """In one line: CloudFormation takes no answer above 4,096 bytes."""
    return json.dumps(manifest(properties["Address"]), separators=(",", ":"))
