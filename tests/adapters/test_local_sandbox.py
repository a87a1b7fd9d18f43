"""Scripts on this machine: what they can do, and what they can not, in real processes under the real kernel."""

import asyncio
import io
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pytest

from benchmarks.security_python import ENDLESS, WAYS, Way, passed
from bot.adapters.local_sandbox import LocalSandbox
from bot.sandbox.port import CanNotRun, Item, Job, Ran
from tests.adapters.narrow import NARROWED

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no place for scripts on Windows")

HERE = "terminal:here"
only_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the means are Linux's")


@pytest.fixture
def sandbox() -> LocalSandbox:
    return LocalSandbox()


async def run(sandbox: LocalSandbox, code: str, *arguments: str, files: dict[str, bytes] | None = None) -> Ran:
    items = tuple(Item(name, data) for name, data in (files or {}).items())
    return await sandbox.run(HERE, Job(code, arguments, items))


def contents(ran: Ran) -> dict[str, bytes]:
    return {item.name: item.data for item in ran.files}


# What it can do


async def test_a_script_prints_with_the_arguments_it_was_given(sandbox: LocalSandbox) -> None:
    ran = await run(sandbox, "import sys\nprint('hé', sys.argv)\nprint('oh', file=sys.stderr)", "-x", "два слова")

    assert ran == Ran(0, out="hé ['script.py', '-x', 'два слова']\n", err="oh\n", open=ran.open)


async def test_it_reads_the_files_it_was_given_and_what_it_writes_comes_back(sandbox: LocalSandbox) -> None:
    code = (
        "import os\n"
        "text = open('in put.csv').read()\n"
        "open('out.txt', 'w').write(text.upper())\n"
        "os.makedirs('a/b')\n"
        "open('a/b/deep.bin', 'wb').write(bytes(3))\n"
        "open('changed.txt', 'a').write('!')\n"
        "open('.hidden', 'w').write('x')\n"
    )

    ran = await run(sandbox, code, files={"in put.csv": b"a,b", "changed.txt": b"well", "same.txt": b"same"})

    assert contents(ran) == {"out.txt": b"A,B", "changed.txt": b"well!", "a/b/deep.bin": bytes(3)}
    assert (ran.code, ran.err, ran.left) == (0, "", ())


async def test_a_fault_shows_the_script_s_own_lines_and_none_of_ours(sandbox: LocalSandbox) -> None:
    ran = await run(sandbox, "def f():\n    return 1 / 0\n\nf()")

    assert ran.code == 1
    assert 'File "script.py", line 2, in f' in ran.err
    assert "return 1 / 0" in ran.err
    assert ran.err.rstrip().endswith("ZeroDivisionError: division by zero")
    assert "runner" not in ran.err


@pytest.mark.parametrize(
    ("code", "status", "err"),
    [
        ("import sys; sys.exit()", 0, ""),
        ("import sys; sys.exit(7)", 7, ""),
        ("import sys; sys.exit('no data')", 1, "no data\n"),
        ("import os; os._exit(3)", 3, ""),
        ("import os; os.kill(os.getpid(), 9)", 137, ""),
    ],
)
async def test_how_it_ended_is_told_as_shells_tell_it(sandbox: LocalSandbox, code: str, status: int, err: str) -> None:
    ran = await run(sandbox, code)

    assert (ran.code, ran.err, ran.ended) == (status, err, "")


async def test_a_script_with_a_fault_of_grammar_says_where(sandbox: LocalSandbox) -> None:
    ran = await run(sandbox, "print('a'\n")

    assert ran.code == 1
    assert 'File "script.py", line 1' in ran.err
    assert "SyntaxError" in ran.err


async def test_it_may_use_modules_of_its_own_threads_programs_and_a_loop(sandbox: LocalSandbox) -> None:
    code = (
        "import asyncio, concurrent.futures, os, pickle, sqlite3, subprocess, tempfile, helper\n"
        "class Point: pass\n"
        "assert isinstance(pickle.loads(pickle.dumps(Point())), Point)\n"
        "with concurrent.futures.ThreadPoolExecutor(4) as pool:\n"
        "    assert sum(pool.map(helper.double, range(4))) == 12\n"
        "assert subprocess.run(['/bin/echo', 'hi'], capture_output=True).stdout == b'hi\\n'\n"
        "async def main():\n"
        "    child = await asyncio.create_subprocess_exec('/bin/cat', stdin=-1, stdout=-1)\n"
        "    return (await child.communicate(b'through a pipe'))[0]\n"
        "assert asyncio.run(main()) == b'through a pipe'\n"
        "with tempfile.NamedTemporaryFile() as file: os.chmod(file.name, 0o600)\n"
        "sqlite3.connect('data.db').execute('create table t (a)')\n"
        "print(os.path.expanduser('~') == os.environ['HOME'], os.cpu_count() > 0)\n"
    )

    ran = await run(sandbox, code, files={"helper.py": b"def double(n):\n    return 2 * n\n"})

    assert (ran.code, ran.out, ran.err) == (0, "True True\n", "")
    assert contents(ran)["data.db"].startswith(b"SQLite format 3")


async def test_of_long_output_the_beginning_and_the_end_are_kept(sandbox: LocalSandbox) -> None:
    ran = await run(sandbox, "print('first')\nfor n in range(100_000): print(n)\nprint('last')")

    assert ran.out.startswith("first\n0\n1\n")
    assert ran.out.endswith("99999\nlast\n")
    assert "bytes left out" in ran.out
    assert len(ran.out) < 13_000


async def test_output_that_is_no_text_is_told_as_well_as_it_can_be(sandbox: LocalSandbox) -> None:
    ran = await run(sandbox, r"import os; os.write(1, b'\xff\x00a\n')")

    assert ran.out == "\ufffd\x00a\n"


async def test_too_many_files_and_too_large_ones_are_named_and_left(sandbox: LocalSandbox) -> None:
    code = "for n in range(30): open(f'{n:02}.txt', 'w').write(str(n))\nopen('zz.bin', 'wb').write(bytes(30_000_000))"

    ran = await run(sandbox, code)

    assert list(contents(ran)) == [f"{n:02}.txt" for n in range(20)]
    assert len(ran.left) == 11
    assert "more than 20 files" in ran.left[0]
    assert ran.left[-1].startswith("zz.bin: too large")


async def test_files_that_are_too_large_together_are_refused(sandbox: LocalSandbox) -> None:
    with pytest.raises(CanNotRun, match=r"together they may have 21\.0 MB"):
        await run(sandbox, "print(1)", files={"a": bytes(15_000_000), "b": bytes(15_000_000)})


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "", ".", "x" * 300, "a\0b"])
async def test_a_file_goes_nowhere_but_into_the_working_folder(sandbox: LocalSandbox, name: str) -> None:
    with pytest.raises(CanNotRun):
        await run(sandbox, "print(1)", files={name: b"x"})


async def test_nothing_of_a_script_is_there_for_the_next(sandbox: LocalSandbox) -> None:
    leave = (
        "import os, tempfile\n"
        "for folder in ('.', os.environ['HOME'], os.environ['TMPDIR']):\n"
        "    open(folder + '/left.txt', 'w').write('x')\n"
        "print(os.getcwd())"
    )
    look = "import glob, os\nprint([p for f in ('.', os.environ['HOME'], os.environ['TMPDIR']) for p in os.listdir(f)])"

    first = await run(sandbox, leave)
    second = await run(sandbox, look)

    assert second.out == "[]\n"
    assert not Path(first.out.strip()).parent.exists()


async def test_two_scripts_at_once_do_not_see_each_other(sandbox: LocalSandbox) -> None:
    code = (
        "import os, sys, time\nopen(sys.argv[1], 'w').close()\nprint(os.listdir('.'), os.listdir(os.environ['HOME']))"
    )

    one, two = await asyncio.gather(run(sandbox, code, "one.txt"), run(sandbox, code, "two.txt"))

    assert (one.out, two.out) == ("['one.txt'] []\n", "['two.txt'] []\n")


@only_linux
async def test_who_no_longer_waits_ends_the_script_and_all_it_started(sandbox: LocalSandbox, tmp_path: Path) -> None:
    code = "import subprocess\nsubprocess.Popen(['/bin/sleep', '31415926']).wait()"
    task = asyncio.create_task(run(sandbox, code))
    await _until(lambda: _sleeps() != [])

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert _sleeps() == []


async def _until(is_so: object) -> None:
    async with asyncio.timeout(60):
        while not is_so():  # type: ignore[operator]
            await asyncio.sleep(0.05)


def _sleeps() -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [path.parent.name] if b"31415926" in path.read_bytes() and b"sleep\0" in path.read_bytes() else []
        except OSError:
            continue
    return found


# What it can not do


@pytest.mark.timeout(300)
@pytest.mark.parametrize("group", [*WAYS, "endless"])
async def test_no_way_out_gets_through(sandbox: LocalSandbox, group: str) -> None:
    if doors := await sandbox.doors():
        pytest.skip(f"this system can not shut off: {', '.join(doors)}")

    assert await passed([WAYS.get(group, ENDLESS)]) == []


@only_linux
async def test_who_ends_a_script_comes_before_it_however_many_it_becomes(sandbox: LocalSandbox) -> None:
    """Where the system lets the bot say so: the first of the script's namespace as well, and never the script."""
    probe = "import os\nos.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))"
    may = subprocess.run([sys.executable, "-c", probe], check=False, capture_output=True).returncode == 0  # noqa: ASYNC221

    ran = await run(sandbox, "import os\nprint(os.getppid(), os.sched_getscheduler(1), os.sched_getscheduler(0))")

    if ran.out.startswith("1 "):  # in a namespace of its own
        assert ran.out == f"1 {os.SCHED_FIFO if may else os.SCHED_OTHER} {os.SCHED_OTHER}\n"
    else:
        assert ran.out.endswith(f" {os.SCHED_OTHER}\n")


@only_linux
@pytest.mark.timeout(300)
def test_without_namespaces_the_other_means_hold_as_well() -> None:
    told = _narrowed("unshare")

    assert told["doors"] == []
    assert told["through"] == []
    assert told["left"] == []


@only_linux
def test_what_a_system_can_not_shut_off_is_found_out_and_said() -> None:
    """A system without Landlock and without namespaces: what is left is the filter, which sees no paths."""
    told = _narrowed("unshare", "landlock")

    assert {"reading", "writing"} <= set(told["doors"])
    assert "network" not in told["doors"]
    assert set(told["open"]) == set(told["doors"])


def _narrowed(*without: str) -> dict[str, list[str]]:
    """What a bot finds in whose process these system calls are refused, as on a system that does not have them."""
    import json

    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", NARROWED, *without]
    with tempfile.TemporaryDirectory() as folder:  # other bots on this machine run scripts as well
        Path(folder).chmod(0o755)
        environment = {**os.environ, "TMPDIR": folder}
        ended = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, timeout=250, check=False
        )
    assert ended.returncode == 0, ended.stderr
    told: dict[str, list[str]] = json.loads(ended.stdout)
    return told


# Libraries that a script asks for

ASKS = '# /// script\n# dependencies = ["kabar-demo>=1"]\n# ///\nimport kabar_demo\nprint(kabar_demo.WORD)\n'


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of libraries in the place of an index, as an owner's own settings name one."""
    folder = tmp_path / "index"
    folder.mkdir()
    for installer in ("PIP", "UV"):
        monkeypatch.setenv(f"{installer}_FIND_LINKS", str(folder))
        monkeypatch.setenv(f"{installer}_NO_INDEX", "1")
    return folder


def _add_wheel(index: Path) -> None:
    name = "kabar_demo-1.2.dist-info"
    with zipfile.ZipFile(index / "kabar_demo-1.2-py3-none-any.whl", "w") as wheel:
        wheel.writestr("kabar_demo.py", "WORD = 'from a wheel'\n")
        wheel.writestr(f"{name}/METADATA", "Metadata-Version: 2.1\nName: kabar-demo\nVersion: 1.2\n")
        wheel.writestr(f"{name}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{name}/RECORD", "")


async def test_a_library_that_a_script_asks_for_is_installed_once_where_the_owner_lets_it(
    index: Path, tmp_path: Path
) -> None:
    _add_wheel(index)
    sandbox = LocalSandbox(tmp_path / "libraries")

    first = await run(sandbox, ASKS)
    (index / "kabar_demo-1.2-py3-none-any.whl").unlink()
    second = await run(sandbox, ASKS)

    assert (first.out, first.err) == (second.out, second.err) == ("from a wheel\n", "")
    assert len(list((tmp_path / "libraries").iterdir())) == 1


async def test_a_library_that_would_have_to_be_built_is_refused_and_nothing_of_it_is_run(
    index: Path, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    setup = f"open({str(ran)!r}, 'w').close()\nfrom setuptools import setup\nsetup(name='kabar-demo', version='1.3')\n"
    with tarfile.open(index / "kabar_demo-1.3.tar.gz", "w:gz") as archive:
        for name, text in (
            ("setup.py", setup),
            ("PKG-INFO", "Metadata-Version: 2.1\nName: kabar-demo\nVersion: 1.3\n"),
        ):
            facts = tarfile.TarInfo(f"kabar_demo-1.3/{name}")
            facts.size = len(text)
            archive.addfile(facts, io.BytesIO(text.encode()))

    with pytest.raises(CanNotRun, match="could not be installed"):
        await run(LocalSandbox(tmp_path / "libraries"), ASKS)

    assert not ran.exists()


async def test_a_library_that_is_there_may_be_asked_for_and_another_is_refused(sandbox: LocalSandbox) -> None:
    there = await run(sandbox, '# /// script\n# dependencies = ["Msgspec>0"]\n# ///\nimport msgspec\nprint("yes")')

    assert there.out == "yes\n"
    with pytest.raises(CanNotRun, match=r"kabar-demo>=1 can not be installed here: that is switched off"):
        await run(sandbox, ASKS)


def test_every_way_out_has_a_name_of_its_own() -> None:
    every: list[Way] = [*ENDLESS, *(way for group in WAYS.values() for way in group)]

    assert len({way.name for way in every}) == len(every) > 100
    assert os.sep not in "".join(WAYS)
