"""Files and pictures in a private S3 bucket: ``<conversation>/<digest>``, one object per content."""

import asyncio
import re
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from botocore.exceptions import (
    ClientError,
    ConnectionError,
    CredentialRetrievalError,
    HTTPClientError,
    IncompleteReadError,
    NoCredentialsError,
)

from bot.errors import ConfigError, StoreUnavailable
from bot.keeping import blob_folder, blob_key, is_blob_key

Client = Any
"""A boto3 "s3" client: its methods are made at run time, so no type can be named."""

AT_ONCE = 1000
"""Objects in one list and in one deletion (S3's most)."""

_MEDIA_TYPE = re.compile(r"[a-z0-9.+-]+/[a-z0-9.+-]+", re.ASCII | re.IGNORECASE)
_ANY_BYTES = "application/octet-stream"

_OVERLOADED = {"OperationAborted", "RequestTimeout", "RequestTimeTooSkewed", "SlowDown", "TooManyRequests"}
_NOT_SET_UP = {
    "AccessDenied",
    "AllAccessDisabled",
    "AuthorizationHeaderMalformed",
    "ExpiredToken",
    "InvalidAccessKeyId",
    "InvalidBucketName",
    "InvalidToken",
    "NoSuchBucket",
    "PermanentRedirect",
    "SignatureDoesNotMatch",
}

P = ParamSpec("P")
T = TypeVar("T")


class S3Blobs:
    """The Blobs port on the bucket of ``infra/template.yaml``."""

    def __init__(self, client: Callable[[], Client], bucket: str, bot: str = "") -> None:
        """``client`` gives one that is shared between threads, made when it is first needed, as making it takes a tenth
        of a second; its own retries and time limits apply. What a ``bot`` with a name keeps lies in a folder of its own
        that no key names: it reaches no other's."""
        self._client = client
        self._bucket = bucket
        self._folder = f"bots/{bot}/" if bot else ""

    async def put(self, conversation: str, data: bytes, media_type: str) -> str:
        """What is kept already is put again: the bucket's days begin anew for what somebody still uses."""
        key = blob_key(conversation, data)
        kind = media_type if _MEDIA_TYPE.fullmatch(media_type) else _ANY_BYTES  # it becomes a header
        await _off_loop(self._put, key, data, kind)
        return key

    async def get(self, key: str) -> bytes | None:
        return await _off_loop(self._get, key) if is_blob_key(key) else None

    async def forget(self, conversation: str) -> None:
        """A page at a time, each deleted before the next is listed. S3 lists what is there now, so it ends."""
        while await _off_loop(self._delete_first, f"{self._folder}{blob_folder(conversation)}/"):
            pass

    def _put(self, key: str, data: bytes, kind: str) -> None:
        self._client().put_object(Bucket=self._bucket, Key=self._folder + key, Body=data, ContentType=kind)

    def _get(self, key: str) -> bytes | None:
        try:
            body = self._client().get_object(Bucket=self._bucket, Key=self._folder + key)["Body"]
        except self._client().exceptions.NoSuchKey:  # AccessDenied to whoever may not list the bucket
            return None
        with body:
            data: bytes = body.read()
        return data

    def _delete_first(self, prefix: str) -> bool:
        """Whether there may be more."""
        listed = self._client().list_objects_v2(Bucket=self._bucket, Prefix=prefix, MaxKeys=AT_ONCE)
        keys = [{"Key": found["Key"]} for found in listed.get("Contents", [])]
        if not keys:
            return False
        answer = self._client().delete_objects(Bucket=self._bucket, Delete={"Objects": keys, "Quiet": True})
        if failed := answer.get("Errors"):  # of single objects, in an answer that says 200
            text = f"S3 kept {len(failed)} of {len(keys)} objects, {failed[0]['Key']}: {failed[0]['Code']}"
            raise _meaning(failed[0]["Code"], text) or StoreUnavailable(text)
        return bool(listed["IsTruncated"])


async def _off_loop(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Errors that are left as they are mean a fault of ours: a request that can never succeed."""
    try:
        return await asyncio.to_thread(work, *args, **kwargs)
    except ClientError as error:
        meaning = _meaning(error.response["Error"]["Code"], str(error))
        if meaning is None and error.response["ResponseMetadata"]["HTTPStatusCode"] < 500:
            raise
        raise meaning or StoreUnavailable(str(error)) from error
    except NoCredentialsError as error:
        raise ConfigError(f"S3 can not be used: {error}") from error
    except (HTTPClientError, ConnectionError, CredentialRetrievalError, IncompleteReadError) as error:
        raise StoreUnavailable(f"S3 did not answer: {error}") from error


def _meaning(code: str, text: str) -> ConfigError | StoreUnavailable | None:
    if code in _NOT_SET_UP:
        return ConfigError(f"KABAR_BUCKET can not be used, check its name, region and permissions: {text}")
    return StoreUnavailable(text) if code in _OVERLOADED else None
