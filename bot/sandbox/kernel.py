"""Linux by its system calls, for what Python's own library has no words for. Elsewhere nothing here is called."""

import ctypes
import os
import sys

LINUX = sys.platform.startswith("linux")

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

_libc = ctypes.CDLL(None, use_errno=True) if LINUX else None


def syscall(number: int, *arguments: object) -> int:
    """Raises OSError where it fails. Numbers are passed as they are, anything else by its address."""
    return _checked("syscall", ctypes.c_long(number), *arguments)


def prctl(option: int, *arguments: object) -> int:
    return _checked("prctl", ctypes.c_int(option), *arguments, *[0] * (4 - len(arguments)))


def unshare(flags: int) -> None:
    _checked("unshare", ctypes.c_int(flags))


def _checked(name: str, first: object, *rest: object) -> int:
    if _libc is None:
        raise OSError(f"{name} is Linux's.")
    words = [ctypes.c_ulong(word) if isinstance(word, int) else ctypes.byref(word) for word in rest]  # type: ignore[arg-type]
    result = int(getattr(_libc, name)(first, *words))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result
