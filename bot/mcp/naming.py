"""What servers' tools and prompts are called here: names that the Messages API and the chat apps take. Pure."""

import hashlib
import re
from collections.abc import Callable, Collection, Iterable

LONGEST = 64
"""Characters of a tool's name."""
LONGEST_COMMAND = 32
"""Characters of a command in Telegram."""


def tool_names(tools: Iterable[tuple[str, str]], taken: Collection[str]) -> dict[tuple[str, str], str]:
    """``<server>_<tool>`` for each pair of a server and its tool; with a digest where that is too long, has other
    characters, or is somebody else's. ``taken`` are the names of other tools."""
    return _named(tools, set(taken), LONGEST, lambda text: re.sub(r"[^a-zA-Z0-9_-]", "_", text))


def command_names(prompts: Iterable[tuple[str, str]], taken: Collection[str]) -> dict[tuple[str, str], str]:
    """The same for commands: in lower case, without hyphens."""
    return _named(prompts, set(taken), LONGEST_COMMAND, lambda text: re.sub(r"[^a-z0-9_]", "_", text.lower()))


def _named(
    pairs: Iterable[tuple[str, str]], taken: set[str], longest: int, plain: Callable[[str], str]
) -> dict[tuple[str, str], str]:
    names: dict[tuple[str, str], str] = {}
    for pair in sorted(set(pairs)):
        wanted = "_".join(pair)
        name = plain(wanted)
        if len(name) > longest or name in taken:
            digest = hashlib.sha256("\0".join(pair).encode()).hexdigest()[:8]
            name = f"{name[: longest - 9]}_{digest}"
        taken.add(name)
        names[pair] = name
    return names
