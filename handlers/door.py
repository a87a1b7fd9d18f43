"""What the webhook needs to let a message in: the platforms' proofs, a store and a wake.

This module is all that the webhook function wires; it loads neither the model's nor the platforms' clients.
"""

from typing import TYPE_CHECKING, NamedTuple, Protocol

from msgspec import Struct

from bot.access import Access, read_access
from bot.adapters.dynamodb_store import DynamoDBStore
from bot.adapters.sqs_wake import SQSWake
from bot.channels.telegram.receive import Identity
from bot.clock import SystemClock
from bot.errors import ConfigError, KabarError
from bot.messages import Inbound
from bot.ports import Clock, Installations, Seal, Store, Wake
from handlers.aws import Aws, Secrets
from handlers.bots import current_settings
from handlers.settings import Settings, many_workspaces

if TYPE_CHECKING:
    from bot.channels.slack.installing import Installing
    from bot.channels.slack.receive import SlackReceiver

SHORTEST_SECRET = 32
"""Characters."""
NO_SEAL = "Set KABAR_SEAL_KEY to the key of AWS's KMS that seals Slack's tokens in DynamoDB."


class Keeper(Store, Installations, Protocol):
    """Both stores are."""


class Door(Struct, frozen=True):
    """``access`` is as far as the settings tell: whom the owner let in with a tap the store knows. ``telegram`` and
    ``slack`` are None where that platform is not set up: then nothing is let in from there. ``installing`` is None
    where the Slack app is one workspace's."""

    store: Keeper
    wake: Wake
    clock: Clock
    access: Access
    telegram: Identity | None
    telegram_secret: str
    slack: "SlackReceiver | None"
    installing: "Installing | None"

    async def signs(self, inbound: Inbound) -> bool:
        """Whether the platform's request is answered with the first sign of life: only to who is known here to get an
        answer. A stranger may get none, and then nobody may seem to write; whoever else gets one sees the worker's
        sign."""
        if inbound.kind != "message" or not inbound.addressed:
            return False
        if self.access.role(inbound.sender):
            return True
        try:
            given = await self.store.role(inbound.sender.id)
        except KabarError:  # the message is not lost for want of a sign
            return False
        return self.access.role(inbound.sender, given) != ""


class DoorSource(Protocol):
    async def current(self) -> Door: ...

    async def renewed(self) -> Door: ...


def make_door(settings: Settings, store: Keeper, wake: Wake, clock: Clock, seal: Seal | None = None) -> Door:
    """``seal`` is needed where the Slack app is in many workspaces. Raises ConfigError where the settings can not
    work."""
    identity = None
    if settings.telegram_bot_token:
        identity = Identity(settings.telegram_bot_token, settings.telegram_bot_username, settings.telegram_api_base_url)
    slack = None
    if settings.slack_signing_secret:
        from bot.channels.slack.receive import SlackReceiver  # Slack's SDK is loaded at the first event only

        slack = SlackReceiver(settings.slack_signing_secret)
    return Door(
        store=store,
        wake=wake,
        clock=clock,
        access=read_access(settings.kabar_owner, settings.kabar_allowed_users, exact=many_workspaces(settings)),
        telegram=identity,
        telegram_secret=settings.telegram_webhook_secret,
        slack=slack,
        installing=_installing(settings, store, clock, seal) if many_workspaces(settings) else None,
    )


def _installing(settings: Settings, kept: Installations, clock: Clock, seal: Seal | None) -> "Installing":
    from bot.channels.slack.installing import Installing
    from bot.channels.slack.oauth import App

    if faults := install_faults(settings):
        raise ConfigError(" ".join(faults))
    if seal is None:
        raise ConfigError(NO_SEAL)
    app = App(settings.slack_client_id, settings.slack_client_secret, settings.slack_api_base_url)
    return Installing(app, settings.slack_state_secret, kept, seal, clock)


def install_faults(settings: Settings) -> list[str]:
    """What keeps an app from being installed in many workspaces, a sentence each."""
    faults = []
    if not settings.slack_client_secret:
        faults.append("Set SLACK_CLIENT_SECRET, from the app's Basic Information, beside SLACK_CLIENT_ID.")
    if len(settings.slack_state_secret) < SHORTEST_SECRET:
        faults.append(f"Set SLACK_STATE_SECRET to {SHORTEST_SECRET} random characters or more: openssl rand -hex 32.")
    if settings.slack_bot_token:
        faults.append("Set SLACK_BOT_TOKEN for one workspace, or SLACK_CLIENT_ID for many, not both.")
    return faults


class Doors:
    """The door of one bot in one process, made again when a secret was rotated."""

    REFRESH_AFTER = 10.0
    """Seconds a secret must be old before a refused request makes us read it again."""

    def __init__(
        self,
        settings: Settings,
        secrets: Secrets,
        store: Keeper,
        wake: Wake,
        clock: Clock,
        seal: Seal | None = None,
    ) -> None:
        self._settings = settings
        self._secrets = secrets
        self._parts = (store, wake, clock, seal)
        self._made: tuple[Settings, Door] | None = None

    async def current(self) -> Door:
        return self._make(current_settings(self._settings, await self._secrets.read()))

    async def renewed(self) -> Door:
        """The door with secrets read again, as a rotation may be why a request was refused."""
        return self._make(current_settings(self._settings, await self._secrets.read(newer_than=self.REFRESH_AFTER)))

    def _make(self, settings: Settings) -> Door:
        if self._made is None or self._made[0] != settings:
            self._made = (settings, make_door(settings, *self._parts))
        return self._made[1]


class AwsParts(NamedTuple):
    store: DynamoDBStore
    wake: SQSWake
    clock: Clock


def aws_parts(settings: Settings, aws: Aws) -> AwsParts:
    """One bot's, on DynamoDB and SQS. Raises ConfigError naming what is missing."""
    missing = [name for name in ("KABAR_TABLE", "KABAR_QUEUE_URL") if not getattr(settings, name.lower())]
    if missing:
        raise ConfigError(f"Set {' and '.join(missing)}: infra/template.yaml does it for the functions it deploys.")
    clock, bot = SystemClock(), settings.kabar_bot
    store = DynamoDBStore(aws.client("dynamodb"), settings.kabar_table, clock, bot, shards=settings.kabar_budget_shards)
    return AwsParts(store, SQSWake(aws.client("sqs"), settings.kabar_queue_url, bot), clock)


def aws_doors(settings: Settings, aws: Aws) -> Doors:
    """One bot's doors onto DynamoDB and SQS. Raises ConfigError naming what is missing."""
    parts = aws_parts(settings, aws)
    return Doors(settings, aws_secrets(settings, aws), *parts, aws_seal(settings, aws))


def aws_secrets(settings: Settings, aws: Aws) -> Secrets:
    """Of all bots."""
    return Secrets(aws, settings.kabar_secrets_path, SystemClock(), deep=bool(settings.kabar_bots))


def aws_seal(settings: Settings, aws: Aws) -> Seal | None:
    if not settings.kabar_seal_key:
        return None
    from bot.adapters.kms_seal import KmsSeal

    return KmsSeal(lambda: aws.client("kms"), settings.kabar_seal_key)
