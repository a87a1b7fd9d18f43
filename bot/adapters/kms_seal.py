"""What is stored, sealed by a key that never leaves AWS's Key Management Service: whoever writes need not be able to
read, and each use of the key is in CloudTrail."""

import asyncio
from collections.abc import Callable
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from bot.errors import ConfigError, StoreUnavailable

Client = Any
"""A boto3 "kms" client: its methods are made at run time, so no type can be named."""

_REFUSED = {
    "AccessDeniedException",
    "DisabledException",
    "IncorrectKeyException",
    "InvalidCiphertextException",
    "InvalidKeyUsageException",
    "KMSInvalidStateException",
    "NotFoundException",
}


class KmsSeal:
    """The Seal port on a symmetric key, named by its id, ARN or alias."""

    def __init__(self, client: Callable[[], Client], key: str) -> None:
        """``client`` gives one that is shared between threads, made when it is first needed."""
        self._client = client
        self._key = key

    async def close(self, about: str, data: bytes) -> bytes:
        answer = await self._call("encrypt", about, Plaintext=data)
        return bytes(answer["CiphertextBlob"])

    async def open(self, about: str, sealed: bytes) -> bytes:
        answer = await self._call("decrypt", about, CiphertextBlob=sealed)
        return bytes(answer["Plaintext"])

    async def _call(self, operation: str, about: str, **request: Any) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = await asyncio.to_thread(self._called, operation, about, request)
        except ClientError as error:
            if error.response["Error"]["Code"] in _REFUSED:
                raise ConfigError(f"KABAR_SEAL_KEY can not be used: {error}") from error
            raise StoreUnavailable(str(error)) from error
        except BotoCoreError as error:
            raise StoreUnavailable(f"KMS did not answer: {error}") from error
        return answer

    def _called(self, operation: str, about: str, request: dict[str, Any]) -> Any:
        return getattr(self._client(), operation)(KeyId=self._key, EncryptionContext={"about": about}, **request)
