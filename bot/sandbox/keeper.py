"""The process that watches over one script: it starts it confined, holds it to its limits, and ends all that is left.

    bot ──> keeper ──> first of its namespace ──> script      with namespaces
    bot ──> keeper ──> script                                 without: what loses its parent becomes the keeper's

The bot writes Orders as one line of JSON and keeps the pipe open; when it is closed, also because the bot is gone, the
script ends. The Report comes out when nothing of the script runs any more. Started by box.py, alone with the standard
library, so that it holds nothing worth taking and starts within 20 ms.
"""

import json
import os
import re
import resource
import selectors
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import NamedTuple, NoReturn

from bot.sandbox import landlock, namespaces, seccomp
from bot.sandbox.kernel import (
    LINUX,
    PR_CAPBSET_DROP,
    PR_SET_CHILD_SUBREAPER,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_PDEATHSIG,
    prctl,
)
from bot.sandbox.namespaces import NOBODY
from bot.sandbox.orders import Orders, Report

HEAD, TAIL = 6_000, 6_000
"""Bytes kept of each of the two outputs: together as much as a model reads of one result."""
MOST_OUTPUT = 20_000_000
"""Bytes printed before a script is ended: it prints for ever."""
MOST_PROCESSES = 64
"""Of a script, threads not counted: more than any pool on a machine that people run a bot on."""
LARGEST_FILE = 64 * 1024 * 1024
MOST_DISK = 256 * 1024 * 1024
"""Bytes of all that it writes: AWS Lambda has 512 MB, with what came in."""
MOST_ENTRIES = 2_000
"""Files and folders that it makes: enough to unpack an archive."""
MOST_OPEN = 256
TICK = 0.1
"""Seconds between two looks at what the script takes. What it can do in between is bounded by its own limits."""
MOST_RIGHTS = 64
"""Linux has some forty capabilities."""
NOT_STARTED = 127


class Kept:
    """The head and the tail of a stream of any length."""

    def __init__(self) -> None:
        self.size = 0
        self._head = bytearray()
        self._tail = bytearray()

    def add(self, data: bytes) -> None:
        self.size += len(data)
        room = HEAD - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room > 0 else data
        del self._tail[: max(0, len(self._tail) - TAIL)]

    def text(self) -> str:
        head, tail = bytes(self._head), bytes(self._tail)
        missing = self.size - len(head) - len(tail)
        if not missing:
            return (head + tail).decode("utf-8", "replace")
        return "\n".join(
            (head.decode("utf-8", "replace"), f"[... {missing} bytes left out ...]", tail.decode("utf-8", "replace"))
        )


class Use(NamedTuple):
    processes: int
    memory: int


_IN_USE = re.compile(r"^Rss(?:Anon|Shmem):\s*(\d+) kB", re.MULTILINE)
"""All but what is read from files, which takes no memory that could not be had back."""


def descendants(pid: int) -> Iterator[int]:
    """Those of a process, as far as Linux tells; each may be gone when it is named."""
    waiting = [pid]
    while waiting:
        with suppress(OSError):
            folder = f"/proc/{waiting.pop()}/task"
            for thread in os.listdir(folder):  # noqa: PTH208 - a path object for each costs more than the look itself
                children = [int(word) for word in _read(f"{folder}/{thread}/children").split()]
                waiting += children
                yield from children


def use_of(pids: Iterable[int]) -> Use:
    """Of one more than may be, at most: who counts a fork bomb to its end never ends, as it grows faster."""
    processes = memory = 0
    for pid in islice(pids, MOST_PROCESSES + 1):
        processes += 1
        with suppress(OSError):
            memory += sum(map(int, _IN_USE.findall(_read(f"/proc/{pid}/status")))) * 1024
    return Use(processes, memory)


def _read(path: str) -> str:
    with open(path) as file:  # noqa: PTH123 - as above
        return file.read()


def is_too_much(folders: Iterable[str]) -> bool:
    """Whether more is on the disk than a script may write. Links are not followed."""
    size = entries = 0
    waiting = list(folders)
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as found:
            for entry in found:
                entries += 1
                with suppress(OSError):
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                if size > MOST_DISK or entries > MOST_ENTRIES:
                    return True
    return False


# In the script's own process, before it is the script


def become(orders: Orders, streams: tuple[int, int]) -> NoReturn:
    """Give up everything but what the orders name, then be the script."""
    try:
        os.setsid()
        if LINUX and os.sched_getscheduler(0) == os.SCHED_FIFO:  # the keeper's own; any other is as the bot has it
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        null = os.open(os.devnull, os.O_RDONLY)
        for number, stream in enumerate((null, *streams)):
            os.dup2(stream, number)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if LINUX and os.geteuid() == 0:
            _leave_root(orders)
        os.chdir(orders.folder)
        _limit(orders)
        if LINUX:
            _confine(orders)
        os.execve(orders.command[0], orders.command, orders.environment)  # noqa: S606 - no shell, an absolute path
    except BaseException as error:  # whatever it is: this process must not go on as the keeper's twin
        with suppress(OSError):
            os.write(2, f"The script could not be started: {error}\n".encode())
    os._exit(NOT_STARTED)


def _leave_root(orders: Orders) -> None:
    """Be nobody, if nobody can reach the interpreter: root is held to no number of processes. In a namespace of its own
    a script is nobody already."""
    try:
        os.setresuid(NOBODY, NOBODY, 0)
    except PermissionError:  # a root without this right
        return
    top = os.path.dirname(orders.folder)  # noqa: PTH120 - as above
    needed = {orders.command[0], *(path for path in orders.readable if path in orders.command)}
    reaches = all(os.access(path, os.R_OK) for path in needed if not path.startswith(top))
    os.setresuid(0, 0, 0)
    if not reaches:
        return
    for folder, _, names in os.walk(top):
        for path in (folder, *(f"{folder}/{name}" for name in names)):
            os.chown(path, NOBODY, NOBODY)
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def _limit(orders: Orders) -> None:
    cpu = int(2 * orders.seconds) + 1  # of one process; two threads may use both processors all the time
    limits = {
        resource.RLIMIT_CPU: cpu,
        resource.RLIMIT_FSIZE: LARGEST_FILE,
        resource.RLIMIT_NOFILE: MOST_OPEN,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_AS: orders.memory,
    }
    if LINUX:  # counted over all processes and threads of this user, the bot's too; not for root
        limits[resource.RLIMIT_NPROC] = _tasks(os.getuid()) + 2 * MOST_PROCESSES
    for what, most in limits.items():
        with suppress(ValueError, OSError):  # macOS has none of memory; a smaller one of the system's stays
            resource.setrlimit(what, (most, most))


def _tasks(user: int) -> int:
    count = 0
    for name in os.listdir("/proc"):  # noqa: PTH208 - as above
        with suppress(OSError):
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == user:  # noqa: PTH116
                count += len(os.listdir(f"/proc/{name}/task"))  # noqa: PTH208
    return count


def _confine(orders: Orders) -> None:
    """As much as this system can; what it can not, ``probe.py`` finds out."""
    for right in range(MOST_RIGHTS):  # of root, which loses them with the next program
        with suppress(OSError):
            prctl(PR_CAPBSET_DROP, right)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    with suppress(OSError):
        landlock.confine(orders.readable, orders.writable)
    with suppress(OSError, KeyError):
        seccomp.confine()


def be_first(orders: Orders, streams: tuple[int, int]) -> NoReturn:
    """Process 1 of the script's namespace: it takes in orphans, and all others end with it. It ends with the keeper."""
    code = NOT_STARTED
    try:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        script = os.fork()
        if not script:
            become(orders, streams)
        os.closerange(0, os.sysconf("SC_OPEN_MAX"))
        ended, status = os.wait()
        while ended != script:
            ended, status = os.wait()
        code = _as_shells_say(status)
    finally:
        os._exit(code)


def _as_shells_say(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


# In the keeper's


class Watch:
    """One script from its start to the end of its last process."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._streams: dict[int, Kept] = {}
        self._selector = selectors.DefaultSelector()
        self._own_namespace = False
        self._child = 0
        self._over = False
        self._code = NOT_STARTED

    def run(self) -> Report:
        out, err = self._start()
        ended = self._wait()
        self._end_all()
        for stream in (out, err):
            while self._streams[stream].size < 2 * MOST_OUTPUT and self._read(stream):
                pass
        return Report(self._code, ended, self._streams[out].text(), self._streams[err].text())

    def _start(self) -> tuple[int, int]:
        """The reading ends of what it prints."""
        wake, woken = os.pipe()
        (out, script_out), (err, script_err) = os.pipe(), os.pipe()
        for descriptor in (wake, woken, out, err):
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        if LINUX:
            prctl(PR_SET_CHILD_SUBREAPER, 1)
            # Before all others, where that is allowed: among thousands of processes it must still have its turn, and so
            # must the first of the namespace, which can not even be killed before.
            with suppress(PermissionError):
                os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
            self._own_namespace = namespaces.enter()
        self._child = os.fork()
        if not self._child:
            (be_first if self._own_namespace else become)(self._orders, (script_out, script_err))
        os.close(script_out)
        os.close(script_err)
        self._streams = {out: Kept(), err: Kept()}
        for descriptor in (0, wake, out, err):
            self._selector.register(descriptor, selectors.EVENT_READ)
        return out, err

    def _wait(self) -> str:
        """Until the script is over, or a limit is: the name of that limit, or ""."""
        ends_at = time.monotonic() + self._orders.seconds
        look_at = 0.0
        while self._any_left() and not self._over:
            for key, _ in self._selector.select(TICK):
                if key.fd in self._streams:
                    self._read(key.fd)
                elif not os.read(key.fd, 4096) and key.fd == 0:
                    return "stopped"
            if time.monotonic() > ends_at:
                return "time"
            if sum(kept.size for kept in self._streams.values()) > MOST_OUTPUT:
                return "output"
            if time.monotonic() > look_at:
                if taken := self._takes_too_much():
                    return taken
                look_at = time.monotonic() + TICK
        return ""

    def _takes_too_much(self) -> str:
        use = use_of(descendants(os.getpid())) if LINUX else Use(0, 0)
        if use.processes > MOST_PROCESSES:
            return "processes"
        if use.memory > self._orders.memory:
            return "memory"
        return "disk" if is_too_much(self._orders.writable) else ""

    def _read(self, stream: int) -> bool:
        """Whether there may be more now."""
        with suppress(BlockingIOError):
            if piece := os.read(stream, 65_536):
                self._streams[stream].add(piece)
                return True
            if stream in self._selector.get_map():
                self._selector.unregister(stream)
        return False

    def _any_left(self) -> bool:
        """Takes in whoever ended: the script, and those that lost their parents to it."""
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return True
                if pid == self._child:
                    self._over, self._code = True, _as_shells_say(status)
        except ChildProcessError:
            return False

    def _end_all(self) -> None:
        """As long as it takes. The whole namespace ends with its first process. Without one, everybody is held still
        before anybody is killed, so that nobody is born unseen; on macOS, who left the script's group is not found."""
        while self._any_left():
            if not LINUX:
                _signal([-self._child], signal.SIGKILL)
            elif self._own_namespace:
                _signal([] if self._over else [self._child], signal.SIGKILL)
            else:
                _signal(_held_still(os.getpid()), signal.SIGKILL)
            time.sleep(0.01)
        if not LINUX:
            _signal([-self._child], signal.SIGKILL)


def _held_still(pid: int) -> set[int]:
    """All descendants of a process, once no more are found: who is held starts no others, so each is held when seen."""
    held: set[int] = set()
    found = True
    while found:
        found = False
        for each in descendants(pid):
            if each not in held:
                _signal([each], signal.SIGSTOP)
                held.add(each)
                found = True
    return held


def _signal(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def main() -> None:
    orders = Orders(**json.loads(sys.stdin.buffer.readline()))
    json.dump(Watch(orders).run()._asdict(), sys.stdout)


if __name__ == "__main__":
    main()
