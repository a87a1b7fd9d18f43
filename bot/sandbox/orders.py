"""What the keeper is told, and what it tells: both JSON, over its standard input and output. Standard library only:
the keeper starts without any other."""

from typing import NamedTuple


class Orders(NamedTuple):
    """``command`` runs in ``folder`` with this environment and no other. It may read what lies beneath ``readable`` and
    change what lies beneath ``writable``, where the system can see to that."""

    command: list[str]
    folder: str
    environment: dict[str, str]
    readable: list[str]
    writable: list[str]
    seconds: float
    memory: int
    """Bytes: of address space for one process, and in use by all together."""


class Report(NamedTuple):
    """As in ``port.Ran``."""

    code: int
    ended: str
    out: str
    err: str
