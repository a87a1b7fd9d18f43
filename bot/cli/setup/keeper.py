"""Where answers are kept: the file .env on this machine, or SSM on AWS. One of the two, never both."""

from collections.abc import Mapping
from typing import Protocol


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
