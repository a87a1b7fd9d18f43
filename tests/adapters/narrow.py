"""A process that gives up system calls, so that it and all it starts find a system that does not have them."""

import ctypes
import errno
import platform
import struct

from bot.sandbox.kernel import PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, prctl

CALLS = {
    "unshare": {"x86_64": (272,), "aarch64": (97,)},
    "landlock": {"x86_64": (444,), "aarch64": (444,)},
}
NARROWED = """
import asyncio, json, sys
from tests.adapters.narrow import give_up
give_up(*sys.argv[1:])
from benchmarks.security_python import WAYS, _processes_of_scripts, passed
from bot.adapters.local_sandbox import LocalSandbox
from bot.sandbox.port import Job

# No fork bomb here: where the system can not forbid it, it would be the machine's end.

async def main():
    doors = await LocalSandbox().doors()
    ran = await LocalSandbox().run("terminal:here", Job("print(1)"))
    through = [] if doors else await passed([WAYS["environment"], WAYS["processes"]])
    left = [str(pid) for pid in _processes_of_scripts()]
    print(json.dumps({"doors": doors, "open": ran.open, "through": through, "left": left}))

asyncio.run(main())
"""


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def give_up(*names: str) -> None:
    """Classic BPF: load the call's number; for each of these, "not implemented"; else allow."""
    code = [struct.pack("HBBI", 0x20, 0, 0, 0)]
    for number in (number for name in names for number in CALLS[name][platform.machine()]):
        code += [struct.pack("HBBI", 0x15, 0, 1, number), struct.pack("HBBI", 0x06, 0, 0, 0x00050000 | errno.ENOSYS)]
    code.append(struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000))
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_SECCOMP, 2, _Program(len(code), b"".join(code)))
