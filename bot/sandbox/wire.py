"""How a job travels to the sandbox function and what became of it back: JSON as Lambda wants it, the job in it packed.

What comes back was made beside a script that nobody has read, so it is held to the same limits as if it had written it.
"""

import base64
import binascii
import zlib
from typing import Any, TypeVar

from msgspec import MsgspecError, msgpack
from msgspec.structs import replace

from bot.sandbox.port import CanNotRun, Job, Ran

SECONDS = 60.0
"""For one script; the function's own limit in infra/template.yaml leaves half a minute more."""
LARGEST_PAYLOAD = 6 * 1024 * 1024
"""Bytes of a request and of an answer (AWS Lambda, "Lambda quotas": invocation payload)."""
FRAME = 4_096
"""Of it for what stands around the packed bytes."""
LARGEST = 16 * 1024 * 1024
"""Bytes of all files unpacked: tables and texts become a third or less when they are packed."""
MOST = 2 * LARGEST
"""Bytes of anything unpacked, beyond which it is not read."""
TOO_LARGE = "The files are too large: packed, they may have 4 MB together. Give fewer or smaller ones."
NOT_BACK = "too large to be brought back"

T = TypeVar("T")


def pack(value: Job | Ran) -> str:
    return base64.b64encode(zlib.compress(msgpack.encode(value), 6)).decode()


def unpack(text: str, kind: type[T]) -> T:
    """Raises ValueError where it is none, or larger than it may be."""
    try:
        opened = zlib.decompressobj()
        data = opened.decompress(base64.b64decode(text, validate=True), MOST)
        if not opened.eof:
            raise ValueError(f"Cut, or more than {MOST} bytes.")
        return msgpack.decode(data, type=kind)
    except (zlib.error, binascii.Error, MsgspecError) as error:
        raise ValueError(str(error)) from error


def request(job: Job) -> dict[str, Any]:
    """Raises CanNotRun where it is too large to travel."""
    packed = pack(job)
    if len(packed) > LARGEST_PAYLOAD - FRAME:
        raise CanNotRun(TOO_LARGE)
    return {"job": packed}


def response(ran: Ran) -> dict[str, Any]:
    """With as many of the files as fit, the smallest first, and a word on those that do not."""
    packed = pack(ran)
    while len(packed) > LARGEST_PAYLOAD - FRAME and ran.files:
        largest = max(ran.files, key=lambda item: len(item.data))
        rest = tuple(item for item in ran.files if item is not largest)
        ran = replace(ran, files=rest, left=(*ran.left, f"{largest.name}: {NOT_BACK}"))
        packed = pack(ran)
    return {"ran": packed}
