"""Ways out of the place where scripts run on this machine, each tried once, for `make security`.

A way is passed where the script prints THROUGH, where something of ours outside is not as it was, where a returned file
holds what was not the script's, where a limit did not hold, or where a process of it still runs afterwards. A way that
this system can not shut off, and says so, counts as well.
"""

import asyncio
import os
import socket
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from bot.adapters.local_sandbox import LocalSandbox
from bot.sandbox.port import CanNotRun, Job, Ran

SECRET = "hunter2-of-the-owner"
NAME = "KABAR_TRIED_TOKEN"
SECONDS = 4.0
"""For one script; those that never end take all of it."""
AT_ONCE = 2


class Way(Struct, frozen=True):
    """``ends``: the limits of which one must end it, or its time; "" among them where it may end by itself; () where it
    must."""

    name: str
    code: str
    ends: tuple[str, ...] = ()


class Outside(Struct, frozen=True):
    """What lies outside, and how a script may know of it: as a dictionary named ``outside``."""

    port: int
    udp: int
    unix: str
    abstract: str
    folder: str
    kept: str
    bot: int

    def told(self) -> str:
        facts = {name: getattr(self, name) for name in self.__struct_fields__}
        facts |= {"secret": SECRET[::-1], "home": str(Path.home())}  # backwards: it must not hold what it looks for
        return f"outside = {facts!r}\nsecret = outside['secret'][::-1]\n"


LIBRARY = """
import ctypes, errno, glob, mmap, os, platform, resource, signal, socket, struct, subprocess, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
ARM = platform.machine() == "aarch64"
def call(x86, arm, *arguments):
    arguments = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return libc.syscall(ctypes.c_long(arm if ARM else x86), *arguments)
def through(is_so=True):
    if is_so:
        print("THROUGH")
def attempt(function, *arguments, **options):
    try:
        return function(*arguments, **options)
    except BaseException as error:
        return None
def holds(path):
    with open(path, "rb") as file:
        return secret.encode() in file.read(1_000_000)
"""


def ways(**groups: str) -> dict[str, tuple[Way, ...]]:
    return {
        group: tuple(
            Way(head.strip(" #"), body)
            for each in text.strip().split("\n## ")
            for head, _, body in [each.removeprefix("## ").partition("\n")]
        )
        for group, text in groups.items()
    }


WAYS = ways(
    environment="""
## its own environment
through(any(secret in value for value in os.environ.values()))
## the environment of the process that started it
through(attempt(holds, f"/proc/{os.getppid()}/environ"))
## the environment of the bot
through(attempt(holds, f"/proc/{outside['bot']}/environ"))
## the environment of anybody
through(any(attempt(holds, path) for path in glob.glob("/proc/[0-9]*/environ")))
## the environment of its own process, as the kernel has it
through(attempt(holds, "/proc/self/environ"))
## the memory of the bot
through(attempt(open, f"/proc/{outside['bot']}/mem", "rb"))
## the command lines of others
through(any(attempt(open, path) for path in glob.glob("/proc/[0-9]*/cmdline")))
## descriptors that were left open
def anybody(number):
    if os.fstat(number):
        return not os.path.samestat(os.fstat(number), os.stat("/dev/null"))
through(any(attempt(anybody, number) for number in range(3, 256)))
## what is written to descriptors that were left open
through(any(attempt(os.write, number, b"x") for number in range(3, 256)))
## the environment of a shell that it starts
told = attempt(subprocess.run, ["/bin/sh", "-c", "env; cat /proc/$PPID/environ"], capture_output=True)
through(told and secret.encode() in told.stdout)
""",
    network="""
## a connection to an address
through(attempt(socket.create_connection, ("127.0.0.1", outside["port"]), 2))
## a connection to a name
through(attempt(socket.create_connection, ("localhost", outside["port"]), 2))
## a connection over IPv6
through(attempt(socket.create_connection, ("::1", outside["port"]), 2))
## a connection to all addresses
through(attempt(socket.create_connection, ("0.0.0.0", outside["port"]), 2))
## a datagram
def datagram():
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"THROUGH", ("127.0.0.1", outside["udp"]))
through(attempt(datagram))
## a socket in a folder
through(attempt(lambda: socket.socket(socket.AF_UNIX).connect(outside["unix"]) or True))
## a socket without a folder
through(attempt(lambda: socket.socket(socket.AF_UNIX).connect("\\0" + outside["abstract"]) or True))
## a raw socket
through(attempt(socket.socket, socket.AF_INET, socket.SOCK_RAW, 1))
## packets
through(attempt(socket.socket, 17, socket.SOCK_RAW, 0x0300))
## the kernel's routes
through(attempt(socket.socket, 16, socket.SOCK_RAW, 0))
## a socket by its system call
through(call(41, 198, 2, 1, 0) >= 0)
## the kernel's queue of calls
through(call(425, 425, 8, ctypes.create_string_buffer(256)) >= 0)
## the other processor mode's system call
through(not ARM and call(0x40000000 + 41, 198, 2, 1, 0) >= 0)
## a shell's own network
told = attempt(subprocess.run, ["/bin/bash", "-c", f"echo THROUGH > /dev/tcp/127.0.0.1/{outside['port']}"], timeout=3)
through(told and told.returncode == 0)
## a name that has to be looked up
through(attempt(socket.getaddrinfo, "kabar.example", 80))
## the cloud's own address
through(attempt(socket.create_connection, ("169.254.169.254", 80), 2))
## waiting for others to connect
through(attempt(socket.create_server, ("0.0.0.0", 0)))
## a web page by Python's library
import urllib.request
through(attempt(urllib.request.urlopen, f"http://127.0.0.1:{outside['port']}/", timeout=2))
## a process with its own network
through(attempt(subprocess.run, ["curl", "-sf", f"http://127.0.0.1:{outside['port']}/"], timeout=3, check=True))
""",
    reading="""
## a file of somebody else
through(attempt(holds, outside["kept"]))
## a folder of somebody else
through(attempt(os.listdir, outside["folder"]))
## a file by a link
os.symlink(outside["kept"], "link.txt")
through(attempt(holds, "link.txt"))
## a link that comes back as a file
os.symlink(outside["kept"], "link.txt")
## a folder's link that comes back with its files
os.symlink(outside["folder"], "links")
## a second name that comes back as a file
attempt(os.link, outside["kept"], "second.txt")
## a file through the process's own folders
through(any(attempt(holds, f"/proc/self/{way}{outside['kept']}") for way in ("root", "cwd/../../..", "task/../root")))
## a file through the first process
through(attempt(holds, f"/proc/1/root{outside['kept']}"))
## a file by a relative path
through(attempt(holds, "../../../../../../../.." + outside["kept"]))
## a file by a descriptor of its folder
def beneath():
    folder = os.open(outside["folder"], os.O_PATH)
    return secret in os.read(os.open("kept.txt", os.O_RDONLY, dir_fd=folder), 100).decode()
through(attempt(beneath))
## a file by its handle
handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
through(call(303, 264, -100, ctypes.c_char_p(outside["kept"].encode()), handle, ctypes.byref(ctypes.c_int()), 0) == 0)
## the owner's home
through(attempt(os.listdir, outside["home"]))
## the owner's keys
through(any(attempt(open, outside["home"] + path) for path in ("/.ssh/id_ed25519", "/.aws/credentials", "/.profile")))
## the machine's users
through(attempt(open, "/etc/shadow"))
## the folder in which other scripts have theirs
through(attempt(os.listdir, "/tmp"))
## what is mounted
through(attempt(open, "/proc/self/mountinfo"))
## disks
through(any(attempt(open, path, "rb") for path in ("/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/mem", "/dev/kmsg")))
## a file by another program
told = attempt(subprocess.run, ["/bin/cat", outside["kept"]], capture_output=True)
through(told and secret.encode() in told.stdout)
## a file by a system call
descriptor = call(257, 56, -100, ctypes.c_char_p(outside["kept"].encode()), 0)
through(descriptor >= 0)
""",
    writing="""
## a new file in a folder of somebody else
through(attempt(open, outside["folder"] + "/new.txt", "w"))
## more words in a file of somebody else
through(attempt(open, outside["kept"], "a"))
## the length of a file
through(attempt(os.truncate, outside["kept"], 1))
## the mode of a file
attempt(os.chmod, outside["kept"], 0o777)
## the time of a file
attempt(os.utime, outside["kept"], (1, 1))
## the owner of a file
attempt(os.chown, outside["kept"], 65534, 65534)
## an attribute of a file
attempt(os.setxattr, outside["kept"], "user.kabar", b"x")
## a file's end
through(attempt(os.remove, outside["kept"]) is None and not os.path.exists(outside["kept"]))
## a file's name
through(attempt(lambda: os.rename(outside["kept"], "mine.txt") or True))
## a file put in the place of another
open("mine.txt", "w").close()
through(attempt(lambda: os.rename("mine.txt", outside["kept"]) or True))
## a file through a link
os.symlink(outside["kept"], "link.txt")
through(attempt(open, "link.txt", "w"))
## the folder that everybody may write to
through(attempt(open, "/tmp/kabar-was-here.txt", "w"))
## shared memory
through(attempt(open, "/dev/shm/kabar-was-here", "w"))
## its own script
through(attempt(open, os.path.abspath("../script.py"), "a"))
## the library of the Python that runs it
through(attempt(open, os.__file__, "a"))
## what is run at every start of that Python
folders = [path for path in sys.path if os.path.isdir(path) and path != os.getcwd()]
through(any(attempt(open, path + "/sitecustomize.py", "a") for path in folders))
## the owner's shell
through(attempt(open, outside["home"] + "/.bashrc", "a"))
## a device
through(attempt(lambda: os.mknod("disk", 0o600 | 0o060000, os.makedev(8, 0)) or True))
## a view of its own, with the rights of root in it
through(call(272, 97, 0x10020000) == 0)
## a process with a view of its own
through(call(56, 220, 0x10000000 | 17, 0, 0, 0, 0) > 0)
## another file system
through(call(165, 40, b"none", b"/tmp", b"tmpfs", 0, None) == 0)
## another root
through(call(161, 51, ctypes.c_char_p(b".")) == 0)
## the rights of root
attempt(os.setuid, 0)
rights = ctypes.create_string_buffer(24)
through(call(125, 90, ctypes.create_string_buffer(struct.pack("Ii", 0x20080522, 0)), rights) != 0 or any(rights.raw))
## the rights of another program
told = attempt(subprocess.run, ["/bin/su", "-c", "id"], capture_output=True, timeout=3)
through(told and told.returncode == 0)
## the kernel's settings
paths = ("/proc/sys/kernel/core_pattern", "/sys/power/state", "/proc/sysrq-trigger")
through(any(attempt(open, path, "w") for path in paths))
## the machine's name
through(call(170, 161, ctypes.c_char_p(b"x"), 1) == 0)
## the machine's time
through(attempt(lambda: time.clock_settime(time.CLOCK_REALTIME, time.time()) or True))
""",
    processes="""
## a signal to the bot
through(attempt(lambda: os.kill(outside["bot"], 0) or True))
## a signal that is never caught, to whoever started it
through(os.getppid() > 1 and attempt(lambda: os.kill(os.getppid(), signal.SIGURG) or True))
## a signal to the bot's group
through(attempt(lambda: os.killpg(outside["bot"], 0) or True))
## the bot under a debugger
through(call(101, 117, 16, outside["bot"], 0, 0) == 0)
## the bot's memory by a system call
buffer = ctypes.create_string_buffer(64)
through(call(310, 270, outside["bot"], buffer, 1, buffer, 1, 0) >= 0)
## the bot's descriptors
handle = call(434, 434, outside["bot"], 0)
through(handle >= 0)
## the bot's limits
through(attempt(resource.prlimit, outside["bot"], resource.RLIMIT_CPU, (10**6, 10**6)))
## the bot's turn on the processor
through(attempt(lambda: os.setpriority(os.PRIO_PROCESS, outside["bot"], 19) or True))
## the processors that the bot may use
through(attempt(lambda: os.sched_setaffinity(outside["bot"], {0}) or True))
## a process that stays
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(1000)
    os._exit(0)
## a process that stays and hears nothing
for number in range(1, 65):
    attempt(signal.signal, number, signal.SIG_IGN)
if os.fork() == 0:
    os.closerange(0, 256)
    os.setsid()
    while True:
        time.sleep(1000)
## a program that stays
subprocess.Popen(["/bin/sh", "-c", "while :; do sleep 1; done"], start_new_session=True)
## a process that always starts another
def go_on():
    while True:
        if os.fork():
            os._exit(0)
        os.setsid()
if os.fork() == 0:
    go_on()
time.sleep(0.3)
## more limits than it was given
through(attempt(lambda: resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2) or True))
## something in the kernel's keyring
through(call(248, 217, ctypes.c_char_p(b"user"), ctypes.c_char_p(b"kabar"), ctypes.c_char_p(b"x"), 1, -5) >= 0)
## memory that stays
through(call(29, 194, 4711, 4096, 0o1600) >= 0)
## words typed for the owner
import fcntl, termios
through(any(attempt(lambda: fcntl.ioctl(number, termios.TIOCSTI, b"x") is not None) for number in range(3)))
## the owner's screen
through(attempt(open, "/dev/tty", "w"))
""",
)

ENDLESS = (
    Way("a loop", "while True: pass", ("time",)),
    Way("a sleep", "time.sleep(10**6)", ("time",)),
    Way(
        "a sleep that hears nothing",
        "for number in range(1, 65): attempt(signal.signal, number, signal.SIG_IGN)\nwhile True: time.sleep(1000)",
        ("time",),
    ),
    Way("a wait for words from the keyboard", "input()\nthrough()"),
    Way("a fork bomb", "while True: attempt(os.fork)", ("processes",)),
    Way("a shell's fork bomb", "subprocess.run(['/bin/bash', '-c', ':(){ :|:& };:; wait'])", ("", "processes")),
    Way("threads", "while True: threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()", ("",)),
    Way("memory", "all = []\nwhile True: all.append(bytearray(10**7))", ("", "memory")),
    Way("memory in one piece", "through(attempt(bytearray, 10**11))"),
    Way(
        "memory of many processes",
        "for _ in range(8):\n    if os.fork() == 0:\n        a = b'x' * 400_000_000\n"
        "        time.sleep(1000)\ntime.sleep(1000)",
        ("memory",),
    ),
    Way(
        "memory that is shared",
        "for _ in range(8):\n    if os.fork() == 0:\n        a = mmap.mmap(-1, 400_000_000)\n"
        "        a.write(b'x' * 400_000_000)\n        time.sleep(1000)\ntime.sleep(1000)",
        ("memory",),
    ),
    Way("memory without an address", "through(attempt(os.memfd_create, 'x'))"),
    Way("output", "while True: print('x' * 1000)", ("output",)),
    Way("output of errors", "while True: os.write(2, b'x' * 10_000)", ("output",)),
    Way("output without lines", "while True: os.write(1, bytes(65536))", ("output",)),
    Way("a huge file", "with open('x', 'wb') as file:\n    while True: file.write(bytes(10**7))", ("", "disk")),
    Way(
        "many large files",
        "for n in range(100):\n    with open(f'{n}', 'wb') as file: file.write(bytes(6 * 10**7))\ntime.sleep(1000)",
        ("disk",),
    ),
    Way("a file that is not as large as it says", "with open('x', 'wb') as file: file.truncate(6 * 10**7)"),
    Way("very many files", "for n in range(10**6): open(f'{n}', 'w').close()\ntime.sleep(1000)", ("disk",)),
    Way("folders without an end", "while True:\n    os.mkdir('x')\n    os.chdir('x')", ("disk",)),
    Way("files that nobody may read", "os.mkdir('x')\nopen('x/y', 'w').close()\nos.chmod('x/y', 0)\nos.chmod('x', 0)"),
    Way("a pipe that comes back as a file", "os.mkfifo('pipe.txt')"),
    Way("a number without an end", "x = 9**9**9**9", ("", "time")),
    Way("a crash", "ctypes.string_at(0)"),
    Way("recursion", "def f(): f()\nsys.setrecursionlimit(10**9)\nf()", ("", "memory")),
)


async def passed(groups: Sequence[Sequence[Way]]) -> list[str]:
    """Tries these ways; returns the names of those that got through, each with how."""
    os.environ[NAME] = SECRET
    sandbox = LocalSandbox(seconds=SECONDS)
    places = asyncio.Semaphore(AT_ONCE)

    async def tried(way: Way) -> list[str]:
        async with places:
            return [f"{way.name}: {how}" for how in await _tried(sandbox, way)]

    try:
        found = await asyncio.gather(*(tried(way) for group in groups for way in group))
        return [through for each in found for through in each]
    finally:
        del os.environ[NAME]


async def _tried(sandbox: LocalSandbox, way: Way) -> list[str]:
    with ExitStack() as stack:
        outside, heard = _outside(stack)
        before = _facts(Path(outside.folder))
        code = f"{LIBRARY}{outside.told()}{way.code}"
        try:
            ran = await sandbox.run("terminal:tried", Job(code))
        except CanNotRun as why:
            return [f"not run: {why}"]
        return [
            *(["it says so"] if "THROUGH" in ran.out else []),
            *(["changed what is not its own"] if _facts(Path(outside.folder)) != before else []),
            *(["was heard"] if _was_heard(heard) else []),
            *(["brought back what is not its own"] if _holds_secret(ran) else []),
            *([] if ran.ended in _ends(way) else [f"ended by {ran.ended or 'itself'}"]),
        ]


def _ends(way: Way) -> tuple[str, ...]:
    return (*way.ends, "time") if way.ends else ("",)


def _outside(stack: ExitStack) -> tuple[Outside, list[socket.socket]]:
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="outside-"))
    kept = Path(folder, "kept.txt")
    kept.write_text(SECRET)
    kept.chmod(0o600)
    tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    udp.bind(("127.0.0.1", 0))
    unix = stack.enter_context(socket.socket(socket.AF_UNIX))
    unix.bind(f"{folder}/socket")
    unix.listen()
    sockets = [tcp, udp, unix]
    abstract = f"kabar-{os.getpid()}-{udp.getsockname()[1]}"
    if os.uname().sysname == "Linux":
        hidden = stack.enter_context(socket.socket(socket.AF_UNIX))
        hidden.bind(f"\0{abstract}")
        hidden.listen()
        sockets.append(hidden)
    for each in sockets:
        each.setblocking(False)
    outside = Outside(
        port=tcp.getsockname()[1],
        udp=udp.getsockname()[1],
        unix=f"{folder}/socket",
        abstract=abstract,
        folder=folder,
        kept=str(kept),
        bot=os.getpid(),
    )
    return outside, sockets


def _facts(folder: Path) -> list[Any]:
    """All that can be seen of what lies in a folder, but for when it was last read."""
    found = []
    for path in sorted(folder.iterdir()):
        facts = path.lstat()
        told = (path.name, facts.st_mode, facts.st_uid, facts.st_nlink, facts.st_size, facts.st_mtime_ns)
        content = path.read_bytes() if path.is_file() else b""
        found.append((*told, content, os.listxattr(path) if hasattr(os, "listxattr") else []))
    return found


def _was_heard(sockets: Sequence[socket.socket]) -> bool:
    for each in sockets:
        with suppress(BlockingIOError):
            if each.type == socket.SOCK_DGRAM:
                return bool(each.recv(100))
            each.accept()[0].close()
            return True
    return False


def _holds_secret(ran: Ran) -> bool:
    return any(SECRET.encode() in item.data for item in ran.files)


def _processes_of_scripts() -> Iterator[int]:
    """Those with a script's home among this process's temporary folders, on Linux."""
    home = f"HOME={Path(tempfile.gettempdir()).resolve()}/kabar-".encode()
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if home in path.read_bytes():
                yield int(path.parent.name)


def figures() -> dict[str, Any]:
    groups = (*WAYS.values(), ENDLESS)
    found = asyncio.run(_all(groups))
    return {"python": {"tried": sum(map(len, groups)) + 1, **found}}


async def _all(groups: Sequence[Sequence[Way]]) -> dict[str, Any]:
    """One way more is whatever of them still runs when all have ended."""
    through = await passed(groups)
    left = list(_processes_of_scripts())
    through += [f"{len(left)} processes were left"] if left else []
    doors = list(await LocalSandbox().doors())
    return {"passed": len(through), "through": through, "can_not_be_shut_off_here": doors}
