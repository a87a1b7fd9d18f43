"""Landlock: a process gives up all files but those named, for itself and for everything it starts, for ever.

No rights are needed for it; Linux has had it since 5.13, and more of it since. Source: the kernel's
Documentation/userspace-api/landlock.rst and include/uapi/linux/landlock.h (kernel 6.18: version 7).
"""

import ctypes
import os
import stat
from collections.abc import Iterable
from contextlib import suppress

from bot.sandbox.kernel import syscall

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""The same number on every processor."""
ASK_VERSION = 1
PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
MAKE_DEVICES = 1 << 6 | 1 << 11
FIRST = (1 << 13) - 1
"""All rights of the first version: also to remove, and to make files of every kind."""
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
"""Those that mean something for what is no folder."""
NETWORK = 0b11
"""To bind and connect TCP."""
SCOPE = 0b11
"""No abstract sockets and no signals to anybody outside."""

READING = EXECUTE | READ_FILE | READ_DIR


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("access", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """0 where there is none."""
    with suppress(OSError):
        return syscall(CREATE_RULESET, 0, 0, ASK_VERSION)
    return 0


def confine(readable: Iterable[str], writable: Iterable[str]) -> None:
    """Leave only what lies beneath these paths; those that are not there are passed over. Before it, NO_NEW_PRIVS must
    be set. Raises OSError where there is no Landlock."""
    known = version()
    handled = FIRST | (REFER if known >= 2 else 0) | (TRUNCATE if known >= 3 else 0) | (IOCTL_DEV if known >= 5 else 0)
    rules = _Ruleset(handled, NETWORK if known >= 4 else 0, SCOPE if known >= 6 else 0)
    ruleset = syscall(CREATE_RULESET, rules, ctypes.sizeof(rules), 0)
    try:
        for path in readable:
            _allow(ruleset, path, READING & handled)
        for path in writable:
            _allow(ruleset, path, handled & ~MAKE_DEVICES & ~IOCTL_DEV)
        syscall(RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, access: int) -> None:
    with suppress(FileNotFoundError, PermissionError):
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
                access &= OF_FILES
            syscall(ADD_RULE, ruleset, PATH_BENEATH, _Beneath(access, descriptor), 0)
        finally:
            os.close(descriptor)
