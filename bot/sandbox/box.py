"""One script in a fresh folder under a keeper: what a laptop and the sandbox function have in common.

kabar-…/  script.py     read only
          work/         the script's working folder: what lies there at the end comes back
          home/  tmp/   HOME and TMPDIR
"""

import asyncio
import itertools
import json
import os
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import cast

from msgspec import Struct

from bot.sandbox import seatbelt
from bot.sandbox.kernel import LINUX
from bot.sandbox.orders import Orders, Report
from bot.sandbox.port import CanNotRun, Door, End, Item, Job, Ran

SYSTEM = (
    *("/usr", "/bin", "/lib", "/lib64", "/nix/store"),
    *("/etc/ld.so.cache", "/etc/localtime", "/etc/fonts", "/etc/mime.types", "/etc/alternatives"),
    *("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"),
    *("/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu"),
)
"""What programs need, and where nothing of anybody's lies."""
MOST_FILES = 20
"""Of one result: more than a person wants to be sent."""
DEEPEST = 8
"""Folders in each other whose files come back."""
PATIENCE = 10.0
"""Seconds after a script's own until its keeper must have answered."""
START = "import sys; sys.path.insert(0, sys.argv.pop()); from bot.sandbox.keeper import main; main()"
NOT_HERE = "Python can not be run on this system: it needs Linux or macOS."
NO_START = "Python can not be started in the sandbox of this system."


class Room(Struct, frozen=True):
    """The folders of one run."""

    top: Path

    @property
    def script(self) -> Path:
        return self.top / "script.py"

    @property
    def work(self) -> Path:
        return self.top / "work"

    @property
    def own(self) -> list[str]:
        """The folders that the script may write to."""
        return [str(self.top / name) for name in ("work", "home", "tmp")]


def furnish(top: Path, job: Job) -> Room:
    """Raises CanNotRun where a file's name leads out of the working folder, or can not be written."""
    room = Room(top)
    for folder in room.own:
        Path(folder).mkdir()
    room.script.write_text(job.code, encoding="utf-8", errors="replace")
    for item in job.files:
        name = PurePosixPath(item.name)
        if not name.parts or name.is_absolute() or ".." in name.parts:
            raise CanNotRun(f"{item.name!r} is no name for a file.")
        path = room.work.joinpath(*name.parts)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(item.data)
        except (OSError, ValueError) as error:
            raise CanNotRun(f"The file {item.name!r} can not be put there: {type(error).__name__}.") from error
    return room


def made(work: Path, before: Mapping[str, bytes], largest: int) -> tuple[tuple[Item, ...], tuple[str, ...]]:
    """The files that are new or changed, as many as may come back, and a line for each that may not. Only plain files
    count: nothing that a link points at, and no pipe, is ever read."""
    items: list[Item] = []
    left = []
    for path in _plain_files(work):
        name = path.relative_to(work).as_posix().encode("utf-8", "replace").decode()
        room = largest - sum(len(item.data) for item in items)
        try:
            data = _content(path, largest)
        except OSError as error:
            left.append(f"{name}: {error.strerror}")
            continue
        if data is not None and data == before.get(name):
            continue
        if data is None or len(data) > room:
            left.append(f"{name}: too large, all files together may have {largest / 1e6:.1f} MB")
        elif len(items) == MOST_FILES:
            left.append(f"{name}: more than {MOST_FILES} files")
        else:
            items.append(Item(name, data))
    return tuple(items), tuple(left[:MOST_FILES])


def _plain_files(work: Path) -> Iterator[Path]:
    """By name, those of a folder before those of its folders; hidden ones are the libraries' own."""
    folders = [work]
    for depth in itertools.count():
        inner: list[Path] = []
        for folder in folders:
            with suppress(OSError), os.scandir(folder) as found:
                entries = sorted((each for each in found if each.name[0] not in "._"), key=lambda each: each.name)
                inner += [Path(each.path) for each in entries if each.is_dir(follow_symlinks=False)]
                yield from (Path(each.path) for each in entries if each.is_file(follow_symlinks=False))
        folders = sorted(inner)
        if not folders or depth == DEEPEST:
            return


def _content(path: Path, most: int) -> bytes | None:
    """None where there is more of it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - the descriptor is what was checked
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_nlink > 1:  # a second name may be somebody else's
            raise OSError(0, "not a plain file")
        return None if facts.st_size > most else file.read()


def remove(folder: Path) -> None:
    """Delete a folder, however deep, whatever its modes: what lies in a folder is moved up before that is deleted, so
    no path is ever longer than two names. Links are not followed."""
    numbers = itertools.count()
    while entries := list(os.scandir(folder)):
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                Path(entry.path).unlink()
                continue
            Path(entry.path).chmod(0o700)
            for inner in list(os.scandir(entry.path)):
                if inner.is_dir(follow_symlinks=False):
                    Path(inner.path).chmod(0o700)
                Path(inner.path).rename(folder / f"{next(numbers)}{MOVED}")
            Path(entry.path).rmdir()
    folder.rmdir()


MOVED = ".moved-up-to-be-deleted"


class Box:
    """Runs jobs, any number at once. ``python`` is the interpreter for them, ``libraries`` are folders of modules that
    they may import; ``seconds``, ``memory`` and ``largest`` are bytes and seconds of one job."""

    def __init__(
        self,
        *,
        seconds: float,
        memory: int,
        largest: int,
        python: str = sys.executable,
        libraries: Sequence[Path] = (),
    ) -> None:
        self.seconds = seconds
        self.largest = largest
        self._memory = memory
        self._python = python
        self._libraries = tuple(libraries)
        self._doors: tuple[Door, ...] | None = None
        self._probing = asyncio.Lock()

    async def run(self, job: Job, libraries: Sequence[Path] = ()) -> Ran:
        """``libraries`` are added for this job. Raises CanNotRun. What comes first finds out what this system can not
        shut off, which takes a tenth of a second."""
        doors = await self.doors()
        report, files, left = await self._run(job, libraries)
        return Ran(report.code, cast(End, report.ended), report.out, report.err, files, left, doors)

    async def doors(self) -> tuple[Door, ...]:
        """What this system can not shut off, as a script found that tried. Raises CanNotRun where none starts."""
        async with self._probing:
            if self._doors is None:
                self._doors = await self._probe()
            return self._doors

    async def _probe(self) -> tuple[Door, ...]:
        from bot.sandbox import probe

        with socket.create_server(("127.0.0.1", 0)) as listener, tempfile.TemporaryDirectory() as outside:
            facts = (listener.getsockname()[1], outside, os.getpid(), self._memory)
            job = await asyncio.to_thread(_probing, _path(probe), Path(outside, probe.KEPT), facts)
            report, _, _ = await self._run(job, ())
        try:
            found: list[Door] = json.loads(report.out)
        except ValueError:
            last = (report.err.strip().splitlines() or [""])[-1]
            raise CanNotRun(f"{NO_START} {last}".strip()) from None
        # Elsewhere there is no telling who is a script's child once its parent is gone.
        return tuple(sorted({*found, *(() if LINUX else ("processes",))}))

    async def _run(self, job: Job, libraries: Sequence[Path]) -> tuple[Report, tuple[Item, ...], tuple[str, ...]]:
        if sys.platform == "win32":
            raise CanNotRun(NOT_HERE)
        if sum(len(item.data) for item in job.files) > self.largest:
            raise CanNotRun(f"The files are too large: together they may have {self.largest / 1e6:.1f} MB.")
        top = await asyncio.to_thread(_new_folder)
        try:
            room = await asyncio.to_thread(furnish, top, job)
            report = await self._kept(self._orders(room, job, libraries))
            before = {item.name: item.data for item in job.files}
            files, left = await asyncio.to_thread(made, room.work, before, self.largest)
            return report, files, left
        finally:
            await asyncio.shield(asyncio.to_thread(remove, top))

    def _orders(self, room: Room, job: Job, more: Sequence[Path]) -> Orders:
        from bot.sandbox import runner

        libraries = [str(path) for path in (*self._libraries, *more)]
        started = [self._python, "-I", "-B", "-u", "-X", "utf8", str(_path(runner)), str(room.script)]
        command = [*started, os.pathsep.join(libraries), *job.arguments]
        readable = [*SYSTEM, *_homes_of(self._python), str(_path(runner)), str(room.script), *libraries]
        if sys.platform == "darwin":
            command = seatbelt.wrapped(command, readable, room.own)
        return Orders(
            command=command,
            folder=str(room.work),
            environment=self._environment(room),
            readable=readable,
            writable=[*room.own, os.devnull],
            seconds=self.seconds,
            memory=self._memory,
        )

    def _environment(self, room: Room) -> dict[str, str]:
        return {
            **_loader(),
            "HOME": str(room.top / "home"),
            "TMPDIR": str(room.top / "tmp"),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "MPLBACKEND": "Agg",
            # Each thread of its own takes address space that the script then lacks.
            "OPENBLAS_NUM_THREADS": "2",
            "OMP_NUM_THREADS": "2",
        }

    async def _kept(self, orders: Orders) -> Report:
        """Raises CanNotRun where no keeper can be started."""
        from bot.sandbox import keeper

        root = str(_path(keeper).parents[2])
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", "-B", "-c", START, root),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=_loader(),
                start_new_session=True,
            )
        except OSError as error:
            raise CanNotRun(f"{NO_START} {type(error).__name__}") from error
        try:
            async with asyncio.timeout(self.seconds + PATIENCE):
                return await _conversed(process, orders)
        except TimeoutError:
            raise CanNotRun("The script did not end, and was given up.") from None
        finally:
            await asyncio.shield(_ended(process))


def _probing(probe: Path, kept: Path, facts: Sequence[object]) -> Job:
    kept.write_text("somebody's", encoding="utf-8")
    return Job(probe.read_text(encoding="utf-8"), tuple(map(str, facts)))


def _new_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="kabar-")).resolve()


async def _conversed(process: asyncio.subprocess.Process, orders: Orders) -> Report:
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("A keeper is spoken to over pipes.")
    with suppress(ConnectionError):
        process.stdin.write(json.dumps(orders._asdict()).encode() + b"\n")
        await process.stdin.drain()
    answer = await process.stdout.read()
    try:
        return Report(**json.loads(answer))
    except (ValueError, TypeError):
        raise CanNotRun(NO_START) from None


async def _ended(process: asyncio.subprocess.Process) -> None:
    """With the pipe closed the keeper ends all it watches over, then itself. It is never killed: it alone knows who is
    left to be ended."""
    if process.stdin is not None:
        process.stdin.close()
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            await process.wait()


def _path(module: ModuleType) -> Path:
    return Path(str(module.__file__))


def _homes_of(python: str) -> list[str]:
    """Where an interpreter and its libraries are: its environment's folder, and that of the Python it was made from."""
    if python == sys.executable:
        return list(dict.fromkeys((sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)))
    return [str(Path(python).parents[1]), str(Path(python).resolve().parents[1])]


def _loader() -> dict[str, str]:
    """Lambda's Python finds its own library by this alone."""
    return {"LD_LIBRARY_PATH": f"{sys.base_exec_prefix}/lib"}
