"""AWS clients and the secrets that lie there. Clients are made on first use: importing this asks nobody anything.

They are boto3's own, made without boto3: what that adds, resources and parallel transfers, nobody uses here, and it
would take a tenth of the webhook's start.
"""

import asyncio
import os
import threading
from collections.abc import Mapping
from typing import Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import get_session

from bot.errors import ConfigError, StoreUnavailable
from bot.ports import Clock

# Short enough that a hanging call does not eat a webhook's three seconds; botocore repeats it. What is asked is checked
# by AWS, as the tests' own clients do before it is sent: to check it here too would take a twentieth of each call.
CONFIG = Config(
    connect_timeout=2,
    read_timeout=5,
    parameter_validation=False,
    retries={"mode": "standard", "total_max_attempts": 3},
    tcp_keepalive=True,
    max_pool_connections=20,
)


class Aws:
    """Clients of one process, by service name. Making a client is not safe in two threads at once; using it is."""

    def __init__(self, endpoint_url: str) -> None:
        self._endpoint_url = endpoint_url or None
        self._session = get_session()
        region = os.environ.get("AWS_REGION")
        if region and not os.environ.get("AWS_DEFAULT_REGION"):
            self._session.set_config_variable("region", region)  # botocore alone reads only the other name
        self._clients: dict[str, Any] = {}
        self._making = threading.Lock()

    def client(self, service: str, config: Config = CONFIG) -> Any:
        """``config`` counts when it is made, at the first call."""
        with self._making:
            if service not in self._clients:
                self._clients[service] = self._session.create_client(
                    service, endpoint_url=self._endpoint_url, config=config
                )
            return self._clients[service]

    def close(self) -> None:
        for client in self._clients.values():
            client.close()


class Secrets:
    """The SecureString parameters under one SSM path, by their names below it. Read on first use and kept for a minute.

    ``deep``: those in folders below it too, such as ``lola/SLACK_BOT_TOKEN``."""

    KEEP = 60.0

    def __init__(self, aws: Aws, path: str, clock: Clock, *, deep: bool = False) -> None:
        self._aws = aws
        self._path = path.rstrip("/")
        self._deep = deep
        self._clock = clock
        self._values: Mapping[str, str] = {}
        self._read_at = float("-inf")

    async def read(self, *, newer_than: float | None = None) -> Mapping[str, str]:
        """The secrets, at most ``newer_than`` (default KEEP) seconds old. Raises StoreUnavailable where there are none
        yet and SSM does not answer, ConfigError where it refuses."""
        age = self._clock.now() - self._read_at
        if not self._path or age < (self.KEEP if newer_than is None else newer_than):
            return self._values
        try:
            self._values = await asyncio.to_thread(self._fetch)
        except (BotoCoreError, ClientError) as error:
            if not self._values:
                raise _translated(error, self._path) from error
        self._read_at = self._clock.now()
        return self._values

    def _fetch(self) -> dict[str, str]:
        pages = self._aws.client("ssm").get_paginator("get_parameters_by_path")
        found = {}
        for page in pages.paginate(Path=self._path, WithDecryption=True, Recursive=self._deep):
            for parameter in page["Parameters"]:
                found[parameter["Name"].removeprefix(f"{self._path}/")] = parameter["Value"]
        return found


def _translated(error: Exception, path: str) -> Exception:
    if isinstance(error, ClientError) and error.response["Error"]["Code"] in (
        "AccessDeniedException",
        "ValidationException",
    ):
        return ConfigError(f"The secrets under {path} can not be read: {error.response['Error']['Code']}.")
    return StoreUnavailable(f"SSM did not answer: {type(error).__name__}")
