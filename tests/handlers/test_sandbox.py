"""The sandbox function's handler in this process, as Lambda calls it."""

import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bot.sandbox import wire
from bot.sandbox.port import CanNotRun, Item, Job, Ran
from handlers import sandbox
from handlers.loop import close_loop

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Lambda is Linux")

CONTEXT = SimpleNamespace(memory_limit_in_mb="1769")


@pytest.fixture(autouse=True)
def _own_loop() -> Any:
    yield
    sandbox._box.cache_clear()
    close_loop()


def ran(code: str, *files: Item) -> Ran:
    return wire.unpack(sandbox.handler(wire.request(Job(code, (), files)), CONTEXT)["ran"], Ran)


def test_a_script_runs_and_its_files_come_back() -> None:
    first = ran("open('b.txt', 'w').write(open('a.txt').read() * 2)\nprint('done')", Item("a.txt", b"x"))
    second = ran("import os\nprint(os.listdir('.'))")

    assert (first.out, first.files) == ("done\n", (Item("b.txt", b"xx"),))
    assert second.out == "[]\n"


def test_a_script_finds_nothing_of_the_function_s_own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of the empty role")

    seen = ran("import os\nprint([name for name in os.environ if name.startswith('AWS')])")

    assert seen.out == "[]\n"


def test_a_request_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="header"):
        sandbox.handler({"job": "nonsense"}, CONTEXT)
    with pytest.raises(CanNotRun):
        sandbox.handler(wire.request(Job("", files=(Item("../x", b""),))), CONTEXT)


def test_only_on_aws_is_the_folder_for_everybody_emptied(tmp_path: Path) -> None:
    sandbox.clean()

    assert tmp_path.exists()


def test_whatever_a_script_left_is_emptied_out(tmp_path: Path) -> None:
    folder = tmp_path / "tmp"
    outside = tmp_path / "outside.txt"
    outside.write_text("kept")
    (folder / "a").mkdir(parents=True)
    (folder / "a" / "file.txt").write_text("x")
    (folder / "link").symlink_to(outside)
    (folder / "links").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    deep = folder / "deep"
    deep.mkdir()
    here = os.open(deep, os.O_RDONLY)
    for _ in range(300):  # longer than any path may be
        os.mkdir("d" * 20, dir_fd=here)
        inner = os.open("d" * 20, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    (folder / "a").chmod(0)

    sandbox.empty(folder)

    assert list(folder.iterdir()) == []
    assert outside.read_text() == "kept"
