"""Where answers are kept: the file .env on this machine, or SSM on AWS. One of the two, never both."""

import asyncio
import io
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

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
from dotenv import dotenv_values
from dotenv.parser import parse_stream

from bot.cli.setup.wrong import Wrong
from handlers.aws import Aws
from handlers.settings import SECRETS

PLAIN = re.compile(r"[\w.:/@%+,*=-]*", re.ASCII)
"""Needs no quotes in a file .env."""
LINE = re.compile(
    r"""(?P<name>\s*(?:export\s+)?[^=\s]+\s*=[^\S\r\n]*)"""
    r"""(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^\r\n]*?)"""
    r"""(?P<rest>(?:[^\S\r\n]+\#[^\r\n]*)?\s*)""",
    re.DOTALL,
)
"""One setting of such a file, with the blank lines before it and the comment behind it."""
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


class Keeper(Protocol):
    """``values`` is all that is known, what was kept before included; ``where`` is its name for people."""

    values: dict[str, str]
    where: str

    async def put(self, values: Mapping[str, str]) -> None:
        """Keep these too, at once and whole; "" is to be forgotten. Raises Wrong."""
        ...

    def shadowed(self, name: str) -> bool:
        """Whether something else wins over what is kept."""
        ...


class EnvFile:
    """Readable by its owner only, whatever it was before; what stands there beside the answers stays as it is."""

    def __init__(self, file: Path, environment: Mapping[str, str]) -> None:
        """``environment`` is the process's own: it wins over the file."""
        self._file = file
        self._environment = environment
        self.where = str(file)
        self.values = {name: value or "" for name, value in dotenv_values(file).items()} | dict(environment)

    async def put(self, values: Mapping[str, str]) -> None:
        try:
            file = self._file.resolve()  # a link stays one
            before = file.read_bytes().decode(errors="surrogateescape") if file.exists() else ""
            _replace(file, _with(before, values))
        except OSError as error:
            raise Wrong("env_unwritable", where=self.where, why=error.strerror or type(error).__name__) from error
        self.values |= {**values, **self._environment}

    def shadowed(self, name: str) -> bool:
        return bool(self._environment.get(name))


def _with(text: str, values: Mapping[str, str]) -> str:
    """The file's text with these values, each where it stood."""
    left = {name: value for name, value in values.items() if value}
    pieces = []
    for binding in parse_stream(io.StringIO(text, newline="")):
        piece = binding.original.string
        is_set = binding.value is not None  # a bare name is not
        if is_set and binding.key in left:
            piece = _set(piece, left.pop(binding.key))
        elif is_set and binding.key in values:
            piece = piece[: len(piece) - len(piece.lstrip())]
        pieces.append(piece)
    kept = "".join(pieces)
    end = "" if not kept or kept.endswith("\n") else "\n"
    return kept + end + "".join(f"{name}={_quoted(value)}\n" for name, value in left.items())


def _set(line: str, value: str) -> str:
    found = LINE.fullmatch(line)
    assert found is not None, "a line that dotenv read is a name and a value"  # noqa: S101
    return f"{found['name']}{_quoted(value)}{found['rest']}"


def _quoted(value: str) -> str:
    if PLAIN.fullmatch(value):
        return value
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _replace(file: Path, text: str) -> None:
    """Whole or not at all; mkstemp's files are readable by their owner only."""
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".env.")
    try:
        with os.fdopen(handle, "wb") as new:
            new.write(text.encode(errors="surrogateescape"))
            new.flush()
            os.fsync(new.fileno())
        Path(name).replace(file)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


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
