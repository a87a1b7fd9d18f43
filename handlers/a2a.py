"""The function that other agents call (A2A), with an address of its own: only who wants it carries the SDK.

It stores, wakes and looks; the worker runs the turns.
"""

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from mangum import Mangum

from bot.adapters.s3_blobs import S3Blobs
from bot.agentdir.card import read_card
from bot.channels.a2a.handler import Desk
from bot.channels.a2a.receive import read_keys
from bot.channels.a2a.server import application
from bot.errors import ConfigError
from bot.ports import Blobs, Clock, Store, Wake
from handlers.aws import Aws, Secrets
from handlers.door import Doors, aws_parts
from handlers.loop import close_loop, event_loop
from handlers.settings import Settings, names, read_settings, with_secrets
from handlers.watching import begin_watching, watched

log = logging.getLogger(__name__)


class SecretKeys:
    """The keys as they are in the settings or in the secret store, so that one can be taken away at any time."""

    def __init__(self, settings: Settings, secrets: Secrets) -> None:
        self._settings = settings
        self._secrets = secrets

    async def current(self) -> Mapping[str, str]:
        return self._of(await self._secrets.read())

    async def renewed(self) -> Mapping[str, str]:
        return self._of(await self._secrets.read(newer_than=Doors.REFRESH_AFTER))

    def _of(self, secrets: Mapping[str, str]) -> Mapping[str, str]:
        return read_keys(with_secrets(self._settings, secrets).kabar_a2a_keys)


class SetKeys:
    """Settings that do not change while the process lives. Raises ConfigError where they can not be used."""

    def __init__(self, settings: Settings) -> None:
        self._keys = read_keys(settings.kabar_a2a_keys)

    async def current(self) -> Mapping[str, str]:
        return self._keys

    async def renewed(self) -> Mapping[str, str]:
        return self._keys


def make_desk(settings: Settings, store: Store, wake: Wake, clock: Clock, blobs: Blobs, *, streams: bool) -> Desk:
    card, faults = read_card(Path(settings.kabar_agent_dir))
    for fault in faults:
        log.warning("fault=<%s> | the usual card is shown instead", fault)
    approvers = names(settings.kabar_approvers)
    return Desk(store, wake, clock, blobs, card, approvers, settings.kabar_a2a_url, streams)


class Function(NamedTuple):
    """What this execution environment keeps between events."""

    http: Mangum
    aws: Aws


_function: list[Function] = []


@watched
def handler(event: Any, context: Any) -> Any:
    """Lambda's entry point, for function URL and HTTP API events. A whole answer at once: it can not stream."""
    event_loop()
    if not _function:
        settings = read_settings(os.environ)
        begin_watching(settings)
        if not settings.kabar_bucket:
            raise ConfigError("Set KABAR_BUCKET: infra/template.yaml does it for the functions it deploys.")
        aws = Aws(settings.aws_endpoint_url)
        store, wake, clock = aws_parts(settings, aws)
        desk = make_desk(
            settings, store, wake, clock, S3Blobs(lambda: aws.client("s3"), settings.kabar_bucket), streams=False
        )
        keys = SecretKeys(settings, Secrets(aws, settings.kabar_secrets_path, clock))
        _function.append(Function(Mangum(application(desk, keys), lifespan="off"), aws))
    return _function[0].http(event, context)


def forget() -> None:
    """Be as new at the next event: connections, secrets and loop end. For the thread that calls ``handler``."""
    while _function:
        _function.pop().aws.close()
    close_loop()
