"""Namespaces: the script's own numbering of processes, its own empty network, its own shared memory.

Any user may have them on most Linux systems, none on some (Ubuntu since 24.04, many containers, AWS Lambda).
"""

import os
from pathlib import Path

from bot.sandbox.kernel import unshare

USER, PROCESSES, NETWORK, SHARED, NAMES = 0x10000000, 0x20000000, 0x40000000, 0x08000000, 0x04000000
"""CLONE_NEWUSER, NEWPID, NEWNET, NEWIPC, NEWUTS."""
NOBODY = 65_534
"""Not 0: what is started loses all rights over these namespaces."""


def enter() -> bool:
    """The next process that the caller forks is the first in namespaces of its own, and all others in them end with it.
    False where the system allows none. The caller must have one thread only."""
    user, group = os.getuid(), os.getgid()
    try:
        unshare(USER | PROCESSES | NETWORK | SHARED | NAMES)
    except OSError:
        return False
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{NOBODY} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{NOBODY} {group} 1")
    return True
