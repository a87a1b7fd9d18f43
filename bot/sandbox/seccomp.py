"""A filter over system calls: no connection of any kind, and nothing that reaches past the script's own processes.

No rights are needed for it. It holds for a process and for everything it starts, for ever. Numbers are the kernel's:
arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h (which 64-bit ARM uses), Linux 6.18.
"""

import ctypes
import errno
import platform
import struct

from bot.sandbox.kernel import PR_SET_SECCOMP, prctl

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_COLUMN = {"x86_64": 0, "aarch64": 1}
NONE = -1
"""This processor has no such call."""

Numbers = tuple[int, int]
"""x86_64, aarch64."""

REFUSED: dict[str, Numbers] = {
    # connections; a pair of connected sockets is no way out and stays
    "socket": (41, 198),
    # files and sockets without system calls of their own: the filter would not see them
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "kcmp": (312, 272),
    "perf_event_open": (298, 241),
    # other views of the system
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # the kernel itself
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "iopl": (172, NONE),
    "ioperm": (173, NONE),
    "personality": (135, 92),
    # what outlives a process, or is memory that no limit counts
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
}

PRETENDED: dict[str, Numbers] = {
    # Landlock does not watch them, so they could change a file that can not be opened. Libraries call them all the time
    # for files of their own and would fail, so they are told that it is done.
    "chmod": (90, NONE),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, NONE),
    "lchown": (94, NONE),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "utime": (132, NONE),
    "utimes": (235, NONE),
    "futimesat": (261, NONE),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
}

OF_ONESELF: dict[str, tuple[Numbers, int]] = {
    # by which argument says whose: 0 is the caller
    "prlimit64": ((302, 261), 0),
    "sched_setaffinity": ((203, 122), 0),
    "sched_setparam": ((142, 118), 0),
    "sched_setscheduler": ((144, 119), 0),
    "sched_setattr": ((314, 274), 0),
    "setpriority": ((141, 140), 1),
    "ioprio_set": ((251, 30), 1),
}

CLONE: Numbers = (56, 220)
CLONE3: Numbers = (435, 435)
NEW_NAMESPACES = 0x7E020000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET."""
NEWEST = 462
"""mseal (Linux 6.10). What came after it is not known here, and so not there."""

# Classic BPF, include/uapi/linux/bpf_common.h and seccomp.h
LOAD, EQUAL, GREATER, ANY_BIT, RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
NUMBER, ARCH, ARGUMENTS = 0, 4, 16
"""Where they lie in struct seccomp_data; an argument has eight bytes, the lower half first."""


def program(machine: str) -> bytes:
    """The filter for one processor, as the kernel runs it. Raises KeyError for one that is not known. Pure."""
    column = _COLUMN[machine]
    code = [_load(ARCH), _jump(EQUAL, AUDIT_ARCH[machine], 1, 0), _give(KILL), _load(NUMBER)]
    code += [_jump(GREATER, NEWEST, 0, 1), _give(ERRNO | errno.ENOSYS)]
    for table, answer in ((REFUSED, ERRNO | errno.EACCES), (PRETENDED, ERRNO)):
        for numbers in table.values():
            if numbers[column] != NONE:
                code += [_jump(EQUAL, numbers[column], 0, 1), _give(answer)]
    # Its arguments lie in memory, where no filter looks; without it the C library uses clone.
    code += [_jump(EQUAL, CLONE3[column], 0, 1), _give(ERRNO | errno.ENOSYS)]
    code += [_jump(EQUAL, CLONE[column], 0, 4), _load(ARGUMENTS), _jump(ANY_BIT, NEW_NAMESPACES, 0, 1)]
    code += [_give(ERRNO | errno.EPERM), _give(ALLOW)]
    for numbers, argument in OF_ONESELF.values():
        code += [_jump(EQUAL, numbers[column], 0, 4), _load(ARGUMENTS + 8 * argument), _jump(EQUAL, 0, 1, 0)]
        code += [_give(ERRNO | errno.EPERM), _give(ALLOW)]
    return b"".join([*code, _give(ALLOW)])


def _load(offset: int) -> bytes:
    return struct.pack("HBBI", LOAD, 0, 0, offset)


def _jump(test: int, value: int, yes: int, no: int) -> bytes:
    """So many instructions are passed over."""
    return struct.pack("HBBI", test, yes, no, value)


def _give(answer: int) -> bytes:
    return struct.pack("HBBI", RETURN, 0, 0, answer)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def confine() -> None:
    """Before it, NO_NEW_PRIVS must be set. Raises OSError or KeyError where this system has no such filter."""
    code = program(platform.machine())
    prctl(PR_SET_SECCOMP, 2, _Program(len(code) // 8, code))
