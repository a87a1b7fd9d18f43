"""What the webhook needs to let a message in: the platforms' proofs, a store and a wake.

This module is all that the webhook function wires; it loads neither the model's nor the platforms' clients.
"""

from typing import TYPE_CHECKING

from msgspec import Struct

from bot.adapters.dynamodb_store import DynamoDBStore
from bot.adapters.sqs_wake import SQSWake
from bot.channels.telegram.receive import Identity
from bot.clock import SystemClock
from bot.errors import ConfigError
from bot.ports import Clock, Store, Wake
from handlers.aws import Aws, Secrets
from handlers.settings import Settings, with_secrets

if TYPE_CHECKING:
    from bot.channels.slack.receive import SlackReceiver


class Door(Struct, frozen=True):
    """``telegram`` and ``slack`` are None where that platform is not set up: then nothing is let in from there."""

    store: Store
    wake: Wake
    clock: Clock
    telegram: Identity | None
    telegram_secret: str
    slack: "SlackReceiver | None"


def make_door(settings: Settings, store: Store, wake: Wake, clock: Clock) -> Door:
    identity = None
    if settings.telegram_bot_token:
        identity = Identity(settings.telegram_bot_token, settings.telegram_bot_username, settings.telegram_api_base_url)
    slack = None
    if settings.slack_signing_secret:
        from bot.channels.slack.receive import SlackReceiver  # Slack's SDK is loaded at the first event only

        slack = SlackReceiver(settings.slack_signing_secret)
    return Door(store, wake, clock, identity, settings.telegram_webhook_secret, slack)


class Doors:
    """The door of one process, made again when a secret was rotated."""

    REFRESH_AFTER = 10.0
    """Seconds a secret must be old before a refused request makes us read it again."""

    def __init__(self, settings: Settings, secrets: Secrets, store: Store, wake: Wake, clock: Clock) -> None:
        self._settings = settings
        self._secrets = secrets
        self._store = store
        self._wake = wake
        self._clock = clock
        self._made: tuple[Settings, Door] | None = None

    async def current(self) -> Door:
        return self._make(with_secrets(self._settings, await self._secrets.read()))

    async def renewed(self) -> Door:
        """The door with secrets read again, as a rotation may be why a request was refused."""
        return self._make(with_secrets(self._settings, await self._secrets.read(newer_than=self.REFRESH_AFTER)))

    def _make(self, settings: Settings) -> Door:
        if self._made is None or self._made[0] != settings:
            self._made = (settings, make_door(settings, self._store, self._wake, self._clock))
        return self._made[1]


def aws_doors(settings: Settings, aws: Aws) -> Doors:
    """Doors onto DynamoDB and SQS. Raises ConfigError naming what is missing."""
    store, wake, clock = aws_parts(settings, aws)
    return Doors(settings, Secrets(aws, settings.kabar_secrets_path, clock), store, wake, clock)


def aws_parts(settings: Settings, aws: Aws) -> tuple[DynamoDBStore, SQSWake, Clock]:
    missing = [name for name in ("KABAR_TABLE", "KABAR_QUEUE_URL") if not getattr(settings, name.lower())]
    if missing:
        raise ConfigError(f"Set {' and '.join(missing)}: infra/template.yaml does it for the functions it deploys.")
    clock = SystemClock()
    store = DynamoDBStore(aws.client("dynamodb"), settings.kabar_table, clock, shards=settings.kabar_budget_shards)
    return store, SQSWake(aws.client("sqs"), settings.kabar_queue_url), clock
