"""Where scripts run that nobody has read: what goes in, what comes out, and what is promised in between.

A script is written by a model that may have read a stranger's words. It gets the files it was given and nothing else;
what a place can not keep from it, that place says.
"""

from typing import Literal, Protocol

from msgspec import Struct


class Item(Struct, frozen=True):
    """A file on its way into or out of the working folder; ``name`` may hold folders, divided by ``/``."""

    name: str
    data: bytes


class Job(Struct, frozen=True):
    """One script with its arguments, and the files that lie in its working folder."""

    code: str
    arguments: tuple[str, ...] = ()
    files: tuple[Item, ...] = ()


End = Literal["", "time", "output", "memory", "processes", "disk", "stopped"]
"""Which limit ended a script, "" where it ended by itself. ``stopped``: whoever asked for it no longer waits."""

Door = Literal["network", "reading", "writing", "processes", "memory"]
"""What a place can not shut off: connections; files of others read, or written; other processes seen, signalled or left
behind; memory without end."""


class Ran(Struct, frozen=True):
    """What became of a job. ``code`` is its exit status, 128 and more for a signal, as shells count.

    ``out`` and ``err`` are the head and tail of what it printed. ``files`` are those that it made or changed; ``left``
    names those that could not be brought along, each with the reason. ``open`` is what the place can not shut off.
    """

    code: int
    ended: End = ""
    out: str = ""
    err: str = ""
    files: tuple[Item, ...] = ()
    left: tuple[str, ...] = ()
    open: tuple[Door, ...] = ()


class CanNotRun(Exception):
    """The script was not run. The message says why, in one sentence for the model."""


class Sandbox(Protocol):
    """A subprocess or a function of its own (adapters/local_sandbox, lambda_sandbox)."""

    seconds: float
    """What one script may take; ``run`` answers a few seconds later at the latest."""
    largest: int
    """Bytes of all files of a job together, and of all that come back."""
    libraries: tuple[str, ...]
    """Those worth naming that a script finds there, beside Python's own."""
    installs: bool
    """Whether a script may ask for others (PEP 723)."""

    async def run(self, conversation: str, job: Job) -> Ran:
        """Run a script once, and leave nothing of it behind: no process, no file.

        Nothing of another conversation can be there. Raises CanNotRun. Cancelling ends the script.
        """
