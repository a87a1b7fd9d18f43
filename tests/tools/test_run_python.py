"""The tool for scripts, on a real place for them, with the files of a real folder."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.file_blobs import FileBlobs
from bot.adapters.file_reader import FileReader
from bot.adapters.local_sandbox import LocalSandbox
from bot.files import Files
from bot.media import facts
from bot.messages import Entry, Json, Person, Place, Returned
from bot.sandbox.port import CanNotRun, Door, Job, Ran
from bot.toolkit import Outcome, Toolbox, ToolContext
from bot.tools.files import read_file
from bot.tools.run_python import run_python, told
from tests.pictures import picture

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no place for scripts on Windows")

HERE = Place("terminal:here", "here")
READER = FileReader(None)


class Chat:
    """One conversation's files; what a call makes is in its record from then on."""

    def __init__(self, folder: Path, sandbox: Any = None) -> None:
        self.blobs = FileBlobs(folder)
        self.entries: list[Entry] = []
        self.files = Files(self.blobs, HERE.conversation, self._record)
        self.toolbox = Toolbox([run_python(sandbox or LocalSandbox(), READER)])

    async def _record(self) -> list[Entry]:
        return self.entries

    async def sent(self, name: str, data: bytes, media_type: str = "text/plain") -> None:
        self.entries.append(Returned("t", (), files=(await self.files.keep(name, data, media_type),)))

    async def runs(self, code: str, **more: Any) -> Outcome:
        block = {"type": "tool_use", "id": "1", "name": "run_python", "input": {"code": code, **more}}
        context = ToolContext(HERE, Person("terminal:ann"), 0.0, files=self.files)
        outcome = await self.toolbox.call(block, context, 120)
        if outcome.files:
            self.entries.append(Returned("t", (outcome.result,), files=outcome.files))
        return outcome


def words(outcome: Outcome) -> str:
    content = outcome.result["content"]
    return content if isinstance(content, str) else content[0]["text"]


def pictures(outcome: Outcome) -> list[Json]:
    content = outcome.result["content"]
    return [] if isinstance(content, str) else [block["source"] for block in content[1:]]


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chat]:
    yield Chat(tmp_path / "files")


async def test_the_model_reads_what_a_script_prints(chat: Chat) -> None:
    outcome = await chat.runs("import sys\nprint('sum', sum(map(int, sys.argv[1:])))", arguments=["1", "2"])

    assert words(outcome) == "exit code: 0\nstdout:\nsum 3"
    assert "is_error" not in outcome.result


async def test_a_file_of_the_chat_is_read_and_a_new_one_is_sent_and_can_be_read_later(chat: Chat) -> None:
    await chat.sent("sales.csv", b"jan,3\nfeb,5\n")

    first = await chat.runs(
        "rows = [line.split(',') for line in open('sales.csv')]\n"
        "open('total.txt', 'w').write(str(sum(int(amount) for _, amount in rows)))",
        files=["sales.csv"],
    )
    second = await chat.runs("print(open('total.txt').read())", files=["total.txt"])

    [file] = first.files
    assert (file.name, file.media_type, file.size) == ("total.txt", "text/plain", 1)
    assert await chat.blobs.get(file.blob) == b"8"
    assert "files, sent to the person: total.txt (1 bytes)" in words(first)
    assert words(second) == "exit code: 0\nstdout:\n8"


async def test_a_plot_can_be_looked_at_again(chat: Chat) -> None:
    await chat.sent("small.png", picture(640, 480), "image/png")

    outcome = await chat.runs("import shutil\nshutil.copy('small.png', 'plot.png')", files=["small.png"])

    [file] = outcome.files
    assert (file.width, file.height) == (640, 480)
    block = {"type": "tool_use", "id": "2", "name": "read_file", "input": {"name": "plot.png"}}
    context = ToolContext(HERE, Person("terminal:ann"), 0.0, files=chat.files)
    again = await Toolbox([read_file]).call(block, context, 20)
    assert [source["key"] for source in pictures(again)] == [file.blob]


async def test_a_picture_is_sent_as_it_is_and_shown_to_the_model_made_small(chat: Chat) -> None:
    await chat.sent("large.png", picture(3_000, 1_000), "image/png")

    outcome = await chat.runs("import shutil\nshutil.copy('large.png', 'plot.png')", files=["large.png"])

    [file] = outcome.files
    [source] = pictures(outcome)
    assert await chat.blobs.get(file.blob) == picture(3_000, 1_000)
    shown = await chat.blobs.get(source["key"])
    assert shown is not None
    assert facts(shown) == ("image/png", (source["width"], source["height"])) == ("image/png", (1568, 523))


async def test_what_is_called_a_picture_and_is_none_is_sent_and_not_shown(chat: Chat) -> None:
    outcome = await chat.runs("open('a.png', 'w').write('no picture')\nopen('b.svg', 'w').write('<svg/>')")

    assert [file.name for file in outcome.files] == ["a.png", "b.svg"]
    assert pictures(outcome) == []


async def test_a_file_that_is_not_in_this_chat_is_named_with_those_that_are(chat: Chat) -> None:
    await chat.sent("plan.txt", b"x")

    for name in ("other.txt", "../plan.txt", "/etc/passwd"):
        outcome = await chat.runs("print(1)", files=[name])
        assert outcome.result["is_error"]
        assert words(outcome) == f"There is no file {name!r} in this chat. There are: plan.txt."


async def test_a_failed_script_is_told_with_its_traceback_so_that_it_can_be_mended(chat: Chat) -> None:
    outcome = await chat.runs("print('before')\nraise ValueError('odd')")

    assert words(outcome).startswith("exit code: 1\nstdout:\nbefore\nstderr:\nTraceback")
    assert words(outcome).endswith("ValueError: odd")


async def test_arguments_that_no_program_can_take_are_refused(chat: Chat) -> None:
    for arguments in (["a\0b"], ["x"] * 51):
        assert (await chat.runs("print(1)", arguments=arguments)).result["is_error"]
    assert (await chat.runs("#" * 100_001)).result["is_error"]


class Told:
    """A place with nothing but what it says."""

    seconds = 9.0
    largest = 10
    libraries: tuple[str, ...] = ("numpy", "pandas")
    installs = True

    def __init__(self, answer: Ran | CanNotRun) -> None:
        self._answer = answer

    async def run(self, conversation: str, job: Job) -> Ran:
        if isinstance(self._answer, CanNotRun):
            raise self._answer
        return self._answer


async def test_a_script_that_was_not_run_is_a_fault_with_the_reason(tmp_path: Path) -> None:
    chat = Chat(tmp_path / "files", Told(CanNotRun("The sandbox is busy.")))

    outcome = await chat.runs("print(1)")

    assert outcome.result["is_error"]
    assert words(outcome) == "The script was not run. The sandbox is busy."


async def test_files_that_are_too_large_for_the_place_are_refused_with_the_limit(tmp_path: Path) -> None:
    chat = Chat(tmp_path / "files", Told(Ran(0)))
    await chat.sent("a.txt", b"12345678901")

    assert "too large" in words(await chat.runs("print(1)", files=["a.txt"]))


@pytest.mark.parametrize(
    ("ran", "line"),
    [
        (Ran(137, "time"), "exit code: 137 (ended: it took longer than 60 seconds)"),
        (Ran(137, "memory"), "exit code: 137 (ended: all its processes together took too much memory)"),
        (Ran(152), "exit code: 152 (it took too much processor time)"),
        (Ran(0), "stdout: (nothing)"),
        (Ran(0, left=("x.bin: too large",)), "files left behind: x.bin: too large"),
        (Ran(0, open=("network",)), "Not shut off where it ran: connections to other machines."),
    ],
)
def test_how_it_ended_and_what_was_not_shut_off_is_said(ran: Ran, line: str) -> None:
    assert line in told(ran, (), 60.0).splitlines()


def test_every_door_and_every_end_has_its_words() -> None:
    from typing import get_args

    from bot.sandbox.port import End
    from bot.tools.run_python import DOORS, ENDS

    assert set(DOORS) == set(get_args(Door))
    assert {"", *ENDS} == set(get_args(End))


def test_the_model_is_told_what_there_is_and_a_person_is_asked_first() -> None:
    tool = run_python(Told(Ran(0)), READER)
    [definition] = Toolbox([tool]).definitions()

    assert tool.asks
    assert tool.untrusted
    assert not tool.repeatable
    assert "ends after 9 seconds" in definition["description"]
    assert "numpy, pandas" in definition["description"]
    assert "PEP 723" in definition["description"]
    assert set(definition["input_schema"]["properties"]) == {"code", "arguments", "files"}
    assert definition["input_schema"]["required"] == ["code"]
    assert Toolbox([run_python(Told(Ran(0)), READER)]).definitions() == [definition]
