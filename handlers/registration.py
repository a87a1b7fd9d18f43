"""Where the bot is, told to Telegram and Slack: what the registrar function does.

Everything may be done again and ends the same. The secrets are read where they lie, and stay there: neither properties
nor answers nor logs hold one.
"""

import asyncio
import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import closing
from secrets import token_urlsafe
from textwrap import shorten
from types import MappingProxyType
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from msgspec import Struct

from bot import logs
from bot.channels.slack.manifest import manifest
from bot.channels.slack.registration import named
from bot.channels.telegram.webhook import Webhook
from bot.clock import SystemClock
from bot.commands import menu
from bot.errors import ConfigError, KabarError, SendUncertain, StoreUnavailable
from handlers.aws import Aws, Secrets
from handlers.bots import bot_names, bot_settings, secrets_of
from handlers.registrar import Answer
from handlers.settings import Settings, many_workspaces, read_settings, with_secrets

SECRET = "TELEGRAM_WEBHOOK_SECRET"  # noqa: S105  # its name
ROOM = 700
"""Characters of what is said of a platform, for any number of bots: CloudFormation takes no answer above 4,096 bytes,
of which the manifest is a half."""

Properties = Mapping[str, Any]
"""Of the custom resource: Address, the webhook's with a slash at its end; MaxConnections; SecretsPath; Bots, those with
a name; TelegramApiBaseUrl; SlackApiBaseUrl. CloudFormation makes text of all of them."""


class Bot(Struct, frozen=True):
    """One of those that are deployed, "" for the one without a name. ``settings`` hold its secrets, which lie under
    ``path``; its webhook's address begins with ``address``."""

    name: str
    settings: Settings
    path: str
    address: str

    def says(self, sentence: str) -> str:
        return f"{self.name}: {sentence}" if self.name else sentence

    @property
    def webhook(self) -> Webhook:
        return Webhook(self.settings.telegram_bot_token, self.settings.telegram_api_base_url)


def register(properties: Properties, before: Properties = MappingProxyType({})) -> Answer:
    """Every bot on both platforms, one sentence for each; where one refuses, its sentence says so and is a fault. Bots
    of ``before`` that are no more are taken back."""
    faults: list[str] = []

    def told(tell: Callable[[Bot], str]) -> str:
        return _short(bot.says(_tried(tell, bot, faults)) for bot in bots)

    manifest = _manifest(properties)
    with _aws(properties) as aws:
        try:
            names = _names(properties)
            bots = _bots(properties, {*names, *_names(before)}, aws)
        except KabarError as error:
            return Answer({"Telegram": str(error), "Slack": str(error), "SlackManifest": manifest}, str(error))
        gone, bots = [bot for bot in bots if bot.name not in names], [bot for bot in bots if bot.name in names]
        connections = int(properties["MaxConnections"])
        data = {"Telegram": told(lambda bot: _telegram(bot, connections, aws)), "Slack": told(_slack)}
        for bot in gone:
            _tried(_take_back, bot, faults)
    return Answer({**data, "SlackManifest": manifest}, _short(faults))


def unregister(properties: Properties) -> Answer:
    """Telegram no longer delivers here. Where it delivers elsewhere by now, that stays."""
    faults: list[str] = []
    with _aws(properties) as aws:
        try:
            bots = _bots(properties, _names(properties), aws)
        except KabarError as error:
            return Answer({}, str(error))
    for bot in bots:
        _tried(_take_back, bot, faults)
    return Answer({}, _short(faults))


def _tried(work: Callable[[Bot], str], bot: Bot, faults: list[str]) -> str:
    """What it says; what keeps it from being done is a fault, and keeps no other bot."""
    try:
        return work(bot)
    except KabarError as error:
        faults.append(bot.says(str(error)))
        return str(error)


def _short(sentences: Iterable[str]) -> str:
    return shorten(" ".join(sentences), ROOM, placeholder=" ...")


def register_again() -> dict[str, str]:
    """What the stack's last deployment did, with the secrets as they are now. For a person who calls the function."""
    settings = read_settings(os.environ)
    with closing(Aws(settings.aws_endpoint_url)) as aws:
        stack = aws.client("cloudformation").describe_stacks(StackName=settings.kabar_stack)["Stacks"][0]
    outputs = {each["OutputKey"]: each["OutputValue"] for each in stack["Outputs"]}
    chosen = {each["ParameterKey"]: each["ParameterValue"] for each in stack["Parameters"]}
    return register({
        **{name: chosen[name] for name in ("SecretsPath", "TelegramApiBaseUrl", "SlackApiBaseUrl")},
        "Bots": chosen.get("Bots", ""),
        "MaxConnections": chosen["WebhookConcurrency"],
        "Address": outputs["TelegramWebhook"].removesuffix("telegram"),
    }).data  # fmt: skip


def _names(properties: Properties) -> tuple[str, ...]:
    """Of the bots; nobody's where there are no properties. A stack of before there were several names none."""
    return ("", *bot_names(properties.get("Bots", ""))) if properties else ()


def _aws(properties: Properties) -> closing[Aws]:
    settings = read_settings(_environment(properties))
    logs.set_up(settings.kabar_log_level)
    return closing(Aws(settings.aws_endpoint_url))


def _environment(properties: Properties) -> dict[str, str]:
    return {
        **os.environ,
        "KABAR_SECRETS_PATH": properties["SecretsPath"],
        "TELEGRAM_API_BASE_URL": properties["TelegramApiBaseUrl"],
        "SLACK_API_BASE_URL": properties["SlackApiBaseUrl"],
    }


def _bots(properties: Properties, names: Collection[str], aws: Aws) -> list[Bot]:
    """In the order of their names. Raises ConfigError, StoreUnavailable."""
    environment = {**_environment(properties), "KABAR_BOTS": ",".join(filter(None, names))}
    path, address = properties["SecretsPath"], properties["Address"]
    secrets = _secrets(path, aws)
    bots = []
    for name in sorted(names):
        settings = with_secrets(bot_settings(environment, name), secrets_of(secrets, name))
        bots.append(Bot(name, settings, f"{path}/{name}".rstrip("/"), f"{address}{name}/" if name else address))
    return bots


def _secrets(path: str, aws: Aws) -> Mapping[str, str]:
    """Of all bots. Raises ConfigError, StoreUnavailable."""
    return asyncio.run(Secrets(aws, path, SystemClock(), deep=True).read())


def _telegram(bot: Bot, connections: int, aws: Aws) -> str:
    if not bot.settings.telegram_bot_token:
        return f"Telegram is not set up. Store TELEGRAM_BOT_TOKEN under {bot.path}, {_again()}"
    webhook = bot.webhook
    name = webhook.username()
    webhook.set(f"{bot.address}telegram", _own_secret(bot, aws), connections)
    webhook.offer({"": menu("en"), "id": menu("id")})
    return f"Telegram delivers to this bot: write to @{name}."


def _take_back(bot: Bot) -> str:
    if bot.settings.telegram_bot_token and bot.webhook.address() == f"{bot.address}telegram":
        bot.webhook.remove()
    return ""


def _own_secret(bot: Bot, aws: Aws) -> str:
    """The one that lies there, or one made now. Raises ConfigError, StoreUnavailable."""
    if bot.settings.telegram_webhook_secret:
        return bot.settings.telegram_webhook_secret
    made, ssm = token_urlsafe(48), aws.client("ssm")
    try:
        ssm.put_parameter(Name=f"{bot.path}/{SECRET}", Value=made, Type="SecureString")
    except ssm.exceptions.ParameterAlreadyExists:  # somebody was quicker
        return _secrets(bot.path, aws)[SECRET]
    except ClientError as error:
        code = error.response["Error"]["Code"]
        raise ConfigError(f"{SECRET} can not be stored under {bot.path}: {code}.") from None
    except BotoCoreError as error:
        raise StoreUnavailable(f"SSM did not answer: {type(error).__name__}") from None
    return made


def _slack(bot: Bot) -> str:
    settings = bot.settings
    token = "SLACK_CLIENT_SECRET" if many_workspaces(settings) else "SLACK_BOT_TOKEN"
    lacks = [name for name in (token, "SLACK_SIGNING_SECRET") if not getattr(settings, name.lower())]
    if lacks:
        how = "Make an app from the output SlackManifest, install it, store"
        return f"Slack is not set up. {how} {' and '.join(lacks)} under {bot.path}, {_again()}"
    if many_workspaces(settings):
        return f"Workspaces install the app at {bot.address}slack/install."
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
