"""Answers in SSM: secrets as SecureStrings under a path, where the functions read them."""

import asyncio
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    ProfileNotFound,
    SSOError,
    TokenRetrievalError,
)

from bot.cli.setup.wrong import Wrong
from handlers.aws import Aws
from handlers.settings import SECRETS

PATH = re.compile(r"(/[A-Za-z0-9_.-]+)+")
ASIDE = "setup"
"""Below the secrets' path: answers that are no secrets. Functions read the path itself only; to them these come as the
stack's parameters."""
UNSIGNED = frozenset(
    {
        "ExpiredTokenException",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)


class Parameters:
    """Secrets as SecureStrings under a path, encrypted with the account's own key of SSM."""

    def __init__(self, aws: Aws, path: str, values: Mapping[str, str]) -> None:
        """``values`` are known beside what is kept, which wins."""
        self._aws = aws
        self._path = path
        self.where = path
        self.values = dict(values)

    async def read(self) -> None:
        """Add what is there to ``values``. Raises Wrong."""
        with _said("ssm:GetParametersByPath"):
            self.values |= await asyncio.to_thread(self._fetch)

    async def put(self, values: Mapping[str, str]) -> None:
        with _said("ssm:PutParameter"):
            for name, value in values.items():
                await asyncio.to_thread(self._put if value else self._delete, name, value)
        self.values |= values

    def shadowed(self, name: str) -> bool:
        return False

    def _fetch(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for path in (self._path, f"{self._path}/{ASIDE}"):
            pages = self._aws.client("ssm").get_paginator("get_parameters_by_path")
            for page in pages.paginate(Path=path, WithDecryption=True):
                found |= {each["Name"].rpartition("/")[2]: each["Value"] for each in page["Parameters"]}
        return found

    def _put(self, name: str, value: str) -> None:
        kind = "SecureString" if name in SECRETS else "String"
        self._aws.client("ssm").put_parameter(Name=self._name(name), Value=value, Type=kind, Overwrite=True)

    def _delete(self, name: str, value: str) -> None:
        with suppress(self._aws.client("ssm").exceptions.ParameterNotFound):
            self._aws.client("ssm").delete_parameter(Name=self._name(name))

    def _name(self, name: str) -> str:
        return f"{self._path}/{name}" if name in SECRETS else f"{self._path}/{ASIDE}/{name}"


@contextmanager
def _said(right: str) -> Iterator[None]:
    """AWS's refusals in our words; ``right`` is what the person needs."""
    try:
        yield
    except (NoCredentialsError, PartialCredentialsError, SSOError, TokenRetrievalError) as error:
        raise Wrong("aws_credentials") from error
    except ProfileNotFound as error:
        raise Wrong("aws_profile") from error
    except NoRegionError as error:
        raise Wrong("aws_region") from error
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code in UNSIGNED:
            raise Wrong("aws_credentials") from error
        if code.startswith("AccessDenied"):
            raise Wrong("aws_denied", right=right) from error
        raise Wrong("aws_refuses", code=code) from error
    except BotoCoreError as error:
        raise Wrong("aws_away", error=type(error).__name__) from error


def parameters(endpoint_url: str, path: str, values: Mapping[str, str]) -> Parameters:
    """Raises Wrong where AWS's settings on this machine, or the path, can not be used."""
    if not PATH.fullmatch(path) or path.startswith(("/aws", "/ssm")):
        raise Wrong("aws_path", path=path)
    with _said(""):
        return Parameters(Aws(endpoint_url), path, values)
