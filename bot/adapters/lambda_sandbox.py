"""Scripts in a Lambda function of their own, in an execution environment that no other conversation ever gets."""

import asyncio
import hashlib
import json
import logging
from collections.abc import Callable
from typing import Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from bot.sandbox import wire
from bot.sandbox.port import CanNotRun, Job, Ran

Client = Any
"""A boto3 "lambda" client: its methods are made at run time, so no type can be named."""

LIBRARIES: tuple[str, ...] = ("matplotlib", "numpy", "openpyxl", "pandas")
"""Of requirements/sandbox.in."""
CONFIG = Config(
    connect_timeout=5,
    # As long as the function may take, and a start.
    read_timeout=110,
    # Never again: the script may have run.
    retries={"mode": "standard", "total_max_attempts": 1},
    tcp_keepalive=True,
)

BUSY = "The sandbox is busy: try again in a minute."
NOT_NOW = "The sandbox can not be reached at the moment."
ENDED = "The sandbox ended before the script did: it may have taken too much memory or time."
GARBLED = "The sandbox gave no answer that can be read."

log = logging.getLogger(__name__)


class LambdaSandbox:
    """Port ``Sandbox``. Lambda has no way to end a call: where nobody waits any more, the script ends by its time."""

    seconds = wire.SECONDS
    largest = wire.LARGEST
    libraries: tuple[str, ...] = LIBRARIES
    installs = False

    def __init__(self, client: Callable[[], Client], function: str, bot: str = "") -> None:
        """``client`` gives one that is made with CONFIG when it is first needed; ``function`` is its name or ARN. Of
        several bots that share it, ``bot`` is the name of this one: no environment serves two."""
        self._client = client
        self._function = function
        self._prefix = f"{bot}/" if bot else ""

    async def run(self, conversation: str, job: Job) -> Ran:
        payload = json.dumps(wire.request(job)).encode()
        answer = await asyncio.to_thread(self._invoke, tenant(self._prefix + conversation), payload)
        try:
            return wire.unpack(json.loads(answer)["ran"], Ran)
        except (ValueError, KeyError, TypeError) as error:
            log.warning("error=<%s> | the sandbox's answer can not be read", type(error).__name__)
            raise CanNotRun(GARBLED) from error

    def _invoke(self, tenant_id: str, payload: bytes) -> bytes:
        try:
            answer = self._client().invoke(FunctionName=self._function, TenantId=tenant_id, Payload=payload)
            body: bytes = answer["Payload"].read()
        except ClientError as error:
            code = error.response["Error"]["Code"]
            log.warning("error=<%s> | the sandbox was not reached", code)
            if code in ("RequestTooLargeException", "413"):
                raise CanNotRun(wire.TOO_LARGE) from error
            raise CanNotRun(BUSY if code == "TooManyRequestsException" else NOT_NOW) from error
        except BotoCoreError as error:
            log.warning("error=<%s> | the sandbox was not reached", type(error).__name__)
            raise CanNotRun(NOT_NOW) from error
        if "FunctionError" in answer:
            raise CanNotRun(_reason(body))
        return body


def tenant(conversation: str) -> str:
    """The conversation as Lambda's TenantId: of the characters it takes, and saying nothing in AWS's own logs."""
    return hashlib.sha256(conversation.encode()).hexdigest()


def _reason(body: bytes) -> str:
    """What the function's own refusal says; a fault of its own is not told."""
    try:
        fault = json.loads(body)
    except ValueError:
        return ENDED
    if isinstance(fault, dict) and fault.get("errorType") == CanNotRun.__name__:
        return str(fault.get("errorMessage"))[:500]
    log.warning("error=<%s> | the sandbox failed", str(fault.get("errorType"))[:80] if isinstance(fault, dict) else "")
    return ENDED
