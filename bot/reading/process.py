"""The process that reads one file: bytes in by standard input, an Outcome out by standard output.

Files come from strangers and go through decoders written in C: one that is made to do harm, takes all memory or never
ends takes this process along, which holds nothing and is given nothing of ours. Started by adapters/file_reader.py.
"""

import os
import sys
from collections.abc import Callable
from contextlib import suppress

from msgspec import Struct, msgpack

from bot.errors import FileRefused
from bot.ports import Read
from bot.reading.kinds import REFUSED, Kind, told
from bot.reading.limits import MEMORY, SECONDS

BROKEN = "The file is broken, or reading it takes more memory than there is here."
TOO_OLD = "Word and PowerPoint files from before 2007 can not be read here: it has to be saved as .docx, .pptx or PDF."
LOCKED = "The Office file is protected with a password: it has to be sent without one."


class Outcome(Struct, frozen=True):
    read: Read | None = None
    refused: str = ""


def outcome(data: bytes) -> Outcome:
    try:
        return Outcome(read=read(data))
    except FileRefused as why:
        return Outcome(refused=str(why))
    except Exception:  # whatever a decoder raises on what somebody sent: it is the file's fault
        return Outcome(refused=BROKEN)


def read(data: bytes) -> Read:
    """Only the library that this kind needs is loaded."""
    kind, media_type = told(data)
    match kind:
        case Kind.PICTURE:
            from bot.reading import pictures

            return pictures.read(data, media_type)
        case Kind.PDF:
            from bot.reading import pdf

            return pdf.read(data)
        case Kind.PACKED:
            from bot.reading import office

            return office.read(data)
        case Kind.OLD_OFFICE:
            return _old_office(data)
        case Kind.OTHER:
            from bot.reading import text

            return text.read(data)
    raise FileRefused(REFUSED)  # sounds and films are no work for this process


def _old_office(data: bytes) -> Read:
    """A compound file names its streams in UTF-16."""
    if _names(data, "EncryptedPackage"):
        raise FileRefused(LOCKED)
    if not (_names(data, "Workbook") or _names(data, "Book")):
        raise FileRefused(TOO_OLD)
    from bot.reading import sheets

    return sheets.read(data, "application/vnd.ms-excel")


def _names(data: bytes, stream: str) -> bool:
    return f"{stream}\0".encode("utf-16-le") in data


def limit() -> None:
    """As far as the system has limits: Linux has all of them, macOS none of memory."""
    if sys.platform != "win32":
        import resource

        limits = {resource.RLIMIT_AS: MEMORY, resource.RLIMIT_CPU: SECONDS, resource.RLIMIT_CORE: 0}
        for what, most in limits.items():
            with suppress(ValueError, OSError):
                resource.setrlimit(what, (most, most))


def serve(work: Callable[[bytes], bytes]) -> None:
    """All that such a process does: what comes in through ``work`` and out, within the limits."""
    limit()
    answer = os.dup(1)
    os.dup2(2, 1)  # what a library prints is no part of the answer
    done = work(sys.stdin.buffer.read())
    with os.fdopen(answer, "wb") as out:
        out.write(done)


if __name__ == "__main__":
    serve(lambda data: msgpack.encode(outcome(data)))
